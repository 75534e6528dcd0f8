"""Plugins from the command line to the result: the package that docs/plugins.md shows."""

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kgrag import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ConfigError, ModelMismatchError, ModelNotFoundError
from tests.fixtures.kit import kgrag
from tests.fixtures.packages import PAGE, example_files, put_example, put_package


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder on the path that packages are installed into; nobody's settings or models."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "cache"))
    yield folder
    for name in [n for n in sys.modules if n.startswith(("kgrag_example", "plug_"))]:
        del sys.modules[name]


@pytest.fixture
def example(site):
    put_example(site)
    return site


@pytest.fixture
def tables(tmp_path):
    """A folder of two policies and a table."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "capacity.psv").write_text("年份|光伏装机容量\n2025年|二千万千瓦\n", "utf-8")
    for year in (2019, 2024):
        text = f"青政〔{year}〕3号\n关于光伏发电的通知\n一、目标\n光伏装机容量达到{year}万千瓦。\n"
        (folder / f"{year}.txt").write_text(text, "utf-8")
    return folder


run = partial(kgrag, code=0)


def test_a_folder_with_files_of_a_plugin_is_taken_in_and_asked(example, tables):
    done = run("ingest", tables, "--kb", "kb", "--json")
    report = json.loads(done.stdout)
    assert report["counts"] == {"added": 3}
    assert "年份 | 光伏装机容量" in run("convert", tables / "capacity.psv").stdout
    answer = json.loads(
        run("ask", "光伏装机容量", "--kb", "kb", "--system", "words-and-newest", "--json").stdout
    )
    assert answer["found"]
    found = json.loads(run("search", "光伏装机容量", "--kb", "kb", "--json").stdout)["results"]
    assert {Path(hit["file"]).name for hit in found} == {"capacity.psv", "2019.txt", "2024.txt"}
    assert run("ingest", tables, "--kb", "kb").stdout.count("3 unchanged") == 1


def test_without_the_plugin_its_files_are_passed_over(site, tables):
    done = run("ingest", tables, "--kb", "kb")
    assert "no loader for .psv files" in done.stderr
    assert "2 added" in done.stdout


def test_a_route_of_a_plugin_is_added_to_a_system_by_name(example, tables):
    run("ingest", tables, "--kb", "kb")
    words = ("search", "光伏装机容量", "--kb", "kb", "--explain")
    plain, added = (run(*words, "--system", name).stdout for name in ("grim", "grim+newest"))
    assert "new 1.00" not in plain
    assert re.search(r"1\. .*\n.*2024\.txt.*\n   found by: .*\bnew 1\.00\b", added)


def test_systems_of_plugins_are_measured(example, tables, tmp_path):
    run("ingest", tables, "--kb", "kb")
    gold = {"id": "q1", "question": "光伏装机容量", "gold_docs": ["2024"]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold, ensure_ascii=False) + "\n", "utf-8")
    names = "bm25,words-and-newest,bm25+newest"
    words = ("--set", "a", "kb", "gold.jsonl", "--systems", names)
    done = run("eval", "experiment", *words, "--json")
    assert list(json.loads(done.stdout)["a"]) == names.split(",")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("gram", "there are grim, .*, words-and-newest$"),
        ("grim+oldest", "no plugin has a route 'oldest'; routes of plugins: newest$"),
        ("gram+newest", "no system is called 'gram'"),
    ],
)
def test_a_name_that_is_not_there_is_told_with_those_that_are(example, tables, name, told):
    run("ingest", tables, "--kb", "kb")
    with KnowledgeBase.open("kb") as base:
        for ask in (base.search, base.ask):
            with pytest.raises(ConfigError, match=told):
                ask("光伏", system=name)


def test_an_encoder_of_a_plugin_is_listed_and_chosen(example, tables):
    (row,) = [
        r for r in json.loads(run("models", "list", "--json").stdout) if r["name"] == "letters"
    ]
    assert (row["format"], row["folder"], row["problem"]) == ("plugin", None, "")
    assert row["source"] == "kgrag-example 1.0 (kgrag_example.embedder:LetterEmbedder)"
    assert re.search(r"letters +plugin .* - .*kgrag-example 1\.0", run("models", "list").stdout)
    assert "kgrag_example.embedder" not in sys.modules
    run("ingest", tables, "--kb", "kb")
    assert "letters-1" in run("reembed", "--model", "letters", "--kb", "kb").stdout
    found = json.loads(run("search", "光伏", "--kb", "kb", "--system", "vector", "--json").stdout)
    assert len(found["results"]) == 3
    with KnowledgeBase.open("kb") as base:  # by what is recorded
        assert base.embedder.name == "letters-1"


def test_without_its_plugin_a_knowledge_base_says_whose_encoder_it_has(
    example, tables, monkeypatch
):
    run("ingest", tables, "--kb", "kb")
    run("reembed", "--model", "letters", "--kb", "kb")
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry != str(example)])
    done = run("search", "光伏", "--kb", "kb", code=1)
    assert "letters-1, which came from the plugin kgrag-example" in done.stderr
    assert "pip install kgrag-example" in done.stderr
    assert "--system bm25" in done.stderr
    assert json.loads(run("search", "光伏", "--kb", "kb", "--system", "bm25", "--json").stdout)
    run("reembed", "--model", "hash", "--kb", "kb")
    run("search", "光伏", "--kb", "kb")


def test_files_are_read_anew_by_another_version_of_the_loader(site, tables, tmp_path, monkeypatch):
    put_example(site)
    run("ingest", tables, "--kb", "kb")
    later = tmp_path / "later"
    put_example(later, version="2.0")
    monkeypatch.setattr(sys, "path", [str(later), *(p for p in sys.path if p != str(site))])
    report = json.loads(run("ingest", tables, "--kb", "kb", "--json").stdout)
    assert report["counts"] == {"replaced": 1, "unchanged": 2}


BROKEN = {
    "kgrag.loaders": ("psv", ("ingest", "folder", "--kb", "new")),
    "kgrag.routes": ("bad", ("search", "光伏", "--kb", "kb", "--system", "grim+bad")),
    "kgrag.systems": ("bad", ("ask", "光伏", "--kb", "kb", "--system", "bad")),
    "kgrag.embedders": ("bad", ("reembed", "--model", "bad", "--kb", "kb")),
}


@pytest.mark.parametrize(
    ("group", "source"),
    [*zip(BROKEN, ("X = 5", "raise RuntimeError('no luck')", "X = 5", "1 / 0"), strict=True)],
)
def test_a_broken_plugin_is_one_error_with_its_name_and_the_remedy(
    site, tables, group, source, monkeypatch
):
    run("ingest", tables, "--kb", "kb")
    name, words = BROKEN[group]
    put_package(site, "kgrag-bad", {"plug_bad.py": source}, {group: {name: "plug_bad:X"}})
    monkeypatch.syspath_prepend(f"{site}/")  # what was there before is kept for the path before
    done = run(*words, code=1)
    assert f"kgrag: the plugin '{name}' of kgrag-bad 1.0 ({group}: plug_bad:X)" in done.stderr
    assert "pip uninstall kgrag-bad" in done.stderr
    if group == "kgrag.loaders":
        with KnowledgeBase.open("new") as base:
            assert base.counts().documents == 0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("Parsed('甲乙', '甲', segments=((0, 2),))", r"a segment that is no Segment: \(0, 2\)"),
        ("Parsed('甲乙', '甲', warnings='一个警告')", "warnings in a str"),
        ("Parsed('甲乙', '甲', properties=[('年', '2')])", "properties in a list"),
        ("sys.exit(3)", "could not read it: SystemExit: 3"),
    ],
)
def test_what_a_loader_gives_in_another_form_fails_for_that_file(site, tables, given, told):
    code = (
        "import sys\nfrom kgrag.extending import Parsed\n"
        f"def read(data, *, name, stem):\n    return {given}\n"
    )
    put_package(site, "kgrag-bad", {"plug_w.py": code}, {"kgrag.loaders": {"psv": "plug_w:read"}})
    done = run("ingest", tables, "--kb", "kb", code=1)
    assert re.search(rf"capacity\.psv: the plugin 'psv' of kgrag-bad .*{told}", done.stderr)
    assert "2 added" in done.stdout


@pytest.mark.parametrize(
    ("hits", "told"),
    [
        ("((ids[0], math.nan),)", "a score that is no finite number"),
        ("((ids[0], 2.0), (ids[0], 1.0))", "a chunk twice"),
        ("((ids[0], 1.0), (ids[1], 2.0))", "hits that do not stand best first"),
    ],
)
def test_a_route_with_hits_in_another_form_names_the_plugin(site, tables, hits, told):
    run("ingest", tables, "--kb", "kb")
    code = (
        "import math\n"
        "from kgrag.extending import Ranking, WeightedRetriever, words_in_text\n"
        "def bad(search):\n"
        "    ids = [chunk_id for chunk_id, _ in words_in_text(search).hits]\n"
        f"    return Ranking({hits}, {{}})\n"
        "X = WeightedRetriever(bad)\n"
    )
    put_package(site, "kgrag-bad", {"plug_h.py": code}, {"kgrag.routes": {"h": "plug_h:X"}})
    done = run("search", "光伏装机容量", "--kb", "kb", "--system", "grim+h", code=1)
    assert f"the plugin 'h' of kgrag-bad 1.0 (kgrag.routes: plug_h:X) gave {told}" in done.stderr


def test_a_route_that_is_asked_for_as_a_system_is_told(example, tables):
    run("ingest", tables, "--kb", "kb")
    done = run("search", "光伏", "--kb", "kb", "--system", "newest", code=1)
    assert "no system is called 'newest' (newest is a route: grim+newest)" in done.stderr


def test_the_installed_command_finds_plugins_in_its_environment(tmp_path, tables):
    """In a process of its own: nothing of this one helps."""
    site = tmp_path / "site"
    put_example(site)
    environment = {**os.environ, "PYTHONPATH": str(site), "KGRAG_CACHE": str(tmp_path / "cache")}

    def command(*words):
        return subprocess.run(
            [sys.executable, "-c", "from kgrag.cli.main import run; run()", *words],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip

    assert "3 added" in command("ingest", str(tables), "--kb", "kb")
    found = json.loads(command("search", "光伏", "--kb", "kb", "--system", "grim+newest", "--json"))
    assert Path(found["results"][0]["file"]).name == "2024.txt"


def test_the_examples_test_passes(example, tmp_path):
    """The page's own test, as its reader would run it."""
    space: dict[str, Any] = {}
    exec(compile(example_files()["test_example.py"], "test_example.py", "exec"), space)
    space["test_a_table_is_found"](tmp_path)


def test_examples_without_a_package_run(example, tables):
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    program, model = (b for b in blocks if "KnowledgeBase.open(" in b or "ShoutingModel" in b
                      if "def test" not in b)  # fmt: skip
    space: dict[str, Any] = {}
    with KnowledgeBase.open("kb", embedder=HashEmbedder(64)) as base:
        base.ingest(tables)
    with pytest.raises(ModelMismatchError):
        exec(program.replace('system="mine"', 'system="vector"'), space)
    run("reembed", "--model", "letters", "--kb", "kb")
    exec(program, space)
    assert space["hits"]
    exec(model, space)
    with KnowledgeBase.open("kb", model=space["ShoutingModel"]()) as base:
        base.ask("光伏装机容量", verify="none")
        assert base.calls.totals()[0].stage == "answer"


def test_an_encoder_that_a_program_gave_is_named_where_it_is_missing(tables, site):
    class Letters:
        name = "mine-1"
        dimension = 32

        def embed(self, texts, task):
            return [[float(text.count(chr(97 + n))) for n in range(32)] for text in texts]

    with KnowledgeBase.open("kb", embedder=Letters()) as base:
        base.ingest(tables)
        assert base.search("光伏装机容量")
    with (
        KnowledgeBase.open("kb") as base,
        pytest.raises(ModelNotFoundError, match=r"mine-1, which came from a program.*embedder=…"),
    ):
        base.search("光伏装机容量")
