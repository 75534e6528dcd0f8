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
        is_centred: Whether header and short columns are centred.
        is_english: Whether the document is in English.
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
    is_centred: bool = False
    is_english: bool = False


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
    Plan("projects", "borderless", n_rows=(45, 45), font_pt=9),
    Plan("duties", "three-line", n_rows=(6, 12), framed=True),
    Plan("indicators", "banded", n_rows=(8, 16), is_centred=True),
    Plan("contacts", "borderless", n_rows=(8, 20), framed=True),
    Plan("duties", "ruled", "down", (25, 40), font_pt=9),
    Plan("form", "ruled", n_rows=(6, 12)),
    Plan("report", "three-line", n_rows=(6, 14), framed=True, is_english=True),
    Plan("contacts", "three-line", n_rows=(6, 16), framed=True, is_centred=True),
    Plan("duties", "banded", n_rows=(6, 14), font_pt=9),
    Plan("report", "borderless", n_rows=(8, 20), is_english=True),
    Plan("indicators", "borderless", n_rows=(26, 28), two_headers=True, is_centred=True),
    Plan("form", "borderless", n_rows=(6, 12)),
    Plan("contacts", "headed", n_rows=(10, 30)),
    Plan("amounts", "ruled", "down", (40, 60), font_pt=9),
    Plan("measures", "ruled", n_rows=(6, 14), is_english=True),
    Plan("amounts", "three-line", n_rows=(6, 12), framed=True, is_centred=True),
    Plan("projects", "banded", n_rows=(20, 45), font_pt=8),
    Plan("measures", "banded", n_rows=(6, 14), is_english=True),
    Plan("projects", "three-line", n_rows=(10, 30), framed=True, font_pt=9),
    Plan("report", "headed", n_rows=(8, 20), is_english=True, is_centred=True),
)
# Tables within cells are of Word files and web pages alone.
NESTED = (Plan("nested", "ruled", n_rows=(3, 6)), Plan("nested", "three-line", n_rows=(3, 6)))


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
        centred=_short_columns(table) if plan.is_centred else frozenset(),
    )
    if not plan.framed:
        return table
    if plan.is_english:
        return replace(table, caption=f"Table {number}. Progress by region")
    place = random.choice(words.PLACES)
    return replace(
        table,
        caption=f"表{number}  {place}{_CAPTIONS[plan.kind]}",
        unit=random.choice(("", "单位：万吨", "单位：亿元")) if plan.kind == "indicators" else "",
        notes=tuple(random.sample(_NOTES, random.randint(0, 2))),
    )


_CAPTIONS = MappingProxyType({
    "indicators": "“十五五”时期主要指标", "duties": "重点任务分工",
    "projects": "重点项目清单", "amounts": "补贴标准", "contacts": "责任单位及联系人",
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
    down = plan.groups == "down"
    names = ("类别", "序号", "重点任务", "牵头单位", "配合单位", "完成时限")[not down :]
    header = tuple(map(Cell, names))
    labels = [f"{group}方面" for group in random.sample(words.GROUPS, len(words.GROUPS))]
    body = _grouped(plan, labels, rows, random)
    widths = (0.1, 0.07, 0.37, 0.15, 0.18, 0.13) if down else (0.07, 0.47, 0.15, 0.18, 0.13)
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
        before = ["补贴对象", "经营规模"]
        widths: tuple[float, ...] = (0.18, 0.22, 0.14, 0.14, 0.14, 0.18)
    else:
        body, before, widths = rows, ["经营规模"], (0.28, 0.18, 0.18, 0.18, 0.18)
    under = ["省级", "市级"] if plan.two_headers else ["省级补贴（元/亩）", "市级补贴（元/亩）"]
    header = _header(plan, before, "补贴标准（元/亩）", under, ["比上年", "备注"])
    first = len(before)
    right = frozenset({first, first + 1, first + 2})
    return Table(plan.kind, plan.layout, (*header, *body), len(header), widths, right)


def _short_columns(table: Table) -> frozenset[int]:
    """Return the columns but the first whose texts have eight characters at most."""
    columns = zip(*table.slots()[table.n_header :], strict=True)
    return frozenset(j for j, column in enumerate(columns) if j and max(map(len, column)) < 9)


def _contacts(plan: Plan, random: Random) -> Table:
    """Return a table of words only."""
    rows: list[Row] = [tuple(map(Cell, ("责任单位", "职责分工", "联系人", "联络方式", "备注")))]
    for _ in range(random.randint(*plan.n_rows)):
        duty = "，".join(words.clauses(random, random.choice((1, 1, 2))))
        note = random.choice(("", "", "", "双周报送", "挂图作战"))
        name = random.choice(words.NAMES)
        way = random.choice(("市政务专网", "值班热线", ""))
        rows.append(tuple(map(Cell, (words.organs(random, 1), duty, name, way, note))))
    return Table(plan.kind, plan.layout, tuple(rows), 1, (0.25, 0.32, 0.12, 0.17, 0.14))


def _form(plan: Plan, random: Random) -> Table:
    """Return a form: names and values side by side, some values over the whole width."""
    rows: list[Row] = []
    labels = random.sample(words.FIELDS, len(words.FIELDS))
    for i in range(random.randint(*plan.n_rows)):
        values = [_or_empty(words.value(random), random) for _ in range(2)]
        if i and random.random() < 0.2:
            rows.append((Cell(labels.pop()), Cell(words.task(random, 2), col_span=3)))
        else:
            rows.append((Cell(labels.pop()), Cell(values[0]), Cell(labels.pop()), Cell(values[1])))
    return Table(plan.kind, plan.layout, tuple(rows), 1, (0.18, 0.32, 0.18, 0.32))


def _report(plan: Plan, random: Random) -> Table:
    """Return figures by region, in English."""
    labels = ("Region", "Facilities", "Emissions (kt)", "Change", "Status")
    rows: list[Row] = [tuple(map(Cell, labels))]
    for region in random.sample(words.REGIONS, random.randint(*plan.n_rows)):
        figures = [
            f"{random.randint(2, 400)}",
            f"{random.uniform(1, 9000):,.1f}",
            f"{random.uniform(-20, 20):+.1f}%",
        ]
        status = random.choice(("On track", "Delayed", "Under review", ""))
        rows.append(tuple(map(Cell, (region, *(_or_empty(f, random) for f in figures), status))))
    return Table(
        plan.kind, plan.layout, tuple(rows), 1, (0.32, 0.14, 0.2, 0.14, 0.2), frozenset({1, 2, 3})
    )


def _measures(plan: Plan, random: Random) -> Table:
    """Return duties in English, their texts wrapped."""
    rows: list[Row] = [tuple(map(Cell, ("No.", "Measure", "Lead agency", "Deadline")))]
    for i in range(1, random.randint(*plan.n_rows) + 1):
        text = " ".join(random.sample(words.ENGLISH, random.randint(1, 2)))
        agency = random.choice(("Ministry of Energy", "Department of Transport", ""))
        due = random.choice(("June 2027", "31 December 2026", "Ongoing"))
        rows.append(tuple(map(Cell, (str(i), text, agency, due))))
    return Table(plan.kind, plan.layout, tuple(rows), 1, (0.08, 0.5, 0.24, 0.18))


def _nested(plan: Plan, random: Random) -> Table:
    """Return a table with tables in some of its cells."""
    rows: list[Row] = [tuple(map(Cell, ("序号", "支持对象", "支持内容")))]
    for i in range(1, random.randint(*plan.n_rows) + 1):
        inner = _indicators(Plan("inner", "ruled", n_rows=(2, 4)), random) if i % 2 else None
        text = "，".join(words.clauses(random, 1)) + (f"，见附表{i}" if inner else "")
        rows.append((Cell(str(i)), Cell(words.organs(random, 1)), Cell(text, inner=inner)))
    return Table(plan.kind, plan.layout, tuple(rows), 1, (0.08, 0.16, 0.76))


_DRAWN: MappingProxyType[str, Callable[[Plan, Random], Table]] = MappingProxyType({
    "indicators": _indicators, "duties": _duties, "projects": _projects, "amounts": _amounts,
    "contacts": _contacts, "form": _form, "report": _report, "measures": _measures,
    "nested": _nested,
})  # fmt: skip
