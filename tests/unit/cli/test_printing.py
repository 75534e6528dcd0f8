"""The door of the command line: what reaches the streams, in any encoding."""

import io
import json
import logging
import sys

import click
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.cli import printing
from kgrag.cli.main import main

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
    done = CliRunner().invoke(main, arguments)
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
