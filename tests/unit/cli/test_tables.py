"""Tables from the command line: on screen, as JSON, as files."""

import csv
import json

import pytest
from docx import Document
from openpyxl import load_workbook

from tests.fixtures.kit import run, shared_folder
from tests.fixtures.policies import POLICIES
from tests.fixtures.word_files import W, footnotes
from tests.unit.statements.plans import PLANS

folder, plans = shared_folder(POLICIES, "hash-32"), shared_folder(PLANS, "hash-32")


def test_figures_on_screen(folder):
    """Rows, then the clause of each, then of how many documents they are."""
    done = run(folder, "targets", "--indicator", "森林", "--due", "2025", "--standing", "planned")
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
    assert done.stderr.splitlines()[-1] == "共4份文件，其中读出这样的数字（限2025、目标）的有3份"


def test_headings_and_notes_are_in_english_where_that_is_asked(folder):
    words = (
        "targets",
        "--indicator",
        "森林",
        "--due",
        "2025",
        "--standing",
        "planned",
        "--english",
    )
    done = run(folder, *words)
    assert done.stdout.splitlines()[0].split()[:3] == ["#", "indicator", "region"]
    counted = "3 of 4 documents state such figures (only 2025, planned)"
    assert done.stderr.splitlines()[-1] == counted
    told = json.loads(run(folder, *words, "--json").stdout)
    assert told["notes"] == [counted]


TABLES = (
    # of the policies
    (("targets", "--place", "成都"), 1),
    (("targets", "--standing", "achieved"), 1),
    (("targets", "--kind", "工作方案"), 1),
    (("compare", "--indicator", "森林覆盖率", "--by", "region"), 3),
    (("compare", "--indicator", "森林覆盖率", "--region", "成都"), 1),
    (("who", "林业局"), 1),
    (("who", "经济", "--role", "牵头"), 2),
    (("cites", "chengdu"), 2),
    (("cited-by", "节约能源法"), 2),
    (("basis", "chengdu", "--hops", "1"), 2),
    # of the plans
    (("timeline", "--since", "2022", "--until", "2023-03"), 2),
    (("timeline", "--events", "written", "--events", "expires"), 5),
    (("timeline", "--indicator", "漏损", "--events", "target"), 2),
    (("timeline", "--place", "成都"), 5),
    (("timeline", "--region", "成都"), 5),
    (("timeline", "--document", "chengdu"), 5),
    (("digest", "sichuan-old", "sichuan-new"), 14),
    (("digest", "2021年", "2023年", "--parts", "duties"), 3),
    (("conflicts",), 4),
    (("conflicts", "--indicator", "污水"), 3),
    (("conflicts", "--place", "四川"), 4),
    (("conflicts", "--region", "四川"), 4),
    (("conflicts", "--due", "2030"), 0),
)


@pytest.mark.parametrize(("words", "n"), TABLES)
def test_options_reach_the_table(folder, plans, words, n):
    """Each chooses other rows; every row says where it stands."""
    of_plans = words[0] in ("timeline", "digest", "conflicts")
    done = run(plans if of_plans else folder, *words, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert len(told["rows"]) == n
    assert all(row["sources"] for row in told["rows"])
    assert all(source["quote"] for row in told["rows"] for source in row["sources"])


def test_a_file_that_cannot_be_written_is_told(folder, tmp_path):
    """What and where, and the exit code."""
    done = run(folder, "who", "林业局", "--csv", tmp_path / "no/t.csv")
    assert done.exit_code == 1
    assert "no/t.csv: No such file or directory" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("targets", "--due", "soon"), 2, "years are given as 2022 or 2020-2023"),
        (("targets", "--place", "火星"), 1, "no place is called"),
        (("compare", "--indicator", " "), 2, "indicator is missing"),
        (("compare",), 2, "--indicator"),
        (("cites", "没有的文件"), 1, "no document is called"),
        (("cited-by", "没有的办法"), 1, "没有的办法"),
        (("basis", "chengdu", "--hops", "0"), 2, "hops"),
        (("timeline", "--since", "soon"), 1, "a date is given as 2022"),
        (("timeline", "--events", "born"), 2, "born"),
        (("timeline", "--place", "火星"), 1, "no place is called"),
        (("digest", "nation"), 2, "NEW"),
        (("digest", "nation", "nation"), 1, "are one document"),
        (("digest", "nation", "四川省清洁"), 1, "say more of the title, or the id"),
        (("conflicts", "--due", "soon"), 2, "years are given as 2022 or 2020-2023"),
    ],
)
def test_what_cannot_be_asked_is_told(folder, plans, words, code, said):
    """In words, with the exit code of its kind."""
    of_plans = words[0] in ("timeline", "digest", "conflicts")
    done = run(plans if of_plans else folder, *words)
    assert done.exit_code == code
    assert said in done.stderr


def test_a_pair_on_screen(plans):
    """The row, both quotes under its number, and what the table says of itself."""
    done = run(plans, "conflicts", "--indicator", "绿色工厂")
    lines = done.stdout.splitlines()
    assert lines[2].split()[:4] == ["1", "两文不一", "绿色工厂", "四川省"]
    quotes = [line for line in lines if line.startswith("[1.")]
    assert [line.split("》")[0] for line in quotes] == [
        "[1.1] 《四川省清洁生产工作方案（2021年）",
        "[1.2] 《四川省清洁生产工作方案（2023年）",
    ]
    assert done.stderr.splitlines()[0] == "比较了4份文件中有年份的4项目标，发现1处差异"


@pytest.mark.parametrize(
    ("words", "heads"),
    [
        (("timeline",), ["date", "event", "what"]),
        (("digest", "sichuan-old", "sichuan-new"), ["part", "difference", "item"]),
        (("conflicts",), ["difference", "indicator", "scope"]),
        (("compare", "--indicator", "漏损率"), ["region", "2025", "document"]),
    ],
)
def test_tables_as_files(plans, tmp_path, words, heads):
    """CSV with Excel's mark, a workbook with the same rows, a page; no cell is a formula.

    A Word file has the sources of each row as footnotes at its first cell.
    """
    files = {ending: tmp_path / f"t.{ending}" for ending in ("csv", "xlsx", "html", "docx")}
    options = [word for ending, file in files.items() for word in (f"--{ending}", file)]
    done = run(plans, *words, "--english", *options)

    assert (done.exit_code, done.stdout) == (0, "")
    assert files["csv"].read_bytes().startswith(b"\xef\xbb\xbf")
    with files["csv"].open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][:3] == heads
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    sheet = load_workbook(files["xlsx"]).worksheets[0]
    assert sheet.max_row == len(rows) > 2
    assert "f" not in {cell.data_type for row in sheet.iter_rows() for cell in row}
    assert "<table>" in files["html"].read_text("utf-8")

    (table,) = Document(files["docx"]).tables
    told = json.loads(run(plans, *words, "--english", "--json").stdout)["rows"]
    assert len(table.rows) == len(rows)
    shown = [cell.text for cell in table.rows[0].cells]
    assert [head for head in rows[0] if head in shown] == shown  # without empty columns
    for row, record in zip(table.rows[1:], told, strict=True):
        marks = [len(c._tc.findall(f".//{W}footnoteReference")) for c in row.cells]
        assert marks == [len(record["sources"]), *[0] * (len(shown) - 1)]
    notes = footnotes(files["docx"].read_bytes())
    sources = [source for record in told for source in record["sources"]]
    for note, source in zip(notes, sources, strict=True):
        assert note.startswith(source["reference"])
    assert notes[0].endswith(f": “{sources[0]['quote']}”")
