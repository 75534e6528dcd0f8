"""Split lists of organs as official documents write them."""

import re

from kgrag.ingestion.self_names import names_nothing

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
_HEAD = re.compile(r"^(?:由|请|以及|及|和|与|会同|并|各有关|[：:])+(?=.{2})")
_HEAD_KEPT = re.compile(r"^各有关")
_NOT_NAME = re.compile(r"[。！？!?%％“”《》\"：:=|\n]|\d{2}|以下|不再|负责|完成|落实")
# A kind of enterprise, no company of a name; what begins with 的 lost what it is said of.
_NO_ORGAN = re.compile(
    r"^的|企业$|(?:^|或|各|[相有]关)(?:物业|上市|投资|水利|保险|租赁|运营|服务|热力|燃气|供[水热电气]|第三方)+公司$"
)
# 市直有关部门, 各级各部门: nobody in particular
_NOBODY = re.compile(
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
        and not _NOBODY.fullmatch(name)
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
