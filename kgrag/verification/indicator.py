"""CoV-RAG's indicator σ: when what verification says calls for retrieving again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kgrag.answer.answer import Problem

Judgement = Literal["true", "false", "unclear"]

# CoV-RAG, Table 1; bias is the one that is better when low.
MEASURES = (
    "reference_correctness",
    "correctness",
    "citation_accuracy",
    "truthfulness",
    "bias",
    "conciseness",
)


@dataclass(frozen=True, slots=True)
class Verification:
    """What a model says of an answer: (s_k, s_y, n, x') in CoV-RAG, section 2.3.

    Attributes:
        scores: By measure of `MEASURES`, each in [0, 1].
        judgement: Whether the answer is accurate, factual and clear.
        revised_question: A question that is easier to retrieve with and to answer; empty where
            the answer is true, or nobody gave one.
        problem: What is wrong with an answer that is not true; ours, not the paper's.
    """

    scores: Mapping[str, float]
    judgement: Judgement
    revised_question: str = ""
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Scores at which references are retrieved anew: CoV-RAG, footnote 2.

    Attributes:
        reference_correctness: This or less.
        correctness: Less than this.
        bias: More than this.
        truthfulness: This or less.
    """

    reference_correctness: float = 0.27
    correctness: float = 0.26
    bias: float = 0.7
    truthfulness: float = 0.92


FOOTNOTE_2 = Thresholds()


def unmet(
    verification: Verification, thresholds: Thresholds = FOOTNOTE_2, *, found: bool = True
) -> list[str]:
    """Return the conditions of σ on scores and judgement that do not hold, in words.

    Args:
        verification: What was said of an answer.
        thresholds: Those of the paper by default.
        found: False for an answer that says that nothing was found. It has no content to score,
            so that the references alone must be bad, and the judgement not true. Ours: answers
            in the paper always answer.
    """
    scores, least = verification.scores, thresholds
    conditions = {
        f"reference correctness at most {least.reference_correctness}": (
            scores["reference_correctness"] <= least.reference_correctness
        )
    }
    if found:
        conditions |= {
            "judged false": verification.judgement == "false",
            f"correctness below {least.correctness}": scores["correctness"] < least.correctness,
            f"bias above {least.bias}": scores["bias"] > least.bias,
            f"truthfulness at most {least.truthfulness}": (
                scores["truthfulness"] <= least.truthfulness
            ),
        }
    else:
        conditions["not judged true"] = verification.judgement != "true"
    return [condition for condition, holds in conditions.items() if not holds]


def sigma(
    verification: Verification, thresholds: Thresholds = FOOTNOTE_2, *, found: bool = True
) -> bool:
    """Return σ(s_k, s_y, n, x'): whether to retrieve with the revised question.

    CoV-RAG, Algorithm 1 line 5 and footnote 2: all scores and the judgement are bad, and there
    is a revised question. See `unmet`.
    """
    return bool(verification.revised_question) and not unmet(verification, thresholds, found=found)
