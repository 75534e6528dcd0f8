"""Read who has which role out of a bracket or a line that tells who is responsible."""

import re
from dataclasses import dataclass

from kgrag.ingestion.rules.organs import is_governed, organs

LEADS, DOES, HELPS = "牵头", "负责", "配合"

# Words of a label (牵头单位：), tried in order; what none of them begins is 负责.
_LABEL_ROLES = (
    (LEADS, re.compile(r"(?:第一)?(?:牵头|主办|主责)")),
    (HELPS, re.compile(r"配合|协助|协同|协作|协办|参与|参加|支持|联合")),
)
_LABELLED = (
    r"(?:第一|主要)?(?:牵头|责任|配合|协助|协同|协作|协办|参与|参加|支持|主办|主责|实施|承办|负责|落实"
    r"|责任落实|组织实施|督导|主管)(?:责任|实施|配合|负责)?(?:单位|部门|处室|主体|机构|科室|方)"
    r"(?:及(?:分工|负责人))?"
)
LABEL = re.compile(rf"(?P<label>{_LABELLED}|(?:牵头|主办|配合|协办)(?=[：:]))[：:]")
COLUMN = re.compile(rf"{_LABELLED}|牵头|配合|责任人?|主体责任")
_TAIL = re.compile(
    r"(?P<lead>(?:[为是]|负责)?(?:共同|联合)?(?<![（(])牵头(?:单位|部门|负责|落实|组织实施|实施|抓总|推进)?)"
    r"|(?P<help>(?:[为是]|负责)?(?:积极|予以|协同|共同|按(?:照)?(?:各自)?职责(?:分工)?)?"
    r"(?:配合|协助|参与|参加)(?:单位|部门|落实|实施|负责|执行)?)"
    r"|(?P<does>(?:(?:按|按照|依|依照|依据|根据)?(?:各自|其|有关|相关)?(?:工作)?(?:职责|职能|权限)"
    r"(?:和)?(?:分工|范围)?(?:内|，|,)?|按?分工)?(?:分别|共同|具体|组织|联合|分工|协同|统筹)?"
    r"负[责贵](?:落实|实施|组织实施|推进|组织)?(?!人|同志|制)"
    r"|(?:按|按照|依|依照|依据|根据)(?:各自|其|有关|相关)?(?:工作)?职(?:责|能)(?:分工)?"
    r"(?:分别|共同|分工)?(?:落实|做好|推进|抓好|组织实施|实施|分工)(?:相关工作|落实)?)"
)
_NOTE = re.compile(r"以下均|不再(?:一一)?列出|以下任务")
_ASIDE = re.compile(
    r"[（(〈][^（）()〈〉]{0,60}(?:下同|为牵头|不再(?:一一)?列出|均需)[^（）()〈〉]{0,40}[）)〉]|[，,]下同"
)
_DEADLINE_LABEL = re.compile(
    r"[，,；;。]?(?:计划)?(?:完成|办结|时间|实施|推进|工作)(?:时限|期限|时间|时间节点|节点|要求|进度|年限)"
    r"[：:](?P<due>[^；;。）)〕】|\n]{2,30})"
)
_DUE = re.compile(
    r"(?:(?:20\d\d|当|今|明|每)年(?:第?[一二三四]季度|\d{1,2}月(?:\d{1,2}日)?|上半年|下半年)?"
    r"(?:年?底|末|中旬|上旬|下旬)?(?:之?前|以前|年内)?(?:基本|全面)?(?:完成|见效|取得.{0,4}成效))"
    r"|长期坚持|持续(?:推进|实施|开展|坚持)|长期推进"
)
_ONE_LEADS = re.compile(r"[（(](?:牵头|主办|负责牵头)(?:单位|部门)?[）)]")


@dataclass(frozen=True, slots=True)
class Roles:
    """Who has which role, and until when.

    Attributes:
        holders: (organ, role) in order of naming.
        deadline: As written; empty where it is not told.
        led: Whether the words themselves tell who leads.
        bare: Whether it is nothing but a list of organs.
    """

    holders: tuple[tuple[str, str], ...]
    deadline: str = ""
    led: bool = False
    bare: bool = False


def roles(text: str, *, default: str = "") -> Roles:
    """Return the roles that a bracket's inside or a labelled line states; none where it is other.

    Args:
        text: Without blanks, line breaks and outer brackets.
        default: The role of organs that no word gives one, as in a column's cell; without it a
            text that names no role states none, unless it is a list of nothing but organs.

    >>> roles("市工信局牵头，市财政局等按职责分工负责").holders
    (('市工信局', '牵头'), ('市财政局', '负责'))
    """
    text = _ASIDE.sub("", text)
    deadline = ""
    labelled_due = _DEADLINE_LABEL.search(text)
    if labelled_due:
        deadline = labelled_due["due"]
        text = text[: labelled_due.start()] + "；" + text[labelled_due.end() :]
    elif due := _DUE.search(text):
        deadline = due[0]
        text = text[: due.start()] + "；" + text[due.end() :]
    text = "；".join(s for s in re.split(r"[。；;]", text) if not _NOTE.search(s))
    if _ONE_LEADS.search(text):
        default = default or DOES
    if not default and not LABEL.search(text) and not _TAIL.search(text):
        return Roles(_bare_list(text), deadline, bare=True)
    holders: list[tuple[str, str]] = []
    at, role = 0, default
    for label in LABEL.finditer(text):
        holders += _held(text[at : label.start()], role)
        at, role = label.end(), role_of_label(label["label"])
    holders += _held(text[at:], role)
    return Roles(_unique(holders), deadline, any(role == LEADS for _, role in holders))


def role_of_label(label: str) -> str:
    """Return the role that a label or a column's head gives.

    >>> role_of_label("牵头单位"), role_of_label("责任部门"), role_of_label("配合单位")
    ('牵头', '负责', '配合')
    """
    for role, pattern in _LABEL_ROLES:
        if pattern.match(label):
            return role
    return DOES


def _held(text: str, role: str) -> list[tuple[str, str]]:
    """Return the organs of a list, each with the role that stands behind it, else `role`."""
    found: list[tuple[str, str]] = []
    at = 0
    for tail in _TAIL.finditer(text):
        told = LEADS if tail["lead"] else HELPS if tail["help"] else DOES
        found += _named(text[at : tail.start()], told)
        at = tail.end()
    if at and not role:
        role = HELPS if found and found[-1][1] == LEADS else DOES
    return found + (_named(text[at:], role) if role else [])


def _named(text: str, role: str) -> list[tuple[str, str]]:
    found = []
    for name in organs(text):
        alone = _ONE_LEADS.sub("", name)
        found.append((alone, LEADS if alone != name else role))
    return found


def _bare_list(text: str) -> tuple[tuple[str, str], ...]:
    """Return the organs of a bracket that holds nothing else, as its item's 负责."""
    names = organs(text)
    parts = [p for p in re.split(r"[、，,；;]", text) if p]
    if (
        len(names) < 2 - text.endswith("等")
        or len(names) < len(parts) - 1
        or not all(map(is_governed, names))
    ):
        return ()
    return tuple((name, DOES) for name in names)


def _unique(holders: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys(holders))
