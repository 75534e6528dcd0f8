"""From `[rerank]` in kgrag.toml to the order of what is found."""

import json

import pytest
from click.testing import CliRunner

from kgrag.cli.main import main
from kgrag.testing.reply import Reply
from kgrag.testing.server import FakeServer
from tests.fixtures.rerankers import answering, write_cross_encoder

QUESTION = "绿色工厂创建目标是多少家？"
TEXTS = {
    name: f"{name}省绿色工厂实施方案\n一、目标\n到2025年，{name}省创建绿色工厂{n}00家。\n"
    for n, name in enumerate(("福建", "河南", "四川"), 2)
}


def prefers(*names):
    """Return a score that is the better the earlier a passage's place is named."""
    return lambda question, passage: next(
        (1.0 / (2 + n) for n, name in enumerate(names) if passage.startswith(name)), 0.0
    )


@pytest.fixture
def kgrag(tmp_path):
    """Give a function that runs commands on three documents, with settings of `[rerank]`."""
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")

    def run(rerank, *words):
        config = tmp_path / "kgrag.toml"
        config.write_text(f'[embedding]\nmodel = "hash"\n{rerank}', "utf-8")
        options = ("--config", str(config), *words, "--kb", str(tmp_path / "kb"))
        return CliRunner().invoke(main, options)

    done = run("", "ingest", *(str(tmp_path / f"{name}.txt") for name in TEXTS))
    assert done.exit_code == 0, done.output
    return run


def at(server, more=""):
    return f'[rerank]\nbase_url = "{server.base_url}"\nmodel = "m"\n{more}'


def texts_of(request):
    """Return the passages that were sent."""
    texts = request.body["documents"]
    assert isinstance(texts, list)
    return texts


def order(done):
    """Return the places of what was found, each once."""
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["results"]
    return list(dict.fromkeys(result["text"][:2] for result in found))


@pytest.mark.parametrize("system", ["grim", "bm25"])
@pytest.mark.parametrize("names", [("四川", "福建", "河南"), ("河南", "四川", "福建")])
def test_search_gives_the_order_of_the_endpoint(kgrag, system, names):
    """Whatever the preset; in one request."""
    with FakeServer(answering(prefers(*names))) as server:
        done = kgrag(at(server), "search", QUESTION, "--system", system, "--json")
    assert order(done) == list(names)
    assert len(server.requests) == 1
    assert server.requests[0].body["query"] == QUESTION
    assert "reranked: 0.50" in json.loads(done.stdout)["results"][0]["via"]


@pytest.mark.parametrize(
    ("language", "told"), [("en", "cross-encoder (no. 1 of"), ("zh", "重排模型打分（")]
)
def test_search_explains_it(kgrag, monkeypatch, language, told):
    """In the user's language."""
    monkeypatch.setenv("KGRAG_LANG", language)
    with FakeServer(answering(prefers("四川"))) as server:
        done = kgrag(at(server), "search", QUESTION, "--explain")
    assert told in done.output


def test_search_gives_the_order_of_a_model_on_this_machine(kgrag, tmp_path):
    """That weighs single characters."""
    pytest.importorskip("onnx", reason="the tiny model is made with the onnx package")
    folder = tmp_path / "reranker"
    folder.mkdir()
    write_cross_encoder(folder, {"川": 1.0, "河": -1.0})
    done = kgrag(f"[rerank]\npath = '{folder}'\n", "search", QUESTION, "--json")
    assert order(done) == ["四川", "福建", "河南"]


def test_an_answer_is_drawn_from_that_order(kgrag):
    """With one result, from the first alone."""
    with FakeServer(answering(prefers("河南"))) as server:
        done = kgrag(at(server), "ask", QUESTION, "--top-k", "1", "--json")
    assert done.exit_code == 0, done.output
    assert "300家" in json.loads(done.stdout)["text"]
    assert "400家" not in done.stdout


def test_further_wordings_are_reranked_by_their_own_words(kgrag):
    """That a chat model gives; what all of them put first comes first."""
    reading = {"keywords": [], "wordings": ["要建多少家绿色工厂？"], "passage": ""}
    said = Reply(json.dumps(reading, ensure_ascii=False))
    score = answering(prefers("四川", "福建", "河南"))
    with FakeServer(score) as server, FakeServer(lambda body: said) as model:
        llm = f'[llm]\nbase_url = "{model.base_url}"\nmodel = "stand-in"\n'
        done = kgrag(at(server) + llm, "search", QUESTION, "--analyse", "--json")
    assert order(done) == ["四川", "福建", "河南"]
    asked = [request.body["query"] for request in server.requests]
    assert asked == [QUESTION, "要建多少家绿色工厂？"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply("no", status=401),
        Reply("oops", status=500, headers={"retry-after-ms": "1"}),
        Reply(raw='{"results": []}'),
        Reply(raw="<html>"),
    ],
)
def test_a_reranker_that_fails_leaves_the_order_and_is_told(kgrag, caplog, reply):
    """Search and ask answer as they do without it."""
    plain = json.loads(kgrag("", "search", QUESTION, "--json").stdout)
    answer = json.loads(kgrag("", "ask", QUESTION, "--json").stdout)
    with FakeServer(lambda body: reply) as server:
        done = kgrag(at(server), "search", QUESTION, "--json")
        assert caplog.text.count("results are in the order that they have without [rerank]") == 1
        caplog.clear()
        asked = kgrag(at(server), "ask", QUESTION, "--json")
        assert caplog.text.count("results are in the order that they have without [rerank]") == 1
    assert done.exit_code == asked.exit_code == 0
    assert json.loads(done.stdout)["results"] == plain["results"]
    assert json.loads(asked.stdout)["text"] == answer["text"]


def test_more_candidates_than_are_reranked_stay_behind(kgrag):
    """The best alone can gain nothing."""
    plain = order(kgrag("", "search", QUESTION, "--json"))
    with FakeServer(answering(prefers(*plain[::-1]))) as server:
        done = kgrag(at(server, "candidates = 1\n"), "search", QUESTION, "--json")
    assert order(done) == plain
    (request,) = server.requests
    assert [str(text)[:2] for text in texts_of(request)] == plain[:1]
