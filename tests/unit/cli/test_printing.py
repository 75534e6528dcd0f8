"""What reaches the streams, in any encoding."""

import io
import json
import logging
import os
import subprocess
import sys
import unicodedata
from dataclasses import dataclass

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.api import KnowledgeBase
from kgrag.cli import printing
from kgrag.cli.main import main
from kgrag.embedding.hashing import HashEmbedder
from tests.fixtures import extent
from tests.fixtures.kit import kgrag

CODECS = ("gbk", "latin-1", "ascii", "utf-8", "cp1252", "cp437", "big5")


class Terminal(io.TextIOWrapper):
    """A stream that keeps its bytes, in some encoding."""

    def __init__(self, encoding, *, tty=False):
        self.kept = io.BytesIO()
        self.tty = tty
        super().__init__(self.kept, encoding=encoding, newline="\n", write_through=True)

    def isatty(self):
        """Say what it was told."""
        return self.tty

    def shown(self):
        """Return what was written."""
        return self.kept.getvalue().decode(self.encoding)


@pytest.fixture
def streams(monkeypatch):
    """Put terminals of an encoding in the place of stdout and stderr."""

    def put(encoding, *, tty=False):
        out, err = Terminal(encoding, tty=tty), Terminal(encoding, tty=tty)
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        return out, err

    return put


@settings(max_examples=300)
@given(text=st.text(st.characters()), codec=st.sampled_from(CODECS))
def test_any_text_passes_in_any_codec(streams, text, codec):
    """Only characters that are seen come out, and nothing raises."""
    out, err = streams(codec)
    printing.echo(text)
    assert out.shown().endswith("\n")
    assert out.shown().count("\n") == 1
    printing.echo_text(text)
    printing.echo_draft(text)
    for shown in (out.shown(), err.shown()):
        assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in shown if c not in "\n\t")
    out, _ = streams(codec)
    printing.print_json([text])
    json.loads(out.kept.getvalue().decode("utf-8"))


def test_a_sequence_split_over_pieces_of_a_draft_is_shown(streams):
    """ESC in one token and the rest in the next; only our own style is a sequence."""
    _, err = streams("utf-8", tty=True)
    for piece in ("甲\x1b", "]52;c;eA==", "\x07\x9b", "2J\r\n乙"):
        printing.echo_draft(piece)
    bare = click.unstyle(err.shown())
    assert bare == "甲\\x1b]52;c;eA==\\x07\\x9b2J\n乙"


def test_the_bar_shows_a_name_without_obeying_it(streams):
    """Names of files are somebody else's."""
    _, err = streams("gbk", tty=True)
    with printing.progress_bar("ingest") as progress:
        progress("a/\x1b[31m\n\u202e›é.txt", 1, 2)
    assert "\\x1b[31m\\n\\u202e>" in err.shown()
    assert "\x1b[31m" not in err.shown()


def test_the_log_passes_the_door(streams, monkeypatch):
    """What libraries log or warn of may name a file, too."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    _, err = streams("gbk")
    printing.log_to_stderr(logging.WARNING)
    logging.captureWarnings(capture=False)
    logging.getLogger("somebody").warning("cannot read %s", "甲›\x1b[31m\n.txt")
    assert err.shown() == "WARNING cannot read 甲>\\x1b[31m\\n.txt\n"


@pytest.mark.parametrize(("level", "shown"), [(logging.WARNING, False), (logging.INFO, True)])
def test_lines_of_the_driver_of_neo4j_are_for_who_asks_for_more(streams, monkeypatch, level, shown):
    """What they say, our errors say in words."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    _, err = streams("utf-8")
    printing.log_to_stderr(level)
    logging.captureWarnings(capture=False)
    logging.getLogger("neo4j.io").error("[#9D16]  _: <CONNECTION> error: %s", "broken pipe")
    logging.getLogger("neo4j").setLevel(logging.NOTSET)
    assert ("[#9D16]" in err.shown()) is shown


@pytest.mark.parametrize(
    "arguments",
    [
        ["no\x1b[31m"], ["search", "--no\x1b[31m"], ["search", "x", "--top-k", "\x1b[31m\n"],
        ["convert", "no\x1b[31m\nError: a line of theirs"], ["ask", " ", "\x1b[31m"],
    ],
)  # fmt: skip
def test_usage_errors_show_arguments_without_obeying_them(arguments):
    """Exit code 2, the usage, and one line of what is wrong."""
    done = kgrag(*arguments)
    assert done.exit_code == 2
    assert "\x1b" not in done.stderr
    assert done.stderr.startswith("Usage: ")
    assert done.stderr.splitlines()[-1].startswith("Error: ")


def test_help_is_printed_in_every_encoding(streams):
    """It holds Chinese, which Latin-1 lacks; the library prints it, not we."""
    out, _ = streams("latin-1")
    with pytest.raises(SystemExit) as end:
        main(["search", "--help"])
    assert not end.value.code
    assert "?? for those about" in " ".join(out.shown().split())


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
ENVIRONMENTS = {
    "gbk": {"PYTHONIOENCODING": "gbk"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "utf-8": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},  # Python sees to it itself
    "ascii": ASCII,
}
END = "\n@end "  # and the exit code, behind the output of each command
RUNNER = f"""
import json, os, sys
from kgrag.cli.main import main
for words in json.loads(sys.argv[1]):
    try:
        # as Python gives the names of files to us
        main([os.fsdecode(word.encode()) if "docs/" in word else word for word in words])
    except SystemExit as end:
        for stream in (sys.stdout, sys.stderr):
            stream.write({END!r} + str(end.code) + "\\n")
            stream.flush()
"""
TITLE = "甲\x1b[31m方案\x9b2J‮›é“一”"
QUESTION = "到2025年创建绿色工厂多少家？"
EVIL_NAME = "甲\x1b]0;x\x07\n丙\u202e.txt"


@dataclass(frozen=True)
class Done:
    """What a command printed, as bytes, and its exit code."""

    words: tuple[str, ...]
    code: int
    out: bytes
    err: bytes


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A knowledge base of documents whose titles and names act on terminals."""
    folder = tmp_path_factory.mktemp("encodings")
    (folder / "kgrag.toml").write_text('[embedding]\nmodel = "hash"\n# 设置\n', "gbk")
    docs = folder / "docs"
    docs.mkdir()
    (docs / EVIL_NAME).write_text(
        f"{TITLE}\n一、目标\x1b[2J\n根据《乙规划》，到2025年创建绿色工厂500家\u202e。\n", "utf-8"
    )
    (docs / os.fsdecode(b"\xd2\xd2.txt")).write_text("乙规划\n非化石能源达到45%。\n", "utf-8")
    (folder / "bad\x1b[31m.docx").write_bytes(b"not a zip")
    (folder / "q.jsonl").write_text(
        json.dumps({"id": "1\x1b", "question": QUESTION, "gold_docs": ["x"]}) + "\n", "utf-16"
    )
    (folder / "facts.jsonl").write_text(
        '{"doc": "none\\u001b[31m", "start": 0, "end": 2, "triples": []}\n', "utf-8"
    )
    with KnowledgeBase.open(folder / "kb", embedder=HashEmbedder()) as base:
        assert not base.ingest([docs]).failed
    return folder


def commands(folder):
    """Return (words, exit code) of every command."""
    return [
        (("ingest", "docs"), 0),
        (("ingest", "docs", "--json"), 0),
        (("ingest", "docs", "bad\x1b[31m.docx", "none\x1b[31m"), 1),
        (("ingest", "docs", "--dry-run"), 0),
        (("ask", QUESTION), 0),
        (("ask", QUESTION, "--json"), 0),
        (("ask", QUESTION, "--explain", "--document", "none\x1b"), 1),
        (("ask", " "), 2),
        (("search", QUESTION, "--explain"), 0),
        (("search", QUESTION, "--json"), 0),
        (("search", "--help"), 0),
        (("eval", "experiment", "--set", "a", "kb", "q.jsonl", "--systems", "bm25"), 0),
        (("eval", "experiment", "--set", "a", "kb", "q.jsonl", "--json"), 0),
        (("documents",), 0),
        (("documents", "--json"), 0),
        (("graph", "乙规划"), 0),
        (("graph", "乙规划", "--html", "page.html"), 0),
        (("graph", "none\x1b[31m\u202e"), 1),
        (("verify",), 0),
        (("verify", "--json"), 0),
        (("stats",), 0),
        (("stats", "--json"), 0),
        (("stats", "--cost"), 0),
        (("query", "SELECT title, file FROM kg_documents"), 0),
        (("query", "SELECT title, file FROM kg_documents", "--json"), 0),
        (("query", "SELECT '\x1b[31m›' FROM nothing"), 1),
        (("convert", f"docs/{EVIL_NAME}"), 0),
        (("convert", f"docs/{EVIL_NAME}", "--json"), 0),
        (("convert", "bad\x1b[31m.docx"), 1),
        (("prompts",), 0),
        (("prompts", "--json"), 0),
        (("prompts", "--of", f"docs/{EVIL_NAME}"), 0),
        (("models", "list"), 0),
        (("models", "list", "--json"), 0),
        (("import-facts", "facts.jsonl"), 1),
        (("import-summaries", "facts.jsonl"), 1),
        (("export",), 0),
        (("export", "--out", "export.jsonl"), 0),
        (("reembed", "--dry-run"), 0),
        (("delete", "none\x1b[31m"), 1),
        (("browser", "--out", "pack"), 0),
        (("copy", "--from", "kb", "--to", "copy", "--check"), 0),
        (("--config", "docs", "documents"), 2),
        (("nothing\x1b[31m",), 2),
    ]


def python(folder, environment, *, main):
    """Return what Python does with some code or arguments in an environment."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "LC_", "LANG"))}
    return subprocess.run(
        [sys.executable, *main],
        cwd=folder,
        env={**kept, **environment},
        capture_output=True,
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="module", params=extent.among([*ENVIRONMENTS], 2))
def encoding(request):
    """An encoding of stdout and stderr."""
    return request.param


@pytest.fixture(scope="module")
def all_done(folder, encoding):
    """Every command, run in this encoding."""
    wanted = [words for words, _ in commands(folder)]
    code = [RUNNER, json.dumps(wanted)]
    done = python(folder, ENVIRONMENTS[encoding], main=["-c", *code])
    assert done.returncode == 0, done.stderr.decode(encoding)
    outs, errs = (
        stream.replace(b"\r\n", b"\n").split(END.encode()) for stream in (done.stdout, done.stderr)
    )
    assert len(outs) == len(errs) == len(wanted) + 1, errs[-1]
    codes = [int(part.split(b"\n")[0]) for part in outs[1:]]
    rest = [
        [part.partition(b"\n")[2] if i else part for i, part in enumerate(s)] for s in (outs, errs)
    ]
    return [Done(*parts) for parts in zip(wanted, codes, rest[0], rest[1], strict=False)]


def test_every_command_ends_as_it_should(folder, all_done, encoding):
    """No traceback, and the exit code of each."""
    for done, (words, code) in zip(all_done, commands(folder), strict=True):
        assert done.words == words
        assert done.code == code, (words, done.err.decode(encoding))
        assert b"Traceback" not in done.err, done.err.decode(encoding)


def test_nothing_that_is_printed_acts_on_the_terminal(all_done, encoding):
    """All of it is of the encoding, and nothing of it controls or is not seen."""
    for done in all_done:
        for stream in (done.out, done.err):
            text = stream.decode(encoding)
            bad = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs")} - {"\n", "\t"}
            assert not bad, (done.words, bad)


def test_json_is_json_whatever_the_encoding(all_done):
    """In UTF-8, as JSON is; ASCII is that, too."""
    for done in all_done:
        if "--json" in done.words or done.words == ("export",):
            values = list(map(json.loads, done.out.decode("utf-8").splitlines()))
            assert values or done.words[0] == "verify", done.words


def test_output_is_of_use(all_done, encoding):
    """What the encoding has is shown; what it lacks is told of, with the remedy."""
    by_words = {done.words: done for done in all_done}
    found = by_words["search", QUESTION, "--explain"]
    out, err = found.out.decode(encoding), found.err.decode(encoding)
    assert "2025" in out
    assert "\\x1b[31m" in out
    assert ("绿色工厂500家" in out) == (encoding in ("gbk", "utf-8"))
    assert ("PYTHONIOENCODING=utf-8" in err) == (encoding not in ("gbk", "utf-8"))
    held = by_words["documents",].out.decode(encoding)
    assert ("/乙.txt" in held) == (encoding in ("gbk", "utf-8"))
    assert "/乙.txt" in held or "/?.txt" in held
    answer = json.loads(by_words["ask", QUESTION, "--json"].out)
    assert "500家。" in answer["text"]  # marks of direction are not read
    assert "\x1b[31m" in answer["citations"][0]["title"]
