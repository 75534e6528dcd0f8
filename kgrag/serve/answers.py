"""Answers with what a reader checks their citations by."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

from kgrag.answer.answer import Answer
from kgrag.answer.citation import Citation
from kgrag.api import KnowledgeBase
from kgrag.json_ready import JsonReady
from kgrag.metadata import SILENT, Metadata
from kgrag.serve.desk import Emit
from kgrag.serve.inputs import Asked
from kgrag.status import Status
from kgrag.types import Document, Language


def place_url(root: str, address: str) -> str:
    """Return where a place, or a document, is shown.

    Args:
        root: Of the knowledge base, without a slash at its end.
        address: DOCUMENT:START-END, or the id of a document.
    """
    return f"{root}/documents/{quote(address, safe='')}"


@dataclass(frozen=True, slots=True)
class Cited(JsonReady):
    """A citation with what it is checked by.

    Attributes:
        citation: It.
        metadata: Of the document; silent if it was deleted since.
        exact: Whether the document was read again and has the quote there, word for word.
        remarks: What the checks say of sentences that cite it; empty if they found nothing.
    """

    citation: Citation
    metadata: Metadata
    exact: bool
    remarks: tuple[str, ...] = ()

    def shown(self, root: str, language: Language) -> dict[str, object]:
        """Return a JSON-ready mapping, with its address as a URL."""
        cited, told = self.citation, self.metadata
        return cited.to_dict() | {
            "url": place_url(root, cited.address),
            "issuers": list(told.issuers),
            "issued": told.issue_date,
            "issued_is_inferred": told.is_issue_inferred,
            "exact": self.exact,
            "remarks": list(self.remarks),
            "standing": cited.status.told(language) if cited.status else "",
        }


def cited_in(base: KnowledgeBase, answer: Answer) -> list[Cited]:
    """Return the citations of an answer, each checked against its document as it is now."""
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
            exact=c.doc_id in held and held[c.doc_id].text[c.start : c.end] == c.quote,
            remarks=tuple(remarks.get(c.number, ())),
        )
        for c in citations
    ]


def answered(base: KnowledgeBase, asked: Asked, emit: Emit | None = None) -> Answer:
    """Return the answer to a question; a model's draft is sent as events `text`."""
    return base.ask(
        asked.question,
        system=asked.system or None,
        top_k=asked.top_k,
        writer=asked.writer,
        template=asked.template,
        verify=asked.verify,
        history=asked.turns,
        within=asked.filter,
        as_of=asked.as_of or None,
        max_chars=asked.max_chars,
        on_text=partial(_send, emit) if emit else None,
    )


def _send(emit: Emit, text: str) -> None:
    emit("text", {"text": text})


def answer_dict(base: KnowledgeBase, answer: Answer, root: str) -> dict[str, object]:
    """Return an answer as JSON-ready mapping, its citations with their addresses and checks."""
    shown = [cited.shown(root, answer.language) for cited in cited_in(base, answer)]
    return answer.to_dict() | {"citations": shown}


def card_shown(
    card: Document, root: str, statuses: Mapping[str, Status], language: Language
) -> dict[str, object]:
    """Return what a list shows of a document."""
    status = statuses[card.doc_id]
    told = {"status": status.to_dict(), "standing": status.told(language)}
    return card.card_dict() | told | {"url": place_url(root, card.doc_id)}
