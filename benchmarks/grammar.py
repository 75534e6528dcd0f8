"""What each part of the rules' patterns is worth: which of them change no match.

    python benchmarks/grammar.py FOLDER [FOLDER ...] [--module NAME ...] [--every N]

All documents of the folders are read once, in batches; what is asked of each pattern is recorded.
A part of a pattern (an alternative, what is optional, what must not stand beside it) that can be
left out without another result for any recorded text is dead: no document needs it. All dead parts
of a pattern can go together. A pattern that matches nowhere is dead as a whole. One processor needs
about a second for each document.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_COMPILE = re.compile
_RULES = ("kgrag.text", "kgrag.ingestion.statements", "kgrag.ingestion.metadata")
_OPENS = _COMPILE(r"\(\?(?:P<\w+>|[:=!>]|<[=!]|[aiLmsux-]+[:)])|\(")
_TIMES = _COMPILE(r"(?:[*+?]|\{\d+(?:,\d*)?\}|\{,\d+\})[?+]?")
_BATCH = 20  # documents; what is recorded of more takes much memory

Call = tuple[str, str, int, int]  # method, text, first offset, last


@dataclass(eq=False)
class Recorded:
    """A pattern that remembers what it was asked.

    Attributes:
        real: The pattern.
        where: Modules that use it.
        calls: What it was asked since they were last looked at.
    """

    real: re.Pattern[str]
    where: set[str] = field(default_factory=set)
    calls: set[Call] = field(default_factory=set)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the pattern; its methods remember what they are asked."""
        told = getattr(self.real, name)
        if name not in ("search", "match", "fullmatch", "finditer", "findall", "sub", "split"):
            return told

        def asked(*args: Any, **more: Any) -> Any:
            text, *at = args[1:2] if name == "sub" else args
            whole = "finditer" if name in ("findall", "sub", "split") else name
            start, end = at[0] if at else 0, at[1] if len(at) > 1 else sys.maxsize
            self.calls.add((whole, text, *((0, end) if name == "split" else (start, end))))
            return told(*args, **more)

        return asked


PATTERNS: dict[tuple[str, int], Recorded] = {}


def recorded(pattern: Any, flags: int = 0) -> Any:
    """Compile a pattern; those of rules are recorded."""
    if isinstance(pattern, Recorded):
        return pattern
    real = _COMPILE(pattern, flags)
    module = next(
        (name for i in (1, 2) if (name := sys._getframe(i).f_globals["__name__"]) != __name__), ""
    )
    if isinstance(pattern, bytes) or not module.startswith(_RULES):
        return real
    found = PATTERNS.setdefault((real.pattern, real.flags), Recorded(real))
    found.where.add(module)
    return found


def record() -> None:
    """Have the patterns of modules that are imported from now on recorded."""
    re.compile = recorded  # type: ignore[assignment]
    for name in ("search", "match", "fullmatch", "finditer", "findall", "sub", "split"):

        def asked(pattern: Any, *args: Any, name: str = name, flags: int = 0, **more: Any) -> Any:
            return getattr(recorded(pattern, flags), name)(*args, **more)

        setattr(re, name, asked)


def parts(source: str) -> list[tuple[int, int]]:
    """Return (start, end) of the parts of a pattern that may be left out.

    >>> [("a|bc?")[start:end] for start, end in parts("a|bc?")]
    ['c?', 'a|', '|bc?']
    """
    found: list[tuple[int, int]] = []
    _alternatives(source, 0, found)
    return found


def _alternatives(source: str, at: int, found: list[tuple[int, int]]) -> int:
    """Add the parts of a group whose inside begins at an offset; return where it ends."""
    edges = [at]
    while at < len(source) and source[at] != ")":
        if source[at] == "|":
            at += 1
            edges.append(at)
        else:
            at = _atom(source, at, found)
    if len(edges) > 1:
        ends = [*(edge - 1 for edge in edges[1:]), at]
        found.append((edges[0], ends[0] + 1))
        found += [(start - 1, end) for start, end in list(zip(edges, ends, strict=True))[1:]]
    return at


def _atom(source: str, at: int, found: list[tuple[int, int]]) -> int:
    """Add what of the next atom may be left out; return where it ends, its repetition included."""
    start, looks = at, False
    if source[at] == "\\":
        at += 2 + 4 * (source[at + 1] == "u") + 2 * (source[at + 1] == "x")
    elif source[at] == "[":
        at += 1 + (source[at + 1] == "^") + 1
        while source[at] != "]":
            at += 1 + (source[at] == "\\")
        at += 1
    elif source.startswith("(?P=", at):
        at = source.index(")", at) + 1
    elif opens := _OPENS.match(source, at):
        looks = opens[0] in ("(?=", "(?!", "(?<=", "(?<!")
        at = _alternatives(source, opens.end(), found) + 1
    else:
        at += 1
    times = _TIMES.match(source, at)
    at = times.end() if times else at
    if looks or (times and times[0][0] in "?*"):
        found.append((start, at))
    return at


class Examined:
    """A pattern with the parts that no text has needed so far."""

    def __init__(self, real: re.Pattern[str]) -> None:
        self.real, self.n_asked, self.n_found = real, 0, 0
        self.parts = parts(real.pattern)
        self._compiled: dict[frozenset[int], re.Pattern[str] | None] = {}
        self.dead = {i for i in range(len(self.parts)) if self.without({i})}

    def without(self, gone: set[int]) -> re.Pattern[str] | None:
        """Return the pattern without some parts; None if it is none, or lacks groups."""
        key = frozenset(gone)
        if key not in self._compiled:
            self._compiled[key] = self._compile(gone)
        return self._compiled[key]

    def _compile(self, gone: set[int]) -> re.Pattern[str] | None:
        source, at, kept = self.real.pattern, 0, []
        for start, end in sorted(self.parts[i] for i in gone):
            kept.append(source[at:start])
            at = max(at, end)
        try:
            left = _COMPILE("".join([*kept, source[at:]]), self.real.flags)
        except (re.error, RecursionError, OverflowError):
            return None
        return left if left.groups == self.real.groups else None

    def ask(self, call: Call) -> None:
        """Compare what is found in a text with and without the dead parts; keep what differs."""
        told = _result(self.real, call)
        self.n_asked, self.n_found = self.n_asked + 1, self.n_found + bool(told)
        if self.dead and not self._is_same(self.dead, call, told):
            needed = {i for i in self.dead if not self._is_same({i}, call, told)}
            self.dead -= needed
            kept: set[int] = set()
            for i in sorted(self.dead):  # parts that only together make a difference
                if self._is_same(kept | {i}, call, told):
                    kept.add(i)
            self.dead = kept

    def _is_same(self, gone: set[int], call: Call, told: object) -> bool:
        left = self.without(gone)
        return left is not None and _result(left, call) == told


def _result(pattern: re.Pattern[str], call: Call) -> object:
    """Return where a pattern and its groups match in a text."""
    method, text, start, end = call
    found = getattr(pattern, method)(text, start, end)
    matches = found if method == "finditer" else filter(None, [found])
    return [(match.regs, match.lastgroup) for match in matches]


def documents(folders: list[Path], every: int) -> Iterator[Callable[[], object]]:
    """Yield for each document what reads it by all rules."""
    from kgrag.errors import KgragError
    from kgrag.ingestion.chunk import ChunkSizes
    from kgrag.ingestion.curation import Curation
    from kgrag.ingestion.load.load import load
    from kgrag.ingestion.load.source import Source
    from kgrag.ingestion.prepare import derive

    formats = (".txt", ".md", ".docx", ".html", ".pdf")
    paths = sorted(p for folder in folders for p in folder.rglob("*") if p.suffix in formats)
    for path in paths[::every]:
        try:
            document = load(Source(path))
        except KgragError as exc:
            print(f"{path}: {exc}", file=sys.stderr)
            continue
        yield lambda: derive(document, sizes=ChunkSizes(), curation=Curation())  # noqa: B023


def examine(examined: dict[tuple[str, int], Examined]) -> None:
    """Look at what was asked of all patterns, and forget it."""
    for key, pattern in PATTERNS.items():
        for call in pattern.calls:
            examined.setdefault(key, Examined(pattern.real)).ask(call)
        pattern.calls.clear()


def main() -> None:
    """Print a line for each pattern that has dead parts, and these."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, nargs="+", help="folders of documents")
    parser.add_argument("--module", action="append", default=[], help="how its name begins")
    parser.add_argument("--every", type=int, default=1, help="read every Nth document only")
    given = parser.parse_args()
    record()
    examined: dict[tuple[str, int], Examined] = {}
    for n, read in enumerate(documents(given.data, given.every), 1):
        read()
        if n % _BATCH == 0:
            examine(examined)
    examine(examined)
    print("| module | texts | matches | parts | dead | pattern, dead parts |")
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    for key, one in sorted(examined.items()):
        where = min(PATTERNS[key].where).removeprefix("kgrag.")
        if one.dead and where.rpartition(".")[2].startswith(tuple(given.module) or ""):
            dead = " ".join(key[0][slice(*one.parts[i])] for i in sorted(one.dead))
            counts = f"{one.n_asked} | {one.n_found} | {len(one.parts)} | {len(one.dead)}"
            line = f"| {where} | {counts} | `{key[0][:40]}` {dead} |"
            print(line.encode("utf-8", "replace").decode())
    silent = sum(not one.n_found for one in examined.values())
    print(f"\n{len(examined)} patterns, {silent} match nowhere")


if __name__ == "__main__":
    main()
