"""Questions by rule: what is asked, what is gold, what is dropped."""

import pytest

from kgrag.dataset.by_rules import KINDS, by_rules
from kgrag.dataset.questions import write_questions
from kgrag.evaluation.queries import read_all_queries


def asked(base, *kinds, n=20, **more):
    return by_rules(base.store, parent_size=2048, n=n, kinds=kinds or KINDS, **more)


def gold_texts(base, question):
    """Return what stands at the gold spans."""
    found = []
    for document in base.store.documents(list(question.gold.gold_docs)):
        spans = question.gold.gold_spans[document.doc_id]
        found += [document.text[start:end] for start, end in spans]
    return found


def id_of(base, title):
    return base.find_document(title).doc_id


def test_a_figure_is_asked_with_place_and_year_and_its_clause_is_gold(base):
    """The answer is the figure; it stands in the gold span; the parent is that of the span."""
    made = asked(base, "number")
    assert {q.gold.gold_docs for q in made.questions} <= {
        (id_of(base, "北川省节能方案"),), (id_of(base, "南岭省林业规划"),)
    }  # fmt: skip
    for question in made.questions:
        (clause,) = gold_texts(base, question)
        assert question.gold.answers[-1] in clause
        assert "森林覆盖率" in clause
        assert "20" in question.gold.question
        assert any(place in question.gold.question for place in ("北川", "南岭"))
        assert question.parent == f"{question.gold.gold_docs[0]}:2048:0"


def test_a_figure_that_documents_of_a_place_give_differently_is_dropped(base):
    """55 % and 60 %: without a day both are right."""
    made = asked(base, "number")
    assert made.dropped == {"figure: documents differ": 1}
    assert not any("湿地" in q.gold.question for q in made.questions)


def test_it_is_asked_as_of_the_earlier_document(base):
    """At the end of 2021 there was only one of them."""
    (question,) = [q for q in asked(base, "time").questions if "2021年底" in q.gold.question]
    assert gold_texts(base, question) == ["全省湿地保护率达到55%"]
    assert question.gold.answers == ("55%",)


def test_two_years_of_a_figure_are_both_gold(base):
    """One question, two spans, both values in the answer."""
    (question,) = [q for q in asked(base, "time").questions if "2030年" in q.gold.question]
    assert question.gold.answers == ("2025年24%；2030年26%",)
    assert len(gold_texts(base, question)) == 2


def test_two_places_are_compared_by_the_same_figure(base):
    """Each has its document and clause in the gold."""
    (question,) = asked(base, "compare").questions
    assert sorted(gold_texts(base, question)) == [
        "全省森林覆盖率达到24%", "全省森林覆盖率达到40%"
    ]  # fmt: skip
    assert {"北川", "南岭"} <= {question.gold.question[at : at + 2] for at in range(30)}


def test_who_is_responsible_is_asked_of_a_task_that_says_what_it_is(base):
    """The organs of the role are the answer, the bracket is the gold."""
    (question,) = asked(base, "responsible").questions
    (clause,) = gold_texts(base, question)
    assert clause.startswith("（责任单位：")
    assert question.gold.answers[0] in clause
    assert "财政厅" not in question.gold.answers[0]  # 配合


def test_the_basis_of_a_document_is_asked_by_its_title(base):
    """The cited title is the answer."""
    for question in asked(base, "reference").questions:
        assert question.gold.answers == ("《全国节能总体方案》",)
        assert gold_texts(base, question) == ["《全国节能总体方案》"]


def test_all_documents_that_mention_one_are_gold(base):
    (question,) = asked(base, "several").questions
    assert set(question.gold.gold_docs) == {
        id_of(base, "北川省节能方案"), id_of(base, "南岭省林业规划")
    }  # fmt: skip


def test_the_items_of_a_section_are_the_headings_below_it(base):
    (question,) = asked(base, "list").questions
    assert "重点任务" in question.gold.question
    assert question.gold.answers == (
        "推动重点行业节能改造；大力发展非化石能源；持续提升建筑能效水平",
    )
    assert len(gold_texts(base, question)) == 3


def test_figures_of_a_document_that_is_left_out_have_no_answer(base):
    """They are asked, but nothing is gold; no other kind is made of that document."""
    left = id_of(base, "北川省节能方案")
    made = asked(base, "number", "unanswerable", "list", left_out=[left])
    without = [q.gold for q in made.questions if q.gold.kind == "unanswerable"]
    assert len(without) == 2
    for gold in without:
        assert "北川" in gold.question
        assert (gold.gold_docs, gold.gold_spans, gold.answers) == ((), {}, ())
    assert all(left not in q.gold.gold_docs for q in made.questions)


def test_a_parent_has_one_question(samples):
    """GRIM, section 3.1.2."""
    parents = [q.parent for q in asked(samples, n=100).questions if q.parent]
    assert len(parents) == len(set(parents)) >= 10


def test_the_same_seed_gives_the_same_questions(samples):
    lines = [[q.line() for q in asked(samples, n=100, seed=seed).questions] for seed in (1, 1, 2)]
    assert lines[0] == lines[1] != lines[2]


def test_every_gold_span_lies_in_its_text_and_parent(samples):
    """The kinds of the samples, with what they are made of."""
    made = asked(samples, n=100)
    assert len(made.kinds) >= 5
    for question in made.questions:
        if question.gold.gold_docs:
            assert all(text.strip() for text in gold_texts(samples, question))
            assert samples.store.chunks([question.parent])


def test_questions_are_read_as_they_were_written(samples, tmp_path):
    made = asked(samples, n=30)
    write_questions(tmp_path / "q.jsonl", made.questions)
    assert read_all_queries(tmp_path / "q.jsonl") == tuple(q.gold for q in made.questions)


@pytest.mark.parametrize("kind", KINDS)
def test_a_base_without_documents_has_no_questions(tmp_path, kind):
    from kgrag.api import KnowledgeBase

    with KnowledgeBase.open(tmp_path / "kb") as empty:
        assert asked(empty, kind).questions == ()


def test_a_figure_that_another_document_gives_is_not_unanswerable(base):
    """The wetlands of 南岭省林业规划 are in 南岭省湿地保护方案, too; its forests are not."""
    left = id_of(base, "南岭省林业规划")
    made = asked(base, "unanswerable", left_out=[left])
    assert [("森林" in q.gold.question, "湿地" in q.gold.question) for q in made.questions] == [
        (True, False)
    ]
