"""The ways to verify an answer, by name: an ablation is another entry."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from kgrag.answer.answer import Verdict
from kgrag.llm.chat import ChatModel
from kgrag.text.words import question_language
from kgrag.types import Language
from kgrag.verification.attempt import Attempt, Try, Verified
from kgrag.verification.budget import Budget
from kgrag.verification.chats_grid import chats_grid
from kgrag.verification.cov import cov, cov_paper, cov_two_stage
from kgrag.verification.reasons import reason


class Verify(Protocol):
    """A way to verify an answer."""

    def __call__(
        self,
        question: str,
        first: Attempt,
        try_: Try,
        *,
        language: Language,
        model: ChatModel,
        budget: Budget,
    ) -> Verified:
        """Return the best answer within a budget, and what is known of it.

        Raises nothing that a model could cause: an answer that cannot be checked stands.

        Args:
            question: As asked.
            first: The first answer.
            try_: Gives further ones.
            language: Of the question.
            model: Checks and rewrites.
            budget: Answers, calls and seconds.
        """
        ...


@dataclass(frozen=True, slots=True)
class Method:
    """A way to verify and how far it goes by default.

    Attributes:
        verify: The loop.
        max_rounds: Answers at most, the first included.
    """

    verify: Verify
    max_rounds: int


def unchecked(first: Attempt) -> Verified:
    """Return an answer with what the offline checks say of it; needs no model."""
    checks = first.answer.checks
    bad = sum(not check.supported for check in checks)
    told = reason("offline", question_language(first.answer.question), bad, len(checks))
    return Verified(first.answer, Verdict("none", "failed" if bad else "passed", reason=told))


def _none(
    question: str,
    first: Attempt,
    try_: Try,
    *,
    language: Language,
    model: ChatModel,
    budget: Budget,
) -> Verified:
    return unchecked(first)


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "cov": Method(cov, 2),
        "cov-paper": Method(cov_paper, 2),  # CoV-RAG, Algorithm 1: one further answer
        "cov-two-stage": Method(cov_two_stage, 2),
        "chats-grid": Method(chats_grid, 5),  # Chats-Grid, section III.C
        "none": Method(_none, 1),
    }
)
