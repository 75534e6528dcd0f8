"""Offline checks of an answer: numbers, names, indicators, contradictions."""

from dataclasses import replace

import pytest

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Quote, Row, Side
from kgrag.answer.citation import Citation
from kgrag.verification import checks
from kgrag.verification.claims import Clause, findings
from kgrag.verification.cov import Verification, sigma, unmet
from kgrag.verification.parts import parts_of
from tests.fixtures.answers import answer_of

QUOTED = {1: "福建省规划\n农村污水治理率达到65%。", 2: "国家方案\n农村污水治理率达到40%。"}


def answer(text, question="各是多少？"):
    """Return an answer with its checks, whose [1] and [2] are the texts above."""
    citations = [
        Citation(n, f"d{n}", "", "d.txt", (), None, 0, len(quote), quote, "c")
        for n, quote in QUOTED.items()
    ]
    given = answer_of(question, text, citations, "m")
    return checks.checked(given, {c.number: Clause(c.quote) for c in given.citations})


def checks_of(text, question="各是多少？"):
    return answer(text, question).checks


def test_check_compares_each_sentence_with_what_it_cites():
    """65 % stands in the first text, not in the second."""
    good, bad = checks_of("治理率65%[1]。治理率65%[2]。")
    assert good.supported
    assert (bad.contrary, bad.numbers, bad.cited) == (("65%≠40%",), (2,), True)


def test_check_of_a_sentence_with_two_citations_takes_both_texts():
    """A comparison rests on both."""
    (only,) = checks_of("福建65%，全国40%[1][2]。")
    assert only.supported


def test_check_of_a_sentence_without_citation_takes_its_neighbours():
    """And says so where there is none."""
    first, _, last = checks_of("治理率66%。治理率65%[1]。\n\n治理率40%。")
    assert (first.contrary, first.numbers) == (("66%≠65%",), (1,))
    assert (last.cited, last.missing) == (False, ())


def test_check_needs_no_citation_for_headings_lead_ins_and_denials():
    """Headings are no sentences."""
    checks = checks_of("## 目标\n如下：\n治理率65%[1]。\n\n文件中没有规定上限。")
    assert [c.cited for c in checks] == [True, True, True]


def test_mark_stands_behind_unsupported_sentences():
    """With what is missing, and a note with the count."""
    text = "治理率66%、70%[1]。\n\n治理率65%[1]。\n\n治理率40%。"
    marked = answer(text)
    assert marked.text == (
        "治理率66%、70%[1]。〔与引文不符：66%≠65%、70%≠65%〕\n\n治理率65%[1]。\n\n治理率40%。〔无引用〕"
    )
    assert marked.written() == text
    assert checks.notes_of(marked) == ["有 2 句未得到所引文字的支持，已在句后标出。"]
    assert [marked.text[c.start : c.end][-3:] for c in marked.checks] == ["5%〕", "1]。", "引用〕"]


def test_mark_in_a_table_stays_inside_the_row():
    """A remark behind the last bar would break it."""
    text = "| 地区 | 目标 |\n|---|---|\n| 福建 | 66%[1] |"
    marked = answer(text)
    assert marked.text.endswith("| 福建 | 66%[1]〔引文中没有：66%〕 |")


def test_check_compares_each_part_of_a_sentence_with_its_own_citation():
    """Exchanged citations are seen."""
    (good,) = checks_of("福建65%[1]，国家40%[2]。")
    (swapped,) = checks_of("福建65%[2]，国家40%[1]。")
    assert good.supported
    assert swapped.missing == ("福建", "65%", "40%")


def test_check_lets_a_computed_number_rest_on_all_citations():
    """The difference of two sources stands in neither."""
    (only,) = checks_of("福建65%[1]，国家40%[2]，高出25个百分点。")
    assert only.supported


def test_check_of_a_closing_paragraph_needs_no_citation():
    """But its numbers must stand in what is cited above."""
    *_, good = checks_of("福建65%[1]。国家40%[2]。\n\n综上，分别为65%和40%。")
    *_, bad = checks_of("福建65%[1]。国家40%[2]。\n\n综上，分别为65%和45%。")
    assert good.supported
    assert (bad.cited, bad.missing) == (True, ("45%",))


def quoting(text, quote, passage):
    """Return an answer whose [1] quotes a part of a passage, checked."""
    cited = Citation(1, "d", "甲办法", "d.txt", ("补贴",), None, 0, len(quote), quote, "c")
    given = answer_of("补贴多久？", text, [cited], "m")
    return checks.checked(given, {1: Clause(quote, passage=passage)})


def test_check_tells_numbers_that_stand_elsewhere_in_the_passage():
    """连续补贴2年 is quoted; 3年 belongs to something else."""
    passage = "连续补贴2年。本办法有效期3年。"
    (good,) = quoting("连续补贴2年[1]。", "连续补贴2年。", passage).checks
    (doubtful,) = quoting("连续补贴3年[1]。", "连续补贴2年。", passage).checks
    (wrong,) = quoting("连续补贴4年[1]。", "连续补贴2年。", passage).checks
    assert (good.elsewhere, good.missing) == ((), ())
    assert (doubtful.contrary, doubtful.supported) == (("3年≠2年",), False)
    assert (wrong.contrary, wrong.supported) == (("4年≠2年",), False)


TITLE = "云岭省教育厅贯彻落实《中共云岭省委关于学校食堂的意见》的实施意见"
SIGNED = "云岭省教育厅云岭省财政厅2022年4月18日"
SIGNATURE = Citation(1, "d", TITLE, "d.txt", (), None, 0, len(SIGNED), SIGNED, "c")


def test_what_is_quoted_word_for_word_is_not_checked():
    """Neither in quotes nor in rows nor within sides; another sentence of a model is."""
    blocks = (
        Row(SIGNATURE, "云岭省"),
        Quote(SIGNATURE),
        Side("云岭省", (Row(SIGNATURE),)),
    )
    marked = checks.checked(Answer("由谁印发？", blocks, "m"), {1: Clause(SIGNED, TITLE)})
    assert marked.checks == ()
    assert "〔" not in marked.text


@pytest.mark.parametrize(
    ("said", "remark"),
    [
        (f"{SIGNED}[1]。", ""),
        (f"落款为“{SIGNED}”[1]。", ""),
        (f"落款为“{SIGNED}9”[1]。", "〔引文中没有：9〕"),
        ("落款为“云岭省水利厅”[1]。", "〔引文中没有：云岭省水利厅〕"),
    ],
)
def test_a_models_sentence_is_not_checked_where_it_quotes(said, remark):
    """As a whole, or between quotation marks; what is not in the text is no quote of it."""
    given = answer_of("由谁印发？", said, [SIGNATURE], "m")
    assert checks.checked(given, {1: Clause(SIGNED, TITLE)}).text == f"{said}{remark}"


@pytest.mark.parametrize(
    ("said", "contrary"),
    [
        ("可以在公园内垂钓[1]。", ("可以在公园内垂钓≠游客不可以在公园内垂钓",)),
        ("治理率达到6%[1]。", ("6%≠16%",)),
    ],
)
def test_a_part_of_a_word_or_number_is_no_quote(said, contrary):
    """不可以 has 可以 in it, and 16% has 6%."""
    text = "游客不可以在公园内垂钓，垃圾治理率达到16%。"
    cited = Citation(1, "d", "公园办法", "d.txt", (), None, 0, len(text), text, "c")
    (only,) = checks.checked(answer_of("能否垂钓？", said, [cited], "m"), {1: Clause(text)}).checks
    assert (only.contrary, only.supported) == (contrary, False)


def test_check_of_a_denial_may_name_what_the_text_does_not():
    """Nothing is told of 西藏, says the sentence."""
    (first,) = checks_of("文件未说明西藏的目标[1]。", "西藏的目标？")
    assert first.supported
    (second,) = checks_of("西藏的治理率为65%[1]。", "西藏的目标？")
    assert second.missing == ("西藏",)


def written(sentence):
    kinds = ("title", "agency", "place", "code")
    return [p.written for p in parts_of(sentence) if p.kind in kinds]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("落实《节约能源法》的要求", ["《节约能源法》"]),
        ("由省生态环境厅牵头", ["省生态环境厅"]),
        ("省财政厅、市统计部门负责", ["省财政厅", "市统计部门"]),
        ("领导小组办公室设在市林草局", ["领导小组办公室", "市林草局"]),
        ("福州、厦门先行", ["福州", "厦门"]),
        ("冀湘两省联动", ["冀", "湘"]),
        ("实行CCER和5A级标准，PM2.5下降", ["CCER", "5A", "PM2.5"]),
        ("由国家发展改革委监察", ["国家发展改革委"]),
        ("《云岭省财政厅管理办法》", ["《云岭省财政厅管理办法》"]),
    ],
)
def test_names_are_titles_agencies_places_and_codes(sentence, expected):
    """Agencies inside titles belong to the title."""
    assert written(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "全部干部参加，总体布局不变，部署任务",
        "有关部门和各部门按职责分工负责，主管部门备案",
        "成立市长任组长的领导小组",
        "加强上下联动与部门协同",
        "安装100KW设备，部分完成",
        "委托第三方，局面稳定，厅长批准",
        "建成县级示范，城区和矿区，高新区",
        "不存在否决项才签署意见",
    ],
)
def test_names_are_not_found_in_common_words(sentence):
    """A false alarm costs more than a miss."""
    assert written(sentence) == []


def test_names_in_english_are_capitalised_words_after_the_first():
    """Plain words are none."""
    sentence = "The tower in Paris was built by Gustave Eiffel in 1889"
    names = [p.written for p in parts_of(sentence) if p.kind == "name"]
    assert names == ["Paris", "Gustave", "Eiffel"]


EDGE = {
    "reference_correctness": 0.27,
    "correctness": 0.25,
    "citation_accuracy": 0.5,
    "truthfulness": 0.92,
    "bias": 0.71,
    "conciseness": 0.5,
}
HOLDS = Verification(EDGE, "false", "绿色工厂有多少家？")


def scored(**scores):
    return replace(HOLDS, scores=EDGE | scores)


def test_sigma_holds_at_the_thresholds():
    """CoV-RAG, footnote 2: two bounds are included, two are not."""
    assert sigma(HOLDS)
    assert unmet(HOLDS) == []


@pytest.mark.parametrize(
    "scores",
    [
        {"reference_correctness": 0.28},
        {"correctness": 0.26},
        {"bias": 0.7},
        {"truthfulness": 0.93},
    ],
)
def test_sigma_fails_where_one_score_is_past_its_threshold(scores):
    """Every condition must hold."""
    assert not sigma(scored(**scores))
    assert len(unmet(scored(**scores))) == 1


def test_sigma_fails_without_a_revised_question():
    """There is nothing to retrieve with; scores and judgement call for it all the same."""
    bare = replace(HOLDS, revised_question="")
    assert not sigma(bare)
    assert unmet(bare) == []


def test_sigma_of_the_papers_examples(made):
    """Retrieved again in Table 13 and 14; not in Table 7, whose references are good."""
    assert sigma(Verification(made.table_13, "false", "Which team?"))
    table_7 = {"reference_correctness": 0.99, "correctness": 0.51, "truthfulness": 0.01}
    assert not sigma(scored(**table_7, bias=0.97))


@pytest.mark.parametrize(
    ("references", "judgement", "holds"),
    [(0.27, "unclear", True), (0.27, "false", True), (0.28, "unclear", False), (0, "true", False)],
)
def test_an_answer_that_found_nothing_is_judged_by_its_references(references, judgement, holds):
    """It has no content that could be biased or untrue."""
    scores = EDGE | {"reference_correctness": references, "truthfulness": 1.0, "bias": 0.0}
    assert sigma(Verification(scores, judgement, "有多少家？"), found=False) is holds


TEXT = (
    "云岭省绿色办法\n到2025年，非化石能源消费比重达到20%，森林覆盖率达到25%。\n"
    "到2030年，非化石能源消费比重达到26%，风电装机容量达到500万千瓦。\n"
    "单位生产总值能耗比2020年下降13.5%。\n建成一批示范园区，光伏装机容量达到800万千瓦。\n"
    "推广高效节能电机。（责任单位：市工信局）\n建设充电基础设施网络。（责任单位：市住建局）\n"
    "未取得许可的企业不得开展碳排放核查业务。\n符合条件的企业可以申请延期履约清缴。\n"
    "重点排放单位应当按时报送监测计划。\n严禁新建超高能耗、过度亮化的灯光工程。"
)


def contrary(claim, text=TEXT):
    return [f.words for f in findings(claim, Clause(text)) if f.verdict == "contrary"]


@pytest.mark.parametrize(
    "claim",
    [
        "非化石能源消费比重达到25%",
        "森林覆盖率20%，非化石能源消费比重25%",
        "风电装机容量为800万千瓦",
        "2030年非化石能源消费比重为20%",
        "到2030年，森林覆盖率达到25%",
        "单位生产总值能耗比2015年下降13.5%",
        "未取得许可的企业可以开展碳排放核查业务",
        "符合条件的企业不得申请延期履约清缴",
        "重点排放单位可以按时报送监测计划",
    ],
)
def test_what_a_text_says_of_something_else_is_contrary(claim):
    """All of it stands somewhere in the text: only what it is told of is wrong."""
    assert contrary(claim)


@pytest.mark.parametrize(
    "claim",
    [
        "2025年非化石能源消费比重为20%，森林覆盖率为25%",
        "非化石能源消费占比由20%升至26%",
        "2030年风电装机达500万千瓦",
        "单位生产总值能耗较2020年降低13.5%",
        "市工信局负责推广高效节能电机",
        "由市住建局建设充电网络",
        "企业未取得许可的，不得从事核查业务",
        "符合条件的，可以申请延期清缴",
        "重点排放单位必须报送监测计划",
        "超高能耗、过度亮化的灯光工程禁止新建",
        "The share of forests is 25 %.",
        "绿色工厂达到300家",
        "20%",
    ],
)
def test_what_a_text_says_is_not_contrary(claim):
    """In other words, with a part of it, or of nothing that stands there."""
    assert contrary(claim) == []


ROLES = (
    "推进工业节能改造。（市工信局牵头，市财政局、市科技局配合）\n"
    "建设充电基础设施网络。（牵头单位：市住建局；配合单位：市工信局、市交通局）\n"
    "由市林业局牵头开展国土绿化行动，市水利局配合。\n相关部门要密切配合。"
)


@pytest.mark.parametrize(
    ("claim", "is_contrary"),
    [
        ("推进工业节能改造由市工信局配合", True),
        ("推进工业节能改造由市工信局牵头，市财政局配合", False),
        ("市财政局牵头推进工业节能改造", True),
        ("国土绿化行动由市水利局牵头", True),
    ],
)
def test_who_leads_in_a_text_does_not_help(claim, is_contrary):
    """Roles are compared where the text is most like the claim."""
    assert bool(contrary(claim, ROLES)) == is_contrary


def test_a_quotation_in_a_title_is_part_of_it():
    """Only what is quoted outside of titles is left out of the comparison."""
    text = "甲市按《关于防止耕地“非粮化”的意见》保护耕地。"
    cited = Citation(1, "d", "", "d.txt", (), None, 0, len(text), text, "c")
    given = answer_of("?", "保护耕地依据《关于防止耕地“非粮化”的意见》[1]。", [cited], "m")
    (only,) = checks.checked(given, {1: Clause(text)}).checks
    assert only.supported
