"""Mails (`.eml`, `.msg`) and pages saved as such (`.mht`): the body, by the readers of its kind."""

import codecs
import email
import email.policy
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import cast

from kgrag.errors import IngestionError
from kgrag.files.encoding import decode
from kgrag.ingestion.load.html import read_html
from kgrag.ingestion.load.parsed import Parsed, replace_unusable
from kgrag.ingestion.load.plain import read_plain
from kgrag.text.messages import message

# Of MS-OXPROPS: subject, sender's name and address, body, body in HTML, name of an attachment.
_SUBJECT, _SENDER, _ADDRESS, _BODY, _HTML, _FILE = "0037", "0C1A", "0C1F", "1000", "1013", "3707"
_READ = re.compile("__properties_version1.0|__substg1.0_(?:0037|0C1A|0C1F|1000|1013|3707)")
_PROPERTIES = "__properties_version1.0"
_SENT = struct.pack("<L", 0x00390040)


@dataclass(slots=True)
class _Mail:
    """A mail, whatever its format."""

    subject: str = ""
    sender: str = ""
    date: str = ""
    html: bytes = b""
    plain: bytes = b""
    attached: list[str] = field(default_factory=list)


def read_mail(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return the body of an `.eml`; subject, sender and date are title and properties.

    Attachments are named in a warning.

    Raises:
        IngestionError: It is no mail, or has no body.
    """
    return _parsed(_of_mime(data, name), name, stem)


def read_page(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return the page in a web archive, `.mht`, as of an HTML file; its pictures are left out.

    Raises:
        IngestionError: It holds no page.
    """
    page = _of_mime(data, name).html
    if not page:
        raise IngestionError("{name}: holds no page; save the page as .html", name=name)
    return read_html(page, name=name, stem=stem)


def read_msg(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return the body of a mail of Outlook; otherwise as `read_mail`.

    Raises:
        IngestionError: It is no such mail, or its body is only in rich text.
    """
    import olefile

    try:
        with olefile.OleFileIO(data) as file:
            paths = [path for path in file.listdir() if _READ.match(path[-1])]
            if sum(map(file.get_size, paths)) > len(data):
                raise ValueError(message("its streams are larger than the file"))
            streams = {"/".join(path): file.openstream(path).read() for path in paths}
        (ticks,) = struct.unpack("<Q", streams[_PROPERTIES].partition(_SENT)[2][4:12] or bytes(8))
        sent = datetime(1601, 1, 1, tzinfo=UTC) + timedelta(microseconds=ticks // 10)
    except (KeyError, OSError, ValueError, IndexError, OverflowError, struct.error) as exc:
        raise IngestionError(
            "{name}: is damaged or no mail of Outlook ({error}); save it as .eml",
            name=name,
            error=exc,
        ) from exc
    attachments = {path.partition("/")[0] for path in streams if path.startswith("__attach")}
    mail = _Mail(
        _text(streams, _SUBJECT),
        f"{_text(streams, _SENDER)} {_text(streams, _ADDRESS)}".strip(),
        f"{sent:%Y-%m-%d}" if ticks else "",
        streams.get(f"__substg1.0_{_HTML}0102") or _text(streams, _HTML).encode(),
        _text(streams, _BODY).encode(),
        [_text(streams, _FILE, f"{folder}/") or folder for folder in sorted(attachments)],
    )
    return _parsed(mail, name, stem)


def _text(streams: Mapping[str, bytes], number: str, folder: str = "") -> str:
    """Return a property, which is written in UTF-16 or in the code page of its writer."""
    wide = streams.get(f"{folder}__substg1.0_{number}001F", b"")
    narrow = streams.get(f"{folder}__substg1.0_{number}001E", b"").strip(b"\0")
    text = wide.decode("utf-16-le", "replace") or (decode(narrow, name="").text if narrow else "")
    return text.strip("\0")


def _of_mime(data: bytes, name: str) -> _Mail:
    found = _Mail()
    try:
        mail = email.message_from_bytes(data, policy=email.policy.default)
        if not mail.keys():
            raise ValueError(message("it has no head"))
        found.subject, found.sender = str(mail.get("subject", "")), str(mail.get("from", ""))
        for part in mail.walk():
            kind, file = part.get_content_type(), part.get_filename()
            if file or part.get_content_disposition() == "attachment":
                found.attached.append(" ".join(str(file or kind).split()))
            elif kind in ("text/html", "text/plain"):
                text = cast("bytes", part.get_payload(decode=True) or b"")
                charset = part.get_content_charset()
                if text:  # marked, so that what the page itself says of its encoding does not count
                    text = codecs.BOM_UTF8 + decode(text, name=name, declared=charset).text.encode()
                found.html = found.html or text * (kind == "text/html")
                found.plain = found.plain or text * (kind == "text/plain")
        found.date = f"{parsedate_to_datetime(mail['date']):%Y-%m-%d}" if mail["date"] else ""
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as exc:
        raise IngestionError(
            "{name}: is damaged or no mail ({error}); save it again", name=name, error=exc
        ) from exc
    return found


def _parsed(mail: _Mail, name: str, stem: str) -> Parsed:
    if mail.html.strip():
        parsed = read_html(mail.html, name=name, stem=stem, is_article=True)
    elif mail.plain.strip():
        parsed = read_plain(mail.plain, name=name, stem=stem)
    else:
        said = "{name}: has no body that can be read; save it as .eml, with a text"
        raise IngestionError(said, name=name)
    told = {"author": replace_unusable(mail.sender)[0], "date": mail.date}
    names = ", ".join(mail.attached)
    warning = message("attachments that are not read: {names}; save them as files", names=names)
    return replace(
        parsed,
        title=" ".join(replace_unusable(mail.subject)[0].split()) or parsed.title,
        warnings=(*parsed.warnings, warning) if names else parsed.warnings,
        properties={**parsed.properties, **{key: text for key, text in told.items() if text}},
    )
