"""Detect the encoding of files by fixed rules, and decode them."""

import codecs
import errno
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader, TextIOWrapper
from typing import Self

from kgrag.errors import IngestionError
from kgrag.text.messages import message

_BOMS = (
    # UTF-32 LE begins with the mark of UTF-16 LE, so it is asked first.
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_IMAGE = message("holds an image, not text; name it as the picture that it is, e.g. .png")
_MAGIC = (
    (b"%PDF-", message("holds a PDF, not text; rename it to .pdf")),
    (
        b"PK\x03\x04",
        message(
            "holds a zip archive or an Office file, not text; give it its own ending, e.g. .docx"
        ),
    ),
    (b"\xd0\xcf\x11\xe0", message("holds an old Office file, not text; save it as .docx")),
    (b"{\\rtf", message("holds rich text, not text; save it as .docx")),
    (b"\x89PNG", _IMAGE),
    (b"\xff\xd8\xff", _IMAGE),
)
_EXPECTED = re.compile(r"[\t\n\r -~\u3000-\u303f\u4e00-\u9fff\uff00-\uffef‐-‧−—·〇]")
MOST_LINE = 64_000_000  # bytes of a record; without a bound /dev/zero fills the memory
_BROKEN_OFF = re.compile(rb"[\xc0-\xff][\x80-\xbf]{0,2}\Z")  # a character of UTF-8
_PAIR = re.compile(rb"[\xa1-\xf7][\xa1-\xfe]")  # a common Chinese character of GB 18030
# Of official Chinese in simplified and in traditional characters.
_COMMON = re.compile(
    "[的一是在有和国中为年不了人上大发政工行业务等以及第部会市省，。國為發業務會這個來時對應關]"
)
_HIGH = bytes(range(0x80, 0x100))
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_CHINESE = ("gb18030", "big5hkscs")
_LEAST_COMMON = 3
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x19\x1c-\x1f]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Decoded text.

    Attributes:
        text: Without a byte order mark, otherwise unchanged.
        encoding: Python's name of the encoding.
        n_replaced: Undecodable places, replaced by U+FFFD.
    """

    text: str
    encoding: str
    n_replaced: int = 0

    @property
    def warnings(self) -> list[str]:
        """Warnings for the user; empty if nothing was lost."""
        if not self.n_replaced:
            return []
        return [
            message(
                "places that could not be decoded as {encoding} and became U+FFFD: {n}; save the "
                "file as UTF-8 to keep them",
                encoding=self.encoding,
                n=self.n_replaced,
            )
        ]


def decode(data: bytes, *, name: str, declared: str | None = None) -> Decoded:
    """Decode bytes in an unknown encoding.

    In order: a byte order mark; the declared encoding, if it fits and no other fits better; UTF-16
    if there are zero bytes; UTF-8, also with up to 1 % of damage; UTF-16 without zero bytes; else
    whichever of GB18030 and UTF-8 loses less, or Big5 if that has far more common characters.

    Args:
        data: The whole file.
        name: The file, for errors.
        declared: Charset of a `<meta>` element, if any.

    Raises:
        IngestionError: If it is not text.
    """
    for magic, what in _MAGIC:
        if data.startswith(magic):
            raise IngestionError("{name}: {what}", name=name, what=what)
    decoded = _by_mark(data) or _by_declaration(data, declared) or _by_content(data)
    n = len(decoded.text)
    n_bad = decoded.n_replaced + len(_CONTROL.findall(decoded.text))
    if n_bad > max(1, n // 10):
        raise IngestionError(
            "{name}: does not look like text ({n_bad} of {n} characters are unreadable); if "
            "it is, save it as UTF-8",
            name=name,
            n_bad=n_bad,
            n=n,
        )
    return decoded


def decode_settings(data: bytes, *, name: str) -> str:
    """Decode a configuration file, as saved by editors of any system.

    Raises:
        IngestionError: If it is not text, or anything cannot be decoded: a wrong key would be
            another key.
    """
    decoded = decode(data, name=name)
    if decoded.n_replaced:
        raise IngestionError(
            "{name}: seems to be {encoding}, but not all of it can be read as that "
            "(places: {n}); save it as UTF-8",
            name=name,
            encoding=decoded.encoding,
            n=decoded.n_replaced,
        )
    return decoded.text


class Utf8Lines:
    """A file of JSON lines as bytes in UTF-8, whatever its encoding; a context manager.

    UTF-8 is passed on unchanged, with any damage. Other encodings are decoded line by line;
    undecodable bytes make a line invalid JSON.
    """

    def __init__(self, file: BufferedReader) -> None:
        encoding = encoding_of_json(file.peek())
        self._file = file
        self._text: TextIOWrapper | None = None
        if encoding != "utf-8":
            errors = "surrogateescape" if encoding == "gb18030" else "backslashreplace"
            self._text = TextIOWrapper(file, encoding, errors=errors, newline="\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        (self._text or self._file).close()

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines.

        Raises:
            OSError: If a line exceeds any record: a device, or not a file of lines.
        """
        while line := self.readline(MOST_LINE + 1):
            if len(line) > MOST_LINE:
                raise OSError(errno.EFBIG, f"a line has more than {MOST_LINE:,} bytes")
            yield line

    def readline(self, most: int = -1) -> bytes:
        """Return the next line, or its first `most` bytes (characters, if decoded)."""
        if self._text is None:
            return self._file.readline(most)
        return self._text.readline(most).encode("utf-8", "surrogateescape")


def encoding_of_json(head: bytes) -> str:
    """Detect the encoding of a file of JSON lines.

    By a byte order mark; by the zeros beside ASCII, which any JSON has; else UTF-8, unless that
    does not fit and the bytes come in pairs, like Chinese in GB 18030.

    Args:
        head: Start of the file; may end within a character.
    """
    marked = _by_mark(head)
    if marked is not None:
        return marked.encoding
    if 0 in head[:2]:
        return "utf-16-be" if head[0] == 0 else "utf-16-le"
    utf8 = _replacing(_BROKEN_OFF.sub(b"", head), "utf-8")
    n_foreign = sum(c > "\x7f" for c in utf8.text)
    if utf8.n_replaced * 100 <= n_foreign:
        return "utf-8"
    n_high, n_paired = sum(byte > 0x7F for byte in head), 2 * len(_PAIR.findall(head))
    return "gb18030" if n_paired * 4 >= n_high * 3 else "utf-8"


def _by_mark(data: bytes) -> Decoded | None:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _replacing(data[len(mark) :], encoding)
    return None


def _by_declaration(data: bytes, declared: str | None) -> Decoded | None:
    if not declared or b"\x00" in data:
        return None
    # Pages that say gb2312 use characters beyond it; GB18030 holds both.
    encoding = "gb18030" if declared.lower() in ("gb2312", "gbk", "x-gbk") else declared
    text = _strictly(data, encoding)
    if text is None:
        return None
    # Any bytes are Latin-1, and much of UTF-8 is GBK as well: what hardly fits by chance, counts.
    if not text.isascii() and codecs.lookup(encoding).name != "utf-8":
        if _strictly(data, "utf-8") is not None:
            return None
        for other in _CHINESE:
            chinese = _strictly(data, other) or ""
            if _n_common(chinese) > max(_LEAST_COMMON, 2 * _n_common(text)):
                return Decoded(chinese, other)
    return Decoded(text, encoding)


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (LookupError, UnicodeDecodeError):
        return None


def _n_common(text: str) -> int:
    """Return how many of the commonest characters of official Chinese a text has."""
    return len(_COMMON.findall(text[:20_000]))


def _by_content(data: bytes) -> Decoded:
    utf8 = _replacing(data, "utf-8")
    n_zero, n_high = data.count(0), len(data) - len(data.translate(None, _HIGH))
    # UTF-16 in Latin letters is valid UTF-8, too, with every other character zero; a stray zero
    # in ASCII text, on the other hand, must not turn its letters into Chinese by pairs.
    if n_zero and (utf8.n_replaced or n_zero * 10 > len(data)):
        wide = _wide(data)
        if wide:
            return wide
    n_foreign = len(utf8.text) - len(utf8.text.encode("ascii", "ignore"))
    if utf8.n_replaced * 100 <= n_foreign:
        return utf8
    # Chinese in UTF-16 often passes for GB18030, but hardly ever the other way round; Latin
    # letters, two by two, pass for Chinese, but then few bytes are above ASCII.
    wide = _wide(data) if n_high * 4 > len(data) else None
    gb = _chinese(data, n_high)
    return wide or min(gb, utf8, key=lambda decoded: decoded.n_replaced)


def _chinese(data: bytes, n_high: int) -> Decoded:
    """Decode as GB 18030, or as Big5 if that gives far more of the common characters."""
    gb, big5 = (_replacing(data, encoding) for encoding in _CHINESE)
    if big5.n_replaced > gb.n_replaced and big5.n_replaced * 100 > n_high:
        return gb
    # Nearly any bytes of Big5 are characters of GB 18030, too, but few common ones, and some for
    # private use.
    n_gb = _n_common(gb.text) - len(_PRIVATE.findall(gb.text))
    least = max(_LEAST_COMMON if n_gb >= 0 else 0, 2 * n_gb)
    return big5 if _n_common(big5.text) > least else gb


def _wide(data: bytes) -> Decoded | None:
    """Decode as UTF-16 if one byte order gives Chinese or ASCII almost throughout; else None."""
    whole = data[: len(data) // 2 * 2]
    for encoding in ("utf-16-le", "utf-16-be"):
        decoded = _replacing(whole, encoding)
        if _plausible(decoded.text):
            return decoded
    return None


def _plausible(text: str) -> bool:
    sample = text[:4000]
    return len(_EXPECTED.findall(sample)) * 10 >= len(sample) * 9 > 0


def _replacing(data: bytes, encoding: str) -> Decoded:
    text = data.decode(encoding, "replace")
    n_own = 0
    if "\ufffd" in text:
        # A file may hold U+FFFD of its own; only what this decoding lost is counted.
        own = "\ufffd".encode(encoding, "ignore")
        n_own = data.count(own) if own else 0
    return Decoded(text, encoding, max(0, text.count("\ufffd") - n_own))
