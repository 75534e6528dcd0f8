"""Tools that list what documents state; their arguments are those of one `Selection`."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from kgrag.errors import OutOfRangeError
from kgrag.tools.arguments import Dated, Rows, Within, argument, names
from kgrag.tools.tool import tool

if TYPE_CHECKING:
    from kgrag.plain_knowledge_base import PlainKnowledgeBase
    from kgrag.statements.selection import Kind, Selection
    from kgrag.statements.table import Table

# Fields of a selection, where they are called otherwise.
_FIELDS = {"place": "places", "old": "document", "words": "topic"}


def _document() -> Any:
    return argument(
        "Id, file, number, title or words of it.", "文件的编号、路径、文号、标题或标题中的词。"
    )


def _indicator() -> Any:
    return argument("Words of the indicator's name.", "指标名称中的词语。", default="")


def _standing() -> Any:
    return argument(
        "Only aims (planned), or only results (achieved).",
        "只列目标值（planned）或完成值（achieved）。",
        default="",
    )


@dataclass(frozen=True, kw_only=True)
class Selected(Rows):
    """What is selected of all that documents state."""

    def selection(self, kind: "Kind") -> "Selection":
        """Return it for the engine.

        Raises:
            OutOfRangeError: If something in it is not allowed.
        """
        from kgrag.retrieval.filter import parse_years
        from kgrag.statements.selection import Selection

        beside = {f.name for f in fields(Within)} if isinstance(self, Within) else ()
        given = {_FIELDS.get(f.name, f.name): f.name for f in fields(self) if f.name not in beside}
        asked: dict[str, Any] = {
            name: getattr(self, given[name]) for name in given.keys() & Selection.model_fields
        }
        if due := getattr(self, "due", ""):
            asked["years"] = parse_years(due)
        if isinstance(asked.get("indicator"), tuple):
            asked["indicator"] = "、".join(asked["indicator"])
        return Selection(kind=kind, within=getattr(self, "filter", None), **asked)


@dataclass(frozen=True, kw_only=True)
class Listed(Dated, Selected):
    """Which documents are listed."""

    words: str = argument(
        "Words of the title, number, issuer or file.",
        "标题、文号、发文机关或路径中的词。",
        default="",
    )
    status: str = argument(
        "Only in_force, not_yet, expired, repealed, superseded, amended, over, draft or unknown.",
        "只列该状态：in_force 有效、not_yet 未施行、expired 失效、repealed 废止、"
        "superseded 有新版、amended 修订、over 期满、draft 草案、unknown 不明。",
        default="",
    )


@dataclass(frozen=True, kw_only=True)
class Placed(Within, Selected):
    """Of what places and years figures are."""

    place: tuple[str, ...] = names("Only figures of this place.", "只列该地区的数值。", listed=True)
    due: str = argument(
        "Only figures of 2025, or 2025-2030.", "只列 2025 年或 2025-2030 年的。", default=""
    )


@dataclass(frozen=True, kw_only=True)
class Conflicting(Placed):
    """Which figures are compared for conflicts."""

    indicator: str = _indicator()


@dataclass(frozen=True, kw_only=True)
class Figures(Placed):
    """Which figures are listed."""

    indicator: str = _indicator()
    standing: Literal["", "planned", "achieved"] = _standing()


@dataclass(frozen=True, kw_only=True)
class Compared(Placed):
    """Which figures stand side by side."""

    indicator: tuple[str, ...] = argument(
        "Words of the indicator's name; several have columns each.",
        "指标名称中的词语；多个指标各占一列。",
        min_length=1,
        max_length=20,
    )
    standing: Literal["", "planned", "achieved"] = _standing()
    by: Literal["province", "region", "document"] = argument(
        "What is compared.",
        "按什么对比：省（province）、地区（region）或文件（document）。",
        default="province",
    )


@dataclass(frozen=True, kw_only=True)
class Responsible(Within, Selected):
    """Whose duties are listed."""

    agency: str = argument(
        "Words of its name, such as '四川 生态环境厅'.", "名称中的词语，如“四川 生态环境厅”。"
    )
    role: Literal["", "牵头", "负责", "配合"] = argument(
        "Only in this role.", "只列以该角色承担的任务。", default=""
    )


@dataclass(frozen=True, kw_only=True)
class Citing(Selected):
    """Whose citations are listed."""

    document: str = _document()


@dataclass(frozen=True, kw_only=True)
class Resting(Citing):
    """Whose basis is listed."""

    hops: int = argument("Steps at most.", "最多追溯几级。", default=3, ge=1, le=20)


@dataclass(frozen=True, kw_only=True)
class Timed(Within, Selected):
    """Which events are listed."""

    indicator: str = argument(
        "Only what is about this indicator.", "只列与该指标有关的。", default=""
    )
    place: tuple[str, ...] = names("Only of this place.", "只列该地区的。", listed=True)
    since: str = argument(
        "2022, 2022-06 or 2022-06-30.", "起始时间：2022、2022-06 或 2022-06-30。", default=""
    )
    until: str = argument("The last year, month or day.", "截止的年、月或日。", default="")
    events: tuple[Literal["written", "issued", "effective", "expires", "due", "target"], ...] = (
        names("Only these.", "只列所选的，可重复。")
    )


@dataclass(frozen=True, kw_only=True)
class Changed(Selected):
    """Which documents are compared."""

    old: str = argument(
        "Id, file, number, title or words of it.", "文件的编号、路径、文号、标题或标题中的词。",
        default="", placed=True,
    )  # fmt: skip
    new: str = argument(
        "The other document, named so, too.", "另一份文件，写法相同。", default="", placed=True
    )
    since: str = argument(
        "Instead: what changed since 7d, 2022-06.",
        "改为列出此后新增、替换、改名和撤下的文件：7d（七天）、2022、2022-06 或 2022-06-30。",
        default="",
    )
    parts: tuple[Literal["targets", "duties", "references", "clauses"], ...] = names(
        "Only these.", "只列所选的，可重复。"
    )

    def __post_init__(self) -> None:
        """Raise OutOfRangeError unless two documents are given, or `since` alone."""
        if len([*filter(None, (self.old, self.new))]) != (0 if self.since else 2):
            raise OutOfRangeError("give two documents to compare, OLD and NEW, or since")


@tool("列出文件及其效力：是否有效、自何日起、由何文件废止、修订或替代；逐份注明条款。")
def documents(base: "PlainKnowledgeBase", given: Listed) -> "Table":
    """List documents: in force or not, since when, what ended, amended or replaced them.

    Each has the clause that says so, with title, number, dates, issuers and region.
    """
    return base.rows(given.selection("documents"))


@tool("列出文件中的指标数值，含目标值和完成值，逐条注明条款。")
def targets(base: "PlainKnowledgeBase", given: Figures) -> "Table":
    """List the figures that documents state, planned and achieved, each with its clause."""
    return base.rows(given.selection("targets"))


@tool("并排对比指标的数值；未读出数值的一并列明。")
def compare(base: "PlainKnowledgeBase", given: Compared) -> "Table":
    """Set figures of indicators side by side; what states none is named."""
    return base.rows(given.selection("compare"))


@tool("列出某单位承担的任务：角色、任务和时限。")
def who(base: "PlainKnowledgeBase", given: Responsible) -> "Table":
    """List what an organ is to do: role, task, deadline."""
    return base.rows(given.selection("duties"))


@tool("列出某文件引用的文件及其作用（依据、落实、废止等）。")
def cites(base: "PlainKnowledgeBase", given: Citing) -> "Table":
    """List what a document cites, in which role (依据, 落实, 废止 …)."""
    return base.rows(given.selection("cites"))


@tool("列出引用某文件的文件；被引文件不必在库。")
def cited_by(base: "PlainKnowledgeBase", given: Citing) -> "Table":
    """List the documents that cite one, which need not be held."""
    return base.rows(given.selection("cited_by"))


@tool("逐级列出某文件的依据，以及依据的依据。")
def basis(base: "PlainKnowledgeBase", given: Resting) -> "Table":
    """List what a document rests on, and what that rests on, as a chain."""
    return base.rows(given.selection("basis"))


@tool("按日期列出文件、时限和目标年份。")
def timeline(base: "PlainKnowledgeBase", given: Timed) -> "Table":
    """List what happens when: documents, deadlines, target years, in order of date."""
    return base.rows(given.selection("timeline"))


@tool("列出低于或晚于上级的目标，以及同一地区各文件之间的差异。")
def conflicts(base: "PlainKnowledgeBase", given: Conflicting) -> "Table":
    """List aims below or after those above, and documents of a place that differ."""
    return base.rows(given.selection("conflicts"))


@tool("列出新文件相对旧文件的变化；或自某日起文件的增、换、撤。", is_kept=False)
def digest(base: "PlainKnowledgeBase", given: Changed) -> "Table":
    """List what a document changes of another: figures, duties, citations, clauses."""
    if given.since:
        from kgrag.statements.journal import changes_since

        return changes_since(base.store, given.since, given.parts)
    return base.rows(given.selection("digest"))
