"""What comes when, what changed, what does not go together: from the command line to files."""

import csv
import json

import pytest
from click.testing import CliRunner
from openpyxl import load_workbook

from kgrag.cli.main import main
from tests.unit.tables.plans import PLANS


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a knowledge base of the plans."""
    made = tmp_path_factory.mktemp("changes")
    (made / "kgrag.toml").write_text('[embedding]\nmodel = "hash-32"\n', "utf-8")
    for name, text in PLANS.items():
        (made / f"{name}.txt").write_text(text, "utf-8")
    assert run(made, "ingest", made).exit_code == 0
    return made


def run(folder, *words):
    told = ["--config", folder / "kgrag.toml", *words, "--kb", folder / "kb"]
    return CliRunner().invoke(main, [str(word) for word in told])


@pytest.mark.parametrize(
    ("words", "n"),
    [
        (("timeline", "--from", "2022", "--until", "2023-03"), 2),
        (("timeline", "--event", "written", "--event", "expires"), 5),
        (("timeline", "--indicator", "漏损", "--event", "target"), 2),
        (("timeline", "--place", "成都"), 5),
        (("timeline", "--region", "成都"), 5),
        (("timeline", "--doc", "chengdu"), 5),
        (("digest", "sichuan-old", "sichuan-new"), 14),
        (("digest", "2021年", "2023年", "--part", "duties"), 3),
        (("conflicts",), 6),
        (("conflicts", "--indicator", "污水"), 2),
        (("conflicts", "--place", "成都"), 2),
        (("conflicts", "--region", "成都"), 2),
        (("conflicts", "--due", "2030"), 1),
    ],
)
def test_options_reach_the_table(folder, words, n):
    """Each chooses other rows; every row says where it stands."""
    done = run(folder, *words, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert len(told["rows"]) == n
    assert all(source["quote"] for row in told["rows"] for source in row["sources"])
    assert all(row["sources"] for row in told["rows"])


def test_a_pair_on_screen(folder):
    """The row, both quotes under its number, and what the table says of itself."""
    done = run(folder, "conflicts", "--indicator", "漏损")
    lines = done.stdout.splitlines()
    assert lines[2].split()[:4] == ["1", "低于上级", "城市公共供水管网漏损率", "成都市"]
    quotes = [line for line in lines if line.startswith("[1] ")]
    assert [line.split("》")[0] for line in quotes] == [
        "[1] 《成都市清洁生产实施方案",
        "[1] 《清洁生产行动方案",
    ]
    assert done.stderr.splitlines()[0] == "比较了2份文件中有年份的2项目标，发现1处差异"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("timeline",), "4 of 4 documents are in the table"),
        (
            ("digest", "sichuan-old", "sichuan-new"),
            "targets: 0 added, 1 removed, 2 changed, 1 kept",
        ),
        (("conflicts",), "16 aims with a year of 4 documents were compared: 6 differences"),
    ],
)
def test_notes_in_english(folder, words, said):
    """As the headings of columns."""
    assert said in run(folder, *words, "--english").stderr.splitlines()


@pytest.mark.parametrize(
    ("words", "heads"),
    [
        (("timeline",), ["date", "event", "what"]),
        (("digest", "sichuan-old", "sichuan-new"), ["part", "change", "item"]),
        (("conflicts",), ["difference", "indicator", "scope"]),
    ],
)
def test_tables_as_files(folder, tmp_path, words, heads):
    """CSV with Excel's mark, a workbook with the same rows, a page; no cell is a formula."""
    files = {ending: tmp_path / f"t.{ending}" for ending in ("csv", "xlsx", "html")}
    options = [word for ending, file in files.items() for word in (f"--{ending}", file)]
    done = run(folder, *words, "--english", *options)

    assert (done.exit_code, done.stdout) == (0, "")
    assert files["csv"].read_bytes().startswith(b"\xef\xbb\xbf")
    with files["csv"].open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][:3] == heads
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    sheet = load_workbook(files["xlsx"])[words[0]]
    assert sheet.max_row == len(rows) > 4
    assert "f" not in {cell.data_type for row in sheet.iter_rows() for cell in row}
    assert "<table>" in files["html"].read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("timeline", "--from", "soon"), 1, "since is 2022, 2022-06 or 2022-06-30, got 'soon'"),
        (("timeline", "--event", "born"), 2, "born"),
        (("timeline", "--place", "火星"), 1, "names no place"),
        (("digest", "nation"), 2, "NEW"),
        (("digest", "nation", "nation"), 1, "are one document"),
        (("digest", "nation", "四川省清洁"), 1, "say more of the title, or the id"),
        (("conflicts", "--due", "soon"), 2, "years are given as 2022 or 2020-2023"),
    ],
)
def test_what_cannot_be_asked_is_told(folder, words, code, said):
    """In words, with the exit code of its kind."""
    done = run(folder, *words)
    assert done.exit_code == code
    assert said in done.stderr
