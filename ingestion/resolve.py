"""Give every name in a document the entity that it means there.

One resolver for what rules, imports and models name: 省林业局 is the document's province's, 本方案
the document itself, 工信部 the ministry by its full name. What a name means depends on the document
that uses it and on what a person decided, never on the other documents of the knowledge base, so
that the graph is the same whatever the order of ingestion.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kgrag.ids import entity_id, task_id
from kgrag.ingestion.self_names import DOCUMENT_TYPE, SelfNames, names_nothing, self_names
from kgrag.ingestion.statements.finding import SELF
from kgrag.store.decisions import DecidedNames
from kgrag.text.document_nodes import node_id, node_name
from kgrag.text.indicators import indicator_name, is_indicator, split_place
from kgrag.text.leading_region import leading_region
from kgrag.text.organs import canonical_organ, is_bare_organ, place_name
from kgrag.text.places import names_place
from kgrag.text.quantities import Date, Quantity, dates, narrow, quantities
from kgrag.text.regions import level_of, own_region, regions_named
from kgrag.text.short_titles import shortens
from kgrag.text.title_keys import cited_name, title_key
from kgrag.text.titles import titles_within
from kgrag.text.vocabulary import FIVE_YEAR_PLAN
from kgrag.text.words import normalize_name, quoted_titles
from kgrag.types import Document, Entity

UNTYPED = "entity"
# The keys are those of the meta-model of dual-carbon policies, so that what rules and what models
# say agrees. A Chinese name ends in the word that it is a kind of.
_DOCUMENT = re.compile(
    r"《[^《》]+》$|(?<=..)(?:通知|公告|通告|意见|方案|规划|纲要|条例|规定|办法|细则|(?:行动|工作|作战)计划"
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
_TIME = re.compile(
    rf"“?{FIVE_YEAR_PLAN}”?(?:时期|期间|期末|末)?|(?:1[89]|20)\d\d年?度?(?:底|末|初)?"
)
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

NATIONAL = "全国"
TASK_TYPE = "measure"
_ALL_OF_A_KIND = ("各", "有关", "相关", "地方", "所在", "属地", "当地")
# What a national document says of every place: 财政部门, 省级人民政府.
_EVERYWHERE = re.compile(r"(?:[省市县]级|市县).*(?:部门|政府|机关)$|.*(?:部门|政府)$")
_WHOLE = re.compile("[我本全](?:自治区|[省市县区州盟旗])")
_ELSEWHERE = re.compile("[省市县区州盟旗各]|地方|所属|下属")
_INNER = re.compile(rf"(?!{_ELSEWHERE.pattern}).*(?:处|中心)$")
_BUREAU = re.compile(r"(.+(?:厅|局|委|委员会))(?:办公室|党组)?$")


@dataclass(frozen=True, slots=True)
class NameResolver:
    """Resolves the names in one document.

    Attributes:
        document: Its node in the graph.
        region: Full name of the innermost place that it governs; 全国 for a national document,
            empty where it does not say.
        regions: All of them, the outermost first.
        own_names: Normalised names by which its text may call it.
        names: What its words for itself stand for.
        abbreviations: Full names by the normalised short ones that it defines (以下简称).
        decisions: What a person decided on names.
        year: In which it was issued; 0 where it does not say.
        bureau: The bureau that alone issued it; empty for governments and several issuers.
        titles: Its own: of the body, of the notice, and of what that issues.
        cited: Keys of the titles that its text quotes.
    """

    document: Entity
    region: str
    regions: tuple[str, ...]
    own_names: frozenset[str]
    names: SelfNames
    abbreviations: Mapping[str, str] = field(default_factory=dict)
    decisions: DecidedNames = field(default_factory=DecidedNames)
    year: int = 0
    bureau: str = ""
    titles: tuple[str, ...] = ()
    cited: frozenset[str] = frozenset()

    def entity(
        self, name: str, type_: str = "", *, unit: str | None = None, loosely: bool = False
    ) -> tuple[Entity, str]:
        """Return the entity that a name means, and the name if that is called otherwise.

        Args:
            name: As written.
            type_: Key of the meta-model that is told for it; empty or `entity` for none.
            unit: Of the value that is stated of it, empty for a bare number; None where no value
                is.
            loosely: Whether the document may be called by its title cut short, as models do.
        """
        written = " ".join(name.split())
        if written == SELF or normalize_name(written) in self.own_names:
            return self.document, "" if written in (SELF, self.document.name) else written
        resolved = self._resolved(written, unit)
        if normalize_name(resolved) in self.own_names or (loosely and self._is_short(resolved)):
            return self.document, written
        told = type_ if type_ != UNTYPED else ""
        entity = self._scoped(resolved, told)
        return entity, "" if entity.name == written else written

    def task(self, name: str, type_: str = "", *, loosely: bool = False) -> tuple[Entity, str]:
        """Return the task of this document that a name means, and the name as for `entity`.

        Every plan has its 加强组织领导: it is no other's, whatever it is called. What is told, or
        seen, to be something else is that.
        """
        entity, written = self.entity(name, type_, loosely=loosely)
        if entity.type not in (TASK_TYPE, UNTYPED):
            return entity, written
        id_ = task_id(entity.name, self.document.entity_id)
        return Entity(id_, entity.name, TASK_TYPE), written

    def other_document(self, name: str) -> tuple[Entity, str]:
        """Return the document that this one cites by a name that is its own, too, and "".

        A city's plan has the name of its province's; which one is meant, `connect` finds. Words
        for itself (本方案) mean itself.
        """
        written = " ".join(name.split()).strip("《》")
        if written == SELF or self.names.resolve(written) != written:
            return self.document, ""
        return Entity(entity_id(written), written, DOCUMENT_TYPE), ""

    def place(self, name: str) -> str:
        """Return the place that the name of an indicator begins with; empty for none."""
        return split_place(" ".join(name.split()), self.regions)[0]

    def names_nothing(self, name: str) -> bool:
        """Return whether a name is only a stop word or a placeholder, and none of the document's.

        本地区 is a stop word elsewhere; here it is the region.
        """
        return names_nothing(name) and self._full(name) == name

    def _resolved(self, written: str, unit: str | None) -> str:
        """Return the full name of a name by the rules and by what a person decided.

        A decision on the name of an indicator with its place counts before the rules for these.
        """
        full = self._full(written)
        name = self.decisions.called(full, written=written)
        if self.decisions.keeps_apart(written, full):
            return name
        if name == full:
            bare = split_place(written, self.regions)[1]
            name = bare if bare != written else full
        if unit is None and not is_indicator(name):
            return name
        return self.decisions.called(indicator_name(name, unit or ""), written=written)

    def whole(self, region: str) -> str:
        """Return the full name of a place that a statement is about; 全省 is the document's own.

        Where the document does not tell which one that is, its own region is as good.
        """
        if region in ("全国", "我国"):
            return NATIONAL
        if not _WHOLE.fullmatch(region):
            return region
        return "".join(own_region(region, self.regions)[-1:])

    def _is_short(self, name: str) -> bool:
        """Return whether a name is the document's title cut short, and none that it cites."""
        cited = title_key(name) in self.cited
        return not cited and any(shortens(name, title) for title in self.titles)

    def _full(self, name: str) -> str:
        """Return the full name of a name by the rules alone."""
        spelled = self.abbreviations.get(normalize_name(name), name)
        own = self.names.resolve(spelled.strip("《》") if _is_title(spelled) else spelled)
        return self._place(own) or canonical_organ(own, regions=self.regions)

    def _place(self, name: str) -> str:
        """Return the full name of a listed place; that of a county with the city around it."""
        names, end = leading_region(name, within=self.regions)
        if end < len(name) or not names or not regions_named(names[-1]):
            return ""
        return "".join(names[-2:]) if level_of(names[-1]) == "县" else names[-1]

    def _whose(self, name: str) -> str:
        """Return whose a bare organ is: the place's, the country's or the issuer's.

        综合处 is the issuing bureau's: each bureau of a province has one.
        """
        if self.regions:
            inner = self.bureau and _INNER.fullmatch(name)
            return self.bureau if inner else place_name(self.regions)
        if self.region and (name.startswith(_ALL_OF_A_KIND) or _EVERYWHERE.fullmatch(name)):
            return self.region
        elsewhere = _ELSEWHERE.match(name)  # 省能源局 in a ministry's letter
        return ("" if elsewhere else self.names.agency) or self.document.name

    def _scoped(self, name: str, type_: str) -> Entity:
        """Return the entity of a full name; an organ of no known place is this document's own."""
        if is_bare_organ(name):
            name = f"{name}（{self._whose(name)}）"
            return Entity(entity_id(name), name, type_ or "agency")
        told = "" if names_place(name) else type_  # who answers for a city is told as an agency
        entity = typed(Entity(entity_id(name), name, told or UNTYPED))
        called = cited_name(name) if entity.type == DOCUMENT_TYPE else name
        return replace(entity, entity_id=entity_id(called), name=called)


def document_node(document: Document) -> Entity:
    """Return the node of a document: the name that others cite it by, of its issuer."""
    name = node_name(document.title)
    return Entity(node_id(document.title, document.metadata), name, DOCUMENT_TYPE)


def name_resolver(
    document: Document,
    *,
    abbreviations: Mapping[str, str] | None = None,
    decisions: DecidedNames | None = None,
) -> NameResolver:
    """Return what resolves the names in a document.

    Args:
        document: With its metadata.
        abbreviations: Full names by short ones, as `rules.definitions.abbreviations` reads them.
        decisions: What a person decided on names.
    """
    metadata = document.metadata
    titles = {*titles_within(document.title), *titles_within(metadata.notice)} - {""}
    national = metadata.level in ("国家", "部门") and not metadata.regions
    return NameResolver(
        document=document_node(document),
        region=metadata.regions[-1] if metadata.regions else NATIONAL if national else "",
        regions=metadata.regions,
        own_names=frozenset(map(normalize_name, titles)),
        names=self_names(document),
        abbreviations={normalize_name(k): v for k, v in (abbreviations or {}).items()},
        decisions=decisions or DecidedNames(),
        year=metadata.year or 0,
        bureau=_bureau(metadata.issuers),
        titles=tuple(sorted(titles)),
        cited=frozenset(title_key(title) for _, _, title in quoted_titles(document.text)),
    )


def _bureau(issuers: Sequence[str]) -> str:
    """Return the bureau that alone issued a document, without its office; empty for none."""
    match = _BUREAU.fullmatch(issuers[0]) if len(issuers) == 1 else None
    return match[1] if match else ""


def _is_title(name: str) -> bool:
    return name.startswith("《") and name.endswith("》") and name.count("《") == 1


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
    rest = _TIME.sub("", _without(name, dates(name)))
    if rest != name and not _AROUND.sub("", rest):
        return "deadline"
    found = quantities(rest)
    left = _without(rest, found)
    if any(q.unit or not q.is_word for q in found) and not _AROUND.sub("", left):
        return "value"
    if _RATE.fullmatch(rest):
        return "value"
    bare = re.sub(r"(?:以上|以下|以内|左右)$", "", name)
    ends = any(q.end == len(bare) and q.unit and not q.is_word for q in quantities(bare))
    return "value" if ends else ""


def _without(text: str, spans: Iterable[Date | Quantity]) -> str:
    cut = {at for span in spans for at in range(span.start, span.end)}
    return "".join(c for at, c in enumerate(text) if at not in cut)
