"""What is read in a sentence, and what is kept on the way."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from kgrag.ingestion.rules.target_times import Time
from kgrag.ingestion.rules.target_values import Value


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
        carried: When the sentences before say that it holds; None where its own tells.
        lead: The clause up to the number.
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


@dataclass
class State:
    """What the clauses before say, within a sentence.

    Attributes:
        indicator: The last whose value was stated.
        referred: The same, also of the sentences before: 该比例.
        names: The indicators of the last list that had a value each.
        counted_to: Where the last noun that a number counts ends.
        carried: When the sentences before say that all holds.
        verb: The last verb of building, for the items that follow it.
        base: A year that values are compared with.
        from_value: Where the next value began: 由30%.
        from_year: The year then.
        time: When it holds, as far as said.
        is_part: Whether a list gives the parts of a value: 其中甲5家、乙3家.
        whole: The indicator that those are parts of.
        found: What was read.
    """

    indicator: str = ""
    carried: Time | None = None
    referred: str = ""
    names: Sequence[str] = ()
    counted_to: int = -1
    verb: str = ""
    base: str = ""
    from_value: Value | None = None
    from_year: str = ""
    time: Time | None = None
    is_part: bool = False
    whole: str = ""
    found: list[Statement] = field(default_factory=list)
