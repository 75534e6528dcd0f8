"""Complete answers from what was read: by rule, from the command line, with a model, on asyncio."""

import asyncio
import json

import pytest
from click.testing import CliRunner

from kgrag.api import KnowledgeBase
from kgrag.async_api import AsyncKnowledgeBase
from kgrag.cli.main import main
from kgrag.config import Config, EmbeddingConfig, VerifyConfig
from kgrag.testing.scripted import ScriptedChat
from tests.unit.tables.conftest import POLICIES, base  # noqa: F401  # a fixture


def test_what_a_document_cites(base):  # noqa: F811
    """Each cited document once, with how it is cited."""
    answer = base.ask("《成都市绿色发展工作方案》引用了哪些文件？")
    assert len(answer.text.splitlines()) == 2
    assert answer.notes[0] == "从《成都市绿色发展工作方案》读出引用的文件2项，其中1项在库"
    assert all(check.supported for check in answer.checks)


def test_a_chain_of_bases_is_followed(base):  # noqa: F811
    """成都 carries out 四川, which carries out the nation's, which rests on the law."""
    answer = base.ask("《成都市绿色发展工作方案》的依据链是什么？")
    cited = [c.title for c in answer.citations]
    assert cited[0] == "成都市绿色发展工作方案"
    assert {"四川省绿色发展实施方案", "绿色发展行动方案"} <= set(cited)


def test_what_nobody_repealed_is_not_made_up(base):  # noqa: F811
    """A role that the document has not leaves the question to the text."""
    answer = base.ask("《成都市绿色发展工作方案》废止了哪些文件？")
    assert not any("读出" in note for note in answer.notes)


@pytest.mark.parametrize(
    "question", ["四川省经济和信息化厅负责哪些任务？", "四川省经济和信息化厅的职责有哪些？"]
)
def test_what_an_organ_is_to_do(base, question):  # noqa: F811
    """By its full name, of all documents; in a role where one is asked for."""
    answer = base.ask(question)
    assert answer.text.startswith("建设绿色工厂（牵头），《四川省绿色发展实施方案》：")
    assert answer.notes[0] == "共4份文件，其中读出四川省经济和信息化厅职责的有1份，共1条"
    assert not any("读出" in n for n in base.ask("四川省经济和信息化厅配合哪些任务？").notes)


def test_who_does_a_thing_in_all_documents(base):  # noqa: F811
    """A row for each document, its organs together."""
    answer = base.ask("各地的绿色工厂建设由哪个部门负责？")
    assert [c.title for c in answer.citations] == [
        "四川省绿色发展实施方案",
        "成都市绿色发展工作方案",
    ]
    assert "省经济和信息化厅（牵头）、省生态环境厅（配合）" in answer.text
    assert all(check.supported for check in answer.checks)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A knowledge base made from the command line."""
    made = tmp_path_factory.mktemp("complete")
    (made / "kgrag.toml").write_text('[embedding]\nmodel = "hash-32"\n', "utf-8")
    for name, text in POLICIES.items():
        (made / f"{name}.txt").write_text(text, "utf-8")
    assert run(made, "ingest", made).exit_code == 0
    return made


def run(folder, *words):
    told = ["--config", folder / "kgrag.toml", *words, "--kb", folder / "kb"]
    return CliRunner().invoke(main, [str(word) for word in told])


QUESTION = "全国、四川2025年森林覆盖率目标分别是多少？"


def test_rows_come_from_the_command_line_in_json(folder):
    """Each with its place, its quote and its check."""
    answer = json.loads(run(folder, "ask", QUESTION, "--json").stdout)
    assert answer["text"].splitlines()[1].startswith("四川省：2025年达到41%，《四川省")
    assert [c["quote"] for c in answer["citations"]] == [
        "到2025年，森林覆盖率达到24%，非化石能源消费比重达到20%左右。",
        "到2025年，全省森林覆盖率达到41%，创建绿色工厂500家。",
    ]
    assert [c["numbers"] for c in answer["checks"]] == [[1], [2]]
    assert "共4份文件，其中读出森林覆盖率目标的有3份，全国、四川2025年的有2份" in answer["notes"]


def test_a_program_on_asyncio_gets_the_same(folder):
    """As all do."""
    config = Config(embedding=EmbeddingConfig(model="hash-32"))

    async def ask():
        async with await AsyncKnowledgeBase.open(folder / "kb", config=config) as kb:
            return await kb.ask(QUESTION)

    with KnowledgeBase.open(folder / "kb", config=config) as kb:
        assert asyncio.run(ask()) == kb.ask(QUESTION)


def test_a_model_reads_every_row_before_all_else(folder):
    """As passages that it may cite; how many of how many there are stands with the facts."""
    written = "全国目标为24%[1]，四川为41%[2]。"
    model = ScriptedChat(lambda request: written if request.stage == "answer" else "{}")
    config = Config(embedding=EmbeddingConfig(model="hash-32"), verify=VerifyConfig(method="none"))
    with KnowledgeBase.open(folder / "kb", config=config, model=model) as kb:
        answer = kb.ask(QUESTION, top_k=1)
    (request,) = [r for r in model.requests if r.stage == "answer"]
    read = "\n".join(message.content for message in request.messages)
    assert "森林覆盖率达到24%" in read
    assert "全省森林覆盖率达到41%" in read
    assert "共4份文件，其中读出森林覆盖率目标的有3份，全国、四川2025年的有2份" in read
    assert "共4份文件，其中读出森林覆盖率目标的有3份，全国、四川2025年的有2份" in answer.notes
    assert "table" in [step.name for step in answer.steps]


@pytest.mark.parametrize(
    "question",
    [
        "四川省绿色发展实施方案有哪些重点任务？",
        "列出《四川省绿色发展实施方案》的主要工作任务",
        "四川省绿色发展实施方案的重点任务",
    ],
)
def test_the_tasks_of_a_document_are_its_headings(base, question):  # noqa: F811
    """All under the heading that names them; the title needs no 《》."""
    answer = base.ask(question)
    assert [c.quote for c in answer.citations] == ["（一）建设绿色工厂。", "（二）保护森林。"]
    assert answer.notes[0] == "《四川省绿色发展实施方案》“三、重点任务”之下共2项，2项均已列出"


def test_a_document_that_is_not_named_has_no_tasks(base):  # noqa: F811
    """Nor has one without such a heading."""
    for question in ("各地有哪些重点任务？", "《绿色发展行动方案》有哪些重点任务？"):
        assert not any("之下共" in note for note in base.ask(question).notes)


@pytest.mark.parametrize(
    ("question", "n", "is_exact"),
    [
        ("四川省绿色发展实施方案有哪些时间节点？", 3, True),
        ("《四川绿色发展方案》有哪些时间要求？", 3, False),
        ("云南绿色消费意见的时间表是什么？", 1, True),
    ],
)
def test_the_time_points_of_a_document_are_those_of_its_timeline(base, question, n, is_exact):  # noqa: F811
    """All of them, with the document that was taken where the name is not its title."""
    answer = base.ask(question)
    assert answer.notes[0].endswith(f"读出时间点{n}项")
    assert any("不完全相同" in note for note in answer.notes) is not is_exact
    assert all(check.supported for check in answer.checks)


@pytest.mark.parametrize(
    ("question", "is_exact"),
    [
        ("《四川绿色实施方案》的重点任务有哪些？", False),
        ("四川发展实施方案的重点任务有哪些？", False),
        ("绿色发展四川省实施方案的重点任务有哪些？", True),  # the place elsewhere
    ],
)
def test_a_title_that_is_not_to_the_letter_reaches_its_document(base, question, is_exact):  # noqa: F811
    """With words missing; which document was taken is said where it is not sure."""
    answer = base.ask(question)
    assert [c.quote for c in answer.citations] == ["（一）建设绿色工厂。", "（二）保护森林。"]
    taken = "按《四川省绿色发展实施方案》作答，题中名称与它不完全相同"
    assert any(note.startswith(taken) for note in answer.notes) is not is_exact


@pytest.mark.parametrize(
    "question",
    ["《云南绿色发展实施方案》的重点任务有哪些？", "《四川水污染防治方案》的重点任务有哪些？"],
)
def test_a_name_that_no_title_has_is_taken_for_none(base, question):  # noqa: F811
    """Of another place or subject."""
    assert not any("作答" in note or "之下共" in note for note in base.ask(question).notes)
