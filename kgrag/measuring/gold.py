"""What a knowledge base holds of the gold of questions: documents, and the text of gold spans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgrag.errors import EvaluationError
from kgrag.evaluation.experiment import document_key
from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.run import RunResult
from kgrag.language.text import sentence_spans
from kgrag.store.store import Store
from kgrag.types import Document


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold of questions, as far as it is held.

    Attributes:
        documents: By the name that questions give them.
        missing: Names of documents that are not held.
    """

    documents: Mapping[str, Document]
    missing: tuple[str, ...]

    @classmethod
    def of(cls, queries: Sequence[GoldQuery], store: Store) -> "Gold":
        """Return the gold documents that a knowledge base holds.

        Raises:
            EvaluationError: If questions name gold and none of it is held.
        """
        wanted = dict.fromkeys(doc for q in queries for doc in (*q.gold_docs, *q.gold_spans))
        names: dict[str, str] = {}
        for card in store.document_cards():
            name = document_key(RunResult(card.doc_id, file=card.file), wanted.keys())
            if name in wanted:
                names[card.doc_id] = name
        if wanted and not names:
            raise EvaluationError(
                f"none of the {len(wanted)} gold documents ({', '.join(list(wanted)[:3])}, …) is "
                "in this knowledge base. Remedy: ingest them, or name another --kb"
            )
        held = {names[d.doc_id]: d for d in store.documents(list(names)) if d.doc_id in names}
        return cls(held, tuple(name for name in wanted if name not in held))

    def spans(self, query: GoldQuery) -> list[str]:
        """Return the text of each gold span that is held."""
        return [
            self.documents[doc].text[start:end]
            for doc, several in query.gold_spans.items()
            if doc in self.documents
            for start, end in several
        ]

    def references(self, query: GoldQuery) -> list[str]:
        """Return the texts that an answer's wording is compared with.

        These are the answers that a question has; without any, the sentences that its gold spans
        stand in, together as one text.
        """
        if query.answers:
            return list(query.answers)
        told = [
            _sentences_around(self.documents[doc].text, start, end)
            for doc, several in query.gold_spans.items()
            if doc in self.documents
            for start, end in several
        ]
        return ["\n".join(told)] if told else []


def _sentences_around(text: str, start: int, end: int) -> str:
    touched = [text[a:b] for a, b in sentence_spans(text) if a < end and start < b]
    return "".join(touched).strip()
