"""Functions that a chat model may call, and its calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Function = Mapping[str, Any]  # as OpenAI's API has it


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function that a model calls; `arguments` is JSON as the model wrote it, unchecked."""

    call_id: str
    name: str
    arguments: str
