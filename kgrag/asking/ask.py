"""Answer one question: retrieve, write, cite, check, verify, and ask again where that fails."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kgrag.asking.knowledge import Held, Knowledge, facts_in
from kgrag.asking.models import QuestionModels, StageModels
from kgrag.asking.options import AskOptions
from kgrag.asking.retrieve import LEFT_OUT, Retrieved, retrieve
from kgrag.errors import KgragError, ModelError
from kgrag.generation.cite import cited_texts, resolve
from kgrag.generation.extract import answer as quote_answer
from kgrag.generation.follow_up import Turn, carry_over, rewrite_follow_up
from kgrag.generation.generate import generate
from kgrag.generation.integrate import integrate
from kgrag.generation.pack import pack
from kgrag.limits import check_whole, checked_text
from kgrag.llm.chat import OnText
from kgrag.llm.tokens import estimate_tokens
from kgrag.results import Answer, Context, ScoredChunk, Step, Verdict
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.systems import NO_SYSTEMS, Systems, preset
from kgrag.text import question_language
from kgrag.types import Language, Query
from kgrag.verification.attempt import NOT_VERIFIED, Attempt, Verified
from kgrag.verification.checks import check, mark
from kgrag.verification.methods import METHODS, unchecked
from kgrag.verification.rating import rate

QUOTED_INSTEAD = "The model could not answer: {}; sentences are quoted by rule instead."
NOTHING_QUOTED = (
    "The model could not answer: {}; rules found no sentence to quote instead, which does not mean "
    "that the documents hold no answer."
)
_NO_ANSWER: Mapping[Language, str] = {
    "zh": "模型未能作答，按规则也没有找到可以引用的句子；这不表示文件中没有答案。",
    "en": "The model could not answer, and rules found no sentence to quote;"
    " the documents may hold one.",
}
_UNSUPPORTED: Mapping[Language, str] = {
    "zh": "{1} 句中有 {0} 句得不到所引文字的支持",
    "en": "{} of {} sentences are not supported by what they cite",
}


def ask(
    question: str,
    *,
    knowledge: Knowledge,
    options: AskOptions,
    stages: StageModels | None,
    history: Sequence[Turn] = (),
    on_text: OnText | None = None,
    systems: Systems = NO_SYSTEMS,
) -> Answer:
    """Return an answer that a model wrote, with citations, checks and a verdict.

    Where no model is given, sentences are quoted by rule. Where it cannot be reached or gives
    nothing of use, they are, too, and a note says why.

    Args:
        question: In any words.
        knowledge: What is asked.
        options: How.
        stages: Gives the model of a stage; None has sentences quoted by rule.
        history: Earlier turns, oldest first: the question may lean on them.
        on_text: Called with each piece of the first answer as it comes, before citations are
            resolved; a later answer that replaces it is not streamed.
        systems: Pipelines of the program, which `options.system` may name.

    Raises:
        OutOfRangeError: If the question is too long.
        GarbledTextError: If it, or an earlier turn, was damaged on its way here.
    """
    checked_text("question", question)
    check_whole("history", *(text for turn in history for text in (turn.question, turn.answer)))
    pipeline = preset(options.system, systems)
    if stages is None or not question.strip():
        return _quoted(question, knowledge, pipeline, options, history)
    models = QuestionModels(
        stages,
        max_rounds=options.max_rounds,
        max_calls=options.max_calls,
        timeout_s=options.timeout_s,
    )
    asking = _Asking(question, knowledge, pipeline, options, models, history)
    try:
        return asking.answer(on_text)
    except ModelError as exc:
        rest = () if asking.understood else history
        quoted = _quoted(asking.question, knowledge, pipeline, options, rest)
        told = QUOTED_INSTEAD if quoted.found else NOTHING_QUOTED
        note = told.format(str(exc).rstrip("."))
        text = quoted.text if quoted.found else _NO_ANSWER[question_language(question)]
        used = Step("used", models.usage())
        steps = (*asking.steps, Step("fall back", note), *quoted.steps, used)
        notes = (note, *quoted.notes)
        return replace(quoted, text=text, notes=notes, steps=steps, fallback=True)


def _quoted(
    question: str,
    knowledge: Knowledge,
    pipeline: Pipeline,
    options: AskOptions,
    history: Sequence[Turn],
) -> Answer:
    """Return an answer made of sentences quoted by rule; no model is asked."""
    standing = carry_over(question, history) if history else question
    query = knowledge.query(standing)
    search = knowledge.search(query)
    held = Held.of(pipeline.retrieve(search, top_k=options.top_k), knowledge.store)
    found = quote_answer(
        query,
        held.results,
        documents=held.documents,
        headings=held.headings,
        embedder=knowledge.embedder(),
        max_sentences=options.max_sentences,
    )
    texts = cited_texts(found.citations, documents=held.documents)
    return mark(replace(found, checks=check(found, texts)))


class _Asking:
    """One question on its way.

    Attributes:
        question: As it is understood by itself.
        understood: Whether the conversation was read already.
        steps: What was done so far.
    """

    def __init__(
        self,
        question: str,
        knowledge: Knowledge,
        pipeline: Pipeline,
        options: AskOptions,
        models: QuestionModels,
        history: Sequence[Turn],
    ) -> None:
        self.question = question
        self.understood = False
        self.steps: list[Step] = []
        self._knowledge = knowledge
        self._pipeline = pipeline
        self._options = options
        self._models = models
        self._history = history
        self._at_first = 0  # how many steps the first answer took

    def answer(self, on_text: OnText | None) -> Answer:
        """Return the best answer within the bounds.

        Raises:
            ModelError: If there is no first answer.
        """
        self._understand()
        first = self._attempt(self.question, on_text)
        verified = self._verified(first)
        before = self.steps[: self._at_first]  # the loop has the steps of later answers
        steps = (*before, *verified.steps, Step("used", self._models.usage()))
        notes = (*verified.answer.notes, *_left_out(steps))
        verdict = _with_checks(verified.verdict, verified.answer)
        return mark(replace(verified.answer, verdict=verdict, steps=steps, notes=notes))

    def _verified(self, first: Attempt) -> Verified:
        """Return the best answer; nothing that a model does may lose the first one."""
        if self._options.verify == "none":
            return unchecked(first)
        try:
            return METHODS[self._options.verify].verify(
                self.question,
                first,
                self._attempt,
                language=question_language(self.question),
                model=self._models.of("verify"),
                budget=self._models.budget,
            )
        except KgragError as exc:
            verified = unchecked(first)
            reason = f"{NOT_VERIFIED}{exc}; {verified.verdict.reason}"
            verdict = replace(verified.verdict, status="unverified", reason=reason)
            return replace(verified, verdict=verdict)

    def _understand(self) -> None:
        """Make a follow-up question one that stands by itself."""
        if self._history:
            before = self._models.calls
            try:
                model = self._models.of("analyse")
                self.question = rewrite_follow_up(self.question, self._history, model=model)
                told, failed = self.question, False
            except ModelError as exc:
                if self._models.answers_like("analyse"):
                    raise
                self.question = carry_over(self.question, self._history)
                told, failed = f"{LEFT_OUT}{exc}\nby rule: {self.question}", True
            self.steps.append(Step("understand", told, self._models.calls - before, failed))
        self.understood = True

    def _attempt(self, wording: str, on_text: OnText | None = None) -> Attempt:
        """Retrieve with a wording, answer the question."""
        begun = len(self.steps)
        found = retrieve(
            wording,
            knowledge=self._knowledge,
            pipeline=self._pipeline,
            options=self._options,
            models=self._models,
            steps=self.steps,
        )
        if self._options.verify == "chats-grid":
            found = replace(found, results=self._rated(found.results))
        held = Held.of(found.results, self._knowledge.store)
        query = replace(self._knowledge.query(self.question), keywords=found.query.keywords)
        context = self._packed(query, found, held)
        before = self._models.calls
        answer = self._written(query, context, held, on_text)
        shown = f"{len(context.passages)} passages, about {context.tokens} tokens\n{answer.text}"
        self.steps.append(Step("generate", shown, self._models.calls - before))
        self._at_first = self._at_first or len(self.steps)
        return Attempt(wording, replace(answer, steps=tuple(self.steps[begun:])), context)

    def _rated(self, results: list[ScoredChunk]) -> list[ScoredChunk]:
        doc_ids = list(dict.fromkeys(r.chunk.doc_id for r in results))
        titles = {d.doc_id: d.title for d in self._knowledge.store.document_cards(doc_ids)}
        before = self._models.calls
        try:
            model = self._models.of("verify")
        except ModelError as exc:
            self.steps.append(Step("rate", f"{LEFT_OUT}{exc}", failed=True))
            return results
        rated = rate(
            self.question,
            results,
            language=question_language(self.question),
            model=model,
            titles=titles,
        )
        shown = ", ".join(str(rating) for _, rating in rated) or "none helps"
        detail = f"{shown}; {len(results) - len(rated)} dropped"
        self.steps.append(Step("rate", detail, self._models.calls - before))
        return [result for result, _ in rated]

    def _packed(self, query: Query, found: Retrieved, held: Held) -> Context:
        leaf = self._knowledge.settings().leaf
        return pack(
            query,
            held.results,
            documents=held.documents,
            headings=held.headings,
            facts=facts_in(held.results, self._knowledge.store, leaf=leaf),
            budget_tokens=self._options.context_tokens,
            compress=self._options.compress,
            count=estimate_tokens,
            rows=found.rows,
        )

    def _written(
        self, query: Query, context: Context, held: Held, on_text: OnText | None
    ) -> Answer:
        model = self._models.of("answer")
        draft = generate(
            query,
            context,
            model=model,
            template=self._options.template,
            history=self._history,
            on_text=on_text,
        )
        if self._options.integrate and context.passages:
            draft = integrate(query, draft, context, model=model)
        answer = resolve(
            query,
            draft,
            context,
            documents=held.documents,
            headings=held.headings,
            results=held.results,
        )
        texts = cited_texts(answer.citations, documents=held.documents, passages=context.passages)
        return replace(answer, checks=check(answer, texts))


def _with_checks(verdict: Verdict, answer: Answer) -> Verdict:
    """Return a verdict that does not pass what the checks without a model speak against."""
    bad = sum(not check.supported for check in answer.checks)
    if not verdict.passed or not bad:
        return verdict
    told = _UNSUPPORTED[question_language(answer.question)].format(bad, len(answer.checks))
    return replace(verdict, status="failed", reason=told)


def _left_out(steps: Sequence[Step]) -> list[str]:
    """Return a note for each step that a model could not do, each once."""
    failed = (step for step in steps if step.failed)
    return list(dict.fromkeys(f"{step.name}: {step.detail}" for step in failed))
