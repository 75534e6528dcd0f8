"""What is installed: package, extras, Docker; what runs without Linux."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path, PureWindowsPath

import pytest

from kgrag.embedding.catalog import is_name
from kgrag.errors import MissingDependencyError, needs_extra
from kgrag.store.sqlite.opening import uri_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["ingestion", "cypher"])
def test_a_folder_at_the_top_is_a_part_of_kgrag(name):
    link = ROOT / "kgrag" / name
    assert link.is_symlink(), "git config core.symlinks true, and check out again"
    assert link.resolve() == ROOT / name


def test_one_package_is_installed():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["kgrag"]


def test_own_folders_of_these_names_are_left_alone(tmp_path):
    """Beside a script, they come first on the path."""
    for name in ("ingestion", "cypher"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('not ours')", "utf-8")
    modules = "kgrag.api, kgrag.cli.main, kgrag.ingestion.load.load, kgrag.store.neo4j.statements"
    script = tmp_path / "script.py"
    script.write_text(f"import {modules}\nprint(kgrag.__name__)", "utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("kgrag\n", "")


def test_needs_extra_names_what_is_missing_and_the_remedy():
    with (
        pytest.raises(MissingDependencyError) as caught,
        needs_extra("jina", "the model in kb"),
    ):
        import kgrag_has_no_such_module  # type: ignore[import-not-found] # noqa: F401

    assert str(caught.value) == (
        "the model in kb needs packages that are not installed "
        "(No module named 'kgrag_has_no_such_module'). Remedy: pip install 'kgrag[jina]'"
    )


def test_needs_extra_leaves_other_errors_as_they_are():
    with pytest.raises(ValueError, match="mine"), needs_extra("jina", "the model in kb"):
        raise ValueError("mine")


def test_extras_that_are_named_can_be_installed():
    """An unknown one is passed over by pip, with no more than a warning."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "kgrag").rglob("*.py"))
    pages = "".join(path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md"))
    named = set(re.findall(r'needs_extra\("([^"]+)"', sources))
    named |= set(re.findall(r"kgrag\[([a-z0-9-]+)\]", sources + pages))
    assert {"jina", "llama-index", "neo4j-graphrag"} <= named
    assert named <= set(extras["optional-dependencies"])


COMPOSE = (ROOT / "docker" / "compose.yaml").read_text("utf-8")
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text("utf-8")
EXAMPLE = (ROOT / "docker" / ".env.example").read_text("utf-8")
VARIABLE = re.compile(r"\$\{(\w+)")


def settings_of(text: str) -> dict[str, str]:
    """Return the assignments of a .env file."""
    lines = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {name: value for name, _, value in lines if not name.startswith("#")}


def test_ports_are_open_to_this_machine_only():
    """Neo4j Community knows no roles: whoever reaches it and has the password may do all."""
    ports = re.findall(r'- "?([\d.:]*\d+:\d+)"?', COMPOSE)
    assert len(ports) == 3
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_password_is_asked_for_and_has_no_default():
    """Compose refuses to start without one."""
    lines = [line.strip() for line in COMPOSE.splitlines() if re.search("AUTH|PASSWORD", line)]
    assert len(lines) == 2
    assert [line for line in lines if "${NEO4J_PASSWORD:?" not in line] == []


def test_example_settings_hold_no_password_and_all_that_compose_reads():
    """A name that nobody reads, or that nobody explains, is a mistake."""
    settings = settings_of(EXAMPLE)
    assert settings["NEO4J_PASSWORD"] == ""
    assert set(settings) == set(VARIABLE.findall(COMPOSE))


def test_example_settings_are_the_defaults_of_compose():
    """Who copies the example changes nothing but the password."""
    defaults = dict(re.findall(r"\$\{(\w+):-([^}]+)\}", COMPOSE))
    assert defaults == {k: v for k, v in settings_of(EXAMPLE).items() if v}


def test_image_copies_what_is_there_and_the_context_holds():
    """The context leaves out everything else: documents, data, secrets."""
    copied = [
        name
        for line in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE)
        for name in line.split()
    ]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    lines = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert {line[1:] for line in lines if line.startswith("!")} == set(copied)
    assert "*" in lines


def test_image_runs_as_a_user_without_rights_and_without_tools_of_developers():
    """Documents come from anywhere; what reads them should be able to do little."""
    last_stage = DOCKERFILE.rpartition("FROM ")[2]
    assert re.search(r"^USER (?!root)\w+$", last_stage, re.MULTILINE)
    assert 'ENTRYPOINT ["kgrag"]' in last_stage
    assert "[dev" not in DOCKERFILE


def test_server_is_held_back_from_files_addresses_and_all_of_its_memory():
    """Should a query pass the gate that must not: the server itself refuses it."""
    for setting in (
        'db_memory_transaction_max: "${NEO4J_TRANSACTION:-512m}"',
        'db_transaction_timeout: "30m"',
        'dbms_security_allow__csv__import__from__file__urls: "false"',
        'internal_dbms_cypher__ip__blocklist: "0.0.0.0/0,::/0"',
        'server_directories_import: "/var/lib/neo4j/import"',
    ):
        assert f"      NEO4J_{setting}\n" in COMPOSE


@pytest.mark.slow
def test_environment_of_compose_makes_settings_that_neo4j_knows(new_neo4j_server):
    """The image turns `NEO4J_a_b__c` into the setting `a.b_c`; a misspelt one stops the server."""
    found = re.findall(r'NEO4J_([a-z]\w+): "(?:\$\{\w+:-)?([^"}]+)\}?"', COMPOSE)
    settings = {
        name.replace("__", "-").replace("_", ".").replace("-", "_"): value for name, value in found
    }
    assert len(settings) == 9
    own = {"server.memory.heap.max_size", "server.memory.pagecache.size",
           "dbms.usage_report.enabled", "db.memory.transaction.max"}  # fmt: skip
    assert own < set(settings), "a server of the tests has these as well, so they are known"
    server = new_neo4j_server(settings=[f"{k}={v}" for k, v in settings.items() if k not in own])
    assert server.running


# Packages of others first: what they do without these is theirs, and they do ask for the system.
TAKEN_AWAY = """
import asyncio, importlib, mmap, multiprocessing, os, pkgutil, selectors, signal, sqlite3, ssl
import subprocess, sys, tempfile, uuid, webbrowser
import click, faiss, filelock, jieba, json_repair, lxml.html, neo4j, numpy, onnxruntime, openai
import platformdirs, pypdfium2, tantivy, tokenizers, tqdm, docx

NO_MODULES = "fcntl grp posix pty pwd readline resource syslog termios tty".split()
NO_NAMES = {
    os: "O_DIRECTORY chown fork forkpty getegid geteuid "
        "getgid getloadavg getpgid getuid killpg lchown mkfifo nice pread pwrite sched_getaffinity "
        "setsid statvfs sync sysconf uname wait3 wait4",
    signal: "SIGALRM SIGHUP SIGKILL SIGPIPE SIGQUIT SIGUSR1 alarm setitimer pthread_sigmask",
    mmap: "MADV_DONTNEED MAP_PRIVATE MAP_SHARED",
}
for name in NO_MODULES:
    sys.modules[name] = None
for module, names in NO_NAMES.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
"""
IMPORT_ALL = """
import kgrag
from kgrag.errors import MissingDependencyError
for module in pkgutil.walk_packages(kgrag.__path__, "kgrag."):
    try:
        importlib.import_module(module.name)
    except MissingDependencyError:
        continue  # says so, and what to install
assert "kgrag.ingestion.load.load" in sys.modules
"""
COMMANDS = """
from kgrag.cli.main import main
for words in (
    ["ingest", "a.txt"], ["documents"], ["search", "绿色工厂"], ["ask", "绿色工厂有几家？"],
    ["stats"],
    ["graph", "甲方案"], ["verify"], ["export", "--out", "e.jsonl"],
    ["ingest", "a.txt", "--dry-run"], ["ingest", "a.txt", "--dry-run", "--kb", "none"],
    ["copy", "--from", "kb", "--to", "other"], ["models", "list"], ["reembed", "--dry-run"],
    ["chat"],
):
    try:
        main(words)
    except SystemExit as end:
        assert not end.code, (words, end.code)
"""


def run(code, folder):
    """Run Python code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input="绿色工厂有几家？\n".encode(),
        capture_output=True,
        check=False,
        timeout=300,
    )


def test_every_module_is_imported_without_what_windows_lacks(tmp_path):
    """No module of POSIX alone at the top of one of ours, and no name of it in a constant."""
    done = run(TAKEN_AWAY + IMPORT_ALL, tmp_path)
    assert done.returncode == 0, done.stderr.decode()


def test_the_main_commands_run_without_what_windows_lacks(tmp_path):
    """In a folder, as an office has it."""
    (tmp_path / "kgrag.toml").write_text('[embedding]\nmodel = "hash"\n', "utf-8")
    (tmp_path / "a.txt").write_text("甲方案\n根据《乙规划》，到2030年建成绿色工厂9家。\n", "utf-8")
    done = run(TAKEN_AWAY + COMMANDS, tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["con", "nul", "com1", "lpt9.onnx", "aux.x", "model."])
def test_no_model_has_a_name_that_no_folder_can_have(name):
    """Windows takes these for devices, or drops the point."""
    assert not is_name(name)


def test_a_folder_on_a_share_is_opened():
    """The server's name is a part of the path for SQLite; a drive stays as it is."""
    assert uri_of(PureWindowsPath(r"\\server\share\知\kgrag.db")).startswith(
        "file:////server/share/"
    )
    assert uri_of(PureWindowsPath(r"C:\kb\kgrag.db")) == "file:///C:/kb/kgrag.db"
