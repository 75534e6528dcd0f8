"""What is known of a Word file while its text is read: styles, lists, fields, notes, counts."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from kgrag.ingestion.load.numbering import Numbering
from kgrag.ingestion.load.raised import Script, Scripted, written
from kgrag.ingestion.load.word.headings import WordStyles
from kgrag.ingestion.load.word.package import W, WordPackage

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
# Deleted or moved-away text, the sound under a character, and a second copy of the same shape.
LEFT_OUT = frozenset(
    {W + "del", W + "moveFrom", W + "rt", W + "pPr", W + "rPr", W + "sdtPr", _MC + "Fallback"}
)


class Block(NamedTuple):
    """A line of the text and the level of the heading that it is; 0 for other text."""

    text: str
    level: int = 0


@dataclass(slots=True)
class Field:
    """A field that is open: its instruction, and whether its result has begun.

    Attributes:
        begin: The mark that it begins with; a form's state hangs on it.
        instruction: E.g. ` HYPERLINK "http://…" `, as far as it has been met.
        in_result: From the mark between instruction and result on.
    """

    begin: "Element"
    instruction: str = ""
    in_result: bool = False

    @property
    def kind(self) -> str:
        """Its first word in capitals, e.g. `TOC`; empty for a field without instruction."""
        return next(iter(self.instruction.split()), "").upper()


@dataclass(slots=True)
class Reading:
    """The state of reading one file.

    Attributes:
        field_marks: The marks of fields that begin and end; any other mark is passed over.
        noted: (tag of the reference, id) of the notes that have a text.
        open_fields: From the outermost to the innermost.
        pending: Text whose paragraph mark is deleted: it goes on in the next paragraph.
        note_numbers: The notes referred to, in the order of their first mark, from 1.
        counts: What is to be said of the file, by kind.
        pictures: Relation ids of the pictures that were met.
        diagrams: Relation ids of the texts of diagrams (SmartArt) of the paragraph at hand.
        unknown_symbols: `font code` of characters that have no counterpart.
    """

    package: WordPackage
    numbering: Numbering
    styles: WordStyles
    field_marks: frozenset["Element"] = frozenset()
    noted: frozenset[tuple[str, str]] = frozenset()
    open_fields: list[Field] = field(default_factory=list)
    pending: str = ""
    note_numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    pictures: list[str] = field(default_factory=list)
    diagrams: list[str] = field(default_factory=list)
    unknown_symbols: set[str] = field(default_factory=set)

    @property
    def is_shown(self) -> bool:
        """Whether text that stands here is shown: it is in no field's instruction."""
        return all(open_field.in_result for open_field in self.open_fields)

    @property
    def in_contents(self) -> bool:
        """Whether this is inside the result of a generated table of contents."""
        return any(open_field.kind == "TOC" for open_field in self.open_fields)


@dataclass(slots=True)
class Line:
    """A paragraph while it is read.

    Attributes:
        pieces: Its text.
        boxes: The contents of text boxes that hang on it.
        links_to_heading: Whether it has a link to a heading, as lines of a contents list do.
    """

    pieces: list[Scripted] = field(default_factory=list)
    boxes: "list[Element]" = field(default_factory=list)
    links_to_heading: bool = False

    @property
    def text(self) -> str:
        """The paragraph, raised and lowered characters written out."""
        return written(self.pieces)

    def add(self, text: str, script: Script = "") -> None:
        """Append text."""
        self.pieces.append(Scripted(text, script))


def field_marks(root: "Element") -> frozenset["Element"]:
    """Return the marks (begin, separate, end) of the fields that are whole.

    A field without an end would otherwise hide all that follows.
    """
    whole: set[Element] = set()
    open_marks: list[list[Element]] = []
    for mark in root.iter(W + "fldChar"):
        if any(parent.tag in LEFT_OUT for parent in mark.iterancestors()):
            continue
        kind = mark.get(W + "fldCharType")
        if kind == "begin":
            open_marks.append([mark])
        elif open_marks:
            open_marks[-1].append(mark)
            if kind == "end":
                whole.update(open_marks.pop())
    return frozenset(whole)
