"""Number the parts of a passage to summarise, and parse a model's summaries."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kgrag.ids import summary_id
from kgrag.ingestion.fact_rows import list_of, object_of
from kgrag.ingestion.passages import Passage
from kgrag.ingestion.prepare import target_ids
from kgrag.ingestion.self_names import SelfNames
from kgrag.ingestion.structure import is_contents_line
from kgrag.types import Chunk, Summary

LEVEL = "chunk"
MISSING = "summary missing"
_LEAST_PARENT = 100  # characters without blanks; shorter texts need no summary
_LEAST_CHILD = 300
_PLACE_KIND = re.compile(r"(?<=..)(?:省|市|县|区|州|盟|旗|自治区)$")
_NUMBERS = re.compile(r"\d+")

ITEMS = list_of(object_of(part={"type": "string"}, summary={"type": "string"}))


@dataclass(frozen=True, slots=True)
class Part:
    """A child or parent to summarise.

    Attributes:
        key: `3` for the child marked ⟦3⟧ in the prompt, `1-3` for a parent of several.
        start: First character offset in the document's text.
        end: Offset after the last character.
    """

    key: str
    start: int
    end: int


def parts(passage: Passage) -> list[Part]:
    """Return the parts to summarise: parents, each followed by its children.

    Parents count unless they are very short; children if their parent has several, they have at
    least 300 characters (blanks left out), and are no table of contents. After GRIM, section
    3.1.1: summaries are nodes beside those of the text.
    """
    numbered = dict(enumerate(_units(passage), 1))
    found = []
    for parent in passage.parents:
        own = {n: u for n, u in numbered.items() if parent.start <= u.start < parent.end}
        if not own or _length(parent.text) < _LEAST_PARENT:
            continue
        first, last = min(own), max(own)
        key = f"{first}-{last}" if last > first else f"{first}"
        found.append(Part(key, parent.start, parent.end))
        if last > first:
            found += [Part(f"{n}", u.start, u.end) for n, u in own.items() if _is_worth(u)]
    if not passage.parents:  # half of a parent: see `Passage.halves`
        found = [Part(f"{n}", u.start, u.end) for n, u in numbered.items() if _is_worth(u)]
    return found


def marked(passage: Passage) -> str:
    """Return a passage's text with ⟦1⟧, ⟦2⟧ where its children start.

    Such marks of the document itself become [1], [2].
    """
    pieces, at = [], passage.start
    for number, unit in enumerate(_units(passage), 1):
        pieces += [_shown(passage, at, unit.start), f"⟦{number}⟧"]
        at = unit.start
    return "".join([*pieces, _shown(passage, at, passage.end)])


def read_items(items: Iterable[object]) -> list[tuple[str, str]]:
    """Return (key, summary) of each item of an answer; keys as in `Part`.

    Raises:
        ValueError: If there are items, but none has the requested form.
    """
    items = list(items)
    found = []
    for item in items:
        if isinstance(item, Mapping):
            key = "-".join(_NUMBERS.findall(str(item.get("part", ""))))
            text = item.get("summary")
            if key and isinstance(text, str) and text.strip():
                found.append((key, " ".join(text.split())))
    if items and not found:
        raise ValueError('no item of "summaries" has a "part" and a "summary" that is a text')
    return found


def summaries_of(
    items: Sequence[tuple[str, str]],
    passage: Passage,
    *,
    source: str,
    about: SelfNames | None = None,
) -> tuple[list[Summary], Counter[str]]:
    """Return the summaries of a passage's parts, and the number of unusable ones by reason.

    The first item for a part counts. The document's name is prepended to a summary that names
    neither document nor place, which might otherwise belong to any document.
    """
    wanted = {part.key: part for part in parts(passage)}
    found: dict[str, Summary] = {}
    dropped: Counter[str] = Counter()
    for key, text in items:
        part = wanted.get(key)
        if part is None:
            dropped["summary of no part asked for"] += 1
        elif key in found:
            dropped["second summary of a part"] += 1
        else:
            text = _named(text, about) if about else text
            found[key] = Summary(
                summary_id=summary_id(passage.doc_id, part.start, part.end, text),
                doc_id=passage.doc_id,
                start=part.start,
                end=part.end,
                text=text,
                level=LEVEL,
                source=source,
                target_ids=target_ids(passage.parents, part.start, part.end),
            )
    missing = len(wanted) - len(found)
    return list(found.values()), dropped + Counter({MISSING: missing})


def _named(text: str, about: SelfNames) -> str:
    """Return a summary, preceded by the document's name if it names neither that nor a place.

    >>> about = SelfNames("节能规划", ("云岭省", "青川市"), "")
    >>> _named("建成绿色工厂500家。", about), _named("青川建成绿色工厂500家。", about)
    ('青川市节能规划：建成绿色工厂500家。', '青川建成绿色工厂500家。')
    """
    place = about.regions[-1] if about.regions else ""
    names = [about.document, place, _PLACE_KIND.sub("", place)]
    if not about.document or any(len(name) > 1 and name in text for name in names):
        return text
    return name_before(about, ascii=text.isascii()) + text


def name_before(about: SelfNames, *, ascii: bool = False) -> str:
    """Return the prefix of a summary that names no document; empty for a document without name.

    `ascii` selects ASCII punctuation.
    """
    place = about.regions[-1] if about.regions else ""
    own = "" if _PLACE_KIND.sub("", place) in about.document else place
    return f"{own}{about.document}{': ' if ascii else '：'}" if about.document else ""


def _units(passage: Passage) -> list[Chunk]:
    """Return the numbered chunks: children, or parents where there are none."""
    return [c for c in passage.children or passage.parents if c.text.strip()]


def _is_worth(unit: Chunk) -> bool:
    lines = [line for line in unit.text.splitlines() if line.strip()]
    contents = sum(is_contents_line(line) for line in lines)
    return _length(unit.text) >= _LEAST_CHILD and 2 * contents < len(lines)


def _length(text: str) -> int:
    return len("".join(text.split()))


def _shown(passage: Passage, start: int, end: int) -> str:
    text = passage.text[start - passage.start : end - passage.start]
    return text.replace("⟦", "[").replace("⟧", "]")
