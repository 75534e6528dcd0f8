"""Commands that end early: stopped, or on a machine that runs short."""

import errno
import os
import re
import signal
import sqlite3
import sys
from contextlib import closing

import pytest

from kgrag.api import KnowledgeBase
from kgrag.cli import ask, failures
from kgrag.cli.failures import say_stopped
from kgrag.errors import StoreError
from tests.unit.cli.conftest import ingested, run


@pytest.fixture
def folder(tmp_path):
    return ingested(tmp_path, {"a": "甲方案\n到2030年建成绿色工厂9家。\n"})


def ending(number):
    def end(*_, **__):
        os.kill(os.getpid(), number)
        signal.sigtimedwait([], 5)  # the signal comes before this time is up

    return end


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_taking_in_and_says_what_is_stored(folder, monkeypatch, number, code):
    """SIGTERM ends like Ctrl-C; the message fits the command."""
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(KnowledgeBase, "ingest", ending(number))
    done = run(folder, "ingest", folder / "a.txt")
    assert done.exit_code == code
    assert "stored, each whole: 1 document;" in done.stderr
    assert "kgrag: stopped; what models answered is kept: run it again to go on" in done.stderr
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_stores_nothing_is_just_stopped(folder, monkeypatch, number, code):
    monkeypatch.setattr(KnowledgeBase, "search", ending(number))
    done = run(folder, "search", "绿色工厂")
    assert done.exit_code == code
    assert done.stderr.splitlines()[-1] == "kgrag: stopped"


def test_a_signal_that_python_drops_is_raised_again(monkeypatch):
    """It came while an object was collected; the command would go on as if nobody had asked."""

    class Collected:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def collect():
        Collected()
        signal.sigtimedwait([], 5)  # the signal comes before this time is up

    monkeypatch.setattr(sys, "unraisablehook", failures._raise_again)
    before = signal.getsignal(signal.SIGALRM)
    try:
        with pytest.raises(KeyboardInterrupt):
            collect()
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "memory is short"),
        (RuntimeError("std::bad_alloc"), "memory is short"),
        (ValueError("System error. Failed to spawn segment merging thread"), "memory is short"),
        (ImportError("x.so: failed to map segment from shared object"), "memory is short"),
        (OSError(errno.ENOSPC, "No space left on device", "x"), "x: No space left on device: free"),
        (ValueError("Too many open files (os error 24)"), "ulimit -n"),
    ],
)
def test_a_machine_that_runs_short_is_one_message(folder, monkeypatch, error, said):
    """No traceback, exit code 1; what is stored is told."""

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(KnowledgeBase, "search", fail)
    done = run(folder, "search", "绿色工厂")
    assert done.exit_code == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_disk_that_fills_up_while_taking_in_is_told_with_what_is_stored(folder, monkeypatch):
    def fail(*_, **__):
        raise StoreError("kgrag.db: database or disk is full: free space")

    monkeypatch.setattr(KnowledgeBase, "ingest", fail)
    done = run(folder, "ingest", folder / "a.txt")
    assert done.exit_code == 1
    assert "stored, each whole: 1 document; the rest when you run it again" in done.stderr


@pytest.mark.parametrize("error", [KeyError("a mistake"), TypeError("ours")])
def test_an_error_of_ours_in_the_code_is_still_shown_whole(folder, monkeypatch, error):
    """It is no damage of what is stored."""

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(KnowledgeBase, "search", fail)
    assert run(folder, "search", "绿色工厂").exception is error


def test_an_export_that_fails_leaves_the_old_one(folder, monkeypatch):
    """Half an export would be taken for a whole one."""
    out = folder / "out.jsonl"
    assert run(folder, "export", "--out", out).exit_code == 0
    whole = out.read_bytes()

    def some(_):
        yield {"record": "first"}
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(KnowledgeBase, "export", some)
    done = run(folder, "export", "--out", out)
    assert done.exit_code == 1
    assert "free space on the disk" in done.stderr
    assert out.read_bytes() == whole
    assert not list(folder.glob("*.part"))


@pytest.mark.parametrize(
    "command", [("export", "--out", "no/x.jsonl"), ("graph", "甲方案", "--html", "no/x.html")]
)
def test_a_file_in_a_folder_that_is_not_there_is_a_message(folder, monkeypatch, command):
    """It names the file that was asked for."""
    monkeypatch.chdir(folder)
    done = run(folder, *command)
    assert done.exit_code == 1
    said = "No such file or directory: see to that place, or name another"
    assert done.stderr.splitlines()[-1] == f"kgrag: {command[-1]}: {said}"


@pytest.mark.parametrize("part", ["_questions", "_stream"])
def test_a_signal_ends_chat_in_order(folder, monkeypatch, part):
    """While a question is waited for, and while it is answered."""
    if part == "_stream":  # when an answer begins
        monkeypatch.setattr(ask, "_questions", lambda: iter(["绿色工厂"]))
    monkeypatch.setattr(ask, part, ending(signal.SIGINT))
    done = run(folder, "chat")
    assert done.exit_code == 130
    assert done.stderr.splitlines()[-1] == "kgrag: stopped"


@pytest.mark.parametrize(
    ("change", "command"),
    [
        ("UPDATE documents SET title = CAST(title AS BLOB)", "search"),
        ("UPDATE documents SET warnings = 7", "export"),
        ("UPDATE documents SET metadata = -1.5", "search"),
        ("UPDATE documents SET segments = '[[0.10,\"page\",1]]'", "export"),
        ("UPDATE embeddings SET vector = X'ff00'", "export"),
    ],
)
def test_a_value_of_another_kind_is_damage(folder, change, command):
    """A flipped bit makes bytes of a text: what is told is the damage, and what to do."""
    with closing(sqlite3.connect(folder / "kb" / "kgrag.db")) as connection:
        connection.execute(change)
        connection.commit()
    done = run(folder, command, *["绿色工厂"][: command == "search"])
    assert done.exit_code == 1
    assert "is damaged" in done.stderr
    assert "kgrag repair" in done.stderr
    assert isinstance(done.exception, SystemExit)


@pytest.mark.parametrize("command", ["ingest", "reembed", "copy", "import-facts", "drop"])
def test_who_stops_what_goes_on_is_told_so(command, capsys):
    say_stopped(command)
    assert re.fullmatch(r"kgrag: stopped; .*run it again.*\n", capsys.readouterr().err)
