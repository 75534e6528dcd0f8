"""PDF files: the text layer page by page, lines put together again into paragraphs."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgrag.errors import IngestionError
from kgrag.ingestion.load.page_lines import LITTLE_TEXT, page_items
from kgrag.ingestion.load.page_tables import Item, Table
from kgrag.ingestion.load.parsed import Parsed, replace_unusable
from kgrag.ingestion.load.reflow import reflow
from kgrag.ingestion.load.scanned import Recognised, recognised, why_unread
from kgrag.ingestion.load.text_layer import is_garbage
from kgrag.ingestion.load.title import find_title, guess_title

# PDFium keeps state of its own between calls and may not be entered by two threads at once.
_PDFIUM = threading.Lock()
_MOST_LISTED = 8
# A file ends with this mark; a few bytes may follow it.
_END = b"%%EOF"
_AFTER_END = 2048
# A page of little text that pictures cover for this share is a picture.
_MOSTLY = 0.4
_NO_TEXT = (
    "has a text layer that is no readable text (a wrong character map)",
    "have a text layer that is no readable text",
)
_A_PICTURE = ("is mostly a picture, which is not read", "are mostly pictures, which are not read")


@dataclass(frozen=True, slots=True)
class _Layers:
    """What the text layers of pages are like; pages by number, from 1.

    Attributes:
        sizes: Characters of every page.
        empty: Pages without a layer.
        garbage: Pages whose layer is no readable text.
        drawn: Pages of little text that are mostly a picture.
    """

    sizes: list[int]
    empty: list[int]
    garbage: list[int]
    drawn: list[int]

    @classmethod
    def of(cls, pages: Sequence[tuple[list[Item], float]]) -> "_Layers":
        """Return it of pages: what stands on each, and which share of it pictures cover."""
        layers = cls([], [], [], [])
        for number, (items, share) in enumerate(pages, 1):
            text = page_text(items)
            layers.sizes.append(len(text))
            if not text:
                layers.empty.append(number)
            elif is_garbage(text):
                layers.garbage.append(number)
            elif share >= _MOSTLY and len(text) < LITTLE_TEXT:
                layers.drawn.append(number)
        return layers

    @property
    def unreadable(self) -> list[int]:
        """Return the pages that say more as pictures, if they say anything."""
        return sorted((*self.empty, *self.garbage, *self.drawn))


def read_pdf(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return a PDF's text layer: a paragraph a line, with a segment for every page.

    Line breaks inside paragraphs, page numbers that stand alone and the gaps that PDFium puts
    between Chinese and digits are taken out. Tables, with rulings or set in columns, become rows
    of Markdown, over page ends as well. Pages without a text layer, with one that is no text, or
    that are a picture are named in a warning; so is a file whose end is missing.

    Args:
        data: The whole file.
        name: The file, for messages.
        stem: The title where the text names none.

    Raises:
        IngestionError: It is damaged, cut short so that no page is left, locked with a password,
            or has no text layer at all.
    """
    import pypdfium2

    is_cut = len(data) - data.rfind(_END) > _AFTER_END if _END in data else True
    with _PDFIUM:
        try:
            document = pypdfium2.PdfDocument(data)
            try:
                found = [page_items(document, i) for i in range(len(document))]
                layers = _Layers.of(found)
                pictures = dict(recognised(document, layers.unreadable))
            finally:
                document.close()
        except pypdfium2.PdfiumError as exc:
            raise IngestionError(
                f"{name}: {_remedy(str(exc), is_cut=is_cut and b'%PDF-' in data[:1024])}"
            ) from exc
    pages = [items for items, _ in found]
    for number, page in list(pictures.items()):
        if number in layers.garbage or len(page_text(page.lines)) > layers.sizes[number - 1]:
            pages[number - 1] = list(page.lines)
        else:
            del pictures[number]
    empty = [i for i in layers.empty if i not in pictures]
    if len(empty) == len(pages):
        raise IngestionError(
            f"{name}: none of its {len(pages)} pages has a text layer, and they cannot be read as "
            f"pictures: {why_unread() or 'no text is found in them; scan them at 200 to 300 dpi'}"
        )
    text, segments = reflow(pages)
    text, warnings = replace_unusable(text)
    return Parsed(
        text=text,
        title=find_title(text) or guess_title(text, stem),
        segments=segments,
        warnings=(
            *warnings,
            *(["the file's end is missing or damaged: pages may be missing"] if is_cut else []),
            *_recognised(pictures),
            *_no_layer(empty),
            *_listed([i for i in layers.garbage if i not in pictures], _NO_TEXT, why_unread()),
            *_listed([i for i in layers.drawn if i not in pictures], _A_PICTURE, ""),
        ),
    )


def _remedy(message: str, *, is_cut: bool) -> str:
    if "password" in message.lower():
        return "is locked with a password; open it, print it to a new PDF without one"
    if is_cut:
        return f"is damaged: cut short ({message}); copy or download it again"
    return f"is damaged or no PDF ({message}); open it and save it again"


def _recognised(pictures: Mapping[int, Recognised]) -> list[str]:
    """Return what has to be said of pages that were read as pictures."""
    if not pictures:
        return []
    n = len(pictures)
    which = f"page {next(iter(pictures))}" if n == 1 else f"{n} pages"
    said = f"{which} without readable text read as {'a picture' if n == 1 else 'pictures'}"
    return [said, *(warning for found in pictures.values() for warning in found.warnings)]


def _no_layer(empty: list[int]) -> list[str]:
    why = why_unread() or "no text is found in its picture"
    found = [f"page {n} has no text layer; {why}" for n in empty[:_MOST_LISTED]]
    if len(empty) > _MOST_LISTED:
        found.append(f"{len(empty) - _MOST_LISTED} more pages have no text layer")
    return found


def page_text(items: Sequence[Item]) -> str:
    """Return the text of a page, lines and rows of tables on lines of their own."""
    lines = []
    for item in items:
        lines += [" ".join(row) for row in item.rows] if isinstance(item, Table) else [item.text]
    return "\n".join(lines)


def _listed(pages: list[int], said: tuple[str, str], why: str) -> list[str]:
    one, many = said
    found = [f"page {n} {one}{why and '; '}{why}" for n in pages[:_MOST_LISTED]]
    if len(pages) > _MOST_LISTED:
        found.append(f"{len(pages) - _MOST_LISTED} more pages {many}")
    return found
