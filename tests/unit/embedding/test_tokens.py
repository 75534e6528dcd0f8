"""Tokens, and vectors that are kept."""

import multiprocessing
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from kgrag.embedding.local import TextTokenizer
from kgrag.embedding.model_folder import TOKENIZER_FILE
from kgrag.embedding.vector_cache import CachedEmbedder, VectorCache
from kgrag.errors import ModelError
from tests.fixtures.vectors_server import DIMENSION, vector


def test_encode_gives_ids_and_places_without_special_tokens(tiny_files):
    """Limits and padding in the file are not heeded: the caller cuts."""
    tokenizer = Tokenizer.from_file(str(tiny_files / TOKENIZER_FILE))
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=9)
    first, second = TextTokenizer(tokenizer, max_tokens=8).encode(["ab绿色", "c"])

    assert (first.ids, first.offsets) == ([4, 5, 7, 8], [(0, 1), (1, 2), (2, 3), (3, 4)])
    assert second.ids == [6]


def test_framed_puts_the_special_tokens_around(tiny_files):
    """[CLS] before and [SEP] behind, so that two tokens less of the text are read."""
    tokenizer = TextTokenizer.from_folder(tiny_files, max_tokens=8)

    assert tokenizer.framed([4, 5]) == [2, 4, 5, 3]
    assert tokenizer.limit == 6


def test_from_folder_refuses_what_is_no_tokenizer(tmp_path, tiny_files):
    """A file that is none, one without tokens, a limit that leaves no room for text."""
    (tmp_path / TOKENIZER_FILE).write_text("<html>")
    with pytest.raises(ModelError, match="cannot load the tokenizer"):
        TextTokenizer.from_folder(tmp_path, max_tokens=8)

    silent = Tokenizer(models.WordLevel({}, "x"))
    silent.pre_tokenizer = pre_tokenizers.Split("a", "removed")
    with pytest.raises(ModelError, match="no tokens for the letter a"):
        TextTokenizer(silent, max_tokens=8)

    with pytest.raises(ModelError, match=r"special tokens alone are 2.*Remedy"):
        TextTokenizer.from_folder(tiny_files, max_tokens=2)


TEXTS = [f"第{n}条" for n in range(6)]


class CountingEmbedder:
    """An encoder that notes what it is asked, two texts at once, and fails when told to."""

    is_stand_in = False
    languages = "zh"
    settings = {"model": "m"}  # noqa: RUF012

    def __init__(self, *, name="endpoint-m-8-0000", dimension=DIMENSION, fails_at=None):
        self.name = name
        self.dimension = dimension
        self.asked = []
        self._fails_at = fails_at

    def embed_batches(self, texts, task):
        """Yield two vectors at once."""
        for start in range(0, len(texts), 2):
            if start == self._fails_at:
                raise ModelError("down")
            places = list(range(start, min(start + 2, len(texts))))
            self.asked.append([texts[place] for place in places])
            yield places, np.array([vector(texts[p], self.dimension) for p in places])


@pytest.fixture
def file(tmp_path):
    return tmp_path / "cache" / "vectors.db"


def kept(file, embedder=None, **options):
    encodes: Any = embedder or CountingEmbedder()
    return CachedEmbedder(encodes, file, **options)


def expected(texts, dimension=DIMENSION):
    return np.array([vector(text, dimension) for text in texts])


def test_embed_asks_for_each_text_once(file):
    """The second encoder, another process in life, finds all that the first one kept."""
    first, second = CountingEmbedder(), CountingEmbedder()
    kept(file, first).embed(TEXTS[:3], "passage")
    vectors = kept(file, second).embed(TEXTS, "passage")
    assert first.asked == [TEXTS[:2], TEXTS[2:3]]
    assert second.asked == [TEXTS[3:5], TEXTS[5:]]
    np.testing.assert_array_equal(vectors, expected(TEXTS))
    assert vectors.dtype == np.float32


def test_attributes_are_the_encoders(file):
    """Name and dimension are asked for when somebody wants them only."""

    class Unasked(CountingEmbedder):
        name = property(lambda self: pytest.fail("asked"))

        def __init__(self):
            pass

    assert kept(file, Unasked()).languages == "zh"
    embedder = kept(file)
    assert (embedder.name, embedder.dimension) == ("endpoint-m-8-0000", DIMENSION)
    assert (embedder.is_stand_in, embedder.settings) == (False, {"model": "m"})


def test_what_was_answered_before_an_error_is_kept(file):
    """Each request's vectors, before the next is waited for."""
    with pytest.raises(ModelError, match="down"):
        kept(file, CountingEmbedder(fails_at=4)).embed(TEXTS, "passage")
    embedder = CountingEmbedder()
    kept(file, embedder).embed(TEXTS, "passage")
    assert embedder.asked == [TEXTS[4:]]


def test_a_kill_loses_what_is_under_way_only(file):
    """Ended without a word after two requests, a process has kept both."""
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from tests.unit.embedding import test_tokens as cached\n"
        "class Killed(cached.CountingEmbedder):\n"
        "    def embed_batches(self, texts, task):\n"
        "        for number, batch in enumerate(super().embed_batches(texts, task)):\n"
        "            if number == 2: os._exit(9)\n"
        "            yield batch\n"
        "embedder = cached.CachedEmbedder(Killed(), Path(sys.argv[1]))\n"
        "embedder.embed(cached.TEXTS, 'passage')\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(file)], check=False)
    assert ended.returncode == 9
    embedder = CountingEmbedder()
    kept(file, embedder).embed(TEXTS, "passage")
    assert embedder.asked == [TEXTS[4:]]


def write(path, prefix):
    texts = [f"{prefix}{n}" for n in range(30)]
    for text in texts:
        VectorCache(path).keep({text: vector(text)})


def test_many_threads_and_processes_share_a_file(file):
    """None waits in vain, and all is there afterwards."""
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=write, args=(file, "a"))
    process.start()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, [file] * 2, "bc"))
    process.join()
    keys = [f"{prefix}{n}" for prefix in "abc" for n in range(30)]
    assert set(VectorCache(file).find(keys, dimension=DIMENSION)) == set(keys)


@pytest.mark.parametrize("damage", [b"no database", b"SQLite format 3\x00" + b"\xff" * 70_000])
def test_a_damaged_file_is_set_aside(file, damage, caplog):
    """With a notice; what was paid is paid again, and kept."""
    file.parent.mkdir()
    file.write_bytes(damage)
    first, second = CountingEmbedder(), CountingEmbedder()
    np.testing.assert_array_equal(kept(file, first).embed(TEXTS, "passage"), expected(TEXTS))
    assert file.with_name("vectors.db.damaged").read_bytes() == damage
    assert "set aside as vectors.db.damaged" in caplog.text
    kept(file, second).embed(TEXTS, "passage")
    assert second.asked == []


@pytest.mark.parametrize("blob", [b"", b"\x00" * 3, b"\xff" * 32, np.full(8, 2, "<f4").tobytes()])
def test_a_damaged_vector_is_encoded_again(file, blob):
    """Of another length, no numbers, or not of unit length."""
    kept(file).embed(["甲"], "passage")
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE vectors SET vector = ?", (blob,))
    connection.close()
    for asked in ([["甲"]], []):
        embedder = CountingEmbedder()
        np.testing.assert_array_equal(
            kept(file, embedder).embed(["甲"], "passage")[0], vector("甲")
        )
        assert embedder.asked == asked


def test_another_programs_database_is_left_alone(file, caplog):
    """It is not ours to set aside; vectors are encoded, with one notice."""
    file.parent.mkdir()
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = file.read_bytes()
    embedder = kept(file)
    for _ in range(2):
        np.testing.assert_array_equal(embedder.embed(TEXTS, "passage"), expected(TEXTS))
    assert file.read_bytes() == before
    assert caplog.text.count("not kept there now") == 1


def test_a_folder_that_cannot_be_written_is_gone_without(tmp_path, caplog):
    """A cache is no reason to fail."""
    (tmp_path / "file").write_text("in the way")
    embedder = kept(tmp_path / "file" / "vectors.db")
    np.testing.assert_array_equal(embedder.embed(TEXTS, "passage"), expected(TEXTS))
    assert "set KGRAG_CACHE" in caplog.text


def test_the_oldest_go_when_the_file_is_full(file):
    """It does not grow without end; what was kept last stays."""
    dimension, most_bytes = 1024, 1_000_000  # some 200 vectors
    keys = [f"第{n}号" for n in range(400)]
    store = VectorCache(file, most_bytes=most_bytes)
    for start in range(0, len(keys), 20):
        store.keep({key: vector(key, dimension) for key in keys[start : start + 20]})
    found = store.find(keys, dimension=dimension)
    assert file.stat().st_size < most_bytes + 200_000
    assert list(found) == keys[-len(found) :]
    assert 150 < len(found) < 250
