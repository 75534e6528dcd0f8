"""Renderers of answers: Markdown and HTML; words of documents are escaped."""

import re
from collections.abc import Callable, Sequence
from html import escape
from itertools import groupby

from kgrag.answer.blocks import Block, Claim, Quote, Row, Side
from kgrag.answer.citation import Citation, with_remarks
from kgrag.status import mark
from kgrag.types import Language

Link = Callable[[int], str]

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~])")
_CITED = re.compile("\x00(\\d+)\x01")


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
            inner = block.blocks if isinstance(block, Side) else (block,)
            head = f"\n\n**{escaped(block.label)}**\n\n" if isinstance(block, Side) else "\n"
            parts.append(head + "\n".join(f"- {_item(each, language)}" for each in inner))
    return "".join(parts).strip()


def _marked(block: Block, language: Language) -> str:
    """Return a block's text with remarks; [n] have control characters as brackets."""
    written = block.text(language, lambda c: f"\x00{c.number}\x01")
    return with_remarks(written, block.checks, language)[0]


def _item(block: Block, language: Language) -> str:
    return _CITED.sub(r"[^\1]", escaped(_marked(block, language)))


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
            parts.append(f"<div>{said.replace(chr(10), '<br>')}</div>")
        elif kind is Row:
            rows = "".join(_row(b, language, link) for b in same if isinstance(b, Row))
            parts.append(f"<table>{rows}</table>")
        else:
            parts += [
                f"<p>{_linked(b, language, link)}</p>{_inner(b, language, link)}" for b in same
            ]
    return "".join(parts)


def _inner(block: Block, language: Language, link: Link) -> str:
    return html(block.blocks, language, link) if isinstance(block, Side) else ""


def _linked(block: Block, language: Language, link: Link) -> str:
    before = block.before if isinstance(block, Claim) else ""
    text = escape(f"{before}{_marked(block, language)}")
    return _CITED.sub(lambda cited: f"<a {link(int(cited[1]))}>[{cited[1]}]</a>", text)


def _row(row: Row, language: Language, link: Link) -> str:
    title = f"《{row.citation.title}》" + (f"（{row.aside}）" if row.aside else "")
    remarks = "".join(check.remark(language) for check in row.checks)
    quote = _linked(Quote(row.citation), language, link) + escape(remarks)
    cells = (escape(row.lead.rstrip("，：")), escape(title), quote)
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
