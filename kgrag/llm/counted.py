"""Count the calls that one question, or one step of it, makes."""

import threading

from kgrag.errors import BudgetExceededError
from kgrag.llm.chat import Accept, ChatModel, Completion, OnText, Request


class Counted:
    """A chat model that remembers the completions that it gave, oldest first.

    Calls that failed count, and answers that could not be used: they took time and may have been
    paid for. Calls that were not sent because a question had used up its budget do not.

    Attributes:
        completions: What came back so far.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._calls = 0
        self.completions: list[tuple[Request, Completion]] = []

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    @property
    def calls(self) -> int:
        """Return how many calls were made, failed ones and those from the cache included."""
        return self._calls

    def complete(
        self, request: Request, *, accept: Accept | None = None, on_text: OnText | None = None
    ) -> Completion:
        """Return the model's answer; see `ChatModel.complete`."""

        def counting(completion: Completion) -> None:
            with self._lock:
                self.completions.append((request, completion))
            if accept is not None:
                accept(completion)

        with self._lock:
            self._calls += 1
        try:
            return self._model.complete(request, accept=counting, on_text=on_text)
        except BudgetExceededError:
            with self._lock:
                self._calls -= 1
            raise
