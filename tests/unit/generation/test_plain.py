import pytest

from kgrag.generation.plain import without_bold, without_talk_of_passages


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
