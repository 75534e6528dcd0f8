"""A question in everyday words finds what documents call otherwise."""

import numpy as np
import pytest

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig

QUESTION = "云岭的旧件翻新主抓哪几类"
TEXTS = {
    "a": "云岭省循环经济方案\n一、任务\n再制造以工程机械、机床为重点，建设两个基地。\n",
    "b": "云岭省文化方案\n一、任务\n图书馆旧书架由各馆翻修，读者可以预约座位。\n",
}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Two plans of one province."""
    folder = tmp_path_factory.mktemp("official")
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")
    config = Config(embedding=EmbeddingConfig(model="hash"))
    with KnowledgeBase.open(folder / "kb", config=config) as made:
        made.ingest([folder / f"{name}.txt" for name in TEXTS])
        yield made


def first(base, question, system):
    """Return the title of the first result's document."""
    return base.search(question, top_k=2, system=system)[0].title


def test_the_official_term_finds_its_document(base):
    """Which the question's own words do not."""
    assert first(base, QUESTION, "grim") == "云岭省循环经济方案"
    assert first(base, QUESTION, "grim-no-official-terms") == "云岭省文化方案"


def test_a_result_says_which_wording_brought_it(base):
    """And no result whose text does not have the official term."""
    told = {
        r.title: [reason for reason in r.via if "read as" in reason]
        for r in base.search(QUESTION, top_k=2)
    }
    assert told == {"云岭省循环经济方案": ["旧件翻新 read as 再制造"], "云岭省文化方案": []}


def test_the_questions_own_words_weigh_more(base):
    """Official terms join with half the weight, and half of the vector."""
    knowledge = base._current.knowledge()
    plain = knowledge.search(knowledge.query(QUESTION))
    official = plain.with_official_terms()
    assert official.terms.items() >= plain.terms.items()
    assert official.terms["制造"] == 0.5
    worded = knowledge.search(knowledge.query("云岭的再制造主抓哪几类")).vector
    mean = plain.vector + worded
    assert official.vector == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


def test_a_question_without_everyday_wordings_is_searched_as_it_is(base):
    """The very same search, so that nothing is encoded twice."""
    knowledge = base._current.knowledge()
    search = knowledge.search(knowledge.query("云岭的再制造主抓哪几类"))
    assert search.with_official_terms() is search
    official = knowledge.search(knowledge.query(QUESTION)).with_official_terms()
    assert official.with_official_terms() is official
    assert official.asked(search.query).official
