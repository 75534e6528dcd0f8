"""Say what a document does with others that it names: rests on, carries out, amends, repeals.

A role is the document's own act. What others are to do (修订《…》 as a task), what was done before
(印发了《…》) and what merely stands near a title is 提及.
"""

import re

from kgrag.text.vocabulary import DOCUMENT_KINDS

TITLE, OWN = "\ue001", "\ue002"  # stand for a title of another document, and for its own name

_MAKING = (
    "制定|制订|制修订|制|编制|编写|出台|起草|研究|印发|下发|[发公颁]布|修订|修改|修正|完善|健全|建立|提出|形成"
    "|报送|提交|填[写报]|签[订署]|领取|更新|执行情况|取得|通过|启动|动态调整|宣传|学习|解读|出具|提供"
)
_MEETING = "满足|符合|达到|达标|纳入|列入|属于|违反|适用|采用|超过|涉及|发送|对接|融入"
_RESTING = "根据|依据|依照|按照|遵照|依|按"
_CARRYING = (
    "贯彻落实|贯彻执行|贯彻实施|贯彻|落实|执行|遵守|遵循|践行"
    "|实施(?!效果|情况|方案|意见|细则|后|[^，。]{1,12}项目)"
)
_CONSULTING = "参照|参考(?![值系数])|对照|借鉴"
GOVERNORS = re.compile(
    rf"(?P<making>(?:{_MAKING})(?:(?:[和并、与及](?:组织)?|组织)?(?:{_CARRYING}|{_MAKING})){{0,3}}了?)"
    rf"|(?P<meeting>{_MEETING})|(?P<resting>{_RESTING})|(?P<carrying>{_CARRYING})|(?P<consulting>{_CONSULTING})"
)
# 联合印发的: says whose the title is, not what is done with it.
ATTRIBUTE = re.compile(rf"(?:{_MAKING})(?:实施)?(?:并?施行)?(?:关于[^，]{{0,30}})?的(?:新版|最新)?")
_AS_WELL = re.compile("[，,](?=以及)")
_CLAUSE = re.compile("[，,：:。；;]")
# 各单位应按照: what others are to go by.
_OTHERS = re.compile(
    r"(?:应当?|须|必须|可以?|不得|[^主必需重简]要|拟|申请|自行|严格)$|(?:采购人|各地区?|企业|单位|机构|部门|学校|公司|人员)[^，。；、]{0,8}$"
)
_OF_OTHERS = re.compile(
    "(?:^|[，。])各(?:[省市县区地级]|有关|相关|部门|单位)[^，。；]{0,12}[要应须]"
)
_BY_THE_WAY = re.compile("(?:在|于|由|对|与|同|向|含|称|如|等|以及其)$")
_NOT = re.compile(r"(?:不再?|未|没有|无需|尚未|是否)(?:能|得|予|按[时期])?$")
_NOT_ALLOWED = re.compile("(?:不得|不能|禁止|严禁)[^，。；]{0,12}$")

_KINDS = f"{DOCUMENT_KINDS}|文件"
# The document speaks of its own making; the looser words count in its opening only.
_OWN_ACT = re.compile(
    rf"(?:制定|制订|编制|提出|形成|修订|起草)(?:了)?(?:本(?:实施|工作|行动|管理)?(?:{_KINDS})|{OWN}|如下|以下)|特(?:制定|编制|提出|作|就)"
    rf"|现就|现将|通知如下|公告如下|通告如下|如下(?:意见|通知|措施|方案|规定|公告|通告|决定)|{OWN}"
    rf"|(?:制定|编制|提出)[^，。；]{{0,16}}本(?:{_KINDS})"
)
_OWN_ACT_OPENING = re.compile(
    rf"{_OWN_ACT.pattern}|制定|制订|编制|结合[^，。；]{{0,24}}实际|(?:^|[，,])现(?![有行代状场实])|决定"
    r"|我[省市县区州局厅部委办盟们](?:现|拟|组织|研究|制定|制订|编制|起草|决定|会同|联合|修订|将)"
    r"|提出[^，。；]{0,20}(?:意见|措施)|(?:组织)?开展|启动"
    r"|请(?:各|你|做好|认真|按|遵照|组织|抓紧)|有关(?:事项|工作)|以下工作"
)
_OWN_BASIS = re.compile(rf"本(?:{_KINDS})[^，。；]{{0,12}}(?:{_RESTING})[^，。；]{{0,12}}$")
_MADE_BY_IT = re.compile("[^，。；]{0,16}(?:编制|制定|制订)(?:而成)?[，。]")  # 根据《…》编制，阐明
_PURPOSE = re.compile(
    r"(?:^|[\s，,：:、])为(?:了|深|进一步|全面|切实|认真|坚决|更好|加快|扎实|贯彻|落实|执行|有效|推[动进]|确保|做好|促进|实现)"
)
_PAST = re.compile(
    '先后|陆续|相继|(?<!业)已经?(?![发受])|十[一二三]五[”"]?(?:时期|期间)|以来|近年|累计|过去|[^为除]了'
    "|\\d{4}年[^，]{0,12}(?:完成|印发|出台|实现)|成效|情况"
)

_SENT_OUT = "印发|下发|[发公颁]布"
_NO_TITLE = f"[^。；;{TITLE}{OWN}]"
_ISSUED = re.compile(
    rf"{_NO_TITLE}{{0,60}}?。?现(?:予以?|联合|正式)*(?:{_SENT_OUT})(?!的)|(?:予以|一并|联合|正式)?(?:{_SENT_OUT})"
    r"(?:给|你们|，|,|。|实施|执行|如下)"
)
_PASSED_ON = re.compile(
    rf"{_NO_TITLE}{{0,60}}?。?(?:现(?:将)?|予以|一并)?(?:批转|转发|转印)(?:给|你|，|。|各)"
)
_NOW = re.compile(r"现将?[^，。；]{0,40}$")
_NOW_SENT = re.compile(rf"现(?:予以?|联合|正式)?(?:{_SENT_OUT})$")
_NOW_PASSED = re.compile(r"现(?:将|予)?(?:批转|转发)$")
_REPEALED = re.compile(
    rf"[^。；;，]{{0,40}}?[，,]?(?:同时|即行|自行|一并|相应|均|予以|现予|自(?:[^，。；自]|自治){{1,24}}(?:起|日)|{TITLE})+"
    r"(?:即行|予以)?(?:废止|作废|失效|停止执行|终止执行)(?!的)|[，,]?(?:同时|即|均)?不再(?:执行|施行|适用)(?!的)"
)
_REPEALING = re.compile(
    r"(?:现|决定|一并|同时|予以)[^，。；]{0,16}(?:废止|作废|停止执行)(?!的)[^，。；]{0,24}$"
)
_AMENDED = re.compile(
    r"(?:（[^（）]*）)?(?:修[改订]为|修改如下|[^，。；]{0,24}?(?:作|作出|做|进行)(?:了|以下|如下|出|部分|相应)*(?:修[改订正]|调整))"
)
_AMENDING = re.compile(
    r"(?:决定|现|现将|我[局厅委部办]|[会院])[^，。；]{0,12}(?:对|将|修[改订]|修正)[^，。；]{0,24}$"
)
_BASIS = re.compile(r"[^，。；]{0,24}?为(?:基本|主要|重要|根本)?(?:依据|指导|遵循)")


def role(before: str, after: str, *, opening: bool) -> str:
    """Return what the document does with titles at one place.

    Args:
        before: The sentence up to the first of them; `TITLE` and `OWN` stand for other titles.
        after: What follows the last of them in the sentence.
        opening: Whether the place is in the document's opening, where it says why it is made.

    >>> role("为贯彻落实", "精神，制定本方案", opening=True)
    '落实'
    >>> role("到2025年，修订", "和地方标准", opening=False)
    '提及'
    """
    governor, verb = _governor(before)
    if governor in ("", "making"):
        act = _own_act(before, after)
        if act:
            return act
    if governor == "resting" and _rests(before, after, opening=opening):
        return "依据"
    if governor == "carrying" and _carries_out(verb, before, after):
        return "落实"
    if governor == "consulting":
        return "参照"
    if governor in ("", "making") and _BASIS.match(after) and _makes_itself(after, opening=opening):
        return "依据"
    return "提及"


def _governor(before: str) -> tuple[str, str]:
    """Return the class of the verb that the titles depend on, and the verb; empty for none."""
    clause = _CLAUSE.split(_AS_WELL.sub("", before))[-1]
    clause = ATTRIBUTE.sub("", clause)
    last = None
    for match in GOVERNORS.finditer(clause):
        last = match
    if last is None or len(clause) - last.end() > 60:
        return "", ""
    if _BY_THE_WAY.search(clause, last.end()):
        return "aside", ""
    if last.lastgroup == "resting" and _OTHERS.search(clause, 0, last.start()):
        return "others", last.group()
    if _NOT.search(clause, 0, last.start()):
        return "negated", last.group()
    return last.lastgroup or "", last.group()


def _own_act(before: str, after: str) -> str:
    """Return 废止, 修订, 转发 or 印发 where the document itself does it here."""
    if _NOT.search(before) or _NOT_ALLOWED.search(before):
        return ""
    if _REPEALED.match(after) or _REPEALING.search(before):
        return "废止"
    if _AMENDING.search(before) and (_AMENDED.match(after) or re.search("修[改订正]$", before)):
        return "修订"
    if _AMENDED.match(after) and re.search(r"(?:现|决定)将?对?$", before):
        return "修订"
    if _PASSED_ON.match(after) or _NOW_PASSED.search(before):
        return "转发"
    now = _NOW.search(before) or re.match(rf"{_NO_TITLE}{{0,60}}?。?现", after)
    if (now and _ISSUED.match(after)) or _NOW_SENT.search(before):
        return "印发"
    return ""


def _makes_itself(after: str, *, opening: bool) -> bool:
    return bool((_OWN_ACT_OPENING if opening else _OWN_ACT).search(after))


def _rests(before: str, after: str, *, opening: bool) -> bool:
    if _OWN_BASIS.search(before) or _MADE_BY_IT.match(after):
        return True
    return _makes_itself(after, opening=opening and not _OF_OTHERS.search(before))


def _carries_out(verb: str, before: str, after: str) -> bool:
    if _PURPOSE.search(before):
        return True
    clause = _CLAUSE.split(before)[-1]
    if re.match(r"[^，。；]{0,6}(?:情况|不力|不到位|成效|以来)", after) or re.match("了", after):
        return False
    return not _PAST.search(clause) and not _PAST.search(before[-60:])
