"""Extraction of issuers: signature, red head, title, order, page, text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgrag.ingestion.metadata.dates import DAY, MONTH
from kgrag.ingestion.metadata.issuing_organs import is_organ_name, split_organs
from kgrag.ingestion.metadata.lines import HEAD, DocumentLines
from kgrag.text.leading_region import leading_region
from kgrag.text.numerals import HAN_SMALL
from kgrag.text.organs import is_bare_organ, is_central_organ
from kgrag.text.page_labels import ORGAN_LABELS
from kgrag.text.vocabulary import DOCUMENT_KINDS

_MOST_LINES = 40  # that a signature fills
_DATE_END = re.compile(rf"(?P<who>[^。；：《》]{{0,200}}?){DAY}")
_DATED = re.compile(rf"[（(]?{DAY}[）)]?[。]?(?:[（(](?:此件|本文).*)?$")
_DATED_MONTH = re.compile(rf"[（(]?(?P<who>[^。；：《》（(]{{4,160}}?){MONTH}[）)]?")
_TITLE_HEAD = re.compile(r"^(?P<who>[^《》“”]{2,160}?)(?:关于|贯彻|落实|印发|转发|发布|公布)")
_ETC = re.compile(rf"等(?:[\d{HAN_SMALL}]{{0,3}}(?:个?部门|单位|部委|局|委))$")
_AND_OTHERS = re.compile(rf"等[\d{HAN_SMALL}]{{0,3}}(?:个?部门|单位|部委|局|委).{{0,6}}关于")
_RED_HEAD = re.compile(r"^(?P<who>[^，。：《》]{2,120}?)文件(?:$|(?=[一-鿿]{1,12}[〔\[﹝]))")
_ORDER = re.compile(
    r"^[^，。《》]{0,30}?(?P<who>[一-鿿]{2,30}?)(?:令|公告)(?:$|[（(]?(?:第|\d{4}年第))"
)
_BOX = re.compile(
    rf"(?:{'|'.join(ORGAN_LABELS)})[】\]]?[:：]?(?P<who>[一-鿿、，]{{2,80}}?)"
    r"(?=$|成文|发布|发文|文号|索引|主题|有效|体裁|分类|生成|实施|时效|效力)"
)
_SOURCE = re.compile(r"(?:信息来源|来源)[:：](?P<who>[一-鿿]{3,30}?)(?=$|发布|浏览|作者|时间|编辑)")
_PREPARED = re.compile(
    r"(?:^|[，。；])(?P<who>[^，。；：《》]{3,80}?)(?:联合|共同|组织|会同有关部门)*(?:编制|制定|研究制定|起草|拟定|印发|出台)(?:了|并印发)?《"
)
_EXPLAINED = re.compile(
    rf"本(?:{DOCUMENT_KINDS})[^，。；]{{0,6}}由(?P<who>[^，。；]{{3,60}}?)(?:会同[^，。；]{{0,60}}?)?负责(?:具体)?解释"
)
_PRINTED = re.compile(rf"(?P<who>[一-鿿]{{4,40}}){DAY}印发")
# A date whose year is lost, or part of it.
_LOST_YEAR = re.compile(r"(?:[12〇○]\S{0,3})?年\d{1,2}月\d{1,2}日")
# What ends a paragraph: …抓好落实。云岭省能源局2022年3月5日
# or the name of a file that is attached.
_BEHIND_SENTENCE = re.compile(
    r"[。！](?=[^。！；，：《》]{6,120}$)|^.*\.(?:docx?|xlsx?|pdf|rar|zip|wps|ofd)(?=[^。：《》]{6,400}$)"
)
_ENDS_TEXT = re.compile(r"[。：；:]$")
_WRAPPED = 10  # characters; a shorter line was not broken by the width of a page
_OWN_LEVEL = re.compile(r"自治区|[省市县区州盟旗](?!场|政)")
_MOST_BROKEN = 8  # lines that belong together
_FOR = re.compile(r"[（(].{2,20}代章[）)]?|[（(](?:盖章|公章|章)[）)]")
# 2020年11月5日由云岭部部务会议审议通过, 已由…第三次会议通过, 经市政府第17次常务会议审议通过
_ADOPTED = re.compile(
    r"(?:(?:19|20)\d\d年\d{1,2}月\d{1,2}日由?|已由|经)(?P<who>[一-鿿]{3,40}?)"
    r"(?:第[一-鿿\d]{1,6}次)?"
    r"(?:[部局厅委署行院]务|常务|(?:主任|局长|行长)办公)?会议"
    r"(?:(?:修订|于(?:19|20)\d\d年\d{1,2}月\d{1,2}日|审议|讨论|研究)*通过)"
)


@dataclass(frozen=True, slots=True)
class Issuers:
    """Issuers of a document.

    Attributes:
        names: As worded, in order; empty if unknown.
        inferred: Whether only a clause at its end suggests them (本办法由…负责解释).
    """

    names: tuple[str, ...]
    inferred: bool = False


def read_issuers(document: DocumentLines, title: str) -> Issuers:
    r"""Return who issued a document, as it words them.

    The signature, the red head, or what stands before 关于 in the title and on lines around it,
    whichever names most organs, in this order; else an order's head or whose meeting adopted it,
    the box of a page, who prepared it; else, inferred, who explains it or whose office printed it.

    Args:
        document: Its lines.
        title: Of the document, or of the notice that covers it.

    >>> from kgrag.ingestion.metadata.lines import read_lines
    >>> read_issuers(read_lines("省财政厅省能源局\n关于节能的通知\n正文。\n云岭省财政厅\n"
    ...                         "云岭省能源局\n2022年3月5日"), "关于节能的通知").names
    ('云岭省财政厅', '云岭省能源局')
    """
    lines = document.lines
    signed = _signature(lines) or _of_month(lines) or _undated(lines)
    named = _of_title(title) or _beside_title(document, title)
    red = _red_head(document)
    best = max(signed, red, named, key=_n_placed)
    box = _of_box(document)
    if _AND_OTHERS.search(title) and len(box) > len(best) == 1:
        best = box
    for found in (best, _of_order(document), box):
        if found:
            return Issuers(tuple(dict.fromkeys(found)))
    if found := _prepared(document):
        return Issuers(tuple(found))
    return Issuers(tuple(_explained(document) or _printed(document)), inferred=True)


def _n_placed(organs: Sequence[str]) -> int:
    """Return the number of organs with a place; a signature in columns loses places."""
    placed = (_is_placed(organ) for organ in organs)
    return sum(map(bool, placed)) + bool(organs)


def _is_placed(organ: str) -> bool:
    return is_bare_organ(organ) or _names_place(organ)


def _names_place(organ: str) -> bool:
    """Return whether a name begins with a place or a central organ."""
    return bool(leading_region(organ)[0]) or any(
        is_central_organ(organ[:end]) for end in range(2, len(organ) + 1)
    )


def _signature(lines: Sequence[str]) -> list[str]:
    """Return the organs above a date, or before one on the same line; the first found."""
    for i, whole in enumerate(lines):
        line = _BEHIND_SENTENCE.split(whole)[-1]
        if len(line) > 600:
            continue
        if _LOST_YEAR.fullmatch(line) and (above := _above(lines, i)):
            return above
        for match in _dates_of(line, i):
            before = _FOR.sub("", match["who"]).strip("（(，,")
            found, first = _broken(lines, i, before) if before and line == whole else ([], i)
            found = found or (split_organs(before) if before else [])
            if found or not before:
                above = _above(lines, first) if line == whole else []
                if found or above:
                    return [*above, *found]
    return []


def _of_month(lines: Sequence[str]) -> list[str]:
    """Return the organs before a month below the title: （云岭省能源局2021年10月）."""
    for line in lines[:10]:
        match = _DATED_MONTH.fullmatch(line)
        if match and (found := split_organs(match["who"])):
            return found
    return []


def _undated(lines: Sequence[str]) -> list[str]:
    """Return the organs on the last lines if their date is missing; at least two lines."""
    found = _above([*lines[-_MOST_LINES:], ""], min(len(lines), _MOST_LINES))
    return found if len(found) > 1 and not any(map(is_bare_organ, found)) else []


def _dates_of(line: str, i: int) -> Iterator[re.Match[str]]:
    """Yield dates that may end a signature: on their own line, or after its last organ."""
    match = _DATE_END.match(line)
    if not match:
        return
    rest = line[match.end() :]
    if re.match(r"印发|[发公颁]布|[\d:：]|起|前|至|以|召|审|来源|第", rest):
        return
    if match["who"].strip("（(") or _DATED.match(line) or (rest and i < HEAD):
        yield match


def _above(lines: Sequence[str], i: int) -> list[str]:
    found: list[list[str]] = []
    first = max(i - _MOST_LINES, 0)
    at = i - 1
    while at >= first and not _ENDS_TEXT.search(lines[at]) and len(lines[at]) <= 200:
        line = _FOR.sub("", lines[at])
        organs = split_organs(line)
        joined, begin = _broken(lines, at, line)
        if joined:
            organs, at = joined, begin
        elif not organs and line:
            break
        found.insert(0, organs)
        at -= 1
    return [organ for organs in found for organ in organs]


def _broken(lines: Sequence[str], at: int, rest: str) -> tuple[list[str], int]:
    """Return the organs of lines broken within names, and the first of these lines.

    Args:
        lines: All.
        at: The last of them.
        rest: Its part of the organs.
    """
    found, first = ([], at)
    organs = split_organs(rest)
    for above in range(at - 1, max(at - _MOST_BROKEN, 0) - 1, -1):
        if organs and (_OWN_LEVEL.match(organs[0]) or _names_place(organs[0])):
            break  # nothing of its name is missing
        line = lines[above]
        if len(line) < _WRAPPED or _ENDS_TEXT.search(line) or split_organs(line):
            break
        rest = line + rest
        if organs := split_organs(rest):
            found, first = organs, above
    return found, first


def _of_title(title: str) -> list[str]:
    match = _TITLE_HEAD.match(title)
    if match:
        who = _ETC.sub("", match["who"].strip("，、 "))
        return split_organs(who)
    place, end = leading_region(title)
    if place:
        organ = re.match(
            r"[一-鿿]{2,14}?(?:厅|局|委员会|委)(?=\d{4}|支持|落实|贯彻|促进|推动|推进)", title[end:]
        )
        if organ and is_organ_name(title[:end] + organ[0]):
            return [title[:end] + organ[0]]
    bare = re.match(r"[省市][一-鿿]{2,12}?(?:厅|局|委|政府)(?=\d{4}|支持|落实|贯彻)", title)
    return [bare[0]] if bare else []


def _beside_title(document: DocumentLines, title: str) -> list[str]:
    """Return the organs on their own lines in the head, above the first sentence."""
    found: list[str] = []
    last = document.addressees if document.addressees >= 0 else HEAD
    for line in document.lines[: min(last, 14)]:
        if "。" in line or len(line) > 200:
            break
        organs = split_organs(line)
        if organs:
            found.extend(organs)
        elif found and line[:6] not in title:
            break
    return list(dict.fromkeys(found))


def _red_head(document: DocumentLines) -> list[str]:
    """Return the organs before 文件; of several, 文件 is next to any of their lines."""
    found: list[str] = []
    marked = False
    for line in document.lines[:10]:
        match = _RED_HEAD.match(line)
        organs = split_organs(match["who"] if match else line)
        marked = marked or bool(match and organs) or line == "文件"
        if not organs and line != "文件":
            break
        found.extend(organs)
    return found if marked else []


def _of_order(document: DocumentLines) -> list[str]:
    for line in document.lines[:10]:
        match = _ORDER.match(line)
        if match and "《" not in line:
            who = re.split(r"[日（(]", match["who"])[-1].removeprefix("中华人民共和国")
            if found := split_organs(who):
                return found
    published = re.search(
        rf"{DAY}(?P<who>[一-鿿]{{3,20}}?)(?:令.{{0,12}})?(?:发布|公布)",
        "\n".join(document.lines[:10]),
    )
    if published and (found := split_organs(published["who"].removeprefix("中华人民共和国"))):
        return found
    adopted = _ADOPTED.search("".join(document.lines[:10]))
    if adopted:
        who = re.sub(r"第[一-鿿\d]{1,4}届|中华人民共和国", "", adopted["who"])
        return split_organs(who)
    return []


def _printed(document: DocumentLines) -> list[str]:
    """Return the organ whose office printed it (云岭省人民政府办公厅2022年3月5日印发)."""
    for line in reversed(document.lines[-40:]):
        match = _PRINTED.search(line) if len(line) < 200 else None
        if match and (found := split_organs(match["who"])):
            return found
    return []


def _of_box(document: DocumentLines) -> list[str]:
    for pattern in (_BOX, _SOURCE):
        for line in document.head:
            match = pattern.search(line) if len(line) < 300 else None
            if match and (found := split_organs(match["who"])):
                return found
    return []


def _prepared(document: DocumentLines) -> list[str]:
    for line in document.lines[:12]:
        match = _PREPARED.search(line[:600])
        if match and (found := split_organs(match["who"])):
            return found
    return []


def _explained(document: DocumentLines) -> list[str]:
    for line in reversed(document.lines[-300:]):
        match = _EXPLAINED.search(line)
        if match and (found := split_organs(match["who"])):
            return found
    return []
