"""Tell how far a long reading has come, so that the time limit is for a page and not for a book."""

from collections.abc import Callable


def _nobody() -> None:
    """Tell nobody."""


_listener: Callable[[], None] = _nobody


def page_done() -> None:
    """Tell that a page, or another step of reading a file, is done.

    The time limit (`ingest.parse_seconds`) counts anew from here. Readers that need seconds for a
    page, as those of pictures do, call it after each; where nobody listens it does nothing.
    """
    _listener()


def listen(listener: Callable[[], None]) -> None:
    """Have a function called whenever a step is done; it takes the place of the one before."""
    global _listener
    _listener = listener
