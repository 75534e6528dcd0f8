"""Entities, facts and what is known from where."""

import random
from dataclasses import replace

import pytest

from kgrag.errors import NotFoundError
from kgrag.types import Evidence, Fact

TEXT = "工信部印发节能办法。绿色工厂达到500家，由省工信厅负责。"


def put(store, bundle):
    store.upsert_document(bundle, source=f"/archive/{bundle.document.file}")
    return bundle


def id_of(make, name):
    return make.entity(name).entity_id


def test_entities_are_found_by_normalised_name(store, make):
    """Width, case and marks do not count; ordered by id."""
    put(store, make.bundle("a", "PUE与节能", mentions=["PUE", "节能"]))

    found = store.find_entities(["《ｐｕｅ》", "节 能", "无"])
    assert {e.name for e in found} == {"PUE", "节能"}
    assert [e.entity_id for e in found] == sorted(e.entity_id for e in found)
    assert store.find_entities([]) == []


def test_entities_come_in_the_order_asked(store, make):
    """Unknown ids are left out."""
    put(store, make.bundle("a", TEXT, mentions=["工信部", "500家"]))
    wanted = [id_of(make, "500家"), "e-x", id_of(make, "工信部")]

    assert [e.name for e in store.entities(wanted)] == ["500家", "工信部"]


def test_an_entity_shows_the_name_and_type_of_most_documents(store, make):
    """Ties go to the smallest name; any type is better than `entity`; the order is nothing."""
    for name, surface, type_ in (
        ("a", "ＰＵＥ", "entity"),
        ("b", "pue", "indicator"),
        ("c", "pue", "entity"),
        ("d", "PUE", "law"),
    ):
        bundle = make.bundle(name, f"{surface}指标")
        seen = replace(make.entity(surface), type=type_)
        mention = replace(make.mention(f"d-{name}", f"{surface}指标", surface), entity=seen)
        put(store, replace(bundle, mentions=[mention]))

    def shown():
        (found,) = store.find_entities(["pue"])
        return found.name, found.type

    assert shown() == ("pue", "indicator")
    store.delete_document("d-b")
    assert shown() == ("PUE", "law")
    store.delete_document("d-d")
    assert shown() == ("pue", "entity")
    assert store.verify() == []


def test_a_fact_shows_the_wording_of_most_documents(store, make):
    """Two wordings that normalise alike are one fact."""
    for name, predicate in (("a", "印发 "), ("b", "印发"), ("c", "印发")):
        put(store, make.bundle(name, TEXT, facts=[("工信部", predicate, "节能办法")]))

    (fact,) = store.facts_around([id_of(make, "工信部")], limit=5)
    assert fact.predicate == "印发"
    store.delete_document("d-b")
    store.delete_document("d-c")
    (fact,) = store.facts_around([id_of(make, "工信部")], limit=5)
    assert fact.predicate == "印发 "
    assert store.verify() == []


def test_facts_carry_all_evidence_in_order(store, make):
    """By document, start, end and extractor, whatever the order of arrival."""
    triple = ("工信部", "印发", "节能办法")
    for name in "cab":
        put(store, make.bundle(name, TEXT, facts=[triple]))
    store.add_knowledge("d-b", facts=[make.fact("d-b", TEXT, triple, "import")])
    store.add_knowledge("d-b", facts=[make.fact("d-b", TEXT, triple, "glm", place="绿色工厂")])

    (fact,) = store.facts_around([id_of(make, "节能办法")], limit=5)
    assert (fact.subject.name, fact.predicate, fact.object.name) == triple
    assert [(e.doc_id, e.start, e.extractor) for e in fact.evidence] == [
        ("d-a", 0, "rules"),
        ("d-b", 0, "import"),
        ("d-b", 0, "rules"),
        ("d-b", 10, "glm"),
        ("d-c", 0, "rules"),
    ]


def test_a_clause_over_two_chunks_has_evidence_in_both(store, make):
    """One span, one extractor, two chunks: both lead to the fact."""
    bundle = make.bundle("a", TEXT, facts=[("工信部", "印发", "节能办法")])
    (spot,) = bundle.facts[0].evidence
    both = (replace(spot, end=10), replace(spot, end=10, chunk_id="d-a:8:1"))
    put(store, replace(bundle, facts=[replace(bundle.facts[0], evidence=both)]))

    for chunk_id in ("d-a:8:0", "d-a:8:1"):
        (fact,) = store.facts_of_chunks([chunk_id])
        assert fact.evidence == both


def test_facts_around_come_by_entity_then_fact_id_up_to_the_limit(store, make):
    """Each entity has its own limit; a fact between two of them comes once."""
    names = [f"第{i}项" for i in range(6)]
    text = "工信部" + "".join(names)
    triples = [("工信部", "管", name) for name in names] + [("第0项", "先于", "第1项")]
    put(store, make.bundle("a", text, facts=triples))
    hub, first = id_of(make, "工信部"), id_of(make, "第0项")
    of_hub = sorted(store.facts_around([hub], limit=99), key=lambda f: f.fact_id)
    of_first = sorted(store.facts_around([first], limit=99), key=lambda f: f.fact_id)
    assert (len(of_hub), len(of_first)) == (6, 2)

    assert store.facts_around([hub], limit=4) == of_hub[:4]
    both = store.facts_around(["e-x", first, hub], limit=99)
    assert both == of_first + [f for f in of_hub if f not in of_first]
    assert store.facts_around([hub], limit=0) == []
    assert store.facts_around([], limit=5) == []


def test_triples_around_are_the_facts_without_their_evidence(store, make):
    """The same facts in the same order, under the same names, with limit and documents alike."""
    put(
        store,
        make.bundle("a", TEXT, facts=[("工信部", "印发", "节能办法"), ("工信部", "管", "工信部")]),
    )
    put(store, make.bundle("b", TEXT, facts=[("节能办法", "适用", "绿色工厂")]))
    ids = [id_of(make, name) for name in ("节能办法", "e-x", "工信部")]
    for limits in ({"limit": 9}, {"limit": 1}, {"limit": 0}, {"limit": 9, "doc_ids": ["d-b"]}):
        facts = store.facts_around(ids, **limits)
        expected = [(f.fact_id, f.subject, f.predicate, f.object) for f in facts]
        assert store.triples_around(ids, **limits) == expected
    assert len(store.triples_around(ids, limit=9)) == 3


def test_triples_around_come_first_that_say_what_is_asked(store, make):
    """By the number of words in predicate and other name, then by id; limit and documents hold."""
    names = ["绿色工厂名单", "绿色工厂奖励标准", "节能标准", "节水名单"]
    text = "".join(["工信部", *names, "奖励办法"])
    put(store, make.bundle("a", text, facts=[("工信部", "公布", name) for name in names]))
    put(store, make.bundle("b", text, facts=[("奖励办法", "规定PUE", "工信部")]))
    hub = id_of(make, "工信部")
    by_id = [t.fact_id for t in store.triples_around([hub], limit=9)]

    def others(limit, *words, **options):
        found = store.triples_around([hub], limit=limit, saying=words, **options)
        order = [by_id.index(t.fact_id) for t in found]
        return [(t.subject if t.object.entity_id == hub else t.object).name for t in found], order

    assert others(1, "绿色工厂", "奖励", "标准")[0] == ["绿色工厂奖励标准"]
    assert set(others(3, "奖励", "标准")[0]) == {"绿色工厂奖励标准", "节能标准", "奖励办法"}
    assert others(1, "pue")[0] == ["奖励办法"]
    names_said, order = others(9, "名单")
    assert set(names_said[:2]) == {"绿色工厂名单", "节水名单"}
    assert order[:2] == sorted(order[:2])
    assert order[2:] == sorted(order[2:])
    assert others(9, "没有")[1] == list(range(5))
    assert others(9, "奖励", doc_ids=["d-b"])[0] == ["奖励办法"]
    assert others(0, "奖励") == ([], [])


def test_stating_chunks_are_those_of_the_evidence(store, make):
    """One pair for each piece of evidence; a fact that is not held has none."""
    triple = ("工信部", "印发", "节能办法")
    for name in "ab":
        put(store, make.bundle(name, TEXT, facts=[triple]))
    (fact,) = store.facts_around([id_of(make, "工信部")], limit=9)
    assert sorted(store.stating_chunks([fact.fact_id, "f-x"])) == sorted(
        (fact.fact_id, e.chunk_id) for e in fact.evidence
    )
    assert store.stating_chunks([]) == []


def test_stated_triples_are_facts_with_the_chunks_that_state_them(store, make):
    """In the order asked, each once; what is not held, or no more, is left out."""
    triples = [("工信部", "印发", "节能办法"), ("节能办法", "适用", "绿色工厂")]
    for name in "ab":
        put(store, make.bundle(name, TEXT, facts=triples))
    facts = store.facts_around([id_of(make, "节能办法")], limit=9)
    ids = [facts[1].fact_id, "f-x", facts[0].fact_id, facts[1].fact_id]

    found = store.stated_triples(ids)

    assert [triple.fact_id for triple, _ in found] == [facts[1].fact_id, facts[0].fact_id]
    for (triple, chunk_ids), fact in zip(found, reversed(facts), strict=True):
        assert triple == (fact.fact_id, fact.subject, fact.predicate, fact.object)
        assert sorted(chunk_ids) == sorted(e.chunk_id for e in fact.evidence)
    for name in "ab":
        store.delete_document(f"d-{name}")
    assert store.stated_triples(ids) == []


def test_facts_around_within_documents(store, make):
    """What other documents state does not count towards the limit; evidence stays whole."""
    names = [f"第{i}项" for i in range(6)]
    put(
        store,
        make.bundle("a", "工信部" + "".join(names), facts=[("工信部", "管", n) for n in names]),
    )
    put(store, make.bundle("b", "工信部第5项", facts=[("工信部", "管", "第5项")]))
    hub = id_of(make, "工信部")
    everywhere = store.facts_around([hub], limit=99)
    (shared,) = (f for f in everywhere if f.object.name == "第5项")
    assert {e.doc_id for e in shared.evidence} == {"d-a", "d-b"}

    for limit in (1, 99):
        assert store.facts_around([hub], limit=limit, doc_ids={"d-b", "d-x"}) == [shared]
    assert store.facts_around([hub], limit=99, doc_ids={"d-a"}) == everywhere
    assert store.facts_around([hub], limit=99, doc_ids=()) == []


def test_facts_of_chunks_come_by_fact_id(store, make):
    """Facts of several chunks, each once."""
    bundle = put(
        store,
        make.bundle("a", TEXT, facts=[("工信部", "印发", "节能办法"), ("绿色工厂", "有", "500家")]),
    )
    everything = [c.chunk_id for c in bundle.chunks]

    found = store.facts_of_chunks([*everything, *everything])
    assert found == sorted(bundle.facts, key=lambda f: f.fact_id)
    assert store.facts_of_chunks(["d-a:8:3", "d-x:8:0"]) == []


def test_degrees_count_facts_on_both_sides(store, make):
    """One about itself counts once; entities not held are left out; mentions count nothing."""
    triples = [
        ("工信部", "印发", "节能办法"),
        ("绿色工厂", "归", "工信部"),
        ("工信部", "管", "工信部"),
    ]
    put(store, make.bundle("a", TEXT, mentions=["500家"], facts=triples))

    degrees = store.entity_degrees([id_of(make, "工信部"), id_of(make, "500家"), "e-x"])
    assert degrees == {id_of(make, "工信部"): 3, id_of(make, "500家"): 0}


def test_search_entities_finds_the_name_its_parts_and_its_like(store, make):
    """Exact first with 1.0, then names that contain it, then similar ones."""
    names = [
        "工业和信息化部",
        "省工业和信息化厅",
        "工业和信息化局长会",
        "绿色工厂",
        "绿色工厂目录",
        "碳",
    ]
    put(store, make.bundle("a", "".join(names), mentions=names))

    def found(text, top_k=9):
        hits = store.search_entities(text, top_k=top_k)
        assert all(0 < score <= 1 for _, score in hits)
        assert [s for _, s in hits] == sorted((s for _, s in hits), reverse=True)
        return [e.name for e in store.entities([entity_id for entity_id, _ in hits])]

    assert found("工业和信息化部")[0] == "工业和信息化部"
    assert set(found("工业和信息化部")) == set(names[:3])
    assert store.search_entities("工业和信息化部", top_k=1)[0][1] == 1.0
    assert found("《绿色工厂》") == ["绿色工厂", "绿色工厂目录"]
    assert found("绿色") == ["绿色工厂", "绿色工厂目录"]
    assert found("工厂") == ["绿色工厂", "绿色工厂目录"]
    assert found("碳") == ["碳"]
    assert found("工业", top_k=1) == ["工业和信息化部"]
    assert found("毫无关系的话") == []
    assert found("") == []
    assert found('"') == []


def test_search_entities_forgets_what_was_deleted(store, make):
    """The index of names follows the entities."""
    put(store, make.bundle("a", TEXT, mentions=["绿色工厂"]))
    assert store.search_entities("绿色工厂", top_k=3)
    store.delete_document("d-a")

    assert store.search_entities("绿色工厂", top_k=3) == []
    assert store.search_entities("绿", top_k=3) == []


def test_knowledge_of_gives_what_one_document_says_in_its_words(store, make):
    """Evidence and wording of other documents are left out."""
    a = put(
        store,
        make.bundle(
            "a", TEXT, mentions=["省工信厅"], summaries=["摘要"],
            facts=[("工信部", "印发", "节能办法"), ("绿色工厂", "有", "500家")],
        ),
    )  # fmt: skip
    put(store, make.bundle("b", "《工信部》印发", facts=[("《工信部》", "印发", "节能办法")]))
    put(store, make.bundle("c", "《工信部》印发", facts=[("《工信部》", "印发", "节能办法")]))

    facts, mentions, summaries = store.knowledge_of("d-a")
    assert facts == sorted(a.facts, key=lambda f: f.fact_id)
    assert (mentions, summaries) == (list(a.mentions), list(a.summaries))
    assert store.knowledge_of("d-x") == ([], [], [])


def test_knowledge_of_gives_what_is_said_in_several_ways_once(store, make):
    """Under the smallest wording and name; any type is better than `entity`, then the smallest."""
    bundle = make.bundle("a", TEXT, facts=[("工信部", "印发", "节能办法")])
    (fact,) = bundle.facts
    (spot,) = fact.evidence
    ways = [
        replace(
            fact,
            subject=replace(fact.subject, name=name, type=type_),
            predicate=predicate,
            evidence=(replace(spot, extractor=type_),),
        )
        for name, type_, predicate in (
            ("《工信部》", "law", "印 发"),
            ("工 信部", "agency", "《印发》"),
        )
    ]
    put(store, replace(bundle, facts=[fact, *ways], mentions=[]))

    ((found,), _, _) = store.knowledge_of("d-a")
    assert (found.subject.name, found.subject.type) == ("《工信部》", "agency")
    assert found.predicate == "《印发》"
    assert [e.extractor for e in found.evidence] == ["agency", "law", "rules"]


def test_add_knowledge_is_idempotent(store, make):
    """Once or twice, at once or one by one: the same content, and the counter rests."""
    put(store, make.bundle("a", TEXT))
    facts = [
        make.fact("d-a", TEXT, ("工信部", "印发", "节能办法"), "import"),
        make.fact("d-a", TEXT, ("绿色工厂", "有", "500家"), "import"),
    ]
    summary = make.summary("d-a", TEXT, "摘要")
    given = {
        "facts": facts,
        "mentions": [make.mention("d-a", TEXT, "省工信厅")],
        "summaries": [summary],
        "vectors": [make.node_vector(summary.summary_id, "summary", "摘要")],
    }
    store.add_knowledge("d-a", **given)
    before, counter = list(store.export()), store.change_counter()
    store.add_knowledge("d-a", **given)
    store.add_knowledge("d-a", facts=facts[:1])

    assert list(store.export()) == before
    assert store.change_counter() == counter
    assert store.counts().facts == 2
    assert store.summaries() == [summary]
    assert store.verify() == []


def test_add_knowledge_keeps_what_is_there(store, make):
    """The same evidence with another confidence, or a node with another vector, is no news."""
    put(store, make.bundle("a", TEXT, facts=[("工信部", "印发", "节能办法")]))
    (known,) = store.facts_around([id_of(make, "工信部")], limit=1)
    again = replace(known, evidence=(replace(known.evidence[0], confidence=0.5),))
    before = list(store.export())
    other = make.node_vector("d-a:8:0", "chunk", "别的")
    store.add_knowledge("d-a", facts=[again], vectors=[other])

    assert list(store.export()) == before
    assert store.verify() == []


def test_add_knowledge_refuses_what_is_not_of_the_document(store, make):
    """Not held, of another document, without evidence: refused with the name, nothing stored."""
    put(store, make.bundle("a", TEXT))
    before = list(store.export())
    stray = make.fact("d-b", TEXT, ("工信部", "印发", "节能办法"))

    with pytest.raises(NotFoundError, match="d-x"):
        store.add_knowledge("d-x", summaries=[])
    with pytest.raises(ValueError, match="d-b"):
        store.add_knowledge("d-a", facts=[stray])
    bare = Fact("f-1", stray.subject, "印发", stray.object, ())
    with pytest.raises(ValueError, match="f-1"):
        store.add_knowledge("d-a", facts=[bare])
    assert list(store.export()) == before


def test_upsert_drops_knowledge_added_before(store, make):
    """A document is replaced whole: the caller brings along what shall stay."""
    bundle = put(store, make.bundle("a", TEXT))
    store.add_knowledge("d-a", facts=[make.fact("d-a", TEXT, ("工信部", "印发", "节能办法"))])
    put(store, bundle)

    assert store.counts().entities == 0


def test_many_ids_are_one_question(store, make):
    """Thousands of entities and chunks in one call."""
    names = [f"实体{i:03}" for i in range(300)]
    text = "".join(names)
    put(store, make.bundle("a", text, facts=[(n, "邻", names[i - 1]) for i, n in enumerate(names)]))
    wanted = [id_of(make, n) for n in names] * 20
    random.Random(1).shuffle(wanted)

    assert len(store.facts_around(wanted, limit=2)) == 300
    assert set(store.entity_degrees(wanted).values()) == {2}
    assert len(store.facts_of_chunks([f"d-a:8:{i}" for i in range(30_000)])) == 300


def test_evidence_is_given_back_whole(store, make):
    """Every field of it."""
    bundle = make.bundle("a", TEXT, facts=[("工信部", "印发", "节能办法")])
    spot = Evidence("d-a", 3, 9, "d-a:24:0", "glm-4", 0.25)
    put(store, replace(bundle, facts=[replace(bundle.facts[0], evidence=(spot,))]))

    assert store.facts_of_chunks(["d-a:24:0"])[0].evidence == (spot,)
