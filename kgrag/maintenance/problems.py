"""Files and documents that were read badly, not at all or twice, each with a remedy."""

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from kgrag.ids import digest
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.load.archive import archive_of_member
from kgrag.ingestion.load.legible import ILLEGIBLE
from kgrag.json_ready import JsonReady
from kgrag.kb_meta import NOTE
from kgrag.metadata import Metadata
from kgrag.statements.table import Column, Row, Table
from kgrag.store.folders import FOLDERS, is_remote, shown_from
from kgrag.store.store import Store
from kgrag.text.document_nodes import node_id
from kgrag.text.messages import Message, in_language, message, packed, replaced, unpacked
from kgrag.text.visible import parted, place_shown
from kgrag.text.words import normalize_name
from kgrag.types import Document, Language


@dataclass(frozen=True, slots=True)
class _Candidate:
    """The data by which duplicates are found.

    Attributes:
        doc_id: The document.
        file: As shown.
        title: Its title.
        metadata: Its issuers, number and dates.
        text_key: A hash of the letters and digits of its text.
    """

    doc_id: str
    file: str
    title: str
    metadata: Metadata
    text_key: str


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two documents with the same node in the graph, or the same text.

    Attributes:
        kind: `twin`: duplicates, by text, or by title, issuer and number or date; `edition`: same
            title and issuer, another number or date.
        document: The later one, or the second by file.
        other: The earlier one.
        same_text: Whether their texts are equal.
    """

    kind: Literal["twin", "edition"]
    document: _Candidate
    other: _Candidate
    same_text: bool = False


def _duplicates(documents: Iterable[_Candidate]) -> list[_Pair]:
    """Return duplicates and editions among all documents of an archive, by file.

    >>> old, new = Metadata(number="云政〔2018〕1号"), Metadata(number="云政〔2022〕3号")
    >>> documents = [_Candidate("d-1", "a.txt", "节能办法", old, "x"),
    ...              _Candidate("d-2", "b.txt", "节能办法", new, "y"),
    ...              _Candidate("d-3", "c.txt", "节能办法（另存）", new, "y")]
    >>> [(pair.kind, pair.document.file, pair.other.file) for pair in _duplicates(documents)]
    [('edition', 'b.txt', 'a.txt'), ('twin', 'c.txt', 'b.txt')]
    """
    ordered = sorted(documents, key=lambda d: (_issued(d), d.file, d.doc_id))
    by_text: dict[str, _Candidate] = {}
    by_node: dict[str, list[_Candidate]] = defaultdict(list)
    found: list[_Pair] = []
    for document in ordered:
        first = by_text.setdefault(document.text_key, document)
        node = by_node[node_id(document.title, document.metadata)]
        if first is not document:
            found.append(_Pair("twin", document, first, same_text=True))
        elif node:
            found.append(next(_same(document, node), _Pair("edition", document, node[-1])))
        node.append(document)
    return sorted(found, key=lambda pair: (pair.document.file, pair.document.doc_id))


def _same(document: _Candidate, others: Iterable[_Candidate]) -> Iterator[_Pair]:
    for other in others:
        numbers = {document.metadata.number, other.metadata.number}
        same = len(numbers) == 1 if "" not in numbers else _issued(document) == _issued(other)
        if same:
            yield _Pair("twin", document, other)


def _issued(document: _Candidate) -> str:
    return document.metadata.written or document.metadata.issued


UNREAD = f"{NOTE}unread"  # key of the note that holds them
MOST_UNREAD = 1000
_LONGEST = 500  # characters of a reason
_LINE = re.compile(r":\d+$")
ProblemKind = Literal[
    "unread", "skipped", "illegible", "warning", "title", "issuer", "date", "region", "short",
    "headings", "passages", "twin", "edition",
]  # fmt: skip

_COLUMNS = (
    Column("problem", "问题", "problem"),
    Column("n", "份数", "number"),
    Column("example", "例如", "such as"),
    Column("remedy", "处理", "remedy"),
)
# Problems in words, by what is wrong, else by kind; in this order.
_WORDS: dict[str, tuple[str, str]] = {
    "unread": ("未能读取的文件", "files that could not be read"),
    "skipped": ("格式不支持的文件", "files of formats that are not read"),
    "illegible": ("文字无法辨认", "text that cannot be read"),
    "warning": ("读取时有提示", "read with a warning"),
    "no issuer": ("无发文机关", "no issuer"),
    "no date of issue": ("无印发日期", "no date of issue"),
    "no region": ("无地区", "no region"),
    "the issuer is inferred": ("发文机关为推断", "issuer inferred"),
    "the year is inferred": ("日期为推断", "date inferred"),
    "the region is inferred": ("地区为推断", "region inferred"),
}

_BATCH = 64  # documents whose texts are held at once
_HEAD = 2000  # characters in which a title stands
_SHORT = 200  # characters; notices of a few lines have more
_LONG = 3000  # characters; a document of three pages has headings
_LOCAL = ("省", "市", "县")


@dataclass(frozen=True, slots=True)
class Unread(JsonReady):
    """A file, or part of one, that could not be read.

    Attributes:
        source: Absolute path as displayed; with `:line` or `#id` for a part.
        reason: What is wrong, with the remedy.
        skipped: Whether it was found in a folder and has no loader.
    """

    source: str
    reason: str
    skipped: bool = False


def unread_from(text: str | None) -> list[Unread]:
    """Parse the stored list, oldest first; empty if it is missing or invalid.

    >>> unread_from('[["/a/b.pdf", "is locked", false]]')
    [Unread(source='/a/b.pdf', reason='is locked', skipped=False)]
    """
    try:
        rows = json.loads(text or "[]")
        return [Unread(str(file), unpacked(str(why)), bool(skipped)) for file, why, skipped in rows]
    except (ValueError, TypeError):
        return []


def unread_text(unread: Iterable[Unread]) -> str:
    """Return the list as text to be stored."""
    rows = [[one.source, packed(one.reason), one.skipped] for one in unread]
    text = json.dumps(rows, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()  # half characters as JSON escapes them


def renewed_unread(
    known: Iterable[Unread], found: Iterable[Unread], *, looked_at: Sequence[Path]
) -> list[Unread]:
    """Return the list after an ingest, oldest first.

    Entries at or below the paths of the ingest are replaced, entries whose file is gone are
    dropped. At most the newest `MOST_UNREAD` are kept; skipped files are dropped first.

    Args:
        known: Before the ingest.
        found: In the ingest.
        looked_at: Files and folders that were ingested.
    """
    roots = {Path(os.path.abspath(path)) for path in looked_at}  # noqa: PTH100 - links stay
    kept = [one for one in known if not roots & _around(one)]
    now = {
        one.source: Unread(one.source, _shortened(one.reason), one.skipped)
        for one in (*kept, *found)
        if is_remote(one.source) or os.path.exists(_file(one))  # noqa: PTH110 - names may be none that a system has
    }
    return sorted(now.values(), key=lambda one: not one.skipped)[-MOST_UNREAD:]


def _shortened(reason: str) -> str:
    return reason if len(reason) <= _LONGEST else reason[:_LONGEST]  # else no message any more


def _around(one: Unread) -> set[Path]:
    path = Path(os.path.abspath(_file(one)))  # noqa: PTH100 - links stay
    return {path, *path.parents}


def _file(one: Unread) -> Path:
    """Return the file of a source, or of the part of one."""
    file, _ = parted(one.source)
    file = str(archive_of_member(file)[0])
    whole = place_shown(file)
    if os.path.exists(whole):  # noqa: PTH110 - as above
        return whole
    return place_shown(_LINE.sub("", file))


@dataclass(frozen=True, slots=True)
class ReadingProblem(JsonReady):
    """Something that was read badly or not at all.

    Attributes:
        kind: `unread` (failed) and `skipped` (no loader) concern files without a document. The
            others concern documents: `illegible` text or numbers; `warning` of the loader; `title`
            is the file's name; `issuer`, `date` or `region` unknown or inferred; `short` text; no
            `headings` in a long text; `passages` that a model failed to read; `twin` of another
            document; `edition` that shares a node in the graph with another one of its title and
            issuer.
        file: As displayed.
        detail: What is wrong.
        remedy: What to do.
        doc_id: The document; empty for a file without one.
        title: Of the document.
    """

    kind: ProblemKind
    file: str
    detail: str
    remedy: str
    doc_id: str = ""
    title: str = ""


def card_problems(store: Store) -> list[ReadingProblem]:
    """Return the problems that are known without the documents' texts, files first.

    Files that were not read, warnings of loaders, and what is unknown or inferred of issuer, date
    and region.
    """
    found = _unread_problems(store)
    for card in sorted(store.document_cards(), key=lambda card: (card.file, card.doc_id)):
        found += _card_problems(card, of_text=False)
    return found


def problem_table(problems: Iterable[ReadingProblem], language: Language = "zh") -> Table:
    """Return a row for each kind of problem, with the number of documents or files and a remedy.

    Args:
        problems: As of `card_problems`.
        language: Of words in cells.
    """
    groups: dict[str, list[ReadingProblem]] = {}
    for problem in problems:
        groups.setdefault(problem.detail if problem.detail in _WORDS else problem.kind, []).append(
            problem
        )
    rows = []
    for name, words in _WORDS.items():
        if several := groups.get(name):
            first = several[0]
            doc_ids = {p.doc_id or p.file for p in several}
            remedy = replaced(first.remedy, first.doc_id, "DOC") if first.doc_id else first.remedy
            said = in_language(remedy, language)
            cells = words[language != "zh"], len(doc_ids), first.title or first.file, said
            rows.append(Row(cells))
    heading = Column("missing", "缺失与未读", "missing and unread")
    return Table("missing", _COLUMNS, tuple(rows), (), heading)


def reading_problems(store: Store) -> Iterator[ReadingProblem]:
    """Yield problems: files in order, then documents by file, then duplicates and editions.

    Args:
        store: The knowledge base; texts are read in batches.
    """
    yield from _unread_problems(store)
    marks = {state.doc_id: state.fingerprint for state in store.sources()}
    cards = sorted(store.document_cards(), key=lambda card: (card.file, card.doc_id))
    held: list[_Candidate] = []
    for at in range(0, len(cards), _BATCH):
        ids = [card.doc_id for card in cards[at : at + _BATCH]]
        headings = store.headings(ids)
        for document in store.documents(ids):
            key = digest("text", normalize_name(document.text))
            held.append(
                _Candidate(document.doc_id, document.file, document.title, document.metadata, key)
            )
            failed = Fingerprint.parse(marks.get(document.doc_id, "")).failed
            yield from _document_problems(
                document, has_headings=bool(headings.get(document.doc_id)), n_failed=len(failed)
            )

    yield from map(_shared_problem, _duplicates(held))


def _shared_problem(pair: _Pair) -> ReadingProblem:
    document, other = pair.document, pair.other
    if pair.kind == "twin":
        detail = (
            message("has the text of {file}", file=other.file)
            if pair.same_text
            else message("has the title, issuer and number or date of {file}", file=other.file)
        )
        remedy = f"kgrag delete {document.doc_id}"
    else:
        detail = message(
            "another document has this title and issuer, too, and shares its node in the graph: "
            "{name}",
            name=other.file,
        )
        remedy = message(
            "kgrag correct {id} --title …, with its year behind it", id=document.doc_id
        )
    return ReadingProblem(pair.kind, document.file, detail, remedy, document.doc_id, document.title)


def _unread_problems(store: Store) -> list[ReadingProblem]:
    shown = shown_from(store.get_meta(FOLDERS))
    unread = sorted(unread_from(store.get_meta(UNREAD)), key=lambda one: one.source)
    return [
        ReadingProblem("skipped", shown(one.source), one.reason, message("then ingest it"))
        if one.skipped
        else ReadingProblem(
            "unread", shown(one.source), one.reason, message("then ingest it again")
        )
        for one in unread
    ]


def _document_problems(
    document: Document, *, has_headings: bool, n_failed: int
) -> Iterator[ReadingProblem]:
    """Yield the problems of a document.

    Args:
        document: With its text.
        has_headings: Whether it has headings.
        n_failed: Number of passages that a model failed to read.
    """
    yield from _card_problems(document)
    n = len(document.text)
    if n < _SHORT:
        yield _problem(
            document,
            "short",
            message("the text has {n} characters", n=n),
            message("see whether the file has more"),
        )
    if n >= _LONG and not has_headings:
        detail = message("no headings in {n:,} characters", n=n)
        yield _problem(
            document, "headings", detail, message("give the file headings, as 一、 or as styles")
        )
    if n_failed:
        detail = message("passages that a model could not read: {n}", n=n_failed)
        yield _problem(document, "passages", detail, "kgrag ingest --retry-failed")


def _card_problems(document: Document, *, of_text: bool = True) -> Iterator[ReadingProblem]:
    """Yield warnings and what is unknown or inferred; `of_text` if the document has its text."""
    for warning in document.warnings:
        remedy = message("see to the file, then ingest it again")
        is_illegible = isinstance(warning, Message) and warning.template in ILLEGIBLE
        yield _problem(document, "illegible" if is_illegible else "warning", warning, remedy)
    for kind, check, template in _CHECKS:
        if (of_text or check is not _title) and (detail := check(document)):
            told = message(template, set=f"kgrag correct {document.doc_id}")
            yield _problem(document, kind, detail, told)


def _problem(document: Document, kind: ProblemKind, detail: str, remedy: str) -> ReadingProblem:
    return ReadingProblem(kind, document.file, detail, remedy, document.doc_id, document.title)


def _title(document: Document) -> str:
    """Return the problem if the title is the file's name or a record's id, and not in the text."""
    file, record = parted(document.file)
    names = {record[1:], PurePath(record[1:]).stem, PurePath(file).stem, "untitled"}
    if document.title not in names or document.properties.get("stated.title"):
        return ""
    head = normalize_name(document.text[:_HEAD])
    return "" if normalize_name(document.title) in head else message("the title is the file's name")


def _issuer(document: Document) -> str:
    if not document.metadata.issuers:
        return message("no issuer")
    return message("the issuer is inferred") if "issuers" in document.metadata.inferred else ""


def _date(document: Document) -> str:
    if document.metadata.year is None:
        return message("no date of issue")
    return message("the year is inferred") if document.metadata.is_issue_inferred else ""


def _region(document: Document) -> str:
    metadata, properties = document.metadata, document.properties
    told = metadata.regions or properties.get("stated.regions")
    if not told and (metadata.level in _LOCAL or not metadata.level):
        return message("no region")
    return message("the region is inferred") if {"regions", "level"} & {*metadata.inferred} else ""


_CHECKS: tuple[tuple[ProblemKind, Callable[[Document], str], str], ...] = (
    ("title", _title, "{set} --title …"),
    ("issuer", _issuer, "{set} --issuer …"),
    ("date", _date, "{set} --date …"),
    ("region", _region, "{set} --region …, 全国 for a national document"),
)
