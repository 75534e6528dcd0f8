"""Cut Cypher into tokens as Neo4j does, where it matters for what may run."""

import re
import unicodedata
from dataclasses import dataclass

# Escapes are read before anything else, even inside texts: `\u0027` ends one. Nobody needs them.
_UNICODE_ESCAPE = re.compile(r"\\[uU]")
_TOKEN = re.compile(
    r"""(?P<space>\s+)
    | (?P<comment>//[^\r\n]*|/\*.*?\*/)
    | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<quoted>`(?:[^`]|``)*`)
    | (?P<number>\d\w*(?:\.\d\w*)?)
    | (?P<word>[^\W\d]\w*)
    | (?P<sign>=~|\.\.|.)""",
    re.VERBOSE | re.DOTALL,
)
_NEVER_CLOSED = {"'": "a text", '"': "a text", "`": "a name in backticks"}


@dataclass(frozen=True, slots=True)
class Token:
    """A part of a statement.

    Attributes:
        kind: text, quoted (a name in backticks), number, word or sign.
        value: As written; the name itself for quoted.
    """

    kind: str
    value: str

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


# Beyond both ends, so that rules may look at neighbours.
NOTHING = Token("sign", "")


def tokens(text: str) -> list[Token]:
    r"""Return the tokens without spaces and comments.

    >>> [t.value for t in tokens("RETURN n.`a``b` // 'x")]
    ['RETURN', 'n', '.', 'a`b']

    Raises:
        ValueError: If it holds what a reader and the server might read differently; says what.
    """
    if _UNICODE_ESCAPE.search(text):
        raise ValueError("it holds a \\u escape: write the character itself")
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cs") and character not in "\t\n\r":
            raise ValueError(f"it holds the control character {character!r}: leave it out")
    found = []
    for match in _TOKEN.finditer(text):
        kind, value = str(match.lastgroup), match[0]
        if kind == "sign":
            _check_sign(value, text[match.end() : match.end() + 1])
        if kind == "quoted":
            value = value[1:-1].replace("``", "`")
        if kind not in ("space", "comment"):
            found.append(Token(kind, value))
    return found


def _check_sign(sign: str, following: str) -> None:
    if sign in _NEVER_CLOSED:
        raise ValueError(f"{_NEVER_CLOSED[sign]} is never closed: add the closing {sign}")
    if sign == "/" and following == "*":
        raise ValueError("a comment is never closed: add */")
    if unicodedata.category(sign[0]).startswith("C"):
        raise ValueError(f"it holds the invisible character {sign!r}: leave it out")
