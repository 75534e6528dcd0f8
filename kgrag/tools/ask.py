"""The tool that answers a question."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kgrag.limits import MOST_CHARS, MOST_QUESTION_CHARS
from kgrag.tools.arguments import Dated, argument
from kgrag.tools.tool import tool

if TYPE_CHECKING:
    from kgrag.answer.answer import Answer
    from kgrag.answering.follow_up import Turn
    from kgrag.plain_knowledge_base import PlainKnowledgeBase
    from kgrag.tools.results import Answered, Cited

_ANSWER: Mapping[str, Any] = {
    "type": "object",
    "required": ["question", "text", "citations", "found", "method", "notes"],
    "properties": {
        "text": {"type": "string"},
        "found": {"type": "boolean"},
        "method": {"type": "string"},
        "notes": {"type": "array", "items": {"type": "string"}},
        "citations": {
            "type": "array",
            "items": {"type": "object", "required": ["number", "address", "reference", "quote"]},
        },
    },
}


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """An earlier question with its answer."""

    question: str = argument("As asked.", "所问。", max_length=MOST_QUESTION_CHARS)
    answer: str = argument("Its text.", "回答。", default="", max_length=100_000)
    cited: tuple[str, ...] = argument(
        "Titles of the documents that the answer cites.",
        "回答所引文件的标题。",
        default=(),
        max_length=200,
    )


@dataclass(frozen=True, kw_only=True)
class Asking(Dated):
    """How questions are answered."""

    system: str = argument(
        "Retrieval preset; grim by default.", "检索方案；默认为 grim。", default=""
    )
    writer: Literal["", "model", "quotes"] = argument(
        "A model, or clauses quoted by rule; the model where one is configured.",
        "由模型作答（model），或按规则摘引原文（quotes）；配置了模型的默认用模型。",
        default="",
    )
    template: Literal["", "normal", "focused", "markdown", "steps"] = argument(
        "Form of a model's answer; normal by default.",
        "模型作答的格式；默认为 normal。",
        default="",
    )
    verify: Literal["", "cov", "cov-paper", "chats-grid", "none"] = argument(
        "How a model's answer is verified; cov by default.",
        "核验模型回答的方法；默认为 cov。",
        default="",
    )
    max_chars: int | None = argument(
        "Characters of clauses at most, where rules answer; 1080 by default.",
        "按规则作答时最多引多少字的条款，默认1080。",
        default=None,
        ge=100,
        le=MOST_CHARS,
    )

    def answer(
        self,
        base: "PlainKnowledgeBase",
        question: str,
        *,
        history: "Sequence[Turn]" = (),
        top_k: int | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> "Answer":
        """Return the answer to a question; see `KnowledgeBase.ask`."""
        return base.ask(
            question,
            system=self.system or None,
            top_k=top_k,
            writer=self.writer or None,
            template=self.template or None,
            verify=self.verify or None,
            history=history,
            within=self.filter,
            as_of=self.day,
            max_chars=self.max_chars,
            on_text=on_text,
        )


@dataclass(frozen=True, kw_only=True)
class Asked(Asking):
    """A question to be answered."""

    question: str = argument(
        "In words; titles in 《》 are matched exactly.", "问题；《》中的标题按原样查找。"
    )
    top_k: int | None = argument(
        "Chunks that the answer may draw from.",
        "回答最多依据几个片段。",
        default=None,
        ge=1,
        le=200,
    )
    history: tuple[Earlier, ...] = argument(
        "Earlier questions, the oldest first.",
        "先前的问答，最早的在前。",
        default=(),
        max_length=20,
    )

    @property
    def turns(self) -> "list[Turn]":
        """The earlier questions."""
        from kgrag.answering.follow_up import Turn

        return [Turn(one.question, one.answer, one.cited) for one in self.history]


@tool("回答问题；每句话注明所引文件、章节和位置。", gives=_ANSWER, is_kept=False)
def ask(base: "PlainKnowledgeBase", given: Asked) -> "Answered":
    """Answer a question; every sentence cites document, section and place."""
    return answered(base, given)


def answered(
    base: "PlainKnowledgeBase", given: Asked, on_text: Callable[[str], None] | None = None
) -> "Answered":
    """Return the answer to a question with its citations checked.

    Args:
        base: The knowledge base.
        given: The question.
        on_text: Called with each piece of a model's draft.

    Raises:
        KgragError: As `KnowledgeBase.ask`.
    """
    from kgrag.tools.results import Answered

    found = given.answer(
        base, given.question, history=given.turns, top_k=given.top_k, on_text=on_text
    )
    return Answered(found, _cited(base, found))


def _cited(base: "PlainKnowledgeBase", answer: "Answer") -> "list[Cited]":
    """Return the citations of an answer, each checked against its document as it is now."""
    from kgrag.metadata import SILENT
    from kgrag.tools.results import Cited

    citations = answer.citations
    held = {d.doc_id: d for d in base.store.documents(sorted({c.doc_id for c in citations}))}
    remarks: dict[int, list[str]] = {}
    for check in answer.checks:
        if remark := check.remark(answer.language):
            for number in check.numbers:
                remarks.setdefault(number, []).append(remark.strip())
    return [
        Cited(
            c,
            held[c.doc_id].metadata if c.doc_id in held else SILENT,
            c.doc_id in held and held[c.doc_id].text[c.start : c.end] == c.quote,
            tuple(remarks.get(c.number, ())),
            answer.language,
        )
        for c in citations
    ]


# What writes an answer, by the ending of a file.
FORMS: "Mapping[str, Callable[[Answer], bytes]]" = {
    ".docx": lambda answer: answer.to_docx(),
    ".html": lambda answer: answer.to_html().encode(),
    ".md": lambda answer: answer.to_markdown().encode(),
}
