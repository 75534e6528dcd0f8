"""Read by rule what is granted to whom: 给予最高不超过20万元的一次性奖励."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kgrag.ingestion.rules.condition_parts import LONGEST, Heads, Stated, lines_of, number, unmarked
from kgrag.language.quantities import Quantity, quantities
from kgrag.qualifiers import Comparator, Qualifiers
from kgrag.text.numerals import HAN_SMALL

REWARD, AID = "奖励", "补助"
CONFIDENCE = 0.86
HEAD_CONFIDENCE = 0.75  # where only the heading says to whom
_LONGEST_SENTENCE = 1200
_GRANT = re.compile(r"奖励|奖补|补助|补贴|资助|扶持|贴息|资金匹配|资金支持|配套支持|奖金")
_GIVES = re.compile(r"给予|予以|享受|奖励|奖补|补助|补贴|资助|扶持|贴息|匹配|资金支持")
_CAP = re.compile(
    r"最高(?:额度?|金额|限额|奖励|补助|补贴|资助)?|不超过|不高于|上限|封顶|至多|最多|以内|限额"
)
_FLOOR = re.compile(r"不低于|不少于|至少")
_PER = re.compile(
    r"每(?P<per>[^\d，。；、最不按给予奖补可]{1,8})(?:最高|不超过|最多|按|给予|一次性|奖励|补助|补贴|可)*$"
)
_EACH = r"(?:(?!标准(?!煤)|[的给予补奖建按])[^\d\s，。；、（(\[［]){1,8}"  # 元/千瓦: of what
_SLASH = re.compile(rf"(?:[/／]|每)(?P<per>{_EACH})")
_THRESHOLD = re.compile(
    r"(?:\s*[（(]含[^）)]*[）)])?(?:及|\(含\))?以[上下](?!的?(?:奖励|补助|补贴|资助|资金))"
)
_OTHER = re.compile(
    r"(?:达到?|超过|不足|低于|高于|投资(?:总)?额?|投入|收入|产值|资本|贷款(?:总)?额?|下降|降低|增长|提高|提升|减少|占比?|比重|优惠|征收|利率|核减)"
    r"(?:不低于|不少于|达到?|超过|为|在|约)?$"
)
_NOT_BEYOND = re.compile(r"(?:不|未)超过$")
_PAST = re.compile(
    r"(?:累计|共|已|已经|合计|总计|全年|当年|连续三年)[^，。；]{0,10}(?:发放|补助|补贴|奖励|下达|争取|安排|拨付|落实|获得|惠及)"
    r"|(?:发放|下达|争取|拨付|兑现|获得)[^，。；]{0,14}(?:资金|补贴|奖励)[^，。；]{0,4}[\d.]+[万亿]?元"
)
_FOR = re.compile(
    rf"(?:^|[，,、；;：:）)】.．]|且|并|其中|[{HAN_SMALL}]是|资金|财政)对(?:于)?"
    r"(?P<who>[^，,。；;：:]{2,80}(?:(?<=的)[，,][或且并][^，,。；;：:]{2,60})?)"
)
_CUT = re.compile(
    r"(?:，|,)?(?:可|再|将|分别|最高|一次性|统一|另外|额外|原则上|适当|每年|年度|按|以|依据|根据|由|省级|市级|区级|县级|财政|资金){0,8}"
    r"(?:给予|予以|进行(?=[奖补资])|按照?|(?:奖励|补助|补贴)(?=\d|最高|不超过|每)|最高|每(?![年月日]))"
)
_NOBODY = re.compile(
    r"实际|该|其|此|上述|前述|以上|超出|单个|每|总额|或|且|并|同一|按(?!规定|照规定|要求)|最高|省级|市级财政|区级财政|给予|予以|\d"
)
_ELSEWHERE = re.compile(r"^(?:符合)?(?:上述|前述|以上|前款|此类|该)")
_GOES_ON = re.compile(
    r"单个|每[个家项台年]|同一|最高|(?:以上|上述)(?:扶持|补贴|奖励|资助|补助)|其中|省级|市级|国家级"
)
_BY = re.compile(r"(?:可|并)?(?:按|以\d)")
_GIVES_NEXT = re.compile(r"[^，；]{0,20}(?:给予|予以)")
_HANDS = re.compile(r"给予|予以|^按")
_COSTS = re.compile(r"(?:费用|投入|支出|部分|成本|利息)$")
_NOUN = re.compile(
    r"(?:企业|单位|机构|项目|设备|产品|技术|城市|[市区县]|人员?|者|园区|工厂|装备|平台|中心|公司|社区|组织|设施|桩|站|楼宇|建筑|小区|活动|车辆|船舶|工程)$"
)
_BETWEEN = re.compile(r"(?:[/／][^\d\s，。；、]{1,6})?(?:、|和|或)(?:每[^\d，、]{1,6})?")
_TO = re.compile(r"(?:[/／][^\d\s，。；、]{1,6})?[-—–~～至到]{1,2}")
_HELPED = re.compile(
    r"^(?:积极|大力|优先|重点)?(?:支持|鼓励|推动|引导|推进|开展|实施|构建|加快|发展)(?P<who>.{3,60})$"
)
_BEFORE = re.compile(
    r"按照?|给予|予以|最高|不超过|每|总额|单个|上限|奖励|补助|补贴|资助|安排|分别|国家级|省级|市级|区级"
)
_BEHIND = re.compile(
    rf"(?:[/／]{_EACH})?(?:的|标准|比例|左右|以内|\s)*(?:标准)?(?:给予|予以|进行)?"
    r"(?:一次性|财政|资金|省级|市级|区级|县级|建设|投运|运维|运营|贷款|配套|适当|政策|专项|最高|事后|经费|基础|创建|定额)*"
    r"(?:奖励资金|补助资金|奖励|奖补|补助|补贴|资助|扶持|贴息|资金匹配|匹配|资金支持|支持|补偿)?"
)
_AFTER = re.compile(r"经[^，]{0,12}(?:认定|评审|审核|验收|批准|核准)[^，]{0,8}$")
_CLAUSE = re.compile(r"[^，,；;]+")
_SENTENCE = re.compile(r"[^。；;\n]+")


@dataclass(frozen=True, slots=True)
class _Clause:
    start: int
    end: int
    text: str


def grants(text: str) -> Iterator[Stated]:
    """Yield (beneficiary, 奖励 or 补助, amount as worded), one for each amount, in text order.

    `value` is in yuan or percent, `unit` 元, %, or 元/千瓦; `comparator` <= for 最高 and 不超过;
    `condition` what else the sentence asks for (经认定). Thresholds (1亿元以上的企业), reported
    results and sentences that name no beneficiary are left out.

    Args:
        text: Paragraphs, each on a line, without blanks.
    """
    heads = Heads()
    for line_start, line_end in lines_of(text):
        heads.enter(text[line_start : min(line_end, line_start + LONGEST)])
        carried = ""
        if _GRANT.search(text, line_start, line_end) is None:
            continue
        for sentence in _SENTENCE.finditer(text, line_start, line_end):
            words = sentence.group()
            if text[sentence.start() - 1 : sentence.start()] == "。" and not _GOES_ON.match(words):
                carried = ""
            if len(words) > _LONGEST_SENTENCE or _PAST.search(words):
                continue
            if not _GRANT.search(words) and not carried:
                continue
            for stated in _of_sentence(sentence, carried, heads.nearest()):
                carried = stated.subject
                yield stated


def _of_sentence(sentence: re.Match[str], carried: str, head: str) -> Iterator[Stated]:
    words = sentence.group()
    clauses = [_Clause(m.start(), m.end(), m.group()) for m in _CLAUSE.finditer(words)]
    amounts = [q for q in quantities(words) if q.unit in ("元", "%")]
    found = [q for q in amounts if _is_granted(words, clauses, q)]
    for i, quantity in enumerate(found):
        if i and _is_range(words, found[i - 1], quantity):
            continue  # the end of the last
        told = _beneficiary(words, clauses, quantity.start)
        who = carried or head if told == "" else told
        if who:
            sure = CONFIDENCE if told or carried else HEAD_CONFIDENCE
            yield _stated(sentence, clauses, found, i, who, sure)
            carried = who


def _clause_at(clauses: list[_Clause], at: int) -> _Clause:
    return next(c for c in clauses if c.start <= at < c.end)


def _is_granted(words: str, clauses: list[_Clause], quantity: Quantity) -> bool:
    clause = _clause_at(clauses, quantity.start)
    before = words[clause.start : quantity.start]
    if _THRESHOLD.match(words, quantity.end):
        return False
    if _OTHER.search(before) and not _NOT_BEYOND.search(before):
        return False
    behind = words[clause.end + 1 :]
    gives = _GIVES.search(clause.text) or (_BY.match(clause.text) and _GIVES_NEXT.match(behind))
    if quantity.unit == "%":
        return bool(gives) and re.search(r"按|的|不超过|最高|上限|给予|予以", before) is not None
    return bool(gives) or _CAP.search(before) is not None


def _beneficiary(words: str, clauses: list[_Clause], at: int) -> str | None:
    """Return who or what is granted something at a place of a sentence.

    Empty if it is not said here, None if it is said elsewhere (对上述项目).
    """
    for match in reversed(list(_FOR.finditer(words, 0, at))):
        who = _cut(match["who"])
        if who == match["who"] and not _NOUN.search(who):
            who = _with_clauses(words, clauses, match, at)
        who = who.removesuffix("的")
        if _ELSEWHERE.search(who):
            return None
        if len(who) > 2 and not _NOBODY.match(who) and not _COSTS.search(who):
            return unmarked(who)[:LONGEST]
    own = unmarked(_cut(words[_clause_at(clauses, at).start : at]))
    if len(own) > 3 and _NOUN.search(own) and not _NOBODY.match(own) and own[0] != "对":
        return own[:LONGEST]
    before = [c for c in clauses if c.end <= at]
    ends = [i for i, c in enumerate(before) if c.text.endswith("的")]
    first = unmarked(before[0].text) if before else ""
    if ends and not re.match("或|且|并", first):
        who = first.removesuffix("的")
        return who[:LONGEST] if len(who) > 3 and not _NOBODY.match(who) else ""
    is_helped = _HELPED.match(first) is not None
    if len(first) > 3 and _NOUN.search(first) and not is_helped and not _NOBODY.match(first):
        return first[:LONGEST]
    for clause in reversed(before) if _HANDS.search(_clause_at(clauses, at).text) else ():
        if helped := _HELPED.match(unmarked(clause.text)):
            return helped["who"]
    return ""


def _with_clauses(words: str, clauses: list[_Clause], match: re.Match[str], at: int) -> str:
    """Return a beneficiary with the clauses behind it that belong to it."""
    behind = [c for c in clauses if match.end() < c.end <= at]
    ends = [c.end for c in behind if c.text.endswith("的")]
    ends = ends[-1:] or [c.end for c in behind[:1] if _NOUN.search(c.text)]
    return words[match.start("who") : ends[0]] if ends else match["who"]


def _cut(who: str) -> str:
    """Return the words before those that give."""
    cut = _CUT.search(who, 3)
    return who[: cut.start()] if cut else who


def _together(words: str, found: list[Quantity], i: int) -> tuple[int, int]:
    """Return the indices of the first and last amount of a list: 20万元、10万元."""
    first = last = i
    while first and _BETWEEN.fullmatch(words, found[first - 1].end, found[first].start):
        first -= 1
    while last + 1 < len(found) and _BETWEEN.fullmatch(
        words, found[last].end, found[last + 1].start
    ):
        last += 1
    return first, last


def _stated(
    sentence: re.Match[str],
    clauses: list[_Clause],
    found: list[Quantity],
    i: int,
    who: str,
    confidence: float,
) -> Stated:
    words, quantity = sentence.group(), found[i]
    clause = _clause_at(clauses, quantity.start)
    first, last = _together(words, found, i)
    is_range = i + 1 < len(found) and _is_range(words, found[i], found[i + 1])
    last = max(last, i + is_range)
    opens = max(clause.start, found[first - 1].end if first else 0)
    begins = _BEFORE.search(words, opens, found[first].start)
    start = begins.start() if begins else found[first].start
    behind = _BEHIND.match(words, found[last].end)
    phrase = words[start : behind.end() if behind else found[last].end]
    return Stated(
        sentence.start(),
        sentence.end(),
        who,
        _kind(words, quantity, clause),
        re.sub(r"^(?:给予|予以|并|再)+", "", phrase).strip("，,、的")[:LONGEST],
        Qualifiers(
            "condition",
            value=number(quantity),
            value_to=number(found[i + 1]) if is_range else "",
            unit=_unit(words, found[i + 1] if is_range else quantity),
            comparator="range" if is_range else _comparator(words[opens : found[first].start]),
            condition=_condition(clauses, who, quantity.start),
        ),
        confidence,
    )


def _is_range(words: str, first: Quantity, second: Quantity) -> bool:
    return _TO.fullmatch(words, first.end, second.start) is not None


def _kind(words: str, quantity: Quantity, clause: _Clause) -> str:
    behind = _GRANT.search(words, quantity.end, clause.end)
    nearest = behind or next(iter(reversed(list(_GRANT.finditer(words, 0, quantity.start)))), None)
    nearest = nearest or _GRANT.search(words)
    return REWARD if nearest and nearest.group() in ("奖励", "奖金") else AID


def _unit(words: str, quantity: Quantity) -> str:
    if quantity.unit == "%":
        return "%"
    before = _PER.search(words, max(0, quantity.start - 24), quantity.start)
    behind = _SLASH.match(words, quantity.end)
    per = behind or before
    return f"元/{per['per']}" if per else "元"


def _comparator(before: str) -> Comparator:
    if _CAP.search(before):
        return "<="
    return ">=" if _FLOOR.search(before) else "="


def _condition(clauses: list[_Clause], who: str, at: int) -> str:
    """Return what the clauses between the beneficiary and the amount ask for."""
    named = [i for i, c in enumerate(clauses) if who[:8] in c.text]
    between = [c.text for c in clauses[named[0] + 1 if named else 0 :] if c.end <= at]
    ends = [i for i, words in enumerate(between) if words.endswith("的")]
    told = between[: ends[-1] + 1] if ends else []
    told += [words for words in between[len(told) :] if _AFTER.match(words)]
    words = [unmarked(t.removesuffix("的")).lstrip("并或且") for t in told]
    return "，".join(t for t in dict.fromkeys(words) if t and t not in who)[:LONGEST]
