"""Segments on the disk, filled from rows that come a few documents at a time."""

import json

import numpy as np
import pytest

from kgrag.vectors.blocks import NodeIds
from kgrag.vectors.files import fill_segment, open_segment
from kgrag.vectors.rows import CodedRows, quantized
from tests.fixtures.dense_vectors import unit

RNG = np.random.default_rng(0)
MATRICES = {"d-b": unit(RNG, 20), "d-a": unit(RNG, 3), "d-c": unit(RNG, 9)}
ALL = np.concatenate(list(MATRICES.values()))
LENGTHS = {"d-b": 20, "d-a": 3, "d-c": 9}
NODES = [f"{d}:{i}" for d, n in LENGTHS.items() for i in range(n)]


def streamed(batch=1):
    """Return the rows of so many documents at a time, as a database gives them."""
    names = list(MATRICES)
    at = 1
    for i in range(0, len(names), batch):
        some = names[i : i + batch]
        matrix = np.concatenate([MATRICES[name] for name in some])
        nodes = NodeIds.of(f"{d}:{i}" for d in some for i in range(LENGTHS[d]))
        yield np.arange(at, at := at + len(matrix)), nodes, matrix


def fill(folder, rows=None, *, form="plain"):
    return fill_segment(rows or streamed(), LENGTHS, 8, form=form, folder=folder)


@pytest.mark.parametrize("form", ["plain", "scanned", "bytes"])
@pytest.mark.parametrize("on_disk", [False, True])
def test_a_segment_holds_documents_one_after_the_other(tmp_path, form, on_disk):
    """On the disk and in memory, in every form."""
    segment = fill(tmp_path / "s" if on_disk else None, form=form)
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


def test_a_file_grows_with_what_is_written(tmp_path):
    """It is no map of room that a full disk may not have: writing there kills the process."""
    sizes = []

    def watched():
        for part in streamed():
            sizes.append(next(tmp_path.rglob("matrix.npy")).stat().st_size)
            yield part

    segment = fill(tmp_path, watched())

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
def test_a_damaged_segment_is_not_opened(tmp_path, damage):
    """The index catches these and builds it anew."""
    path = tmp_path / fill(tmp_path, form="bytes").name
    damage(path)
    with pytest.raises((OSError, EOFError, ValueError, TypeError)):
        open_segment(path)
