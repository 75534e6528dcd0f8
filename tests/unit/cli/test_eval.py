"""Commands that evaluate: experiments, comparisons, answers, data sets."""

import json
from pathlib import Path

import pytest

from kgrag.evaluation.queries import read_queries
from kgrag.ingestion.samples import questions_file
from kgrag.testing import FakeServer, Reply, stand_in
from tests.fixtures.kit import ingested, kgrag, kgrag_in, run
from tests.fixtures.plain_samples import put_plain_samples

# What grim found of the samples, documents alone
BASELINE = Path(__file__).parents[2] / "fixtures" / "samples_grim.jsonl"
NONE = '{"id": "q", "question": "?", "gold_docs": []}\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A knowledge base of the samples, and what an experiment of two systems wrote of it."""
    folder = tmp_path_factory.mktemp("eval")
    (folder / "kgrag.toml").write_text('[embedding]\nmodel = "hash"\n', "utf-8")
    put_plain_samples(folder / "docs")
    assert kgrag_in(folder, "ingest", folder / "docs", "--kb", folder / "kb").exit_code == 0
    done = experiment(folder, "--systems", "bm25,grim", "--out", folder / "out")
    assert done.exit_code == 0, done.output
    (folder / "out" / "stdout.md").write_text(done.stdout, "utf-8")
    assert "2 questions of" in done.stderr
    return folder


def experiment(folder, *words):
    return kgrag_in(
        folder, "eval", "experiment", "--set", "样本", folder / "kb", questions_file(), *words
    )


def compare(folder, a, b, *words):
    return kgrag_in(folder, "eval", "compare", a, b, "--queries", questions_file(), *words)


def test_experiment_prints_a_table_and_writes_reports_and_runs(folder):
    """The table that is printed, and each system's results."""
    out = folder / "out"
    table = (out / "stdout.md").read_text("utf-8")
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]

    assert rows[0][:3] == ["system", "n", "P"]
    assert rows[0][-3:] == ["ms p50", "ms p99", "characters"]
    assert [row[:2] for row in rows[2:]] == [["bm25", "10"], ["grim", "10"]]
    assert (out / "report.md").read_text("utf-8") == table
    runs = sorted(path.name for path in out.glob("样本*"))
    assert runs == ["样本.bm25.jsonl", "样本.grim.jsonl"]


def test_grim_is_not_worse_than_what_it_found_before(folder):
    """The gate: whoever makes retrieval significantly worse on the samples fails here."""
    done = compare(folder, BASELINE, folder / "out" / "样本.grim.jsonl")

    assert done.exit_code == 0, done.output


def test_compare_exits_1_where_the_second_run_is_significantly_worse(folder, tmp_path):
    """A run that lacks eight of ten questions loses them; the other way round it wins them."""
    grim = folder / "out" / "样本.grim.jsonl"
    lines = grim.read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "less.jsonl").write_text("".join(lines[:2]), "utf-8")
    done = compare(folder, grim, tmp_path / "less.jsonl", "--measures", "R@5")

    assert done.exit_code == 1
    assert done.stdout.splitlines()[1].split()[-3:] == ["0", "3", "7"]
    assert "less.jsonl lacks 8 of 10 questions" in done.stderr
    assert "less.jsonl is significantly worse (p < 0.05): R@5" in done.stderr
    assert compare(folder, tmp_path / "less.jsonl", grim, "--measures", "R@5").exit_code == 0
    assert compare(folder, grim, tmp_path / "less.jsonl", "--alpha", "0.001").exit_code == 0


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["experiment", "--set", "a", "kb", "none.jsonl"], 1, "no question has gold"),
        (["experiment", "--set", "a", "kb", "gone.jsonl"], 2, "does not exist"),
        (["experiment", "--set", "a", "nowhere", "QUESTIONS"], 1, "nowhere"),
        (["experiment", "--set", "a/b", "kb", "QUESTIONS"], 2, "a name of its own"),
        (["experiment", "--set", "a", "kb", "QUESTIONS", "--systems", ","], 2, "commas"),
        (["experiment", "--set", "a", "kb", "QUESTIONS", "--measures", "R5"], 1, "no measure 'R5'"),
        (["experiment", "--set", "a", "kb", "QUESTIONS", "--out", "kgrag.toml/x"], 1, "toml/x"),
        (["compare", "RUN", "none.jsonl", "--queries", "QUESTIONS"], 1, "none.jsonl:1: 'results'"),
        (
            ["compare", "RUN", "other.jsonl", "--queries", "QUESTIONS"],
            1,
            "none of the 10",
        ),
        (["compare", "RUN", "RUN", "--queries", "QUESTIONS", "--measures", "R@0"], 1, "'R@0'"),
    ],
)
def test_what_is_wrong_is_told(folder, words, code, says):
    """2 for usage, 1 for failure; what, where and the remedy on stderr."""
    (folder / "none.jsonl").write_text(NONE, "utf-8")
    (folder / "other.jsonl").write_text('{"id": "x", "results": []}\n', "utf-8")
    paths = {"RUN": folder / "out" / "样本.grim.jsonl", "QUESTIONS": questions_file()}
    files = ("kb", "none.jsonl", "gone.jsonl", "other.jsonl", "nowhere", "kgrag.toml/x")
    paths |= {name: folder / name for name in files}
    done = kgrag_in(folder, "eval", *(paths.get(word, word) for word in words))

    assert done.exit_code == code, done.output
    assert says in done.stderr


SETTINGS = '[embedding]\nmodel = "hash"\n'
TEXTS = {
    "a": "甲省工业绿色发展方案\n一、目标\n到2025年，甲省创建绿色工厂500家。省工信厅牵头。\n",
    "b": "乙市节能规划\n到2030年，乙市非化石能源占比达到45%。\n",
}
QUESTION = "到2025年，甲省创建绿色工厂多少家？"


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A knowledge base of two documents, and questions about them."""
    asked = ingested(tmp_path_factory.mktemp("answers"), TEXTS)
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
    write(asked / "q.jsonl", rows)
    return asked


def write(path, rows):
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), "utf-8")
    return path


def call(asked, *words, settings="kgrag.toml"):
    return kgrag("--config", asked / settings, *words, "--kb", asked / "kb")


def measured(asked, *options, questions="q.jsonl", settings="kgrag.toml"):
    """Return the report of a run as JSON."""
    done = call(asked, "eval", "answers", asked / questions, "--json", *options, settings=settings)
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


def test_quotes_by_rule_are_scored_without_a_model(asked, tmp_path):
    """The gold sentences are quoted, so that what they hold is right; nothing else is refused."""
    out = tmp_path / "answers.jsonl"
    report = measured(asked, "--out", out)
    assert report["system"] == "grim"
    number = report["groups"]["number"]["scores"]
    assert number["any-gold"] == number["gold-quoted"] == number["gold-docs"] == 1
    assert "supported" not in number  # of sentences of a model
    assert number["calls"] == 0
    assert "prompt" not in number
    first, second, third = (json.loads(line) for line in out.read_text("utf-8").splitlines())
    assert first["scores"]["F1-char"] < 1  # 500家 alone is asked for
    assert second["scores"]["F1-char"] > 0.3  # without an answer, gold sentences are the reference
    assert set(third["scores"]) == {"refused", "calls", "seconds"}
    assert report["abstention"]["unanswerable"] == 1
    assert report["groups"]["all"]["n_queries"] == 3


@pytest.fixture
def with_model(asked):
    """Settings of a local model that answers by rules; gives the server."""
    with FakeServer() as server:
        model = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "local"\n'
        (asked / "model.toml").write_text(SETTINGS + model, "utf-8")
        yield server


def test_a_recorded_run_is_played_without_a_model(asked, with_model, tmp_path):
    """Record, play: the same figures, no request; a changed question is named."""
    tape = tmp_path / "tape.jsonl"
    first = measured(asked, "--record", tape, settings="model.toml")
    n_requests = len(with_model.requests)
    assert n_requests > 0
    assert first["groups"]["all"]["scores"]["calls"] > 0
    assert first["groups"]["all"]["scores"]["prompt"] > 0
    again = measured(asked, "--replay", tape)  # of settings that name no model
    assert without_time(again) == without_time(first)
    assert len(with_model.requests) == n_requests

    rows = [json.loads(line) for line in (asked / "q.jsonl").read_text("utf-8").splitlines()]
    rows[1]["question"] = "到2030年乙市风电装机是多少？"
    changed = write(tmp_path / "changed.jsonl", rows)
    done = call(asked, "eval", "answers", changed, "--replay", tape)
    assert done.exit_code == 1
    assert "question q2: no answer was recorded for the prompt" in done.stderr
    assert "record it anew" in done.stderr


def test_a_model_is_named_for_the_configured_endpoint(asked):
    """`--model` is what the server is asked for; without an endpoint it is an error."""
    with FakeServer(stand_in) as server:
        model = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "local"\n'
        (asked / "named.toml").write_text(SETTINGS + model, "utf-8")
        measured(asked, "--model", "other", settings="named.toml")
        names = {request.body["model"] for request in server.requests}
    assert "other" in names
    done = call(asked, "eval", "answers", asked / "q.jsonl", "--model", "glm-4-plus")
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


def test_answers_are_judged_recorded_and_played(asked, tmp_path):
    """GRIM's four, Chats-Grid's, CoV-RAG's."""
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    tape = tmp_path / "tape.jsonl"
    with FakeServer(judging) as server:
        model = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "local"\n'
        (asked / "judge.toml").write_text(SETTINGS + model, "utf-8")
        options = ("--writer", "quotes", "--judge", "examiner")
        first = measured(asked, *options, "--record", tape, settings="judge.toml")
        names = {request.body["model"] for request in server.requests}
    assert names == {"examiner"}
    scores = first["groups"]["number"]["scores"]
    assert scores["grim:Resp-Ctxt-Qry"] == scores["grim:Loy"] == scores["grim:Resp-Qry"] == 1
    assert scores["grim:Ctxt-Qry"] == 0.5  # 2 of 4 points
    assert scores["grid:faithfulness"] == scores["cov:correctness"] == scores["cov:true"] == 1
    assert scores["judge-calls"] == 6
    assert scores["calls"] == 0
    again = measured(asked, *options, "--replay", tape)
    assert without_time(again) == without_time(first)

    done = call(asked, "eval", "answers", asked / "q.jsonl", "--judge", "x", "--replay", tape)
    assert done.exit_code == 0, done.output
    assert "judged" in done.stdout
    lacking = tmp_path / "short.jsonl"
    lacking.write_text(tape.read_text("utf-8").split("\n")[0] + "\n", "utf-8")
    done = call(asked, "eval", "answers", asked / "q.jsonl", "--judge", "x", "--replay", lacking)
    assert done.exit_code == 1
    assert "question q1: no answer was recorded" in done.stderr


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A knowledge base of the samples, and questions of it."""
    made = tmp_path_factory.mktemp("dataset")
    (made / "kgrag.toml").write_text('[embedding]\nmodel = "hash-64"\n', "utf-8")
    put_plain_samples(made / "docs")
    assert run(made, "ingest", made / "docs").exit_code == 0
    assert run(made, "dataset", "generate", "--out", made / "q.jsonl").exit_code == 0
    return made


def test_generate_writes_questions_and_says_how_many(drawn):
    """What is printed are the lines of the file, by kind."""
    out = drawn / "few.jsonl"
    done = run(drawn, "dataset", "generate", "--out", out, "--n", 6, "--seed", 3)
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert done.exit_code == 0
    assert f"{out}: 6 questions" in done.stdout
    assert len(lines) == 6
    for line in lines:
        assert set(line) >= {"id", "question", "kind", "gold_docs", "gold_spans", "answers"}
        n = sum(other["kind"] == line["kind"] for other in lines)
        assert f"  {line['kind']}: {n}" in done.stdout.splitlines()


def test_an_unknown_kind_is_refused(drawn):
    done = run(drawn, "dataset", "generate", "--out", drawn / "x.jsonl", "--kinds", "riddle")
    assert done.exit_code == 2
    assert "riddle" in done.stderr


def test_the_questions_can_be_measured(drawn):
    """By the command that they are made for."""
    assert read_queries(drawn / "q.jsonl").queries
    words = ("--set", "a", drawn / "kb", drawn / "q.jsonl", "--systems", "bm25", "--json")
    done = kgrag_in(drawn, "eval", "experiment", *words)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["a"]["bm25"]["groups"]["all"]["n_queries"] >= 10


@pytest.mark.parametrize("form", ["pairs", "instructions", "verification"])
def test_export_writes_a_line_a_sample(drawn, form):
    out = drawn / f"{form}.jsonl"
    words = ("--queries", drawn / "q.jsonl", "--format", form, "--out", out)
    done = run(drawn, "dataset", "export", *words)
    lines = out.read_text("utf-8").splitlines()
    assert done.exit_code == 0
    assert done.stdout == f"{out}: {len(lines)} samples\n"
    assert all(json.loads(line) for line in lines)
