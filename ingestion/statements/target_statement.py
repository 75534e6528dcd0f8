"""What a sentence states of an indicator."""

from dataclasses import dataclass

from kgrag.ingestion.statements.target_times import Time
from kgrag.ingestion.statements.target_values import Value


@dataclass(frozen=True, slots=True)
class Statement:
    """An indicator and its value in a passage.

    Attributes:
        indicator: As worded.
        value: The number.
        phrase: What is said of it: verb, number, unit.
        chain: The words between indicator and number.
        verb: A verb of building; empty.
        clause: (start, end) in the passage.
        time: When it holds, as far as its sentence says.
        base: What it is compared with.
        base_value: The value then.
        lead: The clause up to the number.
        carried: When the sentences before say that it holds; None where its own tells.
        before: What the sentence says ahead of the clause.
        is_bare: Whether nothing says that the indicator has the value: 公交车辆300台.
    """

    indicator: str
    value: Value
    phrase: str
    chain: str
    verb: str
    clause: tuple[int, int]
    time: Time | None = None
    base: str = ""
    base_value: Value | None = None
    lead: str = ""
    carried: Time | None = None
    before: str = ""
    is_bare: bool = False
