"""Tell when a model's answers are of no use, so that no more of them are paid for."""

import threading

from kgrag.errors import ModelError, ModelOutputError, ModelUnavailableError

_MOST = 20  # passages in a row: so many hard ones follow each other in hardly any document
_DOCUMENTS = 3  # that they come from, once the model has shown that it can answer
# A model that answers so answers everything so; what it declines is the document's fault.
_NONSENSE = frozenset(["malformed", "empty", "repeating", "invalid"])


class FailureStreak:
    """Passages in a row whose answers were of no use; safe for threads.

    A model that answers nonsense costs as much as a good one. It counts as hopeless after 20
    passages in a row, if nothing could be used in this run, or if they come from three documents
    or more: one with bad tables alone does not stop the others.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._passages = 0
        self._documents: set[str] = set()
        self._has_succeeded = False

    def failed(self, doc_id: str, error: ModelError) -> None:
        """Take note of a passage that could not be read."""
        if isinstance(error, ModelOutputError) and error.kind in _NONSENSE:
            with self._lock:
                self._passages += 1
                self._documents.add(doc_id)

    def succeeded(self) -> None:
        """Take note of a passage that was read."""
        with self._lock:
            self._passages = 0
            self._documents.clear()
            self._has_succeeded = True

    def error(self) -> ModelUnavailableError | None:
        """Return why no more are to be asked; None as long as they are."""
        with self._lock:
            n, n_documents, has_succeeded = (
                self._passages,
                len(self._documents),
                self._has_succeeded,
            )
        if n < _MOST or (has_succeeded and n_documents < _DOCUMENTS):
            return None
        return ModelUnavailableError(
            f"the answers to {_MOST} passages in a row could not be used, so that no more are "
            "asked; another llm.model or llm.json may do better"
        )
