"""What the local stand-in server answers, in the form of the OpenAI protocol."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kgrag.llm.chat import Usage
from kgrag.testing.answers import contents, fake_answer

_HAN = re.compile(r"[\u3040-\u9fff\uf900-\ufaff]")
Body = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server does with one request.

    Attributes:
        text: The answer, or the error's message where `status` is not 200.
        status: HTTP status.
        headers: Further headers, e.g. `Retry-After`.
        finish_reason: Why the answer ended; None leaves it out.
        usage: Token counts: `counted` by `count_tokens`, given, or None to leave them out.
        raw: Body sent instead, whatever it is; empty for none.
        hang_s: Seconds to wait before the answer, besides the server's latency.
        pause_s: Seconds between the pieces of a streamed answer.
        drop: `before` closes the connection instead of answering, `inside` in the middle.
        stream_cut: Whether a stream ends in good order before the answer does.
        endless: Whether it never ends: streamed, the text comes over and over; else blanks come
            where the answer should begin.
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


def count_tokens(text: str) -> int:
    """Return the stand-in's own count: 0.6 a Chinese character, 0.25 any other, rounded up.

    >>> count_tokens("碳达峰 ok")
    3
    """
    han = len(_HAN.findall(text))
    return math.ceil(0.6 * han + 0.25 * (len(text) - han))


def stand_in(body: Body) -> Reply:
    """Return an answer made by rules; see `kgrag.testing.answers`."""
    return Reply(fake_answer(body))


def wants_usage(body: Body) -> bool:
    """Return whether a request asks its stream to end with token counts."""
    match body.get("stream_options"):
        case {"include_usage": True}:
            return True
    return False


def envelope(body: Body, reply: Reply, part: str, words: Body) -> dict[str, object]:
    """Return an answer, or an event of one, around its words."""
    choice: dict[str, object] = {"index": 0, part: words}
    if reply.finish_reason is not None:
        choice["finish_reason"] = reply.finish_reason
    answer: dict[str, object] = {
        "id": "stand-in",
        "object": "chat.completion" if part == "message" else "chat.completion.chunk",
        "created": 0,
        "model": body.get("model"),
        "choices": [choice],
    }
    usage = reply.usage
    if usage == "counted":
        usage = Usage(count_tokens("".join(contents(body))), count_tokens(reply.text))
    if usage is not None:
        answer["usage"] = {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.completion,
            "total_tokens": usage.prompt + usage.completion,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
        }
    return answer
