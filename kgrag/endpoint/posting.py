"""Requests that are posted whole and answered whole, tried as often as the settings allow."""

import logging
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from kgrag.endpoint.address import Place, Table, read_key
from kgrag.endpoint.client import open_client
from kgrag.endpoint.errors import mapped
from kgrag.endpoint.retrying import Retry, retrying
from kgrag.errors import ModelUnavailableError, ModelUnreachableError, RateLimitError

if TYPE_CHECKING:
    import openai

_log = logging.getLogger(__name__)


class Posting:
    """Posts JSON to an endpoint; may be called from several threads.

    Attributes:
        place: The endpoint; with its key once something was posted.
    """

    def __init__(
        self,
        place: Place,
        table: Table,
        *,
        timeout_s: float,
        unsaid_s: float | None = None,
        within_s: float | None = None,
    ) -> None:
        """Keep the settings; no client is built, and no key read, before the first request.

        Args:
            place: The endpoint, and how often each request is tried.
            table: The settings that errors name, and the path.
            timeout_s: Seconds that an answer may take.
            unsaid_s: As for `retrying`.
            within_s: Seconds after which no further try begins; None for no limit.
        """
        self.place = place
        self._table = table
        self._timeout_s = timeout_s
        self._unsaid_s = unsaid_s
        self._within_s = within_s
        self._lock = threading.Lock()
        self._client: openai.OpenAI | None = None

    def __call__(self, body: Mapping[str, object]) -> object:
        """Return the JSON that the endpoint sends back, after as many tries as it takes.

        Raises:
            ModelUnavailableError: If the endpoint cannot be reached, or refuses the key or model.
            ModelError: As `kgrag.endpoint.errors.mapped` has it.
        """
        client = self._opened()
        tries = retrying(
            attempts=self.place.attempts,
            deadline=None if self._within_s is None else time.monotonic() + self._within_s,
            unsaid_s=self._unsaid_s,
            note=self._note,
        )
        try:
            return tries(self._posted, client, body)
        except ModelUnreachableError as exc:
            raise ModelUnavailableError(str(exc)) from exc.__cause__

    def _posted(self, client: "openai.OpenAI", body: Mapping[str, object]) -> object:
        """Return the JSON that the endpoint sends back, tried once."""
        try:
            return client.post(self._table.path, cast_to=object, body=body)
        except Exception as exc:
            error = mapped(exc, self.place, self._table)
            if error is None:
                raise
            cause = None if error is exc or self.place.tells(exc) else exc
        # Out here, what was caught does not follow the error as its context: it may tell the key.
        raise error from cause

    def _note(self, retry: Retry) -> None:
        if isinstance(retry.error, RateLimitError):  # a wait that nobody explains is a bug
            told = "%s is asked too often (429); pause in seconds: %g"
            _log.warning(told, self.place, retry.pause_s)

    def _opened(self) -> "openai.OpenAI":
        with self._lock:
            if self._client is None:
                self.place = replace(self.place, key=read_key(self.place))
                self._client = open_client(self.place, timeout_s=self._timeout_s)
                # Who holds an encoder does not know that there is something to close.
                weakref.finalize(self, self._client.close)
            return self._client
