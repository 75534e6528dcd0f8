"""What is damaged in the facts and mentions of a document, and what tells two documents apart."""

from dataclasses import replace

import pytest

from kgrag.errors import StoreError
from kgrag.store.bundles import KeptKnowledge, StatedFact, content_records
from kgrag.types import Entity, Evidence

A, SPOT = Entity("e-a", "工信部"), Evidence("d", 0, 3, "d:8:0")


STATED = StatedFact("f-1", "e-a", "印发", "e-b", SPOT)


@pytest.mark.parametrize(
    ("kept", "seen"),
    [
        (KeptKnowledge([A], [STATED], []), "e-b"),
        (KeptKnowledge([], [], [("e-a", SPOT)]), "e-a"),
        (KeptKnowledge([A], [], []), "工信部"),
    ],
)
def test_names_that_do_not_fit_are_damage(kept, seen):
    """A missing name and a name of nothing are told, not left out."""
    with pytest.raises(StoreError, match=f"{seen}.*kgrag verify"):
        kept.every_wording()


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
