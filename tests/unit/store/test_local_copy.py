"""A server's copy: like the server at each question, and no sooner read than something changed."""

import json
from dataclasses import replace

import pytest

from kgrag.errors import StoreError
from kgrag.store.local_copy import LocalCopy
from kgrag.store.whole import CopiedStore
from tests.unit.store.conftest import SETTINGS


@pytest.fixture
def copied(tmp_path, server):
    found = LocalCopy(server, tmp_path / "copies")
    yield found
    found.close()


def exported(store):
    return [json.dumps(record, ensure_ascii=False) for record in store.export()]


def is_like(copied, server):
    store = copied.current()
    assert store is not None
    assert store.verify() == []
    assert store.sources() == server.store.sources()
    return exported(store) == exported(server.store)


def test_a_fake_server_is_one(server):
    inner = server.store
    assert isinstance(server, CopiedStore)
    assert not isinstance(inner, CopiedStore), "a folder needs no copy"


def test_the_copy_is_what_the_server_holds(copied, server):
    assert is_like(copied, server)


def test_nothing_is_read_where_nothing_changed(copied, server):
    first = copied.current()
    server.read.clear()
    assert copied.current() is first
    assert server.read == []


def test_each_change_is_seen_at_the_next_question_and_only_it_is_read(copied, server, make):
    copied.current()
    changes = {
        "d-d": lambda: server.put(make.bundle("d", "新的文件。")),
        "d-a": lambda: server.put(make.bundle("a", "改过的文件，节能。")),
        "d-b": lambda: server.add(
            "d-b", summaries=make.bundle("b", "", summaries=["摘要"]).summaries
        ),
    }
    for doc_id, change in changes.items():
        server.read.clear()
        change()
        assert is_like(copied, server), doc_id
        assert [name for name in server.read if name != "revisions"] == [doc_id]
    server.delete("d-c")
    server.read.clear()
    assert is_like(copied, server)
    assert set(server.read) == {"revisions"}


def test_sources_that_change_places_take_no_document_with_them(copied, server):
    """Each of two documents gets the other's file: taken one by one, one is for a while without."""
    copied.current()
    a, b = (s.source for s in server.store.sources()[:2])
    server.attach("third", "d-a")
    server.attach(a, "d-b")
    server.attach(b, "d-a")
    assert is_like(copied, server)


def test_other_settings_are_another_copy(copied, server):
    first = copied.current()
    server.store.set_meta({"chunk_sizes": "2048,512"})
    assert is_like(copied, server)
    assert copied.current() is not first
    assert first.all_meta() == SETTINGS


def test_while_another_encoder_takes_over_the_server_is_asked(copied, server):
    server.settled = False
    assert copied.current() is None
    server.settled = True
    assert copied.current() is not None


def test_what_changes_while_it_is_copied_is_copied_again(copied, server, make):
    later = iter([make.bundle("a", "后来的文件。")])

    def change_once(doc_id):
        for bundle in later:
            server.put(bundle)

    server.meanwhile = change_once
    assert is_like(copied, server)
    assert server.read.count("d-a") == 2
    server.read.clear()
    assert is_like(copied, server)
    assert "d-a" not in server.read


def test_whoever_changes_faster_than_is_copied_has_the_server_asked(copied, server, make):
    server.meanwhile = lambda doc_id: server.put(make.bundle("a", f"第{server.changes}版。"))
    assert copied.current() is None
    server.meanwhile = lambda doc_id: None
    assert is_like(copied, server)


def test_another_process_copies_nothing_again(copied, server, tmp_path):
    copied.current()
    server.read.clear()
    other = LocalCopy(server, tmp_path / "copies")
    assert exported(other.current()) == exported(server.store)
    other.close()
    assert server.read == []


@pytest.mark.parametrize("note", ["", "[]", '{"format": 1}', '{"format": 0, "revisions": {}}'])
def test_a_damaged_note_costs_a_copy(copied, server, tmp_path, note):
    copied.current()
    copied.close()
    (found,) = (tmp_path / "copies").glob("*/copy.json")
    found.write_text(note)
    server.read.clear()
    assert is_like(copied, server)
    assert {"d-a", "d-b", "d-c"} <= set(server.read)


def test_what_a_power_cut_took_is_copied_again(copied, server, tmp_path, make):
    """The note may have reached the disk, what it speaks of not: the folder is as it was before."""
    copied.current()
    copied.close()
    (folder,) = (f.parent for f in (tmp_path / "copies").glob("*/copy.json"))
    before = (folder / "kgrag.db").read_bytes()
    server.put(make.bundle("a", "改过的文件。"))
    copied.current()
    copied.close()
    (folder / "kgrag.db").write_bytes(before)
    assert is_like(copied, server)


def test_a_document_that_the_folder_lost_is_copied_again(copied, server, tmp_path):
    copied.current().delete_document("d-b")
    again = LocalCopy(server, tmp_path / "copies")
    assert is_like(again, server)
    again.close()


def test_what_was_copied_before_an_interruption_stays(copied, server):
    copied._noted = 1

    def interrupt(doc_id):
        if doc_id == "d-c":
            raise KeyboardInterrupt

    server.meanwhile = interrupt
    with pytest.raises(KeyboardInterrupt):
        copied.current()
    server.meanwhile = lambda doc_id: None
    server.read.clear()
    assert is_like(copied, server)
    assert [name for name in server.read if name != "revisions"] == ["d-c"]


def test_where_there_is_no_place_the_server_is_asked(server, tmp_path, caplog):
    (tmp_path / "copies").write_text("a file")
    copied = LocalCopy(server, tmp_path / "copies")
    assert copied.current() is None
    assert "the server is asked" in caplog.text


def test_a_server_that_cannot_be_asked_is_said(copied, server, monkeypatch):
    def gone():
        raise StoreError("gone")

    monkeypatch.setattr(server, "state", gone)
    with pytest.raises(StoreError, match="gone"):
        copied.current()


def test_a_server_without_marks_is_asked_itself(copied, server, monkeypatch):
    state = replace(server.state(), mark="")
    monkeypatch.setattr(server, "state", lambda: state)
    assert copied.current() is None


def test_others_may_not_read_it(copied, tmp_path):
    copied.current()
    assert (tmp_path / "copies").stat().st_mode & 0o077 == 0
