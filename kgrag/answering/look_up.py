"""Tools in the hands of the model that writes an answer: what they give is numbered."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from kgrag.answer.answer import Step
from kgrag.answer.sentences import sentence_around
from kgrag.answering.pack import one_line, row_line
from kgrag.answering.search_context import ResultsWithDocuments, SearchContext
from kgrag.errors import KgragError
from kgrag.llm.chat import Message
from kgrag.llm.prompts import fence
from kgrag.llm.tokens import estimate_tokens
from kgrag.llm.tools import Function, ToolCall
from kgrag.results import Context, Passage
from kgrag.text.headings import HeadingTree
from kgrag.text.messages import catalogue, in_language
from kgrag.text.titles import document_kinds
from kgrag.text.visible import shortened
from kgrag.types import Language
from kgrag.verification.attempt import passage_block

MOST_SOURCES = 3  # of a row; each is a passage with its [n]
_AT_ONCE = 4  # calls of one round
_PLACES, _KINDS = 12, 6  # that are named of an archive
_SHOWN = 300  # characters of a call among the steps, and of the sentence that states a row
_told = catalogue("kgrag.answering", "look_up.toml")


@dataclass(frozen=True, slots=True)
class Item:
    """A row or passage that a tool gave.

    Attributes:
        text: Cells of the row; of a passage the text of its span.
        sources: Document, start and end of what states it, of the first `MOST_SOURCES`; none for
            what cannot be cited.
        is_row: Whether the text is not that of the span.
    """

    text: str
    sources: tuple[tuple[str, int, int], ...] = ()
    is_row: bool = True


@dataclass(frozen=True, slots=True)
class Given:
    """What a tool gave: items in order, headings of their cells, and notes in words.

    `statement` is what was sent to the database, for a reader.
    """

    items: Sequence[Item]
    head: str = ""
    notes: Sequence[str] = ()
    statement: str = ""


class Toolbox(Protocol):
    """Functions that a model may call, over the documents that a question is about."""

    @property
    def functions(self) -> tuple[Function, ...]:
        """Return them as a chat model is told."""
        ...

    def call(self, name: str, arguments: Mapping[str, object]) -> Given:
        """Return what one of them gives; raise KgragError for what is wrong with the call."""
        ...


@dataclass
class LookUp:
    """Calls of tools for one answer.

    Attributes:
        toolbox: The tools; None for rows that are given without a call.
        knowledge: The knowledge base, restricted to the documents of the question.
        context: Of the answer so far; grows by what is found.
        held: Its documents; grows, too.
        language: Of the question.
        rounds: Rounds of calls that are left.
        room: Tokens of the results of a round.
        calls_left: Returns the calls of the model that are left, the answer's included.
        steps: Receives one for each call of a tool.
        has_found: Whether a call was answered, if only by nothing.
    """

    toolbox: Toolbox | None
    knowledge: SearchContext
    context: Context
    held: ResultsWithDocuments
    language: Language
    rounds: int
    room: int
    calls_left: Callable[[], int]
    steps: list[Step]
    has_found: bool = field(default=False, init=False)
    _made: set[str] = field(default_factory=set, init=False)

    @property
    def functions(self) -> tuple[Function, ...]:
        """The tools that may be called now: none once rounds or calls are used up."""
        may_call = self.toolbox is not None and self.rounds > 0 and self.calls_left() > 1
        return self.toolbox.functions if self.toolbox and may_call else ()

    def answered(self, calls: Sequence[ToolCall]) -> Iterator[Message]:
        """Yield the calls of a round, and a message with the result of each."""
        self.rounds, room = self.rounds - 1, self.room
        yield Message("assistant", "", tuple(calls))
        for n, call in enumerate(calls):
            told = self._say("many", most=_AT_ONCE)
            if n < _AT_ONCE:
                told, room = self._called(call, room)
            asked = shortened(f"{call.name} {call.arguments}", _SHOWN)
            said = [line for line in told.splitlines() if not line.startswith("<")]
            self.steps.append(Step("look up", "\n".join((asked, *said[:2]))))
            yield Message("tool", told, call_id=call.call_id)

    def add(self, given: Given, room: int) -> tuple[str, int, int]:
        """Number what was given; return its text, how much of it had room, and the room left."""
        documents = {doc_id for item in given.items for doc_id, _, _ in item.sources}
        self.held.read(documents, self.knowledge.store)
        rows, blocks, n = [given.head] * bool(given.head), list[str](), 0
        for item in given.items:
            passages = self._passages(item)
            if item.sources and not passages:  # deleted meanwhile
                continue
            new = tuple(p for p in passages if p.number > len(self.context.passages))
            block, is_line = self._block(item, passages, is_new=bool(new))
            if (cost := estimate_tokens(block) + 1) > room:
                break
            room, n = room - cost, n + 1
            (rows if is_line else blocks).append(block)
            self.context = replace(self.context, passages=(*self.context.passages, *new))
        listed = [fence("\n".join(rows), label="rows")] if len(rows) > bool(given.head) else []
        return "\n\n".join((*listed, *blocks)), n, room

    def _block(self, item: Item, passages: Sequence[Passage], *, is_new: bool) -> tuple[str, bool]:
        """Return what is written of an item, and whether it is one line."""
        if not passages or item.is_row:
            return row_line(passages) if passages else one_line(item.text), True
        if not is_new:
            return f"[{passages[0].number}] {self._say('above')}", True
        return passage_block(passages[0]), False

    def archive(self) -> str:
        """Return what there is to be found, in words: documents, years, places, kinds."""
        cards, of = self.knowledge.cards(), self.knowledge.settings().places
        years = [card.metadata.year for card in cards.values() if card.metadata.year] or [0]
        places = Counter(p for doc_id in cards for p in of.get(doc_id, ()))
        kinds = Counter(k for card in cards.values() for k in document_kinds(card.title)[:1])
        return self._say(
            "archive",
            n=len(cards),
            first=min(years),
            last=max(years),
            places=", ".join(f"{place} {n}" for place, n in places.most_common(_PLACES)) or "-",
            kinds=", ".join(f"{kind} {n}" for kind, n in kinds.most_common(_KINDS)) or "-",
        )

    def _called(self, call: ToolCall, room: int) -> tuple[str, int]:
        """Return the result of a call in words, or what is wrong with it; and the room left."""
        functions = self.toolbox.functions if self.toolbox else ()
        names = [str(function["function"]["name"]) for function in functions]
        if self.toolbox is None or call.name not in names:
            return self._say("unknown", name=one_line(call.name), names=", ".join(names)), room
        try:
            arguments = json.loads(call.arguments or "{}")
            key = json.dumps(arguments, ensure_ascii=False).encode("utf-8", "replace").decode()
            arguments = json.loads(key)  # without lone surrogates
        except (ValueError, RecursionError):
            arguments = None
        if not isinstance(arguments, dict):
            return self._say("no-json"), room
        if (made := f"{call.name} {key}") in self._made:
            return self._say("again"), room
        self._made.add(made)
        try:
            given = self.toolbox.call(call.name, arguments)
        except KgragError as exc:
            said = fence(in_language(exc, self.language), label="error")  # it may name titles
            return f"{self._say('wrong', name=call.name)}\n{said}", room
        if given.statement:
            self.steps.append(Step("statement", given.statement))
        self.has_found = True
        text, n, left = self.add(given, room)
        found = self._say("found", name=call.name, total=len(given.items), n=n)
        found += self._say("cut") if n < len(given.items) else ""
        notes = fence("\n".join(given.notes), label="notes") if given.notes else ""
        return "\n".join(filter(None, (found, notes, text))), left

    def _passages(self, item: Item) -> tuple[Passage, ...]:
        """Return the passages of an item, which may have their numbers already."""
        found: dict[int, Passage] = {}
        after = len(self.context.passages) + 1
        for doc_id, start, end in item.sources:
            document = self.held.documents.get(doc_id)
            if document is None:
                continue
            if item.is_row:
                start, end = sentence_around(document.text, start, end, longest=_SHOWN)
            same = (
                p.number
                for p in (*self.context.passages, *found.values())
                if (p.doc_id, p.is_row) == (doc_id, item.is_row)
                and (p.text == item.text or not item.is_row)
                and p.start <= start
                and end <= p.end
            )
            number = next(same, after)
            after += number == after
            path = HeadingTree(document.text, self.held.headings.get(doc_id, ())).path(start, end)
            made = Passage(number, *(doc_id, document.title, path, start, end), item.text, "")
            found.setdefault(number, replace(made, is_row=item.is_row))
        return self.knowledge.with_marks(Context((*found.values(),)), self.language).passages

    def _say(self, key: str, **values: object) -> str:
        return str(_told[self.language][key]).format(**values)
