"""Old Office files, WPS, RTF and OpenDocument, converted to .docx or .xlsx by LibreOffice."""

import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from kgrag.errors import IngestionError

PROGRAM_VARIABLE = "KGRAG_SOFFICE"
_PROGRAMS = ("soffice", "libreoffice")
_TIME_S = 100.0  # less than ingest.parse_seconds by default, so that this is what is said
_MAX_OUTPUT = 200_000_000
_FILTERS = {"docx": "docx:MS Word 2007 XML", "xlsx": "xlsx:Calc MS Excel 2007 XML"}
_OLE_HEADER = 512  # bytes
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# What else LibreOffice opens as a text: a zip, RTF, XML and HTML.
_KNOWN = re.compile(
    rb"PK\x03\x04|(?:\xef\xbb\xbf)?\s*(?:\{\\rtf|<(?:\?xml|!doctype|html)\b)", re.IGNORECASE
)
# Names of streams in an OLE file's directory are written in UTF-16.
_LOCKED = "EncryptedPackage".encode("utf-16-le")
_OLD_WORD = "WordDocument".encode("utf-16-le")
# A profile of its own: no macro runs, nothing linked is fetched, whatever the user's own allows.
_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Writer/Content/Update">
<prop oor:name="Link" oor:op="fuse"><value>2</value></prop></item>
</oor:items>
"""


def is_old_word(data: bytes) -> bool:
    """Return whether bytes are an old binary Word file, whatever its name."""
    return data.startswith(OLE) and _OLD_WORD in data and _LOCKED not in data


def as_office(
    data: bytes, *, suffix: str, name: str, to: str = "docx", time_s: float = _TIME_S
) -> bytes:
    """Return a file converted to a newer format.

    Args:
        data: The whole file.
        suffix: Of its format, without dot.
        name: The file, for messages.
        to: `docx` or `xlsx`.
        time_s: Seconds that LibreOffice may take before it is killed, with its children.

    Raises:
        IngestionError: It is none of these formats, or LibreOffice is not installed, cannot open
            the file, or takes too long.
    """
    if data.startswith(OLE) and _LOCKED in data:
        raise IngestionError(
            "{name}: is locked with a password; take it away and save it again", name=name
        )
    # LibreOffice would take any other bytes for plain text, and give characters.
    if data.startswith(OLE) and not _has_directory(data):
        raise IngestionError(
            "{name}: is damaged or cut short; copy or download it again", name=name
        )
    if not data.startswith(OLE) and not _KNOWN.match(data):
        raise IngestionError(
            "{name}: is no .{suffix} file: it does not begin as Word, WPS, RTF or "
            "OpenDocument files do; copy it again, or give it the ending of what it is (.txt, "
            ".pdf)",
            name=name,
            suffix=suffix,
        )
    program = _program()
    if program is None:
        raise IngestionError(
            "{name}: .{suffix} files are read through LibreOffice, which is not found; "
            "install it (or name its soffice in {program_variable}), or save the file as .{to}",
            name=name,
            suffix=suffix,
            to=to,
            program_variable=PROGRAM_VARIABLE,
        )
    with tempfile.TemporaryDirectory(prefix="kgrag-office-") as folder:
        made = _converted(program, Path(folder), data, (suffix, to), name, time_s)
        size = made.stat().st_size if made.is_file() else 0
        if not size:
            said = "{name}: LibreOffice cannot open it; it is damaged, locked, or no .{suffix} file"
            raise IngestionError(said, name=name, suffix=suffix)
        if size > _MAX_OUTPUT:
            said = "{name}: comes to {n:,} bytes as .{to}, more than {most:,}; split it"
            raise IngestionError(said, name=name, n=size, to=to, most=_MAX_OUTPUT)
        return made.read_bytes()


def _has_directory(data: bytes) -> bool:
    """Return whether an OLE file's directory of streams is where its header says.

    The header has the size of sectors as a power of two, and the directory's sector.
    """
    if len(data) < _OLE_HEADER or data[30] not in (9, 12):
        return False
    (sector,) = struct.unpack_from("<L", data, 48)
    at = (sector + 1) << data[30]
    return data[at : at + 2] == b"R\0"  # Root Entry


def _program() -> str | None:
    stated = os.environ.get(PROGRAM_VARIABLE)
    if stated:
        return shutil.which(stated)
    return next((path for name in _PROGRAMS if (path := shutil.which(name))), None)


def _converted(
    program: str, folder: Path, data: bytes, formats: tuple[str, str], name: str, time_s: float
) -> Path:
    suffix, to = formats
    source, profile, out = folder / f"in.{suffix}", folder / "profile", folder / "out"
    source.write_bytes(data)
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_PROFILE, "utf-8")
    command = [
        program, f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore",
        "--nolockcheck", "--nodefault", "--convert-to", _FILTERS[to],
        "--outdir", str(out), str(source),
    ]  # fmt: skip
    try:
        # In the group of this process: who ends this one ends it, too.
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, "HOME": str(folder)},
        )  # fmt: skip
    except OSError as exc:
        raise IngestionError(
            "{name}: {program} cannot be started: {strerror}",
            name=name,
            program=program,
            strerror=exc.strerror,
        ) from exc
    try:
        process.wait(time_s)
    except subprocess.TimeoutExpired as exc:
        raise IngestionError(
            "{name}: LibreOffice took more than {time_s:g} s; save it as .{to}",
            name=name,
            time_s=time_s,
            to=to,
        ) from exc
    finally:
        _end(process)
    return out / f"in.{to}"


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and its descendants."""
    if process.poll() is not None:
        return
    for pid in (*_descendants(process.pid), process.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    process.wait()


def _descendants(pid: int) -> list[int]:
    """Return the descendants of a process, where the system lists them."""
    try:
        listed = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines() if line.strip()]
    found = [pid]
    for parent in found:
        found += [child for child, above in pairs if above == parent and child not in found]
    return found[1:]
