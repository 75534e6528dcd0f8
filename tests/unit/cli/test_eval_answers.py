"""`kgrag eval answers`: from questions to figures, without a model and with one, played again."""

import json

import pytest
from click.testing import CliRunner

from kgrag.cli.main import main
from kgrag.testing import FakeServer, Reply, stand_in
from tests.unit.cli.conftest import ingested

SETTINGS = '[embedding]\nmodel = "hash"\n'
TEXTS = {
    "a": "甲省工业绿色发展方案\n一、目标\n到2025年，甲省创建绿色工厂500家。省工信厅牵头。\n",
    "b": "乙市节能规划\n到2030年，乙市非化石能源占比达到45%。\n",
}
QUESTION = "到2025年，甲省创建绿色工厂多少家？"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A knowledge base of two documents, and questions about them."""
    folder = ingested(tmp_path_factory.mktemp("answers"), TEXTS)
    at = TEXTS["a"].index("到2025年")
    rows = [
        {
            "id": "q1",
            "kind": "number",
            "question": QUESTION,
            "answers": ["500家。"],
            "gold_docs": ["a"],
            "gold_spans": {"a": [[at, at + 19]]},
        },
        {
            "id": "q2",
            "kind": "number",
            "question": "到2030年乙市非化石能源占比是多少？",
            "gold_docs": ["b"],
            "gold_spans": {"b": [[7, 29]]},
        },
        {"id": "q3", "kind": "unanswerable", "question": "红烧肉怎么做", "gold_docs": []},
    ]
    write(folder / "q.jsonl", rows)
    return folder


def write(path, rows):
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), "utf-8")
    return path


def run(folder, *words, settings="kgrag.toml"):
    args = ["--config", folder / settings, *words, "--kb", folder / "kb"]
    return CliRunner().invoke(main, list(map(str, args)))


def measured(folder, *options, questions="q.jsonl", settings="kgrag.toml"):
    """Return the report of a run as JSON."""
    done = run(folder, "eval", "answers", folder / questions, "--json", *options, settings=settings)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def without_time(report):
    """Return a report without what no two runs share."""
    told = json.loads(json.dumps(report))
    for group in told["groups"].values():
        group["scores"].pop("seconds")
    for query in told["queries"]:
        query["scores"].pop("seconds")
    return told


def test_quotes_by_rule_are_scored_without_a_model(folder, tmp_path):
    """The gold sentences are quoted, so that what they hold is right; nothing else is refused."""
    out = tmp_path / "answers.jsonl"
    report = measured(folder, "--out", out)
    assert report["system"] == "grim"
    number = report["groups"]["number"]["scores"]
    assert number["any-gold"] == number["gold-quoted"] == number["gold-docs"] == 1
    assert number["num-R"] == number["num-cited"] == number["back-R"] == 1
    assert number["calls"] == 0
    assert "prompt" not in number
    first, second, third = (json.loads(line) for line in out.read_text("utf-8").splitlines())
    assert first["scores"]["F1-char"] < 1  # 500家 alone is asked for
    assert second["scores"]["F1-char"] > 0.8  # without an answer, gold sentences are the reference
    assert set(third["scores"]) == {"refused", "calls", "seconds"}
    assert report["abstention"]["unanswerable"] == 1
    assert report["groups"]["all"]["n_queries"] == 3


def test_tables_are_printed_by_kind(folder):
    done = run(folder, "eval", "answers", folder / "q.jsonl")
    assert done.exit_code == 0
    for word in ("wording", "METEOR", "citations", "gold-quoted", "cost", "refused:", "number"):
        assert word in done.stdout


def test_without_the_documents_that_answer_refusing_is_right(folder):
    """Each question is asked of the other documents only; nothing but refusals is scored."""
    report = measured(folder, "--without-gold")
    assert report["abstention"]["unanswerable"] == 3
    assert report["abstention"]["answerable"] == 0
    for query in report["queries"]:
        assert not query["answerable"]
        assert "any-gold" not in query["scores"]
    asked_of_others = [query for query in report["queries"] if query["id"] != "q3"]
    for query, gold in zip(asked_of_others, "ab", strict=True):
        assert all(f"/{gold}.txt" not in c["file"] for c in query["citations"])


def test_gold_of_other_documents_is_told(folder, tmp_path):
    """A set of questions for another archive measures nothing."""
    row = {"id": "1", "question": "甲？", "gold_docs": ["zz"]}
    done = run(folder, "eval", "answers", write(tmp_path / "q.jsonl", [row]))
    assert done.exit_code == 1
    assert "none of the 1 gold documents (zz, …) is in this knowledge base" in done.stderr
    empty = run(folder, "eval", "answers", write(tmp_path / "none.jsonl", []))
    assert empty.exit_code == 1
    assert "holds no question" in empty.stderr


@pytest.fixture
def with_model(folder):
    """Settings of a local model that answers by rules; gives the server."""
    with FakeServer() as server:
        model = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "local"\n'
        (folder / "model.toml").write_text(SETTINGS + model, "utf-8")
        yield server


def test_a_recorded_run_is_played_without_a_model(folder, with_model, tmp_path):
    """Record, play: the same figures, no request; a changed question is named."""
    tape = tmp_path / "tape.jsonl"
    first = measured(folder, "--record", tape, settings="model.toml")
    asked = len(with_model.requests)
    assert asked > 0
    assert first["groups"]["all"]["scores"]["calls"] > 0
    assert first["groups"]["all"]["scores"]["prompt"] > 0
    again = measured(folder, "--replay", tape)  # of settings that name no model
    assert without_time(again) == without_time(first)
    assert len(with_model.requests) == asked

    rows = [json.loads(line) for line in (folder / "q.jsonl").read_text("utf-8").splitlines()]
    rows[1]["question"] = "到2030年乙市风电装机是多少？"
    changed = write(tmp_path / "changed.jsonl", rows)
    done = run(folder, "eval", "answers", changed, "--replay", tape)
    assert done.exit_code == 1
    assert "question q2: no answer was recorded for the prompt" in done.stderr
    assert "record it anew" in done.stderr


def test_a_line_that_was_changed_by_hand_is_refused(folder, with_model, tmp_path):
    tape = tmp_path / "tape.jsonl"
    measured(folder, "--record", tape, settings="model.toml")
    tape.write_text(tape.read_text("utf-8").replace('"text": "', '"text": "不', 1), "utf-8")
    done = run(folder, "eval", "answers", folder / "q.jsonl", "--replay", tape)
    assert done.exit_code == 1
    assert "was changed after it was recorded" in done.stderr


def test_a_recording_is_not_overwritten_and_not_played_at_once(folder, with_model, tmp_path):
    tape = tmp_path / "tape.jsonl"
    tape.write_text("", "utf-8")
    done = run(folder, "eval", "answers", folder / "q.jsonl", "--record", tape)
    assert done.exit_code == 1
    assert "is there already" in done.stderr
    both = run(folder, "eval", "answers", folder / "q.jsonl", "--record", tape, "--replay", tape)
    assert both.exit_code == 1
    assert "give --record or --replay" in both.stderr


def test_a_model_that_cannot_answer_is_told_and_its_questions_count(folder, tmp_path):
    """Quotes stand in; the table says how often."""
    with FakeServer(lambda _body: Reply("no such model", status=404)) as broken:
        model = f'[llm]\nbase_url = "{broken.base_url}"\nmodel = "gone"\n'
        (folder / "broken.toml").write_text(SETTINGS + model, "utf-8")
        tape = tmp_path / "tape.jsonl"
        report = measured(folder, "--record", tape, settings="broken.toml")
    assert len(report["queries"]) == 3
    fell_back, unrecorded = report["notes"]
    assert fell_back == "3 answers were quoted by rule because the model could not answer"
    assert unrecorded.endswith("were not recorded: the recording cannot be played to its end")


def test_a_model_is_named_for_the_configured_endpoint(folder):
    """`--model` is what the server is asked for; without an endpoint it is an error."""
    with FakeServer(stand_in) as server:
        model = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "local"\n'
        (folder / "named.toml").write_text(SETTINGS + model, "utf-8")
        measured(folder, "--model", "other", settings="named.toml")
        names = {request.body["model"] for request in server.requests}
    assert "other" in names
    done = run(folder, "eval", "answers", folder / "q.jsonl", "--model", "glm-4-plus")
    assert done.exit_code == 1
    assert "no endpoint is configured where a model 'glm-4-plus' could be asked" in done.stderr


def judging(body):
    """Answer as LlamaIndex's evaluators and a comparison want it; else by rule."""
    said = "\n".join(message["content"] for message in body["messages"])
    if "[RESULT]" in said:
        return Reply("On the subject. [RESULT] 2")
    if "YES" in said:
        return Reply("YES")
    if "first_quotes" in said or "第一个回答的引文" in said:
        names = ("correctness", "citation", "truthfulness", "conciseness")
        return Reply(json.dumps(dict.fromkeys(names, "1")))
    return stand_in(body)


def test_answers_are_judged_compared_recorded_and_played(folder, tmp_path):
    """GRIM's four, Chats-Grid's, CoV-RAG's; a judge who always says the first gives ties."""
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    tape, out = tmp_path / "tape.jsonl", tmp_path / "bm25.jsonl"
    measured(folder, "--system", "bm25", "--out", out)
    with FakeServer(judging) as server:
        model = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "local"\n'
        (folder / "judge.toml").write_text(SETTINGS + model, "utf-8")
        options = ("--writer", "quotes", "--judge", "examiner", "--against", out)
        first = measured(folder, *options, "--record", tape, settings="judge.toml")
        names = {request.body["model"] for request in server.requests}
    assert names == {"examiner"}
    scores = first["groups"]["number"]["scores"]
    assert scores["grim:Resp-Ctxt-Qry"] == scores["grim:Loy"] == scores["grim:Resp-Qry"] == 1
    assert scores["grim:Ctxt-Qry"] == 0.5  # 2 of 4 points
    assert scores["grid:faithfulness"] == scores["cov:correctness"] == scores["cov:true"] == 1
    assert scores["judge-calls"] == 6
    assert scores["calls"] == 0
    assert first["compared"]["correctness"] == {"grim": 0, "bm25.jsonl": 0, "tie": 3}
    again = measured(folder, *options, "--replay", tape)
    assert without_time(again) == without_time(first)

    done = run(folder, "eval", "answers", folder / "q.jsonl", "--judge", "x", "--replay", tape)
    assert done.exit_code == 0, done.output
    assert "judged" in done.stdout
    lacking = tmp_path / "short.jsonl"
    lacking.write_text(tape.read_text("utf-8").split("\n")[0] + "\n", "utf-8")
    done = run(folder, "eval", "answers", folder / "q.jsonl", "--judge", "x", "--replay", lacking)
    assert done.exit_code == 1
    assert "question q1: no answer was recorded" in done.stderr


def test_two_systems_are_compared_by_a_judge_only(folder):
    done = run(folder, "eval", "answers", folder / "q.jsonl", "--against", "bm25")
    assert done.exit_code == 2
    assert "--against needs --judge" in done.stderr
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    with FakeServer(judging) as server:
        model = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "local"\n'
        (folder / "pair.toml").write_text(SETTINGS + model, "utf-8")
        report = measured(
            folder,
            *("--writer", "quotes", "--judge", "x", "--against", "bm25"),
            settings="pair.toml",
        )
    assert report["against"]["system"] == "bm25"
    assert sum(report["compared"]["citation"].values()) == 3
