"""Writes the sample documents from their plain sources: `python -m scripts.make_samples`.

A source is text with a mark at the head of some lines: `# ` a title, `= ` a centred line,
`> ` a line at the right, `| ` a table row; every other line is a paragraph.
"""

import html
import io
import re
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Literal

from kgrag.ingestion.samples import sample_folder
from scripts.pdf_writer import Block, write_pdf

Kind = Literal["title", "center", "right", "row", "text"]

_MARKS: dict[str, Kind] = {"#": "title", "=": "center", ">": "right", "|": "row"}
_HEADINGS = (
    (1, re.compile(r"[一二三四五六七八九十]+、\S{2,30}$")),
    (1, re.compile(r"第[一二三四五六七八九十]+章\s")),
    (2, re.compile(r"（[一二三四五六七八九十]+）[^。；]{2,30}$")),
)
_SOURCES = Path(__file__).parent / "sample_sources"
_TIME = datetime(2024, 1, 1, tzinfo=UTC)
_SITE = "云岭省人民政府门户网站（示例）"
_NAV = ("首页", "政务公开", "政策文件", "政策解读", "办事服务", "互动交流", "数据开放")
_SEE_ALSO = ("一图读懂：本文件要点", "政策问答：企业最关心的十个问题", "专家解读：绿色转型怎么看")


@dataclass(frozen=True, slots=True)
class Piece:
    """A line of a source: what it is, and its text (a row's cells)."""

    kind: Kind
    cells: tuple[str, ...]

    @property
    def text(self) -> str:
        """The line's text; a row's cells are joined."""
        return " | ".join(self.cells)


def parse_source(source: str) -> list[Piece]:
    r"""Return the pieces of a source; blank lines are passed over.

    >>> parse_source("# 通知\n| 甲 | 乙 |")[1].cells
    ('甲', '乙')
    """
    pieces = []
    for line in source.splitlines():
        kind = _MARKS.get(line[:1])
        if kind == "row":
            pieces.append(Piece(kind, tuple(c.strip() for c in line.strip("| ").split("|"))))
        elif kind:
            pieces.append(Piece(kind, (line[1:].strip(),)))
        elif line.strip():
            pieces.append(Piece("text", (line.strip(),)))
    return pieces


def heading_level(piece: Piece) -> int | None:
    """Return 1 for 一、 and 第一章, 2 for a （一） that stands alone, None for anything else."""
    for level, pattern in _HEADINGS:
        if piece.kind in ("text", "center") and pattern.match(piece.text):
            return level
    return None


def write_txt(pieces: Sequence[Piece]) -> bytes:
    """Return GB18030 text with Windows line breaks, as older government files have it."""
    return "".join(piece.text + "\r\n" for piece in pieces).encode("gb18030")


def write_md(pieces: Sequence[Piece]) -> bytes:
    """Return Markdown in UTF-8."""
    out: list[str] = []
    for is_row, group in groupby(pieces, key=lambda piece: piece.kind == "row"):
        members = list(group)
        if is_row:
            rows = ["| " + " | ".join(piece.cells) + " |" for piece in members]
            rows.insert(1, "|" + " --- |" * len(members[0].cells))
            out.append("\n".join(rows))
        else:
            out.extend(_markdown_line(piece) for piece in members)
    return ("\n\n".join(out) + "\n").encode("utf-8")


def _markdown_line(piece: Piece) -> str:
    level = 0 if piece.kind == "title" else heading_level(piece)
    return piece.text if level is None else "#" * (level + 1) + " " + piece.text


def write_html(pieces: Sequence[Piece]) -> bytes:
    """Return a page as a government site would serve it: menus, share links and footer around."""
    title = html.escape(pieces[0].text)
    links = "".join(f'<li><a href="#">{name}</a></li>' for name in _NAV)
    see_also = "".join(f'<li><a href="#">{name}</a></li>' for name in _SEE_ALSO)
    article = "\n".join(_html_blocks(pieces[1:]))
    return f"""<!DOCTYPE html>
<html lang="zh-CN">
<head>
<meta charset="utf-8">
<title>{title} - {_SITE}</title>
<meta name="SiteName" content="{_SITE}">
<style>.center {{ text-align: center }} .right {{ text-align: right }}</style>
<script>window.stat = function () {{ return "访问统计"; }};</script>
</head>
<body>
<div class="top"><nav><ul>{links}</ul></nav></div>
<div class="breadcrumb">当前位置：<a href="#">首页</a> &gt; <a href="#">政策文件</a> &gt; 正文</div>
<div class="wrap">
<div class="detail">
<h1>{title}</h1>
<div class="share">分享到：<a href="#">微信</a> <a href="#">微博</a> 【字体：大 中 小】 打印</div>
<div class="article-content">
{article}
</div>
</div>
<div class="related"><h3>相关链接</h3><ul>{see_also}</ul></div>
</div>
<footer><p>主办单位：云岭省人民政府办公厅　网站标识码：0000000000　版权所有</p></footer>
</body>
</html>
""".encode()


def _html_blocks(pieces: Sequence[Piece]) -> Iterator[str]:
    for is_row, group in groupby(pieces, key=lambda piece: piece.kind == "row"):
        if is_row:
            rows = [
                "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in piece.cells) + "</tr>"
                for piece in group
            ]
            yield "<table>" + "\n".join(rows) + "</table>"
            continue
        for piece in group:
            text = html.escape(piece.text)
            if piece.kind == "title":
                yield f'<p class="center"><strong>{text}</strong></p>'
            elif piece.kind == "text":
                yield f"<p>　　{text}</p>"
            else:
                yield f'<p class="{piece.kind}">{text}</p>'


def write_pdf_sample(pieces: Sequence[Piece]) -> bytes:
    """Return a PDF with a text layer: paragraphs indented, pages numbered as — 1 —."""
    shapes = {"title": (20, "center"), "center": (16, "center"), "right": (16, "right")}
    blocks = []
    for piece in pieces:
        size, align = shapes.get(piece.kind, (12 if piece.kind == "row" else 16, "left"))
        blocks.append(Block(piece.cells, size, align))
    return write_pdf(blocks, title=pieces[0].text)


def write_docx(pieces: Sequence[Piece]) -> bytes:
    """Return a Word file with headings and tables."""
    import docx
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    document = docx.Document()
    properties = document.core_properties
    properties.title, properties.author = pieces[0].text, "云岭省示例"
    properties.created = properties.modified = _TIME
    aligned = {"center": WD_ALIGN_PARAGRAPH.CENTER, "right": WD_ALIGN_PARAGRAPH.RIGHT}
    for is_row, group in groupby(pieces, key=lambda piece: piece.kind == "row"):
        members = list(group)
        if is_row:
            table = document.add_table(rows=0, cols=len(members[0].cells), style="Table Grid")
            for piece in members:
                for cell, text in zip(table.add_row().cells, piece.cells, strict=True):
                    cell.text = text
            continue
        for piece in members:
            level = 0 if piece.kind == "title" else heading_level(piece)
            if level is not None:
                document.add_heading(piece.text, level)
                continue
            paragraph = document.add_paragraph(piece.text)
            if piece.kind in aligned:
                paragraph.alignment = aligned[piece.kind]
    buffer = io.BytesIO()
    document.save(buffer)
    return _with_fixed_times(buffer.getvalue())


def _with_fixed_times(data: bytes) -> bytes:
    """Return a zip with the time of writing taken out of every entry."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new,
    ):
        for name in old.namelist():
            info = zipfile.ZipInfo(name, date_time=_TIME.timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            new.writestr(info, old.read(name))
    return buffer.getvalue()


_WRITERS: dict[str, Callable[[Sequence[Piece]], bytes]] = {
    ".docx": write_docx,
    ".html": write_html,
    ".md": write_md,
    ".pdf": write_pdf_sample,
    ".txt": write_txt,
}

FILES = (
    "carbon-peak-plan.docx",
    "charging-action-plan.html",
    "energy-conservation-regulation.txt",
    "energy-saving-fund-measures.pdf",
    "energy-saving-plan.pdf",
    "green-factory-measures.html",
    "nandu-green-building-plan.docx",
    "new-energy-plan.docx",
    "qingchuan-peak-plan.docx",
    "shiqiao-forest-carbon-opinions.md",
)


def make_samples(folder: Path) -> list[Path]:
    """Write every sample into a folder and return the files; the same bytes on each run."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in FILES:
        path = folder / name
        source = (_SOURCES / f"{path.stem}.txt").read_text(encoding="utf-8")
        path.write_bytes(_WRITERS[path.suffix](parse_source(source)))
        written.append(path)
    return written


if __name__ == "__main__":
    make_samples(Path(sys.argv[1]) if len(sys.argv) > 1 else sample_folder())
