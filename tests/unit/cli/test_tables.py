"""Tables from the command line: on screen, as JSON, as files."""

import csv
import json

import pytest
from click.testing import CliRunner
from openpyxl import load_workbook

from kgrag.cli.main import main
from tests.unit.tables.conftest import POLICIES


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a knowledge base of the policies."""
    made = tmp_path_factory.mktemp("tables")
    (made / "kgrag.toml").write_text('[embedding]\nmodel = "hash-32"\n', "utf-8")
    for name, text in POLICIES.items():
        (made / f"{name}.txt").write_text(text, "utf-8")
    assert run(made, "ingest", made).exit_code == 0
    return made


def run(folder, *words):
    told = ["--config", folder / "kgrag.toml", *words, "--kb", folder / "kb"]
    return CliRunner().invoke(main, [str(word) for word in told])


def test_figures_on_screen(folder):
    """Rows, then the clause of each, then of how many documents they are."""
    done = run(folder, "targets", "--indicator", "森林", "--due", "2025", "--planned")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].split() == [
        "#",
        "指标",
        "地区",
        "年份",
        "比较",
        "数值",
        "单位",
        "目标或完成",
        "原表述",
    ]
    assert lines[2].split()[:4] == ["1", "森林覆盖率", "全国", "2025"]
    sentence = "到2025年，森林覆盖率达到24%，非化石能源消费比重达到20%左右。"
    (first,) = [line for line in lines if line.startswith("[1] ")]
    assert first.startswith("[1] 《绿色发展行动方案》 › 一、主要目标（")
    assert first.endswith(sentence)
    assert done.stderr.splitlines()[-1] == "共4份文件，其中读出这样的数字的有3份"


def test_headings_and_notes_are_in_english_where_that_is_asked(folder):
    """On screen and in JSON."""
    words = ("targets", "--indicator", "森林", "--due", "2025", "--planned", "--english")
    done = run(folder, *words)
    assert done.stdout.splitlines()[0].split()[:3] == ["#", "indicator", "region"]
    assert done.stderr.splitlines()[-1] == "3 of 4 documents state such figures"
    told = json.loads(run(folder, *words, "--json").stdout)
    assert told["notes"] == ["3 of 4 documents state such figures"]


@pytest.mark.parametrize(
    ("words", "n"),
    [
        (("targets", "--place", "成都"), 1),
        (("targets", "--achieved"), 1),
        (("targets", "--kind", "工作方案"), 1),
        (("compare", "--indicator", "森林覆盖率", "--by", "region"), 3),
        (("compare", "--indicator", "森林覆盖率", "--region", "成都"), 1),
        (("who", "林业局"), 1),
        (("who", "经济", "--role", "牵头"), 2),
        (("cites", "chengdu"), 2),
        (("cited-by", "节约能源法"), 2),
        (("basis", "chengdu", "--hops", "1"), 2),
    ],
)
def test_options_reach_the_table(folder, words, n):
    """Each chooses other rows."""
    done = run(folder, *words, "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert len(told["rows"]) == n
    assert all(row["sources"] for row in told["rows"])


def test_tables_as_files(folder, tmp_path):
    """All at once; nothing but what was written is told."""
    files = {ending: tmp_path / f"t.{ending}" for ending in ("csv", "xlsx", "html")}
    options = [word for ending, file in files.items() for word in (f"--{ending}", file)]
    done = run(folder, "compare", "--indicator", "森林覆盖率", "--english", *options)

    assert (done.exit_code, done.stdout) == (0, "")
    with files["csv"].open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][:3] == ["region", "2020", "2025"]
    assert rows[1][:3] == ["云南省", "", ""]
    assert load_workbook(files["xlsx"])["compare"].max_row == len(rows) == 4
    assert "≥40.5%" in files["html"].read_text("utf-8")


def test_a_file_that_cannot_be_written_is_told(folder, tmp_path):
    """What and where, and the exit code."""
    done = run(folder, "who", "林业局", "--csv", tmp_path / "no/t.csv")
    assert done.exit_code == 1
    assert "no/t.csv: No such file or directory" in done.stderr


def test_a_place_that_no_list_holds(tmp_path):
    """A county of a document, by its full or short name, and by the province around it."""
    (tmp_path / "kgrag.toml").write_text('[embedding]\nmodel = "hash-32"\n', "utf-8")
    text = "云岭省石桥县林业规划\n一、目标\n到2025年，全县森林覆盖率达到70%。\n"
    (tmp_path / "a.txt").write_text(text, "utf-8")
    assert run(tmp_path, "ingest", tmp_path).exit_code == 0
    for place in ("石桥县", "石桥", "云岭省"):
        told = json.loads(run(tmp_path, "targets", "--place", place, "--json").stdout)
        assert [row["region"] for row in told["rows"]] == ["石桥县"]
    assert "names no place" in run(tmp_path, "targets", "--place", "绿色").stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("targets", "--due", "soon"), 2, "years are given as 2022 or 2020-2023"),
        (("targets", "--place", "火星"), 1, "names no place"),
        (("compare", "--indicator", " "), 1, "a comparison is of an indicator"),
        (("compare",), 2, "--indicator"),
        (("cites", "没有的文件"), 1, "no document is called"),
        (("cited-by", "没有的办法"), 1, "没有的办法"),
        (("basis", "chengdu", "--hops", "0"), 1, "hops"),
    ],
)
def test_what_cannot_be_asked_is_told(folder, words, code, said):
    """In words, with the exit code of its kind."""
    done = run(folder, *words)
    assert done.exit_code == code
    assert said in done.stderr
