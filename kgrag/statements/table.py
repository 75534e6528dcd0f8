"""A table of what documents state, each row with its sources."""

from collections.abc import Sequence
from dataclasses import dataclass, make_dataclass
from decimal import Decimal
from typing import Any

from kgrag.answer.address import Address
from kgrag.answer.citation import Citation
from kgrag.answer.notes import Note
from kgrag.json_ready import JsonReady, as_dict
from kgrag.status import Status
from kgrag.text.messages import in_language
from kgrag.text.quantities import scaled
from kgrag.types import Language

Cell = str | int | float | None  # None where nothing is stated
_LARGE = 10_000  # numbers from which are shown in 万


@dataclass(frozen=True, slots=True)
class Source(JsonReady):
    """A passage of a document.

    Attributes:
        doc_id: The document.
        title: Of the document.
        file: Path of the document.
        start: Offset in the document's text.
        end: Offset after it.
        heading_path: Headings above it, outermost first.
        quote: Its text, on one line.
        page: 1-based page, if the file has pages.
        document_number: The document's 文号; empty for none.
        status: Whether the document is in force today; None if not determined.
    """

    doc_id: str
    title: str
    file: str
    start: int
    end: int
    heading_path: tuple[str, ...]
    quote: str
    page: int | None = None
    document_number: str = ""
    status: Status | None = None

    @property
    def address(self) -> str:
        """The address of the passage; see `kgrag.answer.address.Address`."""
        return str(Address(self.doc_id, self.start, self.end))

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, with address and reference."""
        return as_dict(self) | {"address": self.address, "reference": self.reference}

    @property
    def reference(self) -> str:
        """How officials cite it: 《title》（文号）第X条."""
        return self.cited().reference

    def cited(self) -> Citation:
        """Return the passage as a citation; it has no number and is of no chunk."""
        return Citation(
            number=0,
            doc_id=self.doc_id,
            title=self.title,
            file=self.file,
            heading_path=self.heading_path,
            page=self.page,
            start=self.start,
            end=self.end,
            quote=self.quote,
            chunk_id="",
            status=self.status,
            document_number=self.document_number,
        )

    @property
    def clause(self) -> str:
        """Return the headings above it on one line."""
        return " › ".join(self.heading_path)


@dataclass(frozen=True, slots=True)
class Column(JsonReady):
    """A column.

    Attributes:
        key: Name in JSON.
        zh: Chinese header.
        en: English header.
    """

    key: str
    zh: str
    en: str

    def heading(self, language: Language) -> str:
        """Return its header in a language."""
        return self.zh if language == "zh" else self.en


@dataclass(frozen=True, slots=True)
class Row(JsonReady):
    """A row.

    Attributes:
        cells: In the order of the columns.
        sources: Passages that state it; empty for a row without data.
    """

    cells: tuple[Cell, ...]
    sources: tuple[Source, ...] = ()


def worded(notes: Sequence[str], language: Language) -> list[str]:
    """Return notes in a language; plain strings are unchanged.

    >>> from kgrag.answer.notes import note
    >>> worded((note("no-date", "zh"), "无"), "en")
    ['no date', '无']
    """
    return [n.worded(language) if isinstance(n, Note) else in_language(n, language) for n in notes]


@dataclass(frozen=True, slots=True)
class Table(JsonReady):
    """A table.

    Attributes:
        name: Kind of table: `targets`, `cited_by`.
        columns: At least one.
        rows: In order.
        notes: Coverage and omissions, in words; `worded` returns them in a language.
        heading: Its name in words, where it stands among others; None for a table alone.
        values: The same with one value a row, as a sheet of its own in a workbook; None for none.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    heading: Column | None = None
    values: "Table | None" = None

    @property
    def filled(self) -> list[int]:
        """The positions of columns with a value in any row; all where there are no rows."""
        return [
            at
            for at in range(len(self.columns))
            if not self.rows or any(row.cells[at] not in (None, "") for row in self.rows)
        ]

    def objects(self) -> list[Any]:
        """Return rows as instances of a dataclass, with a field for each column, and `sources`.

        `pandas.DataFrame` takes the list. A column whose key is no name in Python, such as 2025, is
        `_2025`; one without a key `_`.
        """
        keys = [key if key.isidentifier() else f"_{key}" for key in (c.key for c in self.columns)]
        made = make_dataclass(f"{self.name.title()}Row", (*keys, "sources"), frozen=True)
        return [made(*row.cells, row.sources) for row in self.rows]

    def records(self) -> list[dict[str, object]]:
        """Return rows as mappings by column key, with `sources`."""
        keys = [column.key for column in self.columns]
        return [
            {
                **dict(zip(keys, row.cells, strict=True)),
                "sources": [source.to_dict() for source in row.sources],
            }
            for row in self.rows
        ]


def shown(cell: Cell) -> Cell:
    """Return a cell for display: large numbers in 万 and 亿.

    >>> shown(89000000), shown(2025), shown("8900万千瓦"), shown(None)
    ('8900万', 2025, '8900万千瓦', None)
    """
    if not isinstance(cell, int | float) or abs(cell) < _LARGE:
        return cell
    return scaled(Decimal(str(cell)))


SOURCE_COLUMNS = (
    Column("document", "文件", "document"),
    Column("number", "文号", "number"),
    Column("standing", "效力", "in force"),
    Column("clause", "条款", "clause"),
    Column("quote", "原文", "quote"),
    Column("file", "文件路径", "file"),
    Column("place", "位置", "place"),
)


def source_cells(sources: Sequence[Source], language: Language) -> tuple[str, ...]:
    """Return a cell for each of `SOURCE_COLUMNS`; several sources are numbered, each on a line.

    Whether a document is in force is said where there is something to say.
    """

    def listed(values: Sequence[str]) -> str:
        return "\n".join(values).rstrip("\n")

    marks = [f"[{n}] " if len(sources) > 1 else "" for n in range(1, len(sources) + 1)]
    return (
        listed([f"{mark}《{s.title}》" for mark, s in zip(marks, sources, strict=True)]),
        listed([s.document_number for s in sources]),
        listed([s.status.told(language) if s.status else "" for s in sources]),
        listed([s.clause for s in sources]),
        listed([s.quote for s in sources]),
        listed([s.file for s in sources]),
        listed([f"{s.start}-{s.end}" for s in sources]),
    )
