"""Names as Neo4j Browser can draw them: broken into lines, of documents the place first."""

import re
from collections.abc import Sequence
from decimal import Decimal
from unicodedata import east_asian_width

from kgrag.qualifiers import Qualifiers
from kgrag.text.titles import titles_within

_WIDTH, _LINES = 4, 4  # full-width characters in a line, lines in a circle
_TARGET_WIDTH, _TARGET_LINES = 7, 3  # of the indicator in a target, which is drawn larger
_SIGNS = {">=": "≥", "<=": "≤", ">": ">", "<": "<", "~": "约", "+": "提高", "-": "下降"}
_STANDINGS = {"planned": "规划", "achieved": "完成"}
_WHOLE = re.compile(r"\d{1,30}")
_SUFFIX = r"(?:[一-鿿]{2,6}自治[区州县旗]|自治[区州县旗]|[省市县区旗盟州]|地区|新区)"
_LEADING = re.compile(r"^(?:关于)?(?:印发)?")
_MARKS = re.compile(r"[《》“”\"«»〈〉\s]")
_EN_SPACE = "\u2002"  # half a character; the Browser breaks lines at the plain space only


def caption(name: str) -> str:
    r"""Return a name in pieces of one width, parted by blanks; cut to 16 full-width characters.

    Neo4j Browser breaks a caption at blanks only, and writes pieces that are short side by side
    in one line, so the last piece is filled up on both sides. A name that has blanks of its own
    is broken at these.

    >>> caption("节能减排"), caption("National Energy Administration")
    ('节能减排', 'National Energy Administration')
    >>> caption("云岭省节约能源条例").split(" ")
    ['云岭省节', '约能源条', '\u2002\u2002\u2002例\u2002\u2002\u2002']
    """
    words = name.split()
    if len(words) > 1 and all(_width(word) <= 2 * _WIDTH for word in words):
        return " ".join(words)
    return _drawn(_pieces("".join(words)))


def document_caption(title: str, places: Sequence[str]) -> str:
    r"""Return how a document is drawn: the place on the first line, below it what it is about.

    A circle has room for twelve characters besides the place, so words that most titles have (the
    issuer, 关于, 印发, 的通知, quotation marks) are left out.

    Args:
        title: Its title.
        places: That it is about, as its title names them; the first is drawn.

    >>> document_caption("云岭省人民政府关于印发云岭省碳达峰实施方案的通知", ["云岭"]).split(" ")
    ['\u2002云岭省\u2002', '碳达峰实', '\u2002施方案\u2002']
    >>> document_caption("关于印发节能规划的通知", []).split(" ")
    ['节能规划']
    """
    place = _spelled(places[0], title) if places else ""
    subject = _MARKS.sub("", titles_within(title)[-1])
    subject = _LEADING.sub("", subject) or subject
    if places:
        subject = re.sub(f"^{re.escape(places[0])}{_SUFFIX}?", "", subject) or subject
    subject = _LEADING.sub("", subject) or subject
    return _drawn([*([_filled(place[:_WIDTH])] if place else []), *_pieces(subject)])


def target_caption(indicator: str, stated: str, said: Qualifiers) -> str:
    r"""Return how a target is drawn: the indicator, its value, then the year and whether reached.

    Parts are on lines of their own, so that a value is never broken; the text can be read in a
    table as well.

    Args:
        indicator: As the document calls it.
        stated: The statement, used if there is no number.
        said: Value, year and status.

    >>> target_caption("森林覆盖率", "24%以上", Qualifiers(
    ...     "target", value="24", unit="%", comparator=">=", year="2025", standing="planned")
    ... ).replace("\u2002", " ")
    '森林覆盖率 ≥ 24 % （2025年，规划）'
    """
    value = _value(said) or "".join(stated.split())
    pieces = _pieces("".join(indicator.split()), _TARGET_WIDTH)
    if len(pieces) > _TARGET_LINES:
        pieces = [*pieces[: _TARGET_LINES - 1], pieces[_TARGET_LINES - 1][:-1] + "…"]
    if _width(value) > _TARGET_WIDTH + 3:
        value = _pieces(value, _TARGET_WIDTH + 2)[0] + "…"
    year = f"{said.year}年" if said.year else said.period
    when = "，".join(filter(None, (year, _STANDINGS.get(said.standing, ""))))
    parts = [*pieces, value, f"（{when}）" if when else ""]
    return " ".join(filter(None, parts))


def _value(said: Qualifiers) -> str:
    """Return a value with its sign and unit; empty for none."""
    if not said.value:
        return ""
    numbers = f"{_counted(said.value)}–{_counted(said.value_to)}" if said.value_to else ""
    sign = _SIGNS.get(said.comparator, "") + _SIGNS.get(said.bound, "")
    return _EN_SPACE.join(filter(None, (sign, numbers or _counted(said.value), said.unit)))


def _counted(number: str) -> str:
    """Return a large number in 万 or 亿, as texts write it.

    >>> _counted("40000000"), _counted("0.75"), _counted("12500")
    ('4000万', '0.75', '1.25万')
    """
    for word, size in (("亿", 8), ("万", 4)):
        if _WHOLE.fullmatch(number) and len(number) > size:
            short = f"{Decimal(number).scaleb(-size):f}".rstrip("0").rstrip(".")
            return short + word
    return number


def _spelled(place: str, title: str) -> str:
    """Return a place as a title writes it, with its suffix if that fits on a line."""
    found = re.search(re.escape(place) + _SUFFIX, title)
    return found.group() if found and _width(found.group()) <= _WIDTH else place


def _pieces(text: str, width: int = _WIDTH) -> list[str]:
    pieces, used = [""], 0.0
    for character in text:
        used += _width(character)
        if used > width:
            pieces.append("")
            used = _width(character)
        pieces[-1] += character
    return pieces


def _drawn(pieces: list[str]) -> str:
    if len(pieces) > _LINES:
        pieces = [*pieces[: _LINES - 1], pieces[_LINES - 1][:-1] + "…"]
    if len(pieces) > 1:
        pieces = [*pieces[:-1], _filled(pieces[-1])]
    return " ".join(pieces)


def _filled(piece: str) -> str:
    blank = _EN_SPACE * int(_WIDTH - _width(piece))
    return f"{blank}{piece}{blank}"


def _width(text: str) -> float:
    return sum(1.0 if east_asian_width(c) in "WFA" else 0.5 for c in text)
