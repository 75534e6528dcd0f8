"""The command line: commands, options, exit codes, and commands that end early."""

import contextlib
import errno
import json
import os
import re
import shutil
import signal
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click
import pytest
from click.testing import CliRunner

from kgrag.api import KnowledgeBase
from kgrag.cli import ask
from kgrag.cli.failures import print_stopped
from kgrag.cli.main import main
from kgrag.cli.options import argument, command, option
from kgrag.ingestion.samples import questions_file
from tests.fixtures.kit import kgrag_in, run, shared_folder

README = Path(__file__).parents[3] / "README.md"
QUESTIONS = questions_file()
CONFIG = '[embedding]\nmodel = "hash"\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with two documents, a broken one, questions, and a knowledge base of it."""
    folder = tmp_path_factory.mktemp("cli")
    (folder / "kgrag.toml").write_text(CONFIG, "utf-8")
    docs = folder / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text(
        "甲方案\n一、目标\n根据《乙规划》，到2025年创建绿色工厂500家。\n", "utf-8"
    )
    (docs / "b.txt").write_text("乙规划\n到2030年非化石能源占比达到45%。\n", "utf-8")
    gold = {"id": "q1", "question": "绿色工厂创建多少家", "gold_docs": ["a"], "kind": "number"}
    none = {"id": "q2", "question": "红烧肉", "gold_docs": []}
    (folder / "q.jsonl").write_text(f"{json.dumps(gold)}\n{json.dumps(none)}\n", "utf-8")
    assert run(folder, "ingest", docs).exit_code == 0
    return folder


def walk(group, path=()):
    for name, below in group.commands.items():
        if isinstance(below, click.Group):
            yield from walk(below, (*path, name))
        else:
            yield (*path, name), below


@pytest.mark.parametrize(("path", "below"), list(walk(main)), ids=lambda x: str(x)[:30])
def test_every_command_has_help_and_a_section(path, below):
    """A command that nobody can find is no command."""
    assert below.help
    for one in below.params:
        if isinstance(one, click.Option) and one.name not in ("name", "system"):
            assert one.help or one.name in ("top_k", "hops", "limit", "pooling", "max_tokens")
    assert f"`{path[0]}`" in README.read_text("utf-8")
    page = README.with_name("docs").joinpath("commands.md").read_text("utf-8")
    assert re.search(rf"^### kgrag [^\n]*\b{path[0]}\b", page, re.MULTILINE)
    assert path[-1] in page
    pages = "".join(p.read_text("utf-8") for p in (README.parent / "docs").glob("*.md"))
    options = (one for one in below.params if isinstance(one, click.Option))
    assert not [one.opts[0] for one in options if one.opts[0] not in pages + "--help"]


def test_ingest_when_a_file_fails_goes_on_and_exits_1(folder, tmp_path):
    """What failed is named on stderr with the remedy, the rest is stored."""
    (tmp_path / "bad.docx").write_bytes(b"not a zip")
    (tmp_path / "c.txt").write_text("丙办法\n加强监管和考核工作。", "utf-8")
    (tmp_path / "kgrag.toml").write_text(CONFIG, "utf-8")
    result = run(tmp_path, "ingest", tmp_path / "bad.docx", tmp_path / "c.txt", tmp_path / "none")
    assert result.exit_code == 1
    assert "bad.docx" in result.stderr
    assert "no such file" in result.stderr
    assert "1 added" in result.stdout


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_ingest_when_a_folder_cannot_be_listed_exits_1(tmp_path, monkeypatch, options):
    """Who gave the folder would think that all of it was read; the rest is."""
    (tmp_path / "kgrag.toml").write_text(CONFIG, "utf-8")
    (tmp_path / "docs/closed").mkdir(parents=True)
    (tmp_path / "docs/a.txt").write_text("丙办法\n加强监管和考核工作。", "utf-8")
    listed = os.scandir

    def scandir(folder):
        if str(folder).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(os, "scandir", scandir)

    done = run(tmp_path, "ingest", tmp_path / "docs", *options)

    assert done.exit_code == 1
    assert "closed: cannot be listed: Permission denied" in done.stderr
    assert "1 added" in done.stdout


def test_ingest_counts_links_it_did_not_follow(tmp_path):
    """A link out of the folder is counted; --follow-links reads what is there."""
    (tmp_path / "kgrag.toml").write_text(CONFIG, "utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "secret.txt").write_text("密件\n本文件不公开。", "utf-8")
    for name in ("a.txt", "b.txt"):
        (tmp_path / "docs" / name).symlink_to(tmp_path / "secret.txt")

    planned = run(tmp_path, "ingest", tmp_path / "docs", "--dry-run")
    done = run(tmp_path, "ingest", tmp_path / "docs")
    followed = run(tmp_path, "ingest", tmp_path / "docs", "--follow-links")

    for said in (planned, done):
        assert said.exit_code == 0
        assert "2 not followed" in said.stdout
    assert followed.exit_code == 0
    assert "1 added" in followed.stdout
    assert "link" not in followed.stderr


def test_convert_prints_the_text_of_a_file(folder, tmp_path):
    """What would be stored, or why not, without a knowledge base."""
    assert "绿色工厂500家" in kgrag_in(folder, "convert", folder / "docs" / "a.txt").stdout
    record = json.loads(kgrag_in(folder, "convert", folder / "docs" / "a.txt", "--json").stdout)
    assert record["title"] == "甲方案"
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    bad = kgrag_in(folder, "convert", tmp_path / "bad.pdf")
    assert bad.exit_code == 1
    assert "bad.pdf" in bad.stderr


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (["search"], 2, "QUESTION"),
        (["search", "x", "--top-k", "0"], 2, "top-k"),
        (["search", "x", "--system", "nope"], 1, "grim"),
        (["graph", "没有的"], 1, "no entity"),
        (["import-facts", "nowhere.jsonl"], 2, "does not exist"),
    ],
)
def test_commands_tell_what_is_wrong(folder, args, code, says):
    """2 for usage, 1 for failure; the reason and the remedy stand on stderr."""
    done = run(folder, *args)
    assert done.exit_code == code
    assert says in done.stderr


@pytest.mark.parametrize(
    "command", [["ask", "x"], ["search", "x"], ["verify"], ["stats"], ["documents"]]
)
def test_commands_on_a_knowledge_base_that_is_not_there_exit_1(tmp_path, command):
    """Asking makes no knowledge base."""
    (tmp_path / "kgrag.toml").write_text(CONFIG, "utf-8")
    done = run(tmp_path, *command)
    assert done.exit_code == 1
    assert "ingest" in done.stderr or "no knowledge base" in done.stderr
    assert not (tmp_path / "kb").exists()


@dataclass(frozen=True, kw_only=True)
class Given:
    """One option of each type."""

    max_words: int = option("At most.", default=3)
    name: str = option()
    only_new: bool = option()
    tags: tuple[Literal["a", "b"], ...] = option(None, "--tag")
    kind: Literal["x", "y"] | None = option()


@command()
def typed(given: Given, files: tuple[str, ...] = argument()) -> int:
    """Print what was given."""
    click.echo(f"{given} {files}")
    return 1


@pytest.mark.parametrize(
    ("words", "given", "files"),
    [
        ("", (3, "", False, (), None), ()),
        ("f g --max-words 5 --name n", (5, "n", False, (), None), ("f", "g")),
        ("--only-new --tag b --tag a --kind x", (3, "", True, ("b", "a"), "x"), ()),
    ],
)
def test_name_and_type_of_a_field_say_how_it_is_given(words, given, files):
    names = ("max_words", "name", "only_new", "tags", "kind")
    expected = Given(**dict(zip(names, given, strict=True)))
    assert CliRunner().invoke(typed, words).output == f"{expected} {files}\n"


def test_help_shows_a_default_and_the_choices():
    shown = CliRunner().invoke(typed, "--help").output
    assert "--max-words INTEGER  At most.  [default: 3]" in shown
    assert "--kind [x|y]" in shown
    assert "[default: ]" not in shown


original = shared_folder({"a": "甲方案\n到2030年建成绿色工厂9家。\n"})


@pytest.fixture
def small(original, tmp_path):
    """A copy to change."""
    return shutil.copytree(original, tmp_path / "f")


def ending(number):
    def end(*_, **__):
        os.kill(os.getpid(), number)
        signal.sigtimedwait([], 5)  # the signal comes before this time is up

    return end


def ending_again(number):
    """Do so as `watchfiles` does: what the signal raised is raised anew, without its number."""

    def end(*_, **__):
        with contextlib.suppress(KeyboardInterrupt):
            ending(number)()
        raise KeyboardInterrupt

    return end


@pytest.mark.parametrize("way", [ending, ending_again])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_taking_in_and_says_what_is_stored(small, monkeypatch, number, code, way):
    """SIGTERM ends like Ctrl-C; the message fits the command."""
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(KnowledgeBase, "ingest", way(number))
    done = run(small, "ingest", small / "a.txt")
    assert done.exit_code == code
    assert "kgrag: stopped; what models answered is kept: run it again to go on" in done.stderr
    assert signal.getsignal(signal.SIGTERM) is before


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
def test_a_machine_that_runs_short_is_one_message(small, monkeypatch, error, said):
    """No traceback, exit code 1; what is stored is told."""

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(KnowledgeBase, "search", fail)
    done = run(small, "search", "绿色工厂")
    assert done.exit_code == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("error", [KeyError("a mistake"), TypeError("ours")])
def test_an_error_of_ours_in_the_code_is_still_shown_whole(small, monkeypatch, error):
    """It is no damage of what is stored."""

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(KnowledgeBase, "search", fail)
    assert run(small, "search", "绿色工厂").exception is error


def test_an_export_that_fails_leaves_the_old_one(small, monkeypatch):
    """Half an export would be taken for a whole one."""
    out = small / "out.jsonl"
    assert run(small, "export", "--out", out).exit_code == 0
    whole = out.read_bytes()

    def some(_):
        yield {"record": "first"}
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(KnowledgeBase, "export", some)
    done = run(small, "export", "--out", out)
    assert done.exit_code == 1
    assert "free space on the disk" in done.stderr
    assert out.read_bytes() == whole
    assert not list(small.glob("*.part"))


@pytest.mark.parametrize(
    "command", [("export", "--out", "no/x.jsonl"), ("graph", "甲方案", "--html", "no/x.html")]
)
def test_a_file_in_a_folder_that_is_not_there_is_a_message(small, monkeypatch, command):
    """It names the file that was asked for."""
    monkeypatch.chdir(small)
    done = run(small, *command)
    assert done.exit_code == 1
    said = "No such file or directory: see to that place, or name another"
    assert done.stderr.splitlines()[-1] == f"kgrag: {command[-1]}: {said}"


@pytest.mark.parametrize("part", ["_questions", "_stream"])
def test_a_signal_ends_chat_in_order(small, monkeypatch, part):
    """While a question is waited for, and while it is answered."""
    if part == "_stream":  # when an answer begins
        monkeypatch.setattr(ask, "_questions", lambda: iter(["绿色工厂"]))
    monkeypatch.setattr(ask, part, ending(signal.SIGINT))
    done = run(small, "chat")
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
def test_a_value_of_another_kind_is_damage(small, change, command):
    """A flipped bit makes bytes of a text: what is told is the damage, and what to do."""
    with closing(sqlite3.connect(small / "kb" / "kgrag.db")) as connection:
        connection.execute(change)
        connection.commit()
    done = run(small, command, *["绿色工厂"][: command == "search"])
    assert done.exit_code == 1
    assert "is damaged" in done.stderr
    assert "kgrag repair" in done.stderr
    assert isinstance(done.exception, SystemExit)


@pytest.mark.parametrize("command", ["ingest", "reembed", "copy", "import-facts", "drop"])
def test_who_stops_what_goes_on_is_told_so(command, capsys):
    print_stopped(command)
    assert re.fullmatch(r"kgrag: stopped; .*run it again.*\n", capsys.readouterr().err)
