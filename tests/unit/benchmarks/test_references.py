import json
from collections import Counter

import benchmarks.references as benchmark

TEXT = "为落实《云岭省节能规划》（云政发〔2021〕3号），制定本方案。填写《节能申报表》。\n"
LABELS: list[benchmark.Row] = [
    {"doc_id": "b", "cites": "云岭省节能规划", "cites_doc_id": "a"},
    {"doc_id": "b", "cites": "节能申报表", "cites_doc_id": None},
    {"doc_id": "b", "cites": "青川市节能方案", "cites_doc_id": None},
    {"doc_id": "b", "cites": "不在文中的办法", "cites_doc_id": None},
]


def folder(tmp_path, labels):
    """Return a folder with two documents, of which one cites the other."""
    rows = [
        {"id": "a", "title": "云岭省节能规划", "issuer": "云岭省人民政府", "province": "云岭省"},
        {"id": "b", "title": "青川市节能方案", "province": "云岭省", "city": "青川市"},
        {"id": "gone", "title": "没有文本"},
    ]
    for name, text in (("a", "云岭省节能规划\n"), ("b", "青川市节能方案\n" + TEXT)):
        (tmp_path / "text").mkdir(exist_ok=True)
        (tmp_path / "text" / f"{name}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "labels").mkdir()
    for name, lines in (("manifest.jsonl", rows), ("labels/references.jsonl", labels)):
        written = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
        (tmp_path / name).write_text(written + "\n\n", encoding="utf-8")
    return tmp_path


def test_recall_counts_labels_that_stand_in_the_text(tmp_path):
    """A title that the text does not have, and the document's own, are left out."""
    documents = benchmark.read_all(folder(tmp_path, LABELS))
    found = benchmark.recall(documents, LABELS)
    assert [row["cites"] for row in found[True]] == ["云岭省节能规划"]
    assert [row["cites"] for row in found[False]] == ["节能申报表"]


def test_precision_asks_for_role_place_and_document(tmp_path):
    """A wrong role, a wrong document and a finding where nothing is cited are wrong."""
    documents = benchmark.read_all(folder(tmp_path, LABELS))
    start = documents["b"].text.index("《云")
    right: benchmark.Row = {
        "doc": "b",
        "start": start,
        "end": start + 9,
        "role": "落实",
        "means": "a",
    }
    form = documents["b"].text.index("《节能申")
    none: benchmark.Row = {"doc": "b", "start": form, "end": form + 7, "role": None, "means": None}
    readings = [right, {**right, "role": "依据"}, {**right, "means": None}, none]
    agreed = benchmark.precision(documents, [*readings, {**right, "role": None}])
    assert agreed[True] == [right, none]
    assert len(agreed[False]) == 3


def test_a_reading_may_allow_several_roles(tmp_path):
    """The document that is meant has to be right with each."""
    documents = benchmark.read_all(folder(tmp_path, LABELS))
    start = documents["b"].text.index("《云")
    place: benchmark.Row = {"doc": "b", "start": start, "end": start + 9, "means": "a"}
    either = {**place, "role": "提及", "role_or": ["落实"]}
    others = [{**either, "means": None}, {**either, "role_or": ["依据"]}]
    assert benchmark.precision(documents, [either, *others]) == {True: [either], False: others}


def test_resolution_counts_labels_with_a_held_document(tmp_path):
    """Those that are found and name another document that is held."""
    itself: benchmark.Row = {"doc_id": "b", "cites": "云岭省节能规划", "cites_doc_id": "b"}
    elsewhere: benchmark.Row = {"doc_id": "b", "cites": "云岭省节能规划", "cites_doc_id": "zz"}
    documents = benchmark.read_all(folder(tmp_path, LABELS))
    reached = benchmark.resolution(documents, [*LABELS, itself, elsewhere])
    assert reached == {True: [LABELS[0]], False: []}


def test_the_command_prints_the_figures(tmp_path, capsys, monkeypatch):
    """Each with its parts, and what was missed."""
    data = folder(tmp_path, LABELS)
    readings = tmp_path / "readings.jsonl"
    readings.write_text(
        '{"doc": "b", "start": 0, "end": 2, "half": "odd", "role": null, "means": null}\n'
        '{"doc": "b", "start": 0, "end": 2, "half": "fresh", "role": "依据", "means": null}\n'
    )
    monkeypatch.setattr(benchmark, "READINGS", readings)
    assert benchmark.main(["--data", str(data), "--misses"]) == 0
    printed = capsys.readouterr().out
    assert "recall of labels             1 of 2      50.0 %" in printed
    assert "precision, even half         0 of 0       0.0 %" in printed
    assert "precision                    1 of 1     100.0 %" in printed
    assert "places drawn from texts      0 of 1       0.0 %" in printed
    assert "节能申报表" in printed


def test_readings_are_places_with_a_role_or_none():
    """Offsets and values only; a document is meant only where something is cited."""
    rows = [json.loads(line) for line in benchmark.READINGS.read_text("utf-8").splitlines()]
    roles = {"依据", "落实", "修订", "废止", "转发", "印发", "参照", "提及", None}
    assert Counter(row["half"] for row in rows) == {"even": 100, "odd": 100, "fresh": 60}
    for row in rows:
        assert set(row) - {"role_or"} == {"doc", "start", "end", "half", "role", "means"}
        assert {row["role"], *row.get("role_or", ())} <= roles
        assert row["start"] < row["end"]
        assert row["role"] or row["means"] is None


def test_places_drawn_from_texts_are_of_documents_without_readings():
    """What is read in a document teaches what else stands there."""
    rows = [json.loads(line) for line in benchmark.READINGS.read_text("utf-8").splitlines()]
    fresh = [row["doc"] for row in rows if row["half"] == "fresh"]
    assert len(set(fresh)) == len(fresh)
    assert not set(fresh) & {row["doc"] for row in rows if row["half"] != "fresh"}
