"""Query files are read whole, or refused with file and line."""

import json
from pathlib import Path

import pytest

from kgrag.errors import EvaluationError
from kgrag.evaluation.queries import (
    GoldQuery,
    read_all_queries,
    read_queries,
    read_questions,
)


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


def test_read_queries_names_the_file_when_it_cannot_be_read(tmp_path):
    """A missing file, and one that is no JSON in its encoding, are errors of evaluation."""
    with pytest.raises(EvaluationError, match="missing"):
        read_queries(tmp_path / "missing.jsonl")
    (tmp_path / "gbk.jsonl").write_bytes("{甲".encode("gbk"))
    with pytest.raises(EvaluationError, match="gbk"):
        read_queries(tmp_path / "gbk.jsonl")


@pytest.mark.parametrize("encoding", ["gbk", "utf-16", "utf-8-sig"])
def test_questions_are_read_in_the_encodings_that_editors_save(tmp_path, encoding):
    """A file of questions that Notepad saved."""
    path = tmp_path / "q.jsonl"
    path.write_bytes('{"id": "1", "question": "绿色工厂有多少家？"}\r\n'.encode(encoding))

    assert read_questions(path) == {"1": "绿色工厂有多少家？"}


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
