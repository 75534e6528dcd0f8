"""The client of an encoder's endpoint: its time limits, its tries, and when they help."""

import functools
import logging
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from kgrag.embedding.endpoint_errors import Place, is_money, is_size

if TYPE_CHECKING:
    import openai

_log = logging.getLogger(__name__)
_LOCAL = frozenset(["localhost", "127.0.0.1", "::1"])
_CONNECT_S = 10.0  # to wait for a connection, at most
_CONNECT_SHARE = 0.8  # of the time for an answer, at most
# Providers count by the minute, and most do not say how long to wait; the client's own pauses
# are of 0.5 to 8 s, and five tries would be over before the minute is.
_PAUSE_S = 20


class Response(Protocol):
    """What is used of the HTTP library's response."""

    status_code: int
    headers: MutableMapping[str, str]

    def read(self) -> bytes:
        """Return the body."""
        ...


def open_client(place: Place, *, timeout_s: float) -> "openai.OpenAI":
    """Return a client that tries each request as often as the place says.

    Args:
        place: Address and key.
        timeout_s: Seconds that an answer may take.
    """
    import openai

    # To find no connection ends sooner than an answer that does not come.
    timeout = openai.Timeout(timeout_s, connect=min(_CONNECT_SHARE * timeout_s, _CONNECT_S))
    client = openai.OpenAI(
        base_url=place.url,
        api_key=place.key or "none",  # empty would take OPENAI_API_KEY
        max_retries=place.attempts - 1,
        timeout=timeout,
        http_client=openai.DefaultHttpxClient(
            timeout=timeout,
            # A proxy for the world does not lead to this machine.
            trust_env=urlsplit(place.url).hostname not in _LOCAL,
            event_hooks={"response": [functools.partial(advise, place)]},
        ),
    )
    # Read from the environment for OpenAI's own; no business of other endpoints.
    client.organization = client.project = None
    return client


def advise(place: Place, response: Response) -> None:
    """Tell the client in the headers that it obeys whether, and when, another try can help.

    Not where the account is empty or too much was sent, whatever the status; after a good while
    where the endpoint was asked too often and does not say for how long it wants to rest.

    Args:
        place: Who answers, for the log.
        response: Its headers may be changed.
    """
    status, headers = response.status_code, response.headers
    if status < 400:
        return
    said = response.read().decode("utf-8", "replace")
    if is_money(status, said) or is_size(status, said):
        headers["x-should-retry"] = "false"
    elif status == 429:
        if "retry-after" not in headers and "retry-after-ms" not in headers:
            headers["retry-after"] = str(_PAUSE_S)
        if place.attempts > 1:  # a wait that nobody explains is a bug
            wait = headers.get("retry-after", "a moment")
            _log.warning("%s is asked too often (429); pause in seconds: %s", place, wait)
