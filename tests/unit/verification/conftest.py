import json
from dataclasses import replace

import pytest

from kgrag.answer.answer import Step
from kgrag.answer.blocks import Missing
from kgrag.answer.citation import Citation, SentenceCheck
from kgrag.results import Context, Passage
from kgrag.testing.scripted import ScriptedChat
from kgrag.verification.attempt import Attempt
from kgrag.verification.budget import Budget
from tests.fixtures.answers import answer_of

QUESTION = "到2025年，云岭省创建多少家绿色工厂？"
SCORES = {
    "reference_correctness": 0.9,
    "correctness": 0.9,
    "citation_accuracy": 0.9,
    "truthfulness": 0.9,
    "bias": 0.1,
    "conciseness": 0.9,
}
# The example of CoV-RAG, Table 13, for which σ holds.
TABLE_13 = {
    "reference_correctness": 0.21,
    "correctness": 0.21,
    "citation_accuracy": 0.81,
    "truthfulness": 0.91,
    "bias": 0.82,
    "conciseness": 0.89,
}


def attempt_of(text="500家[1]。", *, question=QUESTION, found=True, supported=True):
    """Return an attempt whose answer quotes the third passage of its context."""
    citation = Citation(1, "d", "规划", "d.txt", (), None, 102, 108, "500家以上", "d:256:1")
    passages = tuple(
        Passage(n, "d", "规划", ("一、目标",), 50 * (n - 1), 50 * n, f"段落{n}", f"d:256:{n}")
        for n in (1, 2, 3)
    )
    check = SentenceCheck(0, len(text), (1,), () if supported else ("500",), True)
    answer = answer_of(QUESTION, text, [citation], "scripted")
    first, *others = answer.blocks
    blocks = (replace(first, check=check), *others) if found else (Missing(),)
    steps = (Step("generate", text, 1),)
    return Attempt(question, replace(answer, blocks=blocks, steps=steps), Context(passages))


class Tries:
    """Gives attempts in order, and remembers the wordings."""

    def __init__(self, *attempts):
        self._attempts = list(attempts)
        self.wordings = []
        self.told = []

    def __call__(self, wording):
        """Return the next attempt; raise it where it is an error."""
        self.wordings.append(wording)
        return self._next()

    def again(self, attempt, problem):
        """Return the next attempt, as one on the same references."""
        self.told.append(("again", problem, ""))
        return self._next()

    def with_more(self, attempt, problem, wording):
        """Return the next attempt, as one on more references."""
        self.told.append(("more", problem, wording))
        return self._next()

    def _next(self):
        attempt = self._attempts[len(self.wordings) + len(self.told) - 1]
        if isinstance(attempt, Exception):
            raise attempt
        return attempt


def cov_json(scores, judgement, revised=""):
    return json.dumps(scores | {"judgement": judgement, "revised_question": revised})


@pytest.fixture
def made():
    """Everything that the tests of loops need."""

    class Made:
        question = QUESTION
        scores = SCORES
        table_13 = TABLE_13
        attempt = staticmethod(attempt_of)
        tries = Tries
        cov_json = staticmethod(cov_json)
        chat = ScriptedChat

        @staticmethod
        def budget(model, *, rounds=2, calls=40, clock=lambda: 0.0):
            return Budget(
                max_rounds=rounds,
                max_calls=calls,
                timeout_s=60,
                calls=lambda: len(model.requests),
                clock=clock,
            )

    return Made
