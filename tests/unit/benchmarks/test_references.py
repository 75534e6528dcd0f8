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
