"""Escape text for a terminal.

Titles, file names and answers of models may contain escape sequences, bidirectional controls and
invisible characters; they are shown as escapes. Characters that an encoding lacks are replaced by
similar ones, else `?`.
"""

import codecs
import functools
import json
import math
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from pathlib import Path, PurePath
from types import MappingProxyType

# What most text is made of, and never hidden: ASCII, and Chinese with its marks. The rest is
# looked up character by character.
_ODD = re.compile(r"[^\n\t -~\u3000-\u3029\u4e00-\u9fff\uff01-\uff5e]")
_ODD_IN_LINE = re.compile(r"[^ -~\u3000-\u3029\u4e00-\u9fff\uff01-\uff5e]")
_ODD_IN_JSON = re.compile(r"[^ -~\u3000-\u3029\u4e00-\u9fff\uff01-\uff5e]")
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Cn", "Zl", "Zp"))  # categories of Unicode
# Letters and marks that have no shape of their own, beyond those categories: fillers, joiners,
# selectors of Mongolian and of the planes beyond the first. (U+FE00 to U+FE0F choose between the
# shapes of a character that is seen.)
_SHAPELESS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\U000e0100-\U000e01ef]"
)
# Chinese characters that Unicode has added since this Python was made.
_HAN_TO_COME = range(0x20000, 0x3FFFE)
_HALF = re.compile("[\ud800-\udfff]")  # half a character, or a byte that was not decoded
_NAMES = re.compile("[^/]+")
_REMOTE = re.compile("^(s3|memory):/+")  # of a URL, or of the path that it becomes
_RECORD = re.compile(r"(?<=\.jsonl)#", re.IGNORECASE)
_CHINESE_MARK = re.compile(r"[\u2014\u2018-\u201d\u2026\u3001-\u3017\uff01-\uff5e]")
_LIKENESS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys("“”„«»″", '"'),
        **dict.fromkeys("‘’′", "'"),
        **dict.fromkeys("‐‑‒–−─━", "-"),
        "—": "--",
        "→": "->",
        "←": "<-",
        "›": ">",
        "‹": "<",
        "═": "=",
        "·": ".",
        "…": "...",
        "。": ".",
        "、": ",",
        "《": "<<",
        "》": ">>",
        "「": '"',
        "」": '"',
        "×": "x",
    }
)
_UNKNOWN = "?"
ALIKE = "kgrag-alike"  # error handler: characters that an encoding lacks, as similar ones
LOST = Counter[str]()  # characters that it replaced by `?`, by encoding


def visible(text: str) -> str:
    r"""Escape control and invisible characters in a text of several lines.

    >>> visible("甲\x1b[2J\u202e乙\r\n丙")
    '甲\\x1b[2J\\u202e乙\n丙'
    """
    return _ODD.sub(_shown, text.replace("\r\n", "\n"))


def visible_line(text: str) -> str:
    r"""Escape a text to one line: line breaks and tabs, too.

    >>> visible_line("甲\n乙")
    '甲\\n乙'
    """
    return _ODD_IN_LINE.sub(_shown, text)


def shortened(text: str, most: int) -> str:
    r"""Return a text on one line of at most so many characters.

    >>> shortened("甲\n乙  丙丁", 4), shortened("甲乙", 4)
    ('甲 乙…', '甲乙')
    """
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def json_line(value: object, *, encoding: str = "utf-8", sort_keys: bool = False) -> str:
    r"""Format a value as one line of JSON without control or invisible characters.

    They become JSON escapes, so that the value is unchanged.

    Args:
        value: Of JSON types. Of others, bytes become `{"hex": "00ff"}`, infinite numbers and NaN
            the texts "Infinity", "-Infinity" and "NaN", anything else its `str`.
        encoding: Of the output; for any other than UTF-8 the line is ASCII.
        sort_keys: Sort the keys of mappings.

    >>> json_line(["甲\x85"])
    '["甲\\u0085"]'
    """
    as_ascii = not _is_unicode(encoding)
    dumps = functools.partial(
        json.dumps, ensure_ascii=as_ascii, sort_keys=sort_keys, default=_as_json
    )
    try:
        line = dumps(value, allow_nan=False)
    except ValueError:  # seldom, and looking at every number first would take longer
        line = dumps(_with_numbers(value))
    return _ODD_IN_JSON.sub(_json_escape, line)


def _as_json(value: object) -> object:
    return {"hex": bytes(value).hex()} if isinstance(value, bytes | bytearray) else str(value)


def _with_numbers(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _with_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_with_numbers(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(value)
    return value


def carried(text: str, encoding: str) -> str:
    """Replace characters that an encoding lacks by similar ones, else by `?`.

    >>> carried("甲 › 乙 — “c”", "gbk"), carried("甲 › 乙 — “c”", "ascii")
    ('甲 > 乙 — “c”', '? > ? -- "c"')
    """
    return text.encode(encoding, ALIKE).decode(encoding)


def _alike(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = visible(error.object[error.start : error.end])
    shown = "".join(c if c.isascii() else _likeness(c) for c in lacking)
    LOST[error.encoding] += shown.count(_UNKNOWN)
    return shown, error.end


codecs.register_error(ALIKE, _alike)


def _likeness(character: str) -> str:
    """Return an ASCII look-alike of a character; `?` for none.

    >>> _likeness("›"), _likeness("，"), _likeness("①"), _likeness("甲")
    ('>', ',', '1', '?')
    """
    known = _LIKENESS.get(character)
    if known is not None:
        return known
    alike = unicodedata.normalize("NFKC", character)
    return alike if alike.isascii() and alike.isprintable() else _UNKNOWN


def shown_path(path: str | PurePath) -> str:
    r"""Return a path as valid Unicode.

    A name that does not fit the system's encoding is decoded as UTF-8, else as GBK (Chinese
    archives of Windows); if that is not Chinese either, its bytes are shown as \\x escapes.

    >>> shown_path("a/\udcc4\udce3.txt")
    'a/你.txt'
    >>> shown_path("a/\udcff.txt")
    'a/\\xff.txt'
    >>> shown_path(Path("s3://bucket/a.txt"))
    's3://bucket/a.txt'
    """
    text = _REMOTE.sub(r"\1://", str(path))
    if not _HALF.search(text):
        return text
    return _NAMES.sub(lambda part: _shown_name(part[0]), text)


def parted(source: str) -> tuple[str, str]:
    """Return the path of a source and, with its `#`, the id of the record in it, if it is one.

    They are parted where `.jsonl#` is first: an id is no path, whatever it looks like.

    >>> parted("/a/b.jsonl#../c.jsonl#d"), parted("/a/b#c.txt")
    (('/a/b.jsonl', '#../c.jsonl#d'), ('/a/b#c.txt', ''))
    """
    at = found.start() if (found := _RECORD.search(source)) else len(source)
    return source[:at], source[at:]


def without_folders(file: str) -> str:
    """Return a path as shown to others: of an absolute one (an older knowledge base) the name.

    >>> without_folders("policies/gd/a.docx"), without_folders("/old/me/a.jsonl#b/c")
    ('policies/gd/a.docx', 'a.jsonl#b/c')
    """
    path, record = parted(file)
    return PurePath(path).name + record if PurePath(path).is_absolute() else file


def _shown_name(name: str) -> str:
    if not _HALF.search(name):
        return name
    try:
        data = os.fsencode(name)
    except UnicodeError:  # half a character of UTF-16
        return _HALF.sub(_shown, name)
    for encoding in ("utf-8", "gbk"):
        try:
            read = data.decode(encoding)
        except UnicodeError:
            continue
        # Most bytes can be read as GBK; what is Chinese has characters of everyday use.
        if encoding == "utf-8" or _is_chinese(read):
            return read
    return _HALF.sub(_shown, name)


def _is_chinese(name: str) -> bool:
    n_frequent = n_rare = 0
    for character in name:
        if character.isascii() or _CHINESE_MARK.match(character):
            continue
        try:
            first, *_ = character.encode("gb2312")
        except UnicodeError:
            return False
        n_frequent += 0xB0 <= first <= 0xD7  # the first level of GB 2312, by frequency
        n_rare += 0xD8 <= first <= 0xF7
        if not 0xB0 <= first <= 0xF7:
            return False
    return n_frequent > n_rare


def place_shown(shown: str) -> Path:
    """Return the existing path that `shown_path` shows so; else the text as a path."""
    whole = Path(shown)
    if "://" in shown_path(shown):
        return whole
    if os.path.exists(whole):  # noqa: PTH110 - names may be none that a system has
        return whole
    at = Path(whole.anchor)
    for part in whole.parts[1 if whole.anchor else 0 :]:
        below = at / part
        if not os.path.exists(below):  # noqa: PTH110
            try:
                names = [name for name in os.listdir(at) if _HALF.search(name)]  # noqa: PTH208
            except (OSError, ValueError):
                return whole
            below = next((at / name for name in sorted(names) if shown_path(name) == part), below)
        at = below
    return at if os.path.exists(at) else whole  # noqa: PTH110


def _is_unicode(encoding: str) -> bool:
    """Return whether an encoding covers Unicode."""
    return encoding.casefold().replace("_", "-").startswith(("utf", "cp65001"))


def is_hidden(character: str) -> bool:
    """Return whether a character controls a terminal, or is invisible."""
    if _SHAPELESS.match(character):
        return True
    category = unicodedata.category(character)
    return category in _HIDDEN and not (category == "Cn" and ord(character) in _HAN_TO_COME)


@functools.lru_cache(maxsize=1 << 14)
def _escape(character: str) -> str:
    if not is_hidden(character):
        return character
    if "\udc80" <= character <= "\udcff":  # a byte of a name that is not UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def _shown(match: re.Match[str]) -> str:
    return _escape(match.group())


def _json_escape(match: re.Match[str]) -> str:
    character = match.group()
    if not is_hidden(character):
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
