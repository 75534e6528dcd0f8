"""The stand-in encoder: feature hashing of words and character n-grams, without a model."""

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kgrag.embedding.embedder import Task, Vectors
from kgrag.text.words import normalize_name, words

_Keys = NDArray[np.uint64]

# Odd 64-bit constants that separate the three kinds of features, and those of splitmix64
# (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
_WORD_SALT = np.uint64(0x9E3779B97F4A7C15)
_PAIR_SALT = np.uint64(0xD1B54A32D192ED03)
_TRIPLE_SALT = np.uint64(0x8CB92BA72F3D8DD7)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_POINT_BITS = np.uint64(21)  # a Unicode code point fits in 21 bits, so three fit in one key


class HashEmbedder:
    """Hashed words, character pairs and triples, weighted 1 + ln(tf), with random signs.

    Signed feature hashing after Weinberger et al. 2009, "Feature Hashing for Large Scale Multitask
    Learning". It finds shared words and characters, not meaning; the default where no model is
    installed. Both tasks are encoded alike.
    """

    is_stand_in = True
    languages = ""
    answered: float | None = 0.06

    def __init__(self, dimension: int = 1024) -> None:
        if dimension < 1:
            raise ValueError(f"dimension must be at least 1, got {dimension}")
        self.name = f"hash-{dimension}"
        self.dimension = dimension
        self.settings = {"model": self.name}

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`; rows have unit length, or zero if empty."""
        out = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            out[row] = self._vector(text)
        return out

    def _vector(self, text: str) -> NDArray[np.float64]:
        features, counts = np.unique(_features(text), return_counts=True)
        mixed = _mix(features)
        # The lowest bit is the sign, the others are the position: independent after mixing.
        signs = np.where(mixed & np.uint64(1), 1.0, -1.0)
        places = ((mixed >> np.uint64(1)) % np.uint64(self.dimension)).astype(np.intp)
        vector = np.zeros(self.dimension)
        np.add.at(vector, places, signs * (1 + np.log(counts)))
        # without features it stays the zero vector
        return vector / (float(np.linalg.norm(vector)) or 1.0)


def _features(text: str) -> _Keys:
    """Return one 64-bit key for every word, character pair and character triple."""
    hashes = [zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in words(text)]
    bare = normalize_name(text).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(bare, np.uint32).astype(np.uint64)
    pairs = points[:-1] << _POINT_BITS | points[1:]
    triples = pairs[:-1] << _POINT_BITS | points[2:]
    if len(points) == 1:  # a single character, as in kgrag.text.words.character_pairs
        pairs = points
    found = np.array(hashes, np.uint64)
    return np.concatenate([found ^ _WORD_SALT, pairs ^ _PAIR_SALT, triples ^ _TRIPLE_SALT])


def _mix(keys: _Keys) -> _Keys:
    """Scatter keys over 64 bits by the finaliser of splitmix64."""
    keys = (keys ^ keys >> np.uint64(30)) * _MIX[0]
    keys = (keys ^ keys >> np.uint64(27)) * _MIX[1]
    return keys ^ keys >> np.uint64(31)
