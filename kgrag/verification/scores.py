"""Named model scores in [0, 1]: schema, parsing and wording."""

import re
from collections.abc import Mapping, Sequence

from kgrag.llm.chat import Schema
from kgrag.llm.structured import Json

_TEN, _PERCENT = 10, 100
_OF = re.compile(r"(?:%|/\s*+(100?))\s*+$")  # behind a score: 90%, 9/10


def scores_schema(names: Sequence[str], **others: Schema) -> Schema:
    """Return the JSON schema of an object with a number for each name, and other properties.

    Ranges are checked by `read_scores`: not every endpoint supports bounds in a schema.
    """
    properties = {name: {"type": "number"} for name in names} | others
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_scores(data: Json, names: Sequence[str]) -> dict[str, float]:
    """Parse scores by name, each in [0, 1].

    Numbers in text are accepted: 0.9, 90%, 9/10. If one is above 10, all are taken as 0 to 100.

    Raises:
        ValueError: If one is missing, or out of range.
    """
    given = as_object(data)
    scores = {name: _score(name, given.get(name)) for name in names}
    scale = _PERCENT if any(score > _TEN for score in scores.values()) else 1
    for name, score in scores.items():
        if not 0 <= score <= scale:
            raise ValueError(f"{name} must be a number from 0 to 1, got {given.get(name)!r}")
    return {name: score / scale for name, score in scores.items()}


def as_object(data: Json) -> Mapping[str, Json]:
    """Parse a JSON object.

    Raises:
        ValueError: If it is something else.
    """
    if not isinstance(data, dict):
        raise ValueError(f"a JSON object is wanted, got {type(data).__name__}")
    return data


def in_words(scores: Mapping[str, float]) -> str:
    """Return scores as text.

    >>> in_words({"answer_relevance": 0.9, "bias": 0.25})
    'answer relevance 0.90, bias 0.25'
    """
    return ", ".join(f"{name.replace('_', ' ')} {score:.2f}" for name, score in scores.items())


def _score(name: str, value: Json) -> float:
    if isinstance(value, str):
        of = _OF.search(value)
        most = int(of[1] or _PERCENT) if of else 1
        return float(_OF.sub("", value)) / most  # a ValueError where it is no number
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}")
    return float(value)
