"""Word files as packages: strict, with macros, too large, of odd writers."""

import io
import zipfile

import pytest

from kgrag.errors import IngestionError
from kgrag.ingestion.load.docx import read_docx
from tests.fixtures.word_files import paragraph, word_file


def text_of(data: bytes) -> str:
    """Return what is read of a file."""
    return read_docx(data, name="a.docx", stem="stem").text


def test_open_package_when_the_file_is_strict():
    """ISO's strict namespaces mean the same: text, styles and formulas are read."""
    body = (
        paragraph("总则", '<w:pStyle w:val="1"/>') + "<w:p><m:oMath><m:f><m:num><m:r><m:t>1</m:t>"
    )
    body += "</m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath></w:p>"
    styles = '<w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/></w:style>'

    parsed = read_docx(
        word_file(body, parts={"styles": styles}, strict=True), name="a.docx", stem="stem"
    )

    assert parsed.text == "总则\n1/2"
    assert [segment.level for segment in parsed.segments] == [1, 0]


def test_open_package_when_it_holds_macros():
    """A file with macros is read like any other."""
    assert text_of(word_file(paragraph("正文"), macros=True)) == "正文"


def test_open_package_when_parts_are_named_otherwise():
    """Backslashes and capitals in the zip, as some writers have them, name the same parts."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(word_file(paragraph("正文")))) as old,
        zipfile.ZipFile(buffer, "w") as new,
    ):
        for path in old.namelist():
            new.writestr(path.replace("word/", "Word\\"), old.read(path))

    assert text_of(buffer.getvalue()) == "正文"


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [("MAX_BYTES", 2000, "bytes unpacked"), ("MAX_TAGS", 50, "tags and attributes")],
)
def test_tree_when_a_part_is_too_large(monkeypatch, limit, value, said):
    """A small file that would fill the memory is refused before a tree is made of it."""
    monkeypatch.setattr(f"kgrag.ingestion.load.word.package.{limit}", value)

    with pytest.raises(IngestionError, match=rf"a\.docx: has .* {said} .*split the file"):
        text_of(word_file(paragraph("正文") * 100))


@pytest.mark.parametrize("reference", ["&x;", "&y;"])
def test_tree_when_text_is_an_entity(reference):
    """It is neither expanded nor fetched, and the file is refused: no text is lost in silence."""
    data = word_file(paragraph(f"前{reference}后"))
    bomb = '<!DOCTYPE d [<!ENTITY x "甲乙"><!ENTITY y SYSTEM "file:///etc/hostname">]>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for path in old.namelist():
            lead = bomb if path == "word/document.xml" else ""
            new.writestr(path, lead + old.read(path).decode())

    with pytest.raises(IngestionError, match=f"text is replaced by an XML entity, {reference}"):
        text_of(buffer.getvalue())


def test_open_package_when_the_list_of_members_is_too_long(monkeypatch):
    """The list alone could fill the memory."""
    monkeypatch.setattr("kgrag.ingestion.load.zip_directory.MAX_DIRECTORY_BYTES", 100)

    with pytest.raises(IngestionError, match=r"a\.docx: its list of members takes"):
        text_of(word_file(paragraph("正文")))


def test_related_when_a_part_is_missing():
    """A relation that leads to nothing takes nothing away from the text."""
    data = word_file(paragraph("正文"), parts={"styles": "", "numbering": ""})
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for path in old.namelist():
            if path != "word/styles.xml":
                new.writestr(path, old.read(path))

    assert text_of(buffer.getvalue()) == "正文"
