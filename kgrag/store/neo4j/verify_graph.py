"""Check facts, mentions and citations against each other and against the chunks."""

from collections import defaultdict
from collections.abc import Iterator

from kgrag.language.text import normalize_name
from kgrag.language.titles import CITING_PREDICATES
from kgrag.store.contents import Problem
from kgrag.store.neo4j.caption import caption
from kgrag.store.neo4j.connection import Database, Row
from kgrag.store.neo4j.document_knowledge import (
    StatedEvidence,
    evidence_in,
    fact_properties,
    is_whole,
    shown_name,
    shown_type,
)
from kgrag.store.texts import NOTHING, qualifiers_of

_REINGEST = "ingest the document again"
_Places = dict[str, tuple[str, int, int]]


def check_graph(database: Database) -> Iterator[Problem]:
    """Yield what is wrong with the graph of facts."""
    places: _Places = {
        row["id"]: (row["doc_id"], row["start"], row["end"])
        for row in database.stream("chunk_places")
    }
    stated: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for row in database.stream("every_fact"):
        yield from _fact(row, places)
        for chunk_id in row["chunk_ids"]:
            stated[chunk_id, row["subject_id"]].add(row["id"])
            stated[chunk_id, row["object_id"]].add(row["id"])
    yield from _mentions(database, places, stated)
    yield from _entities(database)
    yield from _citations(database)


def _fact(row: Row, places: _Places) -> Iterator[Problem]:
    if not row["doc_ids"] or not is_whole(row):
        detail = f"nothing supports it, or its lists differ in length ({row['predicate']})"
        yield Problem("fact-has-evidence", row["id"], f"{detail}: {_REINGEST}")
        return
    stated = evidence_in(row)
    if fact_properties(row["id"], stated)["predicate"] != row["predicate"]:
        detail = f"most documents word it otherwise than {row['predicate']}: {_REINGEST}"
        yield Problem("fact-wording", row["id"], detail)
    if stated != sorted(set(stated)):
        detail = f"its evidence is out of order or doubled: {_REINGEST}"
        yield Problem("fact-order", row["id"], detail)
    for s in stated:
        yield from _evidence("evidence", row["id"], s, places)


def _evidence(what: str, subject: str, s: StatedEvidence, places: _Places) -> Iterator[Problem]:
    doc_id, start, end = places.get(s.chunk_id, ("", 0, 0))
    if doc_id != s.doc_id or s.start > end or s.end < start or s.end < s.start:
        detail = f"its chunk {s.chunk_id} is missing or does not touch {s.start}..{s.end}"
        yield Problem(f"{what}-chunk", subject, f"{detail}: {_REINGEST}")
    try:
        qualifiers_of(s.qualifiers)
    except (ValueError, TypeError, AttributeError):
        detail = f"its qualifiers at {s.start}..{s.end} cannot be read: {_REINGEST}"
        yield Problem(f"{what}-qualifiers", subject, detail)
    if not 0 < s.confidence <= 1:
        detail = f"its confidence {s.confidence} is not in (0, 1]: {_REINGEST}"
        yield Problem(f"{what}-confidence", subject, detail)


def _mentions(
    database: Database, places: _Places, stated: dict[tuple[str, str], set[str]]
) -> Iterator[Problem]:
    met = set()
    for row in database.stream("every_mention_link"):
        pair = (row["chunk_id"], row["entity_id"])
        if pair in met:
            detail = f"{pair[0]} mentions it twice: {_REINGEST}"
            yield Problem("mention-once", pair[1], detail)
        met.add(pair)
        if set(row["fact_ids"]) != stated.get(pair, set()):
            detail = f"{pair[0]} does not name the facts that it states: {_REINGEST}"
            yield Problem("mention-facts", pair[1], detail)
        has_qualifiers = row["qualifiers"] is not None and len(row["qualifiers"]) == row["n"]
        if row["qualifiers"] is not None and not has_qualifiers:
            detail = f"its qualifiers in {pair[0]} are not those of its places: {_REINGEST}"
            yield Problem("mention-places", pair[1], detail)
        if not row["fact_ids"] and not row["n"]:
            yield Problem("mention-supported", pair[1], f"nothing in {pair[0]}: {_REINGEST}")
        doc_id = places[pair[0]][0]
        told = row["qualifiers"] if has_qualifiers else [NOTHING] * row["n"]
        columns = (row["starts"], row["ends"], told, row["confidences"])
        for start, end, qualifiers, confidence in zip(*columns, strict=True):
            place = StatedEvidence(doc_id, start, end, "", pair[0], qualifiers, confidence, "")
            yield from _evidence("mentions", pair[1], place, places)
    for chunk_id, entity_id in sorted(stated.keys() - met):
        detail = f"{chunk_id} states a fact of it, but does not mention it: {_REINGEST}"
        yield Problem("mention-facts", entity_id, detail)


def _entities(database: Database) -> Iterator[Problem]:
    names: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    types: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in database.stream("every_name"):
        for doc_id, name, type_ in row["ways"]:
            names[row["id"]][name].add(doc_id)
            types[row["id"]][type_].add(doc_id)
    for row in database.stream("entity_keys"):
        if row["caption"] != caption(row["name"]):
            detail = f"{row['name']!r} is drawn as {row['caption']!r}: {_REINGEST}"
            yield Problem("entity-caption", row["id"], detail)
        if normalize_name(row["name"]) != row["normalized"]:
            detail = f"{row['name']!r} is kept for searching as {row['normalized']!r}: {_REINGEST}"
            yield Problem("entity-name", row["id"], detail)
        if row["id"] not in names:
            continue
        name = shown_name({n: len(docs) for n, docs in names[row["id"]].items()})
        type_ = shown_type({t: len(docs) for t, docs in types[row["id"]].items()})
        if (name, type_) != (row["name"], row["type"]):
            detail = f"most documents name or class it otherwise than {row['name']}: {_REINGEST}"
            yield Problem("entity-wording", row["id"], detail)


def _citations(database: Database) -> Iterator[Problem]:
    wanted: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for row in database.read("every_citing_fact", predicates=sorted(CITING_PREDICATES)):
        wanted[row["citing"], row["cited"]].add(row["predicate"])
    drawn = {
        (row["citing"], row["cited"]): set(row["predicates"])
        for row in database.read("every_citation")
    }
    for citing, cited in sorted(wanted.keys() | drawn.keys()):
        if wanted.get((citing, cited)) != drawn.get((citing, cited)):
            detail = f"its citation of {cited} is not what its facts say: {_REINGEST}"
            yield Problem("citation-follows-facts", citing, detail)
