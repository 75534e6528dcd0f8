import json

import benchmarks.organs as benchmark

CITY, OTHER = ("云岭省", "青川市"), ("云岭省", "石桥市")


def name(words, organ, regions=CITY, *, either=False, doc="a"):
    """Return a labelled name."""
    return benchmark.Name(doc, words, organ, regions, either)


def test_names_are_right_unfilled_or_wrong():
    """By the full name, however that is spelled; collectives stay as they are."""
    told = {
        name("市发改委", "青川市发展改革委"): "right",
        name("领导小组办公室", "青川市节水领导小组办公室"): "unfilled",
        name("市发改委", "石桥市发展和改革委员会"): "wrong",
        name("各市人民政府", ""): "right",
        name("市场监管局", "", ()): "right",
    }
    assert {each: benchmark.judged(each) for each in told} == told


def test_pairs_are_together_wrongly_together_or_missed():
    """Bare names of two places are two; one organ in two nodes is missed but where it may be."""
    one, same = name("市发改委", "x"), name("青川市发展改革委", "x", doc="b")
    office, its_full = name("领导小组办公室", "y"), name("节水领导小组办公室", "y")
    away, twin = name("领导小组办公室", "z", OTHER), name("领导小组办公室", "v", OTHER)
    spare = name("发展改革部门", "x", either=True)
    together, wrong, missed = benchmark.merges([one, same, office, its_full, away, twin, spare])
    assert together == [(one, same)]
    assert wrong == [(away, twin)]
    assert missed == [(office, its_full)]


def test_facts_are_counted_by_what_becomes_of_their_names(tmp_path, capsys):
    """Filled, with the place behind the name, or the name of a document of no place."""
    (tmp_path / "text").mkdir()
    for doc, title in (("a", "云岭省人民政府关于节能的意见"), ("b", "关于节能的意见")):
        (tmp_path / "text" / f"{doc}.txt").write_text(f"{title}\n做好节能。\n", encoding="utf-8")
    rows = [
        {"doc": "a", "triples": [["省林业局", "负责", "造林"], ["领导小组", "负责", "统筹"]]},
        {"doc": "b", "triples": [["主管部门", "负责", "监督"], ["生态环境部", "负责", "监督"]]},
    ]
    written = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (tmp_path / "llm_facts.jsonl").write_text(written, encoding="utf-8")
    benchmark.print_facts(tmp_path)
    said = capsys.readouterr().out
    assert "4 facts: 3 (75.0 %)" in said
    assert "1 filled, 2 with the document's place or name behind it, 0 as they are" in said


def test_duties_are_counted_by_their_subjects(tmp_path, capsys):
    """As facts are; a task that is worded as an organ counts for nothing."""
    (tmp_path / "text").mkdir()
    words = "云岭省人民政府关于节能的意见\n省林业局负责造林。云岭省水利厅负责节水。\n"
    (tmp_path / "text" / "a.txt").write_text(words, encoding="utf-8")
    benchmark.print_duties(tmp_path)
    assert "2 duties: 1 (50.0 %) on a name without a place; 1 filled" in capsys.readouterr().out
