"""Statements of rules, imports and models become facts in the same way."""

from dataclasses import replace

import pytest

from kgrag.ingestion.chunk import ChunkSizes, chunk
from kgrag.ingestion.facts import (
    BY_RULE,
    Stated,
    agreed,
    facts_of,
    mentions_before,
    stated_before,
    stated_by_rules,
)
from kgrag.ingestion.resolve import name_resolver
from kgrag.ingestion.statements.finding import SELF, Finding
from kgrag.ingestion.statements.targets import targets
from kgrag.metadata import Metadata
from kgrag.qualifiers import Qualifiers
from kgrag.types import Document, Entity, Evidence, Fact, Mention

TEXT = "到2025年，全市绿色工厂达到500家。市工信局牵头，市发改委配合。\n" * 3
SIZES = ChunkSizes(64, (32, 16))
DOCUMENT = Document("d", "节能规划", TEXT, "d.txt", "txt", "0",
                    metadata=Metadata(regions=("四川省", "成都市")))  # fmt: skip
LEAVES = [c for c in chunk(DOCUMENT, [], SIZES) if c.size == SIZES.leaf]
RESOLVER = name_resolver(DOCUMENT)
TARGET = Qualifiers("target", value="500", unit="家", year="2025")


def test_findings_become_facts_that_keep_what_is_written():
    """The entity has its full name, the evidence the wording; a target is its region's."""
    findings = [
        Finding("绿色工厂", "目标为", "500家", 7, 16, TARGET),
        Finding(
            "市工信局", "牵头", "绿色工厂", 20, 26, Qualifiers("duty", role="牵头"), confidence=0.9
        ),
    ]
    target, duty = facts_of(stated_by_rules(findings, LEAVES), RESOLVER)

    assert [e.qualifiers for e in target.evidence] == [replace(TARGET, region="成都市")]
    assert (duty.subject.name, duty.predicate) == ("成都市工业和信息化局", "牵头")
    (evidence, *_) = duty.evidence
    assert evidence.qualifiers == Qualifiers("duty", subject="市工信局", role="牵头")
    assert (evidence.extractor, evidence.confidence) == (BY_RULE, 0.9)
    assert TEXT[evidence.start : evidence.end] == TEXT[20:26] == "市工信局牵头"


def test_a_region_that_is_told_stays():
    """A target for another place than the document's."""
    finding = Finding("绿色工厂", "目标为", "500家", 7, 16, replace(TARGET, region="武侯区"))
    (fact,) = facts_of(stated_by_rules([finding], LEAVES), RESOLVER)
    assert fact.evidence[0].qualifiers.region == "武侯区"


def test_a_figure_of_the_whole_country_is_none_of_the_documents_region():
    """Nor is one of 全省 in a city's document; 全市 is its own."""
    text = "目前，全国森林覆盖率达到24%，全省森林覆盖率达到40%。到2025年，全市森林覆盖率达到41%。"
    found = facts_of(stated_by_rules(targets(text), LEAVES), RESOLVER)
    told = {(e.qualifiers.value, e.qualifiers.region) for f in found for e in f.evidence}
    assert told == {("24", "全国"), ("40", "四川省"), ("41", "成都市")}
    assert {fact.subject.name for fact in found} == {"森林覆盖率"}


def test_what_comes_out_as_one_name_says_nothing():
    """成都市 部署 全市 after 全市 is 成都市."""
    evidence = (Evidence("d", 0, 5, LEAVES[0].chunk_id),)
    assert facts_of([Stated("成都市", "部署", "全市", evidence)], RESOLVER) == []


def test_statements_of_one_fact_share_it():
    """With the evidence of both, in the order of the text."""
    later, first = (Evidence("d", at, at + 2, LEAVES[0].chunk_id) for at in (4, 1))
    (fact,) = facts_of(
        [
            Stated("市发改委", "配合", "节能", (later,)),
            Stated("成都市发展和改革委员会", "配合", "节能", (first,)),
        ],
        RESOLVER,
    )
    assert [(e.start, e.qualifiers.subject) for e in fact.evidence] == [(1, ""), (4, "市发改委")]


def test_what_was_stated_before_is_resolved_anew():
    """A fact of an older kgrag hangs on the bare name; by rule it is found again anyway."""
    old = [
        Evidence("d", 17, 23, "old", "m"),
        Evidence("d", 17, 23, "old", BY_RULE),
    ]
    bare = Fact("f", Entity("e1", "市工信局"), "牵头", Entity("e2", "绿色工厂"), tuple(old))
    (fact,) = facts_of(stated_before([bare], LEAVES), RESOLVER)
    assert fact.subject.name == "成都市工业和信息化局"
    assert {e.extractor for e in fact.evidence} == {"m"}
    assert {e.qualifiers.subject for e in fact.evidence} == {"市工信局"}
    assert facts_of(stated_before([fact], LEAVES), RESOLVER) == [fact]


def test_mentions_are_resolved_anew_too():
    """As facts are."""
    evidence = Evidence("d", 17, 23, "old", "import")
    found = mentions_before([Mention(Entity("e", "市工信局"), evidence)], LEAVES, RESOLVER)
    assert {m.entity.name for m in found} == {"成都市工业和信息化局"}
    assert mentions_before(found, LEAVES, RESOLVER) == found


def test_a_document_that_speaks_of_itself_is_its_node():
    """本文件 is the word by which rules say so."""
    (fact,) = facts_of(stated_by_rules([Finding(SELF, "依据", "节能法", 0, 4)], LEAVES), RESOLVER)
    assert fact.subject == RESOLVER.document


def test_what_models_and_imports_state_is_typed_by_its_words():
    """A value, a role, a citation; as rules type what they find."""
    evidence = (Evidence("d", 0, 5, LEAVES[0].chunk_id, "m"),)
    rows = [
        ("全市绿色工厂", "目标为", "2025年500家以上"),
        ("市工信局", "牵头", "绿色工厂创建"),
        ("本规划", "依据", "《云岭省节能条例》"),
        ("绿色工厂", "包括", "绿色车间"),
    ]
    found = facts_of([Stated(*row, evidence) for row in rows], RESOLVER)
    target, duty, citation, plain = (f.evidence[0].qualifiers for f in found)
    assert (target.kind, target.value, target.unit, target.year) == ("target", "500", "家", "2025")
    assert (target.comparator, target.region, target.subject) == (">=", "成都市", "全市绿色工厂")
    assert (duty.kind, duty.role) == ("duty", "牵头")
    assert (citation.kind, citation.role) == ("reference", "依据")
    assert plain.kind == ""


def test_what_a_rule_says_is_not_typed_by_its_words():
    """It has said what it knows."""
    evidence = (Evidence("d", 0, 5, LEAVES[0].chunk_id, BY_RULE),)
    (fact,) = facts_of([Stated("绿色工厂", "目标为", "500家", evidence)], RESOLVER)
    assert fact.evidence[0].qualifiers.kind == ""


def test_an_indicators_place_is_a_qualifier_and_its_wording_too():
    """Of rules and of imports alike: the entity is what is measured."""
    evidence = (Evidence("d", 0, 5, LEAVES[0].chunk_id, "m"),)
    imported = Stated("四川省万元GDP能耗", "2025年目标为", "下降13.5%", evidence)
    found = Finding("万元GDP能耗", "目标为", "2025年下降13.5%", 7, 16, TARGET)
    (fact,) = facts_of([imported], RESOLVER)
    (ruled,) = facts_of(stated_by_rules([found], LEAVES), RESOLVER)
    assert fact.subject == ruled.subject
    assert fact.subject.name == "单位GDP能耗"
    said, by_rule = fact.evidence[0].qualifiers, ruled.evidence[0].qualifiers
    assert (said.subject, said.region, said.kind) == ("四川省万元GDP能耗", "四川省", "target")
    assert (by_rule.subject, by_rule.region) == ("万元GDP能耗", "成都市")
    (again,) = facts_of(stated_before([fact], LEAVES), RESOLVER)
    assert again.subject == fact.subject
    assert again.evidence[0].qualifiers == said


def test_a_unit_of_an_import_tells_what_is_measured():
    """风电 with 千瓦 is a capacity."""
    evidence = (Evidence("d", 0, 5, LEAVES[0].chunk_id, "m"),)
    (fact,) = facts_of([Stated("风电", "2025年目标为", "500万千瓦", evidence)], RESOLVER)
    assert (fact.subject.name, fact.evidence[0].qualifiers.subject) == ("风电装机容量", "风电")


def test_a_task_of_two_documents_is_two():
    """Whoever states the duty: a rule or a model."""
    finding = Finding("市工信局", "牵头", "加强领导", 20, 26, Qualifiers("duty", role="牵头"))
    evidence = (Evidence("d", 0, 5, LEAVES[0].chunk_id, "m"),)
    (ruled,) = facts_of(stated_by_rules([finding], LEAVES), RESOLVER)
    (stated,) = facts_of([Stated("市工信局", "牵头", "加强领导", evidence)], RESOLVER)
    other = name_resolver(replace(DOCUMENT, title="节水规划"))
    (elsewhere,) = facts_of(stated_by_rules([finding], LEAVES), other)
    assert ruled.object == stated.object
    assert elsewhere.object.name == ruled.object.name
    assert elsewhere.object.entity_id != ruled.object.entity_id


def test_a_document_that_an_import_names_is_cited():
    """So that it is connected where it is held, whoever issued or follows it."""
    evidence = (Evidence("d", 0, 5, LEAVES[0].chunk_id, "m"),)
    (fact,) = facts_of([Stated("市政府", "出台", "成都市节水办法", evidence)], RESOLVER)
    said = fact.evidence[0].qualifiers
    assert (said.kind, said.role) == ("reference", "提及")
    (planned,) = facts_of([Stated("市政府", "制定", "成都市节水办法", evidence)], RESOLVER)
    assert planned.evidence[0].qualifiers.kind == ""  # there may never be one


FOUND = Finding("绿色工厂", "目标为", "500家", 7, 16, TARGET)
RULED = facts_of(stated_by_rules([FOUND], LEAVES), RESOLVER)


@pytest.mark.parametrize(
    ("row", "span", "is_one"),
    [
        (("绿色工厂", "目标为", "2025年达到500家"), (0, 17), True),
        (("全市绿色工厂", "数量", "500家"), (0, 17), True),
        (("绿色工厂数量", "2025年目标为", "500家以上"), (7, 16), True),
        (("绿色工厂", "目标为", "2030年达到500家"), (0, 17), False),
        (("绿色工厂", "目标为", "2025年达到600家"), (0, 17), False),
        (("绿色园区", "目标为", "2025年达到500家"), (0, 17), False),
        (("四川省绿色工厂", "目标为", "500家"), (0, 17), False),
        (("绿色工厂", "目标为", "2025年达到500家"), (17, 30), False),
        (("绿色工厂", "包括", "绿色车间"), (0, 17), False),
    ],
)
def test_a_figure_that_rules_read_there_is_one_statement_found_by_both(row, span, is_one):
    """In the rules' words and at their place; another year, value, name or place is another."""
    (subject, predicate, object_), (start, end) = row, span
    evidence = (Evidence("d", start, end, LEAVES[0].chunk_id, "m", 0.9),)
    said = facts_of([Stated(subject, predicate, object_, evidence)], RESOLVER)
    found = agreed(said, RULED)
    if not is_one:
        assert found == said
        return
    (fact,), (ruled,) = found, RULED
    assert fact.fact_id == ruled.fact_id
    assert fact.evidence == tuple(replace(e, extractor="m", confidence=0.9) for e in ruled.evidence)
    again = facts_of(stated_before([fact], LEAVES), RESOLVER)
    assert agreed(again, RULED) == [fact]


def test_of_two_figures_with_one_value_the_one_of_that_name_counts():
    """Where neither is called so, both do."""
    findings = [
        Finding(name, "目标为", "500家", 7, 16, TARGET) for name in ("绿色工厂", "绿色工厂数量")
    ]
    ruled = facts_of(stated_by_rules(findings, LEAVES), RESOLVER)
    evidence = (Evidence("d", 0, 17, LEAVES[0].chunk_id, "m"),)
    (named,) = agreed(facts_of([Stated("绿色工厂", "达到", "500家", evidence)], RESOLVER), ruled)
    assert named.fact_id == ruled[0].fact_id


@pytest.mark.parametrize(
    ("predicate", "object_", "cites"),
    [
        ("依据", "《节能规划》", "节能规划"),
        ("依据", "节能规划", "节能规划"),
        ("废止", "节能规划", "节能规划"),
        ("依据", "本规划", ""),
        ("依据", "本文件", ""),
        ("印发", "节能规划", ""),
    ],
)
def test_what_a_document_rests_on_is_another_of_its_name(predicate, object_, cites):
    """A city's plan is called as its province's is: by rule, import and model alike."""
    stated = Stated("本规划", predicate, object_, (Evidence("d", 0, 5, LEAVES[0].chunk_id, "m"),))
    finding = Finding(SELF, predicate, object_, 0, 5, Qualifiers("reference", role=predicate))
    for found in (
        facts_of([stated], RESOLVER),
        facts_of(stated_by_rules([finding], LEAVES), RESOLVER),
    ):
        assert [f.object.name for f in found] == [cites] * bool(cites)
        for fact in found:
            assert fact.object != RESOLVER.document
            assert fact.object.type == "document"
            assert fact.evidence[0].qualifiers.kind == "reference"
