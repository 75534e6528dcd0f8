"""Files that LibreOffice opens: with a program in its place, and with itself where it is."""

import io
import shutil
import subprocess
from pathlib import Path

import docx
import pytest

from kgrag.errors import IngestionError
from kgrag.ingestion.load import Source, load
from kgrag.ingestion.load.docx import read_docx
from kgrag.ingestion.load.libreoffice import OLE, PROGRAM_VARIABLE, as_office
from tests.fixtures.word_files import paragraph, word_file

RTF = rb"{\rtf1 x}"


def ole(stream: str) -> bytes:
    """Return the beginning of an OLE file: header, and the names in its list of streams."""
    header = bytearray(OLE.ljust(512, b"\0"))
    header[30] = 9  # sectors of 2**9 bytes; the list is the first
    return bytes(header) + "".join(("Root Entry".ljust(64), stream)).encode("utf-16-le")


OLD_WORD = ole("WordDocument")


def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str) -> Path:
    """Put a program in LibreOffice's place; `$out` is its output, `$in` its input."""
    path = tmp_path / "soffice"
    head = '#!/bin/sh\nwhile [ $# -gt 1 ]; do [ "$1" = --outdir ] && out="$2"; shift; done\n'
    path.write_text(f'{head}in="$1"; mkdir -p "$out"\n{lines}\n')
    path.chmod(0o755)
    monkeypatch.setenv(PROGRAM_VARIABLE, str(path))
    return path


@pytest.mark.parametrize("suffix", ["doc", "wps", "rtf", "odt"])
def test_load_when_the_file_goes_through_libreoffice(tmp_path, monkeypatch, suffix):
    """What it makes is read, and a warning says the way."""
    made = tmp_path / "made.docx"
    made.write_bytes(word_file(paragraph("关于节能的通知")))
    program(tmp_path, monkeypatch, f'[ -s "$in" ] && cp {made} "$out/in.docx"')
    file = tmp_path / f"通知.{suffix}"
    file.write_bytes(RTF)

    document = load(Source(file))

    assert (document.text, document.media_type) == ("关于节能的通知", suffix)
    assert document.warnings == (f"read through LibreOffice, from .{suffix}",)


def test_read_docx_when_an_old_file_has_a_new_name(tmp_path, monkeypatch):
    """Its first bytes tell; it takes the same way."""
    made = tmp_path / "made.docx"
    made.write_bytes(word_file(paragraph("正文")))
    program(tmp_path, monkeypatch, f'case "$in" in *.doc) cp {made} "$out/in.docx";; esac')

    assert read_docx(OLD_WORD, name="a.docx", stem="a").text == "正文"


def test_as_docx_when_libreoffice_is_missing(monkeypatch, tmp_path):
    """The remedy is named."""
    monkeypatch.setenv(PROGRAM_VARIABLE, str(tmp_path / "none"))

    with pytest.raises(IngestionError, match=r"a\.doc: .*install it .*save the file as \.docx"):
        as_office(RTF, suffix="doc", name="a.doc")


def test_as_docx_when_nothing_comes_of_it(tmp_path, monkeypatch):
    """LibreOffice ends well also where it can read nothing."""
    program(tmp_path, monkeypatch, "exit 0")

    with pytest.raises(IngestionError, match=r"a\.doc: LibreOffice cannot open it"):
        as_office(RTF, suffix="doc", name="a.doc")


def test_as_docx_when_it_takes_too_long(tmp_path, monkeypatch):
    """It is ended, and what it has started with it."""
    program(tmp_path, monkeypatch, f"sleep 60 & echo $! > {tmp_path}/child; wait")

    with pytest.raises(IngestionError, match=r"a\.doc: LibreOffice took more than 1 s"):
        as_office(RTF, suffix="doc", name="a.doc", time_s=1)

    child = (tmp_path / "child").read_text().strip()
    state = subprocess.run(["ps", "-o", "stat=", "-p", child], capture_output=True, text=True)
    assert state.stdout.strip()[:1] in ("", "Z")


def test_as_docx_when_the_file_is_locked(tmp_path, monkeypatch):
    """An encrypted file is not handed on."""
    program(tmp_path, monkeypatch, "exit 0")
    locked = ole("EncryptedPackage")

    with pytest.raises(IngestionError, match=r"a\.doc: is locked with a password"):
        as_office(locked, suffix="doc", name="a.doc")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (bytes(range(256)) * 20, "is no .doc file: it does not begin as Word"),
        ("关于节能的通知".encode(), "is no .doc file: it does not begin as Word"),
        (b"%PDF-1.7", r"give it the ending of what it is \(\.txt, \.pdf\)"),
        (OLE, "is damaged or cut short; copy or download it again"),
        (OLE + bytes(range(256)) * 20, "is damaged or cut short"),
        (OLD_WORD[:512], "is damaged or cut short"),
    ],
)
def test_as_docx_when_the_file_is_none_that_libreoffice_is_to_read(
    tmp_path, monkeypatch, data, said
):
    """It would take them for plain text: nothing is handed on to it."""
    program(tmp_path, monkeypatch, f'cp "$in" "$out/in.docx"; touch {tmp_path}/asked')

    with pytest.raises(IngestionError, match=rf"a\.doc: .*{said}"):
        as_office(data, suffix="doc", name="a.doc")

    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize(
    "data", [OLD_WORD, RTF, b"PK\x03\x04", b"\xef\xbb\xbf<?xml ?>", b"\n<HTML>"]
)
def test_as_docx_hands_on_what_office_programs_write(tmp_path, monkeypatch, data):
    """Whichever of the endings it has: LibreOffice looks at the bytes."""
    program(tmp_path, monkeypatch, 'cp "$in" "$out/in.docx"')

    assert as_office(data, suffix="doc", name="a.doc") == data


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("soffice"), reason="needs LibreOffice (soffice)")
@pytest.mark.parametrize("suffix", ["doc", "rtf", "odt"])
def test_load_with_libreoffice_itself(tmp_path, suffix):
    """Headings, tables and powers survive the way through the old formats."""
    document = docx.Document()
    document.add_heading("第一章 总则", 1)
    document.add_paragraph("产量3.5×10").add_run("4").font.superscript = True
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        [*table.rows[0].cells, *table.rows[1].cells], ["指标", "2025年", "产能", "500"], strict=True
    ):
        cell.text = text
    buffer = io.BytesIO()
    document.add_paragraph("附则")
    document.save(buffer)
    (tmp_path / "a.docx").write_bytes(buffer.getvalue())
    profile = (tmp_path / "profile").as_uri()
    subprocess.run(
        ["soffice", f"-env:UserInstallation={profile}", "--headless", "--convert-to", suffix,
         "--outdir", str(tmp_path), str(tmp_path / "a.docx")],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip

    read = load(Source(tmp_path / f"a.{suffix}"))

    assert read.text.startswith("第一章 总则\n产量3.5×10⁴\n")
    assert "| 产能 | 500 |" in read.text
    assert read.segments[0].level == 1
