"""Compare kgrag with other systems on the same texts, questions, encoder and model.

    python benchmarks/peers/run.py --texts FOLDER --queries Q.jsonl --out FOLDER
        [--only NAME,...] [--limit-docs N] [--pythons ENVIRONMENT=PYTHON ...]

Texts are `.txt` files, named as the questions' gold documents. With `--limit-docs` the documents
with gold are taken, and others by name until there are N. Each system runs in a process of its own,
by the Python of its environment: `kgrag` (by default this one), `llama-index`, `lightrag`,
`neo4j-graphrag`, `vector-graph-rag`; one whose Python is not given is left out. See
`benchmarks/peers/README.md`.

The folder gets `report.md`, `report.json` and for each search a run in kgrag's form. Run again, it
keeps what was measured of the same documents and questions, save of the systems in `--only`.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.model import TOKENS
from benchmarks.peers.peers import PEERS
from benchmarks.peers.table import MEASURES, Row, markdown
from kgrag.embedding.model_folder import models_folder
from kgrag.evaluation.experiment import intervals
from kgrag.evaluation.queries import GoldQuery, read_queries
from kgrag.evaluation.runs import RunResult, write_run
from kgrag.evaluation.scores import cuts_of, evaluate

_ROOT = Path(__file__).parents[2]
_MODEL = "bge-small-zh"
_OF_QUESTION = ("texts", "calls", "prompt_tokens", "completion_tokens")
_REPORT = """# {n_docs} documents, {n_characters:,} characters, {n_queries} questions

{tables}

Shares in percent with 95 % bootstrap intervals over questions. Encoder {model}, on this machine's
{cores} cores, for every system. Model: a stand-in that answers all of them at once from the same
rules; its tokens are {tokens}. Seconds to ingest include those of encoder and model. A question's
time includes its encoding; processor time is that of its process, on all cores, without servers.

Versions: {versions}.
"""


def main() -> None:
    """Run what is wanted, and write the reports."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default=",".join(PEERS), help=f"of {', '.join(PEERS)}")
    parser.add_argument("--limit-docs", type=int, default=sys.maxsize)
    parser.add_argument("--pythons", nargs="*", default=[], metavar="ENVIRONMENT=PYTHON")
    args = parser.parse_args()
    names = [name for name in args.only.split(",") if name]
    if unknown := set(names) - set(PEERS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(PEERS)}")
    pythons = {"kgrag": sys.executable, **dict(of.split("=", 1) for of in args.pythons)}
    queries = read_queries(args.queries).queries
    files = chosen(args.texts, queries, args.limit_docs)
    job = {
        "files": {doc_id: str(path.resolve()) for doc_id, path in files.items()},
        "questions": {query.query_id: query.question for query in queries},
        "encoder": str(models_folder() / _MODEL),
    }
    args.out.mkdir(parents=True, exist_ok=True)
    for name in names:
        if python := pythons.get(PEERS[name].environment):
            _run(name, python, job, args.out)
        else:
            print(f"{name}: left out, no Python for {PEERS[name].environment}", file=sys.stderr)
    _report(args.out, job, queries)


def chosen(folder: Path, queries: Sequence[GoldQuery], limit: int) -> dict[str, Path]:
    """Return the files of documents by id: those with gold, and others until there are enough.

    Raises:
        SystemExit: If a document with gold is not there.
    """
    there = {path.stem: path for path in sorted(folder.glob("*.txt"))}
    gold = {doc_id for query in queries for doc_id in query.gold_docs}
    if missing := gold - set(there):
        sys.exit(f"{folder} has no text of {', '.join(sorted(missing))}, which have gold")
    others = [doc_id for doc_id in there if doc_id not in gold]
    taken = gold | set(others[: max(0, limit - len(gold))])
    return {doc_id: path for doc_id, path in there.items() if doc_id in taken}


def _run(name: str, python: str, job: Mapping[str, object], out: Path) -> None:
    """Run a system; what it writes is kept in `NAME.json`, and nothing if it fails."""
    measured, to_do = out / f"{name}.json", out / f"{name}.job.json"
    measured.unlink(missing_ok=True)
    to_do.write_text(json.dumps({"peer": name, "out": str(measured.resolve()), **job}), "utf-8")
    command = [python, "-m", "benchmarks.peers.worker", str(to_do.resolve())]
    environment = {**os.environ, "PYTHONPATH": str(_ROOT), "TOKENIZERS_PARALLELISM": "false"}
    print(f"{name} ...", file=sys.stderr, flush=True)
    with (out / f"{name}.log").open("wb") as log:
        done = subprocess.run(
            command, cwd=_ROOT, env=environment, stdout=log, stderr=log, check=False
        )
    if done.returncode:
        tail = (out / f"{name}.log").read_text("utf-8", "replace").strip().splitlines()[-1:]
        print(f"{name}: failed: {''.join(tail)}", file=sys.stderr)


def _report(out: Path, job: Mapping[str, Any], queries: Sequence[GoldQuery]) -> None:
    """Write the report of all that was measured of the job, and print it."""
    n_characters = sum(len(Path(f).read_text("utf-8")) for f in job["files"].values())
    versions: dict[str, str] = {}
    rows: list[Row] = []
    for name in PEERS:
        to_do, measured = out / f"{name}.job.json", out / f"{name}.json"
        if (
            not measured.is_file()
            or not job.items() <= json.loads(to_do.read_text("utf-8")).items()
        ):
            continue
        of = json.loads(measured.read_text("utf-8"))
        versions |= of["versions"]
        rows += _rows(name, of, queries, n_characters, out)
    text = _REPORT.format(
        n_docs=len(job["files"]),
        n_characters=n_characters,
        n_queries=len(queries),
        tables=markdown(rows),
        model=_MODEL,
        cores=len(os.sched_getaffinity(0)),
        tokens=TOKENS,
        versions=", ".join(f"{name} {version}" for name, version in versions.items()),
    )
    (out / "report.md").write_text(text, "utf-8")
    report = {"versions": versions, "rows": [asdict(row) for row in rows]}
    (out / "report.json").write_text(json.dumps(report, ensure_ascii=False, indent=1), "utf-8")
    print(text)


def _is_of(job: Mapping[str, Any], to_do: Path) -> bool:
    """Return whether what was measured is of the same documents and questions."""
    return bool(job.items() <= json.loads(to_do.read_text("utf-8")).items())


def _rows(
    name: str, of: Mapping[str, Any], queries: Sequence[GoldQuery], n_characters: int, out: Path
) -> Iterator[Row]:
    """Yield the row of each search of a system, and write its run."""
    ks, budgets = cuts_of(MEASURES)
    for search, measured in of["searches"].items():
        run = {
            query_id: [RunResult(**found, score=1 / rank) for rank, found in enumerate(results, 1)]
            for query_id, results in measured["results"].items()
        }
        system = f"{name} {search}".strip()
        write_run(out / f"{system.replace(', ', '-').replace(' ', '.')}.run.jsonl", run)
        report = evaluate(run, queries, ks=ks, budgets=budgets)
        p50, p99 = np.percentile(measured["seconds"], [50, 99]) * 1000
        yield Row(
            system,
            [_measured(query.scores) for query in report.queries],
            _measured(report.groups[0].means),
            intervals([query.scores for query in report.queries]),
            n_characters,
            of["ingest"],
            {
                key: measured[key]
                for key in ("texts", "calls", "prompt_tokens", "completion_tokens")
            },
            float(p50),
            float(p99),
            float(np.median(measured["processor_s"]) * 1000),
            of["memory"],
            measured["n_results"],
            measured["n_unlocated"],
        )


def _measured(scores: Mapping[str, float]) -> dict[str, float]:
    """Return those of a table's measures that there are: without gold spans some are not."""
    return {name: scores[name] for name in MEASURES if name in scores}


if __name__ == "__main__":
    main()
