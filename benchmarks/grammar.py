"""What each pattern of the rules is worth: how many findings change where it matches nothing.

    python benchmarks/grammar.py DATA [--module NAME ...] [--at-most N]

Every pattern that a module of the rules keeps is switched off in turn, and its kind of statement is
read again over all documents of a folder, of any format. A line tells the documents and
findings that change; `--at-most` shows only patterns that change no more findings. What changes
none is dead, what changes one or two is an exception, not a rule. Patterns of the grammars
(`*.toml`) are switched off by their names, rows by their ids.
"""

import argparse
import importlib
import pkgutil
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from types import ModuleType

import kgrag.ingestion.metadata as metadata
import kgrag.ingestion.statements as statements
from kgrag.errors import KgragError
from kgrag.ingestion.load.load import load
from kgrag.ingestion.load.source import Source
from kgrag.ingestion.prepare import described
from kgrag.ingestion.statements.definitions import definitions
from kgrag.ingestion.statements.duties import duties
from kgrag.ingestion.statements.provisions import conditions
from kgrag.ingestion.statements.references import references
from kgrag.ingestion.statements.targets import targets
from kgrag.ingestion.structure import structure
from kgrag.types import Document, Heading

Reader = Callable[[Document, Sequence[Heading]], Sequence[object]]
READERS: Mapping[str, Reader] = {
    "targets": lambda document, headings: targets(document.text, headings=headings),
    "duties": lambda document, headings: duties(document.text, headings=headings),
    "references": lambda document, _: references(document.text, own_names=[document.title]),
    "definitions": lambda document, _: definitions(document.text),
    "conditions": lambda document, _: conditions(document.text),
    "metadata": lambda document, _: [described(document).metadata],
}
# The kind of statement that a module is read for, by how its name begins.
_KINDS = (
    ("target", "targets"), ("prose", "targets"), ("dut", "duties"), ("organs", "duties"),
    ("reference", "references"), ("citation", "references"), ("cited", "references"),
    ("defin", "definitions"), ("unwrapped", "duties"), ("", "conditions"),
)  # fmt: skip
_NEVER = re.compile(r"(?!)")


def kind_of(module: str) -> str:
    """Return the kind of statement that a module is for."""
    package, _, name = module.rpartition(".")
    if package == metadata.__name__:
        return "metadata"
    return next(kind for start, kind in _KINDS if name.startswith(start))


def patterns() -> Iterator[tuple[str, str]]:
    """Yield (module, name) of the patterns that modules of the rules keep."""
    for package in (metadata, statements):
        for info in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            module = importlib.import_module(info.name)
            for name, value in vars(module).items():
                if isinstance(value, re.Pattern) and _own(module, name):
                    yield info.name, name


def _own(module: ModuleType, name: str) -> bool:
    """Return whether a module makes a pattern itself."""
    source = Path(module.__file__ or "").read_text(encoding="utf-8")
    return re.search(rf"^{name} = ", source, re.MULTILINE) is not None


def read_all(kind: str, documents: Sequence[tuple[Document, Sequence[Heading]]]) -> list[set[str]]:
    """Return what is read of each document."""
    reader = READERS[kind]
    return [_read(reader, *document) for document in documents]


def _read(reader: Reader, document: Document, headings: Sequence[Heading]) -> set[str]:
    """Return what is read, or what goes wrong: a reader may rest on its pattern."""
    try:
        return {repr(finding) for finding in reader(document, headings)}
    except Exception as exc:  # that it fails is the finding
        return {repr(exc)}


def without(
    each: tuple[str, str],
    documents: Sequence[tuple[Document, Sequence[Heading]]],
    before: Mapping[str, list[set[str]]],
) -> tuple[int, int, float]:
    """Return the documents and findings that change without a pattern, and the seconds it took."""
    module, name = each
    pattern = vars(importlib.import_module(module))[name]
    holding = [
        (m, key)
        for m in list(sys.modules.values())
        if m and m.__name__.startswith("kgrag.")
        for key, value in list(vars(m).items())
        if value is pattern
    ]
    for m, key in holding:
        setattr(m, key, _NEVER)
    began = time.process_time()
    try:
        after = read_all(kind_of(module), documents)
    finally:
        for m, key in holding:
            setattr(m, key, pattern)
    changed = [len(a ^ b) for a, b in zip(before[kind_of(module)], after, strict=True)]
    return sum(map(bool, changed)), sum(changed), time.process_time() - began


_work: dict[str, object] = {}


def _loaded(path: Path) -> tuple[Document | None, str]:
    """Return the document of a file, or why it is none."""
    if path.suffix not in (".txt", ".md", ".docx", ".html", ".pdf"):
        return None, "another format"
    try:
        return load(Source(path)), ""
    except KgragError as exc:
        return None, str(exc)


def _begin(data: Path) -> None:
    loaded = [document for document, _ in map(_loaded, sorted(data.rglob("*"))) if document]
    documents = [(document, structure(document.text)) for document in loaded]
    before = {kind: read_all(kind, documents) for kind in READERS}
    _work["call"] = partial(without, documents=documents, before=before)


def _one(each: tuple[str, str]) -> tuple[tuple[str, str], tuple[int, int, float]]:
    call = _work["call"]
    assert callable(call)
    return each, call(each)


def main() -> None:
    """Print a line for each pattern, the least first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="a folder of documents")
    parser.add_argument("--module", action="append", default=[], help="how its name begins")
    parser.add_argument("--at-most", type=int, default=sys.maxsize)
    given = parser.parse_args()
    asked = [
        (module, name)
        for module, name in patterns()
        if not given.module or module.rsplit(".", 1)[1].startswith(tuple(given.module))
    ]
    with ProcessPoolExecutor(initializer=_begin, initargs=(given.data,)) as pool:
        found = list(pool.map(_one, asked))
    found.sort(key=lambda one: (one[1][1], one[0]))
    print("| documents | findings | seconds | pattern |\n| ---: | ---: | ---: | --- |")
    for (module, name), (n_documents, n_findings, seconds) in found:
        if n_findings <= given.at_most:
            where = f"{module.rsplit('.', 1)[1]}.{name}"
            print(f"| {n_documents} | {n_findings} | {seconds:.1f} | {where} |")
    dead = sum(1 for _, (_, n, _) in found if n == 0)
    print(f"\n{len(found)} patterns, {dead} change nothing")


if __name__ == "__main__":
    main()
