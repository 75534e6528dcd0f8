"""A filter holds an answer to its documents, from the command's options to the citations."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kgrag.api import KnowledgeBase
from kgrag.cli.main import main
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import NotFoundError
from kgrag.retrieval.filter import Filter

WANTED, OTHER = "sichuan.txt", "jilin.txt"
TEXTS = {
    WANTED: "四川省绿色工厂实施方案\n川府发〔2021〕3号\n一、目标\n到2025年创建绿色工厂500家。\n",
    OTHER: "吉林省绿色工厂管理办法\n吉政发〔2023〕8号\n一、目标\n今后创建绿色工厂300家。\n",
}
QUESTION = "今后创建绿色工厂多少家？"  # which the other document answers better

FILTERS = [
    (["--doc", WANTED], Filter(documents=(WANTED,))),
    (["--region", "四川"], Filter(regions=("四川",))),
    (["--kind", "实施方案"], Filter(kinds=("实施方案",))),
    (["--year", "2020-2022"], Filter(years=(2020, 2022))),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A knowledge base of two documents that differ in place, kind and year."""
    folder = tmp_path_factory.mktemp("filtered")
    for name, text in TEXTS.items():
        (folder / name).write_text(text, "utf-8")
    with KnowledgeBase.open(folder / "kb", embedder=HashEmbedder()) as base:
        assert not base.ingest([folder / name for name in TEXTS]).failed
    return folder / "kb"


@pytest.fixture(scope="module")
def base(place):
    with KnowledgeBase.open(place, create=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def run(place):
    """Return a function that gives what a command says, on stdout."""

    def run(*arguments, typed=None):
        done = CliRunner().invoke(main, [*arguments, "--kb", str(place)], input=typed)
        assert done.exit_code == 0, done.output
        return done.stdout

    return run


def names(files):
    return [Path(file).name for file in files]


def test_without_a_filter_the_other_document_answers(base):
    """So that what follows says something."""
    assert names(c.file for c in base.ask(QUESTION).citations)[0] == OTHER
    assert [base.find_document(r.chunk.doc_id).title for r in base.search(QUESTION)] == [
        "吉林省绿色工厂管理办法",
        "四川省绿色工厂实施方案",
    ]


@pytest.mark.parametrize("within", [within for _, within in FILTERS])
def test_search_and_ask_keep_to_a_filter(base, within):
    """By name, place, kind and year."""
    assert {r.chunk.doc_id for r in base.search(QUESTION, within=within)} == {
        base.find_document(WANTED).doc_id
    }
    answer = base.ask(QUESTION, within=within)
    assert names(c.file for c in answer.citations) == [WANTED]
    assert "500家" in answer.text


def test_ask_says_what_a_filter_leaves_out(base):
    """A document that does not say when it was issued may have held the answer."""
    assert not [n for n in base.ask(QUESTION, within=FILTERS[3][1]).notes if "left out" in n]
    with pytest.raises(NotFoundError, match="no document is of 1999"):
        base.ask(QUESTION, within=Filter(years=(1999, 1999)))


@pytest.mark.parametrize("options", [options for options, _ in FILTERS])
def test_commands_keep_to_their_filter(run, options):
    """`search`, `ask` and `chat`."""
    assert names(
        r["file"] for r in json.loads(run("search", QUESTION, "--json", *options))["results"]
    ) == [WANTED]
    answer = json.loads(run("ask", QUESTION, "--json", *options))
    assert names(c["file"] for c in answer["citations"]) == [WANTED]
    said = run("chat", *options, typed=f"{QUESTION}\n")
    assert "500家" in said
    assert "300家" not in said
