"""Extract duties from sentences, and organs from lists: 由甲牵头、乙配合, 甲会同乙制定…, 甲要…."""

import bisect
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kgrag.ingestion.self_names import names_nothing
from kgrag.text.due import due_clauses, due_words
from kgrag.text.grammar import Grammar
from kgrag.text.numbering import item_end, without_numbering
from kgrag.text.tagged import Tagged

_OPENING, _CLOSING = "（(〔【[〈<", "）)〕】]〉>"
_SEPARATORS = frozenset("、，,；;。")
_LONGEST_PART = 200  # characters between separators; more are no list
_MOST = 40  # characters of one organ, brackets included
# What an organ's name ends with; a bracket may stand behind it.
_SUFFIX = (
    r"委员会|办公室|办公厅|领导小组|工作组|专班|人民政府|政府|管委会|党委|党组|法院|检察院"
    r"|交易所|研究[院所]|中心|总局|分局|支局|总队|支队|大队|集团|公司|银行|[支分]行|协会|学会|监会"
    r"|联合会|总会|工会|妇联|团[市省区县]委|管理部|营管部|派出机构|机构|部门|单位"
    r"|院|(?<![全内外干东西南北中局])部|委|办|(?<![布格结])局|厅|署|处"
)
ORGAN_END = re.compile(rf"(?:{_SUFFIX})(?:[（(〔〈][^（）()〔〕〈〉]{{1,24}}[）)〕〉])?$")
_AREA_END = re.compile(
    r"(?:[省市县区州盟旗镇乡]|街道|新区|开发区|园区)(?:[（(〔〈].{1,24}[）)〕〉])?$"
)
_AREA_HEAD = re.compile(r"(?:各|相关|有关)[^，]{0,12}(?:省|市|州|盟|区|县|旗|乡|镇)$")
_SHORT = 16  # characters: parts of one name are shorter
_AREA_TAIL = re.compile(
    r"(?:自治区|直辖市|自治州|[市县区州盟旗乡镇]|街道|[（(][市县区旗、]+[）)])+"
    rf"(?:级)?(?:人民政府|政府|党委|管委会|[（(].{{0,{_SHORT}}})?.{{0,8}}$"
)
_PARTY_AND = re.compile(r"党委、(?:人民)?政府$")  # 各级党委、政府
_ETC = re.compile(
    r"等(?:\d+个|多个)?(?:省级|市级|区级|县级|相关|有关|各|省直|市直)*(?:部门|单位|机构|处室)?$"
)
_ETC_OF = re.compile(r"等(?:相关|有关|主管|行业)*(部门)$")
_HEAD = re.compile(
    r"^(?:由|请|以及|及|和|与|会同|并|各有关|[：:]|[a-z][)）]|应(?:设有|设立|建立|明确|指定))+(?=.{2})"
)
_HEAD_KEPT = re.compile(r"^各有关")
_NOT_NAME = re.compile(r"[。！？!?%％“”《》\"：:=|\n]|\d{2}|以下|不再|负责|完成|落实|授权")
# A kind of enterprise, no company of a name; what begins with 的 lost what it is said of.
_NO_ORGAN = re.compile(
    r"^的|企业$|(?:^|或|各|[相有]关)(?:物业|上市|投资|水利|保险|租赁|运营|服务|热力|燃气|供[水热电气]|第三方)+公司$"
)
# 市直有关部门, 各级各部门: nobody in particular
_NO_ORGAN_IN_PARTICULAR = re.compile(
    r"(?!各[省市县区州盟旗].{0,12}主管部门)(?:[省市区县州旗]|各|级|直|属|全|本|有关|相关|地|成员|责任|其[他它]|主管|职能|[、和的]|部门|单位|机关)*"
    r"(?:部门|单位|机关)"
)
_JOINTS = re.compile(r"以及|[和与及]")
_OWN_BODY = re.compile(r"(?:党委|政府|人民政府|管委会|其派出机构|所属.*|.{0,1})$")


def organs(text: str) -> list[str]:
    """Return the organs that a list names, in order, as written.

    Blanks are expected to be out already. 等 and what stands for nobody (有关部门) are left out;
    brackets stay with the name that they stand behind.

    >>> organs("国家发展改革委、工业和信息化部、住房和城乡建设部和各区（县、市）人民政府等")
    ['国家发展改革委', '工业和信息化部', '住房和城乡建设部', '各区（县、市）人民政府']
    """
    etc = _ETC_OF.search(text)
    parts = _with_areas(_parts(_ETC.sub("", text)))
    found = []
    for part in parts:
        for name in _at_joints(_ETC.sub("", part)):
            name = _HEAD.sub("", name) if not _HEAD_KEPT.match(name) else name
            if etc and not is_organ(name) and len(name) <= 8:
                name += etc[1]  # 由发展改革、财政等部门
            if _is_name(name):
                found.append(name)
    return list(dict.fromkeys(found))


def is_organ(name: str) -> bool:
    """Return whether a name ends as names of organs do.

    >>> is_organ("市发展改革委（市能源局）"), is_organ("大气环境处"), is_organ("绿色工厂")
    (True, True, False)
    """
    return ORGAN_END.search(name) is not None and not names_nothing(name)


def is_governed(name: str) -> bool:
    """Return whether a name is an organ, or a place as lists of organs name it (各区)."""
    return is_organ(name) or _AREA_END.search(name) is not None


def _is_name(name: str) -> bool:
    return (
        2 <= len(name) <= _MOST
        and not _NOT_NAME.search(name)
        and not _NO_ORGAN.search(name)
        and not names_nothing(name)
        and not _NO_ORGAN_IN_PARTICULAR.fullmatch(name)
        and (is_governed(name) or len(name) <= 12)
    )


def _parts(text: str) -> list[str]:
    """Return what stands between the separators that no bracket holds."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c in _OPENING:
            depth += 1
        elif c in _CLOSING:
            depth = max(0, depth - 1)
        elif c in _SEPARATORS and not depth:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [part for part in parts if 0 < len(part) <= _LONGEST_PART]


def _with_areas(parts: list[str]) -> list[str]:
    """Return the parts with 各市、县人民政府 and 各级党委、政府 as one each."""
    out: list[str] = []
    for part in parts:
        is_short = out and len(part) < _SHORT
        of_place = is_short and _AREA_HEAD.search(out[-1]) and _AREA_TAIL.match(part)
        if of_place or (is_short and _PARTY_AND.search(f"{out[-1]}、{part}")):
            out[-1] += f"、{part}"
        else:
            out.append(part)
    return out


def _at_joints(part: str) -> list[str]:
    """Return the organs that 和, 与 or 及 joins; 工业和信息化部 stays one."""
    for joint in _JOINTS.finditer(part):
        left, right = part[: joint.start()], part[joint.end() :]
        if len(left) > 1 and is_organ(left) and not _OWN_BODY.match(right):
            return [left, *_at_joints(right)]
    return [part]


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
_ASIDE = re.compile(
    r"[（(〈][^（）()〈〉]{0,60}(?:下同|为牵头|不再(?:一一)?列出|均需)[^（）()〈〉]{0,40}[）)〉]|[，,]下同"
)
_DEADLINE_LABEL = re.compile(
    r"[，,；;。]?(?:计划)?(?:完成|办结|时间|实施|推进|工作)(?:时限|期限|时间|时间节点|节点|要求|进度|年限)"
    r"[：:](?P<due>[^；;。）)〕】|\n]{2,30})"
)
_DUE_WORDS = re.compile(
    r"(?:(?:20\d\d|当|今|明|每)年(?:第?[一二三四]季度|\d{1,2}月(?:\d{1,2}日)?|上半年|下半年)?"
    r"(?:年?底|末|中旬|上旬|下旬)?(?:之?前|以前|年内)?(?:基本|全面)?(?:完成|见效|取得.{0,4}成效))"
    r"|长期坚持|持续(?:推进|实施|开展|坚持)|长期推进"
)
_ONE_LEADS = re.compile(r"[（(](?:牵头|主办|负责牵头)(?:单位|部门)?[）)]")

_LONGEST_TASK = 60  # characters
_LONGEST_DUE = 80  # characters of a clause that names a deadline
_RUN_IN = 28  # characters; a first sentence up to here, without a comma, is its paragraph's title
_ITEM_REACH = 6000  # characters before the bracket in which its item begins
_DOT = r"(?<=[一-鿿])\.(?=[一-鿿（(])"  # a scan has it for 。
_STOP = re.compile(rf"[。；;：:！!？?\n]|{_DOT}|[（(〔](?=牵头|责任|配合)")
_SENTENCE_END = re.compile(rf"[。；;！!？?\n]|{_DOT}")
_ENDS = frozenset("。！？!?）)〕】")  # of a paragraph; a line that ends otherwise goes on
_GOES_ON = frozenset("；;：")  # what ends a paragraph that a list goes on behind
_TRIM = "，,、。；;：:．. "
_WHO = re.compile(
    r"^[^，。；、]{2,24}[处局委厅部办室院](?:[（(].{1,12}[）)]处)?(?:牵头负责|负责|牵头)(?=.{4})"
)

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
_WHICH = re.compile("[一-鿿]{2}的")  # 甲会同乙规定的其他工程
_GLUED = re.compile(r"^(?:负责|实施|组织|抓总)?(?:，|,)?")
_EXPLAINED = re.compile(r"(?P<what>本[^\s，。由]{1,6}).{0,8}由")
# A scan has . for 。; between digits it is a decimal point.
_SENTENCE = re.compile(r"(?:[^。；;！!？?\n.]|\.(?![一-鿿（(\n]))+")
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


@dataclass(frozen=True, slots=True)
class Duty:
    """Roles in a task, stated by a sentence, a bracket, labelled lines or a table row."""

    start: int
    end: int
    roles: Roles
    task: str


def stated(text: str, taken: list[tuple[int, int]]) -> Iterator[Duty]:
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


def _of_sentence(text: str, start: int, end: int) -> Iterator[Duty]:
    sentence = _Sentence(text[start:end])
    at = 0
    for opening in _START.finditer(sentence.text) if sentence.verbs else ():
        if opening.end() < at:
            continue
        since = at
        read = _at(sentence, opening.end(), is_by=opening.group().endswith("由"))
        if read is None:
            continue
        holders, task, at = read
        task = _whole(task, sentence, opening.start())
        if holders and len(task) > 1:
            deadline = _one_due(f"{sentence.text[since:at]}，{task}")
            yield Duty(start, end, Roles(tuple(dict.fromkeys(holders)), deadline), task)


def _one_due(text: str) -> str:
    """Return the deadline that a text names; empty for several, of which none is sure."""
    told = list(dict.fromkeys(due_words(text)))
    return told[0] if len(told) == 1 else ""


def due_in(text: str) -> str:
    """Return the clauses of an item that name a deadline, as written; empty for none.

    >>> due_in("推进节能。2023年底前完成100家企业诊断。到2025年，能耗下降14%。")
    '2023年底前完成100家企业诊断；到2025年，能耗下降14%'
    """
    told = (_short_due(text[due.start : due.end]) for due in due_clauses(text))
    return "；".join(dict.fromkeys(told))


def _short_due(clause: str) -> str:
    """Return a clause cut at a comma, at most `_LONGEST_DUE` characters with its deadline."""
    cut = shortened(clause, most=_LONGEST_DUE)
    if due_words(cut):
        return cut
    tail = clause[-_LONGEST_DUE:]
    return tail[tail.find("，") + 1 :].strip(_TRIM)


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
        near = start <= verb.start < verb.end <= start + _LONGEST_SUBJECT
        if not near or (verb.kind == "by" and not is_by):
            continue
        before = text[start : verb.start]
        is_answer = verb.kind == "does" and text[verb.end : verb.end + 1] in _STOPS
        if verb.kind == "whole" or is_answer:
            told = _wholly(before, verb)
            if told or verb.kind == "whole":
                return told
        subject = _introduced(sentence.before(start, verb.start))
        first = _first_doer(before, verb)
        listed = filter(None, re.split("[，、]", subject))
        if "，" in subject and not first and not all(map(is_organ, listed)):
            return None
        names = _subjects(first or subject)
        if names:
            return _read(text, verb, names)
    return None


def _first_doer(before: str, verb: _Verb) -> str:
    """Return who does one thing and, behind a comma, more: 甲 of 甲统筹…，具体 and 甲设在乙，."""
    if verb.kind not in ("lead", "does", "joins"):
        return ""
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
    """Return (holders, task, where to go on) of what organs do, by the kind of their verb."""
    rest = sentence[verb.end : verb.end + _REACH]
    if verb.kind == "joins":
        return _joined(sentence, verb, names)
    if verb.kind == "lead":
        return *_led(rest, names), len(sentence)
    role = {"help": HELPS}.get(verb.kind, DOES)
    if verb.kind == "does" and (more := _DOES_BY.match(rest)):  # 负责牵头, 负责配合
        role = LEADS if more["lead"] else HELPS
        rest = rest[more.end() :]
    if _DONE.match(rest):
        return [], "", verb.end
    if verb.kind == "must":
        role = LEADS if _LEADING.match(rest) else DOES
    holders = [(name, role) for name in names]
    explained = _EXPLAINED.search(sentence[:40])
    if explained and re.fullmatch(r"(?:解释|修订|修改|[和、与])+", rest):
        return holders, f"{explained['what']}的{rest}", len(sentence)
    end = verb.end + len(re.split("[，,]", rest, maxsplit=1)[0])
    bare = _BARE.match(rest) if verb.kind == "by" else None
    if bare:  # 本政策由甲组织实施
        what = lead(sentence[: sentence.rfind("由", 0, verb.start)])
        rest = f"{what}的{bare['what']}" if what else ""
    return holders, _task(rest), end


def _led(rest: str, names: Sequence[str]) -> tuple[list[tuple[str, str]], str]:
    """Return (holders, task) where organs lead: 牵头，乙配合, 牵头会同乙."""
    holders = [(name, LEADS) for name in names]
    rest = rest[_GLUED.match(rest).end() :]  # type: ignore[union-attr]  # it matches nothing, too
    if rest.startswith("会同"):
        helpers, rest = _helpers(rest[2:])
        return holders + helpers, shortened(rest)
    following = _NEXT.match(rest)
    helping = organs(following["list"]) if following else []
    if following and helping and all(map(_is_subject, helping)):
        role = DOES if "职责" in following["role"] or "分工" in following["role"] else HELPS
        holders += [(name, role) for name in helping]
        rest = rest[following.end() :]
    return holders, _task(rest)


def _joined(sentence: str, verb: _Verb, names: list[str]) -> tuple[list[tuple[str, str]], str, int]:
    helpers, rest = _helpers(sentence[verb.end : verb.end + _REACH])
    if _DONE.match(rest) or _WHICH.match(rest):
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


def lead(text: str) -> str:
    """Return the words at the head of an item that name it, at most `_LONGEST_TASK` characters.

    >>> lead("1．推进工业节能。实施节能改造，到2025年……")
    '推进工业节能'
    """
    text = without_numbering(text.lstrip("\n"), _TRIM)
    stop = _STOP.search(text)
    text = text[: stop.start()] if stop else text
    return shortened(_WHO.sub("", text))


def shortened(text: str, *, most: int = _LONGEST_TASK) -> str:
    """Return a task cut at its last comma within `most` characters, or there."""
    text = text.strip(_TRIM)
    if len(text) <= most:
        return text
    cut = max(text.rfind("，", 8, most), text.rfind(",", 8, most))
    if text[0] == "对" and not re.search("[，,]", text[:cut]):  # 对成效明显的市、县，给予…
        cut = most
    return text[: cut if cut > 0 else most].strip(_TRIM)


def item_before(
    text: str, start: int, since: int, headings: Sequence[tuple[int, int]]
) -> tuple[int, str]:
    """Return where the item begins that what stands at `start` closes, and its lead: the task.

    That is a title run into the paragraph, the beginning of the item where that goes on over
    several, else the nearest heading behind the last bracket, else the first sentence behind it.

    Args:
        text: Paragraphs, each on a line.
        start: Where the bracket or label begins.
        since: Where the last one ended, 0 for the first.
        headings: Where headings begin and end, in order.
    """
    since = max(since, start - _ITEM_REACH)
    since = start - len(text[since:start].lstrip(_TRIM + "\n）)〕】"))
    end = since + len(text[since:start].rstrip(_TRIM + "\n"))
    opens = max(text.rfind("\n", since, end) + 1, since)
    last = bisect.bisect_left(headings, (end, 0)) - 1
    under = last >= 0 and headings[last][1] >= opens - 1  # a heading right above
    is_whole = under or opens == since or text[opens - 2] in _ENDS
    run_in = _run_in_title(text[opens:end]) if is_whole else ""
    if run_in:
        return opens, run_in
    item = opens if under else _item(text, opens, since)
    if item < opens:
        first = text[item:end].partition("\n")[0]
        return item, _run_in_title(first) or lead(first)
    while last >= 0 and headings[last][0] >= since:
        if named := lead(text[headings[last][0] : headings[last][1]]):
            return headings[last][1], named
        last -= 1
    first = lead(text[opens:end])
    return (opens, first) if len(first) > 3 else (since, lead(text[since:end]))


def _item(text: str, opens: int, since: int) -> int:
    """Return where the item begins that a paragraph ends: its number may stand paragraphs before.

    Points of a list go up to the line that leads them in with a colon; where none does, and where
    no paragraph has a number, it is the paragraph itself.
    """
    at, is_list = opens, False
    while at > since:
        is_marked, before = item_end(text, at) > at, text[at - 2 : at - 1]
        if is_marked and (before not in _GOES_ON or (at == opens and before == "：")):
            break  # the first point of a list has its own bracket
        is_list = before != "：" and (is_list or is_marked)
        at = max(text.rfind("\n", since, at - 1) + 1, since)
    return at if item_end(text, at) > at and not is_list else opens


def _run_in_title(paragraph: str) -> str:
    """Return the title that a paragraph begins with (加强监测。…); empty where it has none."""
    stop = _SENTENCE_END.search(paragraph)
    if not stop or stop.end() == len(paragraph):
        return ""
    title = lead(paragraph[: stop.end()])
    plain = len(title) <= _RUN_IN and "，" not in title and not re.search(r"\d", title)
    return title if plain and len(title) >= 4 else ""


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
    elif due := _DUE_WORDS.search(text):
        deadline = due[0]
        text = text[: due.start()] + "；" + text[due.end() :]
    text = "；".join(re.split(r"[。；;]", text))
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
    return Roles(tuple(dict.fromkeys(holders)), deadline, any(role == LEADS for _, role in holders))


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
