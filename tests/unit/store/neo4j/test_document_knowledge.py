"""What one document says, between kgrag's types and the graph's properties."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.ids import entity_id, fact_id
from kgrag.store.neo4j.document_knowledge import (
    DocumentKnowledge,
    Place,
    StatedEvidence,
    evidence_in,
    fact_properties,
    most_used,
    read_knowledge,
    shown_name,
    shown_type,
)
from kgrag.store.texts import NOTHING
from kgrag.types import Entity, Evidence, Fact, Mention

YEAR = '{"year":"2025"}'
NAMES = ("甲", "乙", "A", "ａ")  # the last two are one entity
LISTS = ("doc_ids", "starts", "ends", "extractors", "chunk_ids", "confidences", "predicates")


def entity(name, type_="entity"):
    return Entity(entity_id(name), name, type_)


def evidence(start, *, doc_id="d-1", extractor="rules", chunk="d-1:8:0", confidence=1.0):
    return Evidence(doc_id, start, start + 2, chunk, extractor, confidence)


def fact(subject, predicate, object_, *spots):
    s, o = entity(subject), entity(object_)
    return Fact(fact_id(s.entity_id, predicate, o.entity_id), s, predicate, o, spots)


def known(facts=(), mentions=()):
    knowledge = DocumentKnowledge()
    knowledge.add(facts, mentions)
    return knowledge


def said(knowledge):
    """Return all that the graph would hold of it."""
    properties = {}
    for fact_id_ in knowledge.ends:
        own = [
            StatedEvidence._make(("d-1", *place, confidence, predicate))
            for (fact_id, place), (predicate, confidence) in knowledge.stated.items()
            if fact_id == fact_id_
        ]
        properties[fact_id_] = fact_properties(fact_id_, own)
    return knowledge.mention_rows(), knowledge.name_rows(), knowledge.ends, properties


# One piece of evidence a place: its confidence follows from where it stands.
spots = st.builds(
    lambda start, leaf, extractor: evidence(
        start, extractor=extractor, chunk=f"d-1:8:{leaf}", confidence=(start + 1) / 8
    ),
    st.integers(0, 5), st.integers(0, 2), st.sampled_from(["rules", "import"]),
)  # fmt: skip
entities = st.builds(entity, st.sampled_from(NAMES), st.sampled_from(["entity", "law"]))
facts = st.builds(
    lambda s, p, o, places: Fact(fact_id(s.entity_id, p, o.entity_id), s, p, o, tuple(places)),
    entities, st.sampled_from(["依据", "有"]), entities, st.lists(spots, min_size=1, max_size=3),
)  # fmt: skip
mentions = st.builds(Mention, entities, spots)
statements = st.builds(
    StatedEvidence, st.sampled_from(["d-1", "d-2"]), st.integers(0, 9), st.integers(0, 9),
    st.sampled_from(["rules", "import"]), st.sampled_from(["c1", "c2"]),
    st.sampled_from([NOTHING, YEAR]), st.floats(0.125, 1, width=16),
    st.sampled_from(["依据", "依据 ", "据"]),
)  # fmt: skip


@given(st.lists(facts, max_size=6), st.lists(mentions, max_size=6), st.randoms())
def test_the_order_of_facts_and_mentions_says_nothing(some_facts, some_mentions, random):
    """However they come, and in however many calls, the graph holds the same."""
    mixed_facts, mixed_mentions = list(some_facts), list(some_mentions)
    random.shuffle(mixed_facts)
    random.shuffle(mixed_mentions)
    one_by_one = DocumentKnowledge()
    for mention in mixed_mentions:
        one_by_one.add([], [mention])
    for one in mixed_facts:
        one_by_one.add([one], [])

    assert said(one_by_one) == said(known(some_facts, some_mentions))


@given(st.lists(facts, max_size=6), st.lists(mentions, max_size=6))
def test_adding_twice_adds_nothing(some_facts, some_mentions):
    """What is known stays as it is."""
    twice = known(some_facts, some_mentions)
    twice.add(some_facts, some_mentions)

    assert twice == known(some_facts, some_mentions)


@given(st.lists(facts, max_size=6), st.lists(mentions, max_size=6))
def test_mention_rows_say_what_the_evidence_says(some_facts, some_mentions):
    """A pair for each chunk and entity in it, by a fact or by itself; no more and no less."""
    rows = known(some_facts, some_mentions).mention_rows()

    stated = {
        (e.chunk_id, end.entity_id, f.fact_id)
        for f in some_facts
        for e in f.evidence
        for end in (f.subject, f.object)
    }
    mentioned = {
        (m.evidence.chunk_id, m.entity.entity_id, m.evidence.start, m.evidence.end,
         m.evidence.extractor, m.evidence.confidence)
        for m in some_mentions
    }  # fmt: skip
    columns = ("starts", "ends", "extractors", "confidences")
    assert {(*pair, f) for pair, row in rows.items() for f in row["fact_ids"]} == stated
    assert {
        (*pair, *item)
        for pair, row in rows.items()
        for item in zip(*(row[c] for c in columns), strict=True)
    } == mentioned
    assert all(row["fact_ids"] or row["starts"] for row in rows.values())
    assert sum(len(row["starts"]) for row in rows.values()) == len(mentioned)
    assert all(row["fact_ids"] == sorted(set(row["fact_ids"])) for row in rows.values())


@given(st.lists(facts, max_size=6), st.lists(mentions, max_size=6))
def test_name_rows_hold_every_way_of_writing_once(some_facts, some_mentions):
    """Names and types stand side by side, in order."""
    rows = known(some_facts, some_mentions).name_rows()

    written = {end for f in some_facts for end in (f.subject, f.object)}
    written |= {m.entity for m in some_mentions}
    ways = [
        Entity(entity_id_, name, type_)
        for entity_id_, (names, types) in rows.items()
        for name, type_ in zip(names, types, strict=True)
    ]
    assert ways == sorted(written, key=lambda e: (e.entity_id, e.name, e.type))


@given(st.lists(statements, min_size=1, max_size=8))
def test_evidence_comes_back_from_its_properties(some):
    """Seven parallel lists hold every piece, in one order, whatever the order given."""
    properties: Any = fact_properties("f-1", some)

    assert evidence_in(properties) == sorted(some)
    assert fact_properties("f-1", reversed(some)) == properties
    assert {len(properties[name]) for name in LISTS} == {len(some)}
    assert properties["id"] == "f-1"
    assert properties["predicate"] in properties["predicates"]


@given(st.lists(statements, min_size=1, max_size=8))
def test_evidence_is_read_without_wordings(some):
    """A row that leaves `predicates` out gives the same evidence."""
    properties: Any = fact_properties("f-1", some)
    without = {name: value for name, value in properties.items() if name != "predicates"}

    assert [s.evidence() for s in evidence_in(without)] == [s.evidence() for s in sorted(some)]
    assert {s.predicate for s in evidence_in(without)} == {""}


@pytest.mark.parametrize("short", [*LISTS, "qualifiers"])
def test_lists_of_different_length_are_not_read(short):
    """Damage does not shift evidence from one document to another."""
    properties = fact_properties(
        "f-1", [StatedEvidence("d-1", 0, 1, "rules", "c1", YEAR, 1.0, "有")]
    )
    with pytest.raises(ValueError, match="zip"):
        evidence_in({**properties, short: []})


def test_statements_carry_their_evidence():
    """Each list goes into the field of its name."""
    one = evidence_in(
        fact_properties("f", [StatedEvidence("d-1", 3, 9, "import", "c1", NOTHING, 0.5, "有")])
    )
    assert [s.evidence() for s in one] == [Evidence("d-1", 3, 9, "c1", "import", 0.5)]


@pytest.mark.parametrize(
    ("uses", "wording"),
    [
        ([("依据", "d-1")], "依据"),
        ([("b", "d-1"), ("b", "d-2"), ("a", "d-3")], "b"),
        ([("b", "d-1"), ("b", "d-1"), ("a", "d-2")], "a"),  # a document counts once
        ([("b", "d-1"), ("a", "d-2")], "a"),
        ([("a", "d-2"), ("b", "d-1")], "a"),
        ([("有 ", "d-1"), ("有", "d-2"), ("有 ", "d-3"), ("有", "d-4")], "有"),
    ],
)
def test_the_wording_of_most_documents_is_shown(uses, wording):
    """However often one document repeats its own; of equals the smallest."""
    assert most_used(uses) == wording
    assert most_used(reversed(uses)) == wording


@pytest.mark.parametrize(
    ("counted", "name", "type_"),
    [
        ({"entity": 1}, "entity", "entity"),
        ({"entity": 9, "law": 1}, "entity", "law"),
        ({"law": 2, "agency": 1}, "law", "law"),
        ({"law": 1, "agency": 1}, "agency", "agency"),
        ({"entity": 2, "law": 1, "agency": 1}, "entity", "agency"),
    ],
)
def test_names_and_types_go_by_documents(counted, name, type_):
    """Most documents first, of equals the smallest; any type says more than `entity`."""
    assert shown_name(counted) == name
    assert shown_type(counted) == type_


def test_a_known_place_keeps_its_wording_and_confidence():
    """A later reading of the same place brings names only."""
    first = fact("甲", "有", "a", evidence(0))
    second = replace(fact("甲", "有", "A", evidence(0, confidence=0.25)), predicate="有 ")
    knowledge = known([first, second])

    place = Place(0, 2, "rules", "d-1:8:0")
    assert knowledge.stated == {(first.fact_id, place): ("有", 1.0)}
    assert knowledge.name_rows()[entity_id("a")] == (["A", "a"], ["entity", "entity"])


def test_chunk_ids_are_those_of_facts_and_mentions():
    """All places where something is said."""
    knowledge = known(
        [fact("甲", "有", "乙", evidence(0, chunk="c1"), evidence(0, chunk="c2"))],
        [Mention(entity("甲"), evidence(0, chunk="c3"))],
    )
    assert knowledge.chunk_ids() == {"c1", "c2", "c3"}
    assert DocumentKnowledge().chunk_ids() == set()


def test_a_fact_of_an_entity_about_itself_is_one_fact_of_one_pair():
    """Subject and object may be the same."""
    one = fact("A", "有", "ａ", evidence(0))
    rows = known([one]).mention_rows()
    assert rows == {
        ("d-1:8:0", entity_id("a")): {
            "fact_ids": [one.fact_id], "starts": [], "ends": [], "extractors": [],
            "confidences": [],
        }
    }  # fmt: skip


@pytest.mark.parametrize("n_torn", [1, 3])
def test_what_a_writer_came_between_is_read_again(n_torn):
    """The facts are of before, the names of after: the document's next state is taken whole."""
    wanted = fact("甲", "印发", "乙", evidence(0))
    spot = (StatedEvidence("d-1", 0, 2, "rules", "d-1:8:0", NOTHING, 1.0, "印发"),)
    held = fact_properties(wanted.fact_id, spot)
    ends = {"subject_id": wanted.subject.entity_id, "object_id": wanted.object.entity_id}
    asked = []

    def run(name, **parameters):
        asked.append(name)
        if name == "facts_of_document":
            return [{**held, **ends}]
        if name == "mentions_of_document":
            return []
        known = ("甲", "乙") if asked.count(name) > n_torn else ("甲",)
        return [
            {"entity_id": entity_id(known_as), "names": [known_as], "types": ["entity"]}
            for known_as in known
        ]

    assert read_knowledge(run, "d-1").kept("d-1").each_once() == ([wanted], [])
    assert asked.count("names_of_document") == n_torn + 1
