"""Compare the two stores, SQLite and Neo4j, in one run: storing, asking, and Neo4j's indexes.

Both stores get the same documents from a knowledge base that was ingested before, so that nothing
is read or encoded here but the questions, once. Times are ratios against the other store in the
same run: the stores take turns, document by document and question by question.

usage: python benchmarks/stores.py --kb FOLDER --data FOLDER [--uri bolt://HOST:PORT]
           [--limit N] [--presets bm25,grim,ask] [--writing] [--out report.json]

`--data` holds `queries.jsonl` and `questions.jsonl` (see `kgrag.evaluation.queries`), with gold for
the documents of `--kb`. Without `--uri` a server is started, which needs Java and Maven (see
`tests/neo4j_server`); with it, its database must be empty, and holds the knowledge base afterwards.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from asking import Pair, Remembering, TimedDatabase, ask_all, knowledge_base
from indexes import compare_analyzers, compare_vector_indexes
from storing import Given, change_some, compare_writing, read_given, store_all

from kgrag.config import SearchConfig
from kgrag.errors import StoreError
from kgrag.evaluation.queries import GoldQuery, read_queries
from kgrag.retrieval.grim import PRESETS
from kgrag.store.neo4j import schema
from kgrag.store.neo4j.address import parse
from kgrag.store.neo4j.store import Neo4jStore
from kgrag.store.sqlite.store import SQLiteStore
from tests.neo4j_server.server import Neo4jServer

T = TypeVar("T")

QUERY_FILES = ("queries.jsonl", "questions.jsonl")


def open_pair(stack: ExitStack, given: Given, uri: str) -> Pair:
    """Return two empty knowledge bases with the settings of the one given.

    Raises:
        StoreError: If the database of the server holds something.
    """
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    sqlite = SQLiteStore.open(folder)
    stack.callback(sqlite.close)
    database = TimedDatabase.open(parse(uri))
    stack.callback(database.close)
    schema.prepare(database, create=True)
    neo4j = Neo4jStore(database)
    if neo4j.counts().documents:
        raise StoreError(f"{uri} holds documents: give an empty database")
    embedder = Remembering(given.meta["embedder"])
    for store in (sqlite, neo4j):
        store.set_meta(given.meta)
    os.environ["KGRAG_CACHE"] = str(folder / "cache")  # the encoder is open: for the copy alone
    return Pair(
        knowledge_base(sqlite, embedder),
        knowledge_base(neo4j, embedder, SearchConfig(local_copy="off")),
        knowledge_base(neo4j, embedder),
        database,
        embedder,
    )


def measure(
    given: Given,
    uri: str | None,
    questions: Sequence[str],
    gold: Mapping[str, Sequence[GoldQuery]],
    presets: Sequence[str],
) -> Iterator[tuple[str, object]]:
    """Yield the reports of all parts, in an order in which none disturbs the next."""
    with ExitStack() as stack:
        if uri is None:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            uri = stack.enter_context(Neo4jServer(home)).uri
        pair = open_pair(stack, given, uri)
        yield "storing", store_all(pair, given)
        yield "asking", ask_all(pair, questions, presets)
        yield "analyzers", compare_analyzers(pair, gold)
        yield "vector index", compare_vector_indexes(pair, given, questions)
        yield "changing", change_some(pair, given)


def add_report(out: Path | None, part: str, report: object) -> None:
    """Add a part's report to the file, as soon as it is there."""
    if out is None:
        return
    held = json.loads(out.read_text("utf-8")) if out.exists() else {}
    held[part] = report
    out.write_text(json.dumps(held, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def some(items: Sequence[T], limit: int | None) -> list[T]:
    """Return at most so many items, spread evenly; all for None."""
    step = 1 if limit is None else max(1, len(items) // limit)
    return list(items[::step][:limit])


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kb", type=Path, required=True, help="folder, only read")
    parser.add_argument("--data", type=Path, required=True, help="folder of the questions")
    parser.add_argument("--uri", help="of an empty database; starts a server where it is missing")
    parser.add_argument("--limit", type=int, help="documents, and questions of each file")
    parser.add_argument("--presets", default=",".join([*PRESETS, "ask"]))
    parser.add_argument("--writing", action="store_true", help="compare ways to write, too")
    parser.add_argument("--out", type=Path, help="of the report as JSON")
    args = parser.parse_args()
    if args.out:
        args.out.unlink(missing_ok=True)

    given = read_given(args.kb, args.limit)
    questions: list[str] = []
    gold: dict[str, list[GoldQuery]] = {}
    held = {Path(source).stem for source, _ in given.bundles}
    for name in QUERY_FILES:
        queries = list(read_queries(args.data / name).queries)
        questions += some([query.question for query in queries], args.limit)
        if args.limit:
            queries = [query for query in queries if held.issuperset(query.gold_docs)]
        gold[name] = some(queries, args.limit)

    for part, report in measure(given, args.uri, questions, gold, args.presets.split(",")):
        add_report(args.out, part, report)
    if args.writing:
        add_report(args.out, "writing", compare_writing(given))


if __name__ == "__main__":
    main()
