"""The list of documents: what a user types, and what is printed where."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import run

PLAN = "云岭省节能规划\n一、目标\n到2025年创建绿色工厂500家。\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with settings and files that are not taken in yet."""
    (tmp_path / "kgrag.toml").write_text('[embedding]\nmodel = "hash"\n', "utf-8")
    (tmp_path / "p/sub").mkdir(parents=True)
    (tmp_path / "p/a.txt").write_text(PLAN, "utf-8")
    (tmp_path / "p/sub/b.txt").write_text("青川市实施方案\n推进节能。\n", "utf-8")
    return tmp_path


def docs(folder: Path, *words: str) -> list[dict[str, object]]:
    """Return what `docs --json` prints."""
    done = run(folder, "docs", "--json", *words)
    assert done.exit_code == 0
    return [json.loads(line) for line in done.stdout.splitlines()]


def state(folder: Path, *lines: str) -> None:
    """Write the table beside the files, as Chinese Excel does."""
    (folder / "p/metadata.csv").write_bytes("\r\n".join(lines).encode("gbk"))


def statuses(folder: Path) -> dict[str, int]:
    """Take the files in; return how many came out each way."""
    counts = json.loads(run(folder, "ingest", folder / "p", "--json").stdout)["counts"]
    return dict(counts)


def test_docs_lists_id_title_and_file(folder: Path) -> None:
    """For people one line each, for programs all that is known."""
    statuses(folder)
    told = docs(folder)

    assert [(d["title"], d["media_type"]) for d in told] == [
        ("云岭省节能规划", "txt"),
        ("青川市实施方案", "txt"),
    ]
    assert all(isinstance(d["metadata"], dict) for d in told)
    assert [(d["year"], d["year_is_inferred"]) for d in told] == [(2021, True), (None, False)]
    assert run(folder, "docs").stdout.splitlines() == [
        f"{d['doc_id']}  {day}  {d['title']}  ({d['file']})"
        for d, day in zip(told, ("2021（推断）", "?"), strict=True)
    ]


def test_what_a_table_beside_the_files_states_is_listed_and_read_again(folder: Path) -> None:
    """It wins over what is read; a changed row has only its document read again."""
    state(folder, "文件,标题,日期", "a,云岭省“十四五”节能规划,2022/3/5", "sub/b.txt,青川市方案,")
    assert statuses(folder) == {"added": 2}
    first = docs(folder)
    assert [d["title"] for d in first] == ["云岭省“十四五”节能规划", "青川市方案"]
    assert first[0]["metadata"]["issued"] == "2022-03-05"  # type: ignore[index]
    assert statuses(folder) == {"unchanged": 2}

    state(folder, "文件,标题,日期", "a,云岭省“十四五”节能规划,2022-03-05", "sub/b.txt,青川市办法,")
    assert statuses(folder) == {"replaced": 1, "unchanged": 1}
    (folder / "p/metadata.csv").unlink()
    assert statuses(folder) == {"replaced": 2}
    assert [d["title"] for d in docs(folder)] == ["云岭省节能规划", "青川市实施方案"]
    assert [d["doc_id"] for d in docs(folder)] == [d["doc_id"] for d in first]


def test_set_corrects_for_good_and_reset_takes_it_back(folder: Path) -> None:
    """What a person says wins over the table, is found by filters, and outlives a deletion."""
    state(folder, "文件,地区,日期", "a,云岭省,2022")
    statuses(folder)
    said = run(folder, "docs", "set", "a.txt", "--region", "四川省、成都市", "--date", "2021年5月")
    assert (said.exit_code, "regions: 四川省、成都市" in said.stdout) == (0, True)
    run(folder, "delete", "a.txt")
    statuses(folder)
    found = run(folder, "search", "绿色工厂", "--region", "成都", "--year", "2021", "--json")
    assert (found.exit_code, "a.txt" in found.stdout, "b.txt" in found.stdout) == (0, True, False)

    assert run(folder, "docs", "set", "a.txt", "--reset").exit_code == 0
    (metadata,) = (d["metadata"] for d in docs(folder) if Path(str(d["file"])).name == "a.txt")
    assert (metadata["regions"], metadata["issued"]) == (["云岭省"], "2022")  # type: ignore[index]


def test_what_is_set_survives_that_the_file_changes(folder: Path) -> None:
    """A new version on disk is another document by its bytes; the correction follows the file."""
    statuses(folder)
    (before,) = (d for d in docs(folder) if Path(str(d["file"])).name == "a.txt")
    run(folder, "docs", "set", "a.txt", "--issuer", "云岭省能源局", "--title", "节能规划新编")
    path = folder / "p/a.txt"
    path.write_text(path.read_text("utf-8") + "再推进绿色改造。\n", "utf-8")
    assert statuses(folder) == {"replaced": 1, "unchanged": 1}

    (after,) = (d for d in docs(folder) if Path(str(d["file"])).name == "a.txt")
    assert after["doc_id"] != before["doc_id"]
    assert after["title"] == "节能规划新编"
    assert after["metadata"]["issuers"] == ["云岭省能源局"]  # type: ignore[index]
    assert run(folder, "docs", "set", "a.txt", "--reset").exit_code == 0
    (last,) = (d for d in docs(folder) if Path(str(d["file"])).name == "a.txt")
    assert last["title"] == before["title"]


def test_problems_list_a_copy_and_an_earlier_edition(folder: Path) -> None:
    """The same text under another name; two texts of one title and issuer, of two years."""
    text = "云岭省节能办法\n云岭省能源局\n{}年3月5日\n第一条 节能{}。\n"
    for year in (2018, 2022):
        (folder / f"p/{year}.txt").write_text(text.format(year, year), "utf-8")
    (folder / "p/copy.txt").write_text(text.format(2022, 2022), "utf-8")
    statuses(folder)
    found = [p for p in docs(folder, "--problems") if p["kind"] in ("twin", "edition")]
    assert [(p["kind"], Path(str(p["file"])).name) for p in found] == [
        ("edition", "2022.txt"),
        ("twin", "copy.txt"),
    ]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--level", "乡"), 1, "国家, 部门, 省, 市"),
        (("--date", "去年"), 1, "date"),
        ((), 2, "give fields to correct"),
        (("--reset", "--number", "1"), 2, "give fields to correct"),
        (("--field", "number"), 2, "give fields to correct"),
    ],
)
def test_set_refuses_what_cannot_be(
    folder: Path, words: tuple[str, ...], code: int, told: str
) -> None:
    """And says what can."""
    statuses(folder)
    said = run(folder, "docs", "set", "a.txt", *words)
    assert (said.exit_code, told in said.stderr) == (code, True)


def test_entities_are_merged_and_kept_apart(folder: Path) -> None:
    """What is decided is listed, and holds in the graph."""
    (folder / "p/a.txt").write_text(PLAN + "由省工信厅牵头制定细则。\n", "utf-8")
    statuses(folder)
    listed = run(folder, "entities", "--type", "agency", "--json").stdout.splitlines()
    assert [json.loads(line)["written"] for line in listed] == [{"省工信厅": 1}]
    full = json.loads(listed[0])["name"]

    merged = run(folder, "entities", "merge", full, "--into", "云岭省工业厅")
    assert (merged.exit_code, "1 document renewed" in merged.stdout) == (0, True)
    assert "云岭省工业厅 —牵头→" in run(folder, "graph", "云岭省工业厅").stdout
    assert run(folder, "entities", "--decisions").stdout == f"{full} is 云岭省工业厅\n"
    assert run(folder, "entities", "split", full, "--from", "云岭省工业厅").exit_code == 0
    assert run(folder, "entities", "--decisions").stdout == ""
    assert run(folder, "entities", "--duplicates", "--merged").exit_code == 2


def test_an_answer_says_that_its_figure_is_of_another_year(folder: Path) -> None:
    """From the rule that reads the figure to the notes of an answer that is none."""
    statuses(folder)
    asked = run(folder, "ask", "到2030年云岭省创建绿色工厂多少家", "--json")
    answer = json.loads(asked.stdout)
    assert not answer["found"]
    assert any("500家" in note for note in answer["notes"])
    assert any("2025年" in note and "2030年" in note for note in answer["notes"])


def test_problems_name_what_was_not_read_until_it_is(folder: Path) -> None:
    """Files, rows beside them and documents, each with a remedy; the counts last."""
    (folder / "p/bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    state(folder, "文件,日期", "a,bald")
    assert run(folder, "ingest", folder / "p").exit_code == 1
    found = docs(folder, "--problems")

    sources = [(p["kind"], Path(str(p["file"])).name) for p in found if not p["doc_id"]]
    assert sources == [("unread", "bad.pdf"), ("unread", "metadata.csv:2")]
    assert "date" in {p["kind"] for p in found if p["title"] == "云岭省节能规划"}
    assert all(p["remedy"] for p in found)
    lines = run(folder, "docs", "--problems").stdout.splitlines()
    assert len(lines) == len(found) + 1
    assert lines[-1].startswith(f"{len(found)} problems: 2 unread, ")

    (folder / "p/bad.pdf").unlink()
    state(folder, "文件,日期", "a,2022")
    assert run(folder, "ingest", folder / "p").exit_code == 0
    assert [p for p in docs(folder, "--problems") if not p["doc_id"]] == []


def test_problems_of_an_empty_knowledge_base(folder: Path) -> None:
    """There are none."""
    (folder / "p/a.txt").unlink()
    (folder / "p/sub/b.txt").unlink()
    run(folder, "ingest", folder / "p")

    assert run(folder, "docs", "--problems").stdout == "all was read\n"
