"""Which place a target is of, where its words tell: the whole, 全省, or a part, 临港新片区."""

import re
from collections.abc import Sequence

from kgrag.ingestion.rules.prose import Passage
from kgrag.ingestion.statements.target_statement import Statement
from kgrag.language.leading_region import leading_area, leading_region
from kgrag.language.places import names_place
from kgrag.language.regions import regions_named
from kgrag.text.numbering import without_numbering
from kgrag.text.vocabulary import FIVE_YEAR_PLAN

_PLACE = re.compile(
    r"(?![占全本我各沿环跨外]|设区|地级|县级|改造|新建|建设|完善|扩建)[一-鿿]{2,4}?"
    r"(?:自治[区州县]|[省市州](?![考控级属管界际内外域]))(?<!级市)"
)
_TIME = (
    r"(?:[到至在]?\d{4}年[底末]?前?"
    rf"|[“\"]?{FIVE_YEAR_PLAN}[”\"]?(?:时期|期间|期?末)?)"
)
_WHOLE = r"全国|我国|[我本全](?:自治区|[省市县区州盟旗])"
# The time may stand between: 全国2025年…比重.
_RIGHT_BEFORE = re.compile(rf"({_WHOLE})的?{_TIME}?的?$")
# Where a clause, or a heading behind its number, begins to say of which place it is.
_BEGINS = re.compile(
    rf"(?:^|[,，;；:：])(?:其中,?)?(?:{_TIME},?)?(?:在|(?:大力|积极|全力)?(?:推动|支持|推进|指导|鼓励))?"
)
_TITLE = re.compile(
    r"(?:^(?:关于)?(?:印发)?《?|印发《?|《)(?=[^。，,\n]{0,100}(?:[》\n]|$))", re.MULTILINE
)
_HEAD = 100  # characters that hold a title
_REACH = 400  # characters of a sentence before an indicator
_OTHERS = re.compile("[、和与及等]")
# 临港新片区管委会, 临港新片区以外: no place.
_GOES_ON = re.compile(
    r"[至以—-]|[级域内外属际]|[^,，;；:：]{0,8}?(?:局|委|政府|公司|集团|办公室|中心|[大中小]学|协会)"
)

_ALONE = re.compile(rf"$|[,，;；:：的]|{_TIME}|力争|争取|确保|实现|要|将|率先")


def told_place(indicator: str) -> tuple[str, str]:
    """Return (place, indicator) of an indicator that begins with the name of a place.

    >>> told_place("云岭省森林覆盖率"), told_place("临港新片区光伏装机容量")
    (('云岭省', '森林覆盖率'), ('临港新片区', '光伏装机容量'))
    """
    match = _PLACE.match(indicator)
    place, end = (match[0], match.end()) if match and names_place(match[0]) else ("", 0)
    if not end:
        place, end = leading_area(indicator)
    rest = indicator[end:].removeprefix("的")
    if end and len(rest) > 2 and not (_OTHERS.match(rest) or _GOES_ON.match(rest)):
        return place, rest
    return "", indicator


def titled_area(text: str) -> str:
    """Return the area that no list holds and a document's title begins with; empty for none.

    >>> titled_area("关于印发《上海市临港新片区节能方案》的通知")
    '临港新片区'
    """
    heads = (leading_area(text[match.end() :])[0] for match in _TITLE.finditer(text, 0, _HEAD))
    return next(filter(None, heads), "")


def place_around(passage: Passage, statement: Statement, titled: str = "") -> str:
    """Return the place that a statement's sentence or what stands above it tells; empty for none.

    The word for a whole right before the indicator; the last place that the sentence or a clause
    of it before begins with; that of the innermost heading that begins with one; that of the title.
    """
    start, end = statement.clause
    at = max(passage.text.find(statement.indicator, start, end), start)
    if match := _RIGHT_BEFORE.search(passage.text[start:at]):
        return match[1]
    if place_at(statement.indicator) is not None:
        return ""  # several places, or one that is told by the indicator's name
    said = passage.text[passage.text.rfind("。", 0, start) + 1 : at]
    told: str | None = None
    for begins in _BEGINS.finditer(said, max(0, len(said) - _REACH)):
        place = place_at(said[begins.end() :], alone=begins.start() > 0)
        told = told if place is None else place
    return (_of_headings(passage.section) or titled) if told is None else told


def _of_headings(titles: Sequence[str]) -> str:
    """Return the place of the innermost heading that begins with one; empty for none."""
    for title in reversed(titles):
        text = without_numbering(title)
        begins = _BEGINS.match(text)
        if begins and (place := place_at(text[begins.end() :])):
            return place
    return ""


def place_at(text: str, *, alone: bool = False) -> str | None:
    """Return the city, district or area that a text begins with.

    Args:
        text: From where the place begins.
        alone: Whether that of a clause counts only where nothing is said of it in between.

    Returns:
        Its name; empty for several, or a word for the whole; None where none is told.

    >>> place_at("临港新片区到2025年"), place_at("成都市武侯区要"), place_at("成都市、绵阳市")
    ('临港新片区', '武侯区', '')
    >>> place_at("全市森林覆盖率"), place_at("森林覆盖率")
    ('', None)
    """
    if re.match(_WHOLE, text):
        return ""
    place, end = leading_area(text)
    if not end:
        names, end = leading_region(text)
        is_part = len(names) > 1 and all(map(regions_named, names)) and names_place(text[:end])
        if not is_part or not text[:end].endswith(tuple("市区县州盟旗")):
            return None
        place = names[-1]
    if _OTHERS.match(text, end):
        return ""
    if _GOES_ON.match(text, end) or (alone and not _ALONE.match(text, end)):
        return None
    return place
