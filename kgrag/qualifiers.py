"""What a document adds to a triple where it states it: value, unit, year, region, role."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

from kgrag.json_ready import JsonReady

StatementKind = Literal["", "reference", "target", "duty", "condition", "definition"]
Comparator = Literal["", "=", ">=", "<=", ">", "<", "~", "+", "-", "range"]
Standing = Literal["", "planned", "achieved"]


@dataclass(frozen=True, slots=True)
class Qualifiers(JsonReady):
    """What stands beside a triple at one place of a document; empty means not told.

    Called so after the qualifiers of a statement in Wikidata's data model.

    Attributes:
        kind: What the statement is: of a citation, a target (an indicator's value), a duty (who
            does what until when), a condition (who may apply, what is granted or punished, from
            and until when), a definition.
        subject: The subject as written here, where the entity has another name.
        object: The object as written here, where the entity has another name.
        value: Decimal number as text in `unit`, scaled by 万 and 亿, so that equal quantities
            compare equal: 50万亩 is 500000 亩, 0.4亿千瓦, 4000万千瓦 and 40GW are 40000000 千瓦,
            2‰ is 0.2 %. As written it stays in the object.
        value_to: The upper end of a range; `comparator` is then `range`, or `+` or `-` (提升2~5倍).
        unit: Normalised, without 万 and 亿: 吨, %, 个百分点, 千瓦, 吨标准煤, 微克/立方米, 家, 个;
            empty for a bare number (PUE).
        comparator: `=` (达到, 为), `>=` (不低于, 以上), `<=` (不超过, 控制在…以内), `>`, `<`, `~`
            (左右, 约), `+` (提高, 增长, 新增 by the value), `-` (下降, 减少 by the value), `range`.
        bound: Of a value that is added or taken away, how exact it is: `>=`, `<=`, `>`, `<`, `~`;
            empty for the value itself.
        year: In which the value holds or is due, four digits.
        period: Instead of or beside the year: 十四五, 2021-2025.
        base_year: Of what it is compared with (比2020年).
        base_value: The value then.
        region: Full name of the place that it is about.
        scope: Of whom or what it is measured: 规模以上工业.
        standing: `planned` or `achieved` (a result that is reported).
        binding: 约束性 or 预期性.
        condition: Under which it holds.
        role: Of an organ in a duty: 牵头, 负责, 配合. Of a citation: 依据, 落实, 修订, 废止, 转发,
            印发, 参照, 提及.
        deadline: Until when a duty is due, as written: a date, or its item's clauses with dates,
            joined by ；.
        number: 文号 that a citation gives.
        issuer: The organ that a citation names right before the title.
        match: How a citation was resolved to a held document: `exact`, `normalised`, `number`,
            `abbreviation`, or `fuzzy 0.93`; empty where it was not.
    """

    kind: StatementKind = ""
    subject: str = ""
    object: str = ""
    value: str = ""
    value_to: str = ""
    unit: str = ""
    comparator: Comparator = ""
    bound: Comparator = ""
    year: str = ""
    period: str = ""
    base_year: str = ""
    base_value: str = ""
    region: str = ""
    scope: str = ""
    standing: Standing = ""
    binding: str = ""
    condition: str = ""
    role: str = ""
    deadline: str = ""
    number: str = ""
    issuer: str = ""
    match: str = ""

    def __bool__(self) -> bool:
        """Return whether anything is told."""
        return bool(self.to_record())

    def to_record(self) -> dict[str, str]:
        """Return what is told, in the order of the fields."""
        return {name: value for name in _NAMES if (value := getattr(self, name))}

    @classmethod
    def from_record(cls, record: Mapping[str, str]) -> "Qualifiers":
        """Return the qualifiers of a record; what is unknown in it is left out.

        >>> q = Qualifiers("target", value="500", unit="家", year="2025")
        >>> Qualifiers.from_record(q.to_record()) == q
        True
        """
        return cls(**{k: v for k, v in record.items() if k in _NAMES})  # type: ignore[arg-type]


_NAMES = dict.fromkeys(field.name for field in fields(Qualifiers))  # asked for each statement
NONE = Qualifiers()
