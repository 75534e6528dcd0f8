"""What a model wrote, before its citations are resolved."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer as a model gave it.

    Attributes:
        text: With the [n] of the context's passages, in whatever form the model writes them.
        model: Who wrote it.
        analysis: What it thought before, where the template asks for that.
        notes: What the reader should know.
    """

    text: str
    model: str
    analysis: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mend:
    """What a further answer from the same context is to mend.

    Attributes:
        answer: The last one, with the [n] of the context's passages.
        problem: What is wrong with it, in words.
    """

    answer: str
    problem: str
