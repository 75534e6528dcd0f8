"""Ctrl-C and SIGTERM end every command in order, say what is left, and give its exit code."""

import os
import signal
import subprocess
import sys
from pkgutil import resolve_name

import pytest

from kgrag.ingestion.samples import sample_folder
from tests.fixtures.kit import kgrag_in, run
from tests.fixtures.plain_samples import put_plain_samples

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows sends no SIGTERM")
CONFIG = '[embedding]\nmodel = "hash"\n'
# Runs a command until a function is called for the so-manieth time; there it stands still.
STANDING = """
import importlib, signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
module, name, calls, how, *words = sys.argv[1:]
*owner, name = name.split(".")
at = importlib.import_module(module)
at = getattr(at, owner[0]) if owner else at
real, left = getattr(at, name), [int(calls)]

def standing(*args, **options):
    left[0] -= 1
    if left[0]:
        return real(*args, **options)
    if how == "thread":
        threading.Thread(target=threading.Event().wait).start()
    try:
        print("ready", flush=True)
        threading.Event().wait()
    finally:
        if how == "slow":  # as a clean-up that waits for something
            print("cleaning", flush=True)
            threading.Event().wait()

setattr(at, name, standing)
from kgrag.cli.main import run
sys.argv = ["kgrag", *words]
run()
"""
STORE = ("kgrag.store.sqlite.store", "SQLiteStore.upsert_document")
SEARCH = ("kgrag.plain_knowledge_base", "find")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with two documents, questions, settings and a knowledge base of one document."""
    folder = tmp_path_factory.mktemp("signals")
    (folder / "kgrag.toml").write_text(CONFIG, "utf-8")
    (folder / "old.jsonl").write_text("old", "utf-8")
    (folder / "q.jsonl").write_text('{"id": "1", "question": "目标", "gold_docs": ["x"]}\n')
    samples = sorted(sample_folder().glob("*.md"))[0]
    run(folder, "ingest", samples, code=0)
    return folder


def stopped(folder, words, place, calls, number, *, how="", again=None):
    """Stop a command where it stands; return (exit code, what it printed, what it told)."""
    config = ["--config", str(folder / "kgrag.toml")]
    command = [sys.executable, "-c", STANDING, *place, str(calls), how, *config, *map(str, words)]
    env = {**os.environ, "KGRAG_CACHE": str(folder / "cache")}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=env,
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        process.stdin.write("目标\n")
        process.stdin.flush()
        for line in process.stdout:
            if line == "ready\n":
                break
        process.send_signal(number)
        if again:
            assert process.stdout
            assert process.stdout.readline() == "cleaning\n"
            process.send_signal(again)
        out, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    return process.returncode, out, err.splitlines()


def test_ingest_says_what_is_stored(folder, tmp_path):
    """One document; the next run does the rest, and the knowledge base is whole."""
    put_plain_samples(tmp_path / "docs")
    words = ("ingest", tmp_path / "docs", "--kb", tmp_path / "kb")

    ended, out, told = stopped(folder, words, STORE, 2, signal.SIGINT)

    assert ended == 130
    assert told[-1] == "kgrag: stopped; what models answered is kept: run it again to go on"
    assert not out
    again = kgrag_in(folder, *words, "--json", code=0)
    assert '"unchanged": 1' in again.stdout


NOTHING = "kgrag: stopped"
CASES = {
    "search": (("search", "目标"), SEARCH, 1, NOTHING),
    "chat": (("chat",), ("kgrag.api", "KnowledgeBase.ask"), 1, NOTHING),
    "verify": (("verify",), ("kgrag.api", "KnowledgeBase.verify"), 1, NOTHING),
    "export": (("export", "--out", "old.jsonl"), ("kgrag.cli.manage", "json_line"), 3, NOTHING),
    "reembed": (
        ("reembed", "--model", "hash-32"),
        ("kgrag.embedding.hashing", "HashEmbedder.embed"),
        1,
        "kgrag: stopped; the old vectors answer, what is encoded is kept: run it again to go on",
    ),
}


@pytest.fixture
def terminated(folder, monkeypatch):
    """A function that runs a command here, until a function is called for the so-manieth time."""

    def ended(words, place, calls):
        target, left = ".".join(place), [calls]
        real = resolve_name(":".join(place))

        def terminating(*args, **options):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGTERM)
            return real(*args, **options)

        monkeypatch.setattr(target, terminating)
        done = kgrag_in(folder, *words, typed="目标\n", code=143)
        return done.stderr.splitlines()[-1]

    monkeypatch.chdir(folder)
    monkeypatch.setenv("KGRAG_CACHE", str(folder / "cache"))
    return ended


@pytest.mark.parametrize("name", list(CASES))
def test_commands_say_what_is_left(folder, terminated, name):
    """Each what is true for it; nothing is half written."""
    words, place, calls, last = CASES[name]
    before = sorted(path.name for path in folder.iterdir())
    assert terminated((*words, "--kb", "kb"), place, calls) == last
    assert (folder / "old.jsonl").read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == before


def test_copy_says_what_is_left(folder, terminated, tmp_path):
    """What was copied stays."""
    told = terminated(("copy", "--from", folder / "kb", "--to", tmp_path / "other"), STORE, 1)
    assert "each document that was copied is whole: run it again" in told


def test_pull_leaves_no_half_of_a_model(folder, terminated, monkeypatch):
    """What was gathered so far is taken away."""
    monkeypatch.setenv("HF_HUB_CACHE", str(folder / "nowhere"))
    told = terminated(("models", "pull"), ("kgrag.embedding.pull", "download"), 1)
    assert told == "kgrag: stopped; no model was changed: run it again"
    assert [path.name for path in (folder / "cache/models").iterdir()] == [".lock"]


@pytest.mark.parametrize(("again", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_second_signal_ends_at_once(folder, again, code):
    words = ("search", "目标", "--kb", folder / "kb")
    ended, _, _ = stopped(folder, words, SEARCH, 1, signal.SIGINT, how="slow", again=again)
    assert ended == code


def test_a_thread_does_not_keep_a_stopped_command_alive(folder):
    """It may be waiting for an endpoint."""
    words = ("search", "目标", "--kb", folder / "kb")
    code, _, told = stopped(folder, words, SEARCH, 1, signal.SIGTERM, how="thread")
    assert (code, told[-1]) == (143, NOTHING)
