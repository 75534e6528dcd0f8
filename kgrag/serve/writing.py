"""Changes by readers, where they are allowed: documents added, and the tools that curate."""

import filecmp
import re
import shutil
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from urllib.parse import parse_qs

import anyio
import anyio.to_thread
import python_multipart  # noqa: F401 - starlette's parser needs it
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Message

from kgrag.errors import NotFoundError, OutOfRangeError, StoreUnavailableError
from kgrag.ingestion.load.formats import media_type_of, suffixes
from kgrag.ingestion.load.source import unsupported_reason
from kgrag.ingestion.report import Outcome
from kgrag.retrieval.filter import document_called
from kgrag.serve.api import Endpoint, Json, endpoint
from kgrag.serve.desk import Desk
from kgrag.serve.inputs import body_of
from kgrag.serve.pages import Panel
from kgrag.serve.rendering import page
from kgrag.store.folders import FOLDERS, originals
from kgrag.text.messages import message
from kgrag.text.visible import is_hidden, parted, shown_path
from kgrag.tools import TOOLS
from kgrag.tools.arguments import Arguments, argument, checked
from kgrag.tools.tool import Tool

_MOST_FILES = 200  # of an upload
_MOST_BYTES = 1_000_000_000  # of an upload, unless one file may have more
_MOST_FIELD_BYTES = 10_000  # of what is no file
_SILENT_S = 60  # after which an upload that has stopped is given up
_LONGEST_STEM, _LONGEST_SUFFIX = 180, 20  # bytes, characters; systems allow 255 bytes in all
_MOST_PAIRS = 40
_UNNAMED = "document"
_NO_NAME = frozenset('<>:"|?*')  # what Windows forbids
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_READS_ONLY = message("this server only reads: start it with --allow-ingest")


@dataclass(frozen=True, kw_only=True)
class Uploaded(Arguments):
    """Files to be added."""

    files: tuple[str, ...] = argument(
        "One or several, of any name of field.",
        "一份或多份文件。",
        json_schema_extra={"items": {"type": "string", "format": "binary"}},
    )


def safe_name(name: str) -> str:
    r"""Return the name under which a file is kept: no path, not hidden, allowed on every system.

    >>> safe_name("../../etc/passwd.txt"), safe_name("C:\\x\\通知.pdf"), safe_name(".bashrc")
    ('passwd.txt', '通知.pdf', 'bashrc')
    >>> safe_name("con.txt"), safe_name("a\u202e<b>\n.md. "), safe_name("..")
    ('_con.txt', 'ab.md', 'document')
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    kept = "".join(c for c in last if c not in _NO_NAME and not is_hidden(c))
    path = Path(kept.lstrip(".~$ ").rstrip(". "))
    stem = path.stem.encode()[:_LONGEST_STEM].decode("utf-8", "ignore").strip() or _UNNAMED
    return f"{'_' if _DEVICE.fullmatch(stem) else ''}{stem}{path.suffix[:_LONGEST_SUFFIX]}"


async def _received(desk: Desk, request: Request) -> list[UploadFile]:
    """Return the files of a request.

    Raises:
        OutOfRangeError: If it has none, or too much, or breaks off.
    """
    most = max(_MOST_BYTES, desk.base.config.ingest.max_bytes)
    too_much = f"an upload has at most {most / 1e6:,.0f} MB: add the files in several"
    told, n_bytes = request.headers.get("content-length", ""), 0
    if told.isdigit() and int(told) > most:  # before it is sent
        raise OutOfRangeError(too_much)

    async def receive() -> Message:
        nonlocal n_bytes
        with anyio.fail_after(_SILENT_S):
            part = await request.receive()
        n_bytes += len(part.get("body", b""))
        if n_bytes > most:
            raise MultiPartException(too_much)  # for which the parser closes its files
        return part

    sent = Request(request.scope, receive)
    try:
        form = await sent.form(
            max_files=_MOST_FILES, max_fields=_MOST_FILES, max_part_size=_MOST_FIELD_BYTES
        )
    except (HTTPException, MultiPartException) as exc:
        said = exc.detail if isinstance(exc, HTTPException) else exc.message
        raise OutOfRangeError(f"the upload cannot be read: {said}") from exc
    except (TimeoutError, ClientDisconnect) as exc:
        raise OutOfRangeError("the upload broke off: nothing of it was added") from exc
    files = [value for _, value in form.multi_items() if isinstance(value, UploadFile)]
    named = [file for file in files if file.filename]  # a form without a choice sends one without
    if not named:
        await form.close()
        raise OutOfRangeError("there is no file: choose at least one")
    return named


async def _add(desk: Desk, request: Request) -> None:
    """Receive the files of a request and begin to ingest them.

    Raises:
        BusyError: If an ingest is under way.
        OutOfRangeError: As for `_received`.
        StoreUnavailableError: If they cannot be kept.
    """
    with desk.ingesting.reserved():
        try:
            files = await _received(desk, request)
            try:
                await anyio.to_thread.run_sync(partial(_begin, desk, files))
            finally:
                for file in files:
                    await file.close()
        except OSError as exc:
            raise StoreUnavailableError(
                "files cannot be kept: {error}: see to the server's disk", error=exc.strerror
            ) from exc


def _begin(desk: Desk, files: Sequence[UploadFile]) -> None:
    """Keep files, and begin to ingest them; those that cannot be read are outcomes at once."""
    folder = desk.uploads
    assert folder is not None  # the route refuses where readers may not
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(".*.part"):  # of a server that was killed
        left.unlink(missing_ok=True)
    most = desk.base.config.ingest.max_bytes
    held, kept, refused = _held(desk), [], []
    for file in files:
        name = safe_name(file.filename or "")
        if media_type_of(Path(name).suffix.lower()) is None:
            refused.append(Outcome(name, "failed", detail=unsupported_reason(Path(name))))
        elif (file.size or 0) > most:
            detail = message(
                "has {size:,} bytes, more than {most:,}: split it", size=file.size, most=most
            )
            refused.append(Outcome(name, "failed", detail=detail))
        else:
            path = _keep(folder, name, file, held)
            held.add(_key(path))
            kept.append(path)
    desk.ingesting.begin(list(dict.fromkeys(kept)), refused)


def _keep(folder: Path, name: str, file: UploadFile, held: set[str]) -> Path:
    """Write a file into the folder; return its path.

    One of the same name is replaced if it has the same content, or no document is held of it.
    """
    with NamedTemporaryFile(dir=folder, prefix=".", suffix=".part", delete=False) as part:
        written = Path(part.name)
        try:
            shutil.copyfileobj(file.file, part)
            part.close()
            for n in count(1):
                path = folder / name
                if n > 1:
                    path = path.with_stem(f"{path.stem} ({n})")
                is_free = not path.exists() or (path.is_file() and _key(path) not in held)
                if is_free or (path.is_file() and filecmp.cmp(written, path, shallow=False)):
                    break
            written.replace(path)
        finally:
            written.unlink(missing_ok=True)
    return path


def _key(path: Path | str) -> str:
    return shown_path(path).casefold()  # on some systems case does not tell files apart


def _held(desk: Desk) -> set[str]:
    """Return the files that documents are held of."""
    return {_key(parted(state.source)[0]) for state in desk.base.store.sources()}


def _changed(desk: Desk, tool: Tool, given: Any) -> Any:
    """Return what a tool gives; with a document its file is deleted, if it was uploaded."""
    files: Sequence[Path] = ()
    if tool.name == "delete":
        store = desk.base.store
        card = document_called(given.document, store.document_cards())
        files = list(originals(card, store.sources(), store.get_meta(FOLDERS)))
    found = tool.run(desk.base, given)
    held = _held(desk) if files else set()
    for path in files:
        if path.parent == desk.uploads and _key(path) not in held:
            path.unlink(missing_ok=True)
    return found


# The API


def _state(desk: Desk, _request: Request, _given: Arguments) -> Response:
    return Json(_state_dict(desk))


def _state_dict(desk: Desk) -> dict[str, object]:
    state = desk.ingesting.state
    return state.to_dict() | {"files": [one.to_dict() for one in state.files]}


async def _added(desk: Desk, request: Request, _given: None) -> Response:
    await _add(desk, request)
    return Json(_state_dict(desk), 202)


# The pages


def _upload(desk: Desk, request: Request, given: Panel) -> Response:
    return page(
        desk,
        request,
        "ingest.html" if given.panel else "upload.html",
        state=desk.ingesting.state,
        suffixes=[suffix for suffix in suffixes() if media_type_of(suffix)],
        most_mb=desk.base.config.ingest.max_file_mb,
    )


async def _uploaded(desk: Desk, request: Request, _given: None) -> Response:
    await _add(desk, request)
    return _to("upload")


def _ask_to_delete(desk: Desk, request: Request, _given: Arguments) -> Response:
    card = desk.base.find_document(request.path_params["doc_id"])
    return page(desk, request, "delete.html", document=card)


def _duplicates(desk: Desk, request: Request, _given: Arguments) -> Response:
    return page(
        desk,
        request,
        "duplicates.html",
        pairs=desk.base.duplicates(limit=_MOST_PAIRS),
        decisions=desk.base.store.decisions(),
    )


async def _submitted(desk: Desk, request: Request, _given: None) -> Response:
    """Have a tool change what a form says, and go to its `back`.

    A field is left out where it has the value of another one, `was-` and its name.
    """
    body = (await body_of(request)).decode("utf-8", "replace")
    typed = parse_qs(body, keep_blank_values=True, max_num_fields=100)
    (back,) = typed.pop("back", [""])
    tool = TOOLS.get(request.path_params["name"])
    if tool is None or not tool.curates:
        raise NotFoundError("there is nothing at {path}", path=request.url.path)
    given = {
        name: values if name in ("names", "reset") else values[-1]
        for name, values in typed.items()
        if not name.startswith("was-") and values != typed.get(f"was-{name}")
    }
    if tool.name == "delete" or {*given} - {"document"}:
        await desk.run(partial(_changed, desk, tool, checked(tool.arguments, given)))
    return _to(back)


def _to(path: str) -> Response:
    """Return what leads to a page of the same knowledge base."""
    inside = path.lstrip("/\\")  # a second one would lead to another host
    return RedirectResponse(f"/{inside}", 303)


async def refused(_request: Request) -> Response:
    """Refuse what changes something, where readers may not."""
    return Json({"error": {"type": "forbidden", "message": _READS_ONLY}}, 403)


_FILES = "multipart/form-data"
ENDPOINTS = (
    Endpoint("/upload", Panel, _upload),
    Endpoint("/upload", None, _uploaded, "POST", media=_FILES),
    Endpoint("/delete/{doc_id:path}", Arguments, _ask_to_delete),
    Endpoint("/duplicates", Arguments, _duplicates),
    Endpoint("/change/{name}", None, _submitted, "POST"),
    Endpoint(
        "/api/ingest",
        Uploaded,
        _added,
        "POST",
        summary="Adds files, in a thread: 202, and GET /api/ingest tells how far it is.",
        media=_FILES,
    ),
    Endpoint(
        "/api/ingest",
        Arguments,
        _state,
        summary="How far the adding of files is, and the last outcome.",
    ),
    *(endpoint(tool, "POST", _changed) for tool in TOOLS.values() if tool.curates),
)
