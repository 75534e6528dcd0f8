from kgrag.answer.citation import Citation
from kgrag.types import Document, Heading, Segment


def test_citation_holds_quote_section_and_page_of_its_span():
    """Everything that a reader needs to find it."""
    text = "规划\n一、目标\n创建500家。"
    document = Document(
        "d",
        "规划",
        text,
        "d.pdf",
        "pdf",
        "0",
        (Segment(0, 9, "page", 1), Segment(9, 15, "page", 2)),
    )
    made = Citation.of(
        document=document,
        headings=[Heading(3, 7, 1, "一、目标")],
        span=(8, 15),
        chunk_id="d:256:0",
    )
    assert (made.quote, made.heading_path) == ("创建500家。", ("一、目标",))
    assert (made.page, made.chunk_id, made.file) == (1, "d:256:0", "d.pdf")


def test_citation_of_a_file_without_pages_has_none():
    """Paragraphs are not pages."""
    document = Document(
        "d", "规划", "甲。", "d.docx", "docx", "0", (Segment(0, 2, "paragraph", 1),)
    )
    assert Citation.of(document=document, headings=(), span=(0, 2), chunk_id="c").page is None
