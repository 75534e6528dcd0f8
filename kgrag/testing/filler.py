"""Fill any JSON schema with sentences, for a stand-in without a model."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

_VERB = re.compile(
    r"负责|牵头|印发|发布|制定|推进|推动|建设|建立|达到|实施|开展|完善|加强|鼓励|支持|促进|提高|降低|包括|是|为"
    r"|\b(?:is|are|shall|will|must|has|have|sets?|supports?|requires?|reach(?:es)?)\b"
)
_REWORDED = "{}（原文怎么说）"
_PLACES = frozenset(["n", "index", "number", "id", "part", "passage"])
_TRIPLE = {
    "subject": 0,
    "predicate": 1,
    "object": 2,
    "s": 0,
    "p": 1,
    "o": 2,
}
_MOST_ITEMS = 5
_MOST_OBJECTS = 12
_LONGEST_NAME = 24

Filled = dict[str, "Filled"] | list["Filled"] | str | int | float | bool | None


class Filler:
    """Fills a schema once.

    Texts are consecutive sentences; `quote` and the parts of a triple beside or below it come from
    the same sentence. Scores are the best possible, choices the first; those of a list's items
    rotate.
    """

    def __init__(
        self,
        schema: Mapping[str, object],
        *,
        sentences: Sequence[str],
        keys: Sequence[str] = (),
        given: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Prepare.

        Args:
            schema: JSON schema of the answer.
            sentences: At least one.
            keys: Required keys of list items, e.g. the numbers of passages.
            given: Texts by the name of their property.
        """
        self._schema = schema
        self._sentences = sentences
        self._keys = keys
        self._given = given
        self._next = 0
        self._quoting = False

    def fill(self) -> Filled:
        """Return a value of the schema."""
        return self._value(self._schema, "", 0)

    def _value(self, schema: Mapping[str, object], name: str, place: int) -> Filled:
        """Return a value for a property `name` of the item at index `place`."""
        schema = self._resolved(schema)
        if "const" in schema:
            return _plain(schema["const"])
        options = schema.get("enum")
        if isinstance(options, list) and options:
            return _plain(options[(self._next if self._quoting else place) % len(options)])
        match _type(schema):
            case "object":
                return self._object(schema, place)
            case "array":
                items = _part(schema, "items")
                if name == "triples" and _type(self._resolved(items)) == "array":
                    return [list(_triple(self._sentence))]  # a row of them
                return [self._value(items, name, i) for i in range(self._length(schema, name))]
            case "integer" | "number":
                return self._number(schema, name, place)
            case "boolean":
                return True
            case "null":
                return None
        return self._text(schema, name, place)

    def _resolved(self, schema: Mapping[str, object]) -> Mapping[str, object]:
        reference = schema.get("$ref")
        if isinstance(reference, str):
            found = self._schema
            for step in reference.removeprefix("#/").split("/"):
                found = _part(found, step)
            return self._resolved(found)
        for several in ("anyOf", "oneOf", "allOf"):
            options = schema.get(several)
            if isinstance(options, list) and options and isinstance(options[0], Mapping):
                return self._resolved(options[0])
        return schema

    def _object(self, schema: Mapping[str, object], place: int) -> dict[str, Filled]:
        parts = _part(schema, "properties")
        outermost = "quote" in parts and not self._quoting
        self._quoting = self._quoting or outermost
        filled = {name: self._value(_part(parts, name), name, place) for name in parts}
        if outermost:
            self._quoting = False
        if outermost or (not self._quoting and _TRIPLE.keys() & parts):
            self._next += 1
        return filled

    def _length(self, schema: Mapping[str, object], name: str) -> int:
        item = self._resolved(_part(schema, "items"))
        parts = _part(item, "properties")
        wanted = min(len(self._sentences), _MOST_OBJECTS if parts else _MOST_ITEMS)
        if self._quoting:
            wanted = 1  # another would be the same
        elif name == "corrections":
            wanted = 0  # of nothing that it knows better
        elif self._keys and _PLACES & parts.keys():
            wanted = len(self._keys)
        least, most = schema.get("minItems"), schema.get("maxItems")
        if isinstance(most, int):
            wanted = min(wanted, most)
        return max(wanted, least) if isinstance(least, int) else wanted

    def _number(self, schema: Mapping[str, object], name: str, place: int) -> int | float:
        low, high = schema.get("minimum"), schema.get("maximum")
        least = low if isinstance(low, int | float) else 0
        if name in _PLACES:
            key = self._keys[place] if place < len(self._keys) else ""
            number: int | float = int(key) if key.isdigit() else max(least, 1) + place
        elif name == "bias":  # CoV-RAG's one score that is best when low
            return least
        else:
            number = high if isinstance(high, int | float) else max(least, 1)
        return min(number, high) if isinstance(high, int | float) else number

    @property
    def _sentence(self) -> str:
        return self._sentences[self._next % len(self._sentences)]

    def _text(self, schema: Mapping[str, object], name: str, place: int) -> str:
        sentence = self._sentence
        if name in self._given:
            return self._given[name]
        if name in _TRIPLE:
            return _triple(sentence)[_TRIPLE[name]]
        if name == "quote":
            return sentence
        if name in _PLACES and place < len(self._keys):
            return self._keys[place]
        if "question" in name:
            return _REWORDED.format(sentence)
        self._next += not self._quoting
        longest = schema.get("maxLength")
        return sentence[:longest] if isinstance(longest, int) else sentence


def _type(schema: Mapping[str, object]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((k for k in kind if k != "null"), "null")
    if isinstance(kind, str):
        return kind
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def _part(schema: Mapping[str, object], name: str) -> Mapping[str, object]:
    part = schema.get(name)
    return part if isinstance(part, Mapping) else {}


def _plain(value: object) -> Filled:
    return value if isinstance(value, str | int | float | bool) else None


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
