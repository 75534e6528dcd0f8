"""Renderers of answers: Markdown, HTML and Word; words of documents are escaped."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby

from kgrag.answer.blocks import Block, Claim, Row, Side
from kgrag.answer.citation import MARKED, Citation, with_bold, with_remarks
from kgrag.answer.word import Bold, Line, Piece, WordFile
from kgrag.status import mark
from kgrag.text.table_rows import cells_of, is_delimiter, is_row
from kgrag.types import Language

Link = Callable[[int], str]

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~])")
_CITED = re.compile("\x00(\\d{1,9})\x01")
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
# What begins a line of Markdown: a heading, an item; numbers of lists stay as they are.
_HEADING = re.compile(r"\s*+(#{1,6})\s++(.*)")
_ITEM = re.compile(r"\s*+[-*+•·]\s++(.*)")
_RULE = re.compile(r"\s*+([-*_])(?:\s*+\1){2,}+\s*+")
_HEADS: Mapping[Language, tuple[str, str, str]] = {  # of rows in Word
    "zh": ("要点", "文件", "原文"),
    "en": ("point", "document", "quote"),
}
_DEEPEST = 9  # level of a heading in Word
_STYLE = (
    "body{font-family:sans-serif;max-width:50em;margin:2em auto;line-height:1.6}"
    "table{border-collapse:collapse}td{border:1px solid #bbb;padding:.3em;vertical-align:top}"
)


def markdown(blocks: Sequence[Block], language: Language) -> str:
    """Return blocks as Markdown, each [n] as that of a footnote.

    A model's sentences are Markdown already; only tags in them are escaped.
    """
    parts: list[str] = []
    for block in blocks:
        if isinstance(block, Claim):
            told = _marked(block, language).replace("<", "&lt;")
            parts.append(block.before + _CITED.sub(r"[^\1]", told))
        else:
            inner: Sequence[Block] = (block,)
            head = "\n"
            if isinstance(block, Side):
                inner, head = block.blocks, f"\n\n**{escaped(block.label)}**\n\n"
            parts.append(head + "\n".join(f"- {_item(each, language)}" for each in inner))
    return "".join(parts).strip()


def _marked(block: Block, language: Language) -> str:
    """Return a block's text with remarks; [n] have control characters as brackets."""
    return with_remarks(block.text(language, _bracketed), block.checks, language)[0]


def _bracketed(cited: Citation) -> str:
    return f"\x00{cited.number}\x01"


def _item(block: Block, language: Language) -> str:
    told = with_bold(escaped(_marked(block, language)))
    return _CITED.sub(r"[^\1]", told).replace("\n", "  \n  ")


def footnote(cited: Citation, language: Language) -> str:
    """Return a citation as a footnote of Markdown."""
    path = " › ".join((f"{cited.title}{mark(cited.status, language)}", *cited.heading_path))
    quote = " ".join(cited.quote.split())
    return f"[^{cited.number}]: {escaped(f'{path} ({cited.place(language)}): “{quote}”')}"


def escaped(text: str) -> str:
    """Escape a text for Markdown."""
    return _SPECIAL.sub(r"\\\1", text)


def html(blocks: Sequence[Block], language: Language, link: Link) -> str:
    """Return blocks as HTML: rows are a table, claims keep their lines.

    Args:
        blocks: Of an answer.
        language: Of generated words.
        link: Returns the attributes of the link of a citation, given its number.
    """
    parts: list[str] = []
    for kind, same in groupby(blocks, key=type):
        if kind is Claim:
            said = "".join(_linked(b, language, link) for b in same)
            parts.append(f"<div>{said}</div>")
        elif kind is Row:
            rows = "".join(_row(b, link) for b in same if isinstance(b, Row))
            parts.append(f"<table>{rows}</table>")
        else:
            parts += [
                f"<p>{_linked(b, language, link)}</p>{_inner(b, language, link)}" for b in same
            ]
    return "".join(parts)


def _inner(block: Block, language: Language, link: Link) -> str:
    return html(block.blocks, language, link) if isinstance(block, Side) else ""


def _linked(block: Block, language: Language, link: Link) -> str:
    told = _marked(block, language)
    if isinstance(block, Claim):
        return _with_links(f"{block.before}{told}", link, bold=True)
    return _with_links(told, link)


def _with_links(marked: str, link: Link, *, bold: bool = False) -> str:
    """Return a text of `_marked` as HTML; `**` is bold where a model wrote it."""
    text = escape(marked)
    if bold:
        text = _BOLD.sub(r"<b>\1</b>", text)
    text = text.replace("\n", "<br>")
    text = text.replace(MARKED[0], "<mark>").replace(MARKED[1], "</mark>")
    return _CITED.sub(lambda cited: f"<a {link(int(cited[1]))}>[{cited[1]}]</a>", text)


def _row(row: Row, link: Link) -> str:
    quote = _with_links(row.quoted(_bracketed), link)
    cells = (escape(row.lead), escape(f"《{row.citation.title}》"), quote)
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def page(title: str, body: str) -> str:
    """Return a self-contained page.

    Args:
        title: Plain text.
        body: HTML.
    """
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f"<!doctype html>\n<html><head>{head}</head><body>{body}</body></html>\n"


def word(file: WordFile, blocks: Sequence[Block], language: Language, level: int) -> None:
    """Write blocks into a Word file: rows are a table, each [n] is a footnote.

    Of a model's Markdown, headings, items, tables and bold words become those of Word.

    Args:
        file: The file.
        blocks: Of an answer.
        language: Of generated words.
        level: Of the heading above them.
    """
    for kind, same in groupby(blocks, key=type):
        if kind is Claim:
            _claims(file, [*same], language, level)
        elif kind is Row:
            _rows(file, [b for b in same if isinstance(b, Row)], language)
        else:
            for block in same:
                if isinstance(block, Side):
                    file.heading(block.label, level=level + 1)
                    word(file, block.blocks, language, level + 1)
                else:
                    for line in with_bold(_marked(block, language)).split("\n"):
                        file.paragraph(*_pieces(line, _by_number(block), bold=True))


def _rows(file: WordFile, rows: Sequence[Row], language: Language) -> None:
    """Write rows as a table; without leads it has no column for them."""
    first = 0 if any(row.lead for row in rows) else 1
    lines: list[list[Line]] = []
    for row in rows:
        quote = _pieces(row.quoted(_bracketed), _by_number(row))
        cells: list[Line] = [[row.lead], [f"《{row.citation.title}》"], [*quote]]
        lines.append(cells[first:])
    file.table(lines, [[name] for name in _HEADS[language]][first:])


def _claims(file: WordFile, claims: Sequence[Block], language: Language, level: int) -> None:
    """Write sentences in their layout of Markdown."""
    told = "".join(b.before + _marked(b, language) for b in claims if isinstance(b, Claim))
    cited = {number: c for block in claims for number, c in _by_number(block).items()}
    for are_rows, lines in groupby(told.splitlines(), key=is_row):
        if are_rows:
            _table(file, [*lines], cited)
        else:
            for line in lines:
                _line(file, line, cited, level)


def _table(file: WordFile, lines: Sequence[str], cited: Mapping[int, Citation]) -> None:
    """Write a table of Markdown."""
    rows = [
        [[*_pieces(cell, cited, bold=True)] for cell in cells_of(line)]
        for line in lines
        if not is_delimiter(line)
    ]
    head = rows.pop(0) if rows and any(map(is_delimiter, lines[1:2])) else []
    file.table(rows, head)


def _line(file: WordFile, line: str, cited: Mapping[int, Citation], level: int) -> None:
    """Write a heading, an item or a paragraph of Markdown; blank lines and rules are none."""
    heading, item = _HEADING.fullmatch(line), _ITEM.fullmatch(line)
    if heading:
        depth = level + max(1, len(heading[1]) - 1)  # of an answer mostly ##
        title = _BOLD.sub(r"\1", heading[2])
        file.heading(*_pieces(title, cited), level=min(depth, _DEEPEST))
    elif line.strip() and not _RULE.fullmatch(line):
        said = item[1] if item else line.strip()
        file.paragraph(*_pieces(said, cited, bold=True), bullet=bool(item))


def _by_number(block: Block) -> dict[int, Citation]:
    return {cited.number: cited for cited in block.citations}


def _pieces(told: str, cited: Mapping[int, Citation], *, bold: bool = False) -> Iterator[Piece]:
    """Yield words and sources of a text of `_marked`; `**` is bold where that is said."""
    for at, part in enumerate(_BOLD.split(told) if bold else (told,)):
        for n, words in enumerate(_CITED.split(part)):
            if n % 2 == 0:
                yield Bold(words) if at % 2 else words
            elif int(words) in cited:  # not one that a document wrote
                yield cited[int(words)]
