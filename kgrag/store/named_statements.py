"""Files of named statements, in SQL or Cypher: `-- name: chunks`, then the statement."""

import re
from importlib.resources.abc import Traversable


def read_named(file: Traversable, *, comment: str) -> dict[str, str]:
    """Return the statements of a file by name, in order, without comments and final semicolons.

    Args:
        file: Each statement follows a line with its name; text before the first is a
            comment.
        comment: What a line of comment begins with.

    Raises:
        ValueError: If two statements have the same name.
    """
    text = file.read_text(encoding="utf-8")
    _, *parts = re.split(rf"^{comment} name: (\w+)$", text, flags=re.MULTILINE)
    found: dict[str, str] = {}
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        if name in found:
            raise ValueError(f"{file.name}: two statements are called {name}")
        plain = re.sub(rf"^\s*{comment}.*\n?", "", body, flags=re.MULTILINE)
        found[name] = plain.strip().removesuffix(";")
    return found


def read_folder(folder: Traversable, ending: str, *, comment: str) -> dict[str, str]:
    """Return the statements of all files of a folder by name; see `read_named`.

    Args:
        folder: Where the files are.
        ending: Of their names, with its dot.
        comment: What a line of comment begins with.

    Raises:
        ValueError: If two statements have the same name.
    """
    found: dict[str, str] = {}
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(ending):
            read = read_named(file, comment=comment)
            twice = sorted(found.keys() & read)
            if twice:
                raise ValueError(f"two statements are called {twice[0]}; one is in {file.name}")
            found |= read
    return found
