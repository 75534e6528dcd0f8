"""Splitting sequences of organs, in signatures and titles."""

import functools
import re
from collections.abc import Iterator

from kgrag.text import organs
from kgrag.text.leading_region import leading_region
from kgrag.text.numerals import HAN_SMALL
from kgrag.text.organs import central_organs, is_central_organ
from kgrag.text.region_mentions import names_in

_SEPARATOR = re.compile(r"[、，,；;\s]+|(?<=[厅局委府会办部室署])[和与及]")
_END = re.compile(
    r"(?:中共中央(?=国务院)|人民政府|政府|行署|行政公署|办公[厅室]|委员会|领导小组|联席会议|指挥部|管委会?|党组|[委厅局部署院社司]|常委会?|(?<=[理金督究联])会|银行"
    rf"|[分支]行|营管部|海关|中心|公司|集团|协会|学会|总队|支队|[{HAN_SMALL}]?大队|总站|分局|人大|政协|法院|检察院|总会|总社|总工会|工会|妇联|监管局|办事处|交易所|联合社|办)"
)
_LEVELS = re.compile(
    r"(?:自治区|[省县州]|市(?!场|政工|政公|民(?!政|族|宗)))(?=[一-鿿]{0,14}?(?:厅|局|委|办|政府|中心|法院|检察院|社|会))"
)
# 中国人民银行云岭分行 is one organ, though a place begins within it.
_STARTS = ("中共", "共青团", "中国", "国网")
# 国家税务总局云岭省税务局 likewise, and whatever else the centre has in places.
_BRANCH = re.compile(
    r"[一-鿿]{2,12}?(?:[分支]行|营(?:业)?管(?:理)?部|监管(?:分)?局|监管办(?:公室)?|办事处|专员办|税务(?:分)?局|调查总?队|督察局|监察局|海事局|总部)"
)
_BRACKET = re.compile(r"[（(][^（）()]{0,30}[）)]")
_WHOLE = re.compile(
    r"[一-鿿0-9]{1,40}(?:政府|行署|行政公署|人民代表大会|办公[厅室]|委员会|领导小组|联席会议|指挥部|管委会|党组|[委厅局部署司]|常委会?|银行|[分支]行|营管部|海关|中心"
    r"|公司|集团|协会|学会|联合会|总队|支队|大队|总站|人大|政协|法院|检察院|总社|总工会|妇联|国务院|科学院|工程院|研究院|证监会|保监会|监会|办|会"
    r"|(?<=[一-鿿]{2})(?:街道办事处|大学|学院|交易所|联合社|考试院|医院))"
)
_NO_ORGAN = re.compile(
    r"^(?:关于|各|有关|相关|我|本(?!溪)|该|其|为|对|由|经(?!济|信|发)|在|按|请|将(?!乐)|把|以|与|及|附|第"
    rf"|和(?!田|平|县|林|顺|静|硕|布|龙|政)|[{HAN_SMALL}]+是)"
    r"|[的了是并须]|[厅局](?=[一-鿿]{2,}(?:厅|(?<!分)局)$)|印发|转发|规定|办法|条例|公告|细则|方案|意见|通知|制定|负责|建设$|牵头|配合|责任|单位$|部门$|关于|工作会$|(?<!代表)大会$|社会$|机会$|会议$"
    r"|\d{1,2}[月日]|第\d|^(?:管理|监督管理)?(?:局|委员会)$|^(?:办公[厅室]|人民政府|政府)$"
    r"|(?:[顶全内外东西南北中干下上底局头大]|返回.*)部$|[布格结全大开变当]局$|[主承协举督申兴创开]办$"
    r"|(?:发布|座谈|研讨|推进|现场|运动|年|博览|交流|听证|培训|展|例|动员|视频|专题|洽谈)会$"
)


@functools.cache
def _central_names() -> frozenset[str]:
    return frozenset(name for name, _ in central_organs())


@functools.cache
def _national() -> tuple[str, ...]:
    return tuple(organs.national_names())


@functools.cache
def _by_first() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name in sorted(_central_names(), key=len, reverse=True):
        found.setdefault(name[0], []).append(name)
    return {key: tuple(names) for key, names in found.items()}


def split_organs(text: str) -> list[str]:
    """Return the organs that a piece of text consists of; empty where it is anything else.

    Marks may stand between them or nothing at all; what stands in brackets is left out.

    Args:
        text: A signature, the beginning of a title, a line: at most 600 characters are read.

    >>> split_organs("云岭省财政厅云岭省生态环境厅")
    ['云岭省财政厅', '云岭省生态环境厅']
    >>> split_organs("中共四川省委四川省人民政府"), split_organs("加强组织领导")
    (['中共四川省委', '四川省人民政府'], [])
    """
    found: list[str] = []
    for piece in _SEPARATOR.split(_BRACKET.sub("", text[:600]).strip()):
        if piece:
            found.extend(_cut(piece))
    return found if found and all(map(is_organ_name, found)) else []


def is_organ_name(name: str) -> bool:
    """Return whether a text looks like the name of one organ.

    >>> [is_organ_name(n) for n in ("云岭省能源局", "工信部", "各市人民政府", "重点工作")]
    [True, True, False, False]
    """
    if is_central_organ(name):
        return True
    if not _WHOLE.fullmatch(name):
        return False
    branch = next((end for end in range(3, len(name)) if is_central_organ(name[:end])), 0)
    return not _NO_ORGAN.search(name[branch:])


def _cut(text: str) -> Iterator[str]:
    """Split pieces where an organ ends and the name of the next begins."""
    start = 0
    starts = set(_starts(text))
    for match in _END.finditer(text):
        end = match.end()
        central = match[0] in ("银行", "委员会") or is_central_organ(text[start:end])
        inner = (
            central
            and not _central_at(text, end)
            and (_BRANCH.match(text, end) or _is_seat(text, end))
        )
        # 工业和信息化部发展改革委: in a national document the second needs no 国家 before it.
        next_one = match[0] in ("部", "局", "署", "委") and text.startswith(_national(), end)
        if (end in starts or (central and next_one)) and end > start and not inner:
            yield text[start:end]
            start = end
    yield text[start:]


def _is_seat(text: str, at: int) -> bool:
    """Return whether a text is only a place and 局: 国家矿山安全监察局|山西局."""
    start, name = next(names_in(text[at : at + 6]), (1, ""))
    return start == 0 and text.startswith("局", at + len(name))


def _starts(text: str) -> Iterator[int]:
    _, end = leading_region(text)
    yield from (start for start, _ in names_in(text, known=[text[:end]] if end else []))
    yield from (m.start() for m in _LEVELS.finditer(text))
    for i in range(len(text)):
        if text.startswith(_STARTS, i) or _central_at(text, i):
            yield i


def _central_at(text: str, at: int) -> bool:
    """Return whether the name of a central organ begins at an offset."""
    return any(text.startswith(name, at) for name in _by_first().get(text[at : at + 1], ()))
