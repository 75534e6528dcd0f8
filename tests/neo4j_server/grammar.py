"""Neo4j's own grammar of Cypher: random statements of it, and what it reads in others."""

import base64
import random
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

from tests.neo4j_server.classpath import classpath
from tests.neo4j_server.server import _java

SOURCE = Path(__file__).with_name("Grammar.java")
# Rules whose way back out of a statement is long, and what tokens are that no word names.
_SHORTEST = 10**6
_TEXTS = (
    *("'a'", '"b"', "'x'", "''", "'2025-01-01'", "'kgrag_chunk_text'", "'file:///etc/passwd'"),
    *("'http://127.0.0.1:{port}/x.csv'", "'a.*'"),
)
_NAMES = (
    *(
        "n",
        "m",
        "r",
        "x",
        "y",
        "p",
        "a",
        "b",
        "e",
        "l",
        "Entity",
        "Document",
        "RELATED",
        "name",
        "id",
    ),
    *("type", "as", "load", "end", "count", "all", "set", "node", "score", "label", "size", "date"),
    *("toString", "collect", "keys", "labels", "nodes", "coalesce", "db", "apoc", "dbms", "range"),
)
_WRITTEN = {
    "DECIMAL_DOUBLE": ("1.5", ".5", "1e3", "1.0E-2"),
    "UNSIGNED_DECIMAL_INTEGER": ("0", "1", "2", "10", "1000000"),
    "UNSIGNED_HEX_INTEGER": ("0x1F",),
    "UNSIGNED_OCTAL_INTEGER": ("0o17",),
    "STRING_LITERAL1": _TEXTS,
    "STRING_LITERAL2": _TEXTS,
    "ESCAPED_SYMBOLIC_NAME": ("`n`", "`x`", "`as`", "`LOAD CSV`", "`a``b`", "`count`"),
    "IDENTIFIER": _NAMES,
    "EXTENDED_IDENTIFIER": _NAMES,
    "ALL_SHORTEST_PATHS": ("allShortestPaths",),
    "SHORTEST_PATH": ("shortestPath",),
    "ARROW_LINE": ("-",),
    "ARROW_LEFT_HEAD": ("<",),
    "ARROW_RIGHT_HEAD": (">",),
    "SKIPROWS": ("SKIP",),
    "LIMITROWS": ("LIMIT",),
    "ErrorChar": ("?",),
    "EOF": ("",),
}
_RARE = frozenset({"command", "periodicCommitQueryHintFailure", "useClause", "dynamicLabelType"})


class Grammar:
    """Random statements, as a walk through the states of the server's parser.

    Args:
        lines: What Grammar.java prints.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self.words: dict[int, tuple[str, ...]] = {-1: ("",)}
        self.rules: list[str] = []
        self.starts: list[int] = []
        self.stops: set[int] = set()
        self.steps: dict[int, list[tuple[str, int, int]]] = defaultdict(list)
        for line in lines:
            kind, *parts = line.rstrip("\n").split("\t")
            if kind == "token":
                self.words[int(parts[0])] = _words_of(parts[1], parts[2])
            elif kind == "rule":
                self.rules.append(parts[1])
                self.starts.append(int(parts[2]))
                self.stops.add(int(parts[3]))
            elif kind == "step":
                place, what, value, target = parts
                self.steps[int(place)].append((what, int(value or 0), int(target)))
        self._ends = self._distances()

    def statement(self, rng: random.Random, *, rule: str, most: int) -> str:
        """Return a random text of a rule, of about `most` tokens."""
        words: list[str] = []
        self._walk(self.starts[self.rules.index(rule)], words, rng, most)
        return " ".join(words)

    def _walk(self, state: int, words: list[str], rng: random.Random, most: int) -> None:
        while state not in self.stops:
            what, value, target = self._choose(state, rng, short=len(words) > most)
            if what == "token":
                words.append(rng.choice(self.words[value]))
            elif what == "rule":
                self._walk(self.starts[value], words, rng, most)
            state = target

    def _choose(self, state: int, rng: random.Random, *, short: bool) -> tuple[str, int, int]:
        steps = self.steps[state]
        if short:
            return min(steps, key=lambda step: (self._length(step), rng.random()))
        weights = [0.05 if s[0] == "rule" and self.rules[s[1]] in _RARE else 1.0 for s in steps]
        return rng.choices(steps, weights)[0]

    def _length(self, step: tuple[str, int, int]) -> int:
        what, value, target = step
        own = 1 if what == "token" else 0
        inner = self._ends[self.starts[value]] if what == "rule" else 0
        return own + inner + self._ends[target]

    def _distances(self) -> dict[int, int]:
        """Return how many tokens at least lead from each state to the end of its rule."""
        self._ends = dict.fromkeys(self.steps, _SHORTEST) | dict.fromkeys(self.stops, 0)
        changed = True
        while changed:
            changed = False
            for state in self.steps.keys() - self.stops:
                steps = self.steps[state]
                best = min((self._length(step) for step in steps), default=0)
                if best < self._ends[state]:
                    self._ends[state], changed = best, True
        return self._ends


class Reader:
    """The server's parser in a process of its own; what it finds in statements."""

    def __enter__(self) -> Self:
        self._java = subprocess.Popen(
            [_java(), "-Xmx512m", "-cp", classpath(), str(SOURCE), "read"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        return self

    def __exit__(self, *exc: object) -> None:
        self._java.kill()
        self._java.communicate()

    def read(self, text: str) -> tuple[bool, set[str]]:
        """Return whether a text is Cypher, and the rules, functions, procedures in it."""
        if self._java.stdin is None or self._java.stdout is None:
            raise RuntimeError("the parser does not run")
        print(base64.b64encode(text.encode()).decode(), file=self._java.stdin, flush=True)
        kind, *found = self._java.stdout.readline().rstrip("\n").split("\t")
        return kind == "ok", set(found)


def grammar() -> Grammar:
    """Return the grammar of the server's own parser."""
    done = subprocess.run(
        [_java(), "-cp", classpath(), str(SOURCE), "grammar"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=True,
    )  # fmt: skip
    return Grammar(done.stdout.splitlines())


def mutants(seeds: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Yield statements with pieces of others and of what opens or closes something in them."""
    parted = [seed.replace("(", " ( ").replace("{", " { ").split(" ") for seed in seeds]
    while True:
        words = list(rng.choice(parted))
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            _mutate(words, rng, rng.choice(parted))
        yield " ".join(words)


def _mutate(words: list[str], rng: random.Random, other: Sequence[str]) -> None:
    at = rng.randrange(len(words) + 1)
    chance = rng.random()
    if chance < 0.5:
        words[at:at] = [rng.choice(_PIECES)]
    elif chance < 0.65:
        del words[at : at + rng.randint(1, 3)]
    elif chance < 0.9:
        begin = rng.randrange(len(other) + 1)
        words[at : at + rng.randint(0, 4)] = other[begin : begin + rng.randint(1, 12)]
    else:
        rng.shuffle(words[at : at + 4])


def _words_of(name: str, literal: str) -> tuple[str, ...]:
    if literal != "null":
        return (literal.strip("'"),)
    return _WRITTEN.get(name, (name,))


_URL = "'http://127.0.0.1:{port}/x.csv'"
_PIECES = (
    *("AS", "as", "AS as", "AS `as`", ".as", "{as: 1}", ":as", "`as`", "load", "`load`"),
    *(f"LOAD CSV FROM {_URL} AS l", "LOAD CSV FROM 'file:///etc/passwd' AS l", "LOAD", "CSV"),
    *("CALL dbms.listConfig()", "CREATE (:Bad)", "SET n.bad = 1", "DELETE n", "MERGE (:Bad)"),
    *("COLLECT {", "COUNT {", "EXISTS {", "CALL {", "CALL (*) {", "}", "{", "(", ")", "[", "]"),
    *(
        "[x IN [1] |",
        "| x]",
        "reduce(s = 0, x IN [1] |",
        "any(x IN [1] WHERE",
        "CASE WHEN true THEN",
    ),
    *(
        "END",
        "UNION",
        "WITH 1 AS as",
        "WITH *",
        "UNWIND [1] AS as",
        "RETURN 1",
        "RETURN *",
        "WHERE",
    ),
    *("/*", "*/", "//", "// \r", "\n", "'", '"', "`", "``", "\\", "\\'", "\\u0027", "\\u0041"),
    *("\u00a0", "\u2028", "\u3000", "\u200b", "ſ", "‘", "—", ".", "..", ":", "::", "|", "$x", ";"),
    *("1", "1.", "1.as", "1e", "0x1", "-", "--", "<-", "->", "IN", "NOT", "IS NULL", "=~ 'a.*'"),
    *("range(1, 1000000000)", "range(1, 10)", "split(n.x, '')", "collect(n)", "shortestPath("),
    *(
        "date()",
        "file()",
        "apoc.x()",
        "db.labels()",
        "YIELD label",
        "FOREACH (x IN [1] | SET n.x=1)",
    ),
    *("IN TRANSACTIONS", "USE system", "USING INDEX n:KgragEntity(id)", "LIMIT 1", "ORDER BY n"),
)
