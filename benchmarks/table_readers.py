"""Tables that a system reads of files, as JSON: run by `tables.py`, by the Python that has it.

    python benchmarks/table_readers.py SYSTEM FILE ...

A line a file: `file` and `tables`, each a list of rows of cells; `error` where it could not be
read. Systems that write Markdown (kgrag's text, markitdown, pymupdf4llm) are read from its rows
with outer bars; pdfplumber and img2table give tables themselves. Imports of systems are at
their place, so that each needs its own environment only.
"""

import html
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

Rows = list[list[str]]
_BAR = re.compile(r"(?<!\\)\|")
_DELIMITER = re.compile(r"\|\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|")
_MARKS = re.compile(r"<br\s*/?>|\*\*|</?su[bp]>|\\(?=[|*_\[\]()#.~-])", re.IGNORECASE)


def main() -> None:
    """Print the tables of every file."""
    reader = READERS[sys.argv[1]]
    for file in sys.argv[2:]:
        found: dict[str, object] = {"file": file}
        try:
            found["tables"] = reader(Path(file))
        except ModuleNotFoundError:
            raise  # the system is not there: no figures, rather than none right
        except Exception as error:  # one file must not end the others
            found |= {"tables": [], "error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(found, ensure_ascii=False) + "\n")


def markdown_tables(text: str) -> list[Rows]:
    r"""Return the tables of Markdown: rows with a bar at either end, two columns at least.

    A second delimiter row begins a new table with the row before it.

    >>> markdown_tables("甲\n| 指标 | 值 |\n| --- | --- |\n| 产量 | **3** |\n乙")
    [[['指标', '值'], ['产量', '3']]]
    """
    tables: list[Rows] = [[]]
    has_delimiter = False
    for line in map(str.strip, text.splitlines()):
        if not (len(line) > 2 and line.startswith("|") and line.endswith("|")):
            tables.append([])
            has_delimiter = False
        elif _DELIMITER.fullmatch(line):
            if has_delimiter and tables[-1]:
                tables.append([tables[-1].pop()])
            has_delimiter = True
        else:
            tables[-1].append([_plain(cell) for cell in _BAR.split(line[1:-1])])
    return [table for table in tables if table and max(map(len, table)) > 1]


def _plain(cell: str) -> str:
    return html.unescape(_MARKS.sub("", cell)).strip()


def _kgrag(path: Path) -> list[Rows]:
    from kgrag.ingestion.load import discover, load

    return markdown_tables(load(discover([path]).sources[0]).text)


def _pdfplumber(path: Path) -> list[Rows]:
    import pdfplumber  # type: ignore[import-not-found,unused-ignore]

    with pdfplumber.open(path) as file:
        tables = [table for page in file.pages for table in page.extract_tables()]
    return [[[cell or "" for cell in row] for row in t] for t in tables if len(t[0]) > 1]


def _pymupdf4llm(path: Path) -> list[Rows]:
    import pymupdf4llm  # type: ignore[import-not-found,unused-ignore]

    return markdown_tables(pymupdf4llm.to_markdown(str(path)))


def _markitdown(path: Path) -> list[Rows]:
    from markitdown import MarkItDown  # type: ignore[import-not-found,unused-ignore]

    return markdown_tables(MarkItDown().convert(str(path)).text_content)


def _img2table(path: Path) -> list[Rows]:
    from img2table.document import PDF  # type: ignore[import-not-found,unused-ignore]

    pages = PDF(path).extract_tables(
        implicit_rows=True, implicit_columns=True, borderless_tables=True
    )
    frames = (table.df for found in pages.values() for table in found)
    return [[[cell or "" for cell in row] for row in frame.values.tolist()] for frame in frames]


READERS: dict[str, Callable[[Path], list[Rows]]] = {
    "kgrag": _kgrag,
    "pdfplumber": _pdfplumber,
    "pymupdf4llm": _pymupdf4llm,
    "markitdown": _markitdown,
    "img2table": _img2table,
}

if __name__ == "__main__":
    main()
