"""A table of what documents state, each row with its sources."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from kgrag.answer.citation import Citation
from kgrag.answer.notes import Note
from kgrag.json_ready import JsonReady
from kgrag.text.messages import in_language
from kgrag.text.quantities import scaled
from kgrag.types import Language

Cell = str | int | float | None  # None where nothing is stated
_LARGE = 10_000  # numbers from which are shown in 万


@dataclass(frozen=True, slots=True)
class Column(JsonReady):
    """A column.

    Attributes:
        key: Name in JSON.
        zh: Chinese header.
        en: English header.
        is_code: Whether its cells are for programs alone, and tables for people leave it out.
    """

    key: str
    zh: str
    en: str
    is_code: bool = False

    def heading(self, language: Language) -> str:
        """Return its header in a language."""
        return self.zh if language == "zh" else self.en


@dataclass(frozen=True, slots=True)
class Row(JsonReady):
    """A row.

    Attributes:
        cells: In the order of the columns.
        sources: Passages that state it, each on one line; empty for a row without data.
    """

    cells: tuple[Cell, ...]
    sources: tuple[Citation, ...] = ()


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
        total: Rows of the whole table; 0 if these are all.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    heading: Column | None = None
    total: int = 0

    @property
    def filled(self) -> list[int]:
        """The positions of columns for people with a value in any row; all without rows."""
        return [
            at
            for at, column in enumerate(self.columns)
            if not column.is_code
            and (not self.rows or any(row.cells[at] not in (None, "") for row in self.rows))
        ]

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


def source_cells(sources: Sequence[Citation], language: Language) -> tuple[str, ...]:
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
        listed([" › ".join(s.heading_path) for s in sources]),
        listed([s.quote for s in sources]),
        listed([s.file for s in sources]),
        listed([f"{s.start}-{s.end}" for s in sources]),
    )
