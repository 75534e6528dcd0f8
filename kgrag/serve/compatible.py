"""Protocols of others: OpenAI's chat completions, and Dify's external knowledge.

OpenAI: https://platform.openai.com/docs/api-reference/chat; Dify:
https://docs.dify.ai/en/use-dify/knowledge/external-knowledge-api.
"""

import operator
import re
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kgrag.answer.address import Address
from kgrag.errors import KgragError, NotFoundError, OutOfRangeError
from kgrag.limits import MOST_QUESTION_CHARS
from kgrag.retrieval.filter import Filter
from kgrag.serve.api import Json, failure, root_of, status_of
from kgrag.serve.desk import Desk, Emit, EventStream
from kgrag.serve.inputs import read
from kgrag.tools.arguments import Dated, check_names
from kgrag.tools.ask import Asked, Earlier, answered
from kgrag.tools.results import Answered, place_url, with_urls
from kgrag.types import Document

_MOST_MESSAGES = 100
_REMEMBERED = 20  # earlier turns
_PIECE = re.compile(r"[^\n。；;]*(?:[。；;\n]+|$)")
_SOURCES = {"zh": "引文：", "en": "Sources:"}
_CITED = re.compile(r"^\[\d+\] \[《([^\n]{1,300}?)》", re.MULTILINE)  # below an answer of ours


class _Lenient(BaseModel):
    """A request with fields that are not ours."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Part(_Lenient):
    type: str
    text: str = ""


class _Message(_Lenient):
    role: str
    content: str | tuple[_Part, ...] | None = None

    @property
    def words(self) -> str:
        """Return its text."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content or () if part.type == "text")


# Fields of OpenAI's request that we have no use for.
_UNUSED = {
    "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs",
    "max_completion_tokens", "max_tokens", "metadata", "modalities", "moderation", "n",
    "parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key",
    "prompt_cache_options", "prompt_cache_retention", "reasoning_effort", "response_format",
    "safety_identifier", "seed", "service_tier", "stop", "store", "stream_options", "temperature",
    "tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity", "web_search_options",
}  # fmt: skip


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Chat(_Lenient):
    """A request for a chat completion; as at OpenAI, a field of none of both is refused."""

    model: str = ""
    messages: tuple[_Message, ...] = Field(min_length=1, max_length=_MOST_MESSAGES)
    stream: bool = False
    kgrag: Dated = Field(default=Dated(), description="Which documents are looked at.")

    @model_validator(mode="before")
    @classmethod
    def _names(cls, told: object) -> object:
        if isinstance(told, dict):
            check_names({*cls.model_fields, *_UNUSED}, map(str, told))
        return told

    def asked(self) -> Asked:
        """Return the last message as a question, with those before it as history.

        Messages of the system are not read: they are for a model that writes freely.

        Raises:
            OutOfRangeError: If the last message is not a user's, is empty, or too long.
        """
        said = [m for m in self.messages if m.role in ("user", "assistant")]
        if not said or said[-1].role != "user" or not said[-1].words.strip():
            raise OutOfRangeError("messages: the last one is to be a user's, with text")
        turns: list[Earlier] = []
        for message, following in pairwise(said):
            if message.role == "user" and following.role == "assistant":
                question = message.words[:MOST_QUESTION_CHARS]
                text = following.words[:100_000]
                cited = tuple(dict.fromkeys(_CITED.findall(text)))[:200]
                turns.append(Earlier(question=question, answer=text, cited=cited))
        last = said[-1].words
        if len(last) > MOST_QUESTION_CHARS:
            raise OutOfRangeError(f"a question has at most {MOST_QUESTION_CHARS:,} characters")
        history = tuple(turns[-_REMEMBERED:])
        return Asked(question=last, history=history, **vars(self.kgrag))


def _completion(root: str, found: Answered) -> tuple[str, list[dict[str, object]]]:
    """Return the text of an answer with its sources as a list below, and its citations."""
    answer, cited = found.answer, found.cited
    citations = [with_urls(one.to_dict(), root) for one in cited]
    parts = [answer.text]
    if cited:
        lines = [
            f"[{one.citation.number}] [{_linked(one.citation.reference)}]"
            f"({place_url(root, one.citation.address)})"
            for one in cited
        ]
        parts.append("\n".join((_SOURCES[answer.language], *lines)))
    parts += [f"> {note}" for note in answer.notes]
    return "\n\n".join(parts), citations


def _linked(text: str) -> str:
    return text.replace("[", "〔").replace("]", "〕")


async def _chat(desk: Desk, request: Request) -> Response:
    try:
        given = await read(Chat, request)
        asked = given.asked()
        if given.model not in ("", desk.name):
            raise NotFoundError(f"no model is called {given.model!r}; it is {desk.name!r}")
        root = root_of(request)
        head = {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": desk.name,
        }
        if given.stream:
            return EventStream(desk, partial(_chunks, desk, asked, root, head))
        return await desk.run(partial(_whole, desk, asked, root, head))
    except (KgragError, ValueError) as exc:
        return failure(exc)


def _whole(desk: Desk, asked: Asked, root: str, head: Mapping[str, object]) -> Response:
    text, citations = _completion(root, answered(desk.base, asked))
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    usage = dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), 0)
    return Json(
        {
            **head,
            "object": "chat.completion",
            "choices": [choice],
            "usage": usage,
            "citations": citations,
        }
    )


def _chunks(desk: Desk, asked: Asked, root: str, head: Mapping[str, object], emit: Emit) -> None:
    """Send an answer in chunks, once it has been checked: a draft may still change."""

    def chunk(delta: Mapping[str, object], finish: str | None = None, **more: object) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        emit("", {**head, "object": "chat.completion.chunk", "choices": [choice], **more})

    chunk({"role": "assistant", "content": ""})
    try:
        text, citations = _completion(root, answered(desk.base, asked))
    except KgragError as exc:
        emit("", {"error": {"type": type(exc).__name__, "message": str(exc)}})
        return
    for piece in filter(None, _PIECE.findall(text)):
        chunk({"content": piece})
    chunk({}, "stop", citations=citations)
    emit("", "[DONE]")


def _models(desk: Desk, _request: Request) -> Response:
    model = {"id": desk.name, "object": "model", "created": 0, "owned_by": "kgrag"}
    return Json({"object": "list", "data": [model]})


Comparison = Literal[
    "contains", "not contains", "start with", "end with", "is", "is not", "in", "not in",
    "empty", "not empty", "null", "not null", "=", "≠", ">", "<", "≥", "≤", "before", "after",
]  # fmt: skip
_Value = str | float | tuple[str, ...] | None


class _Condition(_Strict):
    name: str | tuple[str, ...]
    comparison_operator: Comparison
    value: _Value = None

    def holds(self, fields: Mapping[str, Sequence[str]]) -> bool:
        """Say whether it holds of the metadata of a document.

        Raises:
            OutOfRangeError: If a field is unknown, or numbers are compared that are none.
        """
        names = (self.name,) if isinstance(self.name, str) else self.name
        if unknown := [name for name in names if name not in fields]:
            raise OutOfRangeError(
                f"no metadata is called {', '.join(unknown)}; there are {', '.join(fields)}"
            )
        held = [value for name in names for value in fields[name]]
        return _compared(self.comparison_operator, held, self.value)


def _compared(kind: Comparison, held: Sequence[str], value: _Value) -> bool:
    """Say whether a comparison holds of any of the values of a document."""
    wanted = value if isinstance(value, tuple) else (str(value or ""),)
    if kind in ("empty", "null"):
        return not held
    if kind in ("not empty", "not null"):
        return bool(held)
    if kind in _COMPARED:
        return any(_COMPARED[kind](one, wanted[0]) for one in held)
    negative = kind.startswith("not ") or kind == "is not"
    compare = _WORDS[kind.removeprefix("not ").replace("is not", "is")]
    return any(compare(one, other) for one in held for other in wanted) != negative


def _number(compare: Callable[[float, float], bool]) -> Callable[[str, str], bool]:
    def compared(held: str, wanted: str) -> bool:
        try:
            return compare(float(held), float(wanted))
        except ValueError:
            raise OutOfRangeError(f"{held!r} and {wanted!r} are not both numbers") from None

    return compared


_WORDS: Mapping[str, Callable[[str, str], bool]] = {
    "contains": lambda held, wanted: wanted in held,
    "start with": str.startswith,
    "end with": str.endswith,
    "is": operator.eq,
    "in": operator.eq,
}
_COMPARED: Mapping[str, Callable[[str, str], bool]] = {
    "=": _number(operator.eq),
    "≠": _number(operator.ne),
    ">": _number(operator.gt),
    "<": _number(operator.lt),
    "≥": _number(operator.ge),
    "≤": _number(operator.le),
    "before": operator.lt,  # of days in ISO 8601
    "after": operator.gt,
}


class _Conditions(_Strict):
    logical_operator: Literal["and", "or"] = "and"
    conditions: tuple[_Condition, ...] = Field(default=(), max_length=50)

    def hold(self, fields: Mapping[str, Sequence[str]]) -> bool:
        """Say whether all of them, or one of them, hold of a document."""
        met = [condition.holds(fields) for condition in self.conditions]
        return all(met) if self.logical_operator == "and" or not met else any(met)


class _Setting(_Strict):
    top_k: int = Field(default=5, ge=1, le=200)
    score_threshold: float | None = Field(default=0.0, ge=0, le=1)


class Retrieval(_Strict):
    """A request of Dify."""

    knowledge_id: str
    query: str = Field(max_length=MOST_QUESTION_CHARS)
    retrieval_setting: _Setting = _Setting()
    metadata_condition: _Conditions | None = None


def metadata_of(card: Document, status: str) -> dict[str, tuple[str, ...]]:
    """Return what conditions on a document may name, each with its values."""
    told = card.metadata
    single = {
        "title": card.title,
        "file": card.file,
        "number": told.number,
        "kind": told.kind,
        "level": told.level,
        "date": told.issue_date,
        "year": str(told.year or ""),
        "status": status,
    }
    several = {"issuer": told.issuers, "region": told.regions}
    return {name: (value,) if value else () for name, value in single.items()} | several


async def _retrieval(desk: Desk, request: Request) -> Response:
    try:
        given = await read(Retrieval, request)
        return await desk.run(partial(_records, desk, given, root_of(request)))
    except (KgragError, ValueError) as exc:
        status = status_of(exc)
        return Json({"error_code": status, "error_msg": str(exc)}, status)


def _records(desk: Desk, given: Retrieval, root: str) -> Response:
    if given.knowledge_id != desk.name:
        wrong = f"the knowledge {given.knowledge_id!r} does not exist; it is {desk.name!r}"
        return Json({"error_code": 2001, "error_msg": wrong}, 404)
    base, setting = desk.base, given.retrieval_setting
    known = desk.known()
    fields = {d: metadata_of(card, known.statuses[d].kind) for d, card in known.cards.items()}
    within = None
    if given.metadata_condition:
        met = tuple(d for d, told in fields.items() if given.metadata_condition.hold(told))
        if not met:
            return Json({"records": []})
        within = Filter(documents=met) if len(met) < len(fields) else None
    if not given.query.strip():
        return Json({"records": []})
    found = base.search(given.query, top_k=setting.top_k, within=within)
    best = max((hit.score for hit in found), default=0.0)
    records = []
    for hit in found:
        score = hit.score / best if best > 0 else 0.0
        if score < (setting.score_threshold or 0.0):
            continue
        address = str(Address(hit.chunk.doc_id, hit.chunk.start, hit.chunk.end))
        url = place_url(root, address)
        metadata: dict[str, object] = {"address": address, "url": url, "path": url}
        metadata |= {k: "、".join(v) for k, v in fields.get(hit.chunk.doc_id, {}).items()}
        metadata["headings"] = list(hit.chunk.heading_path)
        records.append(
            {
                "content": hit.chunk.text,
                "score": round(score, 4),
                "title": hit.title,
                "metadata": metadata,
            }
        )
    return Json({"records": records})


def routes(desk: Desk) -> list[Route]:
    """Return the routes of both protocols."""

    async def chat(request: Request) -> Response:
        return await _chat(desk, request)

    async def retrieval(request: Request) -> Response:
        return await _retrieval(desk, request)

    async def models(request: Request) -> Response:
        return _models(desk, request)

    return [
        Route("/v1/chat/completions", chat, methods=["POST"]),
        Route("/v1/models", models),
        Route("/retrieval", retrieval, methods=["POST"]),
    ]
