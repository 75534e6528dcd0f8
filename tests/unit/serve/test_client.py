"""Commands run by a running `kgrag serve`: what they print is what they print by themselves."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import click
import pytest

from kgrag.api import KnowledgeBase
from kgrag.cli import for_clients
from kgrag.cli.client import socket_of
from kgrag.cli.main import main
from kgrag.config import AnswerConfig, Config
from kgrag.testing.server import FakeServer
from tests.fixtures.kit import few_samples, kgrag, write
from tests.fixtures.served import COMMAND, ENVIRONMENT, serving, started

pytestmark = pytest.mark.skipif(os.name != "posix", reason="they meet at a Unix socket")
QUESTION = "到2025年，云岭省非化石能源消费比重要达到多少？"
PLAN = "云岭省碳达峰实施方案"
LIE = (b"null\n", b'["a lie\\n", false, false]\n', b"0\n")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("ask", QUESTION),
    ("ask", QUESTION, "--json"),
    ("ask", QUESTION, "--format", "markdown"),
    ("ask", QUESTION, "--format", "html"),
    ("ask", QUESTION, "--explain", "--top-k", "3", "--max-chars", "1"),
    ("ask", QUESTION, "--region", "云岭省", "--region", "南渡", "--year", "2020-2030"),
    ("ask", QUESTION, "--as-of", "2022-03", "--in-force", "--kind", "实施方案"),
    ("ask", QUESTION, "--template", "normal"),
    ("ask", "各省2025年森林覆盖率目标分别是多少"),
    ("ask", "火星上有几座工厂？"),
    ("ask", "How much non-fossil energy by 2025?"),
    ("show",),
    ("show", "1", "--context", "2"),
    ("show", "--json"),
    ("search", QUESTION, "--explain"),
    ("search", QUESTION, "--json", "--top-k", "30"),
    ("graph", "云岭省能源局"),
    ("targets", "--planned"),
    ("compare", "--indicator", "非化石能源消费比重", "--due", "2025-2030", "--english"),
    ("who", "生态环境厅", "--json"),
    ("timeline", "--from", "2020", "--event", "target"),
    ("cited-by", PLAN),
)
ALONE: tuple[tuple[str, ...], ...] = (  # what a server cannot do, and errors
    ("ask", QUESTION, "--doc", "no such document"),
    ("ask", QUESTION, "--system", "none"),
    ("ask", QUESTION, "--docx", "answer.docx"),
    ("ask", QUESTION, "--writer", "model"),
    ("show", "99"),
    ("graph", "no such entity"),
)


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    """A cache folder of these tests, where servers and clients meet."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("KGRAG_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="module")
def server(sample_kb, cache):
    with serving(sample_kb) as (_, process):
        yield process


@pytest.fixture
def by_itself(monkeypatch):
    """Run a command without a server."""

    def run(*words):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("KGRAG_NO_SERVER", "1")
            return kgrag(*words)

    return run


@pytest.fixture
def only_by_server(monkeypatch):
    """Let no command of this process open a knowledge base."""

    def refused(*_, **__):
        raise AssertionError("it was opened here")

    return lambda: monkeypatch.setattr(KnowledgeBase, "open", refused)


def printed(done):
    return done.exit_code, done.stdout_bytes, done.stderr_bytes


def place_of(kb, config=None):
    place = socket_of(str(kb), config or Config())
    assert place is not None
    return place


@contextmanager
def run_here(kb, config=None):
    """Run commands for clients in this process."""
    settings = config or Config()
    with (
        click.Context(main, obj=settings),
        KnowledgeBase.open(kb, config=settings) as base,
        for_clients.running_for_clients(str(kb), base),
    ):
        yield base


@contextmanager
def false_server(kb, *lines, config=None):
    """Listen in the place of a server; say some lines, and hang up."""
    place = place_of(kb, config)
    place.parent.mkdir(mode=0o700, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place))
        listening.listen()
        asked = []

        def answer():
            with suppress(OSError):  # nobody asked
                client, _ = listening.accept()
                with client, client.makefile("rwb") as stream:
                    asked.append(stream.readline())
                    stream.writelines(lines)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        try:
            yield asked
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join(timeout=5)
            place.unlink()


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_server_prints_what_the_command_prints(
    sample_kb, server, monkeypatch, by_itself, only_by_server, cache, words
):
    """In another language than its own, too; and `kgrag show` will show the same."""
    monkeypatch.setenv("KGRAG_LANG", "zh")
    by_itself("ask", QUESTION, "--kb", sample_kb)  # what `show` shows
    alone = printed(by_itself(*words, "--kb", sample_kb))
    kept = (cache / "last_answer.json").read_bytes()
    only_by_server()
    assert printed(kgrag(*words, "--kb", sample_kb)) == alone
    assert (cache / "last_answer.json").read_bytes() == kept


@pytest.mark.parametrize("chosen", ["zh", "en"])
def test_a_client_has_the_language_that_it_chose(
    sample_kb, server, monkeypatch, by_itself, only_by_server, chosen
):
    monkeypatch.setenv("KGRAG_LANG", "en" if chosen == "zh" else "zh")
    words = ("--lang", chosen, "search", QUESTION, "--explain", "--kb", sample_kb)
    alone = printed(by_itself(*words))
    only_by_server()
    assert printed(kgrag(*words)) == alone
    assert ("个字符" in kgrag(*words, code=0).stdout) is (chosen == "zh")


@pytest.mark.parametrize("words", ALONE, ids=" ".join)
def test_what_a_server_cannot_do_is_done_as_without_one(
    sample_kb, server, by_itself, tmp_path, monkeypatch, words
):
    monkeypatch.chdir(tmp_path)
    alone = printed(by_itself(*words, "--kb", sample_kb))
    assert printed(kgrag(*words, "--kb", sample_kb)) == alone


@pytest.mark.parametrize(("encoding", "form"), [("gbk", ()), ("ascii", ()), ("ascii", ("--json",))])
def test_a_process_prints_the_same_in_its_encoding(sample_kb, server, encoding, form):
    """Which characters that lacks is told at its end, too."""

    def printed_by(**more):
        done = subprocess.run(
            [sys.executable, *COMMAND, "ask", QUESTION, "--kb", sample_kb, *form],
            env={**os.environ, **ENVIRONMENT, "PYTHONIOENCODING": encoding, **more},
            capture_output=True,
            check=True,
        )
        return done.stdout, done.stderr

    assert printed_by() == printed_by(KGRAG_NO_SERVER="1")


def test_what_takes_seconds_to_import_is_not(sample_kb, server):
    code = (
        "import sys; from kgrag.cli.main import main; main(standalone_mode=False); "
        "print({'numpy', 'jieba', 'pydantic', 'socketserver', 'kgrag.api'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "ask", QUESTION, "--kb", sample_kb],
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        check=True,
    )
    assert b"38%" in done.stdout
    assert done.stdout.endswith(b"\nset()\n")


def test_only_the_user_can_reach_it_and_it_leaves_nothing(sample_kb, cache):
    place = place_of(sample_kb)
    with serving(sample_kb, token="a key that no client has") as (_, process):
        assert place.is_socket()
        assert place.parent.stat().st_mode & 0o777 == 0o700
        kgrag("ask", QUESTION, "--kb", sample_kb, code=0)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 128 + signal.SIGTERM
    assert not place.exists()


@pytest.mark.parametrize("opened_to", [0o770, 0o701, 0o704])
def test_a_folder_that_others_can_enter_is_not_used(
    sample_kb, only_by_server, tmp_path, monkeypatch, opened_to
):
    """Whoever listens there may be another user."""
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path))
    with false_server(sample_kb, *LIE):
        assert kgrag("ask", QUESTION, "--kb", sample_kb).stdout == "a lie\n"  # it is reached
    place = place_of(sample_kb)
    place.parent.chmod(opened_to)
    with run_here(sample_kb):
        assert not place.exists()
    with false_server(sample_kb, *LIE):
        assert "38%" in kgrag("ask", QUESTION, "--kb", sample_kb, code=0).stdout


@pytest.mark.parametrize(
    "lines",
    [
        (),  # it is busy
        (b"0\n",),  # it does not greet
        (b"null\n",),  # it was killed
        (b"null\n", b'["half of it\\n", false, false]\n'),
        (b"null\n", b"what is that?\n", b"0\n"),
        (b"null\n", b'["half of it\\n", fal'),
    ],
)
def test_in_any_doubt_a_command_runs_by_itself(sample_kb, tmp_path, monkeypatch, by_itself, lines):
    """And prints nothing of what came."""
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path))
    alone = printed(by_itself("ask", QUESTION, "--kb", sample_kb))
    with false_server(sample_kb, *lines) as asked:
        assert printed(kgrag("ask", QUESTION, "--kb", sample_kb)) == alone
    assert json.loads(asked[0])["values"]["question"] == QUESTION


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_server_that_was_killed_or_stopped_breaks_nothing(sample_kb, by_itself, number):
    with serving(sample_kb) as (_, process):
        process.send_signal(number)
        if number == signal.SIGKILL:
            process.wait(timeout=30)
        assert place_of(sample_kb).is_socket()
        alone = printed(by_itself("ask", QUESTION, "--kb", sample_kb))
        assert printed(kgrag("ask", QUESTION, "--kb", sample_kb)) == alone
    with serving(sample_kb) as (_, process):  # the next one takes the place of what is left
        assert place_of(sample_kb).is_socket()
        process.terminate()
        process.wait(timeout=30)


def test_what_killed_servers_left_is_deleted_by_the_next(sample_kb, tmp_path, monkeypatch):
    """Of any knowledge base; a living one keeps its place."""
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path))
    with run_here(sample_kb):
        folder = place_of(sample_kb).parent
        with socket.socket(socket.AF_UNIX) as killed:
            killed.bind(str(folder / "killed"))
        with run_here(sample_kb, own := Config(answer=AnswerConfig(max_chars=1))):
            assert set(folder.iterdir()) == {place_of(sample_kb), place_of(sample_kb, own)}


def test_a_busy_server_leaves_a_command_to_itself(sample_kb, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path))
    monkeypatch.setattr(for_clients, "_AT_ONCE", 0)
    with run_here(sample_kb):
        assert "38%" in kgrag("ask", QUESTION, "--kb", sample_kb, code=0).stdout


@pytest.mark.parametrize(
    "request_",
    [
        b"",
        b"what is that?\n",
        b"[]\n",
        b'{"command": "drop", "values": {}}\n',  # it would change something
        b'{"command": "serve", "values": {}}\n',
        json.dumps(
            {
                "command": "timeline",
                "values": {"kb": "kb"},
                "encoding": "utf-8",
                "terminal": False,
                "language": "en",
            }
        ).encode()
        + b"\n",
    ],
)
def test_a_server_outlives_what_it_is_sent(
    sample_kb, tmp_path, monkeypatch, only_by_server, request_
):
    """Also a client that leaves; the next one is answered."""
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path))
    monkeypatch.setattr(for_clients, "_AT_ONCE", 1)
    with run_here(sample_kb):
        only_by_server()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(place_of(sample_kb)))
            client.sendall(request_)
            client.shutdown(socket.SHUT_WR)
            assert client.recv(100) in (b"", b"null\n")
        for _ in range(100):  # it may still be busy
            done = kgrag("ask", QUESTION, "--kb", sample_kb)
            if not done.exit_code:
                break
        assert "38%" in done.stdout


def test_of_two_servers_the_later_is_asked_and_ends_alone(sample_kb, tmp_path, monkeypatch):
    """The earlier one does not take away the place of the later."""
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path))
    earlier = run_here(sample_kb)
    earlier.__enter__()
    with run_here(sample_kb):
        earlier.__exit__(None, None, None)
        assert place_of(sample_kb).is_socket()
    assert not place_of(sample_kb).exists()


def test_other_settings_are_no_matter_of_this_server(sample_kb, tmp_path, monkeypatch):
    """Of a file here or elsewhere; where it may name files, the folder counts, too."""
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kgrag.toml").write_text("[answer]\nmax_chars = 1\n", "utf-8")
    with false_server(sample_kb, *LIE):
        assert "38%" in kgrag("ask", QUESTION, "--kb", sample_kb, code=0).stdout
    own = Config(answer=AnswerConfig(max_chars=1))
    with false_server(sample_kb, *LIE, config=own):
        assert kgrag("ask", QUESTION, "--kb", sample_kb).stdout == "a lie\n"
        (tmp_path / "below").mkdir()
        monkeypatch.chdir(tmp_path / "below")
        words = ("--config", "../kgrag.toml", "ask", QUESTION, "--kb", sample_kb)
        assert "38%" in kgrag(*words, code=0).stdout


@pytest.mark.parametrize("own", [("-v",), ()])
def test_who_wants_logs_or_no_server_gets_none(sample_kb, tmp_path, monkeypatch, own):
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path))
    monkeypatch.setenv("KGRAG_NO_SERVER", "" if own else "1")
    with false_server(sample_kb, *LIE):
        assert "38%" in kgrag(*own, "ask", QUESTION, "--kb", sample_kb, code=0).stdout


def test_a_knowledge_base_that_was_made_again_is_another(tmp_path, monkeypatch):
    """The server still has the deleted file open."""
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "cache"))
    kb, question = tmp_path / "kb", ("ask", "创建绿色工厂多少家？", "--kb", tmp_path / "kb")
    for n in (500, 600):
        kgrag("ingest", "--kb", kb, *write(tmp_path, {"a": f"一、目标\n创建绿色工厂{n}家。\n"}))
        if n == 500:
            running = run_here(kb)
            running.__enter__()
        assert f"{n}家" in kgrag(*question, code=0).stdout
        shutil.rmtree(kb)
    running.__exit__(None, None, None)


def test_what_is_ingested_or_encoded_anew_beside_it_is_found(tmp_path, monkeypatch, by_itself):
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "cache"))
    kb, question = tmp_path / "kb", ("ask", QUESTION, "--kb", tmp_path / "kb")
    first, *others = few_samples()
    kgrag("ingest", "--kb", kb, others[0], code=0)
    with run_here(kb):
        before = printed(kgrag(*question))
        for words in (("ingest", "--kb", kb, first), ("reembed", "--kb", kb, "--model", "hash-32")):
            kgrag(*words, code=0)
            assert printed(kgrag(*question)) == printed(by_itself(*question))
        assert printed(kgrag(*question)) != before


def test_ctrl_c_ends_the_client_alone(sample_kb, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path))
    place = place_of(sample_kb)
    place.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place))
        listening.listen()
        with started("ask", QUESTION, "--kb", sample_kb) as process:
            listening.settimeout(30)
            client, _ = listening.accept()
            with client, client.makefile("rwb") as stream:
                stream.readline()
                stream.write(b"null\n")
                stream.flush()
                process.send_signal(signal.SIGINT)
                assert process.wait(timeout=30) == 128 + signal.SIGINT
                with suppress(ConnectionResetError):  # "null" may not have been read
                    assert client.recv(1) == b""
            assert process.stdout.read() == b""
            assert process.stderr.read() == b"kgrag: stopped\n"


def test_a_draft_is_shown_as_it_comes_from_a_model(sample_kb, tmp_path, monkeypatch):
    """In pieces, dimmed, before anything else."""
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    unopened = f"from kgrag.api import KnowledgeBase; KnowledgeBase.open = None; {COMMAND[1]}"
    words = ("ask", QUESTION, "--kb", str(sample_kb))
    with FakeServer() as model:
        text = f'[llm]\nbase_url = "{model.base_url}"\nmodel = "m"\ncalls = "{tmp_path}/calls.db"\n'
        Path("kgrag.toml").write_text(text, "utf-8")
        with serving(sample_kb):
            fresh, kept = (on_a_terminal("-c", unopened, *words) for _ in range(2))
            assert kept == on_a_terminal(*COMMAND, *words, KGRAG_NO_SERVER="1")
    draft, _, answer = click.unstyle(fresh).partition("\r\n\r\n")
    assert draft.startswith("草稿（编号未定）：\r\n")
    assert "核验（cov）：通过" in answer
    assert fresh.count("\x1b[2m") > kept.count("\x1b[2m") > 1  # one piece each


def on_a_terminal(*words, **more):
    """Run a command on a terminal, and return what it shows."""
    master, slave = os.openpty()
    env = {**os.environ, **ENVIRONMENT, **more}
    command = [sys.executable, *words]
    with subprocess.Popen(command, env=env, stdin=slave, stdout=slave, stderr=slave) as process:
        os.close(slave)
        shown = b""
        try:
            while piece := os.read(master, 65536):
                shown += piece
        except OSError:  # it has ended
            pass
        assert process.wait() == 0
    os.close(master)
    return shown.decode()


@pytest.mark.parametrize("kb", ["bolt://localhost:7687", "none"])
def test_there_is_no_server_of_what_is_no_folder_with_a_knowledge_base(kb, tmp_path):
    assert socket_of(kb if "://" in kb else str(tmp_path / kb), Config()) is None
