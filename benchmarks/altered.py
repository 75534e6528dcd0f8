"""Whether a claim that its cited sentence does not bear out is noticed, an honest one left alone.

Sentences of real documents are retold in a few mechanical ways (a clause left out, 达到 for 为,
agencies by their short names) and cited to the passage that they come from, among others of the
same document. Each is checked as it is, and altered in one thing:

- swapped: two figures of the same unit in it change places;
- figure: a figure gives way to another one of its passage, of the same unit;
- year: a year beside a figure gives way to another one of its passage;
- agency: an agency gives way to another one of its passage;
- modality: 不得 becomes 可以, 应当 becomes 可以, 可以 becomes 不得.

Documents are halved by their names: one half to tune on, the other to report. No model is asked.

usage: python benchmarks/altered.py --texts FOLDER [--half tune|report] [--n 4] [--show 10]
"""

import argparse
import random
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from kgrag.answer.answer import Answer
from kgrag.answering.cite import cited_texts, resolve
from kgrag.answering.generate import Draft
from kgrag.question.question import analyse
from kgrag.results import Context, Passage
from kgrag.text.quantities import quantities
from kgrag.text.words import sentence_spans
from kgrag.types import Document
from kgrag.verification.checks import checked as with_checks
from kgrag.verification.names import agencies, short_agencies

_SHORTEST, _LONGEST = 16, 160  # characters of a sentence that is retold
_PASSAGE = 600  # characters, about
_BESIDE = 3  # other passages of the document
_MODAL = (("不得", "可以"), ("严禁", "可以"), ("禁止", "允许"), ("应当", "可以"), ("可以", "不得"))
_YEAR = re.compile(r"(?<!\d)20[1-6]\d(?=年)")
_TITLED = re.compile(r"《[^》]*》")
_RETOLD = (("达到", "为"), ("力争", ""), ("左右", ""), ("进一步", ""), ("不断", ""), ("积极", ""),
           ("实现", "达到"), ("建成", "建设"))  # fmt: skip

Altered = Callable[[str, str, random.Random], str | None]


def main() -> None:
    """Print the shares by kind."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--half", choices=("tune", "report"), default="tune")
    parser.add_argument("--n", type=int, default=4, help="sentences of a document and kind")
    parser.add_argument("--show", type=int, default=0, help="misses and false alarms to print")
    given = parser.parse_args()
    told: Counter[tuple[str, bool]] = Counter()
    for path in sorted(given.texts.glob("*.txt")):
        if (zlib.crc32(path.stem.encode()) % 2 == 0) != (given.half == "tune"):
            continue
        for kind, altered, honest, context, document in cases(path, given.n):
            for name, said in ((kind, altered), (f"{kind}, honest", honest)):
                answer = checked(said, context, document)
                marked = not answer.found or any(not found.supported for found in answer.checks)
                told[name, marked] += 1
                wrong = marked == (name != kind)
                if wrong and told["shown", name != kind] < given.show:
                    told["shown", name != kind] += 1
                    print(f"- {name} {path.stem}: {said}\n    {answer.text}\n    from: {honest}")
    altered_kinds, honest_kinds = list(ALTERATIONS), [f"{kind}, honest" for kind in ALTERATIONS]
    for kind in (*altered_kinds, *honest_kinds):
        _print_share(kind, told, [kind])
    _print_share("altered, all", told, altered_kinds)
    _print_share("honest, all", told, honest_kinds)


def _print_share(title: str, told: Counter[tuple[str, bool]], kinds: list[str]) -> None:
    marked = sum(told[kind, True] for kind in kinds)
    n = marked + sum(told[kind, False] for kind in kinds)
    print(f"{title:18} marked {marked:5} of {n:5}, {100 * marked / max(1, n):.1f} %")


def cases(path: Path, n: int) -> Iterator[tuple[str, str, str, Context, Document]]:
    """Yield (kind, altered claim, honest claim, context, document)."""
    text = path.read_text("utf-8")
    document = Document(path.stem, text.split("\n", 1)[0][:60], text, path.name, "txt", "0")
    passages = _passages(document)
    rng = random.Random(path.stem)
    for kind, alter in ALTERATIONS.items():
        made = 0
        for passage in rng.sample(passages, len(passages)):
            for start, end in rng.sample(spans := sentence_spans(passage.text), len(spans)):
                sentence = " ".join(passage.text[start:end].split())
                if made == n or not _SHORTEST <= len(sentence) <= _LONGEST or "..." in sentence:
                    continue
                honest = retold(sentence, rng)
                altered = alter(honest, passage.text, rng)
                if altered is None or altered == honest:
                    continue
                made += 1
                others = [p for p in passages if p is not passage]
                chosen = [passage, *rng.sample(others, min(_BESIDE, len(others)))]
                numbered = tuple(replace(p, number=i) for i, p in enumerate(chosen, 1))
                yield kind, altered, honest, Context(numbered, best=1), document


def checked(said: str, context: Context, document: Document) -> Answer:
    """Return the answer that a claim cited to the first passage becomes."""
    bare = said.rstrip("。；;.")
    documents = {document.doc_id: document}
    answer = resolve(
        analyse("有什么规定？"),
        Draft(f"{bare}[1]。", "m"),
        context,
        documents=documents,
        headings={},
    )
    texts = cited_texts(answer.citations, documents=documents, passages=context.passages)
    return with_checks(answer, texts)


def retold(sentence: str, rng: random.Random) -> str:
    """Return a sentence told in slightly other words that mean the same."""
    for old, new in _RETOLD:
        if rng.random() < 0.5:
            sentence = sentence.replace(old, new)
    clauses = re.split(r"(?<=[，；])", sentence)
    if len(clauses) > 2 and rng.random() < 0.5:
        del clauses[rng.randrange(1, len(clauses) - 1)]
    sentence = "".join(clauses)
    return short_agencies(sentence) if rng.random() < 0.5 else sentence


def _passages(document: Document) -> list[Passage]:
    found, start = [], 0
    text = document.text
    while start < len(text):
        end = text.find("\n", min(len(text), start + _PASSAGE)) + 1 or len(text)
        found.append(
            Passage(0, document.doc_id, document.title, (), start, end, text[start:end], "c")
        )
        start = end
    return found


def _figures(text: str) -> list[tuple[int, int, str, str]]:
    titled = [m.span() for m in _TITLED.finditer(text)]
    return [
        (q.start, q.end, text[q.start : q.end].strip(), q.unit)
        for q in quantities(text)
        if q.unit and q.unit not in "年月日号条章款项期批级号"
        and not q.is_word
        and text[q.start].isdigit()
        and not any(a <= q.start < b for a, b in titled)
    ]  # fmt: skip


def _swapped(sentence: str, passage: str, rng: random.Random) -> str | None:
    found = _figures(sentence)
    pairs = [
        (a, b) for i, a in enumerate(found) for b in found[i + 1 :] if a[3] == b[3] and a[2] != b[2]
    ]
    if not pairs or "分别" in sentence:
        return None
    (a, b, one, _), (c, d, other, _) = rng.choice(pairs)
    return sentence[:a] + other + sentence[b:c] + one + sentence[d:]


def _figure(sentence: str, passage: str, rng: random.Random) -> str | None:
    mine = _figures(sentence)
    held = {told for _, _, told, _ in mine}
    others = [f for f in _figures(passage) if f[2] not in held]
    pairs = [(a, b) for a in mine for b in others if a[3] == b[3]]
    if not pairs:
        return None
    (start, end, _, _), (_, _, other, _) = rng.choice(pairs)
    return sentence[:start] + other + sentence[end:]


def _year(sentence: str, passage: str, rng: random.Random) -> str | None:
    years = {m.group() for m in _YEAR.finditer(_TITLED.sub("", passage))}
    mine = [
        m
        for m in _YEAR.finditer(sentence)
        if sentence[: m.start()].count("《") == sentence[: m.start()].count("》")
    ]
    others = sorted(years - {m.group() for m in mine})
    if not mine or not others or not _figures(sentence):
        return None
    match = rng.choice(mine)
    return sentence[: match.start()] + rng.choice(others) + sentence[match.end() :]


def _agencies(text: str) -> list[str]:
    found = (name.written for name in agencies(text, latin=False))
    return [w for w in found if w[-1] in "局委厅部" and 3 <= len(w) <= 12]


def _agency(sentence: str, passage: str, rng: random.Random) -> str | None:
    mine = [w for w in _agencies(sentence) if sentence.count(w) == 1]
    others = [
        w
        for w in _agencies(passage)
        if not any(
            short_agencies(w)[-3:] in short_agencies(m)
            or short_agencies(m)[-3:] in short_agencies(w)
            for m in _agencies(sentence)
        )
    ]
    if not mine or not others or "（" in sentence[:4]:
        return None
    return sentence.replace(rng.choice(mine), rng.choice(others))


def _modality(sentence: str, passage: str, rng: random.Random) -> str | None:
    found = [(old, new) for old, new in _MODAL if sentence.count(old) == 1]
    if not found:
        return None
    old, new = rng.choice(found)
    return sentence.replace(old, new)


ALTERATIONS: dict[str, Altered] = {
    "swapped": _swapped, "figure": _figure, "year": _year, "agency": _agency, "modality": _modality,
}  # fmt: skip

if __name__ == "__main__":
    main()
