"""What a tool is, and the list of all of them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from inspect import getdoc, signature
from typing import TYPE_CHECKING, Any

from kgrag.tools.arguments import Arguments, adapter, checked

if TYPE_CHECKING:
    from kgrag.plain_knowledge_base import PlainKnowledgeBase
    from kgrag.statements.table import Cell, Table

TOOLS: "dict[str, Tool]" = {}
_KEPT = ("type", "enum", "description", "minimum", "maximum", "default", "required")
_ROWS: Mapping[str, Any] = {
    "type": "object",
    "required": ["name", "columns", "rows", "notes", "total"],
    "properties": {
        "name": {"type": "string"},
        "columns": {"type": "array", "items": {"type": "object", "required": ["key", "heading"]}},
        "rows": {"type": "array", "items": {"type": "object", "required": ["sources"]}},
        "notes": {"type": "array", "items": {"type": "string"}},
        "total": {"type": "integer"},
        "next_offset": {"type": "integer"},
    },
}


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that can be asked of a knowledge base.

    Attributes:
        name: At every door.
        text: What it does, in English; the first paragraph is a summary.
        chinese: The same in Chinese.
        arguments: A dataclass of its arguments.
        function: Takes a knowledge base and arguments, and returns a table, or what has `to_dict`.
        gives: JSON schema of what it returns.
        is_kept: Whether its result depends on arguments and state only, and is worth keeping.
        curates: Whether it is for those who keep the knowledge base: assistants and chat models are
            not given it, and servers have it only where readers may change something.
    """

    name: str
    text: str
    chinese: str
    arguments: type[Arguments]
    function: "Callable[[PlainKnowledgeBase, Any], Any]"
    gives: Mapping[str, Any]
    is_kept: bool
    curates: bool

    @property
    def summary(self) -> str:
        """What it does, in English on one line."""
        return " ".join(self.text.split())

    @property
    def is_table(self) -> bool:
        """Whether it returns a table."""
        return self.gives is _ROWS

    def __call__(self, base: "PlainKnowledgeBase", /, **given: object) -> Any:
        """Return what a knowledge base gives.

        Args:
            base: It.
            **given: Arguments by name; those that are None, empty or missing have their default.

        Raises:
            OutOfRangeError: If an argument is unknown, missing or not allowed.
            NotFoundError: If what is asked about is not held.
        """
        return self.run(base, checked(self.arguments, given))

    def run(self, base: "PlainKnowledgeBase", given: Arguments) -> Any:
        """Return what a knowledge base gives for checked arguments; see `__call__`."""
        found = self.function(base, given)
        if not self.is_table:
            return found
        from kgrag.tools.results import Page

        offset, limit = getattr(given, "offset", 0), getattr(given, "limit", 0)
        some = slice(offset, offset + limit if limit else None)
        told = {field.name: getattr(found, field.name) for field in fields(found)}
        if not found.total:
            told |= {"rows": found.rows[some], "total": len(found.rows)}
        return Page(**told, offset=offset, language=given.lang)

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of its arguments, short enough for a model."""
        full = adapter(self.arguments).json_schema()
        return _short(full, full.get("$defs", {}), is_whole=True)


def _short(
    field: Mapping[str, Any], defs: Mapping[str, Any], *, is_whole: bool = False
) -> dict[str, Any]:
    """Return the schema of an argument without titles, null, empty defaults and references."""
    kinds = [one for one in field.get("anyOf", [field]) if one.get("type") != "null"]
    told = {**defs.get(field.get("$ref", "").rpartition("/")[2], {}), **kinds[0], **field}
    left_out = ("description",) if is_whole else ()
    made = {
        key: told[key]
        for key in _KEPT
        if key not in left_out and told.get(key) not in (None, "", [], False)
    }
    if "items" in told:
        made["items"] = _short(told["items"], defs)
    if "properties" in told:
        required = told.get("required", [])
        ordered = sorted(told["properties"].items(), key=lambda one: one[0] not in required)
        made["properties"] = {name: _short(one, defs) for name, one in ordered}
    return made


def tool(
    chinese: str, *, gives: Mapping[str, Any] = _ROWS, is_kept: bool = True, curates: bool = False
) -> "Callable[[Callable[[PlainKnowledgeBase, Any], Any]], Tool]":
    """Make a function a tool of its name; its docstring says what it does.

    Args:
        chinese: The docstring in Chinese.
        gives: JSON schema of what it returns; a table by default.
        is_kept: Whether a server may keep its results until the knowledge base changes.
        curates: Whether only those who keep the knowledge base have it.
    """

    def declare(function: "Callable[[PlainKnowledgeBase, Any], Any]") -> Tool:
        kind = signature(function).parameters["given"].annotation
        kind = function.__globals__[kind] if isinstance(kind, str) else kind
        name, text = function.__name__.replace("_", "-"), getdoc(function) or ""
        TOOLS[name] = Tool(name, text, chinese, kind, function, gives, is_kept, curates)
        return TOOLS[name]

    return declare


def listing(
    name: str, headings: Mapping[str, str], rows: "Iterable[tuple[Cell, ...]]", *notes: str
) -> "Table":
    """Return a table without sources.

    Args:
        name: Of the table.
        headings: Of its columns in Chinese, by key; in English they are the keys.
        rows: Cells of each.
        *notes: On what is left out, or was done.
    """
    from kgrag.statements.table import Column, Row, Table

    columns = (Column(key, chinese, key.replace("_", " ")) for key, chinese in headings.items())
    return Table(name, tuple(columns), tuple(map(Row, rows)), notes)
