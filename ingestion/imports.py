"""Import facts and summaries made elsewhere, by passage or by character span."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kgrag.errors import IngestionError
from kgrag.files.encoding import Utf8Lines
from kgrag.files.foreign_json import read_foreign
from kgrag.ids import summary_id
from kgrag.ingestion.agreement import agreed
from kgrag.ingestion.anchor import evidence_for
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.embed import embed, embed_groups, texts_to_embed
from kgrag.ingestion.facts import IMPORTED, Stated, facts_of, mention_of
from kgrag.ingestion.load.parsed import replace_unusable
from kgrag.ingestion.prepare import resolver_of, target_ids
from kgrag.ingestion.resolve import NameResolver
from kgrag.ingestion.target import IngestTarget
from kgrag.json_ready import JsonReady
from kgrag.store.contents import DocumentBundle
from kgrag.store.store import Store
from kgrag.types import Chunk, Document, Evidence, Fact, Mention, Summary

_TEXTS = "texts that are not empty, without NUL or half characters"
_OWN_OFFSETS = frozenset(["txt", "md", "jsonl"])  # offsets point into the user's own file


@dataclass(frozen=True, slots=True)
class ImportReport(JsonReady):
    """The result of an import."""

    documents: int  # documents that were changed
    facts: int  # facts with evidence from the file
    summaries: int  # summaries from the file
    errors: tuple[str, ...]  # unusable lines, with line number, reason and remedy
    seconds: float = 0.0  # duration; 0 where not measured
    index_seconds: float = 0.0  # part of `seconds` spent on search indexes


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    doc: str
    start: int | None
    end: int | None
    triples: tuple[tuple[str, str, str], ...] = ()
    entities: tuple[str, ...] = ()
    summary: str = ""
    level: str = "section"


_LineError = tuple[int, str]  # number of the line, what is wrong with it
_Parse = Callable[[int, Mapping[str, object]], _Row]


def import_facts(path: Path, target: IngestTarget) -> ImportReport:
    """Add facts and their vectors to stored documents; idempotent.

    `path` is `.jsonl` of {"passage_id", "triples": [[s, p, o]], "entities": []}, the passage being
    a whole document, or {"doc", "start", "end", "triples"} with character offsets. `doc` is a
    document's id, or its file's name without extension.

    Raises:
        IngestionError: If the file cannot be read.
    """
    store, embedder = target.store, target.embedder
    rows, errors = _rows(path, _fact_row)
    count = 0
    by_doc, unknown = _by_document(rows, store)
    curation = Curation.of(store)
    source_of = {state.doc_id: state.source for state in store.sources()}
    for card, group in by_doc:
        stored = store.bundle(card.doc_id)
        if stored is None:  # deleted by another process meanwhile
            continue
        leaves = [c for c in stored.chunks if c.size == target.sizes.leaf]
        names = resolver_of(stored.document, curation)
        told, mentions, bad = _knowledge(group, leaves, names)
        errors += bad
        made = replace(
            stored,
            facts=agreed([*stored.facts, *told], names, stored.document.text),
            mentions=[*dict.fromkeys([*stored.mentions, *mentions])],
        )
        count += len(told)
        if {*made.facts} == {*stored.facts} and {*made.mentions} == {*stored.mentions}:
            continue
        nodes = embed(texts_to_embed(made, target.sizes.leaf), embedder=embedder, store=store)
        made = replace(made, vectors=nodes, embedder=embedder.name)
        store.upsert_document(made, source=source_of[card.doc_id])
    return ImportReport(len(by_doc), count, 0, _in_order(errors + unknown))


def import_summaries(path: Path, target: IngestTarget) -> ImportReport:
    """Add summaries to stored documents as index nodes; idempotent.

    `path` is `.jsonl` of {"doc", "start", "end", "summary"} with an optional `level`.

    Raises:
        IngestionError: If the file cannot be read.
    """
    store, embedder = target.store, target.embedder
    rows, errors = _rows(path, _summary_row)
    by_doc, unknown = _by_document(rows, store)
    pending: list[tuple[Document, list[Summary]]] = []
    for document, group in by_doc:
        parents = store.chunks_of([document.doc_id], size=target.sizes.parent)
        summaries, bad = _summaries(group, document.doc_id, parents)
        errors += bad
        pending.append((document, summaries))
    texts = [
        texts_to_embed(DocumentBundle(document, "", summaries=summaries), target.sizes.leaf)
        for document, summaries in pending
    ]
    nodes = embed_groups(texts, embedder=embedder, store=store)
    for (document, summaries), own in zip(pending, nodes, strict=True):
        store.add_knowledge(
            document.doc_id, summaries=summaries, vectors=own, embedder=embedder.name
        )
    count = sum(len(summaries) for _, summaries in pending)
    return ImportReport(len(by_doc), 0, count, _in_order(errors + unknown))


def _in_order(errors: Sequence[_LineError]) -> tuple[str, ...]:
    return tuple(f"line {number}: {what}" for number, what in sorted(errors, key=lambda e: e[0]))


def _rows(path: Path, parse: _Parse) -> tuple[list[_Row], list[_LineError]]:
    rows: list[_Row] = []
    errors: list[_LineError] = []
    for number, line in _lines(path):
        try:
            record = read_foreign(line)
            if not isinstance(record, dict):
                raise ValueError("not a JSON object")
            rows.append(parse(number, record))
        except (ValueError, KeyError, TypeError) as exc:
            what = f"lacks {exc}" if isinstance(exc, KeyError) else str(exc)
            errors.append((number, what))
    return rows, errors


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with Utf8Lines(path.open("rb")) as lines:
            for number, line in enumerate(lines, 1):
                data = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if data.strip():
                    yield number, data
    except OSError as exc:
        raise IngestionError(f"{path}: cannot be read: {exc.strerror}") from exc


def _fact_row(line: int, record: Mapping[str, object]) -> _Row:
    triples = record.get("triples", [])
    entities = record.get("entities", [])
    if not isinstance(triples, list) or not isinstance(entities, list):
        raise ValueError("`triples` and `entities` must be lists")
    good = [t for t in triples if isinstance(t, list) and len(t) == 3 and all(map(_named, t))]
    if len(good) != len(triples):
        bad = next(t for t in triples if t not in good)
        raise ValueError(f"a triple is three {_TEXTS}, got {json.dumps(bad)[:80]}")
    if not all(map(_named, entities)):
        raise ValueError(f"`entities` are {_TEXTS}, got {json.dumps(entities)[:80]}")
    place = _place(record, "passage_id" if "passage_id" in record else "doc")
    stated = tuple((s.strip(), p.strip(), o.strip()) for s, p, o in good)
    return _Row(line, *place, triples=stated, entities=tuple(e.strip() for e in entities))


def _summary_row(line: int, record: Mapping[str, object]) -> _Row:
    summary = record["summary"]
    if not _named(summary):
        raise ValueError(f"`summary` is one of {_TEXTS}, got {json.dumps(summary)[:80]}")
    place = _place(record, "doc")
    level = record.get("level", "section")
    if not _named(level):
        raise ValueError(f"`level` is one of {_TEXTS}, got {json.dumps(level)[:80]}")
    return _Row(line, *place, summary=str(summary).strip(), level=str(level))


def _named(value: object) -> bool:
    """Return whether a value is a non-blank text that can be stored."""
    return isinstance(value, str) and bool(value.strip()) and not replace_unusable(value)[1]


def _place(record: Mapping[str, object], key: str) -> tuple[str, int | None, int | None]:
    doc = str(record[key])
    start, end = record.get("start"), record.get("end")
    if start is None and end is None and key == "passage_id":
        return doc, None, None
    if type(start) is not int or type(end) is not int or not 0 <= start < end:
        raise ValueError(
            f"`start` and `end` must be offsets with start < end, got {start!r:.40}, {end!r:.40}"
        )
    return doc, start, end


def _by_document(
    rows: Iterable[_Row], store: Store
) -> tuple[list[tuple[Document, list[_Row]]], list[_LineError]]:
    """Return the rows of each stored document, and errors for the others."""
    cards = {card.doc_id: card for card in store.document_cards()}
    by_stem: dict[str, list[Document]] = defaultdict(list)
    for card in cards.values():
        by_stem[Path(card.file).stem].append(card)
    groups: dict[str, list[_Row]] = defaultdict(list)
    errors = []
    for row in rows:
        named = [cards[row.doc]] if row.doc in cards else by_stem.get(row.doc, [])
        if len(named) > 1 and row.start is not None:
            named = [card for card in named if card.media_type in _OWN_OFFSETS]
        if len(named) == 1:
            groups[named[0].doc_id].append(row)
        else:
            files = ", ".join(sorted(card.file for card in named))
            why = f"may be any of {files}; use the document's id" if named else "is not held"
            errors.append((row.line, f"document {row.doc!r} {why}"))
    return [(cards[doc_id], group) for doc_id, group in sorted(groups.items())], errors


def _evidence(row: _Row, leaves: Sequence[Chunk]) -> tuple[Evidence, ...]:
    start = 0 if row.start is None else row.start
    end = leaves[-1].end if row.end is None else row.end
    return evidence_for(leaves, start, end, extractor=IMPORTED)


def _knowledge(
    rows: Iterable[_Row], leaves: Sequence[Chunk], resolver: NameResolver
) -> tuple[list[Fact], list[Mention], list[_LineError]]:
    stated: list[Stated] = []
    mentions: dict[Mention, None] = {}
    errors = []
    for row in rows:
        try:
            evidence = _evidence(row, leaves)
        except ValueError as exc:
            errors.append((row.line, f"{exc}; are the offsets of another version?"))
            continue
        stated += [Stated(*triple, evidence) for triple in row.triples]
        for name in row.entities:
            mentions.update((mention_of(name, e, resolver), None) for e in evidence)
    return facts_of(stated, resolver), list(mentions), errors


def _summaries(
    rows: Iterable[_Row], doc_id: str, parents: Sequence[Chunk]
) -> tuple[list[Summary], list[_LineError]]:
    found, errors = [], []
    for row in rows:
        start, end = row.start or 0, row.end or 0
        if end > parents[-1].end:
            what = f"span {start}..{end} is outside the text of {parents[-1].end} characters"
            errors.append((row.line, f"{what}; are the offsets of another version?"))
            continue
        found.append(
            Summary(
                summary_id=summary_id(doc_id, start, end, row.summary),
                doc_id=doc_id,
                start=start,
                end=end,
                text=row.summary,
                level=row.level,
                source=IMPORTED,
                target_ids=target_ids(parents, start, end),
            )
        )
    return found, errors
