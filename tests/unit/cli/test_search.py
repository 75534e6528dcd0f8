"""Questions that a model reads before they are searched, from the command line to the results."""

import json
import threading

import pytest
from click.testing import CliRunner

from kgrag.cli.main import main
from kgrag.testing.reply import Reply, contents, stand_in
from kgrag.testing.server import FakeServer

TEXTS = {
    "fujian": "福建省绿色工厂实施方案\n一、目标\n到2025年，福建省创建绿色工厂500家。\n",
    "henan": "河南省绿色工厂实施方案\n一、目标\n到2025年，河南省创建绿色工厂300家。\n",
    "sewage": "农村生活污水治理办法\n一、收费\n农村生活污水处理费由使用者承担。\n",
}
READINGS = {
    "村里脏水谁出钱？": {
        "keywords": [{"name": "农村生活污水", "synonyms": ["污水处理费"]}],
        "critical": "农村生活污水处理费承担",
        "wordings": ["农村生活污水处理费由谁承担？"],
        "passage": "农村生活污水处理费由使用者承担。",
        "sub_questions": [],
    },
    "两个省谁的目标高？": {
        "keywords": [{"name": "绿色工厂", "synonyms": []}],
        "critical": "",
        "wordings": [],
        "passage": "",
        "sub_questions": [
            {"question": "创建多少家？", "place": "福建", "document": "", "year": ""},
            {"question": "创建多少家？", "place": "河南省", "document": "", "year": ""},
        ],
    },
    "绿色工厂目标？": {"keywords": [{"name": "实施方案", "synonyms": []}], "critical": "目标"},
}
SEWAGE, BOTH, FACTORIES = READINGS


class Model:
    """A server that reads the questions above, and answers anything else by rules.

    Attributes:
        fails: Questions whose reading is no JSON.
        together: Readings that it waits for before it gives any.
        read: Questions that it was asked to read.
    """

    def __init__(self):
        self.fails, self.read = (), []
        self.together = threading.Barrier(1)

    def __call__(self, body):
        """Answer a request."""
        said = "\n".join(contents(body))
        question = next((q for q in READINGS if q in said), "")
        if body.get("response_format", {}).get("json_schema", {}).get("name") != "question":
            return stand_in(body)
        self.read.append(question)
        self.together.wait(timeout=20)
        if question in self.fails:
            return Reply("我不知道。")
        return Reply(json.dumps(READINGS[question], ensure_ascii=False))


@pytest.fixture
def model():
    return Model()


@pytest.fixture
def kgrag(tmp_path, model):
    """Give a function that runs commands on three documents, with that model."""
    with FakeServer(model) as server:
        (tmp_path / "kgrag.toml").write_text(
            f'[embedding]\nmodel = "hash"\n[llm]\nbase_url = "{server.base_url}"\n'
            'model = "stand-in"\nconcurrency = 3\n',
            "utf-8",
        )
        for name, text in TEXTS.items():
            (tmp_path / f"{name}.txt").write_text(text, "utf-8")

        def run(*words):
            config = ("--config", tmp_path / "kgrag.toml")
            kb = ("--kb", tmp_path / "kb")
            return CliRunner().invoke(main, [*map(str, (*config, *words, *kb))])

        done = run("ingest", "--no-model", *(tmp_path / f"{name}.txt" for name in TEXTS))
        assert done.exit_code == 0, done.output
        yield run


def results(done):
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["results"]


def ids(found):
    return [(result["chunk_id"], round(result["score"], 6)) for result in found]


def test_what_a_model_says_finds_what_the_question_does_not_name(kgrag, model):
    """In one call; keywords, wordings and passage search, and what they found says so."""
    found = results(kgrag("search", SEWAGE, "--analyse", "--json"))
    assert found[0]["file"].endswith("sewage.txt")
    assert "also found by 《农村生活污水处理费由谁承担？》" in found[0]["via"]
    assert model.read == [SEWAGE]
    plain = results(kgrag("search", SEWAGE, "--json"))
    assert not any("also found by" in via for result in plain for via in result["via"])
    kgrag("search", SEWAGE, "--analyse")
    assert model.read == [SEWAGE]  # kept


@pytest.mark.parametrize("question", [SEWAGE, BOTH])
def test_search_finds_what_an_answer_draws_from(kgrag, question):
    """The same chunks in the same order as for `ask`, which reads the question as well."""
    found = results(kgrag("search", question, "--analyse", "--top-k", "30", "--json"))
    steps = json.loads(kgrag("ask", question, "--json").stdout)["steps"]
    (retrieved,) = [step["detail"] for step in steps if step["name"] == "retrieve"]
    told = [
        f", characters {result['start']}-{result['end']}: {'; '.join(result['via'][:3])}"
        for result in found
    ]
    lines = retrieved.splitlines()
    assert len(lines) == len(told) > 0
    assert all(line.endswith(end) for line, end in zip(lines, told, strict=True))


def test_sub_questions_are_asked_for_each_place(kgrag):
    """Where the question names none; `grim-no-plan` asks it as a whole."""
    found = results(kgrag("search", BOTH, "--analyse", "--json"))
    told = {via for result in found for via in result["via"] if via.startswith("asked for")}
    assert told == {"asked for the whole question", "asked for 福建", "asked for 河南"}
    whole = results(kgrag("search", BOTH, "--analyse", "--json", "--system", "grim-no-plan"))
    assert not any("asked for" in via for result in whole for via in result["via"])


@pytest.fixture
def batch(tmp_path, kgrag):
    """Give a function that searches for three questions of a file."""
    rows = [{"id": f"q{n}", "question": q} for n, q in enumerate(READINGS, 1)]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (tmp_path / "q.jsonl").write_text("\n".join(lines), "utf-8")

    def run(*words):
        out = tmp_path / "run.jsonl"
        done = kgrag("search", "--batch", tmp_path / "q.jsonl", "--out", out, *words)
        rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
        return done, {row["id"]: ids(row["results"]) for row in rows}

    return run


def test_a_batch_is_read_side_by_side(kgrag, batch, model):
    """No reading is given before all three were asked for; results come in the file's order."""
    model.together = threading.Barrier(3)
    done, found = batch("--analyse")
    assert done.exit_code == 0, done.output
    assert sorted(model.read) == sorted(READINGS)
    assert list(found) == ["q1", "q2", "q3"]
    for question, scored in zip(READINGS, found.values(), strict=True):
        single = results(kgrag("search", question, "--analyse", "--json"))
        assert scored == ids(single)


def test_a_question_that_cannot_be_read_does_not_spoil_the_batch(batch, model):
    """It is searched by its own words and named, with the reason; the exit code tells."""
    model.fails = (BOTH,)
    _, by_rules = batch()
    done, found = batch("--analyse")
    assert done.exit_code == 1
    assert "q2: searched by its own words: the answer of stand-in cannot be used" in done.stderr
    assert "q1: " not in done.stderr
    assert "3 questions to" in done.stdout
    assert found["q2"] == by_rules["q2"]
    assert found["q1"] != by_rules["q1"]


def test_a_single_question_that_cannot_be_read_is_an_error(kgrag, model):
    """The exit code tells, and how to go on."""
    model.fails = (BOTH,)
    done = kgrag("search", BOTH, "--analyse")
    assert done.exit_code == 1
    assert "cannot be used" in done.stderr
