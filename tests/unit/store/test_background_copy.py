"""A copy that is made while the server answers."""

import subprocess
import sys
import threading

import pytest

from kgrag.errors import StoreError
from kgrag.store import background_copy, local_copy
from kgrag.store.background_copy import FIRST, BackgroundCopy


@pytest.fixture
def warmed():
    return []


@pytest.fixture
def copied(tmp_path, server, warmed):
    found = BackgroundCopy(server, tmp_path / "copies", warmed.append)
    yield found
    found.close()


def asked(copied, n):
    """Return what so many questions were answered from."""
    return [copied.current() for _ in range(n)]


def begun(copied):
    """Ask until it is begun, and wait until it is there."""
    assert asked(copied, FIRST + 1) == [None] * (FIRST + 1)
    copied.wait()


def test_few_questions_copy_nothing(copied, server, tmp_path):
    assert asked(copied, FIRST) == [None] * FIRST
    assert server.read == []
    assert not (tmp_path / "copies").exists()


def test_whoever_goes_on_asking_is_answered_from_the_copy(
    copied, server, warmed, monkeypatch, caplog
):
    monkeypatch.setattr(local_copy, "_MANY", 1)
    begun(copied)
    assert not [r for r in caplog.records if r.levelname == "WARNING"], "nobody waits for it"
    store = copied.current()
    assert list(store.export()) == list(server.store.export())
    assert warmed == [store], "its words are indexed before it is asked"
    server.read.clear()
    assert copied.current() is store
    assert server.read == []


def test_the_server_answers_while_it_is_copied_and_after_each_change(copied, server, make):
    goes_on = threading.Event()
    server.meanwhile = lambda doc_id: goes_on.wait(60)
    asked(copied, FIRST + 1)
    assert asked(copied, 3) == [None] * 3
    goes_on.set()
    copied.wait()
    assert copied.current() is not None
    server.put(make.bundle("d", "新的文件。"))
    assert copied.current() is None
    copied.wait()
    assert list(copied.current().export()) == list(server.store.export())


def test_a_large_one_is_not_copied(copied, server, monkeypatch):
    monkeypatch.setattr(background_copy, "MOST_CHUNKS", 2)
    begun(copied)
    assert asked(copied, 100) == [None] * 100
    assert server.read == []


def test_where_it_cannot_be_made_few_questions_pay_for_that(copied, server, tmp_path, caplog):
    (tmp_path / "copies").write_text("a file")
    begun(copied)
    (tmp_path / "copies").unlink()
    assert asked(copied, FIRST + 1) == [None] * (FIRST + 1)
    copied.wait()
    assert copied._copy is None
    assert copied.current() is None, "now it is tried again"
    copied.wait()
    assert copied.current() is not None
    assert not [r for r in caplog.records if r.levelname == "WARNING"], "nobody asked for it"


def test_half_a_copy_does_not_stay_on_a_full_disk(copied, server, tmp_path):
    def full(doc_id):
        raise OSError(28, "No space left on device")

    server.meanwhile = full
    begun(copied)
    assert list((tmp_path / "copies").iterdir()) == []
    server.meanwhile = lambda doc_id: None
    asked(copied, FIRST + 2)
    copied.wait()
    assert list(copied.current().export()) == list(server.store.export())


def test_a_copy_that_has_answered_stays_where_catching_up_fails(copied, server, make):
    """A question may be under way there; the next attempt goes on from it."""
    begun(copied)
    store = copied.current()

    def gone(doc_id):
        raise StoreError("gone")

    server.put(make.bundle("d", "新的文件。"))
    server.meanwhile = gone
    assert copied.current() is None
    copied.wait()
    assert list(store.document_cards())


def test_a_server_that_cannot_be_asked_is_said(copied, server, monkeypatch):
    asked(copied, FIRST)

    def gone():
        raise StoreError("gone")

    monkeypatch.setattr(server, "state", gone)
    with pytest.raises(StoreError, match="gone"):
        copied.current()


def test_while_another_encoder_takes_over_nothing_is_begun(copied, server):
    server.settled = False
    begun(copied)
    assert server.read == []


def test_closing_ends_it_and_leaves_nothing(tmp_path, server, monkeypatch):
    monkeypatch.setattr(background_copy, "_NOTED", 1)
    copied = BackgroundCopy(server, tmp_path / "copies", lambda store: None)
    server.meanwhile = lambda doc_id: copied._ending.set()  # as closing does first
    begun(copied)
    copied.close()
    assert server.read == ["revisions", "d-a", "d-b", "d-c"][: len(server.read)]
    assert len(server.read) < 4
    assert list((tmp_path / "copies").iterdir()) == []
    assert copied.current() is None


ENDS = """
import sys
from pathlib import Path
from tests.unit.store.conftest import Server
from kgrag.store.background_copy import FIRST, BackgroundCopy
server = Server(Path(sys.argv[1]) / "server")
server.store.counts()
copied = BackgroundCopy(server, Path(sys.argv[1]) / "copies", lambda store: None)
for _ in range(FIRST + 1):
    copied.current()
print("ends", flush=True)
"""


def test_a_process_that_ends_without_closing_says_nothing_and_leaves_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", ENDS, tmp_path], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("ends\n", "")
    assert list((tmp_path / "copies").iterdir()) == []
