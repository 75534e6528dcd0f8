"""Text detection and recognition by RapidOCR, with the models that its package brings."""

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from kgrag.errors import needs_extra
from kgrag.ingestion.load.context import is_off
from kgrag.ingestion.load.ocr.page_text import Quad
from kgrag.text.messages import message

if TYPE_CHECKING:
    from kgrag.ingestion.load.ocr.page_text import Picture

NOT_INSTALLED = message("pip install 'kgrag[ocr]' has scanned pages and pictures read")
# The detector finds lines of body text on a page of this many pixels as well as on one of 2000,
# which is what RapidOCR takes, in half the time; lines are read at the page's full resolution.
_DETECTION_SIDE = 1440
_NARROWEST = 4  # pixels: nothing smaller is a character


@dataclass(frozen=True, slots=True)
class Read:
    """Recognised text, stripped.

    Attributes:
        text: A line or a part of one.
        confidence: Mean over its characters, from 0 to 1.
        characters: Confidence of each character.
    """

    text: str
    confidence: float
    characters: tuple[float, ...]


def is_installed() -> bool:
    """Return whether the packages of the extra `ocr` are installed, without importing them."""
    return find_spec("rapidocr") is not None and find_spec("cv2") is not None


def why_unread() -> str:
    """Return why pictures are not read, with the remedy; empty where they are."""
    if is_off():
        return message("recognition of pictures is off (ingest.ocr)")
    return "" if is_installed() else NOT_INSTALLED


def engine_version() -> str:
    """Return a version of the models, for keys of caches."""
    return f"rapidocr {version('rapidocr')} PP-OCRv6 small, {_DETECTION_SIDE}"


class Engine:
    """The models, loaded once a process; one page at a time.

    Those in RapidOCR's package, so that nothing is fetched: detector and recogniser of PP-OCRv6.
    """

    def __init__(self, detect: Any, recognise: Any) -> None:
        self._detect = detect
        self._recognise = recognise
        self._lock = threading.Lock()

    @classmethod
    def load(cls) -> "Engine":
        """Load the models.

        Raises:
            MissingDependencyError: If the extra `ocr` is not installed.
        """
        with needs_extra("ocr", "reading scanned pages and pictures"):
            from rapidocr import RapidOCR
        shared = {
            "Global.log_level": "critical",
            "Global.text_score": 0.0,
            "EngineConfig.onnxruntime.intra_op_num_threads": _threads(),
        }
        detect = RapidOCR(params={**shared, "Global.max_side_len": _DETECTION_SIDE})
        recognise = RapidOCR(params={**shared, "Global.use_preprocess_img": False})
        return cls(detect, recognise)

    def lines(self, picture: "Picture") -> list[Quad]:
        """Return the corners of every line of text in a grey or colour picture."""
        boxes = self._call(self._detect, picture, "det").boxes
        return [] if boxes is None else [Quad(*map(tuple, quad)) for quad in boxes.tolist()]

    def read(self, pieces: Sequence["Picture"]) -> list[Read]:
        """Return the text of pieces of a page, each one line; "" for one that is too small."""
        return [self._read(piece) for piece in pieces]

    def _read(self, piece: "Picture") -> Read:
        if min(piece.shape[:2]) < _NARROWEST:
            return Read("", 0.0, ())
        found = self._call(self._recognise, piece, "rec")
        text = found.txts[0]
        confidences = tuple(float(c) for c in found.word_results[0].confs)
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        return Read(text.strip(), float(found.scores[0]), confidences[start:end])

    def _call(self, model: Any, picture: "Picture", use: str) -> Any:
        steps = {f"use_{step}": step == use for step in ("det", "cls", "rec")}
        with self._lock:  # a call's options stay on the model
            return model(_colour(picture), **steps, return_word_box=use == "rec")


@cache
def loaded() -> Engine:
    """Return the process's engine."""
    return Engine.load()


def _colour(picture: "Picture") -> "Picture":
    """Return a picture with three channels."""
    import numpy as np

    return picture if picture.ndim == 3 else np.repeat(picture[:, :, None], 3, axis=2)


def _threads() -> int:
    """Return the number of threads, `OMP_NUM_THREADS`; -1 for all."""
    told = os.environ.get("OMP_NUM_THREADS", "")
    return int(told) if told.isdecimal() and int(told) else -1
