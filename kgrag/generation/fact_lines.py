"""Write facts of the graph as lines for a context, each with the passages that state it."""

from collections.abc import Callable, Collection, Sequence

from kgrag.language.answer_text import without_marks
from kgrag.language.text import normalize
from kgrag.results import Passage
from kgrag.types import Fact

WIDEST = 99  # stands for any [n] where its length is not known yet
_RELATED = 0.5  # of the most words of the question that a line shares, which others must share
_STANDINGS = {"": "", "planned": "目标", "achieved": "已达到"}


def fact_line(subjects: Sequence[str], fact: Fact, numbers: Sequence[int]) -> str:
    """Return a fact on one line: `主体、主体 —谓词→ 客体（地区，年份，目标） [n]`."""
    subject = "、".join(map(_one_line, subjects))
    told = "".join(f"[{n}]" for n in numbers)
    predicate, obj = _one_line(fact.predicate), _one_line(fact.object.name)
    return f"{subject} —{predicate}→ {obj}{_one_line(_beside(fact))} {told}"


def fact_lines(
    facts: Sequence[Fact],
    passages: Sequence[Passage] | None,
    asked: Collection[str],
    *,
    duties: bool = True,
) -> list[str]:
    """Return the lines of facts whose clause stands in a passage, each once.

    Those that share most words with the question come first, then as the passages stand; those
    that share less than half as many say nothing that is asked. What several do alike is one line.

    Args:
        facts: With evidence.
        passages: Packed; None for lines as long as they may become.
        asked: Words of the question; none for all facts.
        duties: Whether it is asked who is responsible: else the organs of each task are left out.
    """
    alike: dict[tuple[str, str, str, tuple[int, ...]], tuple[Fact, dict[str, None]]] = {}
    for fact in facts:
        if passages is None:
            numbers: tuple[int, ...] = (WIDEST,)
        else:
            numbers = tuple(p.number for p in passages if _states(p, fact))
        if numbers and (duties or not _is_duty(fact)):
            key = (fact.predicate, fact.object.name, _beside(fact), numbers)
            alike.setdefault(key, (fact, {}))[1][fact.subject.name] = None
    found: list[tuple[int, int, str]] = []
    for (*_, numbers), (fact, subjects) in alike.items():
        line = fact_line(list(subjects), fact, numbers)
        plain = normalize(line)  # looking for words is a tenth of the cost of cutting into them
        shared = sum(word in plain for word in set(asked))
        found.append((-shared, numbers[0], line))
    least = _RELATED * max((-shared for shared, _, _ in found), default=0)
    kept = sorted(one for one in found if not asked or -one[0] >= max(1, least))
    return list(dict.fromkeys(line for _, _, line in kept))


def _is_duty(fact: Fact) -> bool:
    return all(e.qualifiers.kind == "duty" for e in fact.evidence)


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
