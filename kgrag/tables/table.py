"""A table of what documents state, each row with the places that state it."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from kgrag.json_ready import JsonReady
from kgrag.text.quantities import scaled
from kgrag.types import Language

Cell = str | int | float | None  # None where nothing is stated
_LARGE = 10_000  # numbers from which are shown in 万


@dataclass(frozen=True, slots=True)
class Source(JsonReady):
    """A place of a document.

    Attributes:
        doc_id: The document.
        title: Of the document.
        file: Where it lies.
        start: First character of the place in the document's text.
        end: Offset after it.
        heading_path: Headings above it, the outermost first.
        quote: The text there, on one line.
    """

    doc_id: str
    title: str
    file: str
    start: int
    end: int
    heading_path: tuple[str, ...]
    quote: str

    @property
    def clause(self) -> str:
        """Return the headings above it on one line."""
        return " › ".join(self.heading_path)


@dataclass(frozen=True, slots=True)
class Column(JsonReady):
    """A column.

    Attributes:
        key: In JSON and for programs.
        zh: Its heading for people who read Chinese.
        en: Its heading in English.
    """

    key: str
    zh: str
    en: str

    def heading(self, language: Language) -> str:
        """Return its heading in a language."""
        return self.zh if language == "zh" else self.en


@dataclass(frozen=True, slots=True)
class Row(JsonReady):
    """A row.

    Attributes:
        cells: In the order of the columns.
        sources: Where it is stated; empty for a row that says that nothing is.
    """

    cells: tuple[Cell, ...]
    sources: tuple[Source, ...] = ()


class Note(str):
    """A note in Chinese, with what it says in English.

    >>> said((Note("共2份文件", en="2 documents"), "无"), "en")
    ['2 documents', '无']
    """

    en: str

    def __new__(cls, zh: str, *, en: str) -> "Note":
        """Return a note in both languages."""
        made = super().__new__(cls, zh)
        made.en = en
        return made


def said(notes: Sequence[str], language: Language) -> list[str]:
    """Return notes in a language; those that have no English as they are."""
    if language == "zh":
        return [str(note) for note in notes]
    return [note.en if isinstance(note, Note) else note for note in notes]


@dataclass(frozen=True, slots=True)
class Table(JsonReady):
    """A table.

    Attributes:
        name: What it is: `targets`, `cited_by`.
        columns: At least one.
        rows: In order.
        notes: What it leaves out, and of how many documents it is, in words; `said` gives them
            in a language.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, object]]:
        """Return rows by the columns' keys, with `sources`."""
        keys = [column.key for column in self.columns]
        return [
            {
                **dict(zip(keys, row.cells, strict=True)),
                "sources": [source.to_dict() for source in row.sources],
            }
            for row in self.rows
        ]


def shown(cell: Cell) -> Cell:
    """Return a cell as people read it: large numbers in 万 and 亿, others as they are.

    >>> shown(89000000), shown(2025), shown("8900万千瓦"), shown(None)
    ('8900万', 2025, '8900万千瓦', None)
    """
    if not isinstance(cell, int | float) or abs(cell) < _LARGE:
        return cell
    return scaled(Decimal(str(cell)))


SOURCE_COLUMNS = (
    Column("document", "文件", "document"),
    Column("clause", "条款", "clause"),
    Column("quote", "原文", "quote"),
    Column("file", "文件路径", "file"),
    Column("place", "位置", "place"),
)


def source_cells(sources: Sequence[Source]) -> tuple[str, ...]:
    """Return sources in a cell for each of `SOURCE_COLUMNS`; several are divided by line breaks."""

    def listed(values: Sequence[str]) -> str:
        return "\n".join(values)

    return (
        listed([f"《{s.title}》" for s in sources]),
        listed([s.clause for s in sources]),
        listed([s.quote for s in sources]),
        listed([s.file for s in sources]),
        listed([f"{s.start}-{s.end}" for s in sources]),
    )
