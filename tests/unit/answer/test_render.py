"""An answer as Markdown and as HTML."""

from dataclasses import replace
from html.parser import HTMLParser

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Claim, Quote, Row, Run, Side
from kgrag.answer.citation import Citation, SentenceCheck


def cited(number, quote, title="甲方案", page=None):
    place = 10 * number
    return Citation(0, "d", title, "甲.pdf", ("一、目标",), page, place, place + 5, quote, "c")


SIDES = Answer(
    "两市目标？",
    (
        Side("甲市", (Quote(cited(1, "建*500*家。\n[7]", page=3)),)),
        Side("乙市", (Quote(replace(cited(2, "前。建。后。"), marked=(22, 24))),)),
    ),
    "extractive",
    notes=("只有<一>方",),
)
ROWS = Answer("各地？", (Row(cited(1, "达到41%"), "甲省", "甲省：41%"),), "extractive")


def test_markdown_has_citations_as_footnotes():
    """What a document says is escaped: neither its marks nor its [7] count."""
    lines = SIDES.to_markdown().splitlines()
    assert "**甲市**" in lines
    assert "- 《甲方案》 › 一、目标  " in lines
    assert "  建\\*500\\*家。  " in lines
    assert "  〔7〕[^1]" in lines
    assert "  前。**建。**后。[^2]" in lines
    assert "> 只有\\<一\\>方" in lines
    (first,) = [line for line in lines if line.startswith("[^1]: ")]
    assert "甲方案 › 一、目标 (甲.pdf，第 3 页，第 10 至 15 个字符)" in first
    assert ROWS.to_markdown().count("《甲方案》：达到41%[^1]") == 1


def test_a_models_markdown_stays_and_its_tags_do_not():
    """Its layout, too; what checks found stands behind the sentence."""
    bad = SentenceCheck(0, 11, (1,), ("600",), True)
    said = (
        Claim((Run("## 目标"),), "heading"),
        Claim((Run("**600**家", (cited(1, "500家"),)),), before="\n\n- ", checks=(bad,)),
        Claim((Run("<b>完</b>"),), before="\n"),
    )
    text = Answer("目标？", said, "m").to_markdown()
    assert "## 目标\n\n- **600**家[^1]〔引文中没有：600〕\n&lt;b>完" in text


class Tags(HTMLParser):
    """Collects tags, and what links lead to."""

    def __init__(self):
        super().__init__()
        self.tags, self.ids, self.links = [], [], []

    def handle_starttag(self, tag, attrs):
        """Keep it."""
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name == "href"]


def test_html_leads_from_marks_to_quotes():
    """Nothing of a document or question is a tag; a page is whole."""
    hostile = replace(SIDES, question="<script>alert(1)</script>")
    for answer in (hostile, ROWS):
        seen = Tags()
        seen.feed(answer.to_html())
        assert "script" not in seen.tags
        assert {link.removeprefix("#") for link in seen.links} == set(seen.ids)
        assert seen.tags[:2] == ["html", "head"]
    assert ROWS._repr_html_().count("<td>") == 3
    assert "<p>甲市：</p><p>《甲方案》 › 一、目标<br>建*500*家。<br>〔7〕<a" in SIDES._repr_html_()
    assert "前。<mark>建。</mark>后。" in SIDES._repr_html_()


def test_bold_words_of_a_draft_are_bold_and_those_of_documents_are_as_they_stand():
    said = Claim((Run("**重点**：建2**3家<b>。"),))
    assert "<b>重点</b>：建2**3家&lt;b&gt;。" in Answer("问", (said,), "m")._repr_html_()
    quoted = Quote(replace(SIDES.citations[0], quote="建**500**家。"))
    assert "建**500**家。" in Answer("问", (quoted,), "m")._repr_html_()
