"""The blocks of an answer, with their citations."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self

from kgrag.answer.citation import MARKED, Citation, SentenceCheck
from kgrag.answer.sentences import joined_spans
from kgrag.json_ready import JsonReady
from kgrag.text.answer_text import NOT_FOUND, Form, without_marks
from kgrag.text.table_rows import named_cells
from kgrag.types import Language

_WIDE = "\u2e80-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
_CHINESE_BREAK = re.compile(rf"(?<=[{_WIDE}])[^\S\n]*+\n\s*+|(?<!\s)[^\S\n]*+\n\s*+(?=[{_WIDE}])")
_LINE_BREAK = re.compile(r"(?<!\s)[^\S\n]*+\n\s*+")
_LABEL: Mapping[Language, str] = {"zh": "{}：", "en": "{}:"}
_NEAREST: Mapping[Language, str] = {
    "zh": "没有条款直接写明；最相近的是：",
    "en": "No clause says so directly; the nearest are:",
}
_NO_ANSWER: Mapping[Language, str] = {
    "zh": "模型未能作答，按规则也没有找到可以引用的句子；这不表示文件中没有答案。",
    "en": "The model could not answer, and rules found no sentence to quote;"
    " the documents may hold one.",
}

Origin = Literal["writer", "added", "repointed"]
Mark = Callable[["Citation"], str]  # what stands in the text for a citation
Change = Callable[["Citation"], "Citation"]


@dataclass(frozen=True, slots=True)
class Run(JsonReady):
    """Words of a claim and their citations.

    Attributes:
        text: The words.
        citations: After the words.
        origin: Who chose the citations: the writer; `added` if it gave none; `repointed` if
            another passage supports the words better than the one it named.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    origin: Origin = "writer"


@dataclass(frozen=True, slots=True)
class Block(ABC):
    """A part of an answer."""

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Return its citations, in order, with repetitions."""
        return tuple(_cited(self))

    def citing(self, change: Change) -> Self:
        """Return the block with every citation mapped."""
        found: Self = _mapped(self, change)
        return found

    @abstractmethod
    def text(self, language: Language, mark: Mark) -> str:
        """Return the block as text.

        Args:
            language: Of generated words.
            mark: Returns the mark of a citation: `[1]`.
        """

    def remarked(self, language: Language, mark: Mark) -> str:
        """Return the block as text, with the remark of its check."""
        return self.text(language, mark)

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping; `kind` names the block, citations are their numbers."""
        told = {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.name != "check"}
        return {"kind": type(self).__name__.lower(), **told}


def _cited(value: object) -> Iterator[Citation]:
    """Yield the citations in a block, or in a value of its fields."""
    if isinstance(value, Citation):
        yield value
    if isinstance(value, Block | Run):
        value = tuple(getattr(value, f.name) for f in fields(value))
    if isinstance(value, tuple):
        for part in value:
            yield from _cited(part)


def _mapped(value: Any, change: Change) -> Any:
    """Return a block, or a value of its fields, with every citation mapped."""
    if isinstance(value, Citation):
        return change(value)
    if isinstance(value, Block | Run):
        names = (f.name for f in fields(value))
        return replace(value, **{name: _mapped(getattr(value, name), change) for name in names})
    return tuple(_mapped(v, change) for v in value) if isinstance(value, tuple) else value


def _plain(value: object) -> object:
    if isinstance(value, Citation):
        return value.number
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Run):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    return value.to_dict() if isinstance(value, Block) else value


@dataclass(frozen=True, slots=True)
class Quote(Block):
    """A clause, verbatim on one line.

    Attributes:
        citation: Its source.
    """

    citation: Citation

    def text(self, language: Language, mark: Mark) -> str:
        """Return headings, lead-in, quote and mark; `MARKED` is around the marked sentence."""
        cited = self.citation
        path = " › ".join((f"《{cited.title}》", *cited.heading_path))
        return f"{path}\n{_told(cited)}{mark(cited)}"

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, with title and text."""
        told = {"title": self.citation.title, "text": _told(self.citation)}
        return Block.to_dict(self) | told


@dataclass(frozen=True, slots=True)
class Row(Quote):
    """A row of a table: a quote, and the cells that it states.

    Attributes:
        lead: The cells in words: 四川省，2025年：≥24%; may be empty.
        further: More places that state the same.
    """

    lead: str = ""
    further: tuple[Citation, ...] = ()

    def text(self, language: Language, mark: Mark) -> str:
        """Return lead, title, sentence and marks on a line."""
        lead = f"{self.lead}，" if self.lead else ""
        return f"{lead}《{self.citation.title}》：{self.quoted(mark)}"

    def quoted(self, mark: Mark) -> str:
        """Return the sentence and the marks of all citations."""
        said = _one_line(_told(self.citation))
        return said + "".join(dict.fromkeys(map(mark, self.citations)))


@dataclass(frozen=True, slots=True)
class Claim(Block):
    """A sentence of a model, or computed from figures.

    Attributes:
        runs: Its words, with the citations of each part.
        form: As of `kgrag.text.answer_text.Statement`.
        before: Layout between it and the claim before: line breaks, bullets, bars of a table.
        paragraph: Number of its paragraph or list, from 0.
        check: Result of the offline checks; None without them.
    """

    runs: tuple[Run, ...]
    form: Form = "claim"
    before: str = ""
    paragraph: int = 0
    check: SentenceCheck | None = None

    def text(self, language: Language, mark: Mark) -> str:
        """Return its words with marks; a mark is not repeated at once."""
        parts = [""]
        for run in self.runs:
            if run.text:
                parts.append(run.text)
            for marked in map(mark, run.citations):
                if parts[-1] != marked:
                    parts.append(marked)
        return "".join(parts)

    def remarked(self, language: Language, mark: Mark) -> str:
        """Return its words with marks, and the remark of its check."""
        text = self.text(language, mark)
        return self.check.remarked(text, language) if self.check else text


@dataclass(frozen=True, slots=True)
class Missing(Block):
    """Nothing was found.

    Attributes:
        nearest: Whether what is nearest to the question follows.
        unanswered: Whether a model failed, so that the documents may have an answer.
    """

    nearest: bool = False
    unanswered: bool = False

    def text(self, language: Language, mark: Mark) -> str:
        """Return the sentence that says so."""
        if self.nearest:
            return _NEAREST[language]
        return _NO_ANSWER[language] if self.unanswered else NOT_FOUND[language]


@dataclass(frozen=True, slots=True)
class Side(Block):
    """The answer for one side of a comparison.

    Attributes:
        label: Name of the side.
        blocks: Its answer.
    """

    label: str
    blocks: tuple[Block, ...]

    def text(self, language: Language, mark: Mark) -> str:
        """Return the label alone; its blocks follow on their own lines."""
        return _LABEL[language].format(self.label)


def numbered(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return blocks with their citations numbered from 1, a place in a document once.

    Quotes and rows are numbered first, then the other citations of claims.
    """
    numbers: dict[tuple[str, int, int], int] = {}
    for claims in (False, True):
        for block in blocks:
            if isinstance(block, Claim) == claims:
                for cited in block.citations:
                    numbers.setdefault(_place(cited), len(numbers) + 1)
    return tuple(b.citing(lambda c: replace(c, number=numbers[_place(c)])) for b in blocks)


def leaves(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield blocks in the order of the text, sides before their blocks."""
    for block in blocks:
        yield block
        if isinstance(block, Side):
            yield from leaves(block.blocks)


def _place(cited: Citation) -> tuple[str, int, int]:
    return cited.doc_id, cited.start, cited.end


def _told(cited: Citation) -> str:
    """Return a clause behind its lead-in, a sentence that ends a line on its own.

    Rows of a table have the names of their columns.
    """
    if cited.columns:
        return _one_line(named_cells(cited.columns, cited.quote))
    parts = [f"{_one_line(cited.lead)}…\n"] if cited.lead else []
    for start, end in joined_spans(cited.quote):
        written = cited.quote[start:end]
        said = "：\n".join(map(_one_line, written.split("：\n")))
        is_marked = cited.marked == (cited.start + start, cited.start + end)
        gap = " " * (written[:1] == " " and written.lstrip()[:1].isascii())
        parts += [gap, said.join(MARKED) if is_marked else said, "\n" * written.endswith("\n")]
    return "".join(parts).strip()


def _one_line(text: str) -> str:
    """Return a quote on one line, in which nothing looks like a citation.

    Line breaks between Chinese characters are removed, others become spaces.
    """
    return without_marks(_LINE_BREAK.sub(" ", _CHINESE_BREAK.sub("", text.strip())))
