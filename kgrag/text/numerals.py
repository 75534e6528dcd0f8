"""Parse Chinese, Roman and circled numerals, and format Chinese and Roman ones."""

import re
from decimal import Decimal

HAN_DIGITS = "零一二三四五六七八九"
_ZEROS = "〇○Ｏ"
# For character classes: of a whole number as marks, dates and counts write it.
HAN_SMALL = HAN_DIGITS[1:] + "十"
HAN_WHOLE = f"{HAN_SMALL}百千{HAN_DIGITS[0]}〇○两"
_DIGIT = {c: i for i, c in enumerate(HAN_DIGITS)} | {"两": 2} | dict.fromkeys(_ZEROS, 0)
_TEN = {"十": 10, "百": 100, "千": 1000}
_MYRIAD = {"万": 10**4, "亿": 10**8}
_TO_ARABIC = str.maketrans({c: str(i) for c, i in _DIGIT.items() if c != "两"})
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_LETTERS = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_FIRST_OF_RUNS = {"①": 20, "Ⅰ": 12, "ⅰ": 12, "⑴": 20, "㈠": 10}
_NAMED = {
    **{chr(ord("a") + i): i + 1 for i in range(26)},
    **dict(zip("ivx", (1, 5, 10), strict=True)),  # alone, other Roman numerals are letters
    **{chr(ord(c) + i): i + 1 for c, n in _FIRST_OF_RUNS.items() for i in range(n)},
    **{word: n for n, word in enumerate(("one", "two", "three", "four", "five"), 1)},
}
_HAN = frozenset([*_DIGIT, *_TEN, *_MYRIAD])
_LOWER = {ord(c): c.lower() for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"} | {ord("’"): "'"}
_COUNT_WORDS = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_COUNTED = re.compile(rf"(?<![a-z-])(?:{'|'.join(_COUNT_WORDS[::-1])})(?![a-z])")
_BEHIND_DIGIT = re.compile(r"(?<=\d)(?:st|nd|rd|th|am|pm)(?![a-z])|(?<=[\d ])-(?=[a-z])")
_LONGEST = 60  # characters of a numeral; what has more counts nothing
_HAS_DIGIT = re.compile(f"[{''.join(_DIGIT)}十]")


def han_numeral(text: str) -> Decimal | None:
    """Parse a Chinese numeral; None if it is none.

    >>> han_numeral("三千五百"), han_numeral("二〇二五"), han_numeral("十二"), han_numeral("一点五")
    (Decimal('3500'), Decimal('2025'), Decimal('12'), Decimal('1.5'))
    """
    text, _, decimals = text.partition("点")
    if len(text) + len(decimals) > _LONGEST or not _HAS_DIGIT.search(text):
        return None  # 千瓦, 上亿
    fraction = "".join(str(_DIGIT[c]) for c in decimals)
    if len(text) > 1 and all(c in _DIGIT for c in text):
        return Decimal(han_digits(text)) if "两" not in text else None
    total = section = digit = 0
    for c in text:
        if c in _DIGIT:
            digit = _DIGIT[c]
        elif c in _TEN:
            section += (digit or 1) * _TEN[c]
            digit = 0
        else:
            section += digit
            if c == "亿":  # of all before it; 万 in 一亿三千万 only of what stands behind 亿
                section, total = section + total, 0
            total += (section or 1) * _MYRIAD[c]
            section = digit = 0
    value = str(total + section + digit)
    return Decimal(f"{value}.{fraction}") if fraction else Decimal(value)


def han_digits(text: str) -> str:
    """Replace each Chinese digit by the Arabic one, as in years.

    >>> han_digits("二〇二一年")
    '2021年'
    """
    return text.translate(_TO_ARABIC)


def whole_number(text: str) -> int | None:
    """Parse an integer in numerals of any kind; None if it is none.

    >>> [whole_number(text) for text in ("12", "十二", "XII", "⑫", "Two", "B", "目标", "")]
    [12, 12, 12, 12, 2, 2, None, None]
    """
    lower = text.casefold()
    if not text or len(text) > _LONGEST:
        return None
    if text.isdecimal():
        return int(text)
    if lower in _NAMED:
        return _NAMED[lower]
    if _ROMAN.keys() >= {*lower}:
        values = [_ROMAN[c] for c in lower]
        return sum(-v if v < max(values[i:]) else v for i, v in enumerate(values))
    value = han_numeral(text) if {*text} <= _HAN else None
    return None if value is None else int(value)


def chinese_number(n: int) -> str:
    """Format a number below 10,000 as Word's chineseCounting does.

    >>> [chinese_number(n) for n in (1, 10, 12, 20, 105)]
    ['一', '十', '十二', '二十', '一百〇五']
    """
    if not 0 < n < 10_000:
        return str(n)
    out, gap = "", False
    for power, unit in zip(range(3, -1, -1), ("千", "百", "十", ""), strict=True):
        digit = n // 10**power % 10
        if digit:
            out += ("〇" if gap and out else "") + HAN_DIGITS[digit] + unit
        gap = not digit
    return out[1:] if out.startswith("一十") else out


def roman_number(n: int) -> str:
    """Format a number in lower-case Roman numerals.

    >>> roman_number(14)
    'xiv'
    """
    out = ""
    for value, letters in _LETTERS:
        out += letters * (n // value)
        n %= value
    return out


def in_digits(text: str) -> str:
    """Return a text in lower case with English numbers in digits; the length stays.

    >>> in_digits("Within three-day periods on the 3rd floor")
    'within 3     day periods on the 3   floor'
    """
    digits = _COUNTED.sub(
        lambda m: str(_COUNT_WORDS.index(m[0]) + 2).ljust(len(m[0])), text.translate(_LOWER)
    )
    return _BEHIND_DIGIT.sub(lambda m: " " * len(m[0]), digits)
