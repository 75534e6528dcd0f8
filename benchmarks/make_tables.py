"""Make documents with tables whose every cell is known, and the labels for them.

    python benchmarks/make_tables.py --out FOLDER [--seed 1] [--tables 30]

Real documents at hand have few tables, so how many cells are read right is measured on made ones.
Their content is invented by us, names and figures too; their form is that of real policy tables:
indicators by year, duties, lists of projects over pages, amounts, with merged cells, empty cells,
captions, units and notes, ruled, shaded, with three lines or none. Documents without a table
(boxes, letterheads, signatures side by side, contents, two columns) stand beside them.

A third of the tables is in PDF files, a third in Word files, a third in web pages. Word files are
python-docx's, web pages are written by hand, PDF files are printed by LibreOffice from Word files
and by chromium from web pages; both must be installed. The same seed gives the same documents.
`--form xlsx` makes all tables as spreadsheets, by openpyxl.

Written are `pdf/`, `docx/`, `html/`, `xlsx/`, and `tables.jsonl` and `tables_files.jsonl` as
`benchmarks/labels/README.md` has them, with `layout` and `drawn` (the kind in full) as well.
"""

import argparse
import hashlib
import json
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from benchmarks.made_tables.documents import make_documents
from benchmarks.made_tables.html import html_page
from benchmarks.made_tables.parts import MadeDocument, Table
from benchmarks.made_tables.printing import print_html, print_word
from benchmarks.made_tables.sheets import write_sheets
from benchmarks.made_tables.word import write_word


def main() -> None:
    """Write documents and labels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder, made if absent")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", type=int, default=30, help="how many, over all formats")
    parser.add_argument(
        "--form", choices=("pdf", "docx", "html", "xlsx"), help="documents of it alone"
    )
    args = parser.parse_args()
    forms = {"xlsx": args.tables} if args.form == "xlsx" else None
    documents = make_documents(args.seed, args.tables, forms)
    documents = [d for d in documents if args.form in (None, d.file.partition("/")[0])]
    write(documents, args.out)
    write_labels(documents, args.out)
    print(f"{len(documents)} documents with {args.tables} tables in {args.out}")


def write(documents: Sequence[MadeDocument], folder: Path) -> None:
    """Write every document below a folder, those that are to be printed as PDF only."""
    with tempfile.TemporaryDirectory() as unprinted:
        written = {"docx": [], "html": []}  # type: dict[str, list[Path]]
        for document in documents:
            path = folder / document.file
            path.parent.mkdir(parents=True, exist_ok=True)
            if document.printed:
                path = Path(unprinted) / f"{document.name}.{document.media}"
                written[document.media].append(path)
            if document.media == "docx":
                write_word(document, path)
            elif document.media == "xlsx":
                write_sheets(document, path)
            else:
                path.write_text(html_page(document, Random(document.name)), "utf-8")
        print_word(written["docx"], folder / "pdf")
        print_html(written["html"], folder / "pdf")


def write_labels(documents: Sequence[MadeDocument], folder: Path) -> None:
    """Write `tables.jsonl` and `tables_files.jsonl` for documents that were written."""
    tables: list[str] = []
    files: list[str] = []
    for document in documents:
        pages = _pages(folder / document.file) if document.printed else []
        tables += [json.dumps(label, ensure_ascii=False) for label in labels(document, pages)]
        counts = {"pages": len(pages) or None, "tables": len(document.tables), "optional": 0}
        files.append(json.dumps({"file": document.file, **counts}))
    (folder / "tables.jsonl").write_text("".join(f"{line}\n" for line in tables), "utf-8")
    (folder / "tables_files.jsonl").write_text("".join(f"{line}\n" for line in files), "utf-8")


def labels(document: MadeDocument, pages: Sequence[str] = ()) -> Iterator[dict[str, object]]:
    """Yield a label for each table of a document.

    Args:
        document: Any.
        pages: The text of each page where it was printed, without whitespace.
    """
    previous, nth = 0, 0
    for number, table in enumerate(document.tables, 1):
        page = _page_of(table, pages, max(previous, 1)) if pages else number
        nth = nth + 1 if pages and page == previous else 1
        previous = page
        yield {
            "file": document.file,
            "page": page,
            "nth": nth,
            "kind": table.kind if table.kind in ("indicators", "duties") else "other",
            "half": document.half,
            "partial": False,
            "drawn": table.kind,
            "media": document.media,
            "layout": table.layout,
            "rows": [[digest(text) for text in row] for row in table.as_read()],
        }


def digest(text: str) -> str:
    """Return the first 8 hex digits of a cell's sha256, "" for an empty one.

    >>> digest(" ２０25 年") == digest("2025年"), digest("  ")
    (True, '')
    """
    squeezed = squeeze(text)
    return hashlib.sha256(squeezed.encode("utf-8")).hexdigest()[:8] if squeezed else ""


def squeeze(text: str) -> str:
    """Return text in NFKC form without whitespace."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def _page_of(table: Table, pages: Sequence[str], first: int) -> int:
    """Return the page where the table's first row of figures begins, from 1."""
    begin = table.as_read()[1]
    longest = squeeze(max(begin, key=len))[:6]  # short enough not to be broken over lines
    for number, page in enumerate(pages[first - 1 :], first):
        if longest in page:
            return number
    raise ValueError(f"{table.caption or table.kind}: {longest} is on no page; print it again")


def _pages(path: Path) -> list[str]:
    import pypdfium2

    file = pypdfium2.PdfDocument(path)
    try:
        return [squeeze(page.get_textpage().get_text_range()) for page in file]
    finally:
        file.close()


if __name__ == "__main__":
    main()
