"""The list of documents: what a user types, and what is printed where."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kgrag.cli.main import main

PLAN = "云岭省节能规划\n一、目标\n到2025年创建绿色工厂500家。\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with settings and files that are not taken in yet."""
    (tmp_path / "kgrag.toml").write_text('[embedding]\nmodel = "hash"\n', "utf-8")
    (tmp_path / "p/sub").mkdir(parents=True)
    (tmp_path / "p/a.txt").write_text(PLAN, "utf-8")
    (tmp_path / "p/sub/b.txt").write_text("青川市实施方案\n推进节能。\n", "utf-8")
    return tmp_path


def run(folder: Path, *words: object) -> Result:
    """Run a command on the folder's knowledge base."""
    config, kb = ("--config", folder / "kgrag.toml"), ("--kb", folder / "kb")
    return CliRunner().invoke(main, [str(word) for word in (*config, *words, *kb)])


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
    assert run(folder, "docs").stdout.splitlines() == [
        f"{d['doc_id']}  {d['title']}  ({d['file']})" for d in told
    ]


def test_what_a_table_beside_the_files_states_is_listed_and_read_again(folder: Path) -> None:
    """It wins over what is read; a changed row has only its document read again."""
    state(folder, "文件,标题,日期", "a,云岭省“十四五”节能规划,2022/3/5", "sub/b.txt,青川市方案,")
    assert statuses(folder) == {"added": 2}
    first = docs(folder)
    assert [d["title"] for d in first] == ["云岭省“十四五”节能规划", "青川市方案"]
    assert statuses(folder) == {"unchanged": 2}

    state(folder, "文件,标题,日期", "a,云岭省“十四五”节能规划,2022-03-05", "sub/b.txt,青川市办法,")
    assert statuses(folder) == {"replaced": 1, "unchanged": 1}
    (folder / "p/metadata.csv").unlink()
    assert statuses(folder) == {"replaced": 2}
    assert [d["title"] for d in docs(folder)] == ["云岭省节能规划", "青川市实施方案"]
    assert [d["doc_id"] for d in docs(folder)] == [d["doc_id"] for d in first]


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
