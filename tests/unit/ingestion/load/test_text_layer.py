"""Text layers that are no text."""

import pytest

from kgrag.ingestion.load.pdf import is_garbage

PROSE = (
    "到2025年，全省单位地区生产总值能源消耗比2020年下降14%，可再生能源装机达到一半以上，"
    "重点行业能效明显提升。各地要加强组织领导，落实主体责任，完善财政支持政策，鼓励金融机构加大"
    "对节能改造项目的支持力度，推动产业园区循环化改造，建立统一规范的碳排放统计核算体系。"
    "有关部门按照职责分工负责，定期开展监督检查，确保各项任务按时完成。"
)
USED = "".join(sorted({c for c in PROSE if c.isalpha()}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("".join(chr(0xE000 + i % 70) for i in range(300)), True),
        ("推进" + "".join(chr(0xE000 + i % 70) for i in range(300)), True),
        ("第一章 总则" + "\U001001ba" * 60 + "（3）" + "加快推进节能降碳" * 6, False),
        ("加快推进重点领域节能降碳。" * 20, False),
        ("| 甲 | 12 | 3.5% |\n" * 30, False),
        ("\ue001" * 40, False),
        ("".join(chr(ord(c) + 1) if c.isalpha() else c for c in PROSE), True),
        (PROSE.translate(dict(zip(map(ord, USED), USED[7:] + USED[:7], strict=True))), True),
        (PROSE, False),
        ("王建国\n李秀英\n陈海燕\n" * 40, False),
        ("張先生說，學校應當繼續實現環境與經濟協調發展，這樣對國家對後代都負責任。" * 5, False),
    ],
    ids=["private use", "mixed", "contents", "prose", "figures", "short",
         "shifted", "exchanged", "as it is", "names", "traditional"],
)  # fmt: skip
def test_is_garbage(text, expected):
    """Private-use characters and ordinary ones that make no words are no text.

    One leader, figures, prose and lists of names are.
    """
    assert is_garbage(text) is expected
