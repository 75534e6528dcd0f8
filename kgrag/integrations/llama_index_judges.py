"""LlamaIndex: kgrag's chat models as its LLMs, and its evaluators as judges."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from kgrag.errors import ModelError, needs_extra
from kgrag.llm.chat import ChatModel, Message, Request

with needs_extra("llama-index", "judging by LlamaIndex's evaluators"):
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.evaluation import (
        AnswerRelevancyEvaluator,
        BaseEvaluator,
        ContextRelevancyEvaluator,
        EvaluationResult,
        FaithfulnessEvaluator,
        RelevancyEvaluator,
    )
    from llama_index.core.llms import (
        CompletionResponse,
        CompletionResponseGen,
        CustomLLM,
        LLMMetadata,
    )
    from llama_index.core.llms.callbacks import llm_completion_callback

# GRIM, table 4, by the names that its equations 4 to 7 give them.
GRIM_MEASURES = ("Resp-Ctxt-Qry", "Loy", "Resp-Qry", "Ctxt-Qry")
_WINDOW = 32_000  # tokens that LlamaIndex may fill; longer contexts it asks about in turns
_ANSWER = 1_024  # tokens


class KgragLLM(CustomLLM):
    """A chat model of kgrag as an `llm` of LlamaIndex.

    Example:
        `FaithfulnessEvaluator(llm=KgragLLM(model))`
    """

    context_window: int = _WINDOW
    num_output: int = _ANSWER
    _model: ChatModel = PrivateAttr()

    def __init__(self, model: ChatModel, **settings: Any) -> None:
        """Wrap a model.

        Args:
            model: Each prompt is a request of the stage `verify`.
            settings: As for every LLM of LlamaIndex.
        """
        super().__init__(**settings)
        self._model = model

    @property
    def metadata(self) -> LLMMetadata:
        """Return the metadata that LlamaIndex needs to build prompts."""
        return LLMMetadata(
            context_window=self.context_window,
            num_output=self.num_output,
            model_name=self._model.name,
        )

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        """Return the model's answer to a prompt.

        Raises:
            ModelError: As `ChatModel.complete`.
        """
        found = self._model.complete(Request((Message("user", prompt),), "verify"))
        found.report("ok")
        return CompletionResponse(text=found.text)

    @llm_completion_callback()
    def stream_complete(
        self, prompt: str, formatted: bool = False, **_: Any
    ) -> CompletionResponseGen:
        """Yield the complete answer once."""
        whole = self.complete(prompt, formatted=formatted)
        yield CompletionResponse(text=whole.text, delta=whole.text)


class GrimEvaluators:
    """The four judged measures of GRIM, by LlamaIndex's evaluators, as in the paper.

    Their means over questions are the paper's figures: equation 4 is the share of `Resp-Ctxt-Qry`
    (answer and context are in line with the question, yes or no), equation 5 of `Loy` (the answer
    is faithful to the context, yes or no), equations 6 and 7 the means of `Resp-Qry` and `Ctxt-Qry`
    (relevance of answer and context to the question, from 0 to 1).
    """

    def __init__(self, model: ChatModel) -> None:
        """Set up the evaluators with a model as judge."""
        llm = KgragLLM(model)
        found: tuple[BaseEvaluator, ...] = (
            RelevancyEvaluator(llm=llm),
            FaithfulnessEvaluator(llm=llm),
            AnswerRelevancyEvaluator(llm=llm),
            ContextRelevancyEvaluator(llm=llm),
        )
        self._evaluators = dict(zip(GRIM_MEASURES, found, strict=True))

    def __call__(self, question: str, answer: str, contexts: Sequence[str]) -> dict[str, float]:
        """Return the measures by name, each in [0, 1]; unparsable scores are omitted.

        Args:
            question: As asked.
            answer: Without [n].
            contexts: Retrieved texts; none counts as an empty one.

        Raises:
            ModelError: If the model fails.
        """
        found_for = list(contexts) or [""]
        scores = {}
        for name, evaluator in self._evaluators.items():
            try:
                found = _evaluated(evaluator, question, answer, found_for)
            except ValueError as exc:  # of a score that is no number, such as 1.2.3
                raise ModelError(f"LlamaIndex could not judge {name}: {exc}") from exc
            if found.score is not None and not found.invalid_result:
                scores[name] = min(1.0, max(0.0, float(found.score)))
        return scores


def _evaluated(
    evaluator: BaseEvaluator, question: str, answer: str, contexts: Sequence[str]
) -> EvaluationResult:
    """Run an evaluator in an event loop of its own, also inside a running one."""
    judging = evaluator.aevaluate(query=question, response=answer, contexts=contexts)
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, judging).result()
