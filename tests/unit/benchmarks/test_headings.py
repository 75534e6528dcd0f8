"""How headings are scored."""

from benchmarks.headings import parents, score


def test_parents_are_the_nearest_of_a_lower_level():
    """A level that is skipped has the next one outside for a parent."""
    assert parents([(0, 1, 1), (5, 6, 3), (9, 10, 2), (12, 13, 1)]) == {
        0: None,
        5: 0,
        9: 0,
        12: None,
    }


def test_score_counts_what_is_missed_false_and_at_the_wrong_level(capsys):
    """A heading that nobody labelled, one that is missed and one below another parent."""
    prose = "说明文字在此，各地执行。"
    text = f"一、总体要求\n（一）主要目标\n{prose}\n二、重点任务\n{prose}\n"
    second, third = text.index("（一）"), text.index("二、")
    gold = [(0, 6, 1), (second, second + 7, 1), (third + 7, third + 12, 1)]

    assert score(text, gold, show=True) == {"gold": 3, "found": 3, "right": 2, "level": 1}
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "level",
        "false",
        "missed",
    ]
