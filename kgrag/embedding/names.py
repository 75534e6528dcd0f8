"""What an installed model may be called."""

import re

from kgrag.errors import ModelError

STAGING = ".staging-"  # begins the folder of a model that is being installed
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_RESERVED = re.compile(
    r"hash(-\d+)?"  # the stand-in's names
    r"|(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?|.*\."  # no folder may be called so on Windows
)


def is_name(name: str) -> bool:
    """Return whether a model may be called so: the name becomes a folder's, and a command's word.

    >>> is_name("bge-m3"), is_name("BAAI/bge-m3"), is_name("hash-64")
    (True, False, False)
    """
    return bool(_NAME.fullmatch(name)) and not _RESERVED.fullmatch(name)


def checked_name(name: str) -> str:
    """Return a name that a model may have.

    Raises:
        ModelError: If it may not.
    """
    if not is_name(name):
        raise ModelError(
            f"a model cannot be called {name!r}. Remedy: use lower-case letters, digits and .-_ "
            "(`hash` is the stand-in; names such as `con` are no folder's on Windows)"
        )
    return name


def name_from(text: str) -> str:
    """Return the name that a model gets after a file, a folder or its name on the hub.

    A name that a model may have stays as it is.

    >>> name_from("BAAI/BGE M3"), name_from("hash")
    ('bge-m3', 'model')
    """
    if is_name(text):
        return text
    last = text.casefold().rstrip("/").rpartition("/")[2]
    name = re.sub(r"[^a-z0-9._-]+", "-", last)[:64].strip("-._")
    return name if is_name(name) else "model"
