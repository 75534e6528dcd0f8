"""Places of texts in words, and results as HTML for notebooks; texts of documents are escaped."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import PurePath

from kgrag.status import Status, mark
from kgrag.types import Language

_TEXT = '<div style="white-space: pre-wrap">'  # line breaks are the document's
# Page, slide, cells of a sheet, cells of a file without sheets, characters, separator.
_PLACES: Mapping[Language, tuple[str, str, str, str, str, str]] = {
    "zh": ("第 {} 页", "幻灯片 {}", "工作表“{}” {}", "单元格 {1}", "第 {} 至 {} 个字符", "，"),
    "en": ("page {}", "slide {}", "sheet “{}” {}", "cells {1}", "characters {}-{}", ", "),
}
_SLIDES = (".pptx", ".pptm", ".ppsx", ".potx")


def place_words(
    file: str, start: int, end: int, language: Language, *, page: int | None = None, cells: str = ""
) -> str:
    """Return where a text is: file, page (1-based) or cells if there are any, and characters.

    >>> place_words("plan.pdf", 5, 9, "zh", page=2), place_words("plan.md", 5, 9, "en")
    ('plan.pdf，第 2 页，第 5 至 9 个字符', 'plan.md, characters 5-9')
    """
    *_, characters, separator = _PLACES[language]
    on_page = page_words(file, language, page=page, cells=cells)
    return separator.join(filter(None, (on_page, characters.format(start, end))))


def page_words(file: str, language: Language, *, page: int | None = None, cells: str = "") -> str:
    """Return file and page (1-based), slide or cells, if there are any, in words.

    >>> page_words("plan.pdf", "en", page=2)
    'plan.pdf, page 2'
    """
    spot = spot_words(file, language, page=page, cells=cells)
    return _PLACES[language][-1].join(filter(None, (file, spot)))


def spot_words(file: str, language: Language, *, page: int | None = None, cells: str = "") -> str:
    """Return page, slide or cells in words; empty if there are none.

    >>> spot_words("a.pptx", "zh", page=3), spot_words("b.xlsx", "zh", cells="项目!A2:F2")
    ('幻灯片 3', '工作表“项目” A2:F2')
    """
    on_page, on_slide, on_sheet, in_cells, *_ = _PLACES[language]
    if cells:
        sheet, _, area = cells.rpartition("!")
        return (on_sheet if sheet else in_cells).format(sheet, area)
    is_slide = file.lower().endswith(_SLIDES)
    return "" if page is None else (on_slide if is_slide else on_page).format(page)


def place_html(
    title: str,
    heading_path: Sequence[str],
    *,
    file: str,
    start: int,
    end: int,
    status: Status | None,
    page: int | None = None,
    cells: str = "",
    score: float | None = None,
) -> str:
    """Return the place of a text: title and sections, then file, page and characters.

    In Chinese if the title is: there may be no question to go by.

    Args:
        title: Of the document; its file name is shown if it is empty.
        heading_path: Sections, outermost first.
        file: Only its name is shown.
        start: First character.
        end: Offset after the last.
        status: Of the document.
        page: 1-based, if there are pages.
        cells: Of a sheet, if there are any.
        score: Of a result.
    """
    language: Language = "zh" if any("一" <= c <= "鿿" for c in title) else "en"
    name = PurePath(file).name
    path = ((title or name) + mark(status, language), *heading_path)
    place = place_words(name, start, end, language, page=page, cells=cells)
    scored = "" if score is None else f"{score:.3f}, "
    return f"<b>{escape(' › '.join(path))}</b> <small>{escape(scored + place)}</small>"


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
