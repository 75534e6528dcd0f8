"""Numbers and dates of spreadsheets as their format shows them: ECMA-376, part 1, 18.8.31."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import NamedTuple

# 18.8.30, "zh-cn": numbers of formats whose codes a file does not have. 14 and 22 are the system's.
CHINESE_FORMATS: Mapping[int, str] = {
    **dict.fromkeys((14, 30), "yyyy/m/d"),
    22: "yyyy/m/d h:mm",
    **dict.fromkeys((27, 36, 50, 52, 57), 'yyyy"年"m"月"'),
    **dict.fromkeys((28, 29, 51, 53, 54, 58), 'm"月"d"日"'),
    31: 'yyyy"年"m"月"d"日"',
    **dict.fromkeys((32, 34, 55), 'h"时"mm"分"'),
    **dict.fromkeys((33, 35, 56), 'h"时"mm"分"ss"秒"'),
}
_PIECE = re.compile(
    r'"(?P<text>[^"]*)"|[\\!](?P<escaped>.)|[_*].|\[\$(?P<currency>[^-\]]*)[^\]]*\]'
    r"|\[(?P<test>[<>=]+)(?P<than>-?[\d.]+)\]|(?P<time>\[[hms]+\]|y+|m+|d+|h+|s+|a{3,4}|AM/PM|上午/下午)"
    r"|\[[^\]]*\]|(?P<general>General|G/通用格式)|(?P<power>E[+-]0+)|(?P<digit>[0#?.,])|(?P<plain>.)",
    re.IGNORECASE | re.DOTALL,
)
_SCALE = re.compile(r",+(?=\.|$)")  # each shows thousands
_LATEST = 2_958_466  # the day after 9999-12-31
_LONGEST = 255  # characters of a code that Excel takes
_MOST = 1e15  # from here on not every digit is stored


class _Piece(NamedTuple):
    kind: str
    text: str
    than: str = ""


def shown_number(value: float, code: str, *, from_1904: bool = False) -> str:
    """Return a number as its format shows it; one that the format hides, or cannot have, plainly.

    Args:
        value: As stored; a date is a count of days.
        code: Of the format, with up to four sections.
        from_1904: Whether days count from 1904-01-01.

    >>> shown_number(0.125, "0.0%"), shown_number(1234, "#,##0.00"), shown_number(-5, "0;(0)")
    ('12.5%', '1,234.00', '(5)')
    >>> shown_number(45000, 'yyyy"年"m"月"d"日"'), shown_number(123456, '0!.0,"万"')
    ('2023年3月15日', '12.3万')
    """
    pieces, is_signed = _chosen(_sections(code), value)
    kinds = {piece.kind for piece in pieces}
    day = value + (1462 if from_1904 else 0)
    if "time" in kinds and 0 <= day < _LATEST:
        return _time(day, pieces)
    if "general" in kinds or kinds == {"text"}:
        return _worded(value, pieces)
    is_plain = {"time", "digit"} & kinds == {"digit"} and ("plain", "/", "") not in pieces
    if not is_plain or abs(value) >= _MOST:  # a fraction, nothing, or more digits than are stored
        return _general(value)
    text = _digits(abs(Decimal(repr(value))), pieces).strip()
    return f"-{text}" if value < 0 and is_signed and re.search(r"[1-9]", text) else text


def _worded(value: float, pieces: list[_Piece]) -> str:
    shown = "".join(_general(value) if p.kind == "general" else p.text for p in pieces)
    return shown.strip() or _general(value)


def _chosen(sections: Sequence[list[_Piece]], value: float) -> tuple[list[_Piece], bool]:
    """Return the section for a value, and whether a minus is added to what it shows."""
    tests = [next((p for p in section if p.kind == "test"), None) for section in sections]
    if any(tests):
        fits = (s for s, t in zip(sections, tests, strict=True) if not t or _holds(t, value))
        return next(fits, sections[0]), True
    at = 1 if value < 0 else 2 if value == 0 else 0
    at = at if at < min(len(sections), 3) else 0
    return sections[at], at != 1


def _general(value: float) -> str:
    """Return a number without a format, of at least ten digits if it has so many."""
    if abs(value) >= _MOST:
        return f"{value:.15g}"
    return f"{Decimal(f'{value:.{max(10, len(str(abs(int(value)))))}g}').normalize():f}"


def _holds(test: _Piece, value: float) -> bool:
    than = float(test.than)
    signs = {"<": value < than, ">": value > than, "=": value == than}
    return any(signs.get(sign, False) for sign in test.text)


@lru_cache(maxsize=1 << 10)
def _sections(code: str) -> list[list[_Piece]]:
    sections: list[list[_Piece]] = [[]]
    for match in _PIECE.finditer(code[:_LONGEST]):
        kind = match.lastgroup or "text"
        if match[0] == ";":
            sections.append([])
        elif kind == "than":
            sections[-1].append(_Piece("test", match["test"], match["than"]))
        elif kind in ("escaped", "currency") or not match.lastgroup:
            sections[-1].append(_Piece("text", match[kind] if match.lastgroup else ""))
        else:
            sections[-1].append(_Piece(kind, match[kind]))
    return sections


def _digits(value: Decimal, pieces: list[_Piece]) -> str:
    """Return a number in the places that a format has, with the literal texts between them."""
    value *= 100 ** sum(piece[:2] == ("plain", "%") for piece in pieces)
    picture = "".join(piece.text for piece in pieces if piece.kind == "digit")
    value /= 1000 ** sum(len(run) for run in _SCALE.findall(picture))
    before, _, after = (run.replace(",", "") for run in _SCALE.sub("", picture).partition("."))
    is_grouped = "," in _SCALE.sub("", picture)
    exponent = value.adjusted() if value and any(p.kind == "power" for p in pieces) else 0
    rounded = value.scaleb(-exponent).quantize(Decimal(1).scaleb(-len(after)), ROUND_HALF_UP)
    whole, _, part = f"{rounded:f}".partition(".")
    digits = whole.lstrip("0").rjust(before.count("0"), "0")
    n = len(digits)
    left = [d + "," * (is_grouped and i < n and (n - i) % 3 == 0) for i, d in enumerate(digits, 1)]
    part = part[: max(len(part.rstrip("0")), after.rfind("0") + 1)]
    return _placed(left, f".{part}" if part else "", exponent, len(before), pieces)


def _placed(left: list[str], part: str, exponent: int, n: int, pieces: list[_Piece]) -> str:
    """Return digits in `n` places, with the texts between; what is left over is in the first."""
    shown, is_whole = "", not any(piece.text == "." for piece in pieces if piece.kind == "digit")
    for kind, text, _ in reversed(pieces):
        if kind == "power":
            shown = f"E{exponent:+0{len(text) - 1}}{shown}"
        elif kind != "digit":
            shown = ("" if kind == "test" else text) + shown
        elif text == ".":
            shown, is_whole = part + shown, True
        elif text != "," and is_whole:
            keep = max(len(left) - 1, 0) if n > 1 else 0
            shown, left, n = "".join(left[keep:]) + shown, left[:keep], n - 1
    return shown


def _time(value: float, pieces: list[_Piece]) -> str:
    """Return a date or a time."""
    seconds = round(value * 86400)
    # 1900 counts as a leap year there, so that days before its March are one off.
    moment = datetime(1899, 12, 30 if value >= 61 else 31) + timedelta(seconds=seconds)
    codes = [piece.text.lower() for piece in pieces if piece.kind == "time"]
    is_half = any("/" in code for code in codes)
    before, shown = "", ""
    for kind, text, _ in pieces:
        if kind != "time":
            shown += text
            continue
        code = codes.pop(0)
        is_minute = before.strip("[")[:1] == "h" or (codes and codes[0][0] == "s")
        shown += _part("i" * len(code) if code[0] == "m" and is_minute else code, moment, seconds,
                       hour=(moment.hour % 12 or 12) if is_half else moment.hour)  # fmt: skip
        before = code
    return shown.strip()


def _part(code: str, moment: datetime, seconds: int, hour: int) -> str:
    """Return the part of a time that a code such as `yyyy` or `[h]` stands for; `i` is minutes."""
    if code[0] == "[":
        return str(seconds // {"h": 3600, "m": 60, "s": 1}[code[1]])
    if "/" in code:
        return ("上午", "下午")[moment.hour >= 12]
    if code[0] == "a" or code.startswith("ddd"):
        return ("周" if len(code) == 3 else "星期") + "一二三四五六日"[moment.weekday()]
    numbers = {"y": moment.year, "m": moment.month, "d": moment.day, "h": hour}
    number = (numbers | {"i": moment.minute, "s": moment.second})[code[0]]
    return f"{number:0{min(len(code), 2)}}"
