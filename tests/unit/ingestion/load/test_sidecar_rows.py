import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.errors import IngestionError
from kgrag.ingestion.load.sidecar import SidecarRow, sidecar_rows

TABLE = "文件,标题,日期\n甲.txt,云岭省节能规划,2022-03-05\n乙.txt,青川市实施方案,2023\n"


def rows(text: str | bytes, name: str = "metadata.csv") -> list[SidecarRow]:
    """Return the rows of a sidecar file."""
    data = text if isinstance(text, bytes) else text.encode()
    return list(sidecar_rows(data, name=name))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk", "utf-16"])
def test_a_table_is_read_as_sheets_save_it(encoding):
    """Chinese Excel writes GBK, others UTF-8 with a mark."""
    assert rows(TABLE.encode(encoding)) == [
        SidecarRow(2, "甲.txt", (("标题", "云岭省节能规划"), ("日期", "2022-03-05"))),
        SidecarRow(3, "乙.txt", (("标题", "青川市实施方案"), ("日期", "2023"))),
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_table_may_be_divided_otherwise(delimiter, end):
    """As the first row is; blank lines and rows count as lines and are none."""
    text = f"file{delimiter}title\n\na.txt{delimiter}甲\n{delimiter}\nb.txt{delimiter}乙\n"

    found = rows(text.replace("\n", end))

    assert [(row.line, row.file, dict(row.values)) for row in found] == [
        (3, "a.txt", {"title": "甲"}),
        (5, "b.txt", {"title": "乙"}),
    ]


def test_a_value_may_hold_what_divides_and_stand_on_lines():
    """In quotation marks."""
    found = rows('file,title\na,"甲,\n乙"\nb,丙\n')

    assert [(row.line, row.file, row.values[0][1]) for row in found] == [
        (2, "a", "甲,\n乙"),
        (4, "b", "丙"),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name,title\na.txt,甲\n", {1: "no column says which file"}),
        ("file,title\na,甲,乙\nb,丙\n", {2: "3 values where the first row has 2", 3: ""}),
        ("file,title\n,甲\nb,丙,\n", {2: "names no file", 3: ""}),
        ('file,title\n"a,甲\nb,丙\nc"d\n', {2: "quotation marks", 3: "", 4: ""}),
        ('file,title\na,"甲"乙\nb,丙\n', {2: "quotation marks", 3: ""}),
        ('file,title\na,"甲\nb,"丙\nc,丁', {2: "quotation marks", 3: "quotation marks", 4: ""}),
        (f"file,title\na,{'x' * 200_000}\nb,丙", {2: "field larger", 3: ""}),
    ],
)
def test_a_broken_row_is_told_and_the_rest_goes_on(text, told):
    """With its line and what to do."""
    found = {row.line: row.problem for row in rows(text)}

    assert found.keys() == told.keys()
    assert all(
        bool(found[line]) == bool(what) and what in found[line] for line, what in told.items()
    )


def test_records_are_read_by_line():
    """Values as they are; a broken line is told."""
    text = '{"文件": "a.txt", "issuer": ["甲", "乙"], "date": 2022}\n\n{"file": \n[]\n{"id": "1"}\n'
    first, *others = rows(text.encode("gbk"), "metadata.jsonl")

    assert first == SidecarRow(1, "a.txt", (("issuer", ["甲", "乙"]), ("date", 2022)))
    assert [(row.line, row.problem[:12]) for row in others] == [
        (3, "not JSON (Ex"),
        (4, "is no object"),
        (5, "names no fil"),
    ]


def test_what_is_no_text_is_refused():
    """As any file that should be one."""
    with pytest.raises(IngestionError, match="PDF"):
        rows(b"%PDF-1.4 \x00\xff")


@given(st.text(alphabet='"file,;\n\r\t甲\x00{}[]:\\', max_size=200) | st.binary(max_size=200))
def test_rows_are_whole_or_broken_whatever_the_file(text):
    """Nothing is raised but that it is no text, and lines are those of the file."""
    for name in ("metadata.csv", "metadata.jsonl"):
        try:
            found = rows(text, name)
        except IngestionError:
            continue
        assert all(bool(row.file) != bool(row.problem) for row in found)
        assert [row.line for row in found] == sorted(row.line for row in found)
