"""A day holds an answer to what was there, from the command's option to the marks of citations."""

import asyncio
import json
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from kgrag.api import KnowledgeBase
from kgrag.async_api import AsyncKnowledgeBase
from kgrag.cli.main import main
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import NotFoundError

OLD, NEW, DRAFT = "old.txt", "new.txt", "draft.txt"
TEXTS = {
    OLD: "云岭省公共机构节能补贴管理办法\n云政发〔2015〕3号\n第一条 为节能，制定本办法。\n"
    "第二条 公共机构节能改造每家补贴五万元。\n云岭省人民政府\n2015年3月1日\n",
    NEW: "云岭省公共机构节能奖励管理规定\n云政发〔2021〕8号\n第一条 为节能，制定本规定。\n"
    "第二条 节能改造做得好的，每家奖励八万元。\n"
    "第三条 本规定自2021年7月1日起施行，有效期至2099年6月30日。《云岭省公共机构节能补贴管理办法》"
    "（云政发〔2015〕3号）同时废止。\n云岭省人民政府\n2021年5月6日\n",
    DRAFT: "云岭省公共机构节能条例（征求意见稿）\n第一条 为节能，制定本条例。\n"
    "第二条 公共机构应当设节能岗位。\n云岭省人民政府\n2022年5月6日\n",
}  # fmt: skip
QUESTION = "公共机构节能改造每家补贴多少万元？"  # which the old document answers best
REPEALED = "已废止，自2021-07-01起，由《云岭省公共机构节能奖励管理规定》废止"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A knowledge base of a repealed document, the one that repeals it, and a draft."""
    folder = tmp_path_factory.mktemp("dated")
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
    """Return a function that gives what a command says."""

    def run(*arguments, typed=None, code=0):
        done = CliRunner().invoke(main, [*arguments, "--kb", str(place)], input=typed)
        assert done.exit_code == code, done.output
        return done

    return run


def files(results):
    """Return the documents of results, each once."""
    return list(dict.fromkeys(Path(hit.file).name for hit in results))


def test_without_a_day_results_are_only_marked(base):
    """The best clause comes first, whatever its document is by now."""
    found = base.search(QUESTION)
    assert files(found)[0] == OLD
    kinds = {Path(hit.file).name: hit.status.kind for hit in found}
    assert kinds == {OLD: "repealed", NEW: "in_force", DRAFT: "draft"}


@pytest.mark.parametrize("as_of", ["2022-12", date(2022, 12, 31), "2022年12月31日"])
def test_what_is_in_force_at_the_day_comes_first(base, as_of):
    found = base.search(QUESTION, as_of=as_of)
    assert files(found)[0] == NEW
    assert set(files(found)[1:]) == {OLD, DRAFT}


def test_what_was_issued_later_is_not_searched(base):
    """Of a year its last day counts."""
    assert files(base.search(QUESTION, as_of="2020")) == [OLD]
    assert files(base.search(QUESTION, as_of="2021-06-30")) == [OLD, NEW]  # not in force yet
    with pytest.raises(NotFoundError, match="issued after 2014-12-31"):
        base.search(QUESTION, as_of="2014")
    with pytest.raises(ValueError, match="a date is given as"):
        base.search(QUESTION, as_of="2014-15")


def test_a_day_in_the_question_leaves_nothing_out(base):
    found = base.search("2020年时有效的公共机构节能改造补贴多少万元？")
    assert files(found)[0] == OLD
    assert set(files(found)) == set(TEXTS)
    assert {Path(hit.file).name: hit.status.day for hit in found}[OLD] == "2020-12-31"
    assert files(base.search("现行有效的办法：公共机构节能改造每家补贴多少万元？"))[0] == NEW


def test_an_answer_names_what_replaces_a_repealed_document(base):
    """In its citations and its notes; the day decides."""
    answer = base.ask(QUESTION)
    (first, *_) = answer.citations
    assert (first.status.kind, first.status.title) == ("repealed", "云岭省公共机构节能奖励管理规定")
    assert f"所引《云岭省公共机构节能补贴管理办法》：{REPEALED}" in answer.notes

    then = base.ask(QUESTION, as_of="2020")
    assert {c.status.kind for c in then.citations} == {"in_force"}
    assert "按2020-12-31查找：之后印发的2份文件不在其内，0份未写明日期的仍在其内" in then.notes


def test_the_commands_take_the_day(run):
    """`search`, `ask`, `chat` and `docs`; as text and as JSON."""
    shown = run("search", QUESTION, "--as-of", "2022").stdout
    assert f"云岭省公共机构节能补贴管理办法【{REPEALED}】" in shown
    assert shown.startswith("1. 云岭省公共机构节能奖励管理规定\n")
    told = json.loads(run("search", QUESTION, "--as-of", "2022", "--json").stdout)["results"]
    assert {hit["status"]["day"] for hit in told} == {"2022-12-31"}
    later = "as of 2020-12-31: 2 documents that were issued later are left out"
    assert later in run("search", QUESTION, "--as-of", "2020").stderr

    done = run("ask", QUESTION)
    assert f"[1] 云岭省公共机构节能补贴管理办法【{REPEALED}】" in done.stdout
    answer = json.loads(run("ask", QUESTION, "--as-of", "2020年", "--json").stdout)
    assert {c["status"]["kind"] for c in answer["citations"]} == {"in_force"}
    talked = run("chat", "--as-of", "2020", typed=f"{QUESTION}\n")
    assert "五万元" in talked.stdout
    assert "已废止" not in talked.stdout
    english = run("search", "How much was paid in 2015?").stdout
    assert " [repealed from 2021-07-01 by 《云岭省公共机构节能奖励管理规定》]" in english


def test_documents_are_listed_with_their_status(run, base):
    """As of today, or of a day."""
    listed = run("docs").stdout
    assert f"云岭省公共机构节能补贴管理办法【{REPEALED}】" in listed
    assert "【征求意见稿，不是正式文件】" in listed
    rows = [
        json.loads(line) for line in run("docs", "--as-of", "2020", "--json").stdout.splitlines()
    ]
    kinds = {Path(row["file"]).name: row["status"]["kind"] for row in rows}
    assert kinds == {OLD: "in_force", NEW: "not_yet", DRAFT: "not_yet"}
    assert {s.kind for s in base.statuses("2020").values()} == {"in_force", "not_yet"}


def test_a_bad_day_is_a_usage_error(run):
    for command in (["search", QUESTION], ["ask", QUESTION], ["chat"], ["docs"]):
        said = run(*command, "--as-of", "2022-13", code=2, typed="").stderr
        assert "'--as-of': a date is given as 2022, 2022-03, 2022-03-05 or 2022年3月" in said


def test_a_batch_is_searched_as_of_the_day(run, tmp_path):
    """The run file has the keys that it has without."""
    batch, out = tmp_path / "q.jsonl", tmp_path / "run.jsonl"
    batch.write_text(json.dumps({"id": "q", "question": QUESTION}) + "\n", "utf-8")
    run("search", "--batch", str(batch), "--out", str(out), "--as-of", "2020")
    results = json.loads(out.read_text("utf-8"))["results"]
    assert {Path(hit["file"]).name for hit in results} == {OLD}
    assert "status" not in results[0]


def test_the_day_is_for_programs_on_asyncio_too(place):
    async def asked():
        async with await AsyncKnowledgeBase.open(place, create=False) as base:
            return await base.search(QUESTION, as_of="2020"), await base.ask(QUESTION, as_of="2020")

    found, answer = asyncio.run(asked())
    assert files(found) == [OLD]
    assert files(answer.citations) == [OLD]


def test_a_model_is_told_what_is_not_in_force(base):
    """Behind the title of the passage, in the language of the question."""
    from kgrag.answering.pack import pack, passages_block
    from kgrag.answering.search_context import ResultsWithDocuments
    from kgrag.llm.tokens import estimate_tokens

    knowledge = base._knowledge.at(QUESTION, None)
    query = knowledge.query(QUESTION)
    held = ResultsWithDocuments.of(base.search(QUESTION), knowledge.store)
    context = pack(query, held.results, documents=held.documents, headings=held.headings,
                   facts=[], budget_tokens=2000, compress=1.0, count=estimate_tokens)  # fmt: skip
    shown = passages_block(knowledge.with_marks(context, "zh"))
    assert f"《云岭省公共机构节能补贴管理办法》【{REPEALED}】" in shown
    assert (
        "《云岭省公共机构节能奖励管理规定》 >" in shown
        or "《云岭省公共机构节能奖励管理规定》\n" in shown
    )
