"""Read duties out of sentences: 由甲牵头、乙配合, 甲会同乙制定…, 甲负责…, 甲要…."""

import bisect
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kgrag.ingestion.rules.duty_roles import DOES, HELPS, LEADS
from kgrag.ingestion.rules.duty_tasks import lead, shortened
from kgrag.ingestion.rules.organs import is_organ, organs
from kgrag.text.grammar import Grammar
from kgrag.text.numbering import without_numbering
from kgrag.text.tagged import Tagged

_BARELY = 5  # characters of a task that says only what is done: 组织实施, 予以补发
_WHEN = ("前", "后", "时", "内", "间", "年", "底")  # ends of words for a time
_REACH = 400  # characters of a sentence around the verb
_LONGEST_SUBJECT = 160  # characters of the organs before the verb
_LED_IN = re.compile(r"^(?:【[^】]{1,20}】|[^。：（(]{0,16}[】）)](?=[省市区县国]))+")
_NO_SUBJECT = re.compile(
    r"支持|鼓励|推动|引导|指导|督促|要求|依托|通过|根据|按照|建立|完善|加强|健全|强化|落实|经(?![济信开贸])|向(?!阳)|对(?!外)|报|与|将(?!乐)"
    r"|形成|构建|打造|开展|全面|进一步|持续|深入|积极|大力|切实|结合|贵(?![州阳港南])|请|把|为|是|委托|组织(?!部)|明确|以|在|从|其|被|使|让|所有|成立|推进|发挥|提请|协调|不|未"
)
_START = re.compile(r"(?:^|[，,：:]|(?:应|须|统一|分别|具体|并|原则上)?由|委托|移交)(?=[^\s，])")
_HELPERS = re.compile(
    r"^(?:(?P<etc>[^，。]{2,120}?等(?:\d+个|多个)?(?:相关|有关|各|市级|省级|主管|行业)*(?:部门|单位))(?:和单位)?"
    r"|(?P<list>[^，。：]{1,80}?(?:部门|委员会|政府|管委会|办公室|中心|机构|公司|银行|厅(?!长)|局(?![长部面])"
    r"|委(?![员托办会])|(?<![全内])部(?![署分门长委])|办(?![理法公事好])|处(?![理置罚于长])|(?<!国务)院(?![长校所])|[监协学]会)(?:[在驻].机构)?)(?:[（(][^（）()]{1,16}[）)])?"
    r"(?:等)?(?:(?:相关|有关|各|市级|省级|主管)*(?:部门和单位|部门|单位))?)(?=(?P<task>.*))"
)
_NEXT = re.compile(
    r"^[，,、]?(?:并)?(?P<list>[^，,。；]{2,120}?)"
    r"(?P<role>(?:积极|协同|共同)?(?:配合|参与|协助)|按(?:照)?(?:各自)?职责分工(?:负责|落实)?|分工负责)"
    r"(?:[，,]|$|(?=.))"
)
_NOT_ORGAN = re.compile(
    r"^(?:政府|党委|部门)$|由|委托|已有|应有|牵头|参与|主办|承办|(?:(?<!设)区|[^区])的.{3}|(?<!派出)(?<!监管)(?<!管理)(?<![在驻].)机构$|单位$|企业|应当|要求"
)
_NOBODY = re.compile(
    r"(?:有关|相关|各|其他|市级|省级|区级|主管|行业)+(?:部门|单位|机构|方面)(?:[、和与及]?(?:有关|相关)?(?:部门|单位|机构|地方))*"
)
_WORDS_OF_DOING = re.compile(r"负责|落实|完成|同志|编制了|制定了")
_AS = re.compile(r"(?P<organ>[^，：]{3,30}?)(?:作为|是|为)[^，]{2,40}(?:，[^，]{0,12})?$")
# What an organ does in a clause before the one that is read.
_DOES_MORE = re.compile(
    r"(?P<organ>[^，]{3,60}?)(?:应当|应|要|将|负责|具体)?"
    r"(?:(?:统筹|指导|定期|提出|编制|制定|发布|归口|承担|组织|设在|设于|作为|牵头|依法|对|结合|根据|按照?)[^：]{0,160}，"
    r"|，)(?:并且?|同时|以及)?(?:具体|统一|共同|主要|分别|依法)?"
)
_ANSWERABLE = re.compile(
    r"(?P<organ>[^。：]{3,80}?)(?:应当|应该|应|要|须)?(?:对|为)(?P<what>[^。：，]{2,60})"
)
_LEADING = re.compile(
    r"(?:在[^，]{2,20}(?:下|中)，)?(?:切实|充分)?(?:发挥|履行|做好)?(?:[^，]{0,6})?牵头"
)
_DONE = re.compile(r"[^，。]{0,6}了|现予?(?:印发|发布|公布)")  # a report, no duty
_GLUED = re.compile(r"^(?:负责|实施|组织|抓总)?(?:，|,)?")
_EXPLAINED = re.compile(r"(?P<what>本[^\s，。由]{1,6}).{0,8}由")
# A scan has . for 。; between digits it is a decimal point.
_SENTENCE = re.compile(r"(?:[^。；;！!？?\n.]|\.(?![一-鿿（(\n]))+")
_DUE = re.compile(
    r"(?:每年|20\d\d年|当年|次年|本?年)?(?:\d{1,2}月(?:\d{1,2}日|底|末|中旬|上旬|下旬)?|底|末)(?:之?前|以前)"
    r"|长期坚持|持续推进"
)
# Where the next organ's duty begins.
_OTHERS = re.compile(
    r"[，,](?=[^，,]{1,40}(?:部门|委员会|政府|管委会|中心|局|厅|委|部|办|处|院)[^，,]{0,8}(?:负责|牵头|配合|应当|要))"
)
_BARE = re.compile(r"(?P<what>实施|编制|制定|制订|开展)(?:[，,]|$)")
_DOES_BY = re.compile(r"(?P<lead>牵头(?!单位|部门))|配合|协助")
_BY_WHAT = re.compile(
    r"^(?:依据|根据|按照?|依照|结合)[^，]{1,150}"
    r"(?:[要需]求|规定|需要|部署|情况|实际|精神|分工|职责|程序|权限|办法|方法|标准|条件|特[点色]|体系)，(?=.{4})"
)
_STOPS = ("", "，", ",")
_HALF = frozenset("（(〔")


class _Verb(NamedTuple):
    """A word that says what an organ before it does; its kind is a group of the pattern `verb`."""

    kind: str
    start: int
    end: int


class _Sentence:
    """A sentence with its verbs.

    Attributes:
        text: As it stands.
        verbs: In order.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._read = tagged(text)
        self.verbs = [
            _Verb(match.lastgroup or "", self._read.at[match.start()], self._read.at[match.end()])
            for match in grammar().pattern("verb").finditer(self._read.code)
        ]

    def before(self, start: int, end: int) -> str:
        """Return the words between two offsets, without those at their end that only say how."""
        last = bisect.bisect_left(self._read.at, end)
        modals = grammar().pattern("modals").search(self._read.code[:last])
        return self.text[start : max(start, self._read.at[modals.start()] if modals else end)]


@functools.cache
def grammar() -> Grammar:
    """Return the grammar of duties in sentences."""
    return Grammar.load("kgrag.ingestion.statements", "duties.toml")


def tagged(text: str) -> Tagged:
    """Return a sentence with its words as spans."""
    return grammar().tagged(text)


@dataclass(frozen=True, slots=True)
class Stated:
    """Who has which role in what, between two offsets."""

    holders: tuple[tuple[str, str], ...]
    task: str
    start: int
    end: int
    deadline: str = ""


def stated(text: str, taken: list[tuple[int, int]]) -> Iterator[Stated]:
    """Yield the duties that sentences state, in text order.

    Args:
        text: Paragraphs, each on a line, without blanks.
        taken: Spans, in order, that other rules read already.
    """
    i = 0
    for sentence in _SENTENCE.finditer(text):
        while i < len(taken) and taken[i][1] <= sentence.start():
            i += 1
        at, end = sentence.span()
        while i < len(taken) and taken[i][0] < end:  # around what is read already
            yield from _of_sentence(text, at, max(at, taken[i][0]))
            at = min(end, taken[i][1])
            if taken[i][1] > end:
                break
            i += 1
        yield from _of_sentence(text, at, end)


def _of_sentence(text: str, start: int, end: int) -> Iterator[Stated]:
    sentence = _Sentence(text[start:end])
    due = _DUE.search(sentence.text)
    deadline = due[0] if due else ""
    at = 0
    for opening in _START.finditer(sentence.text) if sentence.verbs else ():
        if opening.end() < at:
            continue
        read = _at(sentence, opening.end(), is_by=opening.group().endswith("由"))
        if read is None:
            continue
        holders, task, at = read
        task = _whole(task, sentence, opening.start())
        if holders and len(task) > 1:
            yield Stated(tuple(dict.fromkeys(holders)), task, start, end, deadline)


def _whole(task: str, sentence: _Sentence, end: int) -> str:
    """Return a task with what its sentence says up to `end`, where it is only what is done.

    >>> _whole("组织实施", _Sentence("对登记未完成的，由甲牵头组织实施"), 7)
    '对登记未完成的，组织实施'
    """
    before = _before(sentence.text, end)
    is_done = 0 < len(task) <= _BARELY and f"对{task}" not in sentence.text
    if not (before and is_done) or before[:2] in task or before.endswith(_WHEN):
        return task or before
    of_another = sentence.verbs[0].end <= end or sentence.text.startswith(("委托", "移交"), end)
    return task if of_another else shortened(f"{before}，{task}")


def _at(
    sentence: _Sentence, start: int, *, is_by: bool
) -> tuple[list[tuple[str, str]], str, int] | None:
    """Return (holders, task, where to go on) of a subject that begins at `start`."""
    text = sentence.text
    begin = text[start : start + 40]
    start += len(begin) - len(_LED_IN.sub("", without_numbering(begin, ""), count=1))
    for verb in sentence.verbs:
        near = start <= verb.start and verb.end <= start + _LONGEST_SUBJECT
        if not near or (verb.kind == "by" and not is_by):
            continue
        before = text[start : verb.start]
        is_answer = verb.kind == "does" and text[verb.end : verb.end + 1] in _STOPS
        if verb.kind == "whole" or is_answer:
            told = _wholly(before, verb)
            if told or verb.kind == "whole":
                return told
        subject = _introduced(sentence.before(start, verb.start))
        first = _first_doer(before) if verb.kind in ("lead", "does", "joins") else ""
        if "，" in subject and not first and not _is_list(subject):
            return None
        names = _subjects(first or subject)
        if names:
            return _read(text, verb, names)
    return None


def _first_doer(before: str) -> str:
    """Return who does one thing and, behind a comma, more: 甲 of 甲统筹…，具体 and 甲设在乙，."""
    cut = _DOES_MORE.fullmatch(before)
    return cut["organ"] if cut and _subjects(cut["organ"]) else ""


def _wholly(before: str, verb: _Verb) -> tuple[list[tuple[str, str]], str, int] | None:
    """Return who is answerable for what in 甲对乙负总责."""
    told = _ANSWERABLE.fullmatch(before)
    organ = _introduced(told["organ"].rstrip("，")) if told else ""
    names = _subjects(organ) if organ and "，" not in organ else []
    return (
        ([(n, DOES) for n in names], shortened(told["what"]), verb.end) if told and names else None
    )


def _is_list(subject: str) -> bool:
    return all(is_organ(p) for p in re.split("[，、]", subject) if p)


def _subjects(subject: str) -> list[str]:
    """Return the organs that words before a verb are; none where they are more than organs."""
    if len(subject) < 3 or _NO_SUBJECT.match(subject) or _WORDS_OF_DOING.search(subject):
        return []
    names = organs(subject)
    return names if all(map(_is_subject, names)) else []


def _is_subject(name: str) -> bool:
    return is_organ(name) and not _NOT_ORGAN.search(name) and not _NO_SUBJECT.match(name)


def _introduced(subject: str) -> str:
    """Return the organ of 甲作为主管部门，负责…; the words themselves where it is not so said."""
    role = _AS.match(subject)
    return role["organ"] if role else subject


def _read(sentence: str, verb: _Verb, names: list[str]) -> tuple[list[tuple[str, str]], str, int]:
    rest = sentence[verb.end : verb.end + _REACH]
    if verb.kind == "joins":
        return _joined(sentence, verb, names)
    if verb.kind == "lead":
        holders = [(name, LEADS) for name in names]
        rest = rest[_GLUED.match(rest).end() :]  # type: ignore[union-attr]  # it matches nothing, too
        if rest.startswith("会同"):
            helpers, rest = _helpers(rest[2:])
            return holders + helpers, shortened(rest), len(sentence)
        following = _NEXT.match(rest)
        helping = organs(following["list"]) if following else []
        if following and helping and all(map(_is_subject, helping)):
            role = DOES if "职责" in following["role"] or "分工" in following["role"] else HELPS
            holders += [(name, role) for name in helping]
            rest = rest[following.end() :]
        return holders, _task(rest), len(sentence)
    role = HELPS if verb.kind == "help" else DOES
    if verb.kind == "does" and (more := _DOES_BY.match(rest)):  # 负责牵头, 负责配合
        role = LEADS if more["lead"] else HELPS
        rest = rest[more.end() :]
    if _DONE.match(rest):
        return [], "", verb.end
    if verb.kind == "must":
        role = LEADS if _LEADING.match(rest) else DOES
    explained = _EXPLAINED.search(sentence[:40])
    if explained and re.fullmatch(r"(?:解释|修订|修改|[和、与])+", rest):
        return [(n, role) for n in names], f"{explained['what']}的{rest}", len(sentence)
    comma = re.search("[，,]", rest)
    bare = _BARE.match(rest) if verb.kind == "by" else None
    if bare:  # 本政策由甲组织实施
        what = lead(sentence[: sentence.rfind("由", 0, verb.start)])
        rest = f"{what}的{bare['what']}" if what else ""
    return (
        [(n, role) for n in names],
        _task(rest),
        verb.end + (comma.start() if comma else len(rest)),
    )


def _joined(sentence: str, verb: _Verb, names: list[str]) -> tuple[list[tuple[str, str]], str, int]:
    helpers, rest = _helpers(sentence[verb.end : verb.end + _REACH])
    if _DONE.match(rest):
        return [], "", verb.end
    glued = re.match(r"(?:，|,)?(?:共同|联合|分别|具体)?(?:负责|牵头)?", rest)
    task = _task(rest[glued.end() :] if glued else rest)
    return [(name, LEADS) for name in names] + helpers, task, len(sentence)


def _helpers(rest: str) -> tuple[list[tuple[str, str]], str]:
    """Return the organs that 会同 adds, and what stands behind them."""
    found: list[tuple[str, str]] = []
    nobody = _NOBODY.match(rest)
    if nobody:
        return found, rest[nobody.end() :]
    match = _HELPERS.match(rest)
    while match:
        named = match["etc"] or rest[: match.end()]
        found += [(name, HELPS) for name in organs(named) if _is_subject(name)]
        rest = match["task"]
        more = re.match("[、和与及]", rest)
        listed = rest[1:] if more else ""
        match = _HELPERS.match(listed)
        rest = listed if match else rest
    return found, rest


def _task(rest: str) -> str:
    rest = _BY_WHAT.sub("", rest.strip("，,、：:"))
    others = _OTHERS.search(rest)
    rest = rest[: others.start()] if others else rest
    return "" if rest and rest[0] in _HALF else shortened(rest)


def _before(sentence: str, end: int) -> str:
    """Return what the sentence says before its organs, as their task."""
    return lead(sentence[:end]) if end <= _REACH else ""
