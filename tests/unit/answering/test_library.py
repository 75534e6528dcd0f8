"""Questions about documents as such: which there are, lack, or are not held; what one is."""

import pytest
from openpyxl import load_workbook

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig, VerifyConfig
from kgrag.retrieval.filter import Filter
from kgrag.testing.scripted import ScriptedChat
from tests.fixtures.kit import run, shared_base, shared_folder

TEXTS = {
    "rule": "云南省碳排放权交易管理办法\n云政发〔2022〕6号\n云南省人民政府\n2022年6月1日\n"
    "第一条 根据《碳排放权交易管理暂行条例》制定本办法。\n第二条 本办法自2022年7月1日起施行。"
    "2014年发布的《云南省碳排放权交易管理暂行办法》同时废止。\n",
    "plan": "四川省碳达峰实施方案\n川府发〔2021〕9号\n四川省人民政府\n2021年5月1日\n"
    "依据《碳排放权交易管理暂行条例》，落实《贵州省碳普惠管理办法》，制定本方案。\n一、目标\n"
    "到2030年，森林覆盖率达到41%。\n",
    "funds": "四川省节能资金管理办法\n四川省生态环境厅\n2019年3月1日\n第一条 资金用于节能改造。\n"
    "第二条 本办法自2019年3月1日起施行，有效期至2022年2月28日。\n",
    "ministry": "碳排放权登记管理规则\n生态环境部\n2021年5月14日\n第一条 登记应当真实。\n",
}
RULE, PLAN, FUNDS, MINISTRY = (text.split("\n")[0] for text in TEXTS.values())
base = shared_base(TEXTS, "hash-32")
folder = shared_folder(TEXTS, "hash-32")


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("库里有哪些四川省的文件", [FUNDS, PLAN]),
        ("2021年之后印发的文件有哪些", [RULE]),
        ("2021年以来印发的文件有哪些", [PLAN, MINISTRY, RULE]),
        ("2020年以前的文件有哪些？", [FUNDS]),
        ("列出2020至2021年发布的文件", [PLAN, MINISTRY]),
        ("生态环境部2020年以来发布了哪些文件", [MINISTRY]),
        ("四川省生态环境厅的文件有哪些", [FUNDS]),
        ("有哪些碳交易方面的文件", [RULE]),
        ("关于碳排放权的文件有多少份", [MINISTRY, RULE]),
        ("哪些省出台了碳达峰方案", [PLAN]),
        ("国家层面有哪些碳排放权文件", [MINISTRY]),
        ("现行有效的四川省文件有哪些", [PLAN]),
        ("省级碳达峰方案有哪些", [PLAN]),
        ("库里有没有关于碳排放权的办法", [RULE]),
    ],
)
def test_documents_are_listed_by_topic_place_issuer_and_year(base, question, titles):
    """By date, each with what is known of it; the note counts them."""
    answer = base.ask(question)
    assert [c.title for c in answer.citations] == titles
    assert f"库中4份文件，符合条件的有{len(titles)}份" in answer.notes[0]


@pytest.mark.parametrize(
    "question",
    [
        "库里有没有火星探测的文件",
        "市级碳排放文件有哪些",
        f"《{PLAN}》依据了哪几份文件",
        "四川省的森林覆盖率依据了哪几份文件",
        "哪些地方出台了落实国发〔2021〕4号的文件",
    ],
)
def test_documents_that_are_none_are_searched_for(base, question):
    """No count of documents takes the question away from retrieval to say that there are none."""
    answer = base.ask(question)
    assert not any(getattr(note, "kind", "") == "documents" for note in answer.notes)


@pytest.mark.parametrize(
    "question",
    [
        "申请节能资金需要提交哪些文件",
        "碳排放权交易管理办法规定了哪些处罚",
        "各省的碳达峰方案有哪些要求",
        "企业有哪些节能计划",
        "该办法的主要内容是什么",
    ],
)
def test_what_documents_say_is_no_question_about_the_archive(base, question):
    told = {getattr(note, "kind", "") for note in base.ask(question).notes}
    assert not told & {"documents", "document-card", "document-absent", "lacking"}


def test_a_row_of_a_document_tells_number_issuer_date_and_status(base):
    """What no quote says is not held against the quote, and has no remark."""
    answer = base.ask("云南省有哪些文件")
    known = "云政发〔2022〕6号；云南省人民政府；2022-06-01；现行有效"
    assert answer.text == f"《{RULE}》（{known}）[1]"
    assert answer.citations[0].quote == RULE
    within = Filter(documents=(FUNDS,))
    assert "未读出文号；四川省生态环境厅；2019-03-01；已失效" in (
        base.ask("库里有哪些文件", within=within).text
    )


@pytest.mark.parametrize(
    "question",
    [
        "云政发〔2022〕6号是什么文件",
        f"《{RULE}》是谁印发的？",
        f"{RULE}什么时候发布的，文号是多少",
        f"《{RULE}》有文号吗",
    ],
)
def test_a_record_quotes_where_each_thing_is_said(base, question):
    answer = base.ask(question)
    lines = dict.fromkeys(line[len(f"《{RULE}》") :] for line in answer.text.splitlines())
    told = [
        "（云政发〔2022〕6号；云南省人民政府；2022-06-01；现行有效）[1]",
        "（文号）：云政发〔2022〕6号[2]",
        "（成文）：2022年6月1日[3]",
        "（施行）：第二条 本办法自2022年7月1日起施行。[4]",
        "（依据《碳排放权交易管理暂行条例》）："
        "第一条 根据《碳排放权交易管理暂行条例》制定本办法。[5]",
        "（废止《云南省碳排放权交易管理暂行办法》）："
        "2014年发布的《云南省碳排放权交易管理暂行办法》同时废止。[6]",
    ]
    assert list(lines) == (told if "什么文件" in question else told[:4])


def test_documents_are_listed_by_when_they_end(base):
    """A day that is over, too; a plan's years are no day."""
    answer = base.ask("2023年前到期的文件有哪些")
    assert answer.text.startswith(f"《{FUNDS}》（2022-02-28；已失效）：第二条 ")
    assert answer.notes[0] == "库中4份文件，—2022年到期的有1份"
    assert not base.ask("2022年前到期的文件有哪些").found
    assert base.ask("2022年底前到期的办法有哪些").found
    assert not base.ask("2022年底前到期的规划有哪些").found
    assert not base.ask("今年到期的文件有哪些").found


def test_a_document_that_is_not_held_is_said_to_be_so(base):
    """With the nearest titles, and what others say of it; what was found stands below."""
    answer = base.ask("贵州省碳达峰实施方案的目标是什么")
    assert answer.notes[0] == "本库没有题为《贵州省碳达峰实施方案》的文件"
    assert f"《{PLAN}》" in answer.notes[1]
    told = base.ask("贵州省碳普惠管理办法的主要内容")
    assert told.text.startswith(f"《{PLAN}》（落实）：")
    assert "所列是提到它的文件" in told.notes
    assert "〔2030〕99号》的文件" in base.ask("川府发〔2030〕99号是谁发的").notes[0]


more = shared_base(
    {
        "plan": "四川省“十三五”节能规划\n四川省人民政府\n2016年5月1日\n一、目标\n节约能源。\n",
        "citing": "四川省节能通知\n2022年5月1日\n一、依据\n落实《国务院关于印发节能行动方案的通知》"
        "（国发〔2021〕23号）和《“十三五”节能规划》。\n",
    }
)


def test_a_plan_whose_years_are_over_is_listed_as_a_document(more):
    answer = more.ask("哪些规划已经过了规划期")
    assert (
        answer.text
        == "《四川省“十三五”节能规划》（未读出文号；四川省人民政府；2016-05-01；规划期已过）[1]"
    )


def test_of_a_number_that_is_not_held_the_title_is_told(more):
    """As those that cite it write it."""
    notes = more.ask("国发〔2021〕23号是什么文件").notes
    assert notes[1] == "引用它的文件写作《国务院关于印发节能行动方案的通知》"


def test_what_all_places_have_is_no_document_that_is_cited(more):
    """Neither where places are asked for, nor behind a place."""
    answer = more.ask("省级“十三五”节能规划有哪些")
    assert [c.title for c in answer.citations] == ["四川省“十三五”节能规划"]
    notes = more.ask("贵州省“十三五”节能规划是谁印发的").notes
    assert notes[0] == "本库没有题为《贵州省“十三五”节能规划》的文件"


@pytest.mark.parametrize("named", ["四川省碳达峰方案", "四川碳达峰工作方案", "四川省碳达峰规划"])
def test_one_that_is_called_otherwise_is_not_said_to_be_lacking(base, named):
    notes = base.ask(f"{named}的目标是什么").notes
    assert not any("本库没有" in note for note in notes)


@pytest.mark.parametrize(
    "question", ["库里缺哪些文件", "哪些文件被引用了但库里没有", "有哪些被引用的文件没有收录"]
)
def test_what_is_cited_and_not_held_is_listed_and_counted(base, question):
    answer = base.ask(question)
    assert answer.text.startswith("《碳排放权交易管理暂行条例》，")
    assert "等2份文件引用" in answer.text
    assert answer.notes[0] == "被两份以上文件引用而不在库的有1项"


def test_the_command_and_a_workbook_have_the_rows(folder, tmp_path):
    asked, out = tmp_path / "asked.txt", tmp_path / "r.xlsx"
    known = "川府发〔2021〕9号；四川省人民政府；2021-05-01；现行有效"
    done = run(folder, "ask", "四川省2021年发布了哪些文件", language="zh")
    assert f"《{PLAN}》（{known}）[1]" in done.stdout
    asked.write_text("四川省2021年发布了哪些文件\n库里缺哪些文件\n", "utf-8")
    run(folder, "report", asked, "--out", out, language="zh")
    answers, sources = load_workbook(out).worksheets
    assert known in str(answers.cell(2, 3).value)
    assert "等2份文件引用" in str(answers.cell(3, 3).value)
    assert [row[6] for row in sources.iter_rows(min_row=2, max_row=2, values_only=True)] == [PLAN]


def test_a_model_reads_what_is_known_of_the_documents(folder):
    """Number, issuer and status stand in no quote; the list is told before the passages."""
    model = ScriptedChat(lambda request: "四川省有两份[1]。" if request.stage == "answer" else "{}")
    config = Config(embedding=EmbeddingConfig(model="hash-32"), verify=VerifyConfig(method="none"))
    with KnowledgeBase.open(folder / "kb", config=config, model=model) as kb:
        kb.ask("库里有哪些四川省的文件")
    (request,) = [r for r in model.requests if r.stage == "answer"]
    read = "\n".join(message.content for message in request.messages)
    assert "《四川省碳达峰实施方案》：川府发〔2021〕9号；" in read
    assert "2019-03-01；已失效" in read
