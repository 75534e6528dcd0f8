"""Protocols of others: OpenAI's chat completions, and Dify's external knowledge.

OpenAI: https://platform.openai.com/docs/api-reference/chat; Dify:
https://docs.dify.ai/en/use-dify/knowledge/external-knowledge-api.
"""

import re
import time
import uuid
from collections.abc import Mapping
from functools import partial
from itertools import pairwise

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from kgrag.answer.address import Address
from kgrag.errors import KgragError, NotFoundError, OutOfRangeError
from kgrag.limits import MOST_QUESTION_CHARS
from kgrag.serve.api import Endpoint, Json, root_of
from kgrag.serve.desk import Desk, Emit, EventStream
from kgrag.tools.arguments import Dated
from kgrag.tools.ask import Asked, Earlier, answered
from kgrag.tools.results import Answered, place_url, with_urls
from kgrag.types import Document

_MOST_MESSAGES = 100
_REMEMBERED = 20  # earlier turns
_PIECE = re.compile(r"[^\n。；;]*(?:[。；;\n]+|$)")
_SOURCES = {"zh": "引文：", "en": "Sources:"}
_CITED = re.compile(r"^\[\d+\] \[《([^\n]{1,300}?)》", re.MULTILINE)  # below an answer of ours


class _Part(BaseModel):
    type: str
    text: str = ""


class _Message(BaseModel):
    role: str
    content: str | tuple[_Part, ...] | None = None

    @property
    def words(self) -> str:
        """Return its text."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content or () if part.type == "text")


class Chat(BaseModel):
    """A request for a chat completion; fields that are not ours are not read."""

    model: str = ""
    messages: tuple[_Message, ...] = Field(min_length=1, max_length=_MOST_MESSAGES)
    stream: bool = False
    kgrag: Dated = Field(default=Dated(), description="Which documents are looked at.")

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


def _chat(desk: Desk, request: Request, given: Chat) -> Response:
    asked = given.asked()
    if given.model not in ("", desk.name):
        raise NotFoundError(f"no model is called {given.model!r}; it is {desk.name!r}")
    root = root_of(request)
    head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": desk.name}
    if given.stream:
        return EventStream(desk, partial(_chunks, desk, asked, root, head), asked.lang)
    return _whole(desk, asked, root, head)


def _whole(desk: Desk, asked: Asked, root: str, head: Mapping[str, object]) -> Response:
    text, citations = _completion(root, answered(desk.base, asked))
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), 0)
    told = {"object": "chat.completion", "choices": [choice], "usage": usage}
    return Json({**head, **told, "citations": citations})


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


def _models(desk: Desk, _request: Request, _given: None) -> Response:
    model = {"id": desk.name, "object": "model", "created": 0, "owned_by": "kgrag"}
    return Json({"object": "list", "data": [model]})


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Setting(_Strict):
    top_k: int = Field(default=5, ge=1, le=200)
    score_threshold: float | None = Field(default=0.0, ge=0, le=1)


class Retrieval(_Strict):
    """A request of Dify."""

    knowledge_id: str
    query: str = Field(max_length=MOST_QUESTION_CHARS)
    retrieval_setting: _Setting = _Setting()


def metadata_of(card: Document, status: str) -> dict[str, str]:
    """Return what a result tells of its document."""
    told = card.metadata
    return {
        "title": card.title,
        "file": card.file,
        "number": told.number,
        "kind": told.kind,
        "level": told.level,
        "date": told.issue_date,
        "year": str(told.year or ""),
        "status": status,
        "issuer": "、".join(told.issuers),
        "region": "、".join(told.regions),
    }


def _retrieval(desk: Desk, request: Request, given: Retrieval) -> Response:
    if given.knowledge_id != desk.name:
        raise NotFoundError(
            f"the knowledge {given.knowledge_id!r} does not exist; it is {desk.name!r}"
        )
    setting, known = given.retrieval_setting, desk.known()
    if not given.query.strip():
        return Json({"records": []})
    found = desk.base.search(given.query, top_k=setting.top_k)
    best = max((hit.score for hit in found), default=0.0) or 1.0
    records = []
    for hit in found:
        address = str(Address(hit.chunk.doc_id, hit.chunk.start, hit.chunk.end))
        url = place_url(root_of(request), address)
        card = known.cards.get(hit.chunk.doc_id)
        told = metadata_of(card, known.statuses[card.doc_id].kind) if card else {}
        record = {"content": hit.chunk.text, "score": round(hit.score / best, 4)}
        if hit.score / best >= (setting.score_threshold or 0.0):
            metadata: dict[str, object] = {"address": address, "url": url, "path": url, **told}
            metadata["headings"] = list(hit.chunk.heading_path)
            records.append(record | {"title": hit.title, "metadata": metadata})
    return Json({"records": records})


ENDPOINTS = (
    Endpoint("/v1/chat/completions", Chat, _chat, "POST"),
    Endpoint("/v1/models", None, _models),
    Endpoint("/retrieval", Retrieval, _retrieval, "POST"),
)
