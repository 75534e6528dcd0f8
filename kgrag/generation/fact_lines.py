"""Write facts of the graph as lines for a context, each with the passages that state it."""

from collections.abc import Callable, Collection, Sequence

from kgrag.language.answer_text import without_marks
from kgrag.language.text import normalize
from kgrag.results import Passage
from kgrag.types import Fact

_STANDINGS = {"": "", "planned": "目标", "achieved": "已达到"}


def fact_line(fact: Fact, numbers: Sequence[int]) -> str:
    """Return a fact on one line: `主体 —谓词→ 客体（地区，年份，目标） [n]`."""
    subject, predicate, obj = map(_one_line, (fact.subject.name, fact.predicate, fact.object.name))
    told = "".join(f"[{n}]" for n in numbers)
    return f"{subject} —{predicate}→ {obj}{_one_line(_beside(fact))} {told}"


def fact_lines(
    facts: Sequence[Fact], passages: Sequence[Passage], asked: Collection[str]
) -> list[str]:
    """Return the lines of facts whose clause stands in a passage, each once.

    Those that share most words with the question come first, then as the passages stand.

    Args:
        facts: With evidence.
        passages: Packed.
        asked: Words of the question.
    """
    found: list[tuple[int, int, str]] = []
    for fact in facts:
        numbers = [p.number for p in passages if _states(p, fact)]
        if numbers:
            line = fact_line(fact, numbers)
            plain = normalize(line)  # looking for words is a tenth of the cost of cutting into them
            shared = sum(word in plain for word in set(asked))
            found.append((-shared, numbers[0], line))
    return list(dict.fromkeys(line for _, _, line in sorted(found)))


def row_lines(rows: Sequence[str]) -> list[str]:
    """Return rows of a graph query, each on one line and without anything like a citation."""
    return [line for line in map(_one_line, rows) if line]


def take_lines(lines: Sequence[str], fits: Callable[[tuple[str, ...]], bool]) -> tuple[str, ...]:
    """Return as many of the lines, from the first on, as fit.

    Args:
        lines: The weightiest first.
        fits: Whether lines do; true of an empty list.
    """
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(tuple(lines[:middle])) else (low, middle - 1)
    return tuple(lines[:low])


def _beside(fact: Fact) -> str:
    """Return whose a figure is and what it is, in brackets, where its evidence agrees on it."""
    told = {e.qualifiers for e in fact.evidence if e.qualifiers.kind == "target"}
    if not told or len(told) < len({e.qualifiers for e in fact.evidence}):
        return ""
    fields = (
        {q.region for q in told},
        {f"{q.year}年" if q.year else "" for q in told},
        {_STANDINGS[q.standing] for q in told},
    )
    said = [value for values in fields if len(values) == 1 for value in values if value]
    said = [value for value in said if value not in f"{fact.subject.name}{fact.object.name}"]
    return f"（{'，'.join(said)}）" if said else ""


def _states(passage: Passage, fact: Fact) -> bool:
    return any(
        e.doc_id == passage.doc_id and passage.start <= e.start and e.end <= passage.end
        for e in fact.evidence
    )


def _one_line(text: str) -> str:
    return without_marks(" ".join(text.split()))
