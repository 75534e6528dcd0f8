"""Model-based scores of answers (GRIM, Chats-Grid, CoV-RAG)."""

from collections.abc import Callable, Mapping, Sequence

from kgrag.answer.answer import Answer
from kgrag.evaluation.answers import KnowledgeBase
from kgrag.evaluation.citations import plain_text
from kgrag.evaluation.queries import GoldQuery
from kgrag.llm.chat import ChatModel
from kgrag.llm.tokens import estimate_tokens
from kgrag.results import Context, Passage
from kgrag.text.words import question_language
from kgrag.types import Chunk
from kgrag.verification.attempt import Attempt
from kgrag.verification.chats_grid import self_check
from kgrag.verification.cov import score
from kgrag.verification.loop import Case

# Gives GRIM's measures of a question, an answer and contexts: `GrimEvaluators` does.
Evaluators = Callable[[str, str, Sequence[str]], Mapping[str, float]]

_TOP_K = 10
# Measures of the references alone: an answer that found nothing has them, and 0 in the others.
_OF_CONTEXT = frozenset({"grim:Ctxt-Qry", "grid:context_recall", "cov:reference_correctness"})
_WORST = {"cov:bias": 1.0}


class AnswerJudge:
    """Judges answers of a system against their citations and its search results.

    Measures: `grim:…` as in `GrimEvaluators` (GRIM, equations 4 to 7), `grid:…` (Chats-Grid,
    section III.C, criteria 1 to 4; the fifth, tokens, is counted), `cov:…` (CoV-RAG, Table 1; low
    bias is good) and `cov:true`, 1 if its judgement is true.
    """

    def __init__(
        self,
        base: KnowledgeBase,
        model: ChatModel,
        *,
        system: str | None = None,
        evaluators: Evaluators | None = None,
    ) -> None:
        """Store the judge.

        Args:
            base: Source of references.
            model: Judges.
            system: Retrieval preset for further references; the configured one for None.
            evaluators: GRIM's measures; left out for None.
        """
        self._base = base
        self._model = model
        self._system = system
        self._evaluators = evaluators

    def __call__(self, query: GoldQuery, answer: Answer) -> dict[str, float]:
        """Return the scores of an answer, each in [0, 1].

        An answer that found nothing scores 0 (bias 1); a GRIM measure with an unreadable response
        is left out.

        Raises:
            ModelError: If the model returns no scores.
        """
        question, language = query.question, question_language(query.question)
        context = self._context(question, answer)
        attempt = Attempt(question, answer, context)
        scores: dict[str, float] = {}
        if self._evaluators:
            texts = [passage.text for passage in context.passages]
            found = self._evaluators(question, plain_text(answer), texts)
            scores |= {f"grim:{name}": value for name, value in found.items()}
        case = Case(question, language, self._model)
        grid = self_check(case, attempt)
        scores |= {f"grid:{name}": value for name, value in grid.items()}
        told = score(case, attempt)
        scores |= {f"cov:{name}": value for name, value in told.scores.items()}
        scores["cov:true"] = float(told.judgement == "true")
        if answer.found:
            return scores
        return {
            name: value if name in _OF_CONTEXT else _WORST.get(name, 0.0)
            for name, value in scores.items()
        }

    def _context(self, question: str, answer: Answer) -> Context:
        """Return the chunks of the quotes, then search results, as far as they fit.

        This is the same for all writers, since extractive answers have no context of their own.
        """
        store = self._base.store
        cited = store.chunks(list(dict.fromkeys(c.chunk_id for c in answer.citations)))
        found = self._base.search(question, system=self._system, top_k=_TOP_K)
        chunks = list({c.chunk_id: c for c in (*cited, *(hit.chunk for hit in found))}.values())
        titles = {d.doc_id: d.title for d in store.document_cards([c.doc_id for c in chunks])}
        return _packed(
            chunks, titles, at_least=len(cited), most=self._base.config.answer.context_tokens
        )


def _packed(
    chunks: Sequence[Chunk], titles: Mapping[str, str], *, at_least: int, most: int
) -> Context:
    """Return numbered passages: all cited ones, and as many others as fit."""
    passages: list[Passage] = []
    tokens = 0
    for chunk in chunks:
        cost = estimate_tokens(chunk.text)
        if len(passages) >= at_least and tokens + cost > most:
            continue
        tokens += cost
        passages.append(
            Passage(
                len(passages) + 1,
                chunk.doc_id,
                titles.get(chunk.doc_id, ""),
                chunk.heading_path,
                chunk.start,
                chunk.end,
                chunk.text,
                chunk.chunk_id,
            )
        )
    return Context(tuple(passages), tokens=tokens, best=1 if passages else 0)
