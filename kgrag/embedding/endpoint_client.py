"""The client of an encoder's endpoint: its time limits, its tries, and when they help."""

import functools
import logging
import time
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from kgrag.embedding.endpoint_errors import is_money, is_size
from kgrag.openai_endpoint import Place, retry_after

if TYPE_CHECKING:
    import openai

_log = logging.getLogger(__name__)
_LOCAL = frozenset(["localhost", "127.0.0.1", "::1"])
_CONNECT_S = 10.0  # to wait for a connection, at most
_CONNECT_SHARE = 0.8  # of the time for an answer, at most
# Providers count by the minute, and most do not say how long to wait; the client's own pauses
# are of 0.5 to 8 s, and five tries would be over before the minute is.
_PAUSE_S = 20
_LONGEST_ASKED_S = 120.0  # that an endpoint may ask to wait: nobody waits longer for an answer


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

    Not where the account is empty or too much was sent, whatever the status, nor where the
    endpoint was asked too often and wants to rest for more than two minutes; after a good while
    where it does not say for how long.

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
        asked = retry_after(headers, now=time.time())
        if asked is None:
            asked = _PAUSE_S
            headers["retry-after"] = str(_PAUSE_S)
        if asked > _LONGEST_ASKED_S:
            headers["x-should-retry"] = "false"
        elif place.attempts > 1:  # a wait that nobody explains is a bug
            _log.warning("%s is asked too often (429); pause in seconds: %g", place, asked)
