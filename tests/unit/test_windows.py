"""What Windows lacks, taken away: every module is imported, and the main commands run."""

import os
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import pytest

from kgrag.embedding.catalog import is_name
from kgrag.store.sqlite.opening import uri_of

ROOT = Path(__file__).parents[2]
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
    ["ingest", "a.txt"], ["docs"], ["search", "绿色工厂"], ["ask", "绿色工厂有几家？"], ["stats"],
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
