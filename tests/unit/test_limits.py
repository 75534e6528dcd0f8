"""What may be asked for at most, checked where it comes in: in the API and at the command line."""

import json
import math

import pytest
from click.testing import CliRunner

from kgrag.answering.follow_up import Turn
from kgrag.api import KnowledgeBase
from kgrag.cli.main import main
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import EvaluationError, GarbledTextError, KgragError
from kgrag.evaluation.queries import read_queries
from kgrag.limits import MOST_QUESTION_CHARS
from kgrag.retrieval.filter import Filter

LONGEST = "绿" * MOST_QUESTION_CHARS
TOO_LONG = LONGEST + "绿"
NO_COUNT = [0, -1, 2**63, 10**5000, math.inf, math.nan, True, 3.0, "3"]
NO_TIME = [0, -1.0, math.inf, math.nan, True, 1e300, "3"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limits")
    (folder / "kgrag.toml").write_text('[embedding]\nmodel = "hash"\n', "utf-8")
    (folder / "a.txt").write_text("甲方案\n一、目标\n到2030年建成绿色工厂9家。\n", "utf-8")
    with KnowledgeBase.open(folder / "kb", embedder=HashEmbedder()) as base:
        base.ingest([folder / "a.txt"])
    return folder


@pytest.fixture
def base(folder):
    with KnowledgeBase.open(folder / "kb", create=False, embedder=HashEmbedder()) as base:
        yield base


def run(folder, *words):
    settings = ["--config", str(folder / "kgrag.toml")]
    return CliRunner().invoke(main, [*settings, *map(str, words), "--kb", str(folder / "kb")])


@pytest.mark.parametrize(
    "asked",
    [
        lambda base, text: base.search(text),
        lambda base, text: base.ask(text),
        lambda base, text: base.graph(text),
        lambda base, text: base.run({"q": text}, system="grim", top_k=3),
    ],
)
def test_a_question_is_read_up_to_a_length(base, asked):
    """Longer ones cost more than their length: 30,000 equal characters took 3 s, and so on."""
    with pytest.raises(ValueError, match="has 4,001 characters") as caught:
        asked(base, TOO_LONG)
    assert isinstance(caught.value, KgragError)


def test_the_longest_question_is_searched_and_asked(base):
    assert base.search(LONGEST)
    assert base.ask(LONGEST).question == LONGEST


def test_a_question_that_is_too_long_is_an_error_of_every_command(folder):
    """Exit code 1, what is too long and the remedy; no traceback."""
    for command in ("search", "ask", "graph"):
        done = run(folder, command, TOO_LONG)
        assert done.exit_code == 1
        assert "at most 4,000 are read: shorten it" in done.stderr


def test_the_line_of_a_batch_that_is_too_long_fails_and_the_rest_goes_on(folder):
    """Nor does a line that is no JSON, or nested too deep, end the batch."""
    batch, out = folder / "batch.jsonl", folder / "run.jsonl"
    rows = [{"id": "long", "question": TOO_LONG}, {"id": "good", "question": "绿色工厂"}]
    lines = [json.dumps(row) for row in rows]
    batch.write_text("\n".join([lines[0], "{", "[" * 100_000, lines[1]]), "utf-8")
    done = run(folder, "search", "--batch", batch, "--out", out)
    assert done.exit_code == 1
    for number in (1, 2, 3):
        assert f"not searched: {batch}:{number}: " in done.stderr
    assert "1 questions to" in done.stdout
    assert '"good"' in out.read_text("utf-8")
    with pytest.raises(EvaluationError, match=":1: the question has 4,001 characters"):
        read_queries(batch)


def test_a_question_of_a_chat_that_is_too_long_does_not_end_it(folder):
    words = ["--config", str(folder / "kgrag.toml"), "chat", "--kb", str(folder / "kb")]
    done = CliRunner().invoke(main, words, input=f"{TOO_LONG}\n到2030年建成绿色工厂多少家？\n")
    assert done.exit_code == 1
    assert "has 4,001 characters" in done.stderr
    assert "9家" in done.stdout


@pytest.mark.parametrize("number", NO_COUNT, ids=lambda n: str(type(n).__name__))
def test_counts_that_make_no_sense_are_refused_at_entry(base, number):
    """None reaches tantivy, SQLite or a loop."""
    for asked in (
        lambda: base.search("绿色", top_k=number),
        lambda: base.ask("绿色", top_k=number),
        lambda: base.run({"q": "绿色"}, system="grim", top_k=number),
        lambda: base.graph("绿色工厂", hops=number),
        lambda: base.graph("绿色工厂", limit=number),
        lambda: base.query("SELECT 1", max_rows=number),
    ):
        with pytest.raises(ValueError, match="must be a whole number from 1 to"):
            asked()


@pytest.mark.parametrize("seconds", NO_TIME)
def test_times_that_make_no_sense_are_refused_at_entry(base, seconds):
    with pytest.raises(ValueError, match="must be seconds above 0"):
        base.query("SELECT 1", timeout_s=seconds)


@pytest.mark.parametrize("value", ["inf", "nan", "0", "-1", str(2**63), "1.5"])
def test_numbers_that_make_no_sense_are_errors_of_usage(folder, value):
    """Exit code 2, before anything is opened."""
    for words in (
        ("search", "绿色", "--top-k", value),
        ("ask", "绿色", "--top-k", value),
        ("graph", "绿色", "--hops", value),
        ("graph", "绿色", "--limit", value),
        ("query", "SELECT 1", "--limit", value),
    ):
        assert run(folder, *words).exit_code == 2, words


@pytest.mark.parametrize("value", ["inf", "nan", "0", "-1", "1e300"])
def test_a_timeout_that_makes_no_sense_is_an_error_of_usage(folder, value):
    assert run(folder, "query", "SELECT 1", "--timeout", value).exit_code == 2


HALVES = "绿色\udce5工厂"


@pytest.mark.parametrize(
    "asked",
    [
        lambda base: base.search(HALVES),
        lambda base: base.ask(HALVES),
        lambda base: base.ask("绿色工厂", history=[Turn("绿色", HALVES)]),
        lambda base: base.ask("绿色工厂", within=Filter(regions=(HALVES,))),
        lambda base: base.search("绿色工厂", within=Filter(documents=(HALVES,))),
        lambda base: base.graph(HALVES),
        lambda base: base.query(f"SELECT '{HALVES}'"),
        lambda base: base.find_document(HALVES),
        lambda base: base.delete(HALVES),
        lambda base: base.run({"q": HALVES}, system="bm25", top_k=3),
        lambda base: base.search("??????????"),
        lambda base: base.ask("?2025??????????"),
        lambda base: base.ask("\ufffd\ufffd\ufffd\ufffd几个"),
    ],
)
def test_a_text_that_was_damaged_on_its_way_is_refused(base, asked):
    """It would find nothing, and "not found" would be said of a question that nobody asked."""
    with pytest.raises(GarbledTextError, match="PYTHONUTF8=1"):
        asked(base)


@pytest.mark.parametrize(
    "question", ["?", "绿色工厂有几家？？？", "What???", "甲\ufffd方案九家???"]
)
def test_marks_of_a_question_do_not_make_it_a_damaged_one(base, question):
    """More is left of it than is lost, or it is not known that anything was."""
    base.search(question)


def test_chat_goes_on_after_a_question_that_came_in_damaged(folder):
    """Each line is one question; exit code 1 says that not all were answered."""
    lines = "??????\n\ufeff绿色工厂有几家？\n".encode() + b"\xc2\xcc\xc9\xab\n"
    settings = ["--config", str(folder / "kgrag.toml")]
    done = CliRunner().invoke(main, [*settings, "chat", "--kb", str(folder / "kb")], input=lines)
    assert done.exit_code == 1
    assert "绿色工厂9家" in done.stdout
    assert done.stderr.count("PYTHONUTF8=1") == 2
