"""Commands for what is stored: ingest, docs, verify, copy, repair, drop, reembed."""

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import Result

from kgrag.api import KnowledgeBase
from kgrag.cli.ingest import print_plan, print_report
from kgrag.ingestion.report import IngestReport, ModelReport, Outcome, Plan
from kgrag.llm.chat import Request, StageUsage, Usage
from kgrag.llm.ledger import Calls, Prediction
from tests.fixtures.kit import kgrag, kgrag_in, run, shared_folder

SERVER, OWN = "bolt://localhost:7687#policies", "http://localhost:8000/v1"
DAMAGED = "UPDATE evidence SET confidence = 0.5"
FILES = {
    "a.txt": "甲方案\n一、目标\n根据《乙规划》，到2025年创建绿色工厂500家。\n",
    "b.txt": "四川省乙规划\n到2030年非化石能源占比达到45%。\n",
}


original = shared_folder(FILES)


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """A copy of it to change; its documents' files are the original's."""
    return shutil.copytree(original, tmp_path / "f")


def damage(folder: Path, statement: str = DAMAGED) -> None:
    """Change what is stored, as kgrag never would."""
    with closing(sqlite3.connect(folder / "kb" / "kgrag.db", isolation_level=None)) as connection:
        connection.execute(statement)


def records(text: str) -> list[dict[str, object]]:
    """Return what was printed as JSON lines."""
    return [json.loads(line) for line in text.splitlines()]


def test_verify_says_that_all_is_well(original: Path) -> None:
    """As JSON, the sentence is not among the records."""
    done = run(original, "verify")
    assert (done.exit_code, done.stdout) == (0, "all invariants hold\n")
    done = run(original, "verify", "--json")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "all invariants hold\n")


def test_verify_names_what_is_wrong_and_fails(folder: Path) -> None:
    """Each problem by invariant, subject and detail; the count last."""
    damage(folder)
    done = run(folder, "verify", "--json")
    told = records(done.stdout)
    assert done.exit_code == 1
    assert done.stderr == f"{len(told)} problems\n"
    assert all(problem.keys() == {"invariant", "subject", "detail"} for problem in told)
    done = run(folder, "verify")
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        *(f"{p['invariant']}: {p['subject']}: {p['detail']}" for p in told),
        f"{len(told)} problems",
    ]


@pytest.mark.parametrize("name", ["甲方案", "a.txt"])
def test_delete_takes_a_document_out_and_names_it(folder: Path, name: str) -> None:
    """By title or file; a second time there is none."""
    (row,) = json.loads(run(folder, "documents", "--words", "甲方案", "--json").stdout)["rows"]
    assert row["doc_id"] in run(folder, "delete", name, code=0).stdout
    assert "甲方案" not in run(folder, "documents").stdout
    again = run(folder, "delete", name)
    assert again.exit_code != 0
    assert name in again.stderr


def copied(folder: Path, *options: str) -> Result:
    """Copy the folder's knowledge base to another place in it."""
    return kgrag_in(folder, "copy", "--from", folder / "kb", "--to", folder / "other", *options)


def test_copy_makes_the_same_and_the_second_time_does_nothing(folder: Path) -> None:
    """What was done is counted, and each record compared where that is asked for."""
    first = copied(folder, "--check")
    assert first.exit_code == 0
    assert first.stdout.startswith("2 copied, 0 unchanged in ")
    n_records = len(records(run(folder, "export").stdout))
    assert first.stdout.splitlines()[1].startswith(f"identical: {n_records} records, sha256 ")
    assert (
        kgrag_in(folder, "export", "--kb", folder / "other").stdout == run(folder, "export").stdout
    )
    assert copied(folder).stdout.startswith("0 copied, 2 unchanged in ")


def test_copy_to_where_it_comes_from_is_refused(folder: Path) -> None:
    place = folder / "kb" / ".." / "kb"
    done = kgrag_in(folder, "copy", "--from", folder / "kb", "--to", place)
    assert done.exit_code == 2
    assert "is the place to copy from" in done.stderr


def test_copy_shows_where_exports_part(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some characters before the first that differs, and of a long line no more than is read."""
    from kgrag.maintenance import copying

    ours, theirs = "0123456789" * 9 + "a" * 900, "0123456789" * 9 + "b"
    for difference, shown in (
        ((ours, theirs), [ours[50:210], theirs[50:]]),
        ((None, "more"), ["nothing more", "more"]),
    ):
        found = copying.Comparison(7, "0" * 64, difference)
        monkeypatch.setattr(copying, "compare", lambda *_, found=found: found)
        done = copied(folder, "--check")
        assert done.exit_code == 1
        assert done.stderr.splitlines()[-4:] == [
            "different from record 8 on:",
            *shown,
            "to have the same, copy into a new place",
        ]


def test_repair_of_what_is_whole_says_so(original: Path) -> None:
    """Nothing is kept beside."""
    assert run(original, "repair").stdout == "all invariants hold: nothing to repair\n"
    told = records(run(original, "repair", "--json").stdout)
    assert told == [{"found": [], "done": [], "left": [], "kept": None}]


def test_repair_tells_what_would_be_done_and_then_does_it(folder: Path) -> None:
    """The damaged file is kept; afterwards all is as it was."""
    before = run(folder, "export").stdout
    damage(folder)
    would = run(folder, "repair", "--dry-run")
    assert would.exit_code == 0
    assert run(folder, "verify").exit_code == 1
    done = run(folder, "repair")
    assert done.exit_code == 0
    repaired = re.search(r"^done +(.+)$", done.stdout, re.MULTILINE)
    assert repaired
    assert re.search(rf"^would do +{re.escape(repaired[1])}$", would.stdout, re.MULTILINE)
    (kept,) = re.findall(r"^damaged file +(.+)$", done.stdout, re.MULTILINE)
    assert Path(kept).is_file()
    assert run(folder, "export").stdout == before
    assert run(folder, "verify").exit_code == 0


@pytest.fixture
def dropped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was dropped of a server that holds three documents."""
    gone: list[str] = []
    monkeypatch.setattr("kgrag.store.neo4j.drop.documents_held", lambda kb: 3)
    monkeypatch.setattr("kgrag.store.neo4j.drop.drop", gone.append)
    return gone


def drop(*options: str, answer: str = "") -> Result:
    return kgrag("drop", "--kb", SERVER, *options, typed=answer)


def test_yes_drops_without_asking(dropped: list[str]) -> None:
    """How many documents went is said."""
    done = drop("--yes")
    assert (done.exit_code, done.stdout) == (0, f"dropped {SERVER}: 3 documents\n")
    assert dropped == [SERVER]


@pytest.mark.parametrize(
    ("answer", "gone", "told"),
    [("y\n", [SERVER], f"dropped {SERVER}: 3 documents\n"), ("n\n", [], "nothing was deleted\n")],
)
def test_who_is_there_is_asked(
    dropped: list[str], monkeypatch: pytest.MonkeyPatch, answer: str, gone: list[str], told: str
) -> None:
    """The question says how much would go, and not where programs read."""
    monkeypatch.setattr("kgrag.cli.manage._at_a_terminal", lambda: True)
    done = drop(answer=answer)
    assert done.exit_code == 0
    assert done.stdout.endswith(told)
    assert f"{SERVER}: 3 documents. Delete all of it?" in done.stderr
    assert dropped == gone


def test_where_nobody_is_nothing_is_dropped(dropped: list[str]) -> None:
    """A script says --yes."""
    done = drop()
    assert done.exit_code == 2
    assert "nobody is there to ask: --yes drops it" in done.stderr
    assert dropped == []


def test_a_folder_is_left_alone(tmp_path):
    """Who deletes a folder needs no kgrag for it."""
    (tmp_path / "kb").mkdir()
    done = kgrag("drop", "--kb", tmp_path / "kb", "--yes")
    assert done.exit_code == 2
    assert "is a folder: delete it as any other" in done.stderr
    assert (tmp_path / "kb").is_dir()


@pytest.fixture
def costs(tmp_path):
    """Return a function that gives the costs of a million tokens in, by model, under settings."""
    kept = tmp_path / "calls.db"
    calls = Calls.open(kept)
    for model in ("deepseek-chat", "own"):
        calls.record(
            Request((), "answer"), model, usage=Usage(1_000_000), seconds=1.0, outcome="ok"
        )
    calls.close()
    settings = tmp_path / "kgrag.toml"

    def cost(text, *options):
        settings.write_text(
            f'[embedding]\nmodel = "hash"\n[llm]\ncalls = "{kept}"\n{text}', "utf-8"
        )
        return run(tmp_path, "stats", "--cost", *options)

    def of(text):
        done = cost(text, "--json")
        assert done.exit_code == 0, done.output
        return {row["model"]: row["cost"] for row in json.loads(done.stdout)["stages"]}

    return SimpleNamespace(of=of, run=cost)


def test_a_provider_costs_what_its_list_says(costs):
    """Also models that are no longer configured."""
    assert costs.of('provider = "glm"\n') == {"deepseek-chat": 2.0, "own": None}


def test_own_prices_go_first(costs):
    assert costs.of('provider = "deepseek"\nprice_in = 7\n')["deepseek-chat"] == 7.0


def test_prices_without_a_currency_are_prices(costs):
    """What is set is reckoned with, and not called unknown."""
    prices = f'base_url = "{OWN}"\nmodel = "own"\nprice_in = 7\nprice_out = 9\n'
    assert costs.of(prices)["own"] == 7.0
    done = costs.run(prices)
    assert done.stdout.splitlines()[-1].endswith("  7.0")
    assert "no price is known" not in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        f'base_url = "{OWN}"\nmodel = "deepseek-chat"\n',
        f'provider = "deepseek"\n[llm.answer]\nbase_url = "{OWN}"\nmodel = "deepseek-chat"\n',
        f'base_url = "{OWN}"\nmodel = "deepseek-chat"\n[llm.verify]\nprovider = "deepseek"\n',
    ],
)
def test_an_endpoint_of_ones_own_does_not_cost_what_the_provider_does(costs, text):
    """What nobody said is shown as not known, whichever stage asks it."""
    assert costs.of(text)["deepseek-chat"] is None
    assert "no price is known for deepseek-chat" in costs.run(text).stderr


PLAN = "云岭省节能规划\n一、目标\n到2025年创建绿色工厂500家。\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with settings and files that are not taken in yet."""
    (tmp_path / "kgrag.toml").write_text('[embedding]\nmodel = "hash"\n', "utf-8")
    (tmp_path / "p/sub").mkdir(parents=True)
    (tmp_path / "p/a.txt").write_text(PLAN, "utf-8")
    (tmp_path / "p/sub/b.txt").write_text("青川市实施方案\n推进节能。\n", "utf-8")
    return tmp_path


def docs(files: Path) -> list[dict[str, object]]:
    """Return the cards of the documents."""
    with KnowledgeBase.open(files / "kb", create=False) as base:
        return [card.card_dict() for card in base.documents()]


def problems(files: Path) -> list[dict[str, object]]:
    """Return what `problems --json` prints."""
    done = run(files, "problems", "--json", "--english", code=0)
    rows: list[dict[str, object]] = json.loads(done.stdout)["rows"]
    return rows


def state(files: Path, *lines: str) -> None:
    """Write the table beside the files, as Chinese Excel does."""
    (files / "p/metadata.csv").write_bytes("\r\n".join(lines).encode("gbk"))


def statuses(files: Path) -> dict[str, int]:
    """Take the files in; return how many came out each way."""
    counts = json.loads(run(files, "ingest", files / "p", "--json").stdout)["counts"]
    return dict(counts)


def test_what_a_table_beside_the_files_states_is_listed_and_read_again(files: Path) -> None:
    """It wins over what is read; a changed row has only its document read again."""
    state(files, "文件,标题,日期", "a,云岭省“十四五”节能规划,2022/3/5", "sub/b.txt,青川市方案,")
    assert statuses(files) == {"added": 2}
    first = docs(files)
    assert [d["title"] for d in first] == ["云岭省“十四五”节能规划", "青川市方案"]
    assert first[0]["metadata"]["issued"] == "2022-03-05"  # type: ignore[index]
    assert statuses(files) == {"unchanged": 2}

    state(files, "文件,标题,日期", "a,云岭省“十四五”节能规划,2022-03-05", "sub/b.txt,青川市办法,")
    assert statuses(files) == {"replaced": 1, "unchanged": 1}
    (files / "p/metadata.csv").unlink()
    assert statuses(files) == {"replaced": 2}
    assert [d["title"] for d in docs(files)] == ["云岭省节能规划", "青川市实施方案"]
    assert [d["doc_id"] for d in docs(files)] == [d["doc_id"] for d in first]


def test_set_corrects_for_good_and_reset_takes_it_back(files: Path) -> None:
    """What a person says wins over the table, is found by filters, and outlives a deletion."""
    state(files, "文件,地区,日期", "a,云岭省,2022")
    statuses(files)
    said = run(files, "correct", "a.txt", "--region", "四川省、成都市", "--date", "2021年5月")
    assert (said.exit_code, "四川省、成都市" in said.stdout) == (0, True)
    run(files, "delete", "a.txt")
    statuses(files)
    found = run(files, "search", "绿色工厂", "--region", "成都", "--year", "2021", "--json")
    assert (found.exit_code, "a.txt" in found.stdout, "b.txt" in found.stdout) == (0, True, False)

    assert run(files, "correct", "a.txt", "--reset", "all").exit_code == 0
    (metadata,) = (d["metadata"] for d in docs(files) if Path(str(d["file"])).name == "a.txt")
    assert (metadata["regions"], metadata["issued"]) == (["云岭省"], "2022")  # type: ignore[index]


def test_what_is_set_survives_that_the_file_changes(files: Path) -> None:
    """A new version on disk is another document by its bytes; the correction follows the file."""
    statuses(files)
    (before,) = (d for d in docs(files) if Path(str(d["file"])).name == "a.txt")
    run(files, "correct", "a.txt", "--issuer", "云岭省能源局", "--title", "节能规划新编")
    path = files / "p/a.txt"
    path.write_text(path.read_text("utf-8") + "再推进绿色改造。\n", "utf-8")
    assert statuses(files) == {"replaced": 1, "unchanged": 1}

    (after,) = (d for d in docs(files) if Path(str(d["file"])).name == "a.txt")
    assert after["doc_id"] != before["doc_id"]
    assert after["title"] == "节能规划新编"
    assert after["metadata"]["issuers"] == ["云岭省能源局"]  # type: ignore[index]
    assert run(files, "correct", "a.txt", "--reset", "all").exit_code == 0
    (last,) = (d for d in docs(files) if Path(str(d["file"])).name == "a.txt")
    assert last["title"] == before["title"]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--level", "乡"), 1, "国家, 部门, 省, 市"),
        (("--date", "去年"), 1, "date"),
        ((), 1, "give fields to correct"),
        (("--reset", "colour"), 1, "there is no field"),
    ],
)
def test_set_refuses_what_cannot_be(
    files: Path, words: tuple[str, ...], code: int, told: str
) -> None:
    statuses(files)
    said = run(files, "correct", "a.txt", *words)
    assert (said.exit_code, told in said.stderr) == (code, True)


def test_entities_are_merged_and_kept_apart(files: Path) -> None:
    """What is decided is listed, and holds in the graph."""
    (files / "p/a.txt").write_text(PLAN + "由省工信厅牵头制定细则。\n", "utf-8")
    statuses(files)
    (one,) = json.loads(run(files, "entities", "--type", "agency", "--json").stdout)["rows"]
    assert one["written"] == "省工信厅 ×1"
    merged = run(files, "merge", "云岭省工业厅", "--names", one["name"], "--json", code=0)
    assert json.loads(merged.stdout)["rows"][0]["documents"] == 1
    assert "云岭省工业厅  牵头" in run(files, "graph", "云岭省工业厅").stdout
    decided = run(files, "duplicates", "--english").stderr
    assert decided == f"{one['name']} is 云岭省工业厅\n"
    run(files, "split", one["name"], "云岭省工业厅", code=0)
    assert one["name"] in run(files, "entities").stdout


ADDED = Outcome("a.txt", "added", "d-1")


@pytest.mark.parametrize(("n", "files"), [(1, "1 file in"), (2, "2 files in")])
def test_one_of_a_thing_is_told_as_one(capsys, n, files):
    """Files, passages, facts, summaries, calls."""
    model = ModelReport(passages=n, facts=n, summaries=n, spent={"extract": StageUsage(n, 0, 9, 9)})
    print_report(IngestReport((ADDED,) * n, 0.1, model=model), as_json=False)
    out, _ = capsys.readouterr()

    assert files in out
    assert f"facts       {n}\n" in out
    assert f"calls {n}, kept 0, prompt_tokens 9" in out


def test_a_plan_says_what_its_sample_took(capsys):
    """It has been paid, whether the run follows or not."""
    plan = Plan(
        (ADDED,),
        5,
        passages=4,
        predictions={"extract": Prediction(3, 1, 3000, 0, 900, 1)},
        cost={"CNY": 0.5},
        sampled={"extract": StageUsage(1, 0, 1000, 300)},
        sample_cost={"CNY": 0.125},
    )
    print_plan(plan, as_json=False)

    out = capsys.readouterr().out
    assert out.startswith("would be: 1 added; at most 5 chunks to encode\n")
    assert "sampled     calls 1, kept 0, prompt_tokens 1000, completion_tokens 300" in out
    assert re.search(r"^extract +3 +1 +3000 +900 +1$", out, re.MULTILINE)
    assert "cost        CNY 0.5\n" in out


TWO = {"a": "甲方案\n到2025年创建绿色工厂500家。\n", "b": "乙规划\n到2030年占比达到45%。\n"}
first = shared_folder(TWO, "hash-64")


@pytest.fixture
def encoded(first, tmp_path):
    """A copy to change; its documents' files are the original's."""
    return shutil.copytree(first, tmp_path / "f")


def ingest(encoded, first):
    """Ingest the documents that are there."""
    return run(encoded, "ingest", *sorted(first.glob("*.txt")))


def test_reembed_changes_the_encoder_and_says_where_settings_name_the_old_one(encoded, first):
    """Searches are refused until they are changed, with the remedy; then they work."""
    done = run(encoded, "reembed", "--model", "hash-32")

    assert done.exit_code == 0
    assert "after       hash-32\ndocuments   2\nencoded     4\n" in done.stdout
    assert done.stderr == ('note: [embedding] names "hash-64" still: change it to "hash-32"\n')
    refused = run(encoded, "search", "绿色工厂")
    assert refused.exit_code == 1
    assert "dimension 64 instead of 32" in refused.stderr
    assert "kgrag reembed" in refused.stderr
    assert run(encoded, "search", "绿色工厂", "--system", "bm25").exit_code == 0
    (encoded / "kgrag.toml").write_text('[embedding]\nmodel = "hash-32"\n', "utf-8")
    assert run(encoded, "search", "绿色工厂", "--system", "vector").exit_code == 0
    assert ingest(encoded, first).stdout.endswith("2 unchanged\n")
    assert run(encoded, "verify").exit_code == 0


def test_reembed_dry_run_says_how_much_and_changes_nothing(encoded):
    plan = run(encoded, "reembed", "--model", "hash-32", "--dry-run")

    assert "after       hash-32\ndocuments   2\ntexts       4\n" in plan.stdout
    as_json = run(encoded, "reembed", "--model", "hash-32", "--dry-run", "--json")
    record = json.loads(as_json.stdout)
    assert (record["after"], record["texts"], record["documents"]) == ("hash-32", 4, 2)
    assert run(encoded, "search", "绿色工厂").exit_code == 0
    assert json.loads(run(encoded, "reembed", "--json").stdout)["changed"] is False


def test_reembed_of_no_knowledge_base_or_by_no_model_is_refused(encoded):
    """Nothing is made; the command that installs a model is told."""
    nowhere = kgrag("reembed", "--kb", encoded / "none")
    assert nowhere.exit_code == 1
    assert "no knowledge base" in nowhere.stderr
    assert not (encoded / "none").exists()
    unknown = run(encoded, "reembed", "--model", "nosuch")
    assert unknown.exit_code == 1
    assert "kgrag models add PATH --name nosuch" in unknown.stderr
    assert run(encoded, "search", "绿色工厂").exit_code == 0
