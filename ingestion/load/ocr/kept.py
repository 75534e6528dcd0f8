"""What was read of page pictures, kept by their content: a page is read once."""

import hashlib
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.errors import ModelError
from kgrag.files.cache_folder import cache_folder
from kgrag.files.whole_file import write_whole
from kgrag.ingestion.load.ocr.page_text import PageText

if TYPE_CHECKING:
    from kgrag.ingestion.load.ocr.page_text import Picture

_log = logging.getLogger(__name__)


def kept_page(picture: "Picture", version: str, read: Callable[[], PageText]) -> PageText:
    """Return what is kept of a page picture, or read it and keep that.

    Each page is a JSON file of its own in `ocr` of the user's cache folder, written whole, so
    that a run that is killed goes on where it was. Without such a folder nothing is kept.

    Args:
        picture: The page.
        version: Of all that decides what is read of it.
        read: Reads it.
    """
    file = _file(picture, version)
    if file is None:
        return read()
    with suppress(OSError, ValueError, KeyError, TypeError):  # missing, or not ours
        return PageText.from_json(json.loads(file.read_text("utf-8")))
    page = read()
    try:
        # Only its owner may read it: it holds the text of documents.
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(file, [json.dumps(page.to_json(), ensure_ascii=False)])
    except OSError as exc:
        _log.warning("what was read of a page cannot be kept in %s: %s", file.parent, exc)
    return page


def _file(picture: "Picture", version: str) -> Path | None:
    hashed = hashlib.sha256(f"{version}\n{picture.shape}\n".encode())
    hashed.update(picture.tobytes())
    name = hashed.hexdigest()
    try:
        return cache_folder() / "ocr" / name[:2] / f"{name}.json"
    except ModelError:
        return None
