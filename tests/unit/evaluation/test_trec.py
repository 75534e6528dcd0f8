"""Runs and qrels in TREC's form, which trec_eval, ranx and ir_measures read."""

import pytest

from kgrag.errors import EvaluationError
from kgrag.evaluation.queries import GoldQuery, read_gold, write_qrels
from kgrag.evaluation.runs import RunResult, read_run, write_run
from kgrag.evaluation.scores import evaluate

RUN = {
    "q1": [
        RunResult("d-1", file="in/甲.txt", start=0, end=5, score=2.5),
        RunResult("d-1", file="in/甲.txt", start=9, end=12, score=2.0),
        RunResult("d-2", file="in/corpus.jsonl#p7", score=1.0),
    ],
    "q2": [],
    "q3": [RunResult("d-3", score=0.5), RunResult("d-4", score=0.5)],
}
LINES = """\
q1 Q0 甲 1 2.5 kgrag
q1 Q0 p7 2 1.0 kgrag
q3 Q0 d-3 1 1.0 kgrag
q3 Q0 d-4 2 0.5 kgrag
"""
QUERIES = [GoldQuery("q1", "?", ("p7", "甲")), GoldQuery("q2", "?", ("x",))]


@pytest.mark.parametrize("ending", [".trec", ".RUN"])
def test_a_run_has_each_document_once_in_an_order_that_scores_tell(tmp_path, ending):
    """Named by file; where scores do not fall, 1 / rank does; no line for no results."""
    path = tmp_path / f"r{ending}"
    write_run(path, RUN)

    assert path.read_text("utf-8") == LINES


def test_a_run_that_is_read_back_scores_as_the_one_that_was_written(tmp_path):
    """All measures of documents; q2, which has no line, scores 0."""
    write_run(tmp_path / "r.trec", RUN)
    read = evaluate(read_run(tmp_path / "r.trec"), QUERIES).queries
    written = evaluate(RUN, QUERIES).queries

    assert [query.scores for query in read] == [query.scores for query in written]
    assert read[0].scores["R@2"] == 1
    assert set(read[1].scores.values()) == {0.0}


def test_a_run_is_ordered_by_score_whatever_its_ranks_say(tmp_path):
    """As trec_eval does; ties keep their order in the file."""
    (tmp_path / "r.run").write_text("q Q0 a 1 0.1 t\n\nq\tQ0 b 2 3e-1 t\nq Q0 c 3 0.3 t\n")

    assert [result.doc_id for result in read_run(tmp_path / "r.run")["q"]] == ["b", "c", "a"]


def test_qrels_that_are_read_back_have_the_gold_that_was_written(tmp_path):
    """Words and spans they have none."""
    write_qrels(tmp_path / "g.qrels", QUERIES)

    assert (tmp_path / "g.qrels").read_text("utf-8") == "q1 0 p7 1\nq1 0 甲 1\nq2 0 x 1\n"
    assert read_gold(tmp_path / "g.qrels").queries == (
        GoldQuery("q1", "", ("p7", "甲")),
        GoldQuery("q2", "", ("x",)),
    )


def test_qrels_of_relevance_0_are_no_gold(tmp_path):
    """A question that has no other is left out, and counted; -1 is no gold either."""
    (tmp_path / "g.qrels").write_text("q1 0 a 2\nq1 0 b 0\nq2 0 c 0\nq3 0 d -1\n")
    read = read_gold(tmp_path / "g.qrels")

    assert (read.queries, read.n_without_gold) == ((GoldQuery("q1", "", ("a",)),), 2)


def test_gold_of_any_other_ending_is_json_lines(tmp_path):
    """As `read_queries` reads them."""
    (tmp_path / "q.jsonl").write_text('{"id": "1", "question": "?", "gold_docs": ["a"]}')

    assert read_gold(tmp_path / "q.jsonl").queries == (GoldQuery("1", "?", ("a",)),)


@pytest.mark.parametrize(
    ("read", "line"),
    [
        (read_run, "q Q0 a 2 1.0"),
        (read_run, "q Q0 a 2 high t"),
        (read_run, "q Q0 a 2 nan t"),
        (read_run, "q Q0 first 2 1.0 t"),
        (read_run, '{"id": "q", "results": []}'),
        (read_gold, "q 0 a"),
        (read_gold, "q 0 a yes"),
    ],
)
def test_a_malformed_line_is_named_with_its_file(tmp_path, read, line):
    """What is wrong, and where."""
    first = "q Q0 first 1 2.0 t" if read is read_run else "q 0 first 1"
    (tmp_path / "f.trec").write_text(f"{first}\n{line}\n")

    with pytest.raises(EvaluationError, match=r"f\.trec:2: "):
        read(tmp_path / "f.trec")


def test_names_with_blanks_are_refused_with_the_remedy(tmp_path):
    """Blanks divide fields; nothing is written."""
    with pytest.raises(EvaluationError, match=r"'a b' cannot.*\.jsonl"):
        write_run(tmp_path / "r.trec", {"q": [RunResult("d-1", file="in/a b.txt")]})
    with pytest.raises(EvaluationError, match="'q 1' cannot"):
        write_qrels(tmp_path / "g.qrels", [GoldQuery("q 1", "?", ("a",))])
    with pytest.raises(EvaluationError, match="nowhere"):
        write_qrels(tmp_path / "nowhere" / "g.qrels", QUERIES)
    assert not list(tmp_path.iterdir())
