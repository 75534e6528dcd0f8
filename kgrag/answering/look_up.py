"""Tools in the hands of the model that writes an answer: what they give is numbered."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Protocol

from kgrag.answer.answer import Step
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
from kgrag.types import Document, Language
from kgrag.verification.attempt import passage_block

_AT_ONCE = 4  # calls of one round
_told = catalogue("kgrag.answering", "look_up.toml")
_PLACES, _KINDS = 12, 6  # that are named of an archive


@dataclass(frozen=True, slots=True)
class Item:
    """A row or passage that a tool gave.

    Attributes:
        text: Cells of the row; of a passage the text of its span.
        source: Document, start and end of what states it; None for what cannot be cited.
        is_row: Whether the text is not that of the span.
    """

    text: str
    source: tuple[str, int, int] | None = None
    is_row: bool = True


@dataclass(frozen=True, slots=True)
class Given:
    """What a tool gave.

    Attributes:
        items: In order.
        head: Headings of the rows' cells; empty for none.
        notes: On what was left out, in words.
    """

    items: Sequence[Item]
    head: str = ""
    notes: Sequence[str] = ()


class Toolbox(Protocol):
    """Functions that a model may call, over the documents that a question is about."""

    @property
    def functions(self) -> tuple[Function, ...]:
        """Return them as a chat model is told."""
        ...

    def call(self, name: str, arguments: Mapping[str, object]) -> Given:
        """Return what one of them gives.

        Raises:
            KgragError: If arguments are not allowed, or what they name is not held.
        """
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
        room: Tokens that are left for results.
        calls_left: Returns the calls of the model that are left, the answer's included.
        steps: Receives one for each call of a tool.
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
    _made: set[str] = field(default_factory=set, init=False)

    @property
    def functions(self) -> tuple[Function, ...]:
        """The tools that may be called now: none once rounds, room or calls are used up."""
        may_call = self.rounds > 0 and self.room > 0 and self.calls_left() > 1
        return self.toolbox.functions if self.toolbox and may_call else ()

    def answered(self, calls: Sequence[ToolCall]) -> Iterator[Message]:
        """Yield the calls of a round, and a message with the result of each."""
        self.rounds -= 1
        yield Message("assistant", "", tuple(calls))
        for n, call in enumerate(calls):
            told = self._called(call) if n < _AT_ONCE else self._say("many", most=_AT_ONCE)
            shown = f"{call.name} {call.arguments}\n{told.splitlines()[0]}"
            self.steps.append(Step("look up", shown))
            yield Message("tool", told, call_id=call.call_id)

    def add(self, given: Given) -> tuple[str, int]:
        """Number what was given, as much as there is room for; return its text, and how much."""
        self._read({item.source[0] for item in given.items if item.source})
        rows, blocks = [given.head] if given.head else [], list[str]()
        n = 0
        for item in given.items:
            passage = self._passage(item)
            if item.source and passage is None:  # deleted meanwhile
                continue
            is_new = passage is not None and passage.number > len(self.context.passages)
            block, is_line = self._block(item, passage, is_new=is_new)
            if (cost := estimate_tokens(block) + 1) > self.room:
                break
            self.room, n = self.room - cost, n + 1
            (rows if is_line else blocks).append(block)
            if passage and is_new:
                self.context = replace(self.context, passages=(*self.context.passages, passage))
        listed = [fence("\n".join(rows), label="rows")] if len(rows) > bool(given.head) else []
        return "\n\n".join((*listed, *blocks)), n

    def _block(self, item: Item, passage: Passage | None, *, is_new: bool) -> tuple[str, bool]:
        """Return what is written of an item, and whether it is one line."""
        if passage is None:
            return one_line(item.text), True
        if item.is_row:
            return row_line(passage), True
        if not is_new:
            return f"[{passage.number}] {self._say('above')}", True
        return passage_block(passage), False

    def archive(self) -> str:
        """Return what there is to be found, in words: documents, years, places, kinds."""
        cards = self.knowledge.cards()
        years = [card.metadata.year for card in cards.values() if card.metadata.year]
        of = self.knowledge.settings().places
        places = Counter(p for doc_id in cards for p in of.get(doc_id, ()))
        kinds = Counter(k for card in cards.values() for k in document_kinds(card.title)[:1])
        told = self._say("archive", n=len(cards))
        if years:
            told += self._say("years", first=min(years), last=max(years))
        for name, counted, most in (("places", places, _PLACES), ("kinds", kinds, _KINDS)):
            if counted:
                told += self._say(name, listed=_counted(counted, most))
        return told

    def _called(self, call: ToolCall) -> str:
        """Return the result of a call in words, or what is wrong with it."""
        names = [str(f["function"]["name"]) for f in self.toolbox.functions] if self.toolbox else []
        if self.toolbox is None or call.name not in names:
            return self._say("unknown", name=one_line(call.name), names=", ".join(names))
        try:
            arguments = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError):
            arguments = None
        if not isinstance(arguments, dict):
            return self._say("no-json")
        key = json.dumps([call.name, arguments], sort_keys=True)
        if key in self._made:
            return self._say("again")
        self._made.add(key)
        try:
            given = self.toolbox.call(call.name, arguments)
        except KgragError as exc:
            return self._say("wrong", name=call.name, error=in_language(exc, self.language))
        text, n = self.add(given)
        if not given.items:
            first = self._say("nothing", name=call.name)
        else:
            first = self._say("found", name=call.name, total=len(given.items), n=n)
            first += self._say("cut") if n < len(given.items) else ""
        return "\n".join(filter(None, (first, *map(one_line, given.notes), text)))

    def _read(self, doc_ids: Collection[str]) -> None:
        """Read documents that are not held yet."""
        new = sorted({*doc_ids} - self.held.documents.keys())
        if new:
            found = {d.doc_id: d for d in self.knowledge.store.documents(new)}
            headings = self.knowledge.store.headings([*found]) if found else {}
            self.held.documents.update(found)
            self.held.headings.update({i: headings.get(i, []) for i in found})

    def _passage(self, item: Item) -> Passage | None:
        """Return the passage of an item, which may have its number already; None for none."""
        if item.source is None or item.source[0] not in self.held.documents:
            return None
        doc_id, start, end = item.source
        same = (
            p.number
            for p in self.context.passages
            if (p.doc_id, p.start, p.end) == item.source
            or not (item.is_row or p.is_row or p.doc_id != doc_id or start < p.start or p.end < end)
        )
        number = next(same, len(self.context.passages) + 1)
        document: Document = self.held.documents[doc_id]
        path = HeadingTree(document.text, self.held.headings[doc_id]).path(start, end)
        made = Passage(
            number, doc_id, document.title, path, start, end, item.text, "", "", item.is_row
        )
        marked = self.knowledge.with_marks(Context((made,)), self.language).passages[0]
        return marked if item.is_row else self._shortened(marked)

    def _shortened(self, passage: Passage) -> Passage:
        """Return the beginning of a passage that fits into the room that is left."""
        while (cost := estimate_tokens(passage_block(passage)) + 1) > self.room and passage.text:
            most = len(passage.text) * self.room // (cost + 1)
            end = passage.start + most
            passage = replace(passage, text=passage.text[:most], end=end)
        return passage

    def _say(self, key: str, **values: object) -> str:
        return str(_told[self.language][key]).format(**values)


def _counted(values: Mapping[str, int], most: int) -> str:
    """Return the most frequent values with their counts."""
    ordered = sorted(values.items(), key=lambda one: (-one[1], one[0]))
    more = ", …" if len(ordered) > most else ""
    return ", ".join(f"{value} {n}" for value, n in islice(ordered, most)) + more
