from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Missing
from kgrag.answer.citation import Citation
from kgrag.verification import checks

QUOTED = {1: "福建省规划\n农村污水治理率达到65%。", 2: "国家方案\n农村污水治理率达到40%。"}


def answer(text, question="各是多少？"):
    """Return an answer with its checks, whose [1] and [2] are the texts above."""
    citations = [
        Citation(n, f"d{n}", "", "d.txt", (), None, 0, len(quote), quote, "c")
        for n, quote in QUOTED.items()
    ]
    given = Answer.of_text(question, text, citations, "m")
    return checks.checked(given, {c.number: c.quote for c in given.citations})


def checked(text, question="各是多少？"):
    return answer(text, question).checks


def test_check_compares_each_sentence_with_what_it_cites():
    """65 % stands in the first text, not in the second."""
    good, bad = checked("治理率65%[1]。治理率65%[2]。")
    assert good.supported
    assert (bad.missing, bad.numbers, bad.cited) == (("65%",), (2,), True)


def test_check_of_a_sentence_with_two_citations_takes_both_texts():
    """A comparison rests on both."""
    (only,) = checked("福建65%，全国40%[1][2]。")
    assert only.supported


def test_check_of_a_sentence_without_citation_takes_its_neighbours():
    """And says so where there is none."""
    first, _, last = checked("治理率66%。治理率65%[1]。\n\n治理率40%。")
    assert (first.missing, first.numbers) == (("66%",), (1,))
    assert (last.cited, last.missing) == (False, ())


def test_check_needs_no_citation_for_headings_lead_ins_and_denials():
    """Headings are no sentences."""
    checks = checked("## 目标\n如下：\n治理率65%[1]。\n\n文件中没有规定上限。")
    assert [c.cited for c in checks] == [True, True, True]


def test_check_of_a_number_that_leads_nowhere_is_uncited():
    """[9] is nobody's text."""
    (only,) = checked("治理率65%[9]。")
    assert (only.cited, only.numbers) == (False, ())


def test_check_of_list_numbers_sees_no_claims():
    """3. and （二） are places, not numbers."""
    assert all(c.supported for c in checked("3. 治理率65%[1]\n（二）治理率40%[2]"))


def test_check_of_no_answer_is_empty():
    """Nothing is claimed."""
    assert checks.checked(Answer("问", (Missing(),), "m"), QUOTED).checks == ()


def test_mark_stands_behind_unsupported_sentences():
    """With what is missing, and a note with the count."""
    text = "治理率66%、70%[1]。\n\n治理率65%[1]。\n\n治理率40%。"
    marked = answer(text)
    assert marked.text == (
        "治理率66%、70%[1]。〔引文中没有：66%、70%〕\n\n治理率65%[1]。\n\n治理率40%。〔无引用〕"
    )
    assert marked.written() == text
    assert checks.notes_of(marked) == ["有 2 句未得到所引文字的支持，已在句后标出。"]
    assert [marked.text[c.start : c.end][-3:] for c in marked.checks] == ["0%〕", "1]。", "引用〕"]


def test_mark_in_english_follows_the_question():
    """As all that the program says of an answer."""
    marked = answer("The rate is 66% [1]. It is 65% [1].", "Which rate?")
    assert marked.text == "The rate is 66% [1]. [not in the cited text: 66%] It is 65% [1]."


def test_mark_in_a_table_stays_inside_the_row():
    """A remark behind the last bar would break it."""
    text = "| 地区 | 目标 |\n|---|---|\n| 福建 | 66%[1] |"
    marked = answer(text)
    assert marked.text.endswith("| 福建 | 66%[1]〔引文中没有：66%〕 |")


def test_a_supported_answer_has_no_remark():
    """And no note."""
    given = answer("治理率65%[1]。")
    assert given.text == "治理率65%[1]。"
    assert checks.notes_of(given) == []


def test_check_compares_each_part_of_a_sentence_with_its_own_citation():
    """Exchanged citations are seen."""
    (good,) = checked("福建65%[1]，国家40%[2]。")
    (swapped,) = checked("福建65%[2]，国家40%[1]。")
    assert good.supported
    assert swapped.missing == ("福建", "65%", "40%")


def test_check_lets_a_computed_number_rest_on_all_citations():
    """The difference of two sources stands in neither."""
    (only,) = checked("福建65%[1]，国家40%[2]，高出25个百分点。")
    assert only.supported


def test_check_of_a_closing_paragraph_needs_no_citation():
    """But its numbers must stand in what is cited above."""
    *_, good = checked("福建65%[1]。国家40%[2]。\n\n综上，分别为65%和40%。")
    *_, bad = checked("福建65%[1]。国家40%[2]。\n\n综上，分别为65%和45%。")
    assert good.supported
    assert (bad.cited, bad.missing) == (True, ("45%",))


def quoting(text, quote, passage):
    """Return an answer whose [1] quotes a part of a passage, checked."""
    cited = Citation(1, "d", "甲办法", "d.txt", ("补贴",), None, 0, len(quote), quote, "c")
    given = Answer.of_text("补贴多久？", text, [cited], "m")
    return checks.checked(given, {1: passage})


def test_check_tells_numbers_that_stand_elsewhere_in_the_passage():
    """连续补贴2年 is quoted; 3年 belongs to something else."""
    passage = "连续补贴2年。本办法有效期3年。"
    (good,) = quoting("连续补贴2年[1]。", "连续补贴2年。", passage).checks
    (doubtful,) = quoting("连续补贴3年[1]。", "连续补贴2年。", passage).checks
    (wrong,) = quoting("连续补贴4年[1]。", "连续补贴2年。", passage).checks
    assert (good.elsewhere, good.missing) == ((), ())
    assert (doubtful.elsewhere, doubtful.missing, doubtful.supported) == (("3年",), (), True)
    assert (wrong.elsewhere, wrong.missing) == ((), ("4年",))


def test_mark_of_a_number_elsewhere_is_weaker():
    """It says where the number is not, and a note asks to look."""
    marked = quoting("连续补贴3年[1]。", "连续补贴2年。", "连续补贴2年。有效期3年。")
    assert marked.text == "连续补贴3年[1]。〔所引句中没有：3年〕"
    assert checks.notes_of(marked) == [
        "有 1 句的数字不在所引的句子里，只见于同一文段的别处，已在句后标出，请核对。"
    ]


def test_check_of_a_denial_may_name_what_the_text_does_not():
    """Nothing is told of 西藏, says the sentence."""
    (first,) = checked("文件未说明西藏的目标[1]。", "西藏的目标？")
    assert first.supported
    (second,) = checked("西藏的治理率为65%[1]。", "西藏的目标？")
    assert second.missing == ("西藏",)
