"""Write down what a checkout of kgrag makes and prints, to compare it with another's.

Whoever moves code runs it before and after; `diff -r ONE OTHER` then shows what has changed:

    python scripts/snapshot.py --data FOLDER --kgrag OLD/.venv/bin/kgrag --out before
    python scripts/snapshot.py --data FOLDER --kgrag .venv/bin/kgrag --out after --without blocks
    diff -r before after

The folder holds policies as `text/*.txt`, `docx/*.docx`, `pdf/*.pdf` and `html/*.html`, questions
as `queries.jsonl` and `questions.jsonl`, and facts as `llm_facts.jsonl`. What differs from run to
run of one checkout is left out: times, dates, sizes of files and where it ran. The models are
stand-ins; their server is of the checkout that this file is in.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path

from kgrag.testing import FakeServer

SYSTEMS = ("bm25", "vector", "hybrid", "recursive", "kg-vector", "grim-no-merge", "grim")
SOME = {"text": ("*.txt", 40), "docx": ("*.docx", 8), "pdf": ("*.pdf", 8), "html": ("*.html", 4)}
QUESTION_FILES = ("queries.jsonl", "questions.jsonl")
EVERY = 15  # of so many questions one is asked for an answer, too
VARYING = re.compile(r"(^|_)(seconds|ms|elapsed|duration|imported_at|bytes|when|began)(_|$)|_s$")
TIMES = re.compile(r"\b\d+(?:\.\d+)? ?(?:s|ms|seconds|MB|KB)\b")


class Recorder:
    """Runs commands in a folder of their own and writes down what they print.

    Attributes:
        out: Where a file for each command is written.
    """

    def __init__(self, kgrag: Path, out: Path, work: Path, without: Collection[str]) -> None:
        self.out = out
        self._without = without
        self._kgrag = kgrag
        self._work = work

    def run(self, name: str, *args: str) -> None:
        """Run a command; exit code, standard output and errors are its file."""
        environment = {**os.environ, "KGRAG_KB": "kb", "COLUMNS": "100"}
        done = subprocess.run(
            [str(self._kgrag), *args],
            cwd=self._work,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        parts = (f"exit code {done.returncode}", self._plain(done.stdout), self._plain(done.stderr))
        (self.out / f"{name}.txt").write_text("\n".join(parts), encoding="utf-8")

    def keep(self, name: str) -> None:
        """Take over a file that a command has written."""
        written = (self._work / name).read_text(encoding="utf-8")
        (self.out / name).write_text(written.replace(str(self._work), "WORK"), encoding="utf-8")

    def _plain(self, printed: str) -> str:
        printed = printed.replace(str(self._work), "WORK")
        try:
            kept = _without_varying(json.loads(printed), self._without)
            return json.dumps(kept, ensure_ascii=False, indent=1)
        except json.JSONDecodeError:
            return TIMES.sub("TIME", printed)


def _without_varying(value: object, without: Collection[str]) -> object:
    if isinstance(value, dict):
        kept = (k for k in value if not VARYING.search(k) and k not in without)
        return {key: _without_varying(value[key], without) for key in kept}
    if isinstance(value, list):
        return [_without_varying(item, without) for item in value]
    return value


def _questions(file: Path) -> Iterator[str]:
    for line in file.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)["question"]


def _documents(data: Path, work: Path) -> None:
    """Copy some documents of each kind into a folder, beside facts about them."""
    for folder, (pattern, most) in SOME.items():
        (work / "docs" / folder).mkdir(parents=True)
        for file in islice(sorted((data / folder).glob(pattern)), most):
            shutil.copyfile(file, work / "docs" / folder / file.name)
    held = {file.stem for file in (work / "docs" / "text").iterdir()}
    facts = (data / "llm_facts.jsonl").read_text(encoding="utf-8").splitlines()
    kept = [line for line in facts if json.loads(line)["doc"] in held]
    (work / "facts.jsonl").write_text("\n".join(kept), encoding="utf-8")


def _record_offline(recorder: Recorder, data: Path) -> None:
    run = recorder.run
    run("ingest-dry", "ingest", "docs", "--dry-run", "--json")
    run("ingest", "ingest", "docs", "--json")
    run("ingest-again", "ingest", "docs", "--json")
    run("import-facts", "import-facts", "facts.jsonl")
    for command in ("documents", "stats", "verify"):
        run(f"{command}-json", command, "--json")
        run(command, command)
    run("export", "export", "--out", "export.jsonl")
    recorder.keep("export.jsonl")
    for name in QUESTION_FILES:
        for system in SYSTEMS:
            out = f"run-{Path(name).stem}-{system}.jsonl"
            batch = (str(data / name), "--out", out, "--system", system)
            run(f"batch-{Path(name).stem}-{system}", "eval", "run", *batch)
            recorder.keep(out)
    run("convert", "convert", "docs/docx/" + _first(data, "docx"), "--json")
    run("reembed-dry", "reembed", "--model", "hash", "--dry-run", "--json")
    run("repair-dry", "repair", "--dry-run", "--json")
    run("prompts", "prompts", "--json")
    run("models", "models", "list", "--json")
    run("query", "query", "SELECT count(*) AS n FROM chunks", "--json")
    run("graph", "graph", "国务院")
    evaluated = ("--set", "questions", "kb", str(data / "questions.jsonl"), "--json")
    run("eval", "eval", "experiment", *evaluated)


def _first(data: Path, folder: str) -> str:
    return min(file.name for file in (data / folder).glob(SOME[folder][0]))


def _record_answers(recorder: Recorder, data: Path, kind: str) -> None:
    for name in QUESTION_FILES:
        for number, question in enumerate(islice(_questions(data / name), 0, None, EVERY)):
            label = f"{kind}-{Path(name).stem}-{number:02}"
            recorder.run(f"{label}-search", "search", question, "--explain", "--json")
            recorder.run(f"{label}-ask", "ask", question, "--explain", "--json")
    recorder.run(f"{kind}-filter", "ask", "目标是什么？", "--year", "2021-2022", "--json")
    recorder.run(f"{kind}-shown", "ask", "到2025年的主要目标是什么？", "--explain")


def main() -> None:
    """Write down everything."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--kgrag", type=Path, required=True, help="the command of the checkout")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--without", nargs="*", default=(), help="keys of JSON that are left out")
    options = parser.parse_args()
    data, out = options.data.resolve(), options.out.resolve()
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        _documents(data, work)
        recorder = Recorder(options.kgrag.absolute(), out, work, options.without)
        _record_offline(recorder, data)
        _record_answers(recorder, data, "quotes")
        with FakeServer() as server:
            settings = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "stand-in"\n'
            (work / "kgrag.toml").write_text(settings, encoding="utf-8")
            recorder.run("ingest-model", "ingest", "docs/html", "docs/pdf", "--json")
            recorder.run("export-model", "export", "--out", "export-model.jsonl")
            recorder.keep("export-model.jsonl")
            _record_answers(recorder, data, "model")
            recorder.run("cost", "stats", "--cost", "--json")
        recorder.run("delete", "delete", "docs/html/" + _first(data, "html"))
        recorder.run("export-deleted", "export", "--out", "export-deleted.jsonl")
        recorder.keep("export-deleted.jsonl")


if __name__ == "__main__":
    main()
