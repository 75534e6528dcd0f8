"""A recorded model over the samples: what its questions cost, and what becomes of its answers."""

import json
from collections import Counter
from statistics import median

import pytest

from benchmarks.replayed import CASSETTES, READ, Recorded, used_by
from kgrag.api import KnowledgeBase
from kgrag.config import Config, ModelConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.samples import sample_folder
from kgrag.statements.selection import Selection
from kgrag.testing.server import FakeServer
from tests.fixtures.kit import run

LINES = (CASSETTES / "questions.jsonl").read_text("utf-8").splitlines()
ASKED = {line["question"]: line for line in map(json.loads, LINES)}


@pytest.fixture(scope="module")
def asked(sample_kb, tmp_path_factory):
    """Return the recorded model, and the answers to all questions."""
    model, kept = Recorded.read("answers.jsonl"), tmp_path_factory.mktemp("asked") / "calls.db"
    with FakeServer(model) as server:
        llm = ModelConfig(base_url=server.base_url, model="recorded", calls=str(kept))
        with KnowledgeBase.open(sample_kb, config=Config(llm=llm), embedder=HashEmbedder()) as base:
            return model, {question: base.ask(question) for question in ASKED}


def test_prompts_show_what_the_recorded_answers_rest_on(asked):
    """Nothing is asked that was not recorded, and no evidence of an answer has gone."""
    model, answers = asked
    assert model.lacking == []
    assert not [question for question, answer in answers.items() if answer.fallback]


def test_right_answers_are_told_and_not_marked(asked):
    """They hold what the question asks for; the checks find nothing against them."""
    _, answers = asked
    marked = set()
    for question, line in ASKED.items():
        answer = answers[question]
        assert answer.found is bool(line["answers"])
        assert not [told for told in line["answers"] if told not in answer.written()]
        if not all(check.supported for check in answer.checks):
            marked.add(question)
    assert not marked


def test_questions_take_few_calls_and_tokens(asked):
    """A plain one two calls and 6,000 tokens at most; one that nothing is held of three calls."""
    model, answers = asked
    used = {q: used_by(answer) for q, answer in answers.items()}
    calls = {q: found[0] for q, found in used.items()}
    tokens = {q: sum(found[1:]) for q, found in used.items()}
    plain = [q for q in ASKED if not model.calls(q)]
    plain = [q for q in plain if "比较" not in q]  # its answer reckons, and is mended
    assert len(plain) >= 12
    assert max(calls[q] for q in plain) <= 2
    assert max(tokens[q] for q in plain) <= 6_000
    assert median(calls.values()) <= 2
    assert median(tokens[q] for q in ASKED) <= 6_000
    assert max(calls[q] for q in ASKED if not ASKED[q]["answers"]) <= 3


def test_what_tools_gave_leads_to_its_clause(asked):
    """Each row that an answer cites is quoted by the sentence that states it."""
    _, answers = asked
    for question, line in ASKED.items():
        quotes = [cited.quote for cited in answers[question].citations]
        for clause in line.get("quotes", ()):
            assert [quote for quote in quotes if clause in quote], (question, clause, quotes)
        assert not ("quotes" in line and answers[question].repointed)


def test_reading_costs_what_was_predicted_and_gives_each_figure_once(tmp_path):
    """Calls and prompts are as the dry run says; few known facts are paid for again.

    Answers of the two documents that are read later: any two of these four, at their tokens for a
    character, predict those of the other two within 25 %.
    """
    model = Recorded.read("extraction.jsonl")
    files = [sample_folder() / name for name in READ]
    with FakeServer(model) as server:
        text = f'[embedding]\nmodel = "hash"\n[llm]\nbase_url = "{server.base_url}"\nmodel = "m"\n'
        (tmp_path / "kgrag.toml").write_text(text, "utf-8")
        done = run(tmp_path, "ingest", *files, "--dry-run", "--sample", "2", "--json")
        told = json.loads(done.stdout)["predictions"]["extract"]
        done = run(tmp_path, "ingest", *files, "--json")
    read = json.loads(done.stdout)["model"]
    spent = read["spent"]["extract"]
    assert model.lacking == []
    assert told["calls"] == spent["calls"] == len(server.requests) - 2
    assert told["prompt_tokens"] == pytest.approx(spent["prompt_tokens"], rel=0.15)
    assert told["completion_tokens"] == pytest.approx(spent["completion_tokens"], rel=0.25)

    with KnowledgeBase.open(tmp_path / "kb", create=False, embedder=HashEmbedder()) as base:
        figures = base.rows(Selection(kind="targets"))
        evidence = [row for row in base.export() if row["record"] == "evidence"]
    value, unit = ([c.key for c in figures.columns].index(key) for key in ("value", "unit"))
    places = ((row, row.sources[0]) for row in figures.rows)
    at = Counter((r.cells[value], r.cells[unit], s.doc_id, s.start) for r, s in places)
    assert set(at.values()) == {1}
    readers = Counter((e["fact_id"], e["start"], e["end"]) for e in evidence)
    given = [json.loads(text) for text in model.given]
    corrected = sum(len(g["corrections"]) for g in given)
    corrected -= read["dropped"].get("correction without support", 0)
    returned = sum(len(fact["triples"]) for g in given for fact in g["facts"])
    paid_again = sum(n > 1 for n in readers.values()) - corrected
    assert 0 < paid_again <= 0.15 * returned
