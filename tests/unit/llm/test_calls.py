import signal
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from kgrag.errors import StoreError, StoreUnavailableError
from kgrag.llm.calls import CallRecord, Calls, UsageTotal
from kgrag.llm.chat import Completion, Usage

ANSWER = Completion("答", "m-2024", "stop", Usage(10, 5, cached=2))
SENT = CallRecord("extract", "d-1", "m", "facts", Usage(100, 40, cached=10), 50, 80, 1.5, "ok", 9.0)


@pytest.fixture
def calls(tmp_path):
    opened = Calls.open(tmp_path / "calls.db")
    yield opened
    opened.close()


def test_an_answer_comes_back_as_it_was_kept(calls, tmp_path):
    """Every field, marked as paid before, also after the file is opened again."""
    assert calls.answer("k") is None
    assert not calls.has_answer("k")
    calls.keep("k", ANSWER)
    assert calls.answer("k") == replace(ANSWER, from_cache=True)
    assert calls.has_answer("k")
    again = Calls.open(tmp_path / "calls.db")
    assert again.answer("k") == replace(ANSWER, from_cache=True)
    again.close()


def test_a_newer_answer_takes_the_place_of_the_older(calls):
    """The key is unique."""
    calls.keep("k", ANSWER)
    calls.keep("k", replace(ANSWER, text="新"))
    assert calls.answer("k").text == "新"


def test_an_answer_with_half_a_character_can_be_kept(calls):
    """A lone surrogate fits into no file: a question mark stands for it."""
    calls.keep("k", replace(ANSWER, text="a\ud83db"))
    assert calls.answer("k").text == "a?b"


def test_what_was_kept_survives_a_kill(tmp_path):
    """`keep` has committed when it returns."""
    code = (
        "import sys, os, signal\n"
        "from kgrag.llm.calls import Calls\n"
        "from kgrag.llm.chat import Completion\n"
        "calls = Calls.open(sys.argv[1])\n"
        "for i in range(50):\n"
        "    calls.keep(str(i), Completion('答', 'm'))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    file = tmp_path / "calls.db"
    run = subprocess.run([sys.executable, "-c", code, str(file)], check=False)
    assert run.returncode == -signal.SIGKILL
    calls = Calls.open(file)
    assert all(calls.has_answer(str(i)) for i in range(50))
    calls.close()


def test_many_threads_may_keep_and_record_at_once(calls):
    """Nothing is lost and nothing fails."""

    def work(number):
        for i in range(20):
            calls.keep(f"{number}-{i}", ANSWER)
            calls.record(SENT)
            assert calls.answer(f"{number}-{i}") is not None

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls.totals("model")[0].sent == 320


def test_processes_may_open_a_new_file_at_the_same_time(tmp_path):
    """Whoever comes first makes the tables; all keep their answers."""
    code = (
        "import sys\n"
        "from kgrag.llm.calls import Calls\n"
        "from kgrag.llm.chat import Completion\n"
        "sys.stdin.read()\n"
        "calls = Calls.open(sys.argv[1])\n"
        "for i in range(20):\n"
        "    calls.keep(f'{sys.argv[2]}-{i}', Completion('答', 'm'))\n"
        "calls.close()\n"
    )
    file = tmp_path / "new" / "calls.db"
    runs = [
        subprocess.Popen([sys.executable, "-c", code, file, str(n)], stdin=subprocess.PIPE)
        for n in range(4)
    ]
    for run in runs:
        assert run.stdin
        run.stdin.close()
    assert [run.wait() for run in runs] == [0] * 4
    calls = Calls.open(file)
    assert all(calls.has_answer(f"{n}-{i}") for n in range(4) for i in range(20))
    calls.close()


def test_totals_add_up_what_was_sent(calls):
    """Failed calls count as sent; hits are counted apart, and their tokens cost nothing."""
    calls.record(SENT)
    calls.record(replace(SENT, outcome="malformed", usage=Usage(100, 7, estimated=True)))
    calls.record(replace(SENT, outcome="RateLimitError", usage=Usage(), seconds=0.5))
    calls.record(replace(SENT, outcome="cached", seconds=0.0))
    usage = Usage(200, 47, cached=10, estimated=True)
    assert calls.totals("stage") == [UsageTotal("extract", "m", 3, 1, 2, usage, 3.5)]


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("stage", [("answer", "n"), ("extract", "m"), ("extract", "n")]),
        ("doc_id", [("", "n"), ("d-1", "m"), ("d-1", "n")]),
        ("model", [("m", "m"), ("n", "n")]),
    ],
)
def test_totals_are_apart_by_group_and_model(calls, by, groups):
    """Models have prices of their own, so no sum goes over two of them."""
    calls.record(SENT)
    calls.record(replace(SENT, model="n"))
    calls.record(replace(SENT, model="n", stage="answer", doc_id=""))
    assert [(t.group, t.model) for t in calls.totals(by)] == groups


def test_totals_may_begin_at_a_time(calls):
    """What one run took is what was recorded since it began."""
    calls.record(SENT)
    calls.record(replace(SENT, at=20.0))
    assert calls.totals("stage", since=10.0)[0].sent == 1


def test_totals_by_something_else_are_refused(calls):
    """The name goes into a statement."""
    with pytest.raises(ValueError, match="outcome"):
        calls.totals("outcome")


def test_past_calls_are_those_of_the_same_model_stage_and_schema(calls):
    """120 tokens for 80 estimated; hits and calls that never came teach nothing."""
    calls.record(replace(SENT, usage=Usage(120, 40)))
    calls.record(replace(SENT, outcome="cached", usage=Usage(999, 999)))
    calls.record(replace(SENT, outcome="RateLimitError", usage=Usage()))
    calls.record(replace(SENT, outcome="BrokenOffError", usage=Usage(80, 0, estimated=True)))
    other = replace(SENT, usage=Usage(9999, 9999))
    calls.record(replace(other, model="n"))
    calls.record(replace(other, stage="summarize"))
    calls.record(replace(other, schema_name="knowledge"))
    (past,) = calls.past("m", "extract", "facts")
    assert (past.prompt, past.completion, past.estimated_prompt, past.used) == (120, 40, 80, True)
    assert calls.past("m", "verify", "cov") == []


def test_a_damaged_file_may_be_deleted(tmp_path):
    """The error says so, and what that loses."""
    file = tmp_path / "calls.db"
    file.write_bytes(b"no database at all, but long enough to look like one" * 100)
    with pytest.raises(StoreError, match=r"calls\.db: .* delete it: only answers"):
        Calls.open(file)


def test_damage_that_is_met_late_is_told_as_well(tmp_path):
    """Pages overwritten behind a sound first page."""
    file = tmp_path / "calls.db"
    calls = Calls.open(file)
    for i in range(200):
        calls.keep(f"{i:032}", replace(ANSWER, text="答" * 200))
    calls.close()
    size = file.stat().st_size
    with file.open("r+b") as f:
        f.seek(4096)
        f.write(b"\xff" * (size - 4096))
    calls = Calls.open(file)
    with pytest.raises(StoreError, match="delete it"):
        [calls.answer(f"{i:032}") for i in range(200)]
    calls.close()


def test_another_programs_database_is_left_alone(tmp_path):
    """A knowledge base named by mistake must not be written to."""
    file = tmp_path / "kgrag.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE chunks (id)")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(StoreUnavailableError, match="another program"):
        Calls.open(file)
    assert file.read_bytes() == before


def test_a_newer_kgrags_file_is_refused(calls, tmp_path):
    """Its tables may mean something else."""
    other = sqlite3.connect(tmp_path / "calls.db")
    other.execute("PRAGMA user_version = 2")
    other.close()
    with pytest.raises(StoreError, match="newer kgrag"):
        Calls.open(tmp_path / "calls.db")


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    """A folder in place of the file, a file in place of the folder."""
    with pytest.raises(StoreUnavailableError, match="name a file"):
        Calls.open(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreUnavailableError, match="name another file"):
        Calls.open(tmp_path / "file" / "calls.db")


def test_a_closed_file_is_refused(tmp_path):
    """As an error of ours."""
    calls = Calls.open(tmp_path / "calls.db")
    calls.close()
    with pytest.raises(StoreError, match="closed"):
        calls.answer("k")
