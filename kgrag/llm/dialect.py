"""What a request looks like on the wire, and what to leave out where an endpoint refuses it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from kgrag.llm.chat import Request

JsonMode = Literal["schema", "object", "none"]
JSON_MODES: tuple[JsonMode, ...] = ("schema", "object", "none")

_ABOUT_JSON = re.compile(r"response_?format|json_?schema|json_?object|guided|structured|schema")


@dataclass(frozen=True, slots=True)
class Dialect:
    """Which of the protocol's optional fields an endpoint takes.

    Attributes:
        json: How JSON is asked for: `schema` sends the schema, `object` asks for any JSON,
            `none` leaves it to the prompt.
        limit: Name of the field for the longest answer; OpenAI's newer models have the second.
        temperature: Whether a temperature is sent; some models have theirs fixed.
        stream_usage: Whether streams are asked to end with their token counts.
    """

    json: JsonMode = "schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    stream_usage: bool = True

    def without(self, complaint: str) -> "Dialect | None":
        """Return the next simpler dialect after a refusal; None where it is not about a field.

        Args:
            complaint: What the endpoint said with its status 400 or 422.

        >>> Dialect().without("Unknown field: response_format.json_schema").json
        'object'
        """
        said = complaint.lower()
        if self.stream_usage and ("stream_options" in said or "include_usage" in said):
            return replace(self, stream_usage=False)
        if self.limit == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and "temperature" in said:
            return replace(self, temperature=False)
        if self.json != "none" and _ABOUT_JSON.search(said):
            return replace(self, json=JSON_MODES[JSON_MODES.index(self.json) + 1])
        return None

    def body(
        self, request: Request, *, model: str, max_tokens: int, temperature: float, stream: bool
    ) -> dict[str, object]:
        """Return the JSON that is posted.

        Args:
            request: What is asked.
            model: The model's name.
            max_tokens: Longest answer where the request sets none.
            temperature: 0 for the most likely answer.
            stream: Whether the answer is wanted in pieces.
        """
        body: dict[str, object] = {
            "model": model,
            "messages": [
                {"role": m.role, "content": _sendable(m.content)} for m in request.messages
            ],
            self.limit: max_tokens if request.max_tokens is None else request.max_tokens,
        }
        if self.temperature:
            body["temperature"] = temperature
        if request.schema is not None and self.json != "none":
            body["response_format"] = self._response_format(request.schema, request.schema_name)
        if stream:
            body["stream"] = True
            if self.stream_usage:
                body["stream_options"] = {"include_usage": True}
        return body

    def _response_format(self, schema: Mapping[str, object], name: str) -> dict[str, object]:
        if self.json == "object":
            return {"type": "json_object"}
        named = {"name": name or "answer", "schema": schema, "strict": True}
        return {"type": "json_schema", "json_schema": named}


def _sendable(text: str) -> str:
    """Return text that has a form in UTF-8: halves of characters, as damaged files give, are ?."""
    return text.encode("utf-8", "replace").decode("utf-8")
