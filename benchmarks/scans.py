"""Measure text recognition: pages of PDFs as pictures, clean and spoiled, against their text layer.

    python benchmarks/scans.py FOLDER_OF_PDFS [--pages 20] [--seed 1] [--alone-every 2] [--out FILE]

Each page is rendered at 200 dpi as it is (`clean`), turned by 2 degrees (`turned`), with the noise
of a bad scanner (`noisy`), and pale and grey as a JPEG of low quality (`grey`). Beside it RapidOCR
alone, by its own default call, with the same models and as many threads, on every so many pages.

Characters right in order are 1 - edit distance / length of the text layer, blanks left out: as
they are, and with full-width and ASCII forms and quotation marks taken as equal. Numbers are the
share of those in the text layer that are read, each as often as it is there.
"""

import argparse
import io
import json
import random
import re
import statistics
import sys
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

DPI = 200
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_LEAST_TEXT = 300  # characters of a page that is looked at
_TABLE_PATHS = 80  # lines drawn on a page with a ruled table, at least
_SIGMA = 18.0  # of the noise, of 255
_SPECKS = 0.002  # share of pixels that are black or white by chance
_QUALITY = 30  # of the JPEG


@dataclass(frozen=True)
class Row:
    """What a reader made of a page."""

    page: str
    variant: str
    reader: str
    characters: float
    characters_alike: float
    n_numbers: int
    n_right: int
    seconds: float


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--alone-every", type=int, default=2)
    parser.add_argument("--out", type=Path)
    told = parser.parse_args()
    rows = []
    for row in measured(told.folder, told.pages, told.seed, told.alone_every):
        rows.append(row)
        if told.out:
            with told.out.open("a") as file:
                file.write(json.dumps(asdict(row)) + "\n")
    show(rows)


def show(rows: list[Row]) -> None:
    """Print means by variant and reader."""
    groups: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.variant, row.reader].append(row)
    print("variant  reader          pages  characters  alike  lowest  numbers  s/page")
    for (variant, reader), group in groups.items():
        numbers = sum(r.n_right for r in group) / max(1, sum(r.n_numbers for r in group))
        alike = [r.characters_alike for r in group]
        print(
            f"{variant:8} {reader:14} {len(group):6} "
            f"{statistics.mean(r.characters for r in group):10.2%} {statistics.mean(alike):7.2%} "
            f"{min(alike):6.1%} {numbers:8.2%} {statistics.mean(r.seconds for r in group):7.1f}"
        )


def measured(folder: Path, n_pages: int, seed: int, alone_every: int) -> Iterator[Row]:
    """Yield what each reader makes of each variant of each page."""
    from rapidocr import RapidOCR

    from kgrag.ingestion.load.ocr.engine import _threads, loaded
    from kgrag.ingestion.load.ocr.lines import placed
    from kgrag.ingestion.load.ocr.page import read_page
    from kgrag.ingestion.load.page_tables import Table

    engine = loaded()
    threads = {"EngineConfig.onnxruntime.intra_op_num_threads": _threads()}
    alone = RapidOCR(params={"Global.log_level": "critical", **threads})

    def ours(picture: np.ndarray) -> str:
        words: list[str] = []
        for item, _ in placed(read_page(picture, engine=engine), scale=1.0):
            if isinstance(item, Table):  # labels of merged cells once, as in the layer
                cells = zip(chain(*item.cells), chain(*item.rows), strict=True)
                words += dict(cells).values()
            else:
                words.append(item.text)
        return "\n".join(words)

    def default(picture: np.ndarray) -> str:
        return "\n".join(alone(picture[:, :, ::-1]).txts or ())

    warm = np.full((400, 400, 3), 255, np.uint8)
    ours(warm)
    default(warm)
    pages = list(chosen(folder, n_pages, seed))
    for variant in ("clean", "turned", "noisy", "grey"):
        for number, (name, picture, text) in enumerate(pages):
            shown = spoiled(picture, variant, seed=seed + number)
            readers: list[tuple[str, Any]] = [("ours", ours)]
            if number % alone_every == 0:
                readers.append(("rapidocr alone", default))
            for reader, read in readers:
                began = time.perf_counter()
                found = read(shown)
                seconds = time.perf_counter() - began
                yield judged(text, found, name, variant, reader, seconds)
                print(name, variant, reader, f"{seconds:.1f} s", file=sys.stderr, flush=True)


def chosen(folder: Path, n_pages: int, seed: int) -> Iterator[tuple[str, np.ndarray, str]]:
    """Yield (name, picture, text layer) of pages: those with ruled tables, and others by chance."""
    import pypdfium2
    from pypdfium2 import raw

    tables, others = [], []
    for file in sorted(folder.glob("*.pdf")):
        document = pypdfium2.PdfDocument(file)
        for index, page in enumerate(document):
            paths = sum(o.type == raw.FPDF_PAGEOBJ_PATH for o in page.get_objects())
            if len(bare(page.get_textpage().get_text_range())) >= _LEAST_TEXT:
                (tables if paths >= _TABLE_PATHS else others).append((file, index))
    tables = tables[: n_pages // 2]
    by_chance = random.Random(seed).sample(others, n_pages - len(tables))
    for file, index in (*tables, *sorted(by_chance)):
        page = pypdfium2.PdfDocument(file)[index]
        width = page.get_width()
        scale = min(DPI / 72, 1654 / width)  # a page of a phone's screen as large as A4
        picture = page.render(scale=scale, rev_byteorder=True).to_numpy()[:, :, :3]
        yield f"{file.stem} {index + 1}", picture.copy(), page.get_textpage().get_text_range()


def spoiled(picture: np.ndarray, variant: str, *, seed: int) -> np.ndarray:
    """Return a page as a scanner or a photocopier would give it."""
    from PIL import Image, ImageFilter

    image = Image.fromarray(picture)
    if variant == "turned":
        turned = image.rotate(2, Image.Resampling.BICUBIC, expand=True, fillcolor="white")
        return np.asarray(turned)
    if variant == "noisy":
        chance = np.random.default_rng(seed)
        values = picture + chance.normal(0, _SIGMA, picture.shape[:2])[:, :, None]
        specks = chance.random(picture.shape[:2])
        values[specks < _SPECKS / 2] = 0
        values[specks > 1 - _SPECKS / 2] = 255
        return np.clip(values, 0, 255).astype(np.uint8)
    if variant == "grey":
        pale = image.convert("L").filter(ImageFilter.GaussianBlur(0.7)).point(_pale)
        held = io.BytesIO()
        pale.save(held, "JPEG", quality=_QUALITY)
        return np.asarray(Image.open(held).convert("RGB"))
    return picture


def _pale(value: int) -> int:
    return 95 + value * 105 // 255


def judged(text: str, found: str, page: str, variant: str, reader: str, seconds: float) -> Row:
    """Return how much of a page's text was read."""
    numbers, read = Counter(_NUMBER.findall(text)), Counter(_NUMBER.findall(found))
    return Row(
        page,
        variant,
        reader,
        characters=right_in_order(bare(text), bare(found)),
        characters_alike=right_in_order(alike(text), alike(found)),
        n_numbers=numbers.total(),
        n_right=(numbers & read).total(),
        seconds=round(seconds, 2),
    )


def bare(text: str) -> str:
    """Return text without blanks and what is not shown."""
    return "".join(c for c in text if not c.isspace() and unicodedata.category(c)[0] != "C")


def alike(text: str) -> str:
    """Return text in which forms of one mark, and quotation marks, are the same."""
    return re.sub("[“”\"‘’']", '"', unicodedata.normalize("NFKC", bare(text)))


def right_in_order(text: str, found: str) -> float:
    """Return 1 - edit distance / length of the text, not below 0 (Levenshtein 1966)."""
    if not text:
        return float(not found)
    a, b = (np.array([ord(c) for c in s], dtype=np.int64) for s in (text, found))
    steps = np.arange(len(b) + 1)
    row = steps.copy()
    for i, code in enumerate(a, 1):
        new = np.empty_like(row)
        new[0] = i
        new[1:] = np.minimum(row[1:] + 1, row[:-1] + (b != code))
        row = np.minimum.accumulate(new - steps) + steps
    return max(0.0, 1 - int(row[-1]) / len(text))


if __name__ == "__main__":
    main()
