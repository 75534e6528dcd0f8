"""Answers without a model are clauses: whole, in order, with one sentence marked."""

from itertools import pairwise

import pytest

from kgrag.answer.blocks import Missing, Quote, Side
from kgrag.answering.clauses import lead_in
from kgrag.embedding.hashing import HashEmbedder
from tests.fixtures.kit import knowledge_base, shared_base

LONG = "".join(f"第{n}类设备的能耗限额由主管部门在每年三月底前公布并说明理由。" for n in range(40))
TEXTS = {
    "rule": (
        "青川市节能管理办法\n第一章 总则\n第一条 为了节约能源，制定本办法。\n第二章 处罚\n"
        "第九条 用能单位有下列情形之一的，由节能主管部门责令改正：\n"
        "（一）不报送能源利用状况报告的；\n（二）使用国家明令淘汰的锅炉的；\n"
        "（三）拒绝节能监察的。\n"
        "第十条 拒不改正的，处一万元以上五万元以下罚款。逾期不缴纳的，每日加处百分之三。\n"
    ),
    "plan": "云岭省绿色工厂实施方案\n一、目标\n到2025年，创建绿色工厂500家。\n二、保障\n加强。\n",
    "other": "海川省绿色工厂实施方案\n一、目标\n到2025年，创建绿色工厂800家。\n二、保障\n督导。\n",
    "limits": f"云岭省能耗限额目录\n{LONG}\n",
    "table": (
        "云岭省锅炉改造表\n| 市 | 锅炉（台） |\n| --- | --- |\n| 青川市 | 41 |\n| 南渡市 | 52 |\n"
    ),
}
base = shared_base(TEXTS)


def quoted(answer):
    """Return the quotes of an answer's clauses."""
    return [c.quote for c in answer.citations]


def test_clauses_are_whole_and_one_sentence_is_marked(base):
    """Nothing is cut out of a clause; a heading is not what answers."""
    answer = base.ask("青川市拒不改正的罚多少钱")
    best = answer.citations[0]
    assert TEXTS["rule"].splitlines()[-1] in best.quote
    start, end = best.marked
    marked = base.document("rule").text[start:end]
    assert "处一万元以上五万元以下罚款" in marked
    assert f"**{marked}**" in answer.text
    assert [c.marked is None for c in answer.citations[1:]] == [True] * (len(answer.citations) - 1)
    assert answer.text.startswith("《青川市节能管理办法》 › 第二章 处罚 › 第十条\n")
    assert "责令改正：\n（一）不报送" in answer.text


@pytest.mark.parametrize("most", [100, 400, 1000, 3000])
def test_clauses_are_so_many_characters_at_most(base, most):
    answer = base.ask("设备的能耗限额由谁公布", max_chars=most)
    sizes = [len(quote) for quote in quoted(answer)]
    assert 0 < sum(sizes) <= most
    assert max(sizes) <= 350
    assert len(sizes) <= 5
    assert all(quote.endswith("。") or "\n" in quote for quote in quoted(answer))


def test_no_place_is_shown_twice(base):
    answer = base.ask("设备的能耗限额由谁公布", max_chars=20_000)
    spans = sorted((c.doc_id, c.start, c.end) for c in answer.citations)
    assert all(a[0] != b[0] or a[2] <= b[1] for a, b in pairwise(spans))


def test_the_sides_of_a_comparison_stand_under_their_names(base):
    answer = base.ask("云岭省和海川省的绿色工厂目标各是多少家")
    sides = [block for block in answer.blocks if isinstance(block, Side)]
    assert [side.label for side in sides] == ["云岭", "海川"]
    assert "500家" in sides[0].citations[0].quote
    assert "800家" in sides[1].citations[0].quote
    assert all(any(c.marked for c in side.citations) for side in sides)


NATIONAL = "国务院关于绿色制造的意见\n一、目标\n到2025年，全国创建绿色工厂9000家。\n"


@pytest.mark.parametrize(("texts", "nearest"), [({}, False), ({"national": NATIONAL}, True)])
def test_a_side_whose_place_no_clause_bears_says_so(tmp_path, texts, nearest):
    """What is quoted under 湖北 is of the country, and no answer of 湖北."""
    with knowledge_base(tmp_path, {"plan": TEXTS["plan"], **texts}) as kb:
        answer = kb.ask("云岭省和湖北省的绿色工厂目标各是多少家")
    sides = {b.label: b.blocks for b in answer.blocks if isinstance(b, Side)}
    assert sides["湖北"][0] == Missing(nearest=nearest)
    assert not any(isinstance(block, Missing) for block in sides["云岭"])
    assert answer.found


@pytest.mark.parametrize(
    ("least", "found"), [(0.0, True), (None, True), (1.01, False)], ids=["none", "unknown", "high"]
)
def test_what_no_clause_says_is_said_before_the_nearest(tmp_path, least, found):
    """The score of the encoder's card changes the headline, and nothing else."""

    class Encoder(HashEmbedder):
        answered = least

    with knowledge_base(tmp_path, {"plan": TEXTS["plan"]}, embedder=Encoder(256)) as kb:
        answer = kb.ask("云岭省建多少家绿色工厂")
    assert answer.found is found
    assert any("500家" in quote for quote in quoted(answer))
    assert isinstance(answer.blocks[0], Quote if found else Missing)
    assert answer.text.startswith("没有条款直接写明；最相近的是：") is not found


def test_a_question_without_words_finds_nothing(base):
    answer = base.ask("？")
    assert (answer.found, answer.citations, answer.blocks) == (False, (), (Missing(),))


@pytest.mark.parametrize(
    ("text", "item", "lead"),
    [
        (TEXTS["rule"], "（二）使用", "第九条 用能单位有下列情形之一的，由节能主管部门责令改正："),
        (TEXTS["rule"], "（三）拒绝", "第九条 用能单位有下列情形之一的，由节能主管部门责令改正："),
        ("一、目标\n加强。\n二、任务\n", "二、", ""),
        ("责令改正：\n（一）甲；\n（三）乙。", "（三）", ""),
        ("总则。条件如下：\n1.甲；\n长\n2.乙。", "2.", "条件如下："),
        ("（二）甲", "（二）", ""),
        ("条件：\n正文", "正文", ""),
    ],
)
def test_an_item_has_its_lead_in(text, item, lead):
    assert lead_in(text, text.index(item)) == lead
