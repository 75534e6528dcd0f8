"""What kind of thing an entity is, told from its name where the name tells it."""

import re

from kgrag.ingestion.self_names import DOCUMENT_TYPE
from kgrag.language.places import names_place
from kgrag.language.quantities import dates, narrow, quantities
from kgrag.text.vocabulary import FIVE_YEAR_PLAN
from kgrag.types import Entity

UNTYPED = "entity"
# The keys are those of the meta-model of dual-carbon policies, so that what rules and what models
# say agrees. A Chinese name ends in the word that it is a kind of.
_DOCUMENT = re.compile(
    r"《[^《》]+》$|.{2,}(?:通知|公告|通告|意见|方案|规划|纲要|条例|规定|办法|细则|(?:行动|工作|作战)计划"
    r"|若干措施|指南|白皮书)$"
)
_ENDINGS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (DOCUMENT_TYPE, _DOCUMENT),
    (
        "agency",
        re.compile(
            r"(?:政府|厅|(?<![格布结])局|(?<![编原])委|委员会|党组|党委|办公室|法院|检察院|海关|银行|公司"
            r"|集团|协会|学会|商会|研究院|研究所|大学|学院|联合会|部门|机关|机构|企业|单位"
            r"|(?<![内外全东西南北中干总局底顶上下])部)$"
        ),
    ),
    (
        "industry",
        re.compile(r"(?:行业|产业|领域|工业|农业|林业|渔业|(?:制造|服务|建筑|运输|旅游|养殖)业)$"),
    ),
    (
        "target",
        re.compile(
            r"(?:率|占比|比重|比例|能耗|水耗|电耗|煤耗|强度|指标|目标|目标值|产值|增加值|面积|容量"
            r"|(?:总|排放|消费|用水|蓄积|减排|产|存)量)$"
        ),
    ),
    ("standard", re.compile(r"(?:标准|规范|限额|规程|导则|定额|准则)$")),
    (
        "project",
        re.compile(
            r"(?:工程|项目|基地|园区|产业园|开发区|高新区|示范区|试验区|先行区|试点|平台|电站|充电站"
            r"|加氢站)$"
        ),
    ),
    (
        "technology",
        re.compile(
            r"(?:技术|工艺|装备|设备|设施|系统|材料|燃料|产品|能源|汽车|车辆|机组|锅炉|电池|污染物)$"
        ),
    ),
    (
        "measure",
        re.compile(
            r"(?:行动|机制|制度|政策|措施|举措|体系|改造|建设|治理|管理|补贴|补助|奖励|奖补|监管|监测"
            r"|监督|评估|核查|核算|评价|培训|推广|应用|研究|研发|利用|保护|修复|控制|创建|认证|改革"
            r"|试点工作|任务)$"
        ),
    ),
)
_DOCUMENT_NUMBER = re.compile(r"[〔﹝\[【［(（]\d{4}[〕﹞\]】］)）].*号$")
_PERIOD = re.compile(rf"“?{FIVE_YEAR_PLAN}”?(?:时期|期间|期末|末)?")
_YEAR = re.compile(r"(?:1[89]|20)\d\d年?度?(?:底|末|初)?")
# What stands around the number of a value: 2025年比2020年下降13.5%以上.
_AROUND = re.compile(
    r"(?:不少于|不低于|不高于|不超过|不大于|不小于|超过|高于|低于|大于|小于|至少|最多|最高|约|近|平均"
    r"|年均|累计|新增|力争|基本|稳定|达到?|提高|提升|增加|增长|上升|下降|降低|减少|降至|增至|控制|保持"
    r"|完成|实现|比|较|以上|以下|以内|左右|之间|之前|之后|以前|以后|之内|[前后内起止到至在为于从自每或和及的]"
    r"|[-—–~～≥≤><=,，、.\s()（）])+"
)
# 控制在293克标准煤/千瓦时左右: so much of one thing for each of another.
_RATE = re.compile(
    rf"(?>{_AROUND.pattern})?\d[\d.,]*(?:[-~～—至到]\d[\d.,]*)?[^\d/\s，。、；：（）]{{1,8}}"
    r"/(?:吨|年|日|天|小时|千瓦时|平方公里|平方米|立方米|公顷|人|亩|户|次|辆)(?:以上|以下|以内|左右)?"
)


def typed(entity: Entity) -> Entity:
    """Return an entity with the type that its name tells, if it has none yet; its id stays.

    >>> typed(Entity("e-1", "云岭省生态环境厅")).type
    'agency'
    >>> typed(Entity("e-2", "节能降碳")).type
    'entity'
    """
    if entity.type != UNTYPED:
        return entity
    return Entity(entity.entity_id, entity.name, type_of(entity.name))


def type_of(name: str) -> str:
    """Return the type that a name tells: a key of the meta-model, or `entity` where it tells none.

    >>> [type_of(n) for n in ("2025年底", "2025年达到500家以上", "青川市", "绿色工厂数量占比")]
    ['deadline', 'value', 'region', 'target']
    >>> type_of("《云岭省节能条例》")
    'document'
    """
    measured = _number(narrow(name))
    if measured:
        return measured
    if names_place(name):
        return "region"
    return next((key for key, ending in _ENDINGS if ending.search(name)), UNTYPED)


def _number(name: str) -> str:
    """Return `deadline` or `value` where a name is nothing else; empty otherwise."""
    if _DOCUMENT_NUMBER.search(name):
        return ""
    spans = [(d.start, d.end) for d in dates(name)]
    spans += [m.span() for p in (_YEAR, _PERIOD) for m in p.finditer(name)]
    rest = _without(name, spans)
    if spans and not _AROUND.sub("", rest):
        return "deadline"
    found = quantities(rest)
    left = _without(rest, [(q.start, q.end) for q in found])
    if any(q.unit or not q.is_word for q in found) and not _AROUND.sub("", left):
        return "value"
    if _RATE.fullmatch(rest):
        return "value"
    bare = re.sub(r"(?:以上|以下|以内|左右)$", "", name)
    ends = any(q.end == len(bare) and q.unit and not q.is_word for q in quantities(bare))
    return "value" if ends else ""


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    cut = {at for start, end in spans for at in range(start, end)}
    return "".join(c for at, c in enumerate(text) if at not in cut)
