"""A question read by models side by side, then searched; each way may fail by itself."""

import json

import pytest

from kgrag.asking.models import QuestionModels
from kgrag.asking.retrieve import retrieve
from kgrag.asking.stopped import StoppedError
from kgrag.config import Config, SearchConfig
from kgrag.errors import ModelOutputError, ModelUnavailableError
from kgrag.retrieval.systems import preset
from kgrag.testing.scripted import ScriptedChat

QUESTION = "到2025年，A省创建多少家绿色工厂？"
ALL = Config(search=SearchConfig(hyde=True, graph_query=True, expansions=2))
QUERY = "SELECT doc_id, title FROM kg_documents WHERE title LIKE '%B省%'"
ANSWERS = {
    "analysis": json.dumps({"keywords": [{"name": "牵头", "synonyms": ["负责"]}], "critical": "A"}),
    "expansions": json.dumps({"questions": ["B省绿色工厂目标？"]}),
    "hyde": "B省创建绿色工厂300家。",
    "graph_query": json.dumps({"query": QUERY, "explanation": "B省的文件"}),
}


class Stages:
    """The same scripted model for all stages, behind one endpoint or two."""

    def __init__(self, *, together=True, **answers):
        self.asked = []
        self._together = together
        self._answers = ANSWERS | answers
        self._model = ScriptedChat(self._answer)

    def of(self, stage):
        """Return the model."""
        return self._model

    def are_together(self, one, other):
        """Return what was said."""
        return self._together

    def _answer(self, request):
        kind = request.schema_name or request.stage
        if kind not in self._answers:  # plain text: the made-up passage
            kind = "hyde"
        self.asked.append(kind)
        return self._answers[kind]


@pytest.fixture
def found(knowledge, options):
    """Return a function that retrieves with a script; gives what was found, and the steps."""

    def run(stages, *, config=ALL, max_calls=20, question=QUESTION):
        chosen = options(config=config)
        models = QuestionModels(stages, max_rounds=1, max_calls=max_calls, timeout_s=60)
        result = retrieve(
            question,
            knowledge=knowledge,
            pipeline=preset(chosen.system),
            options=chosen,
            models=models,
        )
        return result, result.steps

    return run


def test_all_ways_to_read_a_question_are_asked_and_told_in_order(found):
    """Whatever came first; what each gave stands in its step."""
    stages = Stages()
    result, steps = found(stages)
    assert sorted(stages.asked) == ["analysis", "expansions", "graph_query", "hyde"]
    assert [step.name for step in steps] == ["analyse", "expand", "hyde", "graph query", "retrieve"]
    assert [step.calls for step in steps] == [1, 1, 1, 1, 0]
    assert steps[0].detail == "keywords and synonyms: 牵头、负责\ncritical: A"
    assert steps[1].detail == "B省绿色工厂目标？"
    assert steps[2].detail == ANSWERS["hyde"]
    assert QUERY in steps[3].detail
    assert result.query.keywords == ("牵头", "负责")
    assert any("B省绿色工厂实施方案" in row for row in result.rows)


def test_only_the_analysis_is_asked_where_nothing_more_is_wanted(found):
    """No wording, no passage, no query."""
    stages = Stages()
    result, steps = found(stages, config=Config(search=SearchConfig(expansions=0)))
    assert stages.asked == ["analysis"]
    assert [step.name for step in steps] == ["analyse", "retrieve"]
    assert result.rows == []
    assert steps[1].detail.startswith("1. A省绿色工厂实施方案, characters 0-")


def test_further_wordings_search_too(found):
    """With the question's keywords; what they find says so."""
    config = Config(search=SearchConfig(expansions=1))
    result, _ = found(Stages(), config=config)
    told = {reason for r in result.results for reason in r.via if reason.startswith("also found")}
    assert told == {"also found by 《B省绿色工厂目标？》"}
    plain, _ = found(Stages(), config=Config(search=SearchConfig(expansions=0)))
    assert not [reason for r in plain.results for reason in r.via if "also found" in reason]


@pytest.mark.parametrize("failing", ["analysis", "expansions", "graph_query"])
def test_a_way_that_fails_is_left_out_and_told(found, failing):
    """The others go on, and the question's own words search."""
    result, steps = found(Stages(**{failing: ModelOutputError("no JSON", kind="malformed")}))
    names = {"analysis": "analyse", "expansions": "expand", "graph_query": "graph query"}
    left_out = [step.name for step in steps if "no JSON" in step.detail]
    assert left_out == [names[failing]]
    assert result.results


def test_one_call_is_kept_for_the_answer(found):
    """Of three, two may read the question."""
    stages = Stages()
    _, steps = found(stages, max_calls=3)
    assert len(stages.asked) == 2
    kept = [step.name for step in steps if "kept for the answer" in step.detail]
    assert kept == ["hyde", "graph query"]


def test_an_endpoint_that_is_gone_is_an_error_where_the_answer_needs_it(found):
    """Behind an endpoint of its own, reading is left out."""
    gone = ModelUnavailableError("nobody answers")
    with pytest.raises(StoppedError, match="nobody answers") as stopped:
        found(Stages(analysis=gone))
    (step,) = stopped.value.steps
    assert (step.name, step.failed) == ("analyse", True)
    result, steps = found(Stages(analysis=gone, together=False))
    assert "nobody answers" in steps[0].detail
    assert result.results
