"""A chat model that gives scripted answers."""

import threading
from collections.abc import Callable, Sequence

from kgrag.llm.chat import Completion, OnText, Request, Usage
from kgrag.llm.tools import ToolCall

Scripted = str | Completion | Exception | list[tuple[str, str]]


class ScriptedChat:
    """Returns scripted answers in order, or the result of a function of each request.

    A list is calls of tools: (name, arguments as JSON).

    Attributes:
        requests: All requests so far, oldest first.
    """

    def __init__(
        self,
        script: Sequence[Scripted] | Callable[[Request], Scripted],
        *,
        name: str = "scripted",
    ) -> None:
        self._script = script
        self._name = name
        self._lock = threading.Lock()
        self.requests: list[Request] = []

    @property
    def name(self) -> str:
        """Return the name given."""
        return self._name

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the next answer, or raise it if it is an error.

        Raises:
            IndexError: If the script has ended.
        """
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
        answer = self._script(request) if callable(self._script) else self._script[number]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, list):
            calls = tuple(ToolCall(f"{number}-{n}", *call) for n, call in enumerate(answer))
            answer = Completion("", self._name, "calls", calls=calls)
        if isinstance(answer, str):
            length = sum(len(m.content) for m in request.messages)
            answer = Completion(answer, self._name, usage=Usage(length, len(answer)))
        if on_text is not None and answer.text:
            on_text(answer.text)
        return answer
