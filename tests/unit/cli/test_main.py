"""The command line: every command, its exit codes, what goes where."""

import json
import os
import re
from pathlib import Path

import click
import pytest

from kgrag.cli.main import main
from kgrag.ingestion.samples import questions_file
from tests.unit.cli.conftest import kgrag, run

README = Path(__file__).parents[3] / "README.md"
QUESTIONS = questions_file()
CONFIG = '[embedding]\nmodel = "hash"\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with two documents, a broken one, questions, and a knowledge base of it."""
    folder = tmp_path_factory.mktemp("cli")
    (folder / "kgrag.toml").write_text(CONFIG, "utf-8")
    docs = folder / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text(
        "甲方案\n一、目标\n根据《乙规划》，到2025年创建绿色工厂500家。\n", "utf-8"
    )
    (docs / "b.txt").write_text("乙规划\n到2030年非化石能源占比达到45%。\n", "utf-8")
    gold = {"id": "q1", "question": "绿色工厂创建多少家", "gold_docs": ["a"], "kind": "number"}
    none = {"id": "q2", "question": "红烧肉", "gold_docs": []}
    (folder / "q.jsonl").write_text(f"{json.dumps(gold)}\n{json.dumps(none)}\n", "utf-8")
    assert run(folder, "ingest", docs).exit_code == 0
    return folder


def walk(group, path=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from walk(command, (*path, name))
        else:
            yield (*path, name), command


@pytest.mark.parametrize(("path", "command"), list(walk(main)), ids=lambda x: str(x)[:30])
def test_every_command_has_help_and_a_section(path, command):
    """A command that nobody can find is no command."""
    assert command.help
    for option in command.params:
        if isinstance(option, click.Option) and option.name not in ("name", "system"):
            assert option.help or option.name in ("top_k", "hops", "limit", "pooling", "max_tokens")
    assert f"`{path[0]}`" in README.read_text("utf-8")
    page = README.with_name("docs").joinpath("commands.md").read_text("utf-8")
    assert re.search(rf"^### kgrag [^\n]*\b{path[0]}\b", page, re.MULTILINE)
    assert path[-1] in page


def test_ingest_again_has_nothing_to_do(folder):
    """The second run finds every file unchanged."""
    done = run(folder, "ingest", folder / "docs")
    assert done.exit_code == 0
    assert "2 unchanged" in done.stdout


def test_ingest_dry_run_says_what_would_be_done_and_does_nothing(folder, tmp_path):
    """Files are counted by what would become of them; nothing is stored."""
    (tmp_path / "new.txt").write_text("丁方案\n推进节能减排工作。", "utf-8")
    before = run(folder, "export").stdout
    done = run(folder, "ingest", folder / "docs", tmp_path / "new.txt", "--dry-run")
    assert done.exit_code == 0
    assert "1 added, 2 unchanged; at most 1 chunk to encode" in done.stdout
    assert run(folder, "export").stdout == before
    (tmp_path / "kgrag.toml").write_text(CONFIG, "utf-8")
    assert "1 added" in run(tmp_path, "ingest", tmp_path / "new.txt", "--dry-run").stdout
    assert not (tmp_path / "kb").exists()


def test_ingest_when_a_file_fails_goes_on_and_exits_1(folder, tmp_path):
    """What failed is named on stderr with the remedy, the rest is stored."""
    (tmp_path / "bad.docx").write_bytes(b"not a zip")
    (tmp_path / "c.txt").write_text("丙办法\n加强监管和考核工作。", "utf-8")
    (tmp_path / "kgrag.toml").write_text(CONFIG, "utf-8")
    result = run(tmp_path, "ingest", tmp_path / "bad.docx", tmp_path / "c.txt", tmp_path / "none")
    assert result.exit_code == 1
    assert "bad.docx" in result.stderr
    assert "no such file" in result.stderr
    assert "1 added" in result.stdout


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_ingest_when_a_folder_cannot_be_listed_exits_1(tmp_path, monkeypatch, options):
    """Who gave the folder would think that all of it was read; the rest is."""
    (tmp_path / "kgrag.toml").write_text(CONFIG, "utf-8")
    (tmp_path / "docs/closed").mkdir(parents=True)
    (tmp_path / "docs/a.txt").write_text("丙办法\n加强监管和考核工作。", "utf-8")
    listed = os.scandir

    def scandir(folder):
        if str(folder).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(os, "scandir", scandir)

    done = run(tmp_path, "ingest", tmp_path / "docs", *options)

    assert done.exit_code == 1
    assert "closed: cannot be listed: Permission denied" in done.stderr
    assert "1 added" in done.stdout


def test_ingest_says_which_links_it_did_not_follow(tmp_path):
    """A link out of the folder is told in one line; --follow-links reads what is there."""
    (tmp_path / "kgrag.toml").write_text(CONFIG, "utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "secret.txt").write_text("密件\n本文件不公开。", "utf-8")
    for name in ("a.txt", "b.txt"):
        (tmp_path / "docs" / name).symlink_to(tmp_path / "secret.txt")

    planned = run(tmp_path, "ingest", tmp_path / "docs", "--dry-run")
    done = run(tmp_path, "ingest", tmp_path / "docs")
    followed = run(tmp_path, "ingest", tmp_path / "docs", "--follow-links")

    for said in (planned, done):
        assert said.exit_code == 0
        assert "2 not followed" in said.stdout
        (line,) = (line for line in said.stderr.splitlines() if "link" in line)
        assert "2 links out of the folder not followed" in line
        assert "a.txt: --follow-links" in line
    assert followed.exit_code == 0
    assert "1 added" in followed.stdout
    assert "link" not in followed.stderr


def test_ask_prints_the_answer_and_where_it_stands(folder):
    """Answer with [1], then document, section, file and place."""
    done = run(folder, "ask", "甲方案到2025年创建绿色工厂多少家？")
    assert done.exit_code == 0
    assert "500家。[1]" in done.stdout
    assert "[1] 甲方案" in done.stdout
    assert "一、目标" in done.stdout
    assert "a.txt" in done.stdout
    assert "kgrag models pull" in done.stderr


def test_ask_json_gives_quote_and_span(folder):
    """Stable keys for programs."""
    answer = json.loads(run(folder, "ask", "创建绿色工厂多少家？", "--json").stdout)
    assert answer["found"] is True
    text = (folder / "docs" / "a.txt").read_text("utf-8")
    citation = answer["citations"][0]
    assert text[citation["start"] : citation["end"]] == citation["quote"]


def test_search_explains_how_each_result_came(folder):
    """--explain gives reasons, --json the keys of a run file, and the document's status."""
    told = run(folder, "search", "《乙规划》的目标", "--explain").stdout
    assert "found by: title 《乙规划》" in told
    results = json.loads(run(folder, "search", "绿色工厂", "--json").stdout)["results"]
    keys = {"chunk_id", "doc_id", "file", "start", "end", "score", "text", "via"}
    assert set(results[0]) == {*keys, "status", "also_in"}


def test_search_batch_writes_a_run_file_with_every_question(folder):
    """Questions without gold are asked, too; scoring leaves them out."""
    out = folder / "run.jsonl"
    done = run(folder, "search", "--batch", folder / "q.jsonl", "--out", out, "--system", "bm25")
    assert done.exit_code == 0
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["q1", "q2"]
    assert rows[0]["results"][0]["file"].endswith("a.txt")


def test_eval_retrieval_prints_a_table_and_what_was_left_out(folder):
    """One column a system; unanswerable questions are counted, not scored."""
    done = run(
        folder, "eval", "retrieval", "--queries", folder / "q.jsonl", "--systems", "bm25,grim"
    )
    assert done.exit_code == 0
    tables = [table.splitlines() for table in done.stdout.split("\n\n")[:2]]
    assert [table[0].split() for table in tables] == [
        [k, "bm25", "grim"] for k in ("all", "number")
    ]
    assert tables[0][1].split() == ["n", "1", "1"]
    assert "left out: 1" in done.stdout


def test_graph_shows_facts_and_writes_a_page(folder):
    """The citation is a fact with its place."""
    assert "甲方案 —引用→ 乙规划" in run(folder, "graph", "乙规划").stdout
    page = folder / "page.html"
    assert run(folder, "graph", "乙规划", "--html", page).exit_code == 0
    assert "甲方案" in page.read_text("utf-8")


def test_convert_prints_the_text_of_a_file(folder, tmp_path):
    """What would be stored, or why not, without a knowledge base."""
    assert "绿色工厂500家" in kgrag(folder, "convert", folder / "docs" / "a.txt").stdout
    record = json.loads(kgrag(folder, "convert", folder / "docs" / "a.txt", "--json").stdout)
    assert record["title"] == "甲方案"
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    bad = kgrag(folder, "convert", tmp_path / "bad.pdf")
    assert bad.exit_code == 1
    assert "bad.pdf" in bad.stderr


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (["search"], 2, "give a question"),
        (["search", "x", "--top-k", "0"], 2, "top-k"),
        (["search", "x", "--system", "nope"], 1, "grim"),
        (["graph", "没有的"], 1, "no entity"),
        (["eval", "retrieval", "--queries", "nowhere.jsonl"], 2, "does not exist"),
        (["eval", "retrieval", "--queries", str(README), "--k", "0"], 2, "numbers like"),
        (["eval", "retrieval", "--queries", str(QUESTIONS), "--systems", ","], 2, "with commas"),
        (["import-facts", "nowhere.jsonl"], 2, "does not exist"),
    ],
)
def test_commands_tell_what_is_wrong(folder, args, code, says):
    """2 for usage, 1 for failure; the reason and the remedy stand on stderr."""
    done = run(folder, *args)
    assert done.exit_code == code
    assert says in done.stderr


@pytest.mark.parametrize(
    "command", [["ask", "x"], ["search", "x"], ["verify"], ["stats"], ["docs"]]
)
def test_commands_on_a_knowledge_base_that_is_not_there_exit_1(tmp_path, command):
    """Asking makes no knowledge base."""
    (tmp_path / "kgrag.toml").write_text(CONFIG, "utf-8")
    done = run(tmp_path, *command)
    assert done.exit_code == 1
    assert "ingest" in done.stderr or "no knowledge base" in done.stderr
    assert not (tmp_path / "kb").exists()


def test_config_when_it_is_wrong_names_key_and_file(tmp_path):
    """A typo does not pass."""
    (tmp_path / "kgrag.toml").write_text("[search]\nsytem = 'x'\n", "utf-8")
    done = run(tmp_path, "stats")
    assert done.exit_code == 1
    assert "search.sytem" in done.stderr
    assert "kgrag.toml" in done.stderr
