"""The first look at Cypher that others wrote: what its words alone show to be refused.

The plan that Neo4j makes does not show everything: `RETURN [x IN [1] | COLLECT {LOAD CSV ...}]`
is a mere Projection there. So words are read first; in doubt a query is refused, since a name
that equals a keyword can always be written in backticks.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from kgrag.store.neo4j.tokens import NOTHING, Token, tokens

# They read, and no more than a query could: names in use, and the nodes that an index finds. Left
# out are dbms.*, db.stats.* (the server's, not the graph's), db.schema.*Properties (reads every
# node), db.awaitIndexes, db.resampleIndex (make the server work), and what writes.
PROCEDURES = frozenset(
    {
        "db.index.fulltext.queryNodes",
        "db.index.vector.queryNodes",
        "db.labels",
        "db.propertyKeys",
        "db.relationshipTypes",
        "db.schema.visualization",
    }
)
_CLOCKS = ("date", "datetime", "localdatetime", "localtime", "time")
# Functions without a dot are Neo4j's own: nobody else may define such. Of those with one, plugins
# bring some that reach the network (genai.*, apoc.*).
_FUNCTIONS = frozenset(
    {
        *(
            f"{c}.{f}"
            for c in _CLOCKS
            for f in ("realtime", "statement", "transaction", "truncate")
        ),
        *("datetime.fromepoch", "datetime.fromepochmillis"),
        *("duration.between", "duration.indays", "duration.inmonths", "duration.inseconds"),
        *("point.distance", "point.withinbbox"),
        *("vector.similarity.cosine", "vector.similarity.euclidean"),
    }
)
_FIRST = ("MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN", "CALL", "FILTER", "LET")
_REFUSED = frozenset(
    {
        *("CREATE", "INSERT", "MERGE", "SET", "DELETE", "DETACH", "NODETACH", "REMOVE", "FOREACH"),
        *("DROP", "ALTER", "RENAME", "GRANT", "DENY", "REVOKE", "LOAD", "SHOW", "TERMINATE"),
        *("USE", "USING", "TRANSACTIONS", "CYPHER", "EXPLAIN", "PROFILE"),
    }
)
# Measured with Neo4j 5.26: beyond these, planning takes seconds or minutes, and no timeout ends
# it (20 nested COUNT {}: 151 s).
_MOST_CHARACTERS = 4000
_MOST_NESTED = 12
_MOST_TIMES = {"XOR": 8, "CASE": 40, "NOT": 50}
# No timeout ends `any(x IN range(1, 1000000000) WHERE ...)` either, or a regular expression.
_MOST_IN_RANGE = 100_000
_IN_RANGE = frozenset("()[].,+-/")
_CALLS_IN_RANGE = ("coalesce", "length", "size")
_REPEATED_GROUP = re.compile(r"\)[*+{]|\(\?\w*x")  # the flag x allows spaces between the two
_REPEATS = ((re.compile(r"[*+]|\{\d+,\d*\}"), 3), (re.compile(r"(?<!\()\?"), 10))
_AFTER_REGEX = frozenset(("", ";", ")", "]", "}", ",", "|"))


def check_words(text: str) -> None:
    """Refuse what the words of a statement show to be no plain read.

    Raises:
        ValueError: If it is refused; says why, and the remedy.
    """
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"it has {len(text)} characters: at most {_MOST_CHARACTERS} are allowed")
    found = tokens(text)
    if found and found[-1].keyword == ";":
        found.pop()
    if not found or found[0].keyword not in _FIRST:
        raise ValueError(f"it must begin with one of {', '.join(_FIRST)}")
    for rule in _RULES:
        for at in range(len(found)):
            rule(found, at)
    _check_size(found)


def _near(found: Sequence[Token], at: int) -> Token:
    return found[at] if 0 <= at < len(found) else NOTHING


def _is_name(found: Sequence[Token], at: int) -> bool:
    """Return whether a word stands where only a name can: n.set, :Set, AS set, {set: 1}."""
    before, after = _near(found, at - 1).keyword, _near(found, at + 1).keyword
    return before in (".", ":", "AS") or (before in ("{", ",") and after == ":")


def _check_sign(found: Sequence[Token], at: int) -> None:
    sign = found[at].keyword
    if sign == ";":
        raise ValueError("it holds a ';' before its end: give one statement at a time")
    if sign == "$" and _near(found, at + 1).value == "(":
        raise ValueError("it chooses a label, type or property by $(...): write the name itself")
    if sign == "$":
        raise ValueError("it holds a parameter: write the value itself")


def _check_word(found: Sequence[Token], at: int) -> None:
    word = found[at]
    if word.keyword in _REFUSED and not _is_name(found, at):
        raise ValueError(
            f"{word.value} is refused: only reading is allowed; a name is written `{word.value}`"
        )


def _check_procedure(found: Sequence[Token], at: int) -> None:
    if found[at].keyword != "CALL" or _is_name(found, at):
        return
    if _near(found, at + 1).value in ("{", "(") and not _near(found, at + 1).name:
        return  # a subquery, which the rules see too
    name = _dotted(found, at + 1)
    if name not in PROCEDURES:
        raise ValueError(
            f"the procedure {name or '?'} is refused; allowed are {', '.join(sorted(PROCEDURES))}"
        )


def _check_function(found: Sequence[Token], at: int) -> None:
    if not found[at].name or _near(found, at - 1).keyword in (".", "CALL"):
        return
    name = _dotted(found, at)
    if _near(found, at + 2 * name.count(".") + 1).keyword != "(":
        return
    if name.lower() in ("file", "linenumber") or ("." in name and name.lower() not in _FUNCTIONS):
        raise ValueError(f"the function {name} is refused: use Neo4j's own functions of the graph")


def _dotted(found: Sequence[Token], at: int) -> str:
    """Return a name with its parts, as `db.labels`.

    A dot within a part, which only backticks can hold, is written as a space.
    """
    parts = [_near(found, at).name.replace(".", " ")]
    while _near(found, at + 1).keyword == "." and _near(found, at + 2).name:
        at += 2
        parts.append(found[at].name.replace(".", " "))
    return ".".join(parts)


def _check_range(found: Sequence[Token], at: int) -> None:
    """Allow what a list needs, as range(0, size(n.names) - 1)."""
    if found[at].name.lower() != "range" or _near(found, at + 1).keyword != "(":
        return
    depth = 0
    for place in range(at + 1, len(found)):
        token = found[place]
        depth += {"(": 1, ")": -1}.get(token.keyword, 0)
        if depth == 0:
            return
        calls = _near(found, place + 1).keyword == "("
        large = token.kind == "number" and not _is_small(token.value)
        other = token.kind == "text" or (token.kind == "sign" and token.value not in _IN_RANGE)
        if large or other or (calls and token.name and token.name.lower() not in _CALLS_IN_RANGE):
            raise ValueError(
                f"range(...) holds {token.value!r}: give it names, size(...) and whole numbers up "
                f"to {_MOST_IN_RANGE}"
            )


def _is_small(number: str) -> bool:
    return number.isascii() and number.isdecimal() and int(number) <= _MOST_IN_RANGE


def _check_regex(found: Sequence[Token], at: int) -> None:
    if found[at].keyword != "=~":
        return
    pattern, after, next_ = (_near(found, at + ahead) for ahead in (1, 2, 3))
    alone = after.kind == "word" or after.keyword in _AFTER_REGEX
    if pattern.kind != "text" or not alone or after.keyword == next_.keyword == "|":
        raise ValueError("the right side of =~ must be one text: use CONTAINS for other values")
    often = any(len(repeat.findall(pattern.value)) > most for repeat, most in _REPEATS)
    if often or _REPEATED_GROUP.search(pattern.value):
        raise ValueError(
            f"the regular expression {pattern.value} may take for ever: repeat no group (...), and "
            "use at most 3 of * + {m,n}, 10 of ?"
        )


def _check_size(found: Sequence[Token]) -> None:
    depth = 0
    for token in found:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.keyword, 0)
        if depth > _MOST_NESTED:
            raise ValueError(f"its brackets are nested more than {_MOST_NESTED} deep: simplify it")
    times = Counter(token.keyword for token in found)
    for word, most in _MOST_TIMES.items():
        if times[word] > most:
            raise ValueError(f"it holds {word} {times[word]} times, at most {most} are allowed")


_Rule = Callable[[Sequence[Token], int], None]
_RULES: tuple[_Rule, ...] = (
    *(_check_sign, _check_word, _check_procedure),
    *(_check_function, _check_range, _check_regex),
)
