"""Scoring rules against labelled sentences, on invented ones."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from benchmarks.statements import (
    FIELDS,
    Counts,
    Sentence,
    main,
    place_of_value,
    read_sentences,
    score_duties,
    score_targets,
    table,
)
from kgrag.ingestion.statements.finding import Finding
from kgrag.qualifiers import Qualifiers

TEXT = "到2025年，绿色工厂达到500家，森林覆盖率达到24.1%。奖励50万元。（责任单位：市林业局）"
END = TEXT.index("奖励")


def span(words):
    """Return where words stand."""
    return [TEXT.index(words), TEXT.index(words) + len(words)]


def label(name, value, unit, **more):
    """Return a target's label."""
    return {
        "indicator": [span(name)],
        "span": span(value),
        "value": value,
        "unit": unit,
        "year": "2025",
        "standing": "planned",
        **more,
    }


FACTORIES = label("绿色工厂", "500", "家")
FOREST = label("森林覆盖率", "24.1", "%")


def found(name, words, value, unit, year="2025", standing="planned"):
    """Return a target as a rule finds it."""
    told = Qualifiers("target", value=value, unit=unit, year=year, standing=standing)
    return Finding(name, "目标为", words, 0, len(TEXT), told)


RIGHT = [found("绿色工厂", "500家", "500", "家"), found("全市森林覆盖率", "24.1%", "24.1", "%")]


def targets(findings, *labels, start=0, end=END):
    """Return the counts of one sentence."""
    return score_targets([Sentence("d", TEXT, start, end, labels)], lambda text: findings)


def test_what_agrees_in_all_is_right():
    """Precision, recall and F1 are 100."""
    counts = targets(RIGHT, FACTORIES, FOREST)
    assert counts.measures("joint") == (100.0, 100.0, 100.0)
    assert counts.misses == []


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("indicator", {"subject": "湿地保护率"}),
        ("value", {"value": "600"}),
        ("unit", {"unit": "个"}),
        ("year", {"year": "2030"}),
        ("year", {"year": ""}),
        ("standing", {"standing": "achieved"}),
    ],
)
def test_one_wrong_field_is_wrong(name, change):
    """Jointly it does not count; in the other fields it does."""
    told = {k: v for k, v in change.items() if k != "subject"}
    wrong = replace(RIGHT[0], subject=change.get("subject", RIGHT[0].subject))
    wrong = replace(wrong, qualifiers=replace(wrong.qualifiers, **told))
    counts = targets([wrong, RIGHT[1]], FACTORIES, FOREST)
    assert counts.measures("joint") == (50.0, 50.0, 50.0)
    assert [counts.right[field] for field in FIELDS] == [2 - (field == name) for field in FIELDS]
    assert len(counts.misses) == 1
    assert f"wrong {name}" in counts.misses[0]


def test_a_sentence_without_findings_counts():
    """Recall falls, and so it does where nothing is found at all."""
    assert targets(RIGHT[:1], FACTORIES, FOREST).measures("joint") == (
        100.0,
        50.0,
        pytest.approx(66.67, abs=0.01),
    )
    assert targets([], FACTORIES, FOREST).measures("joint") == (0.0, 0.0, 0.0)
    assert len(targets([], FACTORIES, FOREST).misses) == 2


def test_a_finding_in_a_sentence_without_targets_is_wrong():
    """The amount of a subsidy is none; what stands in other sentences is not looked at."""
    subsidy = found("奖励", "50万元", "500000", "元")
    counts = targets([*RIGHT, subsidy], start=END, end=TEXT.index("（"))
    assert (counts.labelled, counts.found) == (0, 1)
    assert "none labelled: 奖励" in counts.misses[0]


def test_the_same_finding_twice_is_wrong_once():
    """Each label is found once."""
    counts = targets([RIGHT[0], RIGHT[0]], FACTORIES)
    assert counts.measures("joint")[:2] == (50.0, 100.0)


def test_optional_labels_are_neither_missed_nor_wrong():
    """Found or not, the counts are the same."""
    spare = {**FOREST, "optional": True}
    for findings in (RIGHT, RIGHT[:1]):
        counts = targets(findings, FACTORIES, spare)
        assert (counts.labelled, counts.found, counts.right["joint"]) == (1, 1, 1)
    elsewhere = {**spare, "span": span("奖励50万元"), "value": "24", "unit": "%"}
    assert targets(RIGHT, FACTORIES, elsewhere).found == 2


def test_a_period_stands_for_its_last_year():
    """Where the text names only a period."""
    period = {**FACTORIES, "year": "", "period": "十四五"}
    assert targets(RIGHT[:1], period).right["year"] == 1
    other = replace(RIGHT[0], qualifiers=replace(RIGHT[0].qualifiers, year="2030"))
    assert targets([other], period).right["year"] == 0
    also = {**FACTORIES, "year": "2024", "year_or": ["2025"]}
    assert targets(RIGHT[:1], also).right["year"] == 1


def test_both_ends_of_a_range_count():
    """A range is not its lower end."""
    wide = {**FACTORIES, "value_to": "600"}
    assert targets(RIGHT[:1], wide).right["value"] == 0
    both = replace(RIGHT[0], qualifiers=replace(RIGHT[0].qualifiers, value_to="600"))
    assert targets([both], wide).right["joint"] == 1


def test_a_value_stands_where_its_number_does():
    """Not at the year ahead of it; scaled values and broken lines are known by their digits."""
    text = "到2025年产能达到５０万吨，占24．\n5%。"
    one = Finding("产能", "目标为", "2025年达到50万吨", 0, len(text), Qualifiers(value="500000"))
    assert text[place_of_value(text, one)] == "５"
    two = Finding("占比", "目标为", "占24．5%", 0, len(text), Qualifiers(value="24.5"))
    assert text[place_of_value(text, two) :].startswith("24．")
    no = Finding("占比", "目标为", "许多", 3, len(text), Qualifiers(value="7"))
    assert place_of_value(text, no) == 3


DUTY = {
    "task": span("绿色工厂"),
    "item": [0, len(TEXT)],
    "organs": [{"span": span("市林业局"), "role": "负责"}],
}


def duties(findings, duty=DUTY):
    """Return the counts of the last clause."""
    clause = Sentence("d", TEXT, TEXT.index("（"), len(TEXT), [duty] if duty else [])
    return score_duties([clause], lambda text: findings)


def test_a_duty_is_right_by_organ_and_role():
    """Its task is counted apart."""
    right = Finding("市林业局", "负责", "绿色工厂达到500家", 0, len(TEXT))
    counts = duties([right, right])
    assert counts.measures("joint and task") == (100.0, 100.0, 100.0)
    other_task = duties([replace(right, object="加强宣传引导")])
    assert (other_task.right["joint"], other_task.right["task"]) == (1, 0)
    other_role = duties([replace(right, predicate="牵头")])
    assert (other_role.right["organ"], other_role.right["joint"]) == (1, 0)
    assert "wrong" in other_role.misses[0]


def test_duties_missed_and_made_up():
    """An organ that is not found, one too many, and one that stands elsewhere."""
    right = Finding("市林业局", "负责", "绿色工厂", 0, len(TEXT))
    assert duties([]).measures("joint") == (0.0, 0.0, 0.0)
    assert "missed: 市林业局" in duties([]).misses[0]
    assert duties([right, replace(right, predicate="牵头")]).measures("joint")[0] == 50.0
    assert duties([right], duty=None).found == 1
    assert duties([replace(right, subject="市财政局")]).found == 0
    assert duties([replace(right, end=5)]).found == 0


def test_optional_organs_and_other_roles():
    """A general body counts in no way; a second role is right, too."""
    right = Finding("市林业局", "牵头", "绿色工厂", 0, len(TEXT))
    organ = DUTY["organs"][0]
    optional = {**DUTY, "organs": [{**organ, "optional": True}]}
    assert (duties([right], optional).found, duties([], optional).labelled) == (0, 0)
    either = {**DUTY, "organs": [{**organ, "role_or": ["牵头"]}]}
    assert duties([right], either).right["joint"] == 1


def test_labels_are_read_by_half(tmp_path):
    """Offsets are those of the file, whatever ends its lines; all files of a kind are read."""
    (tmp_path / "d.txt").write_bytes("一\r\n二".encode())
    rows: list[dict[str, object]] = [
        {"doc": "d", "start": 0, "end": 1, "half": half, "targets": []} for half in ("tune", "hold")
    ]
    (tmp_path / "targets.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (tmp_path / "targets_more.jsonl").write_text(json.dumps({**rows[0], "half": "more"}), "utf-8")
    (only,) = read_sentences(tmp_path, tmp_path, "hold", "targets")
    assert only.text == "一\r\n二"
    assert len(list(read_sentences(tmp_path, tmp_path, "more", "targets"))) == 1
    assert len(list(read_sentences(tmp_path, tmp_path, "", "targets"))) == 3


def test_a_folder_without_labels_is_told(tmp_path):
    """Nothing is scored as if nothing were labelled."""
    with pytest.raises(FileNotFoundError, match=r"no labels duties\*\.jsonl in .*--labels"):
        list(read_sentences(tmp_path, tmp_path, "", "duties"))


def test_the_table_names_what_agrees():
    """One row a field."""
    lines = table("targets", targets(RIGHT, FACTORIES, FOREST)).splitlines()
    assert lines[0] == "2 labelled, 2 found"
    assert lines[4].startswith("| indicator and value and unit and year and standing | 2 | 100.0")
    assert "organ and role and task" in table("duties", Counts())


def test_the_command_prints_the_table_and_the_misses(tmp_path, monkeypatch, capsys):
    (tmp_path / "d.txt").write_text(TEXT, "utf-8")
    row = {"doc": "d", "start": 0, "end": END, "half": "tune", "targets": [FACTORIES, FOREST]}
    (tmp_path / "targets.jsonl").write_text(json.dumps(row), "utf-8")
    rules = SimpleNamespace(targets=lambda text: RIGHT[:1])
    monkeypatch.setattr("benchmarks.statements.import_module", lambda name: rules)
    given = ["--data", str(tmp_path), "--labels", str(tmp_path), "--kind", "targets", "--misses"]
    monkeypatch.setattr("sys.argv", ["statements.py", *given, "--half", "tune"])
    main()
    said = capsys.readouterr().out
    assert "## Targets: 1 sentences, tune" in said
    assert "- d 0 missed: 森林覆盖率 24.1 % 2025 planned" in said
