"""Tools as a chat model has them while it answers a question: bound to the question's documents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain
from typing import Any

from kgrag.answering.look_up import MOST_SOURCES, Given, Item
from kgrag.answering.search_context import SearchContext
from kgrag.llm.tools import Function
from kgrag.plain_knowledge_base import PlainKnowledgeBase
from kgrag.retrieval.filter import Filter
from kgrag.statements.selection import Selection
from kgrag.statements.table import Row, Table, shown, worded
from kgrag.text.answer_text import marks
from kgrag.tools.arguments import Dated, Within
from kgrag.tools.results import Found, Reading
from kgrag.tools.tool import TOOLS, Tool
from kgrag.types import Document, Language

# They answer, or give what no sentence can cite; `graph-query` asks for what `graph` draws, and
# `fetch` is `read` by another name.
_NOT_GIVEN = frozenset(["ask", "entities", "fetch", "graph", "overview", "problems"])
# What a model is not told of: results are cut where there is no room, and are in its language.
_UNSAID = {"lang", "limit", "offset", "system", "top_k", "paragraphs", "characters"}
_LOG = ("digest", "since")  # questions are about documents, not about what a folder went through
_UNSAID |= {"kind", "issuer", "in_force"}
_OF_ONE = frozenset(["document", "old"])  # arguments that bind a tool to a document
_WITHIN = frozenset(field.name for field in fields(Dated))
_CHARS = 2_000  # of a document that is read
_HITS = 5  # passages of a search
_STATEMENT = "graph-statement"  # the note that shows it: for a reader, not for a model


class _Part(PlainKnowledgeBase):
    """A knowledge base of which only the documents of a question are seen."""

    def __init__(self, base: PlainKnowledgeBase, knowledge: SearchContext) -> None:
        self.__dict__.update(vars(base))
        self._part = knowledge

    @property
    def _knowledge(self) -> SearchContext:
        return self._part

    def _cards(self) -> list[Document]:
        return [*self._part.cards().values()]

    def doc_ids(self, within: Filter | None = None) -> frozenset[str]:
        """Return the ids of the documents that are seen and that a filter leaves."""
        return super().doc_ids(within or Filter()) or frozenset()

    def rows(self, selection: Selection) -> Table:
        """Return the table of a selection of the documents that are seen."""
        asked = dict[str, object]()
        for name in ("document", "new"):
            if named := getattr(selection, name):
                asked[name] = self.find_document(named).doc_id
        if selection.kind not in ("cites", "cited_by", "basis", "digest"):
            asked["within"] = Filter(documents=tuple(sorted(self.doc_ids(selection.within))))
        return super().rows(selection.model_copy(update=asked))


@dataclass(frozen=True)
class ModelTools:
    """The tools for one question; see `kgrag.answering.look_up.Toolbox`.

    Attributes:
        base: The knowledge base.
        knowledge: Restricted to the documents of the question.
        language: Of the question.
    """

    base: PlainKnowledgeBase
    knowledge: SearchContext
    language: Language

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """The functions, with as few words as a model needs: they are sent with every call."""
        return tuple(map(_function, filter(self._is_given, TOOLS.values())))

    def call(self, name: str, arguments: Mapping[str, object]) -> Given:
        """Return what a tool gives; see `kgrag.answering.look_up.Toolbox`."""
        tool, held, day = TOOLS[name], self.knowledge.doc_ids, self.knowledge.as_of
        known = {field.name for field in fields(tool.arguments)}
        asked = {"characters": _CHARS, "top_k": _HITS, **arguments, "lang": self.language}
        asked |= {"as_of": day.day} if day.held else {}
        given = {name: asked[name] for name in asked if name in known or name in arguments}
        base = self.base if held is None else _Part(self.base, self.knowledge)
        found = tool(base, **given)
        items = [*_items(found, held)]
        notes, statement = _notes(found, self.language) if held is None else ((), "")
        columns = [found.columns[at] for at in _told(found)] if isinstance(found, Table) else ()
        return Given(items, " | ".join(c.heading(self.language) for c in columns), notes, statement)

    def _is_given(self, tool: Tool) -> bool:
        """Return whether a model has a tool; of some documents only if it can be bound to them."""
        if tool.curates or tool.name in _NOT_GIVEN:
            return False
        bound = issubclass(tool.arguments, Within) or _OF_ONE & {
            field.name for field in fields(tool.arguments)
        }
        return self.knowledge.doc_ids is None or bool(bound)


def _notes(found: object, language: Language) -> tuple[Sequence[str], str]:
    """Return what is told of what was found, and the statement that found it."""
    told = getattr(found, "notes", ())
    shown = [note for note in told if getattr(note, "kind", "") == _STATEMENT]
    return worded([note for note in told if note not in shown], language), "".join(shown)


def _function(tool: Tool) -> Function:
    schema = tool.schema()
    schema["properties"] = {
        name: _brief(field, is_filter=name in _WITHIN and issubclass(tool.arguments, Within))
        for name, field in schema["properties"].items()
        if name not in _UNSAID and (tool.name, name) != _LOG
    }
    told = tool.summary.partition(". ")[0]
    return {
        "type": "function",
        "function": {"name": tool.name, "description": told, "parameters": schema},
    }


def _brief(field: Mapping[str, Any], *, is_filter: bool) -> dict[str, Any]:
    """Return the schema of an argument; names alone say what filters and choices are."""
    brief = {key: field[key] for key in ("type", "enum", "items", "description") if key in field}
    items = field.get("items", {})
    if items == {"type": "string"}:  # one name, or several with commas
        brief = {"type": "string", "description": field["description"]}
    if items.get("type") == "object":  # which may be written as a text
        told = [part["description"] for part in items["properties"].values()]
        told = [field["description"], items["description"], *told[:1]]
        brief = {"type": "array", "items": {"type": "string"}, "description": " ".join(told)}
    if is_filter or "enum" in field:
        brief.pop("description", None)
    return brief


def _told(table: Table) -> list[int]:
    """Return the columns that a model is told: the title stands behind a row of a document."""
    keys = [column.key for column in table.columns]
    left_out = ("doc_id", "file", "title") if "doc_id" in keys else ("file",)
    return [at for at in table.filled if keys[at] not in left_out]


def _items(found: object, held: frozenset[str] | None) -> Iterator[Item]:
    """Yield what a tool found: rows of a table that documents held state, passages, a text."""
    match found:
        case Table():
            yield from _rows(found, held)
        case Found():
            for hit in found.hits:
                chunk = hit.chunk
                yield Item(chunk.text, ((chunk.doc_id, chunk.start, chunk.end),), is_row=False)
        case Reading() if found.excerpt:
            cited = found.excerpt.citation
            yield Item(cited.quote, ((cited.doc_id, cited.start, cited.end),), is_row=False)
            if found.next:
                yield Item(f"{found.next} (next)")


def _figures(table: Table, row: Row) -> Iterator[Row]:
    """Yield a row; of a comparison one for each figure, with what states that in place of its [k].

    A model is given each source under an [n] of the answer, which the [k] of a row are not.
    """
    if table.name != "compare" or len(row.sources) < 2:
        yield row
        return
    for at, cell in enumerate(row.cells[1:], start=1):
        for line in str(cell or "").splitlines():
            found = [(start, n) for start, _, n in marks(line) if 0 < n <= len(row.sources)]
            text = line[: found[0][0]] if found else line
            told = [row.cells[0], *[None] * (len(row.cells) - 1)]
            told[at] = text
            yield Row(tuple(told), tuple(row.sources[n - 1] for _, n in found) or row.sources)


def _rows(table: Table, held: frozenset[str] | None) -> Iterator[Item]:
    """Yield rows with their first sources; one of a document that states nothing is its title's."""
    keys = [column.key for column in table.columns]
    for row in chain.from_iterable(_figures(table, row) for row in table.rows):
        head = ((str(row.cells[keys.index("doc_id")]), 0, 1),) if "doc_id" in keys else ()
        stating = [(s.doc_id, s.start, s.end) for s in row.sources] or head
        here = [s for s in stating if held is None or s[0] in held]
        if here or held is None:
            cells = (row.cells[at] for at in _told(table))
            told = " | ".join("" if cell is None else str(shown(cell)) for cell in cells)
            yield Item(told, tuple(here[:MOST_SOURCES]))
