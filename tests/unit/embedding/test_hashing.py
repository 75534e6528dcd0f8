"""The stand-in encoder is stable, normalised and finds shared words."""

import hashlib
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from kgrag.embedding.hashing import HashEmbedder

TEXTS = [
    "到2025年，建成绿色工厂500家。",
    "绿色工厂建设目标：到2025年达到五百家。",
    "加强农村生活污水治理。",
]


def test_embed_gives_unit_rows_of_the_dimension():
    """Rows are float32 with length 1, whatever the dimension."""
    for dimension in (64, 1024):
        embedder = HashEmbedder(dimension)
        rows = embedder.embed(TEXTS, "passage")

        assert (embedder.name, embedder.is_stand_in) == (f"hash-{dimension}", True)

        assert rows.shape == (3, dimension)
        assert rows.dtype == np.float32
        assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 1], abs=1e-6)


def test_embed_gives_zero_for_empty_texts_and_no_rows_for_none():
    """An empty text is like nothing."""
    rows = HashEmbedder().embed(["", "  \n"], "query")

    assert not rows.any()
    assert HashEmbedder().embed([], "query").shape == (0, 1024)


def test_embed_gives_a_vector_to_any_other_text():
    """Single characters, marks alone and broken surrogates are texts, too."""
    rows = HashEmbedder().embed(["绿", "。。", "a", "\ud800"], "passage")

    assert np.linalg.norm(rows, axis=1) == pytest.approx([1] * 4, abs=1e-6)


def test_embed_is_blind_to_width_case_and_line_breaks_in_characters():
    """The same words in another width are the same text."""
    wide, narrow = HashEmbedder().embed(["ＰＵＥ低于１．３", "pue低于1.3"], "passage")

    assert wide @ narrow == pytest.approx(1, abs=1e-6)


def test_embed_encodes_both_tasks_alike():
    """There is no instruction."""
    embedder = HashEmbedder()

    assert (embedder.embed(TEXTS, "query") == embedder.embed(TEXTS, "passage")).all()


def test_embed_dampens_repeated_words():
    """A feature that comes twice weighs 1 + ln 2, worked out by hand for `pue pue`.

    Twice: the word, `pu`, `ue`, `pue`; once: `ep`, `uep`, `epu`.
    """
    one, two = HashEmbedder(1 << 20).embed(["pue", "pue pue"], "passage")
    weight = 1 + math.log(2)

    assert one @ two == pytest.approx(4 * weight / (2 * math.sqrt(4 * weight**2 + 3)), abs=1e-6)


def test_embed_does_not_depend_on_the_process():
    """Python's own hash is salted for each process; ours must not be."""
    code = (
        "import sys, hashlib, warnings; warnings.simplefilter('ignore')\n"
        "from kgrag.embedding.hashing import HashEmbedder\n"
        "rows = HashEmbedder().embed(sys.argv[1:], 'passage')\n"
        "print(hashlib.sha256(rows.tobytes()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "PYTHONUTF8": "1"}
    other = subprocess.run(
        [sys.executable, "-c", code, *TEXTS],
        env=environment,
        capture_output=True,
        check=True,
        text=True,
    )
    ours = hashlib.sha256(HashEmbedder().embed(TEXTS, "passage").tobytes()).hexdigest()

    assert other.stdout.strip() == ours
