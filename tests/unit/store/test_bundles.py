"""Facts and mentions that bring what a store keeps, by hand."""

from dataclasses import replace

import pytest

from kgrag.errors import StoreError
from kgrag.store.bundles import KeptKnowledge, StatedFact, content_records
from kgrag.types import Entity, Evidence, Fact, Mention

A, B = Entity("e-a", "工信部"), Entity("e-b", "节能办法")
OTHER = Entity("e-a", "工 信部", "agency")
FIRST, SECOND = Evidence("d", 0, 3, "d:8:0"), Evidence("d", 9, 12, "d:8:1", "import", 0.5)


def every_wording(names, stated, mentioned):
    return KeptKnowledge(names, stated, mentioned).every_wording()


def stated(predicate, evidence, fact_id="f-1"):
    return StatedFact(fact_id, "e-a", predicate, "e-b", evidence)


def test_nothing_is_assembled_from_nothing():
    """A document without knowledge."""
    assert every_wording([], [], []) == ([], [])


def test_a_fact_comes_once_for_each_wording():
    """With the places of that wording in order, whatever the order of the rows."""
    facts, mentions = every_wording(
        names=[B, A],
        stated=[stated("印发", SECOND), stated("印 发", FIRST), stated("印发", FIRST)],
        mentioned=[],
    )
    assert facts == [
        Fact("f-1", A, "印 发", B, (FIRST,)),
        Fact("f-1", A, "印发", B, (FIRST, SECOND)),
    ]
    assert mentions == []


def test_another_spelling_comes_with_a_mention_that_repeats_a_place():
    """All show the first spelling by name and type, so nothing but the name is new."""
    facts, mentions = every_wording(
        names=[A, OTHER, B],
        stated=[stated("印发", FIRST)],
        mentioned=[("e-a", SECOND), ("e-a", FIRST)],
    )
    assert facts == [Fact("f-1", OTHER, "印发", B, (FIRST,))]
    assert mentions == [Mention(OTHER, FIRST), Mention(OTHER, SECOND), Mention(A, FIRST)]


@pytest.mark.parametrize("end", ["subject", "object"])
def test_another_spelling_without_mention_comes_with_a_fact_that_repeats_a_place(end):
    """At the end where the entity stands, with the wording of that place."""
    other = replace(getattr(Fact("", A, "", B, ()), end), type="law")
    facts, mentions = every_wording(
        names=[A, B, other],
        stated=[stated("印发", FIRST), stated("印发", SECOND)],
        mentioned=[],
    )
    whole = Fact("f-1", A, "印发", B, (FIRST, SECOND))
    assert facts == [whole, replace(whole, evidence=(FIRST,), **{end: other})]
    assert mentions == []


def test_a_fact_about_itself_keeps_both_spellings():
    """The repeated one differs in its subject."""
    loop = StatedFact("f-1", "e-a", "即", "e-a", FIRST)
    facts, _ = every_wording(names=[A, OTHER], stated=[loop], mentioned=[])
    assert facts == [
        Fact("f-1", OTHER, "即", OTHER, (FIRST,)),
        Fact("f-1", A, "即", OTHER, (FIRST,)),
    ]


@pytest.mark.parametrize(
    ("names", "facts", "mentioned", "seen"),
    [
        ([A], [stated("印发", FIRST)], [], "e-b"),
        ([], [], [("e-a", FIRST)], "e-a"),
        ([A], [], [], "工信部"),
    ],
)
def test_names_that_do_not_fit_are_damage(names, facts, mentioned, seen):
    """A missing name and a name of nothing are told, not left out."""
    with pytest.raises(StoreError, match=f"{seen}.*kgrag verify"):
        every_wording(names=names, stated=facts, mentioned=mentioned)


def lines(bundle):
    return sorted(map(str, content_records(bundle)))


def test_content_is_the_same_however_it_is_brought(make):
    """Order, repeated places and the numbers of vectors are nothing; file names neither."""
    text = "工信部印发节能办法。"
    bundle = make.bundle("a", text, facts=[("工信部", "印发", "节能办法")], mentions=["节能"])
    again = replace(
        bundle,
        document=replace(bundle.document, file="elsewhere.txt"),
        facts=[*bundle.facts, *bundle.facts],
        mentions=[*bundle.mentions, *bundle.mentions],
        vectors=[replace(v, vector=None) for v in reversed(bundle.vectors)],
    )
    assert lines(again) == lines(bundle)


@pytest.mark.parametrize(
    "part", ["document", "fingerprint", "headings", "chunks", "summaries", "facts", "mentions",
             "vectors"],
)  # fmt: skip
def test_content_tells_any_difference(make, part):
    """Each part counts."""
    text = "工信部印发节能办法。"
    bundle = make.bundle(
        "a", text, headings=["工信部"], facts=[("工信部", "印发", "节能办法")], mentions=["节能"],
        summaries=["摘要"],
    )  # fmt: skip
    changed = {
        "document": replace(bundle.document, title="另题"),
        "fingerprint": "x",
    }.get(part, ())
    assert lines(replace(bundle, **{part: changed})) != lines(bundle)


def test_content_tells_spelling_wording_and_confidence(make):
    """What an entity or fact shows in the whole does not count, what this document writes does."""
    bundle = make.bundle("a", "工信部印发办法", facts=[("工信部", "印发", "办法")])
    (fact,) = bundle.facts
    (spot,) = fact.evidence
    others = [
        replace(fact, subject=replace(fact.subject, name="工 信部")),
        replace(fact, predicate="印 发"),
        replace(fact, evidence=(replace(spot, confidence=0.5),)),
    ]
    found = {str(lines(replace(bundle, facts=[f]))) for f in (fact, *others)}
    assert len(found) == 4
