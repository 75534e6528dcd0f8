"""Who cites a document: all of them, and of how many."""

import pytest
from click.testing import CliRunner

from kgrag.cli.main import main
from kgrag.retrieval.filter import Filter
from tests.unit.tables.conftest import POLICIES, base  # noqa: F401  # a fixture

LAW = "中华人民共和国节约能源法"


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        (f"哪些政策文件引用了《{LAW}》？", ["绿色发展行动方案", "成都市绿色发展工作方案"]),
        (f"有多少文件以《{LAW}》为依据，哪些办法依据了《{LAW}》", []),  # two places of one title
        ("哪些文件落实了《绿色发展行动方案》？", ["四川省绿色发展实施方案"]),
        ("《绿色发展行动方案》被哪些文件引用？", ["四川省绿色发展实施方案"]),
        ("谁引用了《绿色发展行动方案》？", ["四川省绿色发展实施方案"]),
        ("落实《绿色发展行动方案》的文件有哪些？", ["四川省绿色发展实施方案"]),
        ("Which documents cite 《绿色发展行动方案》?", ["四川省绿色发展实施方案"]),
    ],
)
def test_all_that_cite_are_listed(base, question, titles):  # noqa: F811
    """In the order of issue, each with its sentence; the title's own document is none of them."""
    answer = base.ask(question)
    if not titles:
        assert not any("其中读出引用《" in note for note in answer.notes)
        return
    assert [c.title for c in answer.citations] == titles
    note = answer.notes[0]
    assert "4" in note
    assert str(len(titles)) in note
    lines = answer.text.splitlines()
    assert all(line.startswith(f"《{t}》（") for line, t in zip(lines, titles, strict=True))
    assert [line[-3:] for line in lines] == [f"[{n}]" for n in range(1, len(titles) + 1)]
    assert all(c.quote.endswith("制定本方案。") for c in answer.citations)
    assert answer.found
    assert all(check.supported for check in answer.checks)


@pytest.mark.parametrize(
    "question",
    [
        "《四川省绿色发展实施方案》引用了哪些文件？",  # the other direction
        "哪些文件引用了《没有人引用的办法》？",
        "哪些文件有绿色工厂的目标？",
    ],
)
def test_other_questions_are_answered_as_before(base, question):  # noqa: F811
    """No list where nothing cites, or where something else is asked."""
    assert not any("其中读出引用《" in note for note in base.ask(question).notes)


def test_a_filter_holds_for_the_list(base):  # noqa: F811
    """Of the documents that are searched, and no others."""
    within = Filter(regions=("四川",))
    answer = base.ask(f"哪些文件引用了《{LAW}》？", within=within)
    assert answer.notes[0] == f"共2份文件，其中读出引用《{LAW}》的有1份"


def test_ask_says_how_many_of_how_many(tmp_path):
    """From the command line."""
    (tmp_path / "kgrag.toml").write_text('[embedding]\nmodel = "hash-32"\n', "utf-8")
    for name, text in POLICIES.items():
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")

    def run(*words):
        told = ["--config", tmp_path / "kgrag.toml", *words, "--kb", tmp_path / "kb"]
        return CliRunner().invoke(main, [str(word) for word in told])

    assert run("ingest", tmp_path).exit_code == 0
    done = run("ask", f"哪些文件引用了《{LAW}》？")
    assert f"共4份文件，其中读出引用《{LAW}》的有2份" in done.stdout + done.stderr
