"""Fill the JSON schemas of kgrag's requests with sentences, for a stand-in without a model."""

import re
from collections.abc import Mapping, Sequence

_VERB = re.compile(
    r"负责|牵头|印发|发布|制定|推进|推动|建设|建立|达到|实施|开展|完善|加强|鼓励|支持|促进|提高|降低|包括|是|为"
    r"|\b(?:is|are|shall|will|must|has|have|sets?|supports?|requires?|reach(?:es)?)\b"
)
_REWORDED = "{}（原文怎么说）"
_PLACES = frozenset(["n", "id", "part"])  # properties that name the part of the request meant
_MOST_ITEMS = 5
_MOST_OBJECTS = 12
_LONGEST_NAME = 24

Filled = dict[str, "Filled"] | list["Filled"] | str | int | bool


class Filler:
    """Fills a schema once.

    Texts are consecutive sentences; `quote` and the triples below it come from the same sentence.
    Scores are good ones, choices the first; those of a list's items rotate.
    """

    def __init__(
        self, schema: Mapping[str, object], *, sentences: Sequence[str], keys: Sequence[str] = ()
    ) -> None:
        """Prepare.

        Args:
            schema: JSON schema of the answer.
            sentences: At least one.
            keys: Required keys of list items, e.g. the numbers of passages.
        """
        self._schema = schema
        self._sentences = sentences
        self._keys = keys
        self._next = 0
        self._quoting = False

    def fill(self) -> Filled:
        """Return a value of the schema."""
        return self._value(self._schema, "", 0)

    def _value(self, schema: Mapping[str, object], name: str, place: int) -> Filled:
        """Return a value for a property `name` of the item at index `place`."""
        if isinstance(options := schema.get("enum"), list):
            return str(options[place % len(options)])
        match schema.get("type"):
            case "object":
                return self._object(schema, place)
            case "array":
                if name == "triples":
                    return [list(_triple(self._sentence))]  # a row of them
                length = self._length(schema, name)
                return [self._value(_part(schema, "items"), name, i) for i in range(length)]
            case "integer" | "number":
                return self._number(name, place)
            case "boolean":
                return True
        return self._text(name, place)

    def _object(self, schema: Mapping[str, object], place: int) -> dict[str, Filled]:
        parts = _part(schema, "properties")
        self._quoting = "quote" in parts
        filled = {name: self._value(_part(parts, name), name, place) for name in parts}
        self._next += self._quoting
        self._quoting = False
        return filled

    def _length(self, schema: Mapping[str, object], name: str) -> int:
        parts = _part(_part(schema, "items"), "properties")
        if name == "corrections":
            return 0  # of nothing that it knows better
        if self._keys and _PLACES & parts.keys():
            return len(self._keys)
        return min(len(self._sentences), _MOST_OBJECTS if parts else _MOST_ITEMS)

    def _number(self, name: str, place: int) -> int:
        if name in _PLACES:
            key = self._keys[place] if place < len(self._keys) else ""
            return int(key) if key.isdigit() else 1 + place
        return int(name != "bias")  # CoV-RAG's one score that is best when low

    @property
    def _sentence(self) -> str:
        return self._sentences[self._next % len(self._sentences)]

    def _text(self, name: str, place: int) -> str:
        sentence = self._sentence
        if name == "quote":
            return sentence
        if name in _PLACES and place < len(self._keys):
            return self._keys[place]
        if "question" in name:
            return _REWORDED.format(sentence)
        self._next += not self._quoting
        return sentence


def _part(schema: Mapping[str, object], name: str) -> Mapping[str, object]:
    part = schema.get(name)
    return part if isinstance(part, Mapping) else {}


def _triple(sentence: str) -> tuple[str, str, str]:
    """Split a sentence in three at a verb inside it."""
    bare = sentence.strip("，。；：:;,. \n")
    for verb in _VERB.finditer(bare):
        clause = re.split(r"[，,、；;]", bare[: verb.start()])[-1].strip()
        rest = re.split(r"[，,；;]", bare[verb.end() :])[0].strip()
        if clause and rest:
            return clause[-_LONGEST_NAME:], verb[0], rest[:_LONGEST_NAME]
    third = max(1, len(bare) // 3)
    return bare[:third], bare[third : 2 * third] or bare, bare[2 * third :] or bare
