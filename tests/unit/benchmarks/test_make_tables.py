"""Made tables: the same for a seed, and written as they are labelled."""

from pathlib import Path
from random import Random

import docx
import lxml.html
import pytest

from benchmarks.made_tables.documents import make_documents
from benchmarks.made_tables.html import html_page
from benchmarks.made_tables.parts import Cell, MadeDocument, Table
from benchmarks.made_tables.word import write_word
from benchmarks.make_tables import digest, labels

DOCUMENTS = make_documents(5, 30)


def all_labels(documents: list[MadeDocument]) -> list[dict[str, object]]:
    return [label for document in documents for label in labels(document)]


def test_the_same_seed_gives_the_same_labels() -> None:
    """A seed is all that need be kept of a set; another seed gives another."""
    assert all_labels(make_documents(5, 30)) == all_labels(DOCUMENTS)
    assert all_labels(make_documents(6, 30)) != all_labels(DOCUMENTS)


def test_a_third_of_the_tables_is_of_each_format_and_both_halves_have_some() -> None:
    """30 tables are ten of each format."""
    made = all_labels(DOCUMENTS)

    forms = [str(label["file"]).split("/")[0] for label in made]
    assert {form: forms.count(form) for form in forms} == {"pdf": 10, "docx": 10, "html": 10}
    assert {label["half"] for label in made} == {"tune", "test"}


def test_some_documents_have_no_table() -> None:
    """Boxes, letterheads, signatures, contents and columns: five of a producer."""
    without = [document for document in DOCUMENTS if not document.tables]

    assert len(without) == 20
    assert all_labels(without) == []


def test_a_label_joins_header_rows_and_repeats_merged_cells() -> None:
    """The rows of a label are those of `benchmarks/labels/README.md`."""
    header = ((Cell("指标", 2), Cell("目标值", 1, 2)), (Cell("2025年"), Cell("2030年")))
    body = ((Cell("产量", 2), Cell("1"), Cell("")), (Cell("2"), Cell("3")))
    table = Table("indicators", "ruled", (*header, *body), 2, (0.4, 0.3, 0.3))

    assert table.as_read() == [
        ["指标", "目标值2025年", "目标值2030年"],
        ["产量", "1", ""],
        ["产量", "2", "3"],
    ]


@pytest.mark.parametrize("name", ["docx001", "docx002", "docx003", "docx004", "docx005"])
def test_a_word_file_read_by_its_library_has_the_labelled_cells(tmp_path: Path, name: str) -> None:
    """python-docx repeats merged cells, as labels do; the header's rows are joined here."""
    document = next(document for document in DOCUMENTS if document.name == name)
    write_word(document, tmp_path / "made.docx")
    tables = docx.Document(str(tmp_path / "made.docx")).tables

    assert len(tables) == len(document.tables)
    for table, made, label in zip(tables, document.tables, labels(document), strict=True):
        rows = [[cell.text for cell in row.cells] for row in table.rows]
        columns = zip(*rows[: made.n_header], strict=True)
        rows[: made.n_header] = [["".join(dict.fromkeys(column)) for column in columns]]
        assert [[digest(text) for text in row] for row in rows] == label["rows"]


def test_a_web_page_has_each_cell_once_in_the_order_of_rows() -> None:
    """What spans cover is absent from the source."""
    document = next(document for document in DOCUMENTS if document.name == "html001")
    page = lxml.html.fromstring(html_page(document, Random(1)))

    rows = [[c.text_content().strip() for c in row] for row in page.iterfind(".//tr")]
    made = [[cell.text for cell in row] for table in document.tables for row in table.rows]
    assert rows == made
