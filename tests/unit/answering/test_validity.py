"""Whether documents are in force: of one that is named, or which ones are not."""

import pytest

from kgrag.retrieval.filter import Filter
from tests.fixtures.kit import shared_base

TEXTS = {
    "old": "云岭省节能专项资金管理办法\n云岭省人民政府\n2019年3月1日\n第一条 资金用于节能改造。\n"
    "第二条 本办法自2019年3月1日起施行，有效期至2022年2月28日。\n",
    "new": "云岭省碳排放权交易管理办法\n云政发〔2022〕6号\n云岭省人民政府\n2022年6月1日\n"
    "第一条 重点排放单位应当按时清缴配额。\n第二条 本办法自2022年7月1日起施行。"
    "2014年发布的《云岭省碳排放权交易管理暂行办法》同时废止。\n",
    "plan": "云岭省绿色发展实施方案\n云岭省人民政府\n2024年5月1日\n一、目标\n"
    "到2030年，森林覆盖率达到41%，逐步以天然气取代燃煤。\n",
}
base = shared_base(TEXTS, "hash-32")


@pytest.mark.parametrize(
    ("question", "quoted", "told"),
    [
        (
            "《云岭省节能专项资金管理办法》还有效吗？",
            "有效期至2022年2月28日",
            "《云岭省节能专项资金管理办法》当日已失效，有效期至2022-02-28",
        ),
        (
            "《云岭省碳排放权交易管理暂行办法》被什么文件取代？",
            "《云岭省碳排放权交易管理暂行办法》同时废止",
            "《云岭省碳排放权交易管理暂行办法》当日已废止，自2022-07-01起",
        ),
        (
            "《云岭省绿色发展实施方案》是否有效？",
            "云岭省绿色发展实施方案",
            "《云岭省绿色发展实施方案》没有失效、废止或被取代的记载",
        ),
    ],
)
def test_a_named_document_is_in_force_or_ended_and_it_is_quoted_why(base, question, quoted, told):
    answer = base.ask(question)
    (citation,) = answer.citations
    assert quoted in citation.quote
    assert any(told in note for note in answer.notes)


@pytest.mark.parametrize("asks", ["替代了什么文件", "取代了哪些旧办法", "废止了哪些文件"])
def test_what_a_document_replaces_is_not_whether_it_is_replaced(base, asks):
    answer = base.ask(f"《云岭省碳排放权交易管理办法》{asks}？")
    assert "（废止《云岭省碳排放权交易管理暂行办法》）" in answer.text
    assert not any("没有失效、废止" in note for note in answer.notes)


def test_of_a_title_that_is_not_held_it_is_said(base):
    answer = base.ask("《青川市节能办法》废止了吗？")
    assert any("本库未收《青川市节能办法》" in note for note in answer.notes)


def test_which_documents_ended_are_listed_and_counted(base):
    """What another document repeals is listed where that is asked for, held or not."""
    ended = base.ask("哪些文件已经失效？")
    assert [c.title for c in ended.citations] == ["云岭省节能专项资金管理办法"]
    assert any("3份文件中有1份" in note for note in ended.notes)
    repealed = base.ask("哪些文件已被废止？")
    assert "废止《云岭省碳排放权交易管理暂行办法》" in repealed.text
    within = Filter(documents=("云岭省碳排放权交易管理办法",))
    assert len(base.ask("哪些文件已被废止？", within=within).citations) == 1


def test_a_place_and_a_subject_restrict_the_list(base):
    assert "碳排放权" in base.ask("哪些碳排放权交易方面的规定已经废止？").text
    assert "节能专项" not in base.ask("哪些碳排放权交易方面的规定已经废止？").text
    assert "节能专项" in base.ask("云岭有哪些政策已经失效？").text
    assert "节能专项资金管理办法》（已失效" not in base.ask("青川有哪些政策已经失效？").text


def test_a_day_decides(base):
    asked = "《云岭省节能专项资金管理办法》还有效吗？"
    assert any("没有失效" in note for note in base.ask(asked, as_of="2021").notes)


def test_other_questions_that_use_these_words_are_answered_as_before(base):
    assert "天然气取代燃煤" in base.ask("到2030年以什么取代燃煤？").text
    assert "配额" in base.ask("重点排放单位应当按时清缴什么？").text


# Return a knowledge base of a rule that ends two, one under its own name, and a plan that tells
# what others ended.
replaced = shared_base(
    {
        "rule": "云岭省生态环境标准管理办法\n云岭省人民政府\n2021年1月5日\n"
        "第九条 本办法自2021年2月1日起施行。"
        "《环境标准管理办法》（云岭省人民政府令第3号）同时废止。\n"
        "2010年公布的《云岭省生态环境标准管理办法》（云岭省人民政府令第9号）同时废止。\n",
        "notice": "关于节能补贴的通知\n云环发〔2022〕6号\n云岭省生态环境厅\n2022年3月1日\n"
        "本通知自印发之日起施行。原《关于节能奖励的通知》（云环发〔2019〕12号）废止。\n",
        "plan": "云岭省“十四五”生态保护规划\n云岭省人民政府\n2021年9月1日\n一、现状\n"
        "保护区占19%；2013年发布的《云岭省红线保护规划》（云政发〔2013〕8号）废止。\n",
    }
)


@pytest.mark.parametrize(
    ("question", "quoted", "told"),
    [
        (
            "环境标准管理办法还有效吗",
            "令第3号）同时废止",
            "：《环境标准管理办法》当日已废止，自2021-02-01起，由《云岭省生态环境标准管理办法》废止；"
            "《云岭省生态环境标准管理办法》没有失效",
        ),
        (
            "2010年的云岭省生态环境标准管理办法还有效吗",
            "令第9号）同时废止",
            "：《云岭省生态环境标准管理办法（云岭省人民政府令第9号）》当日已废止",
        ),
        (
            "云岭省人民政府令第9号《云岭省生态环境标准管理办法》还有效吗",
            "令第9号）同时废止",
            "：《云岭省生态环境标准管理办法（云岭省人民政府令第9号）》当日已废止",
        ),
        (
            "云环发〔2019〕12号还有效吗",
            "12号）废止",
            "《关于节能奖励的通知》当日已废止，自2022-03-01起，由《关于节能补贴的通知》废止",
        ),
        ("哪个文件替代了云环发〔2019〕12号", "12号）废止", "由《关于节能补贴的通知》废止"),
        (
            "《云岭省红线保护规划》还有效吗",
            "《云岭省红线保护规划》（云政发〔2013〕8号）废止",
            "本库未收《云岭省红线保护规划》；所引库中文件写明它已废止",
        ),
        (
            "云政发〔2013〕8号还有效吗",
            "《云岭省红线保护规划》（云政发〔2013〕8号）废止",
            "本库未收《云政发〔2013〕8号》；所引库中文件写明它已废止",
        ),
        ("云岭省生态保护规划还有效吗", "生态保护规划", "按《云岭省“十四五”生态保护规划》作答"),
    ],
)
def test_what_a_repeal_names_is_not_the_held_one_that_is_alike(replaced, question, quoted, told):
    """By title, number or year; of what is told to have ended, it is not said that none tells."""
    answer = replaced.ask(question)
    assert quoted in answer.citations[0].quote
    assert any(told in note for note in answer.notes), answer.notes
    assert not any("没有说明" in note for note in answer.notes)


def test_of_a_title_that_several_bear_each_is_told(base):
    answer = base.ask("《管理办法》还有效吗？")
    assert {c.title for c in answer.citations} == {
        "云岭省节能专项资金管理办法",
        "云岭省碳排放权交易管理办法",
    }
    assert any("2份文件中有1份已失效" in note for note in answer.notes)


def test_the_one_that_is_held_is_in_force_though_an_edition_of_its_name_was_repealed(replaced):
    answer = replaced.ask("《云岭省生态环境标准管理办法》还有效吗？")
    assert any("《云岭省生态环境标准管理办法》没有失效" in note for note in answer.notes)
    assert not any("已废止" in note for note in answer.notes)
