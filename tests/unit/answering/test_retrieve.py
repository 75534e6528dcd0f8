"""Searching for a question, and again where an answer lacks something."""

import json
from dataclasses import replace

import pytest

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Quote
from kgrag.answer.citation import Citation
from kgrag.answering.attempts import Attempts, cited_first
from kgrag.answering.models import QuestionModels
from kgrag.config import Config, SearchConfig, VerifyConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ModelOutputError, ModelUnavailableError
from kgrag.results import Context, ScoredChunk
from kgrag.retrieval.systems import preset
from kgrag.testing.scripted import ScriptedChat
from kgrag.types import Chunk
from kgrag.verification.attempt import Attempt

QUESTION = "到2025年，A省创建多少家绿色工厂？"
ALL = Config(search=SearchConfig(hyde=True, graph_query=True, expansions=2))
QUERY = "SELECT doc_id, title FROM kg_documents WHERE title LIKE '%B省%'"
ANSWERS = {
    "question": json.dumps(
        {
            "keywords": [{"name": "牵头", "synonyms": ["负责"]}],
            "critical": "A",
            "wordings": ["B省绿色工厂目标？"],
            "passage": "B省创建绿色工厂300家。",
            "sub_questions": [],
        }
    ),
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
        kind = request.schema_name
        self.asked.append(kind)
        return self._answers[kind]


@pytest.fixture
def found(knowledge, options):
    """Return a function that retrieves with a script; gives what was found, and the steps."""

    def run(stages, *, config=ALL, max_calls=20, question=QUESTION, asked_of=knowledge):
        chosen = options(config=config)
        models = QuestionModels(stages, VerifyConfig(max_calls=max_calls))
        query = asked_of.query(question)
        attempts = Attempts(query, asked_of, preset("grim"), chosen, models)
        return *attempts._retrieved(question), attempts.steps

    return run


def test_one_call_reads_the_question_and_another_asks_the_graph(found):
    """Told in order, whatever came first; what each gave stands in its step."""
    stages = Stages()
    read, _results, steps = found(stages)
    assert sorted(stages.asked) == ["graph_query", "question"]
    assert [step.name for step in steps] == ["analyse", "graph query", "retrieve"]
    assert [step.calls for step in steps] == [1, 1, 0]
    assert steps[0].detail.splitlines() == [
        "keywords and synonyms: 牵头、负责",
        "critical: A",
        "wordings: B省绿色工厂目标？",
        "made-up passage: B省创建绿色工厂300家。",
        "sub-questions: none",
    ]
    assert QUERY in steps[1].detail
    assert read.query.keywords == ("牵头", "负责")
    assert any("B省绿色工厂实施方案" in row for row in read.lines)


def test_only_one_call_is_made_where_no_query_is_wanted(found):
    """As many wordings as settings say are asked for."""
    stages = Stages()
    read, _results, steps = found(stages, config=Config(search=SearchConfig(expansions=0)))
    assert stages.asked == ["question"]
    assert [step.name for step in steps] == ["analyse", "retrieve"]
    assert "wordings: none" in steps[0].detail
    assert read.lines == []
    assert steps[1].detail.startswith("1. A省绿色工厂实施方案, characters 0-")


class Seen(HashEmbedder):
    """Keeps what it encodes."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def embed(self, texts, task):
        """Encode."""
        self.texts += texts
        return super().embed(texts, task)


@pytest.mark.parametrize("hyde", [True, False])
def test_the_passage_is_compared_unless_settings_say_no(found, knowledge, hyde):
    assert SearchConfig().hyde
    seen = Seen()
    config = Config(search=SearchConfig(hyde=hyde))
    found(Stages(), config=config, asked_of=replace(knowledge, embedder=lambda: seen))
    assert ("B省创建绿色工厂300家。" in seen.texts) == hyde


SUBS = [
    {"question": "到2025年创建多少家？", "place": "A省", "document": "", "year": "2025"},
    {"question": "到2025年创建多少家？", "place": "B省", "document": "", "year": "2025"},
]


def test_sub_questions_of_a_model_are_sides_where_rules_find_none(found):
    """In turn with the whole question; their places stand in them."""
    read = json.dumps({"keywords": [], "sub_questions": SUBS}, ensure_ascii=False)
    read, results, steps = found(Stages(question=read), question="两个省的绿色工厂目标谁高？")
    labels = {via for r in results for via in r.via if via.startswith("asked for")}
    assert labels == {"asked for the whole question", "asked for A省 2025", "asked for B省 2025"}
    assert "sub-questions: 到2025年创建多少家？ / 到2025年创建多少家？" in steps[0].detail


def test_further_wordings_search_too(found):
    """With the question's keywords; what they find says so."""
    config = Config(search=SearchConfig(expansions=1))
    _, results, _ = found(Stages(), config=config)
    told = {reason for r in results for reason in r.via if reason.startswith("also found")}
    assert told == {"also found by 《B省绿色工厂目标？》"}
    _, plain, _ = found(Stages(), config=Config(search=SearchConfig(expansions=0)))
    assert not [reason for r in plain for reason in r.via if "also found" in reason]


@pytest.mark.parametrize("failing", ["question", "graph_query"])
def test_a_way_that_fails_is_left_out_and_told(found, failing):
    """The others go on, and the question's own words search."""
    _read, results, steps = found(
        Stages(**{failing: ModelOutputError("no JSON", kind="malformed")})
    )
    names = {"question": "analyse", "graph_query": "graph query"}
    left_out = [step.name for step in steps if "no JSON" in step.detail]
    assert left_out == [names[failing]]
    assert results


def test_one_call_is_kept_for_the_answer(found):
    """Of two, one may read the question."""
    stages = Stages()
    _, _, steps = found(stages, max_calls=2)
    assert stages.asked == ["question"]
    kept = [step.name for step in steps if "kept for the answer" in step.detail]
    assert kept == ["graph query"]


def test_an_endpoint_that_is_gone_is_an_error_where_the_answer_needs_it(found):
    """Behind an endpoint of its own, reading is left out."""
    gone = ModelUnavailableError("nobody answers")
    with pytest.raises(ModelUnavailableError, match="nobody answers"):
        found(Stages(question=gone))
    _read, results, steps = found(Stages(question=gone, together=False))
    assert "nobody answers" in steps[0].detail
    assert results


def leaf(n, doc_id="d"):
    start = 100 * n
    chunk = Chunk(f"{doc_id}:100:{n}", doc_id, 100, n, start, start + 100, "", f"{doc_id}:2048:0")
    return ScoredChunk(chunk, 1.0)


def attempt(*, results, cited):
    citations = tuple(
        Citation(n, "d", "规划", "d.txt", (), None, start, start + 9, "文", "d:100:0")
        for n, start in enumerate(cited, 1)
    )
    answer = Answer("问", tuple(map(Quote, citations)), "m")
    return Attempt("问", answer, Context((), ()), tuple(results))


def ids(results):
    return [result.chunk.chunk_id for result in results]


def test_what_is_cited_comes_first_then_what_is_new():
    """No chunk twice."""
    last = attempt(results=[leaf(0), leaf(3), leaf(4, "e")], cited=[310])
    found = cited_first(last, [leaf(7, "f"), leaf(0), leaf(8, "f")])
    assert ids(found) == ["d:100:3", "f:100:7", "d:100:0", "f:100:8", "e:100:4"]
