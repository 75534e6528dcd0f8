import json
import logging
import shutil
from contextlib import closing

import pytest
import tantivy

from kgrag.store.sqlite import lexical
from kgrag.store.sqlite.changes import Mark
from kgrag.store.sqlite.store import SQLiteStore

LOGGER = "kgrag.store.sqlite.lexical"


def hits(store, word="节能"):
    return store.search_words({word: 1.0}, field="text", size=24, top_k=99)


def note(folder):
    return json.loads((folder / "cache" / "lexical-24.json").read_text("utf-8"))


def content(folder):
    """Return the folder that holds the index."""
    return folder / "cache" / note(folder)["content"]


@pytest.fixture
def builds(caplog):
    """Return how often an index was built since the last call."""
    caplog.set_level(logging.INFO, LOGGER)

    def count():
        n = sum(record.getMessage().startswith("building") for record in caplog.records)
        caplog.clear()
        return n

    return count


def test_an_index_is_built_once_and_found_by_the_next(store, folder, builds):
    """The cache outlives the process."""
    builds()
    expected = hits(store)
    store.close()
    with closing(SQLiteStore.open(folder)) as again:
        assert hits(again) == expected != []
    assert builds() == 0


def test_another_process_that_changes_the_store_is_noticed(store, folder, put, builds):
    """Each catches up with the other's changes; the one that comes second finds them done."""
    builds()
    with closing(SQLiteStore.open(folder)) as other:
        put(other, 5)
        assert hits(store) == hits(other)
        put(store, 6)
        assert hits(other) == hits(store)
        assert any(c.startswith("d-06") for c, _ in hits(other))
    assert builds() == 0


def test_an_index_with_many_deleted_chunks_is_built_anew(store, builds, put):
    """Space and statistics: after that it is as fresh as any."""
    for i in range(4, 24):
        put(store, i)
    hits(store)
    builds()
    for i in range(3):
        store.delete_document(f"d-{i:02}")
    assert hits(store)
    assert builds() == 0
    for i in range(3, 12):
        store.delete_document(f"d-{i:02}")
    assert hits(store)
    assert builds() == 1


def other_note(folder, **changes):
    text = json.dumps(note(folder) | changes)
    (folder / "cache" / "lexical-24.json").write_text(text, "utf-8")


def damage_segments(folder):
    for path in content(folder).iterdir():
        if path.suffix in (".idx", ".term", ".fast"):
            path.write_bytes(b"garbage")


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "cache" / "lexical-24.json").write_text("{"),
        lambda folder: other_note(folder, format="0" + note(folder)["format"]),
        lambda folder: other_note(folder, stamp="of another database"),
        lambda folder: (content(folder) / "meta.json").write_text("garbage"),
        damage_segments,
        lambda folder: [path.unlink() for path in content(folder).glob("*.store")],
        lambda folder: shutil.rmtree(content(folder)),
        lambda folder: shutil.rmtree(folder / "cache"),
    ],
)
def test_an_index_that_cannot_be_used_is_built_anew(store, folder, builds, damage):
    """Silently: a cache is no loss."""
    expected = hits(store)
    store.close()
    damage(folder)
    builds()

    with closing(SQLiteStore.open(folder)) as again:
        assert hits(again) == expected
        assert builds() == 1
        assert again.verify() == []


def test_an_index_that_breaks_while_it_is_searched_is_built_anew(store, builds, monkeypatch):
    """Even where tantivy panics, which is no Exception."""

    class PanicException(BaseException):  # as pyo3 calls it
        pass

    expected = hits(store)
    builds()
    results = [PanicException("boom"), ValueError("bad block"), OSError("gone")]
    original = vars(lexical)["hits"]

    def break_once(*args):
        if results and len(results) > remaining[0]:
            raise results.pop()
        return original(*args)

    for n in (2, 1, 0):
        remaining = [n]
        monkeypatch.setattr(lexical, "hits", break_once)
        assert hits(store) == expected
        assert builds() == 1


def test_an_index_of_an_older_state_with_other_chunks_is_built_anew(store, folder, put, builds):
    """A folder restored by halves: the cache says that it is up to date, but its count differs."""
    before, old = note(folder), content(folder)
    shutil.copytree(old, folder / "saved")
    put(store, 7)
    hits(store)
    newest = note(folder)
    store.close()
    shutil.rmtree(content(folder))
    shutil.copytree(folder / "saved", old)
    other_note(folder, **before | {k: newest[k] for k in ("seq", "stamp")})
    builds()

    with closing(SQLiteStore.open(folder)) as again:
        assert any(c.startswith("d-07") for c, _ in hits(again))
    assert builds() == 1


def test_a_crash_before_the_note_is_written_does_no_harm(store, folder, put, monkeypatch):
    """The same changes are written again, and each chunk is there once."""
    put(store, 5)
    with monkeypatch.context() as patch:
        patch.setattr("kgrag.store.sqlite.cache.CacheFolder.write", _crash)
        with pytest.raises(KeyboardInterrupt):
            hits(store)
    store.close()

    with closing(SQLiteStore.open(folder)) as again:
        found = [chunk_id for chunk_id, _ in hits(again)]
        assert len(found) == len(set(found))
        assert any(c.startswith("d-05") for c in found)
        assert again.verify() == []


def _crash(*_):
    raise KeyboardInterrupt


def test_without_a_folder_to_write_the_index_is_kept_in_memory(store, folder, put):
    """Searching works, and follows changes."""
    expected = hits(store)
    store.close()
    shutil.rmtree(folder / "cache")
    (folder / "cache").write_text("in the way")

    with closing(SQLiteStore.open(folder)) as again:
        again.refresh(sizes=[24])
        assert hits(again) == expected
        put(again, 5)
        assert len(hits(again)) > len(expected)
        again.delete_document("d-05")
        assert hits(again) == expected


@pytest.mark.parametrize("where", ["write_documents", "open_view"])
def test_on_a_full_disk_the_index_is_kept_in_memory(store, folder, monkeypatch, where):
    """The index says ValueError there; nothing of the half-written index is left."""
    expected = hits(store)
    store.close()
    shutil.rmtree(folder / "cache")
    real, calls = getattr(lexical, where), []

    def full(*args, **more):
        calls.append(args)
        if len(calls) == 1:
            if where == "open_view":
                raise lexical.IndexDamagedError("Too many open files (os error 24)")
            raise ValueError("An IO error occurred: 'No space left on device (os error 28)'")
        return real(*args, **more)

    monkeypatch.setattr(lexical, where, full)
    with closing(SQLiteStore.open(folder)) as again:
        assert hits(again) == expected
    assert calls
    left = [path for path in (folder / "cache").glob("lexical-*") if path.is_dir()]
    assert not left or where == "open_view"


def test_indexes_that_were_built_together_are_those_built_alone(folder, put):
    """Same chunks, same scores."""
    found = []
    for place, together in (("one", [[24], [8]]), ("two", [[24, 8]])):
        with closing(SQLiteStore.open(folder / place)) as store:
            for i in range(4):
                put(store, i)
            for sizes in together:
                store.refresh(sizes=sizes)
            found.append(
                [store.search_words({"节能": 1.0}, field="text", size=s, top_k=99) for s in (8, 24)]
            )
    assert found[0] == found[1]
    assert all(found[0])


@pytest.mark.parametrize("most", [0, 1, 100])
def test_ids_of_found_chunks_are_read_once(store, put, monkeypatch, most):
    """As many as are kept; each commit has its own."""
    monkeypatch.setattr(lexical, "_MOST_KNOWN", most)
    first = hits(store)
    kept = store._lexical[24]._view.chunk_ids
    assert len(kept) == (len(first) if len(first) <= most else 0)
    assert hits(store) == first
    put(store, 9)
    assert len(hits(store)) > len(first)
    assert store._lexical[24]._view.chunk_ids is not kept


def test_living_chunks_are_counted_once_for_each_term(store):
    """Where chunks were deleted every score needs the count, which reads all postings."""
    index = tantivy.Index(lexical._lexical_schema())
    writer = index.writer(15_000_000, 1)
    for number, doc_id in enumerate("aab"):
        document = tantivy.Document()
        document.add_unsigned("number", number)
        document.add_text("doc", doc_id)
        document.add_text("text", "节能")
        writer.add_document(document)
    writer.commit()
    writer.delete_documents_by_term("doc", "b")
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    view = lexical.View(Mark(), index.searcher(), index.schema, entries=3, dead=1)
    first = view.correction("text", ["节能"])
    assert view.living == {("text", "节能"): 2}
    view.living["text", "节能"] = 1
    assert view.correction("text", ["节能"]) > first
