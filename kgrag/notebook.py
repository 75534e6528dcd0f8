"""HTML of results for notebooks; texts of documents are escaped."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import PurePath

_TEXT = '<div style="white-space: pre-wrap">'  # line breaks are the document's


def place_html(
    title: str,
    heading_path: Sequence[str],
    *,
    file: str,
    start: int,
    end: int,
    page: int | None = None,
    score: float | None = None,
) -> str:
    """Return the place of a text: title and sections, then file, page and characters.

    Args:
        title: Of the document; its file name is shown if it is empty.
        heading_path: Sections, outermost first.
        file: Only its name is shown.
        start: First character.
        end: Offset after the last.
        page: 1-based, if there are pages.
        score: Of a result.
    """
    name = PurePath(file).name
    where = " › ".join(filter(None, (title or name, *heading_path)))
    told = [f"{score:.3f}"] if score is not None else []
    told += [name] if name else []
    told += [f"page {page}"] if page is not None else []
    told += [f"characters {start}-{end}"]
    return f"<b>{escape(where)}</b> <small>{escape(', '.join(told))}</small>"


def passage_html(where: str, text: str) -> str:
    """Return a text below its place.

    Args:
        where: HTML of `place_html`.
        text: Of a document.
    """
    return f"<div>{where}{_TEXT}{escape(text)}</div></div>"


def list_html(items: Iterable[tuple[int, str]]) -> str:
    """Return numbered pieces of HTML as a list."""
    listed = "".join(f'<li value="{number}">{item}</li>' for number, item in items)
    return f"<ol>{listed}</ol>" if listed else ""
