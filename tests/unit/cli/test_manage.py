"""The commands for what is stored, whole: what a user types, and what is printed where."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from kgrag.cli.main import main
from kgrag.llm.chat import Request, Usage
from kgrag.llm.ledger import Calls

SERVER, OWN = "bolt://localhost:7687#policies", "http://localhost:8000/v1"
DAMAGED = "UPDATE evidence SET confidence = 0.5"
FILES = {
    "a.txt": "甲方案\n一、目标\n根据《乙规划》，到2025年创建绿色工厂500家。\n",
    "b.txt": "四川省乙规划\n到2030年非化石能源占比达到45%。\n",
}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two files and a knowledge base of them."""
    folder = tmp_path_factory.mktemp("manage")
    (folder / "kgrag.toml").write_text('[embedding]\nmodel = "hash"\n', "utf-8")
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    assert run(folder, "ingest", folder / "a.txt", folder / "b.txt").exit_code == 0
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """A copy of it to change; its documents' files are the original's."""
    shutil.copytree(original, tmp_path / "f")
    return tmp_path / "f"


def run(folder: Path, command: str, *args: object, kb: str = "kb") -> Result:
    """Run a command on the folder's knowledge base."""
    words = [command, *map(str, args)]
    if command != "copy":
        words += ["--kb", str(folder / kb)]
    return CliRunner().invoke(main, ["--config", str(folder / "kgrag.toml"), *words])


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
    doc_id = records(run(folder, "docs", "--json").stdout)[0]["doc_id"]
    assert run(folder, "delete", name).stdout == f"deleted {doc_id}: 甲方案\n"
    assert "甲方案" not in run(folder, "docs").stdout
    again = run(folder, "delete", name)
    assert again.exit_code != 0
    assert name in again.stderr


def test_export_writes_the_same_to_a_file(original: Path, tmp_path: Path) -> None:
    """Lines of JSON with sorted keys."""
    printed = run(original, "export").stdout
    assert run(original, "export", "--out", tmp_path / "e.jsonl").stdout == ""
    assert (tmp_path / "e.jsonl").read_text("utf-8") == printed
    assert all(list(record) == sorted(record) for record in records(printed))


def copied(folder: Path, *options: str) -> Result:
    """Copy the folder's knowledge base to another place in it."""
    return run(folder, "copy", "--from", folder / "kb", "--to", folder / "other", *options)


def test_copy_makes_the_same_and_the_second_time_does_nothing(folder: Path) -> None:
    """What was done is counted, and each record compared where that is asked for."""
    first = copied(folder, "--check")
    assert first.exit_code == 0
    assert first.stdout.startswith("2 copied, 0 unchanged in ")
    n_records = len(records(run(folder, "export").stdout))
    assert first.stdout.splitlines()[1].startswith(f"identical: {n_records} records, sha256 ")
    assert run(folder, "export", kb="other").stdout == run(folder, "export").stdout
    assert copied(folder).stdout.startswith("0 copied, 2 unchanged in ")


def test_copy_to_where_it_comes_from_is_refused(folder: Path) -> None:
    """However the place is written."""
    place = folder / "kb" / ".." / "kb"
    done = run(folder, "copy", "--from", folder / "kb", "--to", place)
    assert done.exit_code == 2
    assert "is the place to copy from" in done.stderr


def test_copy_shows_where_exports_part(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some characters before the first that differs, and of a long line no more than is read."""
    from kgrag.maintenance import copying

    ours, theirs = "0123456789" * 9 + "a" * 900, "0123456789" * 9 + "b"
    for difference, shown in (
        ((ours, theirs), ["from " + ours[50:210], "to   " + theirs[50:]]),
        ((None, "more"), ["from nothing more", "to   more"]),
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


def test_copy_tells_of_a_count_that_differs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a document that came in between."""
    from kgrag.maintenance import copying

    copy = copying.copy

    def changed(source, target, *, progress):
        report = copy(source, target, progress=progress)
        source.delete_document(source.document_cards()[0].doc_id)
        return copying.CopyReport(report.written, report.unchanged, source.counts(), report.target)

    monkeypatch.setattr(copying, "copy", changed)
    done = copied(folder)
    assert done.exit_code == 1
    assert "not the same: from " in done.stderr
    assert done.stderr.endswith("the first was changed meanwhile: copy again\n")


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
    planned = [line for line in would.stdout.splitlines() if line.startswith("would be ")]
    assert planned
    *repaired, count, kept = done.stdout.splitlines()
    assert repaired == [line.removeprefix("would be ") for line in planned]
    assert count.endswith("; all is whole again")
    assert would.stdout.splitlines()[-1] == count.removesuffix("; all is whole again")
    assert Path(kept.removeprefix("the damaged file is kept as ")).is_file()
    assert run(folder, "export").stdout == before
    assert run(folder, "verify").exit_code == 0


def test_repair_as_json_tells_the_same(folder: Path) -> None:
    """One record; what is left makes the command fail."""
    damage(folder, "UPDATE documents SET text = 'x' WHERE title = '甲方案'")
    damage(folder, "UPDATE sources SET source = source || '.gone'")
    would = run(folder, "repair", "--dry-run")
    assert would.exit_code == 1
    assert "\nleft: " in f"\n{would.stderr}"
    assert would.stdout.splitlines()[-1].endswith(" left")
    done = run(folder, "repair", "--json")
    (told,) = records(done.stdout)
    assert done.exit_code == 1
    assert told["found"]
    assert told["left"]
    assert run(folder, "verify").exit_code == 0


@pytest.fixture
def dropped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was dropped of a server that holds three documents."""
    gone: list[str] = []
    monkeypatch.setattr("kgrag.store.neo4j.drop.documents_held", lambda kb: 3)
    monkeypatch.setattr("kgrag.store.neo4j.drop.drop", gone.append)
    return gone


def drop(*options: str, answer: str = "") -> Result:
    return CliRunner().invoke(main, ["drop", "--kb", SERVER, *options], input=answer)


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
    done = CliRunner().invoke(main, ["drop", "--kb", str(tmp_path / "kb"), "--yes"])
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
    kb = tmp_path / "kb"

    def run(text, *options):
        settings.write_text(
            f'[embedding]\nmodel = "hash"\n[llm]\ncalls = "{kept}"\n{text}', "utf-8"
        )
        words = ["--config", str(settings), "stats", "--cost", "--kb", str(kb), *options]
        return CliRunner().invoke(main, words)

    def of(text):
        done = run(text, "--json")
        assert done.exit_code == 0, done.output
        return {row["model"]: row["cost"] for row in json.loads(done.stdout)["stages"]}

    return SimpleNamespace(of=of, run=run)


def test_a_provider_costs_what_its_list_says(costs):
    """Also models that are no longer configured."""
    assert costs.of('provider = "glm"\n') == {"deepseek-chat": 2.0, "own": None}


def test_own_prices_go_first(costs):
    """Of the model that is configured."""
    assert costs.of('provider = "deepseek"\nprice_in = 7\n')["deepseek-chat"] == 7.0


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
