import json

import numpy as np
import pytest

from kgrag.errors import StoreError
from kgrag.store.sqlite import vector_files
from kgrag.store.sqlite.cache import CacheFolder
from kgrag.store.sqlite.changes import Mark
from kgrag.store.sqlite.vector_blocks import Block
from kgrag.store.sqlite.vector_files import (
    FORMAT,
    fill_segment,
    lengths_of,
    open_segment,
    read_block,
    read_list,
    segments_folder,
    stream,
    write_list,
)
from kgrag.store.sqlite.vector_rows import CodedRows, quantized
from tests.fixtures.dense_vectors import unit

RNG = np.random.default_rng(0)
MATRICES = {"d-b": unit(RNG, 20), "d-a": unit(RNG, 3), "d-c": unit(RNG, 9)}
ALL = np.concatenate(list(MATRICES.values()))
LENGTHS = {"d-b": 20, "d-a": 3, "d-c": 9}
NODES = [f"{d}:{i}" for d, n in LENGTHS.items() for i in range(n)]


@pytest.fixture
def connection(dense):
    """A connection to a knowledge base of three documents, and one without vectors."""
    base = dense()
    for doc_id, matrix in {**MATRICES, "d-empty": np.empty((0, 8), np.float32)}.items():
        base.put(doc_id, matrix)
    with base.database.read() as connection:
        yield connection


def fill(connection, folder, *, form="plain", lengths=LENGTHS):
    return fill_segment(connection, "chunk", lengths, 8, form=form, folder=folder)


def test_documents_with_vectors_come_as_they_were_stored(connection):
    """The first stored first, those without vectors not at all."""
    found = lengths_of(connection, "chunk", ["d-a", "d-b", "d-c", "d-empty", "d-x"])

    assert list(found.items()) == list(LENGTHS.items())
    assert lengths_of(connection, "fact", ["d-a"]) == {}


@pytest.mark.parametrize("batch", [1, 12, 8192])
def test_vectors_are_read_a_few_documents_at_a_time(connection, monkeypatch, batch):
    """In the order asked for; a document is never cut."""
    monkeypatch.setattr(vector_files, "_BATCH", batch)
    parts = list(stream(connection, "chunk", LENGTHS, 8))

    assert len(parts) == {1: 3, 12: 2, 8192: 1}[batch]
    assert np.array_equal(np.concatenate([m for _, _, m in parts]), ALL)
    assert np.concatenate([n for n, _, _ in parts]).tolist() == list(range(1, 33))
    assert [node for _, ids, _ in parts for node in ids.at(np.arange(len(ids)))] == NODES


@pytest.mark.parametrize(("lengths", "dimension"), [({"d-a": 4}, 8), ({"d-a": 3}, 7)])
def test_missing_vectors_are_an_error(connection, lengths, dimension):
    """Never rows that nobody wrote."""
    with pytest.raises(StoreError, match=r"d-a.*kgrag verify"):
        read_block(connection, "chunk", lengths, dimension)


@pytest.mark.parametrize("form", ["plain", "scanned", "bytes"])
@pytest.mark.parametrize("on_disk", [False, True])
def test_a_segment_holds_documents_one_after_the_other(connection, tmp_path, form, on_disk):
    """On the disk and in memory, in every form."""
    segment = fill(connection, tmp_path / "s" if on_disk else None, form=form)
    if on_disk:
        segment = open_segment(tmp_path / "s" / segment.name)
        assert isinstance(segment.rows.matrix, np.memmap)

    assert segment.documents == {"d-b": 0, "d-a": 1, "d-c": 2}
    assert segment.bounds.tolist() == [0, 20, 23, 32]
    assert segment.numbers.tolist() == list(range(1, 33))
    assert segment.node_ids.at(np.arange(32)) == NODES
    in_8_bits = form == "bytes"
    assert isinstance(segment.rows, CodedRows) is in_8_bits
    assert np.array_equal(segment.rows.matrix, quantized(ALL)[0] if in_8_bits else ALL)
    assert (segment.rows.codes is None) is (form == "plain")
    assert (segment.name == "") is not on_disk


def test_a_file_grows_with_what_is_written(connection, tmp_path, monkeypatch):
    """It is no map of room that a full disk may not have: writing there kills the process."""
    sizes = []

    def watched(*args):
        for part in stream(*args):
            sizes.append(next(tmp_path.rglob("matrix.npy")).stat().st_size)
            yield part

    monkeypatch.setattr(vector_files, "_BATCH", 1)
    monkeypatch.setattr(vector_files, "stream", watched)
    segment = fill(connection, tmp_path)

    whole = (tmp_path / segment.name / "matrix.npy").stat().st_size
    assert len(sizes) == 3
    assert max(sizes) <= whole - 9 * 8 * 4


def other_json(path, name, value):
    (path / name).write_text(json.dumps(value), "utf-8")


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: (path / "matrix.npy").write_bytes(b""),
        lambda path: (path / "matrix.npy").write_bytes((path / "matrix.npy").read_bytes()[:-1]),
        lambda path: np.save(path / "matrix.npy", np.zeros(32, np.int8)),
        lambda path: (path / "numbers.npy").unlink(),
        lambda path: np.save(path / "numbers.npy", np.arange(31)),
        lambda path: (path / "nodes.npy").unlink(),
        lambda path: np.save(path / "nodes.npy", np.load(path / "nodes.npy")[:-1]),
        lambda path: np.save(path / "nodes.npy", np.load(path / "nodes.npy")[::-1]),
        lambda path: np.save(path / "nodes.npy", np.array([0, np.load(path / "nodes.npy")[-1]])),
        lambda path: np.save(path / "nodes.npy", np.load(path / "nodes.npy").astype(np.float64)),
        lambda path: np.save(path / "ids.npy", np.load(path / "ids.npy")[:-1]),
        lambda path: np.save(path / "ids.npy", np.load(path / "ids.npy")[:, None]),
        lambda path: np.save(path / "ids.npy", np.load(path / "ids.npy").astype(np.int64)),
        lambda path: np.save(path / "bounds.npy", np.array([0, 20, 20, 32])),
        lambda path: np.save(path / "bounds.npy", np.array([0, 20, 23, 31])),
        lambda path: np.save(path / "scales.npy", np.ones(31, np.float32)),
        lambda path: (path / "codes.bin").write_bytes(b"garbage"),
        lambda path: (path / "codes.bin").unlink(),
        lambda path: other_json(path, "documents.json", ["d-a"]),
        lambda path: other_json(path, "documents.json", {}),
        lambda path: (path / "documents.json").write_bytes(b"\xff"),
    ],
)
def test_a_damaged_segment_is_not_opened(connection, tmp_path, damage):
    """The index catches these and builds it anew."""
    path = tmp_path / fill(connection, tmp_path, form="bytes").name
    damage(path)
    with pytest.raises((OSError, EOFError, ValueError, TypeError)):
        open_segment(path)


@pytest.fixture
def cache(tmp_path):
    """Where the list is."""
    return CacheFolder(tmp_path / "cache")


def test_a_list_names_segments_and_their_dead(connection, cache):
    """What it does not name is removed, and segments that are open are not opened again."""
    folder = segments_folder(cache, "v")
    first, second, lost = (fill(connection, folder) for _ in range(3))
    mark = Mark(3, "x")
    write_list(cache, "v", Mark(2, "x"), [Block.of(first)])
    second = fill(connection, folder)
    write_list(cache, "v", mark, [Block.of(first, [1]), Block.of(second).without(["d-b", "d-c"])])
    note = cache.read("v", FORMAT)
    blocks = read_list(note, {first.name: first})

    assert note.mark == mark
    assert blocks[0].segment is first
    assert [b.standing() for b in blocks] == [["d-b", "d-c"], ["d-a"]]
    assert {p.name for p in folder.iterdir() if p.is_dir()} == {first.name, second.name}
    assert len(list(folder.iterdir())) == 3
    assert lost.name not in {first.name, second.name}


@pytest.mark.parametrize(
    "details", [{}, {"segments": 7}, {"segments": [["x", 0]]}, {"dead": "x"}, {"segments": []}]
)
def test_a_list_that_says_other_than_the_files_is_not_read(connection, cache, details):
    """Its segments, and how many of their documents are dead."""
    block = Block.of(fill(connection, segments_folder(cache, "v")), [1])
    write_list(cache, "v", Mark(), [block])
    path = cache.folder / "v.json"
    note = json.loads(path.read_text("utf-8"))
    changed = {**note["details"], **details} if details else {}
    path.write_text(json.dumps(note | {"details": changed}), "utf-8")
    with pytest.raises((OSError, EOFError, ValueError, KeyError, TypeError)):
        read_list(cache.read("v", FORMAT), {})
