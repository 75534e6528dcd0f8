"""Measures of retrieval, the runs they are of, and files of both."""

import json
import math
from pathlib import Path

import pytest

from kgrag.errors import EvaluationError
from kgrag.evaluation import measures
from kgrag.evaluation.lines import read_rows
from kgrag.evaluation.queries import (
    GoldQuery,
    read_all_queries,
    read_queries,
)
from kgrag.evaluation.runs import RunResult, read_run, run_line, write_run

DOCS = ["x", "a", "y", "b", "z"]
GOLD = {"a", "b", "c"}


@pytest.mark.parametrize(
    ("k", "precision", "recall", "f1", "hit", "everything"),
    [
        (1, 0, 0, 0, 0, 0),
        (2, 1 / 2, 1 / 3, 2 / 5, 1, 0),
        (4, 2 / 4, 2 / 3, 4 / 7, 1, 0),
        (10, 2 / 10, 2 / 3, 4 / 13, 1, 0),
    ],
)
def test_measures_at_k_when_two_of_three_gold_documents_are_found(
    k, precision, recall, f1, hit, everything
):
    """Precision divides by k, recall by the gold, F1 is their harmonic mean."""
    assert measures.precision_at(DOCS, GOLD, k) == precision
    assert measures.recall_at(DOCS, GOLD, k) == recall
    assert measures.f1_at(DOCS, GOLD, k) == pytest.approx(f1)
    assert measures.hit_at(DOCS, GOLD, k) == hit
    assert measures.all_at(DOCS, GOLD, k) == everything


def test_reciprocal_rank_is_of_the_first_gold_document():
    """The second place gives one half, unless k leaves it out; no gold found gives zero."""
    assert measures.reciprocal_rank_at(DOCS, GOLD, 10) == 1 / 2
    assert measures.reciprocal_rank_at(DOCS, GOLD, 1) == 0
    assert measures.reciprocal_rank_at(DOCS, {"c"}, 10) == 0


@pytest.mark.parametrize(
    ("k", "expected"), [(1, (0, 0, 0)), (2, (0, 0, 1)), (4, (1, 0, 0)), (10, (1, 0, 0))]
)
def test_pair_at_tells_which_of_two_documents_are_found(k, expected):
    """The target stands second, the source fourth."""
    assert measures.pair_at(DOCS, "b", "a", k) == expected
    assert measures.pair_at(DOCS, "a", "b", k) == (expected[0], expected[2], expected[1])


def test_ndcg_divides_by_the_ideal_order_cut_at_k():
    """Gold at ranks 2 and 4 of 4, three gold documents: the ideal has them at 1, 2 and 3."""
    gain = 1 / math.log2(3) + 1 / math.log2(5)
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)

    assert measures.ndcg_at(DOCS, GOLD, 4) == gain / ideal
    assert measures.ndcg_at(DOCS, GOLD, 2) == (1 / math.log2(3)) / (1 + 1 / math.log2(3))
    assert measures.ndcg_at(["a", "b", "c"], GOLD, 10) == 1


def test_document_measures_are_zero_without_results_or_gold():
    """Nothing found, or nothing to find, scores 0 and never divides by zero."""
    for docs, gold in (([], GOLD), (DOCS, set())):
        for at in (
            measures.precision_at,
            measures.recall_at,
            measures.f1_at,
            measures.hit_at,
            measures.all_at,
            measures.ndcg_at,
            measures.reciprocal_rank_at,
        ):
            assert at(docs, gold, 5) == 0


def test_coverage_counts_a_result_up_to_the_budget():
    """10 characters of the first and 5 of the second fit into 15; 5 + 5 of them are gold."""
    passages = [("d", 0, 10), ("d", 20, 40), ("d", 40, 50)]
    held = measures.coverage(passages, {"d": [(5, 30)]}, 15)

    assert held == measures.Coverage(hit=10, gold=25, used=15)
    assert (held.span_recall, held.span_precision) == (10 / 25, 10 / 15)


def test_coverage_pays_twice_for_text_returned_twice_and_credits_it_once():
    """Overlapping results use up the budget, but a gold character counts once."""
    held = measures.coverage([("d", 0, 10), ("d", 5, 15)], {"d": [(0, 20)]}, 100)

    assert held == measures.Coverage(hit=15, gold=20, used=20)


def test_coverage_is_zero_without_results_or_gold():
    """No results and no gold give 0, not an error."""
    assert measures.coverage([], {"d": [(0, 5)]}, 10) == measures.Coverage(0, 5, 0)
    assert measures.coverage([], {"d": [(0, 5)]}, 10).span_precision == 0
    assert measures.coverage([("d", 0, 5)], {}, 10).span_recall == 0


def test_span_reciprocal_rank_needs_a_shared_character():
    """Spans that only touch share nothing; the same offsets in another document do not count."""
    gold = {"d": [(10, 20)]}

    assert (
        measures.span_reciprocal_rank([("d", 0, 10), ("e", 10, 20), ("d", 19, 30)], gold) == 1 / 3
    )
    assert measures.span_reciprocal_rank([("d", 20, 30)], gold) == 0


RESULT = RunResult(
    doc_id="d-1",
    chunk_id="d-1:256:0",
    file="甲.txt",
    start=0,
    end=4,
    score=0.5,
    text="绿色工厂",
    via=("vector 0.50",),
)


def test_run_line_has_the_keys_of_the_format():
    """Other programs read these keys; Chinese stays readable."""
    line = run_line("q1", [RESULT])

    assert "绿色工厂" in line
    assert json.loads(line) == {
        "id": "q1",
        "results": [
            {
                "chunk_id": "d-1:256:0",
                "doc_id": "d-1",
                "file": "甲.txt",
                "start": 0,
                "end": 4,
                "score": 0.5,
                "text": "绿色工厂",
                "via": ["vector 0.50"],
            }
        ],
    }


def test_read_run_gives_back_what_write_run_wrote(tmp_path):
    """Nothing is lost, also for a question without results; nothing else is left behind."""
    run = {"q2": [RESULT, RunResult(doc_id="d-2")], "q1": []}
    write_run(tmp_path / "run.jsonl", run)

    assert read_run(tmp_path / "run.jsonl") == run
    assert [path.name for path in tmp_path.iterdir()] == ["run.jsonl"]


@pytest.mark.parametrize(
    "bad",
    [
        '{"results": []}',
        '{"id": "q"}',
        '{"id": "q", "results": [3]}',
        '{"id": "q", "results": [{"chunk_id": "c"}]}',
        '{"id": "q", "results": [{"doc_id": "d", "start": 5, "end": 2}]}',
        '{"id": "q", "results": [{"doc_id": "d", "start": 5}]}',
        '{"id": "q", "results": [{"doc_id": "d", "score": "high"}]}',
        '{"id": "q", "results": [{"doc_id": "d", "file": 1}]}',
        '{"id": "first", "results": []}',
    ],
)
def test_read_run_names_file_and_line_when_one_is_malformed(tmp_path, bad):
    """A bad line is an error that says where."""
    path = tmp_path / "r.jsonl"
    path.write_text('{"id": "first", "results": []}\n' + bad, encoding="utf-8")

    with pytest.raises(EvaluationError, match=r"r\.jsonl:2: "):
        read_run(path)


RUN = {
    "q1": [
        RunResult("d-1", file="in/甲.txt", start=0, end=5, score=2.5),
        RunResult("d-1", file="in/甲.txt", start=9, end=12, score=2.0),
        RunResult("d-2", file="in/corpus.jsonl#p7", score=1.0),
    ],
    "q2": [],
    "q3": [RunResult("d-3", score=0.5), RunResult("d-4", score=0.5)],
}
QUERIES = [GoldQuery("q1", "?", ("p7", "甲")), GoldQuery("q2", "?", ("x",))]


def write(path: Path, *rows: object) -> Path:
    """Write rows as JSON lines; texts as they are."""
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_read_queries_takes_passages_and_spans(tmp_path):
    """Both shapes of gold are read, with `kind` or `type`, other keys and blank lines ignored."""
    path = write(
        tmp_path / "q.jsonl",
        {"id": "1", "question": "甲？", "gold_ids": ["p1", "p2", "p1"], "type": "2hop"},
        "",
        {
            "id": "2",
            "question": "乙？",
            "gold_docs": ["d"],
            "gold_spans": {"d": [[3, 9]]},
            "kind": "goal",
            "answers": ["x"],
        },
    )

    assert read_queries(path).queries == (
        GoldQuery("1", "甲？", ("p1", "p2"), {}, "2hop"),
        GoldQuery("2", "乙？", ("d",), {"d": ((3, 9),)}, "goal", ("x",)),
    )


def test_read_queries_leaves_questions_without_gold_out_and_counts_them(tmp_path):
    """Unanswerable questions are not retrieval's to find."""
    path = write(
        tmp_path / "q.jsonl",
        {"id": "1", "question": "a", "gold_docs": [], "gold_spans": {}},
        {"id": "2", "question": "b"},
        {"id": "3", "question": "c", "gold_ids": ["p"]},
    )
    found = read_queries(path)

    assert [query.query_id for query in found.queries] == ["3"]
    assert found.n_without_gold == 2


GOOD = {"id": "1", "question": "a", "gold_ids": ["p"]}


@pytest.mark.parametrize(
    "bad",
    [
        "{not json",
        "[]",
        {"question": "a", "gold_ids": ["p"]},
        {"id": 7, "question": "a", "gold_ids": ["p"]},
        {"id": "2", "question": "", "gold_ids": ["p"]},
        {"id": "2", "question": "a", "gold_ids": "p"},
        {"id": "2", "question": "a", "gold_ids": [1]},
        {"id": "2", "question": "a", "gold_docs": ["d"], "gold_spans": []},
        {"id": "2", "question": "a", "gold_docs": ["d"], "gold_spans": {"d": [3, 9]}},
        {"id": "2", "question": "a", "gold_docs": ["d"], "gold_spans": {"d": [[3]]}},
        {"id": "2", "question": "a", "gold_docs": ["d"], "gold_spans": {"d": [[9, 3]]}},
        {"id": "2", "question": "a", "gold_docs": ["d"], "gold_spans": {"d": [[-1, 3]]}},
        {"id": "2", "question": "a", "gold_docs": ["d"], "gold_spans": {"d": [[0, 1.5]]}},
        {"id": "2", "question": "a", "gold_ids": ["p"], "kind": 3},
        {"id": "1", "question": "b", "gold_ids": ["p"]},
    ],
)
def test_read_queries_names_file_and_line_when_one_is_malformed(tmp_path, bad):
    """A bad line is an error that says where; it is never passed over."""
    path = write(tmp_path / "q.jsonl", GOOD, bad)

    with pytest.raises(EvaluationError, match=r"q\.jsonl:2: "):
        read_queries(path)


@pytest.mark.parametrize("encoding", ["gbk", "utf-16", "utf-8-sig"])
def test_questions_are_read_in_the_encodings_that_editors_save(tmp_path, encoding):
    """A file of questions that Notepad saved."""
    path = tmp_path / "q.jsonl"
    path.write_bytes('{"id": "1", "question": "绿色工厂有多少家？"}\r\n'.encode(encoding))

    assert [query.question for query in read_all_queries(path)] == ["绿色工厂有多少家？"]


def test_read_all_queries_keeps_what_the_documents_do_not_answer(tmp_path):
    """A question without gold is one to be refused, not one to be left out."""
    path = write(
        tmp_path / "q.jsonl",
        {"id": "1", "question": "甲？", "gold_docs": ["d"]},
        {"id": "2", "question": "乙？", "gold_docs": [], "answers": ["文件未提及"]},
    )
    assert [(q.query_id, q.gold_docs) for q in read_all_queries(path)] == [("1", ("d",)), ("2", ())]
    assert read_queries(path).n_without_gold == 1
    path = write(tmp_path / "twice.jsonl", *[{"id": "1", "question": "甲？"}] * 2)
    with pytest.raises(EvaluationError, match="used twice"):
        read_all_queries(path)


def test_read_rows_counts_blank_lines_and_takes_a_byte_order_mark(tmp_path):
    """The line number is that of the file, as an editor shows it."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"a": 2}')

    assert list(read_rows(path)) == [(f"{path}:1", {"a": 1}), (f"{path}:3", {"a": 2})]
