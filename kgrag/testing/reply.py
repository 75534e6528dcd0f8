"""Answers of the local stand-in server, in the format of the OpenAI protocol."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kgrag.llm.chat import Usage
from kgrag.llm.tokens import KNOWN
from kgrag.text.words import sentence_spans

_FENCED = re.compile(r"<(\w[\w-]*) ([0-9a-f]{8,})>\n(.*?)\n</\1 \2>", re.DOTALL)
_NUMBERED = re.compile(r"\[(\d+)\]\s*<(\w[\w-]*) ([0-9a-f]{8,})>\n(.*?)\n</\2 \3>", re.DOTALL)
_PARTS = re.compile(r"\bparts?\b[^:：\n]*[:：]\s*(\d[\d\s,，、-]*)$", re.MULTILINE)
_NUMBER = re.compile(r"\[(\d+)\]")
_OUR_MARK = re.compile(r"⟦\d+⟧")  # of parts, as prompts show them: no words of the document
_BARE = re.compile(r"([:\[,]\s*)(?!true|false|null)[^\s\"\d\[\]{},:-][^,\]}\"]*(?=[,\]}])")
_GOING_ON = re.compile(r",\s*(?:\.{3}|…+)(?=\s*\])")
_ENDS = "。！？!?；;."
_SHORTEST, _LONGEST = 6, 300  # characters of a sentence that is worth quoting

_HAN = re.compile(r"[\u3040-\u9fff\uf900-\ufaff]")
Body = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Reply:
    """How the server handles one request.

    Attributes:
        text: The answer, or the error's message if `status` is not 200.
        status: HTTP status.
        headers: Further headers, e.g. `Retry-After`.
        finish_reason: Why the answer ended; None omits it.
        usage: Token counts: `counted` by `count_tokens`, given, or None to omit them.
        raw: Body sent instead; empty for none.
        hang_s: Seconds to wait before the answer, besides the server's latency.
        pause_s: Seconds between the pieces of a streamed answer.
        drop: `before` closes the connection instead of answering, `inside` in the middle.
        stream_cut: Whether a stream ends in good order before the answer does.
        endless: Whether it never ends: streamed, the text repeats; else blanks precede the answer.
        calls: (name, arguments as JSON) of functions that are called instead of answering.
    """

    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    finish_reason: str | None = "stop"
    usage: Usage | Literal["counted"] | None = "counted"
    raw: str = ""
    hang_s: float = 0.0
    pause_s: float = 0.0
    drop: Literal["", "before", "inside"] = ""
    stream_cut: bool = False
    endless: bool = False
    calls: tuple[tuple[str, str], ...] = ()

    @property
    def tool_calls(self) -> list[dict[str, object]]:
        """The calls as a message has them."""
        return [
            {"index": n, "id": f"call-{n}", "type": "function"}
            | {"function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(self.calls)
        ]


def count_tokens(text: str) -> int:
    """Estimate tokens: 0.6 per Chinese character, 0.25 per other one, rounded up.

    >>> count_tokens("碳达峰 ok")
    3
    """
    han = len(_HAN.findall(text))
    return math.ceil(0.6 * han + 0.25 * (len(text) - han))


def stand_in(body: Body) -> Reply:
    """Return an answer made by rules; see `kgrag.testing.answers`."""
    return Reply(fake_answer(body))


def wants_usage(body: Body) -> bool:
    """Return whether a request asks for token counts at the end of its stream."""
    match body.get("stream_options"):
        case {"include_usage": True}:
            return True
    return False


def envelope(body: Body, reply: Reply, part: str, words: Body) -> dict[str, object]:
    """Return a response, or an event of one, with a message."""
    choice: dict[str, object] = {"index": 0, part: words}
    if reply.finish_reason is not None:
        choice["finish_reason"] = "tool_calls" if reply.calls else reply.finish_reason
    answer: dict[str, object] = {
        "id": "stand-in",
        "object": "chat.completion" if part == "message" else "chat.completion.chunk",
        "created": 0,
        "model": body.get("model"),
        "choices": [choice],
    }
    usage = reply.usage
    if usage == "counted":
        said = "".join((reply.text, *map("".join, reply.calls)))
        usage = Usage(count_tokens("".join(_sent(body))), count_tokens(said))
    if usage is not None:
        answer["usage"] = {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.completion,
            "total_tokens": usage.prompt + usage.completion,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
        }
    return answer


def fake_answer(body: Mapping[str, object]) -> str:
    """Return the stand-in's answer to the body of a chat completion request.

    JSON is valid by the schema, with the best scores, so that loops of verification end. Text is
    the first sentence of the first numbered passage, cited, or without one, the last fenced text.
    """
    said = contents(body) or [""]
    # The last message may only say what was wrong with an answer; the task stands before it.
    user = next((text for text in reversed(said) if _FENCED.search(text)), said[-1])
    instructions = _FENCED.sub("", "\n".join(said))
    schema = wanted_schema(body, instructions)
    if schema is None:
        return _quoted(user)
    filler = Filler(schema, sentences=_sentences(user), keys=_keys(user))
    return json.dumps(filler.fill(), ensure_ascii=False)


def _sent(body: Body) -> list[str]:
    """Return what a model reads of a request: messages, calls in them, and functions."""
    messages = body.get("messages")
    listed = messages if isinstance(messages, list) else []
    called = [m.get("tool_calls") for m in listed if isinstance(m, Mapping)]
    beside = [*filter(None, called), *filter(None, [body.get("tools")])]
    return [*contents(body), *(json.dumps(one, ensure_ascii=False) for one in beside)]


def contents(body: Mapping[str, object]) -> list[str]:
    """Return the texts of the messages of a request."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        return []
    said = [m.get("content", "") for m in messages if isinstance(m, Mapping)]
    return [str(c[0].get("text", "")) if isinstance(c, list) else str(c) for c in said]


def wanted_schema(body: Mapping[str, object], instructions: str) -> Mapping[str, object] | None:
    """Return the schema of the answer; None for plain text.

    Args:
        body: Of a request; it may contain a schema.
        instructions: The prompt without fenced text; it may contain an example of the form.
    """
    match body.get("response_format"):
        case {"json_schema": {"schema": {**schema}}}:
            return {str(key): value for key, value in schema.items()}
    for start in (m.start() for m in re.finditer(r"\{\s*\"", instructions)):
        for text in (instructions[start:], _BARE.sub(r"\g<1>1", instructions[start:])):
            try:
                example, _ = json.JSONDecoder().raw_decode(_GOING_ON.sub("", text))
            except ValueError:
                continue
            return _schema_of(example)
    return None


def _schema_of(example: object) -> dict[str, object]:
    match example:
        case dict():
            parts = {str(name): _schema_of(value) for name, value in example.items()}
            return {"type": "object", "properties": parts}
        case list():
            return {"type": "array", "items": _schema_of(example[0] if example else "")}
        case bool():
            return {"type": "boolean"}
        case int() | float():
            return {"type": "number"}
        case str() if "|" in example and " " not in example:  # "a|b|c" stands for a choice
            return {"enum": example.split("|")}
    return {"type": "string"}


def _keys(user: str) -> list[str]:
    """Return the named parts that are asked for, or else the numbers of what is rated."""
    rest = _FENCED.sub("", user)
    if named := _PARTS.findall(rest):
        return [key for key in re.split(r"[\s,，、]+", named[-1]) if key]
    return list(dict.fromkeys(_NUMBER.findall(rest)))


def _sentences(user: str) -> list[str]:
    fenced = [match[3] for match in _FENCED.finditer(user) if match[1] != KNOWN]
    return _good(max(fenced, key=len, default=user))


def _good(text: str) -> list[str]:
    """Return the sentences of a text that are worth quoting, complete ones first; never empty."""
    text = _OUR_MARK.sub("\n", text)
    found = [text[start:end].strip() for start, end in sentence_spans(text)]
    good = [s for s in found if _SHORTEST <= len(s) <= _LONGEST]
    whole = [s for s in good if s[-1] in _ENDS]
    return whole or good or [s for s in found if s] or ["无"]


def _quoted(user: str) -> str:
    passage = _NUMBERED.search(user)
    if passage is None:
        fenced = [match[3] for match in _FENCED.finditer(user)]
        return _good(fenced[-1] if fenced else user)[0]
    sentence = _good(passage[4])[0]
    mark = sentence[-1] if sentence[-1] in _ENDS else "。"
    return f"{sentence.rstrip(mark)}[{passage[1]}]{mark}"


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
