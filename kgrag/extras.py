"""Packages that not everybody needs: a missing one is an error that says how to install it."""

from collections.abc import Iterator
from contextlib import contextmanager

from kgrag.errors import MissingDependencyError


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Have imports within name the extra that brings what is missing.

    Args:
        extra: Its name in pyproject.toml.
        what: What the packages are needed for; begins the error.

    Raises:
        MissingDependencyError: If an import fails.
    """
    try:
        yield
    except ImportError as exc:
        raise MissingDependencyError(
            f"{what} needs packages that are not installed ({exc}). "
            f"Remedy: pip install 'kgrag[{extra}]'"
        ) from exc
