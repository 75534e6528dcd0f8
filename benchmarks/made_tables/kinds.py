"""Tables of the kinds that policy documents have, drawn from a seed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType

from benchmarks.made_tables import words
from benchmarks.made_tables.parts import Cell, Table

Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Which table to draw.

    Attributes:
        kind, layout: As of `Table`.
        groups: How rows are grouped: `down` by a cell merged downwards, `across` by a row of one
            cell, or not at all.
        n_rows: From, to.
        two_headers: Whether the header has two rows.
        framed: Whether caption, unit line and notes stand around it.
        landscape, repeats_header, font_pt: As of document and table.
    """

    kind: str
    layout: str
    groups: str = ""
    n_rows: tuple[int, int] = (6, 12)
    two_headers: bool = False
    framed: bool = False
    landscape: bool = False
    repeats_header: bool = True
    font_pt: float = 10.5


# Without rules between rows nothing tells how far down a label reaches, so no groups there.
PLANS = (
    Plan("indicators", "ruled", "down", two_headers=True, framed=True),
    Plan("duties", "ruled", "down", (6, 14)),
    Plan("projects", "ruled", n_rows=(28, 45)),
    Plan("amounts", "ruled", "down", (4, 8), two_headers=True, framed=True),
    Plan("indicators", "borderless", framed=True),
    Plan("indicators", "three-line", two_headers=True, framed=True),
    Plan("duties", "shaded", "down", (8, 14), landscape=True),
    Plan("projects", "ruled", n_rows=(20, 60), repeats_header=False, font_pt=8),
    Plan("amounts", "shaded", n_rows=(5, 9), font_pt=9),
    Plan("indicators", "ruled", "across", (10, 20)),
)


def draw(plan: Plan, number: int, random: Random) -> Table:
    """Return a table of a plan.

    Args:
        plan: What it is to be.
        number: Of the table in its document, from 1, for its caption.
        random: Where chance comes from.
    """
    table = _DRAWN[plan.kind](plan, random)
    table = replace(
        table,
        repeats_header=plan.repeats_header,
        font_pt=plan.font_pt,
        middle=plan.layout == "ruled" and random.random() < 0.5,
    )
    if not plan.framed:
        return table
    place = random.choice(words.PLACES)
    return replace(
        table,
        caption=f"表{number}  {place}{_CAPTIONS[plan.kind]}",
        unit=random.choice(("", "单位：万吨", "单位：亿元")) if plan.kind == "indicators" else "",
        notes=tuple(random.sample(_NOTES, random.randint(0, 2))),
    )


_CAPTIONS = MappingProxyType({
    "indicators": "“十五五”时期主要指标", "duties": "重点任务分工",
    "projects": "重点项目清单", "amounts": "补贴标准",
})  # fmt: skip
_NOTES = (
    "注：带[ ]的为五年累计数，年度数据以统计部门公布的为准。",
    "注：空白处表示该年度不设目标。",
    "说明：表内价格按2024年不变价计算。",
)


def _grouped(plan: Plan, labels: list[str], rows: list[Row], random: Random) -> list[Row]:
    """Return rows with the labels of their groups before or above them."""
    if not plan.groups:
        return rows
    starts = sorted(random.sample(range(1, len(rows)), min(len(labels), len(rows) // 3) - 1))
    bounds = [0, *starts, len(rows)]
    grouped: list[Row] = []
    for label, start, end in zip(labels, bounds, bounds[1:], strict=False):
        if plan.groups == "across":
            grouped += [(Cell(label, col_span=len(rows[start])),), *rows[start:end]]
        else:
            grouped += [(Cell(label, row_span=end - start), *rows[start]), *rows[start + 1 : end]]
    return grouped


def _header(
    plan: Plan, before: list[str], over: str, under: list[str], after: list[str]
) -> list[Row]:
    """Return header rows: `over` stands over `under` if there are two, else each by itself."""
    if not plan.two_headers:
        return [tuple(Cell(label) for label in (*before, *under, *after))]
    first = [Cell(label, row_span=2) for label in before]
    last = [Cell(label, row_span=2) for label in after]
    upper = (*first, Cell(over, col_span=len(under)), *last)
    return [upper, tuple(Cell(label) for label in under)]


def _indicators(plan: Plan, random: Random) -> Table:
    n = random.randint(*plan.n_rows)
    rows: list[Row] = []
    for i, (name, unit) in enumerate(random.sample(words.INDICATORS, n), 1):
        figures = [_or_empty(words.figure(random, unit), random) for _ in range(3)]
        nature = random.choice(("约束性", "预期性"))
        rows.append(tuple(map(Cell, (str(i), name, unit, *figures, nature))))
    labels = random.sample(words.GROUPS, len(words.GROUPS))
    if plan.groups == "across":
        labels = [f"（{'一二三四五'[i]}）{label}" for i, label in enumerate(labels)]
    before, after = ["序号", "指标", "单位", "2020年"], ["属性"]
    widths = (0.07, 0.33, 0.14, 0.12, 0.12, 0.12, 0.1)
    down = plan.groups == "down"
    header = _header(plan, ["类别"] * down + before, "目标值", ["2025年", "2030年"], after)
    return Table(
        plan.kind,
        plan.layout,
        (*header, *_grouped(plan, labels, rows, random)),
        len(header),
        (0.12, *(0.88 * width for width in widths)) if down else widths,
        frozenset({3 + down, 4 + down, 5 + down}) if random.random() < 0.6 else frozenset(),
    )


def _or_empty(text: str, random: Random) -> str:
    return random.choices((text, "", "—"), (16, 3, 1))[0]


def _duties(plan: Plan, random: Random) -> Table:
    rows: list[Row] = []
    for i in range(1, random.randint(*plan.n_rows) + 1):
        others = words.organs(random, random.randint(1, 4)) if random.random() < 0.8 else ""
        due = random.choice((f"{random.randint(2025, 2030)}年12月底前", "长期坚持", "2026年6月"))
        lead = words.organs(random, random.choice((1, 1, 2)))
        text = words.task(random, random.randint(1, 5))
        rows.append(tuple(map(Cell, (str(i), text, lead, others, due))))
    header = tuple(map(Cell, ("类别", "序号", "重点任务", "牵头单位", "配合单位", "完成时限")))
    labels = [f"{group}方面" for group in random.sample(words.GROUPS, len(words.GROUPS))]
    body = _grouped(plan, labels, rows, random)
    widths = (0.1, 0.07, 0.37, 0.15, 0.18, 0.13)
    return Table(plan.kind, plan.layout, (header, *body), 1, widths)


def _projects(plan: Plan, random: Random) -> Table:
    labels = (
        "序号",
        "项目名称",
        "建设内容及规模",
        "建设地点",
        "建设年限",
        "总投资（万元）",
        "责任单位",
    )
    rows: list[Row] = [tuple(map(Cell, labels))]
    for i in range(1, random.randint(*plan.n_rows) + 1):
        name, content = words.project(random)
        begin = random.randint(2023, 2027)
        years = f"{begin}-{begin + random.randint(1, 4)}"
        place = random.choice((random.choice(words.PLACES), ""))
        amount = random.choice(
            (f"{random.randint(900, 380000):,}", str(random.randint(900, 99999)))
        )
        organ = words.organs(random, 1)
        rows.append(tuple(map(Cell, (str(i), name, content, place, years, amount, organ))))
    widths = (0.07, 0.2, 0.28, 0.11, 0.1, 0.11, 0.13)
    return Table(plan.kind, plan.layout, tuple(rows), 1, widths, frozenset({5}))


def _amounts(plan: Plan, random: Random) -> Table:
    rows: list[Row] = []
    for i in range(1, random.randint(*plan.n_rows) + 1):
        size = f"{random.randint(1, 9) * 100 * i}亩（含）以上" if i % 2 else f"{i * 10}—{i * 20}亩"
        city = f"{random.randint(20, 1800):,}" if random.random() < 0.8 else ""
        share = random.choice((f"{random.randint(5, 70)}%", f"-{random.randint(1, 9)}.5%", "不变"))
        note = random.choice(("", "", "分两年拨付", "与上级补助不重复享受"))
        rows.append(tuple(map(Cell, (size, f"{random.randint(100, 9000):,}", city, share, note))))
    if plan.groups:
        labels = ["家庭农场", "农民合作社", "龙头企业"]
        body = _grouped(plan, labels, rows, random)
        before, widths = ["补贴对象", "经营规模"], (0.18, 0.22, 0.14, 0.14, 0.14, 0.18)
    else:
        body, before, widths = rows, ["经营规模"], (0.28, 0.18, 0.18, 0.18, 0.18)
    under = ["省级", "市级"] if plan.two_headers else ["省级补贴（元/亩）", "市级补贴（元/亩）"]
    header = _header(plan, before, "补贴标准（元/亩）", under, ["比上年", "备注"])
    first = len(before)
    right = frozenset({first, first + 1, first + 2})
    return Table(plan.kind, plan.layout, (*header, *body), len(header), widths, right)


_DRAWN: MappingProxyType[str, Callable[[Plan, Random], Table]] = MappingProxyType({
    "indicators": _indicators, "duties": _duties, "projects": _projects, "amounts": _amounts,
})  # fmt: skip
