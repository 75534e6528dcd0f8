"""Numbers and dates of spreadsheets as their format shows them: ECMA-376, part 1, 18.8.31."""

import re
from collections.abc import Mapping
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
_PART = re.compile(
    r'"(?P<quoted>[^"]*)"|[\\!](?P<escaped>.)|[_*].|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>General|G/通用格式)|(?P<half>AM/PM|A/P|上午/下午)"
    r"|(?P<power>E[+-]0+)|(?P<time>y+|m+|d+|h+|s+(?:\.0+)?|a{3,4})|(?P<digit>[0#?.,])|(?P<plain>.)",
    re.IGNORECASE | re.DOTALL,
)
_SECTION = re.compile(r'(?:"[^"]*"|[\\!_*].|\[[^\]]*\]|[^;])*', re.DOTALL)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)(-?[\d.]+)")
_CURRENCY = re.compile(r"\$([^-]+)")
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
_SCALE = re.compile(r",+(?=\.|$)")  # each shows thousands
_SAYS = re.compile(r"[1-9]")
_WEEKDAYS = "一二三四五六日"
_LATEST = 2_958_466  # the day after 9999-12-31
_MOST = 1e15  # from here on not every digit is stored
_MOST_DIGITS = 10  # that a cell of the General format shows; a longer whole number is kept


class _Piece(NamedTuple):
    kind: str
    text: str


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
    pieces, is_absolute = _chosen(code, value)
    if any(piece.kind == "time" for piece in pieces):
        day = value + (1462 if from_1904 else 0)
        return _time(day, pieces) if 0 <= day < _LATEST else _general(value)
    kinds = {piece.kind for piece in pieces}
    if "general" in kinds:
        return "".join(_general(value) if p.kind == "general" else p.text for p in pieces).strip()
    # A fraction, nothing to be shown, or more digits than are stored.
    if "digit" not in kinds or _Piece("plain", "/") in pieces or abs(value) >= _MOST:
        return _general(value)
    text = _digits(abs(Decimal(repr(value))), pieces).strip()
    return f"-{text}" if value < 0 and not is_absolute and _SAYS.search(text) else text


def _general(value: float) -> str:
    """Return a number without a format.

    >>> _general(0.1 + 0.2), _general(1 / 3), _general(123456789012.0)
    ('0.3', '0.3333333333', '123456789012')
    """
    if abs(value) >= _MOST:
        return f"{value:.15g}"
    whole = len(str(abs(int(value))))
    return f"{Decimal(f'{value:.{max(_MOST_DIGITS, whole)}g}').normalize():f}"


def _chosen(code: str, value: float) -> tuple[list[_Piece], bool]:
    """Return the section for a value, and whether its sign is that section's matter."""
    sections = _sections(code)
    tests = [next(filter(None, (_test(p, value) for p in s)), "") for s in sections]
    if any(tests):
        i = next((i for i, test in enumerate(tests) if test == "yes" or not test), 0)
        return sections[i], False
    i = 1 if value < 0 else 2 if value == 0 else 0
    i = i if i < min(len(sections), 3) else 0
    return sections[i], i == 1


def _test(piece: _Piece, value: float) -> str:
    """Return whether a value fulfils a section's condition; empty if it has none."""
    if piece.kind != "bracket" or not (found := _CONDITION.fullmatch(piece.text)):
        return ""
    than, is_more = float(found[2]), value > float(found[2])
    holds = {"<": value < than, ">": is_more, "=": value == than}
    is_held = value != than if found[1] == "<>" else any(holds[sign] for sign in found[1])
    return "yes" if is_held else "no"


@lru_cache(maxsize=1 << 10)
def _sections(code: str) -> list[list[_Piece]]:
    found = [
        m[0] for m in _SECTION.finditer(code) if m[0] or code[m.start() - 1 : m.start()] == ";"
    ]
    return [[*map(_piece, _PART.finditer(section))] for section in found] or [[]]


def _piece(match: re.Match[str]) -> _Piece:
    kind, text = match.lastgroup or "plain", match[match.lastgroup or 0] or ""
    if kind == "bracket":
        if currency := _CURRENCY.match(text):
            return _Piece("quoted", currency[1])
        return _Piece("time", f"[{text}]") if _ELAPSED.fullmatch(text) else _Piece(kind, text)
    if kind == "escaped":
        return _Piece("quoted", text)
    return _Piece(kind, "" if match.lastgroup is None else text)


def _digits(value: Decimal, pieces: list[_Piece]) -> str:
    """Return a number in the places that a format has, with the literal texts between them."""
    value *= 100 ** sum(piece == ("plain", "%") for piece in pieces)
    picture = "".join(piece.text for piece in pieces if piece.kind == "digit")
    value /= 1000 ** sum(len(run) for run in _SCALE.findall(picture))
    before, _, after = (run.replace(",", "") for run in _SCALE.sub("", picture).partition("."))
    is_grouped = "," in _SCALE.sub("", picture)
    is_power = any(piece.kind == "power" for piece in pieces)
    exponent = value.adjusted() if is_power and value else 0
    rounded = value.scaleb(-exponent).quantize(Decimal(1).scaleb(-len(after)), ROUND_HALF_UP)
    whole, _, part = f"{rounded:f}".partition(".")
    digits = whole.lstrip("0").rjust(before.count("0"), "0")
    n = len(digits)
    left = [d + "," * (is_grouped and i < n and (n - i) % 3 == 0) for i, d in enumerate(digits, 1)]
    part = part[: max(len(part.rstrip("0")), after.rfind("0") + 1)]
    places = len(before), len(before) + len(after)
    return _placed(left, f".{part}" if part else "", exponent, places, pieces)


def _placed(
    left: list[str], part: str, exponent: int, places: tuple[int, int], pieces: list[_Piece]
) -> str:
    """Return digits in the places of a format, from the right; what is left over at the first."""
    n_whole, n_places = places
    shown = ""
    for kind, text in reversed(pieces):
        if kind == "power":
            shown = f"E{'-' if exponent < 0 else '+'}{abs(exponent):0{len(text) - 2}}{shown}"
        elif kind != "digit":
            shown = ("" if kind == "bracket" else text) + shown
        elif text == ".":
            shown = part + shown
        elif text != ",":
            if n_places <= n_whole:
                keep = max(len(left) - 1, 0) if n_places > 1 else 0
                shown = "".join(left[keep:]) + shown
                del left[keep:]
            n_places -= 1
    return shown


def _time(value: float, pieces: list[_Piece]) -> str:
    """Return a date or a time."""
    seconds = round(value * 86400)
    # 1900 counts as a leap year there, so that days before its March are one off.
    moment = datetime(1899, 12, 30 if value >= 61 else 31) + timedelta(seconds=seconds)
    is_half = any(piece.kind == "half" for piece in pieces)
    times = [p.text.lower().strip("[]") for p in pieces if p.kind == "time"]
    shown, n = "", 0
    for piece in pieces:
        if piece.kind == "time":
            is_minute = piece.text[0] in "mM" and (
                (n > 0 and times[n - 1][0] == "h") or times[n + 1 : n + 2][:1] in (["s"], ["ss"])
            )
            code = piece.text.lower()
            shown += _part(code, moment, seconds, is_minute=is_minute, is_half=is_half)
            n += 1
        elif piece.kind == "half":
            shown += ("上午", "下午")[moment.hour >= 12]
        else:
            shown += "" if piece.kind in ("bracket", "general") else piece.text
    return shown.strip()


def _part(code: str, moment: datetime, seconds: int, *, is_minute: bool, is_half: bool) -> str:
    """Return the part of a time that a code such as `yyyy` or `[h]` stands for."""
    if code[0] == "[":
        return str(seconds // {"h": 3600, "m": 60, "s": 1}[code[1]])
    if code[0] == "a":
        return ("周" if len(code) == 3 else "星期") + _WEEKDAYS[moment.weekday()]
    hour = (moment.hour % 12 or 12) if is_half else moment.hour
    if code[0] == "y":
        return f"{moment:%Y}"
    number = {
        "m": moment.minute if is_minute else moment.month,
        "d": moment.day,
        "h": hour,
        "s": moment.second,
    }[code[0]]
    return str(number) if len(code) == 1 else f"{number:02}"
