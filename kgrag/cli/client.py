"""Commands that a running `kgrag serve` runs for this process, which then starts at once.

They meet at a Unix socket in a folder that only their user can enter: no key is needed, nobody else
can pose as one of them, and the file of a process that was killed refuses connections at once. Its
name is a digest of all that decides what a command prints, so that a server of anything else is not
found. Lines are JSON: a request, then null, pieces to print, and the exit code. In any doubt a
command runs by itself.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

import kgrag
from kgrag.cli.chinese import language
from kgrag.cli.outlet import encoding_of
from kgrag.cli.printing import on_terminal, print_piece
from kgrag.config import Config
from kgrag.errors import KgragError
from kgrag.files.cache_folder import cache_folder, is_private_folder

_PATIENCE_S = 0.3  # for a server to take the request
_OFF = "KGRAG_NO_SERVER"
_FILE = "kgrag.db"  # of a knowledge base


class ServedCommand(click.Command):
    """A command that a running `kgrag serve` runs where there is one.

    It only reads, asks nothing of its own process but what `kgrag.cli.outlet.Outlet` has, and has
    the knowledge base as its parameter `kb`.
    """

    def invoke(self, ctx: click.Context) -> object:
        """Run it, there or here; return the exit code."""
        code = _by_server(ctx)
        return super().invoke(ctx) if code is None else code


def socket_of(kb: str, config: Config) -> Path | None:
    """Return where a server of a knowledge base with these settings is reached.

    Two processes have the same place only if they open the same file with the same settings and the
    same installation of kgrag. A folder that was deleted and made again has another one.

    Args:
        kb: As given to `--kb`.
        config: The settings; where they are not the defaults, the working folder counts, too,
            for they may name files.

    Returns:
        None for the address of a server, on Windows, and if there is no knowledge base.
    """
    if os.name != "posix" or "://" in kb:
        return None
    import hashlib

    folder = os.path.realpath(kb)
    code = kgrag.__file__ or ""
    try:
        file = Path(folder, _FILE).stat()
        installed = sys.prefix, code, Path(code).stat().st_mtime_ns
        place = cache_folder() / "served"
        working = "" if config == Config() else str(Path.cwd())
    except (OSError, KgragError):
        return None
    decisive = repr((folder, file.st_dev, file.st_ino, config, working, installed))
    return place / hashlib.sha256(decisive.encode("utf-8", "replace")).hexdigest()[:16]


def _by_server(ctx: click.Context) -> int | None:
    """Return the exit code of a command that a server ran; None if it is to be run here.

    Files and browsers are a matter of this process, and so are logs.
    """
    given, root = ctx.params, ctx.find_root()
    own = root.params["verbose"] or given.get("open_") or os.environ.get(_OFF)
    if own or any(isinstance(value, Path) for value in given.values()):
        return None
    place = socket_of(given["kb"], root.obj)
    if place is None or not place.is_socket() or not is_private_folder(place.parent):
        return None
    request = {
        "command": ctx.command.name,
        "values": {**given, "kb": os.path.realpath(given["kb"])},
        "encoding": encoding_of(err=False),
        "terminal": on_terminal(),
        "language": language(),
    }
    return _printed(place, json.dumps(request).encode() + b"\n")


def _printed(place: Path, request: bytes) -> int | None:
    """Send a request, print what comes, and return the exit code; None where a server fails.

    Nothing is printed before the end but a draft, which is for a terminal.
    """
    import socket

    pieces: list[Sequence[object]] = []
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.settimeout(_PATIENCE_S)
            server.connect(str(place))
            server.sendall(request)
            with server.makefile("rb") as lines:
                if lines.readline() != b"null\n":  # it is busy
                    return None
                server.settimeout(None)
                for told in map(json.loads, lines):
                    if isinstance(told, int):
                        break
                    pieces.append(told)
                    if told[2]:
                        _print(pieces)
                else:
                    return None
    except (OSError, ValueError):
        return None
    _print(pieces)
    return told


def _print(pieces: list[Sequence[object]]) -> None:
    """Print pieces, and forget them."""
    for text, err, dim in pieces:
        print_piece(str(text), err=bool(err), dim=bool(dim))
    pieces.clear()
