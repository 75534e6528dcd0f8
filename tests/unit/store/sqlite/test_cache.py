import pytest

from kgrag.store.sqlite.cache import CacheFolder, CacheUnwritableError, Note
from kgrag.store.sqlite.changes import Mark

MARK = Mark(3, "ab")


@pytest.fixture
def cache(tmp_path):
    folder = CacheFolder(tmp_path / "cache")
    with folder.exclusive("x"):
        yield folder


def test_a_note_comes_back_as_written(cache):
    """Mark, content and details."""
    path = cache.fresh("x", MARK)
    path.write_text("content")
    note = Note(MARK, path, {"docs": {"d": [0, 1]}})
    cache.write("x", "1", note)

    assert cache.read("x", "1") == note
    assert cache.names("x") == ["x"]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": "1"}', "\udcff"])
def test_a_note_that_cannot_be_read_is_none(cache, text):
    """Whatever was left on the disk."""
    (cache.folder / "x.json").write_bytes(text.encode("utf-8", "surrogateescape"))

    assert cache.read("x", "1") is None


def test_new_content_never_meets_old_content_and_replaces_it(cache):
    """Files and folders of earlier content go; those of other caches stay."""
    old = cache.fresh("x", MARK)
    old.mkdir()
    (old / "file").write_text("old")
    new = cache.fresh("x", MARK)
    assert new != old
    new.write_text("new")
    other = cache.fresh("x2", MARK)
    other.write_text("other")
    cache.write("x", "1", Note(MARK, new, {}))

    assert not old.exists()
    assert (new.read_text(), other.read_text()) == ("new", "other")
    assert cache.read("x", "1").content == new


def test_two_do_not_write_at_once(cache, monkeypatch):
    """The second waits, and gives up in the end."""
    monkeypatch.setattr("kgrag.store.sqlite.cache._LOCK_TIMEOUT_S", 0.01)

    with pytest.raises(CacheUnwritableError), CacheFolder(cache.folder).exclusive("x"):
        pass
