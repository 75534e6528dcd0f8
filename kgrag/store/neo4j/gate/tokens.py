"""Cut Cypher into tokens: names, words, texts, numbers and the few signs that reading needs."""

import re
import unicodedata
from dataclasses import dataclass

# Neo4j reads such escapes before anything else, even inside texts: `\u0027` ends one.
UNICODE_ESCAPE = re.compile(r"\\[uU]")
_TOKEN = re.compile(
    r"""(?P<space>\s+)
    | (?P<comment>//[^\r\n]*|/\*.*?\*/)
    | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<quoted>`(?:[^`]|``)+`)
    | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?P<tail>\w*)
    | (?P<word>[^\W\d]\w*)
    | (?P<sign>=~|\.\.|<>|<=|>=|\|\||[-+*/%^=<>()\[\]{}.,:;|&!])
    | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_NEVER_CLOSED = {"'": "a text", '"': "a text", "`": "a name in backticks"}
_LONGEST_NUMBER = 20
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "'": "'", '"': '"', "\\": "\\"}
_WRITTEN = {"\\": r"\\", "'": r"\'"} | {c: f"\\{name}" for name, c in _ESCAPED.items() if c < " "}


@dataclass(frozen=True, slots=True)
class Token:
    """A part of a statement.

    Attributes:
        kind: text, quoted (a name in backticks), number, word or sign; end after the last.
        value: As written; the name itself for quoted, the text itself for text.
        start: Where it begins, in characters.
        end: Where it ends.
    """

    kind: str
    value: str
    start: int = 0
    end: int = 0

    @property
    def keyword(self) -> str:
        """The word in capitals, or a sign; empty for what cannot be a keyword."""
        if self.kind == "word":
            return self.value.upper()  # also makes S of ſ: rather one keyword too many
        return self.value if self.kind == "sign" else ""

    @property
    def name(self) -> str:
        """What it names; empty for what cannot be a name."""
        return self.value if self.kind in ("word", "quoted") else ""


def tokens(text: str) -> list[Token]:
    r"""Return the tokens without spaces and comments.

    >>> [t.value for t in tokens("RETURN n.`a``b` // 'x")]
    ['RETURN', 'n', '.', 'a`b']

    Raises:
        ValueError: If this reader and the server might read something differently.
    """
    if UNICODE_ESCAPE.search(text):
        raise ValueError("it holds a \\u escape: write the character itself")
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cs") and character not in "\t\n\r":
            raise ValueError(f"it holds the control character {character!r}: leave it out")
    found = []
    for match in _TOKEN.finditer(text):
        kind = "number" if match["number"] else str(match.lastgroup)
        if kind not in ("space", "comment"):
            found.append(Token(kind, _value(kind, match, text), match.start(), match.end()))
    return found


def written_name(name: str) -> str:
    """Return a name in backticks, so that nobody takes it for a keyword."""
    return f"`{name.replace('`', '``')}`"


def written_text(value: str) -> str:
    r"""Return a text as Cypher writes it.

    >>> print(written_text("it's\n"))
    'it\'s\n'
    """
    return f"'{''.join(_WRITTEN.get(c, c) for c in value)}'"


def _value(kind: str, match: re.Match[str], text: str) -> str:
    value = match[0]
    if kind == "other" or (kind == "sign" and value == "/"):
        _check_sign(value, text[match.end() : match.end() + 1])
    if kind == "number" and (match["tail"] or len(value) > _LONGEST_NUMBER):
        raise ValueError(f"{value[:40]!r} is no plain number: write it in decimal digits")
    if kind == "quoted":
        return value[1:-1].replace("``", "`")
    if kind == "text":  # unknown escapes stand for themselves, as on the server
        return _ESCAPE.sub(lambda m: _ESCAPED.get(m[1], m[0]), value[1:-1])
    return value


def _check_sign(sign: str, following: str) -> None:
    if sign in _NEVER_CLOSED:
        raise ValueError(f"{_NEVER_CLOSED[sign]} is never closed: add the closing {sign}")
    if sign == "/":
        if following == "*":
            raise ValueError("a comment is never closed: add */")
        return
    if sign == "$" and following == "(":
        raise ValueError("it chooses a label, type or property by $(...): write the name itself")
    if sign == "$":
        raise ValueError("it holds a parameter: write the value itself")
    if unicodedata.category(sign).startswith("C"):
        raise ValueError(f"it holds the invisible character {sign!r}: leave it out")
    raise ValueError(f"it holds {sign!r}, which queries here do not need: leave it out")
