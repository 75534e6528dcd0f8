"""Citations that are exchanged back nothing."""

import json
import sys

from benchmarks import backed


def citation(quote):
    names = {"doc_id": "d", "title": "题", "file": "d.txt", "heading_path": [], "chunk_id": "c"}
    return {**names, "start": 0, "end": len(quote), "quote": quote}


def test_turned_citations_back_nothing(tmp_path, monkeypatch, capsys):
    said = ["到2025年创建绿色工厂500家。", "推进农田节水灌溉，亩均用水下降8%。"]
    row = {
        "question": "做什么？",
        "answer": f"{said[0]}[1]\n{said[1]}[2]",
        "citations": [citation(quote) for quote in said],
    }
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps(row), "utf-8")
    monkeypatch.setattr(sys, "argv", ["backed.py", str(file)])
    backed.main()
    own, turned, _ = capsys.readouterr().out.splitlines()
    assert own == "as they are 1 back-P 100.0 back-R 100.0 num-cited 100.0"
    assert turned == "turned by one 1 back-P 0.0 back-R 0.0 num-cited 100.0"
