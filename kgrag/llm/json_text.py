"""Read the JSON in a model's answer, however it is wrapped or damaged."""

import json
import math
import re
from operator import itemgetter

from kgrag.errors import ModelOutputError
from kgrag.llm.checks import without_thoughts

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None

_THOUGHT_END = re.compile(r"\A[^{\[]*?</think>")  # some servers leave out where it begins
_FENCED = re.compile(
    r"```[ \t]*(?:json)?[ \t]*\n?(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL | re.IGNORECASE
)
# What begins an object or a list, and not a remark in brackets like {注} or [1].
_BEGINNING = re.compile(r"\{(?=\s*(?:[\"'“‘”’}]|[A-Za-z_]\w*\s*[:：]))|\[(?=\s*[\"'“‘”’\[{\]])")
_CURLY_KEY = re.compile(r"[“”‘’]([A-Za-z_]\w{0,39})[“”‘’]\s*[:：]")
_KEY_COLON = re.compile(r"(\"[A-Za-z_]\w{0,39}\")\s*：")
_COMMA_BEFORE_KEY = re.compile(r"[，、](?=\s*[\"“][A-Za-z_]\w{0,39}[\"”]\s*[:：])")
_COMMA_BETWEEN = re.compile(r"([}\]])\s*[，、](?=\s*[{\[])")
_CURLY_VALUE = re.compile(r"(?<=[:：\[,，{])(\s*)[“”‘]([^“”‘’\"]*)[”’](?=\s*[,，}\]])")
_HALF = re.compile("[\ud800-\udfff]")
_DEEPEST = 100
_COMMA_BETWEEN_TEXTS = re.compile(r"\"(\s*)[，、](?=\s*\")")
_CLOSED = re.compile(r"[\"'”’{}\[\]]\s*[}\]]\Z")  # a bracket that ends no citation inside a text
_MOST_REPAIRED = 40_000  # characters; repairing takes longer than linear time


def read_json(text: str) -> Json:
    """Return the JSON in an answer, repaired where it is damaged.

    Thoughts, code fences and prose around it are left out. Repaired are quotation marks, commas,
    colons, line breaks and closing brackets.

    Args:
        text: Of the whole answer.

    Raises:
        ModelOutputError: With kind `truncated` where the text ends in the middle of the JSON,
            `malformed` where there is none, or none that can be repaired.
    """
    try:
        return _strict(_without_thoughts(text))
    except ValueError:
        pass
    body = _body(text)
    whole, damaged = _blocks(body)
    rest = body[damaged:]
    if whole and whole[0][0] >= len(rest):
        return whole[0][1]
    if not rest:
        raise ModelOutputError("the answer holds no JSON", kind="malformed")
    return _repaired(rest)


def find_json(text: str) -> Json:
    """Return the JSON in an answer as it stands: all of it, or the longest whole piece.

    Line breaks inside strings are let pass. Half characters become U+FFFD.

    Raises:
        ValueError: If there is none, or what begins like JSON is damaged.
    """
    try:
        return _strict(_without_thoughts(text))
    except ValueError:
        pass
    body = _body(text)
    whole, damaged = _blocks(body)
    if not whole or damaged < len(body):
        raise ValueError("no object or list that is whole")
    return whole[0][1]


def _without_thoughts(text: str) -> str:
    answer = without_thoughts(text.lstrip("\ufeff"))
    return _THOUGHT_END.sub("", answer).lstrip("\ufeff").strip()


def _body(text: str) -> str:
    """Return the answer without what stands around its JSON, as far as marks tell."""
    text = _without_thoughts(text)
    fenced = max(_FENCED.finditer(text), key=lambda found: len(found[1]), default=None)
    if fenced is None or not _BEGINNING.search(fenced[1]) or _is_inside(text, fenced.start()):
        return text
    return fenced[1]


def _is_inside(text: str, mark: int) -> bool:
    """Return whether a mark stands inside the text's first object or list: it is a part of it."""
    first = _BEGINNING.search(text, 0, mark)
    if first is None:
        return False
    try:
        return _DECODER.raw_decode(text, first.start())[1] > mark
    except (ValueError, RecursionError):
        return False


def _strict(text: str) -> Json:
    """Return the value of a text that is JSON and nothing else.

    Raises:
        ValueError: If it is not.
    """
    try:
        return _sound(_DECODER.decode(text))
    except RecursionError as exc:
        raise ValueError("nested too deep") from exc


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


# Not strict: line breaks and tabs inside strings are what models forget to escape most often.
_DECODER = json.JSONDecoder(strict=False, parse_constant=_no_number)


def _blocks(text: str) -> tuple[list[tuple[int, Json]], int]:
    """Return the whole objects and lists in a text, and where a damaged one begins.

    Returns:
        (length, value) of those up to the damaged one, the longest first: what follows it may be
        a piece of it. The offset is the text's length where none is damaged.
    """
    found: list[tuple[int, Json]] = []
    position = 0
    while match := _BEGINNING.search(text, position):
        try:
            value, position = _DECODER.raw_decode(text, match.start())
            found.append((position - match.start(), _sound(value)))
        except (ValueError, RecursionError):
            return _longest_first(found), match.start()
    return _longest_first(found), len(text)


def _longest_first(found: list[tuple[int, Json]]) -> list[tuple[int, Json]]:
    return sorted(found, key=itemgetter(0), reverse=True)


def _repaired(damaged: str) -> Json:
    """Return what can be read in a damaged object or list, with what follows it.

    Raises:
        ModelOutputError: If it does not end, or cannot be repaired.
    """
    block = _with_ascii_marks(damaged.rstrip().removesuffix("```").rstrip())
    if _is_cut(block):
        raise ModelOutputError("the answer ends in the middle of its JSON", kind="truncated")
    block = block[: max(block.rfind("}"), block.rfind("]")) + 1]
    if len(block) > _MOST_REPAIRED:
        raise ModelOutputError(f"{len(block)} characters of damaged JSON", kind="malformed")
    value = _repair(block)
    if not value or not isinstance(value, dict | list):
        raise ModelOutputError("the answer's JSON is beyond repair", kind="malformed")
    return value


def _repair(block: str) -> Json:
    try:
        return _strict(block)
    except ValueError:
        pass
    import json_repair

    try:
        value: Json = json_repair.loads(block, skip_json_loads=True)  # type: ignore[assignment]
        return _sound(value)
    except Exception as exc:  # whatever it stumbles over, the answer is what is wrong
        raise ModelOutputError("the answer's JSON is beyond repair", kind="malformed") from exc


def _with_ascii_marks(block: str) -> str:
    """Return a damaged block with Chinese marks replaced where JSON needs its own."""
    if _CURLY_KEY.search(block):
        block = _CURLY_KEY.sub(r'"\1":', block)
        block = _CURLY_VALUE.sub(r'\1"\2"', block)
        block = _COMMA_BETWEEN_TEXTS.sub(r'"\1,', block)
    block = _KEY_COLON.sub(r"\1:", block)
    block = _COMMA_BEFORE_KEY.sub(",", block)
    return _COMMA_BETWEEN.sub(r"\1,", block)


def _is_cut(block: str) -> bool:
    """Return whether a block stops in the middle; if only its last brackets lack, it does not."""
    depth, inside, escaped = 0, False, False
    for character in block:
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = inside
        elif character == '"':
            inside = not inside
        elif not inside:
            depth += (character in "{[") - (character in "}]")
    if block.endswith(("}", "]")):
        return inside and not _CLOSED.search(block)
    return inside or depth > 0


def _sound(value: Json, depth: int = 0) -> Json:
    """Return a value without what no file can hold: half characters, NaN and infinity.

    Raises:
        ValueError: If it is nested deeper than anything that was asked for.
    """
    if depth > _DEEPEST:
        raise ValueError(f"nested deeper than {_DEEPEST}")
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [_sound(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {_HALF.sub("\ufffd", key): _sound(v, depth + 1) for key, v in value.items()}
    return value
