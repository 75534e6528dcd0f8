"""A document's text as Markdown, and as a page of HTML with pictures of its pages beside it."""

import base64
import html
import re
from collections.abc import Iterator, Mapping, Sequence

from kgrag.text.messages import in_language
from kgrag.text.table_rows import cells_of, is_delimiter, is_row
from kgrag.text.visible import visible_line
from kgrag.types import Document, Heading, Language

_PAGES = re.compile(r"\bpages? (\d[\d, -]*)")  # as warnings of readers name them
_DOUBTFUL = re.compile("([\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff])")
_WORDS: Mapping[Language, Mapping[str, str]] = {
    "zh": {"page": "第 {n} 页", "empty": "（没有读到文字）", "doubt": "存疑"},
    "en": {"page": "page {n}", "empty": "(no text was read)", "doubt": "in doubt"},
}
_STYLE = """
body { font: 15px/1.7 sans-serif; margin: 0 auto; max-width: 110em; padding: 0 1em; }
section { display: grid; grid-template-columns: 1fr 1fr; gap: 1em; border-top: 2px solid #999; }
section.alone { grid-template-columns: 1fr; }
section > h2 { grid-column: 1 / -1; font-size: 1em; margin: .5em 0 0; }
img { width: 100%; border: 1px solid #bbb; position: sticky; top: 0; }
p { margin: .3em 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; } td, th { border: 1px solid #999; padding: .1em .4em; }
.doubt, mark { background: #fd6; } h2.doubt::after { content: " · " attr(data-doubt); }
"""


def as_markdown(document: Document, headings: Sequence[Heading]) -> str:
    """Return a document's text as Markdown: headings with their level, tables as they are."""
    parts: list[str] = []
    for level, line in _lines(document.text, (0, len(document.text)), _by_start(headings)):
        is_same_table = bool(parts) and is_row(line) and is_row(parts[-1])
        parts += ("\n" if is_same_table else "\n\n", "#" * min(level, 6) + " " * (level > 0) + line)
    return "".join(parts[1:]) + "\n"


def as_html(
    document: Document,
    headings: Sequence[Heading],
    pictures: Mapping[int, bytes],
    language: Language,
) -> str:
    """Return a document's text as a page of HTML of its own, page by page.

    Pages that a warning names, and characters that only a font knows, are marked.

    Args:
        document: Its segments tell its pages; without any it is one.
        headings: Of it.
        pictures: JPEG files of its pages by number.
        language: Of generated words.
    """
    words = _WORDS[language]
    levels = _by_start(headings)
    spans = {s.number: (s.start, s.end) for s in document.segments if s.kind == "page"}
    spans = spans or {1: (0, len(document.text))}
    doubted = {n for warning in document.warnings for n in _pages_named(warning)}
    title = html.escape(visible_line(document.title))
    parts = [
        f'<!doctype html><html lang="zh-Hans"><meta charset="utf-8"><title>{title}</title>',
        f"<style>{_STYLE}</style><h1>{title}</h1>",
        *(f'<p class="doubt">{_shown(in_language(w, language))}</p>' for w in document.warnings),
    ]
    for n in sorted(spans.keys() | pictures.keys()):
        text = "".join(_paragraphs(document.text, spans.get(n, (0, 0)), levels))
        marked = f' class="doubt" data-doubt="{words["doubt"]}"' if n in doubted else ""
        image = ""
        if n in pictures:
            image = f'<div><img alt="" src="data:image/jpeg;base64,{_base64(pictures[n])}"></div>'
        parts.append(
            f'<section id="page-{n}"{"" if image else " class=alone"}>'
            f"<h2{marked}>{words['page'].format(n=n)}</h2>{image}"
            f"<div>{text or words['empty']}</div></section>"
        )
    return "\n".join([*parts, "</html>\n"])


def _pages_named(warning: str) -> Iterator[int]:
    """Yield the pages that a warning names, ranges page by page."""
    for named in _PAGES.findall(warning):
        for first, *last in (part.split("-") for part in named.replace(" ", "").split(",") if part):
            yield from range(int(first), int(last[0] if last else first) + 1)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _by_start(headings: Sequence[Heading]) -> dict[int, Heading]:
    return {heading.start: heading for heading in headings}


def _lines(
    text: str, span: tuple[int, int], headings: Mapping[int, Heading]
) -> Iterator[tuple[int, str]]:
    """Yield (level, line) of a part of a text; a heading that begins a line stands alone."""
    start, end = span
    for line in text[start:end].splitlines(keepends=True):
        bare = line.strip()
        heading = headings.get(start + len(line) - len(line.lstrip()))
        rest = line[max(0, heading.end - start) :].strip() if heading else ""
        if heading and bare:
            is_more = any(map(str.isalnum, rest))
            yield heading.level, bare.removesuffix(rest).rstrip() if is_more else bare
            bare = rest if is_more else ""
        if bare:
            yield 0, bare
        start += len(line)


def _paragraphs(text: str, span: tuple[int, int], headings: Mapping[int, Heading]) -> Iterator[str]:
    """Yield a part of a text as HTML: headings bold, rows that follow each other as a table."""
    is_open = False
    for level, line in _lines(text, span, headings):
        if is_row(line) != is_open:
            is_open = not is_open
            yield "<table>" if is_open else "</table>"
        if not is_open:
            yield f"<p><b>{_shown(line)}</b></p>" if level else f"<p>{_shown(line)}</p>"
        elif not is_delimiter(line):
            yield f"<tr>{''.join(f'<td>{_shown(cell)}</td>' for cell in cells_of(line))}</tr>"
    if is_open:
        yield "</table>"


def _shown(text: str) -> str:
    """Return a text for HTML, its doubtful characters marked."""
    pieces = [html.escape(visible_line(piece)) for piece in _DOUBTFUL.split(text)]
    pieces[1::2] = [f"<mark>{piece}</mark>" for piece in pieces[1::2]]
    return "".join(pieces)
