"""Texts that cannot be read: pages named with a measured share, numbers with unknown signs."""

import random

import pytest

from kgrag.ingestion.load.legible import Legibility, illegible
from kgrag.text.messages import in_language
from kgrag.types import Segment
from tests.fixtures.kit import kgrag

PROSE = (
    "到2025年，全省单位地区生产总值能源消耗比2020年下降14%，可再生能源装机达到一半以上，"
    "重点行业能效明显提升。各地要加强组织领导，落实主体责任，完善财政支持政策，鼓励金融机构加大"
    "对节能改造项目的支持力度，推动产业园区循环化改造，建立统一规范的碳排放统计核算体系。"
    "有关部门按照职责分工负责，定期开展监督检查，确保各项任务按时完成。"
)


def scanned(share, seed=1):
    """Return the prose as poor OCR has it: so much of its characters are others of it."""
    chance = random.Random(seed)
    used = [c for c in PROSE if "一" <= c <= "鿿"]
    wrong = (chance.choice(used) if c in used and chance.random() < share else c for c in PROSE)
    return "".join(wrong)


def paged(*pages):
    """Return a text with its pages."""
    text, segments = "", []
    for number, page in enumerate(pages, 1):
        segments.append(Segment(len(text), len(text) + len(page), "page", number))
        text += page + "\n"
    return text, segments


@pytest.mark.parametrize(
    ("share", "names"), [(0, False), (0.05, False), (0.4, True), (0.6, True), (1, True)]
)
def test_pages_of_poor_ocr_are_named(share, names):
    """Those that are read well are not; neighbours are put together."""
    text, segments = paged(PROSE, *(scanned(share, seed) for seed in range(3)), PROSE)
    found = illegible(text, segments)
    assert bool(found) is names
    if names:
        assert found[0].startswith("text not readable on pages 2-4: only ")
        assert in_language(found[0], "zh").startswith("第 2-4 页的文字无法阅读：只有 ")
        assert 0 <= int(str(found[0].values["percent"])) < 60


def test_private_use_and_replacement_characters_are_counted():
    """One that is repeated, as the dots of a table of contents, does not make a page unreadable."""
    garbled = "".join(chr(0xE000 + i % 40) for i in range(60)) + PROSE
    (found,) = illegible(*paged(PROSE, garbled))
    assert found.startswith(
        "text not readable on pages 2: up to 26 % of the characters are private"
    )
    assert "以 300 dpi 重新扫描" in in_language(found, "zh")
    assert illegible(PROSE * 3 + "\U001001ba" * 300, []) == []
    assert illegible("\ufffd\ue001\ue002" * 10, []) == []  # too short to judge


def test_a_text_without_pages_is_measured_whole():
    (found,) = illegible(scanned(0.6), [])
    assert found.startswith("text not readable on all pages: ")


def test_a_remedy_of_the_format_comes_first():
    """Of a PDF: what would have its pages recognised."""
    assert illegible(scanned(0.6), [], "do it")[0].endswith("; do it")


@pytest.mark.parametrize("sign", ["\U001001b0", "\uf02d", "\ufffd"])
def test_a_sign_in_a_number_is_named_and_not_guessed(sign):
    """It may be a point, a comma or a minus: only the font knows."""
    (found,) = illegible(f"下降３１{sign}０７％、２０{sign}１１％；节 A{sign}1 条", [])
    code = f"U+{ord(sign):04X}"
    assert found == (
        f"numbers with an unknown character ({code}), which only the font shows, such as "
        f"３１⟨{code}⟩０７: 2; compare them with the original"
    )
    assert illegible(f"{sign} 一、总则{sign}1", []) == []


def test_legibility_of_traditional_characters_and_lists_is_not_judged():
    """The dictionary has few words of them."""
    text = "張先生說，學校應當繼續實現環境與經濟協調發展，這樣對國家對後代都負責任。" * 5
    assert Legibility.of(text).in_words == 1
    assert Legibility.of("王建国\n李秀英\n陈海燕\n" * 40).in_words == 1


def test_ingest_and_problems_name_what_cannot_be_read(tmp_path, monkeypatch):
    """From the file to both commands, in Chinese, in a kind of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "扫描.txt").write_text("云岭省节能规划\n" + scanned(0.6) * 3, "utf-8")
    (tmp_path / "数字.txt").write_text(f"云岭省规划\n{PROSE}下降３１\U001001b0７４％。", "utf-8")
    done = kgrag("ingest", "扫描.txt", "数字.txt", language="zh", code=0)
    assert "提示：扫描.txt：全文的文字无法阅读：只有 " in done.stderr
    assert "提示：数字.txt：1 处数字中有未知字符（U+1001B0，只有原字体能显示），" in done.stderr
    assert "如 ３１⟨U+1001B0⟩７４；请对照原件核对" in done.stderr
    assert kgrag("problems", code=0).stdout.count("文字无法辨认 ") == 2
    assert "illegible " in kgrag("problems", "--english", code=0).stdout


CODES = {c: chr(0x21 + n % 94) for n, c in enumerate(dict.fromkeys(PROSE)) if c > "\u3000"}


@pytest.mark.parametrize(
    "text",
    [
        "".join(CODES.get(c, c) for c in PROSE),
        "".join(chr(0x7280 + ord(c) % 96) for c in "ICS 27.010 GB/T energy performance" * 4),
    ],
    ids=["Chinese as codes", "letters as rare characters"],
)
def test_pages_of_a_font_with_a_wrong_map_are_named(text):
    """Marks of ASCII side by side, and rare characters alone, are no text: each page is named."""
    warnings = illegible(*paged(text, PROSE, text))

    assert Legibility.of(text).is_garbage
    assert ["pages 1, 3" in warning for warning in warnings] == [True]


def test_text_with_rare_characters_and_marks_is_legible():
    """Names of metals, and addresses, are text."""
    text = (
        "从事钇、铽、镝、镱开采的企业应当报送材料（见[附件](https://a.b/c?d=e)），逾期不予受理。"
        * 3
    )

    assert not Legibility.of(text).is_garbage
    assert illegible(*paged(text)) == []
