"""Changes by readers, where they are allowed: documents added, corrected, deleted; entities."""

import filecmp
import re
import shutil
import unicodedata
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from urllib.parse import parse_qsl, quote

import anyio
import anyio.to_thread
import python_multipart  # noqa: F401 - starlette's parser needs it
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from kgrag.errors import KgragError, OutOfRangeError, StoreUnavailableError
from kgrag.ingestion.load.formats import media_type_of, suffixes
from kgrag.ingestion.load.source import unsupported_reason
from kgrag.ingestion.report import Outcome
from kgrag.maintenance.corrections import checked_corrections
from kgrag.retrieval.filter import document_called
from kgrag.serve.api import Endpoint, Json, status_of
from kgrag.serve.desk import Desk
from kgrag.serve.inputs import body_of
from kgrag.serve.pages import CORRECTABLE, correctable_of, document_page, failed_page, page_route
from kgrag.serve.rendering import page
from kgrag.serve.views import Panel
from kgrag.store.folders import FOLDERS, originals
from kgrag.text.messages import message, said_by
from kgrag.text.visible import is_hidden, parted, shown_path, visible
from kgrag.tools.arguments import Arguments, argument
from kgrag.tools.results import place_url
from kgrag.types import Document

_MOST_FILES = 200  # of an upload
_MOST_BYTES = 1_000_000_000  # of an upload, unless one file may have more
_MOST_FIELD_BYTES = 10_000  # of what is no file
_SILENT_S = 60  # after which an upload that has stopped is given up
_LONGEST_STEM, _LONGEST_SUFFIX = 180, 20  # bytes, characters; systems allow 255 bytes in all
_MOST_PAIRS, _MOST_NAMES = 40, 200
_UNNAMED = "document"
_NO_NAME = frozenset('<>:"|?*')  # what Windows forbids
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_BROKEN_OFF = "the upload broke off: nothing of it was added"
_Words = tuple[str, ...]
_READS_ONLY = message("this server only reads: start it with --allow-ingest")


@dataclass(frozen=True, kw_only=True)
class Uploaded(Arguments):
    """Files to be added."""

    files: tuple[str, ...] = argument(
        "One or several, of any name of field.",
        "一份或多份文件。",
        json_schema_extra={"items": {"type": "string", "format": "binary"}},
    )


def _corrected_field(english: str, chinese: str) -> Any:
    return argument(english, chinese, default=None)


@dataclass(frozen=True, kw_only=True)
class Corrected(Arguments):
    """What is corrected of a document; an empty text says that there is none."""

    title: str | None = _corrected_field("Title of the body.", "正文标题。")
    issuers: str | None = _corrected_field("Organs that issued it, by 、.", "发文机关，用、分隔。")
    number: str | None = _corrected_field("文号.", "文号。")
    issued: str | None = _corrected_field("Date of issue: 2022-03-05.", "发文日期：2022-03-05。")
    written: str | None = _corrected_field("When it was signed.", "成文日期。")
    effective: str | None = _corrected_field("From when it is in force.", "施行日期。")
    expires: str | None = _corrected_field("Until when.", "有效期截止日期。")
    regions: str | None = _corrected_field(
        "That it governs: 四川省、成都市; 全国.", "适用地区：四川省、成都市；全国。"
    )
    level: str | None = _corrected_field(
        "国家, 部门, 省, 市, 县.", "层级：国家、部门、省、市、县。"
    )
    kind: str | None = _corrected_field("文种: 通知, 实施方案.", "文种：通知、实施方案。")
    status: str | None = _corrected_field(
        "试行, 征求意见稿, 废止.", "效力状态：试行、征求意见稿、废止。"
    )
    recipients: str | None = _corrected_field(
        "To whom it is addressed, by ；.", "主送机关，用；分隔。"
    )
    reset: _Words = argument(
        "Fields whose correction is taken back.", "撤销更正的项目。", default=()
    )


@dataclass(frozen=True, kw_only=True)
class Merged(Arguments):
    """Entities that are one."""

    names: _Words = argument(
        "What they are called.", "各名称。", min_length=1, max_length=_MOST_NAMES
    )
    into: str = argument("What they are called from now on.", "合并后的名称。")


@dataclass(frozen=True, kw_only=True)
class Parted(Arguments):
    """A name that is no longer an entity's."""

    name: str = argument("As documents write it, or as it was merged.", "要拆出的名称。")
    entity: str = argument("What it is part of now.", "该名称目前所属的实体。")


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


class _Parser(MultiPartParser):
    """A parser of files that are written to temporary files without names.

    Attributes:
        ended: Whether the whole of the form was read.
    """

    spool_max_size = 64 * 1024
    ended = False

    def on_end(self) -> None:
        """Note that the form has ended."""
        self.ended = True


async def _received(desk: Desk, request: Request) -> list[UploadFile]:
    """Return the files of a request.

    Raises:
        OutOfRangeError: If it has none, or too much.
    """
    most = max(_MOST_BYTES, desk.base.config.ingest.max_bytes)
    told = request.headers.get("content-length", "")
    if told.isdigit() and int(told) > most:
        raise OutOfRangeError(_too_much(most))
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise OutOfRangeError("files are sent as multipart/form-data")

    async def body() -> AsyncGenerator[bytes]:
        async for part in _limited(request, most):
            yield part
        if not parser.ended:  # raised here, it closes the files
            raise OutOfRangeError(_BROKEN_OFF)

    parser = _Parser(
        request.headers,
        body(),
        max_files=_MOST_FILES,
        max_fields=_MOST_FILES,
        max_part_size=_MOST_FIELD_BYTES,
    )
    try:
        form = await parser.parse()
    except MultiPartException as exc:
        raise OutOfRangeError(f"the upload cannot be read: {exc.message}") from exc
    except (TimeoutError, ClientDisconnect) as exc:
        raise OutOfRangeError(_BROKEN_OFF) from exc
    files = [value for _, value in form.multi_items() if isinstance(value, UploadFile)]
    named = [file for file in files if file.filename]  # a form without a choice sends one without
    if not named:
        await form.close()
        raise OutOfRangeError("there is no file: choose at least one")
    return named


async def _limited(request: Request, most: int) -> AsyncIterator[bytes]:
    """Yield the body of a request, as long as it has no more than so many bytes."""
    stream = request.stream()
    n_bytes = 0
    while True:
        with anyio.fail_after(_SILENT_S):
            part = await anext(stream, None)
        if part is None:
            return
        n_bytes += len(part)
        if n_bytes > most:
            raise OutOfRangeError(_too_much(most))
        yield part


def _too_much(most: int) -> str:
    return f"an upload has at most {most / 1e6:,.0f} MB: add the files in several"


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
    folder = _folder(desk)
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


def _folder(desk: Desk) -> Path:
    if desk.uploads is None:
        raise OutOfRangeError(_READS_ONLY)
    return desk.uploads


def _key(path: Path | str) -> str:
    return shown_path(path).casefold()  # on some systems case does not tell files apart


def _held(desk: Desk) -> set[str]:
    """Return the files that documents are held of."""
    return {_key(parted(state.source)[0]) for state in desk.base.store.sources()}


def _delete(desk: Desk, name: str) -> Document:
    """Delete a document, and its file if it was uploaded."""
    card = document_called(name, desk.base.store.document_cards())
    store = desk.base.store
    files = list(originals(card, store.sources(), store.get_meta(FOLDERS)))
    desk.base.delete(card.doc_id)
    held, folder = _held(desk), _folder(desk)
    for path in files:
        if path.parent == folder and _key(path) not in held:
            path.unlink(missing_ok=True)
    return card


def _correct(desk: Desk, name: str, told: dict[str, str], reset: Sequence[str]) -> Document:
    """Correct fields of a document, or take corrections back; return its card afterwards."""
    unknown = [field for field in reset if field not in CORRECTABLE]
    if unknown:
        raise OutOfRangeError(
            f"there is no field {unknown[0]!r}; there are {', '.join(CORRECTABLE)}"
        )
    if not told and not reset:
        raise OutOfRangeError("give fields to correct, or reset")
    curator, card = desk.base.curator(), document_called(name, desk.base.store.document_cards())
    if reset:
        card = curator.reset(card.doc_id, reset)
    return curator.correct(card.doc_id, told) if told else card


# The API


def _state(desk: Desk, _request: Request, _given: Arguments) -> Response:
    return Json(_state_dict(desk))


def _state_dict(desk: Desk) -> dict[str, object]:
    state = desk.ingesting.state
    return state.to_dict() | {"files": [one.to_dict() for one in state.files]}


async def _added(desk: Desk, request: Request) -> Response:
    await _add(desk, request)
    return Json(_state_dict(desk), 202)


def _corrected(desk: Desk, request: Request, given: Corrected) -> Response:
    told = {f.name: getattr(given, f.name) for f in fields(given) if f.name in CORRECTABLE}
    told = {name: text for name, text in told.items() if text is not None}
    return Json(_correct(desk, request.path_params["doc_id"], told, given.reset).card_dict())


def _deleted(desk: Desk, request: Request, _given: Arguments) -> Response:
    return Json({"deleted": _delete(desk, request.path_params["doc_id"]).card_dict()})


def _merged(desk: Desk, _request: Request, given: Merged) -> Response:
    return Json({"documents": desk.base.curator().merge(given.names, given.into)})


def _parted(desk: Desk, _request: Request, given: Parted) -> Response:
    return Json({"documents": desk.base.curator().split(given.name, given.entity)})


ENDPOINTS = (
    Endpoint(
        "/api/ingest",
        "Adds files, in a thread: 202, and GET /api/ingest tells how far it is.",
        Uploaded,
        _added,
        "POST",
        "multipart/form-data",
    ),
    Endpoint(
        "/api/ingest", "How far the adding of files is, and the last outcome.", Arguments, _state
    ),
    Endpoint(
        "/api/documents/{doc_id:path}/metadata",
        "Corrects what was read of a document.",
        Corrected,
        _corrected,
        "POST",
    ),
    Endpoint("/api/documents/{doc_id:path}", "Deletes a document.", Arguments, _deleted, "DELETE"),
    Endpoint("/api/entities/merge", "Has entities be one.", Merged, _merged, "POST"),
    Endpoint(
        "/api/entities/split", "Has a name be no longer an entity's.", Parted, _parted, "POST"
    ),
)


# The pages


def _upload(desk: Desk, request: Request, given: Panel) -> Response:
    if given.panel:
        return page(desk, request, "ingest.html", state=desk.ingesting.state)
    return _upload_page(desk, request)


def _upload_page(desk: Desk, request: Request, error: str = "") -> Response:
    return page(
        desk,
        request,
        "upload.html",
        state=desk.ingesting.state,
        suffixes=[suffix for suffix in suffixes() if media_type_of(suffix)],
        most_mb=desk.base.config.ingest.max_file_mb,
        error=error,
    )


async def _uploaded(desk: Desk, request: Request) -> Response:
    try:
        await _add(desk, request)
    except (KgragError, ValueError) as exc:
        response = _upload_page(desk, request, said_by(exc))
        response.status_code = status_of(exc)
        return response
    return RedirectResponse(f"{_root(request)}/upload", 303)


async def _corrected_page(desk: Desk, request: Request) -> Response:
    """Correct what was changed in the form, or show it again with what is wrong."""
    try:
        body = (await body_of(request)).decode("utf-8", "replace")
        pairs = parse_qsl(body, keep_blank_values=True, max_num_fields=100)
        return await desk.run(partial(_typed, desk, request, dict(pairs)))
    except (KgragError, ValueError) as exc:
        return failed_page(desk, request, exc)


def _typed(desk: Desk, request: Request, typed: dict[str, str]) -> Response:
    card = desk.base.find_document(request.path_params["doc_id"])
    reset = [typed["reset"]] if typed.get("reset") else []
    now = correctable_of(card)
    told = {k: v for k, v in typed.items() if k in now and _seen(v) != _seen(now[k])}
    wrong = {name: said for name, text in told.items() if (said := _wrong_with(name, text))}
    if wrong:
        response = document_page(desk, request, card.doc_id, told, wrong)
        response.status_code = 400
        return response
    if told or reset:
        _correct(desk, card.doc_id, told, reset)
    return RedirectResponse(place_url(_root(request), card.doc_id), 303)


def _seen(text: str) -> str:
    """Return a text as a field shows it: control characters are escapes, blanks do not count."""
    return " ".join(visible(text).split())


def _wrong_with(name: str, text: str) -> str:
    try:
        checked_corrections({name: text})
    except (KgragError, ValueError) as exc:
        return str(exc).removeprefix(f"{name}: ")
    return ""


def _ask_to_delete(desk: Desk, request: Request, _given: Arguments) -> Response:
    card = desk.base.find_document(request.path_params["doc_id"])
    return page(desk, request, "delete.html", document=card)


def _deleted_page(desk: Desk, request: Request, _given: Arguments) -> Response:
    _delete(desk, request.path_params["doc_id"])
    return RedirectResponse(f"{_root(request)}/documents", 303)


def _duplicates(desk: Desk, request: Request, _given: Arguments) -> Response:
    return page(
        desk,
        request,
        "duplicates.html",
        pairs=desk.base.duplicates(limit=_MOST_PAIRS),
        decisions=desk.base.store.decisions(),
    )


def _merged_page(desk: Desk, request: Request, given: Merged) -> Response:
    desk.base.curator().merge(given.names, given.into)
    return _back(request, given.into)


def _parted_page(desk: Desk, request: Request, given: Parted) -> Response:
    desk.base.curator().split(given.name, given.entity)
    return _back(request, given.entity)


def _back(request: Request, name: str) -> Response:
    at = "duplicates" if "back" in request.query_params else f"graph?entity={quote(name)}"
    return RedirectResponse(f"{_root(request)}/{at}", 303)


def _root(request: Request) -> str:
    return str(request.scope.get("root_path", ""))


_CORRECTION = "/correct/{doc_id:path}"
_PAGES: tuple[tuple[str, type, Callable[[Desk, Request, Any], Response], str], ...] = (
    ("/upload", Panel, _upload, "GET"),
    ("/delete/{doc_id:path}", Arguments, _ask_to_delete, "GET"),
    ("/delete/{doc_id:path}", Arguments, _deleted_page, "POST"),
    ("/duplicates", Arguments, _duplicates, "GET"),
    ("/entities/merge", Merged, _merged_page, "POST"),
    ("/entities/split", Parted, _parted_page, "POST"),
)


def routes(desk: Desk) -> list[BaseRoute]:
    """Return the routes of changes; where readers may change nothing, refusals."""
    if not desk.writable:
        paths = [(end.path, end.method) for end in ENDPOINTS]
        paths += [(path, method) for path, _, _, method in _PAGES]
        paths += [("/upload", "POST"), (_CORRECTION, "POST")]
        return [Route(path, _refused, methods=[method]) for path, method in paths]

    async def uploaded(request: Request) -> Response:
        return await _uploaded(desk, request)

    async def corrected(request: Request) -> Response:
        return await _corrected_page(desk, request)

    return [
        *(page_route(desk, *one) for one in _PAGES),
        Route("/upload", uploaded, methods=["POST"]),
        Route(_CORRECTION, corrected, methods=["POST"]),
    ]


async def _refused(_request: Request) -> Response:
    return Json({"error": {"type": "forbidden", "message": _READS_ONLY}}, 403)
