"""Regular expressions of others: how long the server may be busy with one, at worst.

It tries every way in which the repeats of an expression can share the text, and looks at no clock
meanwhile. So only what is simple enough to be counted is let through.
"""

import re
from collections import Counter
from math import comb

# Characters that =~ may look at, the more the less it repeats: chunks of 2,048, 1,024, 512.
COMPARED = (2100, 1100, 600)
MOST_STEPS = 300_000_000  # of all =~ in a statement: 1 s of a free core, 10 s of a busy one
_RUN = 4  # signs that the server compares about as fast as it repeats one
_ONE = re.compile(r"\\(?:[dDsSwWbBntr]|[pP]\{\w+\}|[^\w\s])")
_CLASS = re.compile(r"\[[^\[\]]*\]")
# Other escapes (\1, \X), flags that change how a sign is read, names, what looks back, (...)*
_REFUSED = re.compile(r"\\|\(\?(?![:=!]|[ism]+[:)])|\)[*+{]")
_REPEAT = re.compile(r"(.)(?:[*+]|\{\d+,\d*\})[?+]?", re.DOTALL)
_TIMES = re.compile(r"\{(\d+)\}")
_BRACKET = re.compile(r"\(\?|[()]")
_ANY_CASE = re.compile(r"\(\?[sm]*i")
_WORDS = re.compile(r"\((?:\?:)?([^\W_]+(?:\|[^\W_]+)+)\)")


def compared(pattern: str, spent: int) -> tuple[int, int]:
    """Return how many characters an expression may look at, and the steps of all so far.

    Args:
        pattern: As Java reads it.
        spent: Steps of those before it in a statement.

    Raises:
        ValueError: If it takes too many, however short the text.
    """
    for characters in COMPARED:
        steps = spent + most_steps(pattern, characters)
        if steps <= MOST_STEPS:
            return characters, steps
    raise _too_slow(pattern)


def most_steps(pattern: str, characters: int) -> int:
    """Return about how many steps an expression takes on the worst text.

    Args:
        pattern: As Java reads it.
        characters: Of the text.

    Raises:
        ValueError: If the size of a part cannot be computed.
    """
    plain, n_classes = _ONE.sub("_", pattern), 1
    while n_classes:
        plain, n_classes = _CLASS.subn("_", plain)
    if _REFUSED.search(plain):
        raise _too_slow(pattern)
    plain = _WORDS.sub(_apart, plain)
    repeats = list(_REPEAT.finditer(plain))
    rest = _REPEAT.sub("", plain).replace("(?", "(")
    # Measured: a choice beside repeats takes 3.6 times as long, what is slow 1.6 to 3 times.
    doubled = 2 * rest.count("|") + 2 * rest.count("?") + sum(map(_is_slow, repeats))
    doubled += bool(_ANY_CASE.search(plain))
    ways = comb(characters + len(repeats), len(repeats))
    return (ways << doubled) * (1 + _alike(rest) // _RUN)


def _too_slow(pattern: str) -> ValueError:
    """Return the error for an expression that keeps the server busy for too long."""
    return ValueError(
        f"the regular expression {pattern!r} may take for ever: repeat no group (...), use at most "
        "3 of * + {m,n}, beside 3 no ? and no |, few of them in all =~ together, and no "
        r"\1, (?<=...), (?x): or use CONTAINS"
    )


def _apart(group: re.Match[str]) -> str:
    """Return the longest of (目标|方案|目), with a | for each that can match besides another."""
    written: list[str] = group[1].split("|")
    words = [word.upper().casefold() for word in written]
    n_together = max(sum(word.startswith(other) for other in words) for word in words)
    return max(written, key=len) + "|" * (n_together - 1)


def _alike(rest: str) -> int:
    """Return how many signs beside the repeats may be the same: so often it compares one in vain.

    Of words of different signs it compares the first, and goes on.
    """
    signs = Counter(_TIMES.sub("", rest))
    wild = signs.pop(".", 0) + signs.pop("_", 0) + sum(int(n) for n in _TIMES.findall(rest))
    return wild + max(signs.values(), default=0)


def _is_slow(repeat: re.Match[str]) -> bool:
    """Say whether what repeats takes longer than a dot: a class, or within a group to remember."""
    around: list[str] = []
    for sign in _BRACKET.findall(repeat.string[: repeat.start()]):
        if sign != ")":
            around.append(sign)
        elif around:
            around.pop()
    return bool(repeat[1] != "." or "(" in around)
