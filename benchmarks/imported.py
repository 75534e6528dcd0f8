"""What facts and summaries bring to retrieval, by kind of question, with and without them.

Facts and summaries that a model made elsewhere are imported into copies of a knowledge base, so
that this needs no model. Where they cover a part of the documents only, that part is favoured:
documents with a summary can be found by it, the others cannot. So everything is measured twice:
on all documents, and on a knowledge base of the covered documents alone, where every document has
the same chance.

usage: python benchmarks/imported.py --kb FOLDER --files FOLDER --queries questions.jsonl
           --facts llm_facts.jsonl --summaries llm_summaries.jsonl [--systems kg-vector,grim]

`--kb` holds the files in `--files`, named as facts and summaries name them, without either.
"""

import argparse
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from kgrag.api import KnowledgeBase
from kgrag.evaluation.experiment import try_system
from kgrag.evaluation.queries import GoldQuery, read_queries
from kgrag.evaluation.scores import Report

SYSTEMS = "kg-vector,recursive,grim,grim-no-summary"
COLUMNS = ("R@1", "R@5", "span@1000", "span@2000", "MRR")
VARIANTS: Mapping[str, tuple[str, ...]] = {
    "without": (),
    "facts": ("facts",),
    "summaries": ("summaries",),
    "both": ("facts", "summaries"),
}

Reports = dict[str, dict[str, Report]]


def measure(
    base: Path, imports: Mapping[str, Path], queries: Sequence[GoldQuery], systems: Sequence[str]
) -> Reports:
    """Return the reports of each variant: {variant: {system: report}}."""
    found = {}
    for variant, parts in VARIANTS.items():
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "kb"
            shutil.copytree(base, copy)
            with KnowledgeBase.open(copy, create=False) as kb:
                if "facts" in parts:
                    kb.import_facts(imports["facts"])
                if "summaries" in parts:
                    kb.import_summaries(imports["summaries"])
                searches = {name: partial(kb.search, system=name, top_k=20) for name in systems}
                found[variant] = {
                    name: try_system(name, search, queries, measures=COLUMNS).report
                    for name, search in searches.items()
                }
    return found


def covered(files: Path, facts: Path, folder: Path) -> Path:
    """Return a knowledge base of only those files that facts were made of."""
    rows = map(json.loads, facts.read_text("utf-8").splitlines())
    names = sorted({row["doc"] for row in rows})
    with KnowledgeBase.open(folder) as kb:
        kb.ingest([path for path in sorted(files.iterdir()) if path.stem in names])
    return folder


def table(reports: Reports) -> str:
    """Return a Markdown table: system, kind and variant, in percent."""
    lines = [
        f"| system | questions | | {' | '.join(COLUMNS)} |",
        "| --- | --- | --- |" + " ---: |" * len(COLUMNS),
    ]
    for system in reports["without"]:
        for group in reports["without"][system].groups:
            for variant, by_system in reports.items():
                means = next(g.means for g in by_system[system].groups if g.kind == group.kind)
                cells = " | ".join(f"{100 * means[name]:.1f}" for name in COLUMNS)
                lines.append(
                    f"| {system} | {group.kind} ({group.n_queries}) | {variant} | {cells} |"
                )
    return "\n".join(lines)


def main() -> None:
    """Measure on all documents and on those that are covered; print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("kb", "files", "queries", "facts", "summaries"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--systems", default=SYSTEMS)
    given = parser.parse_args()
    imports = {"facts": given.facts, "summaries": given.summaries}
    queries = read_queries(given.queries).queries
    systems = given.systems.split(",")
    print("## All documents\n")
    print(table(measure(given.kb, imports, queries, systems)), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        base = covered(given.files, given.facts, Path(folder) / "kb")
        print("\n## Only the documents that facts and summaries cover\n")
        print(table(measure(base, imports, queries, systems)))


if __name__ == "__main__":
    main()
