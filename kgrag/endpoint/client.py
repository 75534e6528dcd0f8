"""The client of an endpoint: its time limits, its proxies, and nothing of OpenAI's environment."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kgrag.endpoint.address import Place

if TYPE_CHECKING:
    import openai

_LOCAL = frozenset(["localhost", "127.0.0.1", "::1"])
_CONNECT_S = 10.0  # to wait for a connection, at most
_CONNECT_SHARE = 0.8  # of the time for an answer, at most


def open_client(place: Place, *, timeout_s: float) -> "openai.OpenAI":
    """Return a client that tries each request once.

    Args:
        place: Address and key.
        timeout_s: Seconds that an answer may take, or a piece of a streamed one.
    """
    import openai

    # To find no connection ends sooner than an answer that does not come.
    timeout = openai.Timeout(timeout_s, connect=min(_CONNECT_SHARE * timeout_s, _CONNECT_S))
    client = openai.OpenAI(
        base_url=place.url,
        api_key=place.key or "none",  # empty would take OPENAI_API_KEY
        max_retries=0,
        timeout=timeout,
        http_client=openai.DefaultHttpxClient(
            timeout=timeout,
            # A proxy for the world does not lead to this machine.
            trust_env=urlsplit(place.url).hostname not in _LOCAL,
        ),
    )
    # Read from the environment for OpenAI's own; no business of other endpoints.
    client.organization = client.project = None
    return client
