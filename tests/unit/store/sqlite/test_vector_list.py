import json

import pytest

from kgrag.store.sqlite.cache import CacheFolder
from kgrag.store.sqlite.changes import Mark
from kgrag.store.sqlite.vectors import read_list, segments_folder, write_list
from kgrag.vectors.blocks import Block
from kgrag.vectors.files import FORMAT
from tests.unit.vectors.test_files import fill


@pytest.fixture
def cache(tmp_path):
    """Where the list is."""
    return CacheFolder(tmp_path / "cache")


def test_a_list_names_segments_and_their_dead(cache):
    """What it does not name is removed, and segments that are open are not opened again."""
    folder = segments_folder(cache, "v")
    first, second, lost = (fill(folder) for _ in range(3))
    mark = Mark(3, "x")
    write_list(cache, "v", Mark(2, "x"), [Block.of(first)])
    second = fill(folder)
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
def test_a_list_that_says_other_than_the_files_is_not_read(cache, details):
    """Its segments, and how many of their documents are dead."""
    block = Block.of(fill(segments_folder(cache, "v")), [1])
    write_list(cache, "v", Mark(), [block])
    path = cache.folder / "v.json"
    note = json.loads(path.read_text("utf-8"))
    changed = {**note["details"], **details} if details else {}
    path.write_text(json.dumps(note | {"details": changed}), "utf-8")
    with pytest.raises((OSError, EOFError, ValueError, KeyError, TypeError)):
        read_list(cache.read("v", FORMAT), {})
