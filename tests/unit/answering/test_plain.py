import pytest

from kgrag.answering.draft import without_bold, without_courtesies, without_talk_of_passages


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("根据文段[2]，目标是500家。", "目标是500家[2]。"),
        ("据文段[1]和[2]，目标是500家；资金另议。", "目标是500家[1][2]；资金另议。"),
        ("根据[2]，目标是500家", "目标是500家[2]"),
        (
            "- 如文段2所述，目标是500家。\n- 资金300万元[1]。",
            "- 目标是500家[2]。\n- 资金300万元[1]。",
        ),
        ("目标明确[1]。文段[2]中明确提到，资金300万元[2]。", "目标明确[1]。资金300万元[2]。"),
        ("According to passage [2], 500 plants are planned.", "500 plants are planned[2]."),
        (
            "Done [1]. Source 2 says that it costs 1.5 million.",
            "Done [1]. it costs 1.5 million[2].",
        ),
    ],
)
def test_talk_of_passages_becomes_a_citation_behind_the_sentence(text, plain):
    """A reader does not know what a passage is."""
    assert without_talk_of_passages(text, {1, 2}) == plain


@pytest.mark.parametrize(
    "text",
    [
        "根据《甲规划》，目标是500家[1]。",
        "根据文段[9]，目标是500家。",
        "根据2条规定，不予补贴[1]。",
        "依据1、2两项，另行通知[1]。",
        "目标是500家，见文段[2]",
        "文段[2]。",
        "资料显示，目标是500家[1]。",
    ],
)
def test_other_words_stay(text):
    """Documents, numbers that are no passages', and what would leave nothing behind."""
    assert without_talk_of_passages(text, {1, 2}) == text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("目标是**500家**[1]。", "目标是500家[1]。"),
        ("**一、目标**\n500家[1]。", "一、目标：\n500家[1]。"),
        ("**Aims:**\n500 [1].", "Aims:\n500 [1]."),
        ("**甲**和**乙**", "甲和乙"),
        ("2**3 = 8", "2**3 = 8"),
    ],
)
def test_bold_type_is_left_out(text, plain):
    """A line of its own in bold becomes a lead-in, which needs no citation."""
    assert without_bold(text) == plain


@pytest.mark.parametrize(
    "text",
    [
        "好的，目标是500家[1]。希望以上整理对您有帮助！",
        "当然，以下是根据文段整理的回答：\n目标是500家[1]。\n\n如果您还有其他问题，欢迎随时提问。",
        "根据您提供的文段，现回答如下：\n目标是500家[1]。\n希望这些信息对您有所帮助。如需进一步了解，请告诉我。",
        "您好！根据所给资料，回答如下：目标是500家[1]。祝您工作顺利！",
        "目标是500家[1]。\n\n希望对您有帮助",
    ],
)
def test_courtesies_are_left_out(text):
    """What is said to the reader before and behind the answer."""
    assert without_courtesies(text) == "目标是500家[1]。"


@pytest.mark.parametrize(
    "text",
    [
        "好的经验包括建立台账[1]。",
        "可以，企业可以自行申报[1]。",
        "目标是500家[1]。如果企业对结果有异议，可以随时提出申诉[1]。",
        "企业如需延期，应当告知主管部门[1]。",
        "以下是主要措施：\n- 甲[1]",
        "好的",
    ],
)
def test_answers_are_no_courtesies(text):
    """可以 answers; 如果有异议 is a provision; something must be left."""
    assert without_courtesies(text) == text
