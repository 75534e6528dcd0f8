import pytest

from kgrag.text.answer_text import (
    MARK,
    NOT_FOUND,
    is_denial,
    says_not_found,
    statements,
    without_marks,
)


def read(text):
    return [(s.text.strip(" 。\n"), s.numbers, s.rests_on) for s in statements(text)]


def test_statements_take_the_marks_before_and_behind_their_full_stop():
    """Models write both 甲[1]。 and 甲。[1]."""
    assert read("甲[1]。乙。[2][3]丙。") == [
        ("甲", (1,), (1,)),
        ("乙", (2, 3), (2, 3)),
        ("丙", (), ()),
    ]


def test_statement_without_marks_rests_on_the_next_cited_one_of_its_block_only():
    """A blank line or a heading ends what one mark stands for."""
    assert [s.rests_on for s in statements("甲。乙。[2]丙。\n\n丁。")] == [(2,), (2,), (), ()]
    assert [s.rests_on for s in statements("甲。\n## 标题\n乙。[2]")] == [(), (), (2,)]


def test_lead_in_rests_on_its_whole_list():
    """下列目标： is true of every item."""
    lead, *items = statements("各地目标如下：\n- 福建65%[2]\n- 河南45%[3]")
    assert (lead.form, lead.rests_on) == ("lead-in", (2, 3))
    assert [item.rests_on for item in items] == [(2,), (3,)]


def test_statement_offsets_hold_the_sentence_and_its_marks():
    """Remarks are put behind them."""
    text = "1. 甲目标。 [1]\n（二）乙目标[2]；\n"
    assert [text[s.start : s.end] for s in statements(text)] == ["甲目标。 [1]", "乙目标[2]；"]


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("## 一、目标\n甲[1]。", ["heading", "claim"]),
        ("**主要目标**\n甲[1]。", ["heading", "claim"]),
        ("| 地区 | 目标 |\n|---|---|\n| 福建 | 65%[1] |", ["heading", "claim"]),
        ("目标如下：\n甲[1]。", ["lead-in", "claim"]),
        ("甲[1]。文件中没有规定乙的上限。", ["claim", "denial"]),
        ("---\n\n", []),
    ],
)
def test_statements_know_what_needs_no_citation(text, forms):
    """Headings, the heads of tables, lead-ins and denials; rules are no sentences."""
    assert [s.form for s in statements(text)] == forms


def test_statements_of_decimals_list_numbers_and_document_numbers_are_not_cut():
    """1.5 is no list number, and 国发[2021]4号 no citation."""
    assert read("1.5倍。[1]") == [("1.5倍", (1,), (1,))]
    assert read("根据国发[21]4号文[1]。") == [("根据国发[21]4号文", (1,), (1,))]


def test_statements_of_a_long_text_take_linear_time():
    """An answer of 200,000 characters is read at once."""
    assert len(statements("甲目标。[1]\n" * 20_000)) == 20_000


@pytest.mark.parametrize(
    "mark",
    ["[1]", "【1】", "［１］", "[^1]", "[1,2]", "[1-3]", "[1、3]", "[文档1]", "[文档1，文档2]"],
)
def test_mark_knows_every_form_of_a_citation(mark):
    """Models were trained on many."""
    assert MARK.fullmatch(mark)


@pytest.mark.parametrize(
    "mark", ["【1†来源】", "[Source:3]", "[第2段]", "[来源： 1]", "[Doc 1, Doc 2]"]
)
def test_mark_knows_citations_with_words(mark):
    """What a passage is called differs, too."""
    assert MARK.fullmatch(mark)


@pytest.mark.parametrize("text", ["[2021]4号", "[21]号", "[a]", "[ ]", "〔3〕", "(1)", "[图1]"])
def test_mark_leaves_other_brackets(text):
    """Document numbers, check boxes and figures are no citations."""
    assert not MARK.search(text)


def test_without_marks_leaves_nothing_that_is_read_as_a_citation():
    """A footnote in a document cannot be mistaken for a passage's number."""
    text = without_marks("甲[7]，乙【8】，丙[9-11]")
    assert text == "甲〔7〕，乙〔8〕，丙〔9-11〕"
    assert not MARK.search(text)


@pytest.mark.parametrize(
    "text",
    [
        NOT_FOUND["zh"],
        NOT_FOUND["en"],
        "在这些文件中未找到答案。[1]",
        "资料中未提及补贴标准。",
        "根据所给资料，无法确定补贴金额。",
        "不确定",
        "The documents do not mention a limit.",
        "The answer is not mentioned in the passages [2].",
        "I cannot determine this from the context.",
        "文件中没有规定奖励[1]。文件只讲了认证。",
    ],
)
def test_says_not_found_knows_other_words_for_it(text):
    """Models rarely keep to the sentence that they are told."""
    assert says_not_found(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "每亩补贴500元[1]。文件中没有规定上限。",
        "文件中没有规定上限。每亩补贴500元[1]。",
        "没有找到相关信息，但文件提到500家[1]。",
        "国务院主管部门尚未制定标准的，可以采用其他部门的标准[1]。",
        "文件规定，没有提供材料的不予受理[1]。",
        "无法确定责任的，由县政府负责[1]。",
        "The documents are not to be disclosed [1].",
    ],
)
def test_says_not_found_keeps_answers_that_hold_such_words(text):
    """What a provision says of a case is an answer; so is a part of one."""
    assert not says_not_found(text)


def test_is_denial_of_a_cited_sentence_needs_the_documents_as_its_subject():
    """Whoever cites a passage for 无法确定 quotes it."""
    assert is_denial("文件未规定年龄上限[1]。")
    assert not is_denial("数据无法确定时取0.45[1]。")


@pytest.mark.parametrize(
    "sentence",
    [
        "河北省：文段没有说明绿色工厂的数量。",
        "文段中未见具体罚款数额。",
        "广西：文中没有提到2030年的目标。",
        "上述文段均未涉及。",
        "所给文段中未见相关内容。",
        "按照文段，未规定上限。",
        "河北省：未说明。",
        "关于上限，未作说明",
        "文段[1][2]均未说明金额。",
        "具体金额未明确。",
        "The passages do not state a limit.",
        "No passage states the limit.",
        "The limit is not stated.",
    ],
)
def test_is_denial_knows_the_words_of_the_prompts(sentence):
    """文段 is what the model is told to call them."""
    assert is_denial(sentence)
    assert says_not_found(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "未按规定提供材料的，处五万元罚款。",
        "未明确责任单位的，由市政府确定。",
        "申请人未说明理由的不予受理。",
        "本条例未规定的事项，适用其他法律。",
        "项目单位未提供信息的，由主管部门责令改正。",
        "不确定性产生的原因如下。",
        "河南省300家[1]，文段未说明陕西省的数量。",
        "陕西省100个以上[2]，未单列绿色工厂数量。",
    ],
)
def test_is_denial_leaves_provisions_and_sentences_that_tell_something(sentence):
    """What others fail to do, and what is cited before."""
    assert not is_denial(sentence)
    assert not says_not_found(sentence)


def test_closing_paragraph_rests_on_all_that_is_cited_above():
    """It repeats; only a last paragraph without [n] is one."""
    text = "甲300家[1]。\n乙100个[3]。\n\n总体来看，甲300家。乙100个。"
    *_, first, second = statements(text)
    assert [(s.form, s.rests_on) for s in (first, second)] == [("closing", (1, 3))] * 2
    assert [s.form for s in statements("综上，甲300家。")] == ["claim"]
    assert statements("甲[1]。\n\n综上，乙[2]。")[-1].form == "claim"


def test_mark_knows_the_word_of_the_prompts():
    """[文段1] is [1]."""
    assert MARK.fullmatch("[文段1]")
    assert MARK.fullmatch("【文段1、文段2】")


TELLING = [
    "文段没有说明2030年的目标，只写明到2025年建成充电桩16万个以上[1]。",
    "文段未给出2030年目标，仅提到2025年建成充电桩16万个以上[1]。",
    "文段没有直接规定补贴金额，但规定由财政部门另行制定办法[1]。",
    "虽然文段未提及2030年，但到2025年要建成16万个以上[1]。",
    "文件没有规定具体比例，由各市自行确定[1]。",
    "文中未明确牵头单位，配合单位为市发展改革委[1]。",
    "资料没有提到全省的目标，不过甲市要建成300家绿色工厂[1]。",
    "除到2025年建成16万个以上外，文段没有说明其他年份的目标[1]。",
    "文段只写明2025年达到16万个以上，没有说明2030年的目标[1]。",
    "文段没有说明2030年的目标（2025年为16万个以上）[1]。",
    "文段没有列出全部企业，列出的有甲公司、乙公司[1]。",
    "文件未明确期限：办法自印发之日起施行[1]。",
    "文段没有给出绝对数量，给出的是占比，即不低于30%[1]。",
    "上述文件均未提及氢能补贴标准，仅要求各区制定配套政策[1][2]。",
    "文中没有提及处罚金额，只规定责令限期改正[1]。",
    "The passages do not state a target for 2030; the plan sets 160,000 by 2025 [1].",
]
SILENT = [
    "文件中没有规定补贴金额[1]。",
    "根据所给文段，文件未提及补贴金额[1]。",
    "文段[1]没有说明2030年的目标。",
    "关于2030年的目标，文段没有说明[1]。",
    "2030年的目标，文段没有说明[1]。",
    "文段没有说明2030年的目标，因此无法回答[1]。",
    "文段没有说明目标、期限和牵头单位[1]。",
    "文段没有说明2030年的目标，也没有说明2035年的目标[1]。",
    "文段没有说明2030年的目标，建议查阅原文件[1]。",
    "对于补贴标准，所给资料未作规定[1]。",
    "The documents do not mention a subsidy [1].",
]


@pytest.mark.parametrize("text", TELLING)
def test_denial_that_tells_something_with_a_citation_is_an_answer(text):
    """What is not stated and what is stand in one sentence: the second part is kept."""
    assert not says_not_found(text)
    assert [s.form for s in statements(text) if s.numbers] == ["claim"]


@pytest.mark.parametrize("text", SILENT)
def test_denial_that_tells_nothing_else_is_no_answer(text):
    """An [n] behind it, a topic before it or an advice after it change nothing."""
    assert says_not_found(text)
