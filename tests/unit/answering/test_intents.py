"""Questions that all statements answer: citations, duties, penalties, headings, dates."""

import pytest

from kgrag.retrieval.filter import Filter
from kgrag.statements.selection import Selection
from tests.fixtures.kit import ingested, run, shared_base
from tests.fixtures.policies import POLICIES

LAW = "中华人民共和国节约能源法"


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        (f"哪些政策文件引用了《{LAW}》？", ["绿色发展行动方案", "成都市绿色发展工作方案"]),
        (f"有多少文件以《{LAW}》为依据，哪些办法依据了《{LAW}》", []),  # two places of one title
        ("哪些文件落实了《绿色发展行动方案》？", ["四川省绿色发展实施方案"]),
        ("《绿色发展行动方案》被哪些文件引用？", ["四川省绿色发展实施方案"]),
        ("谁引用了《绿色发展行动方案》？", ["四川省绿色发展实施方案"]),
        ("落实《绿色发展行动方案》的文件有哪些？", ["四川省绿色发展实施方案"]),
        ("Which documents cite 《绿色发展行动方案》?", ["四川省绿色发展实施方案"]),
    ],
)
def test_all_that_cite_are_listed(policies, question, titles):
    """In the order of issue, each with its sentence; the title's own document is none of them."""
    answer = policies.ask(question)
    if not titles:
        assert not any("其中读出引用《" in note for note in answer.notes)
        return
    assert [c.title for c in answer.citations] == titles
    note = answer.notes[0]
    assert "4" in note
    assert str(len(titles)) in note
    lines = answer.text.splitlines()
    assert all(line.startswith(f"《{t}》（") for line, t in zip(lines, titles, strict=True))
    assert [line[-3:] for line in lines] == [f"[{n}]" for n in range(1, len(titles) + 1)]
    assert all(c.quote.endswith("制定本方案。") for c in answer.citations)
    assert answer.found


@pytest.mark.parametrize(
    "question",
    [
        "《四川省绿色发展实施方案》引用了哪些文件？",  # the other direction
        "哪些文件引用了《没有人引用的办法》？",
        "哪些文件有绿色工厂的目标？",
    ],
)
def test_other_questions_are_answered_as_before(policies, question):
    """No list where nothing cites, or where something else is asked."""
    assert not any("其中读出引用《" in note for note in policies.ask(question).notes)


def test_a_filter_holds_for_the_list(policies):
    """Of the documents that are searched, and no others."""
    within = Filter(regions=("四川",))
    answer = policies.ask(f"哪些文件引用了《{LAW}》？", within=within)
    assert answer.notes[0] == f"共2份文件，其中读出引用《{LAW}》的有1份"


def test_ask_says_how_many_of_how_many(tmp_path):
    ingested(tmp_path, POLICIES, "hash-32")
    done = run(tmp_path, "ask", f"哪些文件引用了《{LAW}》？")
    assert f"共4份文件，其中读出引用《{LAW}》的有2份" in done.stdout + done.stderr


def test_what_a_document_cites(policies):
    """Each cited document once, with how it is cited."""
    answer = policies.ask("《成都市绿色发展工作方案》引用了哪些文件？")
    assert len(answer.text.splitlines()) == 2
    assert answer.notes[0] == "从《成都市绿色发展工作方案》读出引用的文件2项，其中1项在库"


def test_a_chain_of_bases_is_followed(policies):
    """成都 carries out 四川, which carries out the nation's, which rests on the law."""
    answer = policies.ask("《成都市绿色发展工作方案》的依据链是什么？")
    cited = [c.title for c in answer.citations]
    assert cited[0] == "成都市绿色发展工作方案"
    assert {"四川省绿色发展实施方案", "绿色发展行动方案"} <= set(cited)


def test_what_nobody_repealed_is_not_made_up(policies):
    """A role that the document has not leaves the question to the text."""
    answer = policies.ask("《成都市绿色发展工作方案》废止了哪些文件？")
    assert not any("读出" in note for note in answer.notes)


@pytest.mark.parametrize(
    "question", ["四川省经济和信息化厅负责哪些任务？", "四川省经济和信息化厅的职责有哪些？"]
)
def test_what_an_organ_is_to_do(policies, question):
    """By its full name, of all documents; in a role where one is asked for."""
    answer = policies.ask(question)
    assert answer.text.startswith("建设绿色工厂（牵头），《四川省绿色发展实施方案》：")
    assert answer.notes[0] == "共4份文件，其中读出四川省经济和信息化厅职责的有1份，共1条"
    assert not any("读出" in n for n in policies.ask("四川省经济和信息化厅配合哪些任务？").notes)


def test_who_does_a_thing_in_all_documents(policies):
    """A row for each document, its organs together."""
    answer = policies.ask("各地的绿色工厂建设由哪个部门负责？")
    assert [c.title for c in answer.citations] == [
        "四川省绿色发展实施方案",
        "成都市绿色发展工作方案",
    ]
    assert "省经济和信息化厅（牵头）、省生态环境厅（配合）" in answer.text


RULES = """甲市节能管理办法
第一条 为了节约能源，制定本办法。
第八条 重点用能单位未按照规定报送能源利用状况报告的，由市发展改革部门责令限期改正；\
逾期不改正的，处一万元以上五万元以下的罚款。
第九条 检测机构伪造检测数据的，由市市场监管部门处十万元罚款；情节严重的，吊销资质证书。
第十条 市发展改革部门负责节能监察。
"""


# Return a knowledge base of one rule with two penalties.
laws = shared_base({"rules": RULES})
# Return a knowledge base of two rules that define a term.
terms = shared_base(
    {
        "old": "甲市碳排放管理办法\n2019年3月1日\n第二条 碳排放配额，是指分配的年度碳排放额度。\n",
        "new": "乙市碳市场管理办法\n2022年5月1日\n第三条 碳排放配额是指政府发放的碳排放凭证。\n"
        "第四条 超额配额，是指超出碳排放配额的部分。\n"
        "第五条 自愿减排量（CCER），是指经核证的减排数量。重点单位应当报送报告。\n",
    }
)


def test_who_carries_a_document_out_is_not_who_issued_it(terms):
    answer = terms.ask("《甲市碳排放管理办法》由哪个部门负责实施？")
    assert not any("题录" in note for note in answer.notes)


@pytest.mark.parametrize(
    ("question", "documents"),
    [
        ("什么是碳排放配额？", ["甲市碳排放管理办法", "乙市碳市场管理办法"]),
        ("碳排放配额的定义是什么？", ["甲市碳排放管理办法", "乙市碳市场管理办法"]),
        ("《乙市碳市场管理办法》里碳排放配额是什么意思？", ["乙市碳市场管理办法"]),
        ("何谓超额配额？", ["乙市碳市场管理办法"]),
        ("超额配额是什么？", ["乙市碳市场管理办法"]),
        ("CCER是什么", ["乙市碳市场管理办法"]),
    ],
)
def test_what_a_term_means_is_answered_with_each_definition(terms, question, documents):
    answer = terms.ask(question)
    assert [c.title for c in answer.citations] == documents
    assert all("是指" in c.quote for c in answer.citations)
    assert answer.notes[0].kind == "definitions"


duties_of_owners = shared_base(
    {
        "north": "北市碳市场办法\n2021年3月1日\n第四十条 重点排放单位未按时足额清缴碳排放配额的，"
        "处二万元以上三万元以下的罚款。\n第四十一条 重点排放单位未按时退回碳排放配额的，"
        "处一万元罚款。\n第四十二条 核查机构买卖碳排放配额的，处五万元罚款。\n",
        "south": "南市碳市场办法\n2022年3月1日\n"
        "第五条 重点排放单位未按期足额履约的，处十万元罚款。\n",
        "town": "深圳市碳市场办法\n深圳市人民政府\n2022年5月1日\n"
        "第六条 重点排放单位未清缴碳排放配额的，按市场交易价格处五倍罚款。\n",
    }
)


@pytest.mark.parametrize(
    "question", ["重点排放单位未按时清缴配额罚多少钱", "重点排放单位没有履约会被罚多少钱？"]
)
def test_a_penalty_is_found_in_other_words_and_no_other_is(duties_of_owners, question):
    answer = duties_of_owners.ask(question)
    assert answer.notes[0].kind == "penalties"
    assert all("退回" not in c.quote for c in answer.citations)
    assert "北市碳市场办法" in [c.title for c in answer.citations]


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("全国碳市场里不按时清缴配额罚多少钱", ["全国：", "全国："]),
        ("未按时清缴配额国家规定罚款多少", ["全国：", "全国："]),
        ("碳市场不清缴配额罚多少", ["全国：", "全国：", "深圳市："]),
        ("控排企业不履约有什么后果？会罚款吗", ["全国：", "全国：", "深圳市："]),
        ("违反国家规定不清缴配额罚多少", ["全国：", "全国：", "深圳市："]),
        ("深圳的重点排放单位未清缴配额罚多少", [""]),
    ],
)
def test_what_is_done_decides_and_the_country_comes_first(duties_of_owners, question, places):
    """A word of one place's price (市场) is none of what is done; each row has its place."""
    answer = duties_of_owners.ask(question)
    assert answer.notes[0].kind == "penalties"
    rows = [line for line in answer.text.splitlines() if line]
    assert len(rows) == len(places)
    assert all(
        row.startswith(f"{place}重点排放单位") for row, place in zip(rows, places, strict=True)
    )


PARTIES = {
    "land": "碳市场监督办法\n2021年3月1日\n第四十条 重点排放单位未按时足额清缴碳排放配额的，"
    "处二万元罚款。\n第四十一条 企业披露的信息不真实的，处一万元罚款。\n",
    "town": "深圳市碳排放权交易管理办法\n深圳市人民政府\n2022年5月1日\n"
    "第五条 重点排放单位未按时足额履约的，处三倍罚款。\n"
    "第六条 第三方核查机构弄虚作假的，对单位处十万元罚款，对个人处五万元罚款。\n"
    "第七条 核查机构买卖碳排放配额的，处六万元罚款。\n"
    "第八条 交易机构有下列行为之一的，处七万元罚款：\n（一）不公布信息的；\n"
    "（二）不报告交易的。\n第九条 本办法自印发之日起施行。\n鼓励公众监督。\n",
}
# Return a knowledge base of the country's rule and a city's.
parties = shared_base(PARTIES)


@pytest.mark.parametrize(
    ("question", "quotes"),
    [
        ("重点排放单位不清缴配额罚多少，全国和深圳各怎么规定", ["第四十条", "第五条"]),
        ("碳排放核查机构造假罚多少，全国有什么规定", ["第六条"]),
        ("控排企业造假罚多少", ["第四十一条"]),
        ("交易机构会受到什么处罚", ["第八条"]),
    ],
)
def test_a_penalty_is_of_who_and_where_is_asked_for(parties, question, quotes):
    answer = parties.ask(question)
    assert answer.notes[0].kind == "penalties"
    assert [c.quote.split(" ")[0] for c in answer.citations] == quotes


def test_who_of_two_pays_what_is_told(parties):
    answer = parties.ask("碳排放核查机构造假罚多少，全国有什么规定")
    assert "：对单位处十万元罚款，" in answer.text
    assert "：对个人处五万元罚款，" in answer.text


def test_what_stands_in_a_list_is_quoted_with_its_item(parties):
    (cited,) = parties.ask("交易机构会受到什么处罚").citations
    assert cited.quote.endswith("（二）不报告交易的。")


@pytest.mark.parametrize(
    ("asked", "begins", "ends"),
    [
        ("第八条罚什么", "第八条 交易机构", "（二）不报告交易的。"),
        ("第8条第（二）项", "（二）不报告交易的。", "（二）不报告交易的。"),
        ("第七条第二款", "第七条 核查", "六万元罚款。"),  # it has none
        ("第九条第二款规定了什么", "鼓励公众监督。", "鼓励公众监督。"),
    ],
)
def test_an_article_is_quoted_whole(parties, asked, begins, ends):
    (cited,) = parties.ask(f"《深圳市碳排放权交易管理办法》{asked}").citations
    assert cited.quote.startswith(begins)
    assert cited.quote.endswith(ends)


def test_an_article_of_a_document_that_is_nearly_named_says_which(parties):
    answer = parties.ask("深圳市碳交易管理办法第八条罚什么")
    assert answer.citations[0].quote.startswith("第八条 交易机构")
    assert answer.notes[0].kind == "taken-for"


def test_an_article_that_is_not_there_is_said_to_be_so(parties):
    answer = parties.ask("《深圳市碳排放权交易管理办法》第九十条规定了什么")
    assert not answer.citations
    assert answer.notes[0].kind == "no-article"


@pytest.mark.parametrize("term", ["报送单位", "配额", "重点单位"])
def test_a_term_without_definition_is_searched(terms, term):
    """That none was read is not said: the text may define it in other words."""
    for question in (f"什么是{term}？", f"{term}的含义是什么？"):
        assert not any("定义" in note for note in terms.ask(question).notes)


@pytest.mark.parametrize(
    "question", ["什么是碳中和？", "碳排放配额怎么分配？", "管理办法的目标是什么？"]
)
def test_a_term_that_none_defines_or_another_question_has_no_such_rows(terms, question):
    assert not any(getattr(n, "kind", "") == "definitions" for n in terms.ask(question).notes)


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("未按规定报送能源利用状况报告会受到什么处罚？", "重点用能单位未按照规定报送"),
        ("伪造检测数据怎么处罚？", "检测机构伪造检测数据"),
        (
            "什么情形会被吊销资质证书？",
            "检测机构伪造检测数据（情节严重）：吊销资质证书，",
        ),
    ],
)
def test_what_is_punished_is_answered_with_who_and_how(laws, question, begins):
    """By what is done, or by the penalty; each row with its sentence."""
    answer = laws.ask(question)
    assert answer.text.startswith(begins)
    assert answer.notes[0].kind == "penalties"


def test_all_penalties_of_a_document_are_listed(laws):
    """Where it is named, and nothing else is asked for."""
    answer = laws.ask("《甲市节能管理办法》规定了哪些处罚？")
    assert answer.notes[0] == "共1份文件，其中读出有关处罚的有1份，共3条"
    assert len(answer.blocks) == 3


@pytest.mark.parametrize(
    "question",
    [
        "违反本办法有哪些处罚？",
        "偷排污水会受到什么处罚？",
        "深圳伪造检测数据怎么处罚？",  # the rule is another place's
        "深圳和广州伪造检测数据怎么处罚？",
    ],
)
def test_a_penalty_of_nothing_that_was_read_is_no_row(laws, question):
    """The text answers as for any other question, or nothing does."""
    assert not any(getattr(note, "kind", "") == "penalties" for note in laws.ask(question).notes)


@pytest.mark.parametrize(
    "question",
    [
        "四川省绿色发展实施方案有哪些重点任务？",
        "列出《四川省绿色发展实施方案》的主要工作任务",
        "四川省绿色发展实施方案的重点任务",
    ],
)
def test_the_tasks_of_a_document_are_its_headings(policies, question):
    """All under the heading that names them; the title needs no 《》."""
    answer = policies.ask(question)
    assert [c.quote for c in answer.citations] == ["（一）建设绿色工厂。", "（二）保护森林。"]
    assert answer.notes[0] == "《四川省绿色发展实施方案》“三、重点任务”之下共2项，2项均已列出"


def test_a_document_that_is_not_named_has_no_tasks(policies):
    """Nor has one without such a heading."""
    for question in ("各地有哪些重点任务？", "《绿色发展行动方案》有哪些重点任务？"):
        assert not any("之下共" in note for note in policies.ask(question).notes)


@pytest.mark.parametrize(
    ("question", "n", "is_exact"),
    [
        ("四川省绿色发展实施方案有哪些时间节点？", 3, True),
        ("《四川绿色发展方案》有哪些时间要求？", 3, False),
        ("云南绿色消费意见的时间表是什么？", 1, True),
    ],
)
def test_the_time_points_of_a_document_are_those_of_its_timeline(policies, question, n, is_exact):
    """All of them, with the document that was taken where the name is not its title."""
    answer = policies.ask(question)
    assert answer.notes[0].endswith(f"读出时间点{n}项")
    assert any("不完全相同" in note for note in answer.notes) is not is_exact


@pytest.mark.parametrize(
    ("question", "is_exact"),
    [
        ("《四川绿色实施方案》的重点任务有哪些？", False),
        ("四川发展实施方案的重点任务有哪些？", False),
        ("绿色发展四川省实施方案的重点任务有哪些？", True),  # the place elsewhere
    ],
)
def test_a_title_that_is_not_to_the_letter_reaches_its_document(policies, question, is_exact):
    """With words missing; which document was taken is said where it is not sure."""
    answer = policies.ask(question)
    assert [c.quote for c in answer.citations] == ["（一）建设绿色工厂。", "（二）保护森林。"]
    taken = "按《四川省绿色发展实施方案》作答，题中名称与它不完全相同"
    assert any(note.startswith(taken) for note in answer.notes) is not is_exact


@pytest.mark.parametrize(
    "question",
    ["《云南绿色发展实施方案》的重点任务有哪些？", "《四川水污染防治方案》的重点任务有哪些？"],
)
def test_a_name_that_no_title_has_is_taken_for_none(policies, question):
    assert not any("作答" in note or "之下共" in note for note in policies.ask(question).notes)


TASKS = """成都市节能行动方案
（一）推进工业节能。实施改造。2023年底前完成80家企业诊断。（市工业和信息化局牵头，市财政局配合）
（二）推广绿色产品。开展宣传。（责任单位：市工业和信息化局）
"""
OTHER = """昆明市绿色产品实施方案
（一）推广绿色产品。建立目录，到2025年覆盖各县。（市工业和信息化局牵头）
"""


# Return a knowledge base of two plans with duties.
tasks = shared_base({"tasks": TASKS, "other": OTHER})
SAVING = ("推进工业节能", "成都市节能行动方案", "时限：2023年底前完成80家企业诊断")
PRODUCTS = ("推广绿色产品", "成都市节能行动方案", "未读出时限")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("《成都市节能行动方案》中市工业和信息化局负责哪些任务，何时完成？", [SAVING, PRODUCTS]),
        ("成都市节能行动方案中工信局负责哪些任务，时间要求是什么？", [SAVING, PRODUCTS]),
        ("成都市节能行动方案中，工信局牵头哪些任务，什么时候完成", [SAVING]),
        ("《成都市节能行动方案》中工信局的任务有哪些，完成时限是什么？", [SAVING, PRODUCTS]),
        ("在《成都市节能行动方案》中，工信局有哪些任务？分别什么时候完成？", [SAVING, PRODUCTS]),
        ("成都市节能行动方案中哪些任务由工信局牵头，到什么时候完成？", [SAVING]),
        ("成都市节能行动方案中谁牵头工业节能，有什么时限要求？", [SAVING]),
        ("谁牵头推进工业节能，什么时候完成？", [SAVING]),
        ("工业节能由哪个部门负责，何时完成？", [SAVING]),
        ("成都市节能行动方案中工信局牵头哪些任务？", [(*SAVING[:2], "")]),  # nobody asks until when
        ("成都市节能行动方案各部门的任务和完成时限", [SAVING, PRODUCTS]),
        ("《成都市节能行动方案》的责任分工是什么？", [SAVING, PRODUCTS]),
        ("成都市节能行动方案由谁牵头？", [SAVING, PRODUCTS]),
        ("成都市节能行动方案各单位职责", [SAVING, PRODUCTS]),
    ],
)
def test_until_when_an_organ_is_to_do_what(tasks, question, expected):
    """The duties of a document, each with its deadline where the question asks for it."""
    answer = tasks.ask(question)
    rows = [block.to_dict() for block in answer.blocks]
    assert [
        (r["lead"].split("（")[0].split("：")[0], r["title"], r["aside"]) for r in rows
    ] == expected
    assert "80家" in rows[0]["text"]


@pytest.mark.parametrize("organ", ["工业和信息化局", "市工业和信息化局", "财政局", "工信局"])
def test_the_answer_has_the_rows_of_the_table(tasks, organ):
    """Of what an organ is to do in all documents."""
    rows = [block.to_dict() for block in tasks.ask(f"{organ}负责哪些任务，何时完成？").blocks]
    table = tasks.rows(Selection(kind="duties", agency=organ))
    at = [column.key for column in table.columns].index("task")
    told = [(row.cells[at], source.title) for row in table.rows for source in row.sources]
    assert sorted((r["lead"].split("（")[0], r["title"]) for r in rows) == sorted(told)
    assert told
