"""`kgrag sync`: a knowledge base in step with a folder, through changes, kills and lost mounts.

The life of an archive is that of benchmarks/archive_life.py, in short.
"""

import json
import re
import runpy
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from kgrag.api import KnowledgeBase
from kgrag.cli.main import main
from kgrag.config import Config, EmbeddingConfig
from kgrag.errors import IngestionError, OutOfRangeError
from kgrag.ingestion.load import Failure, discover
from kgrag.retrieval.filter import Filter
from kgrag.statements.journal import CHANGES
from kgrag.store.folders import ARCHIVES
from kgrag.tools import TOOLS
from tests.fixtures.extent import of
from tests.fixtures.kit import write

PLAN = (
    "{topic}实施方案\n\n一、总体要求\n推进工业{topic}，完善标准体系，健全工作机制。\n\n"
    "二、目标\n到2025年，建成绿色工厂{n}家以上。\n\n三、分工\n标准体系由省工业和信息化厅牵头完善。\n"
)
TOPICS = {"a": "节能降碳", "b": "清洁生产", "c": "新型储能", "d": "资源综合利用"}


ORGANS = ("发展改革", "生态环境", "财政金融", "市场监管")


def plan_of(name, n=500):
    return PLAN.format(topic=TOPICS[name], n=n)


@pytest.fixture
def archive(tmp_path):
    """A folder of four documents."""
    (tmp_path / "archive").mkdir()
    write(tmp_path / "archive", {name: plan_of(name) for name in TOPICS})
    return tmp_path / "archive"


@pytest.fixture
def base(archive, tmp_path):
    """A knowledge base that is in step with the archive."""
    config = Config(embedding=EmbeddingConfig(model="hash"))
    with KnowledgeBase.open(tmp_path / "kb", config=config) as opened:
        run(opened, archive)
        yield opened


def run(base, folder, *, allow_emptying=False, **options):
    """Bring a knowledge base in step, and return the changes by kind."""
    follows = base.sync(folder, **options)
    plan = follows.plan()
    follows.run(plan, allow_emptying=allow_emptying)
    assert not follows.plan().changes
    assert base.verify() == []
    return plan.counts


def rows(base, since="1d"):
    return TOOLS["digest"](base, since=since).records()


def test_a_life_with_kills_leaves_what_a_fresh_ingest_gives(tmp_path):
    """Days of changes by sync and watch, some of them ended by kill -9; a full run has more."""
    file = Path(__file__).parents[2] / "benchmarks" / "archive_life.py"
    live = runpy.run_path(str(file))["live"]

    differ, done = live(tmp_path / "life", days=of(8, 4), seed=3, files=6)

    assert differ == 0
    assert done["kill -9"] >= 1


def test_each_kind_of_change_is_told_and_done(base, archive):
    """A renamed file keeps its corrections and what models stated; a moved one its id, too."""
    by_file = {Path(card.file).name: card for card in base.documents()}
    base.curator().correct(by_file["b.txt"].doc_id, {"number": "云政发〔2022〕3号"})
    base.curator().correct(by_file["a.txt"].doc_id, {"number": "云政发〔2022〕4号"})
    stated = {"doc": by_file["b.txt"].doc_id, "start": 0, "end": 8, "triples": [["甲", "乙", "丙"]]}
    write(archive.parent, {"facts.jsonl": json.dumps(stated, ensure_ascii=False)})
    assert not base.import_facts(archive.parent / "facts.jsonl").errors
    (archive / "甲").mkdir()
    (archive / "a.txt").rename(archive / "甲" / "a.txt")
    (archive / "b.txt").rename(archive / "乙.txt")
    write(archive, {"c": plan_of("c", 800), "e": plan_of("d", 70)})
    (archive / "d.txt").unlink()

    assert run(base, archive) == {"added": 1, "changed": 1, "renamed": 2, "withdrawn": 1}
    cards = {Path(card.file).name: card for card in base.documents()}
    assert sorted(cards) == ["a.txt", "c.txt", "e.txt", "乙.txt"]
    assert cards["a.txt"].doc_id == by_file["a.txt"].doc_id
    assert cards["a.txt"].metadata.number == "云政发〔2022〕4号"
    assert cards["乙.txt"].metadata.number == "云政发〔2022〕3号"
    facts, _, _ = base.store.knowledge_of(cards["乙.txt"].doc_id)
    assert [f.object.name for f in facts if f.subject.name == "甲"] == ["丙"]


def test_a_document_with_a_copy_stays_when_one_of_them_goes(base, archive):
    """What another file has is not withdrawn."""
    (archive / "甲").mkdir()
    shutil.copy(archive / "a.txt", archive / "甲")
    assert run(base, archive) == {"added": 1}
    (archive / "a.txt").unlink()

    assert run(base, archive) == {"withdrawn": 1}
    assert [c.file for c in base.documents()][-1] == "archive/甲/a.txt"


def test_a_folder_in_the_place_of_a_file_is_not_that_file(base, archive):
    """The document moves into it, or goes."""
    (archive / "b.txt").unlink()
    (archive / "a.txt").rename(archive / "t")
    for name in ("a.txt", "b.txt"):
        (archive / name).mkdir()
    (archive / "t").rename(archive / "a.txt" / "a.txt")

    assert run(base, archive) == {"renamed": 1, "withdrawn": 1}


def test_a_lost_mount_empties_no_archive(base, archive, tmp_path):
    """More than half withdrawn, or no folder at all, is refused unless it is allowed."""
    for name in "abc":
        (archive / f"{name}.txt").rename(tmp_path / f"{name}.txt")
    with pytest.raises(IngestionError, match="3 of the 4"):
        run(base, archive)
    archive.rename(tmp_path / "unmounted")
    archive.mkdir()
    with pytest.raises(IngestionError, match="4 of the 4"):
        run(base, archive)
    assert len(base.documents()) == 4

    assert run(base, archive, allow_emptying=True) == {"withdrawn": 4}
    assert base.documents() == []


def test_what_cannot_be_looked_at_is_not_withdrawn(base, archive, monkeypatch):
    """A drive that fails for a file, or a folder, says nothing of what is in it."""
    (archive / "d.txt").unlink()
    found = discover([archive])
    failure = Failure(str(archive / "d.txt"), "cannot be looked at: Input/output error")
    failing = replace(found, failures=(failure,))
    monkeypatch.setattr("kgrag.maintenance.sync.discover", lambda *_, **__: failing)

    plan = base.sync(archive).plan()
    assert plan.changes == ()
    assert plan.failures == ((failure.file, failure.reason),)


def test_archives_are_told_apart_and_searched_apart(base, archive, tmp_path):
    """Each withdraws its own documents only, and a filter takes its name."""
    (tmp_path / "other").mkdir()
    write(tmp_path / "other", {"x": plan_of("a", 7), "y": plan_of("b", 8)})
    assert run(base, tmp_path / "other", archive="二库", exclude=["y*"]) == {"added": 1}
    assert run(base, archive, archive="一库") == {}

    one, two = (base.doc_ids(Filter(documents=(name,))) for name in ("一库", "二库"))
    assert (len(one), len(two), one & two) == (4, 1, frozenset())
    hits = TOOLS["search"](base, question="绿色工厂", document="二库").hits
    assert {hit.chunk.doc_id for hit in hits} == two
    assert len(TOOLS["documents"](base, document="一库").rows) == 4


def test_the_log_says_what_came_changed_and_went(base, archive):
    """Figures of a replaced document are compared, whichever command stored it."""
    write(archive, {"a": plan_of("a", 900)})
    base.ingest(archive)
    (archive / "b.txt").rename(archive / "乙.txt")
    (archive / "d.txt").unlink()
    run(base, archive)

    told = [(r["change"], r["file"], r["clauses"]) for r in rows(base) if r["file"]]
    assert sorted(told[4:], key=str) == sorted(
        [
            ("替换", "archive/a.txt", 1),
            ("改名", "archive/乙.txt", None),
            ("撤下", "archive/d.txt", None),
        ],
        key=str,
    )
    figures = next(r for r in rows(base) if r["part"] == "目标")
    assert ("500" in figures["old"], "900" in figures["new"]) == (True, True)
    assert rows(base, since="2999") == []
    parts = {row["part"] for row in TOOLS["digest"](base, since="1d", parts=["duties"]).records()}
    assert parts == {None}
    with pytest.raises(OutOfRangeError, match="7d"):
        rows(base, since="yesterday")


def test_damaged_notes_are_named_and_stop_nothing(base, archive):
    """Of changes they are counted; names of archives can be given again."""
    (key, *_) = base.store.notes(CHANGES)
    base.store.set_meta({key: "[1", ARCHIVES: "x"})

    told = TOOLS["digest"](base, since="1d")
    assert (len(told.records()), "1条记录已损坏" in str(told.notes[1])) == (3, True)
    assert run(base, archive, archive="一库") == {}
    assert len(base.doc_ids(Filter(documents=("一库",)))) == 4


def test_a_new_version_is_told_at_once(base, archive):
    """The same title and place, mostly the same clauses: it may replace the other."""
    write(archive, {"a2": plan_of("a", 650)})
    report = base.ingest(archive)

    assert report.versions == (("archive/a2.txt", "节能降碳实施方案", 1),)


def test_an_older_version_that_comes_later_replaces_none(base, archive):
    """Where dates tell which is the newer."""
    ends = "\n云岭省人民政府\n{year}年3月1日\n"
    told = []
    for name, n, year in (("新", 800, 2024), ("旧", 600, 2019), ("再", 900, 2025)):
        text = plan_of("a", n).replace("实施方案", "管理办法") + ends.format(year=year)
        write(archive, {name: text})
        told.append(len(base.ingest(archive).versions))

    assert told == [0, 0, 1]


def test_a_new_version_of_another_title_is_told_by_its_clauses(base, archive):
    """The same place and mostly the same clauses, whose longest sentences are found in it."""
    clause = "{}、{}部门要会同有关部门，建立工业{}工作协调机制，定期通报各地进展情况。\n"
    clauses = [clause.format(n, who, who) for n, who in zip("一二三四", ORGANS, strict=True)]
    text = "工业领域碳达峰工作方案\n\n" + "".join(clauses)
    write(archive, {"初稿": text})
    assert base.ingest(archive).versions == ()
    write(archive, {"修改稿": f"关于工业碳达峰的若干措施{text[11:]}五、附则\n有效期五年。\n"})

    told = base.ingest(archive).versions
    assert [(file, title) for file, title, _ in told] == [
        ("archive/修改稿.txt", "工业领域碳达峰工作方案")
    ]


def test_of_versions_of_a_title_the_one_in_force_answers(base, archive):
    """A note says that another is held; asked for by year or day, it answers."""
    ends = "\n云岭省人民政府\n{year}年3月1日\n"
    for name, n, year in (("旧", 600, 2019), ("新", 800, 2024)):
        text = plan_of("a", n).replace("实施方案", "管理办法") + ends.format(year=year)
        write(archive, {name: text})
    run(base, archive)

    def cited(question, **options):
        answer = base.ask(question, **options)
        kinds = {getattr(note, "kind", "") for note in answer.notes}
        return {Path(c.file).name for c in answer.citations}, "earlier-versions" in kinds

    asked = "《节能降碳管理办法》：到2025年建成多少家绿色工厂？"
    files, is_told = cited(asked)
    assert ("新.txt" in files, "旧.txt" in files, is_told) == (True, False, True)
    files, _ = cited(f"2019年印发的{asked}")
    assert ("新.txt" in files, "旧.txt" in files) == (False, True)
    files, _ = cited(asked, as_of="2020-01-01")
    assert ("新.txt" in files, "旧.txt" in files) == (False, True)


def test_tables_have_the_version_in_force_unless_another_is_named(base, archive):
    """As answers do: figures of the earlier one are left out, and a note counts it."""
    ends = "\n云岭省人民政府\n{year}年3月1日\n"
    for name, n, year in (("旧", 600, 2019), ("新", 800, 2024)):
        text = plan_of("a", n).replace("实施方案", "管理办法") + ends.format(year=year)
        write(archive, {name: text})
    run(base, archive)

    def stated(**given):
        table = TOOLS["targets"](base, indicator="绿色工厂", **given)
        is_told = any(getattr(note, "kind", "") == "earlier-left-out" for note in table.notes)
        return {row["value"] for row in table.records()} & {600, 800}, is_told

    assert stated() == ({800}, True)
    assert stated(document="旧") == ({600}, False)
    assert stated(year="2019") == ({600}, False)
    assert {"旧.txt", "新.txt"} <= {
        Path(row["file"]).name for row in TOOLS["documents"](base).records()
    }
    days = [row["what"] for row in TOOLS["timeline"](base, events=("written",)).records()]
    assert len([what for what in days if "管理办法" in what]) == 1


def test_without_yes_nothing_is_done(archive, tmp_path, monkeypatch):
    """Changes are shown and the exit code says that there are some."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kgrag.toml").write_text('[embedding]\nmodel = "hash"\n', "utf-8")
    command = ["--lang", "en", "sync", "archive"]

    shown = CliRunner().invoke(main, command)
    assert (shown.exit_code, shown.output.count("added: ")) == (3, 4)
    assert not (tmp_path / "kb").exists()
    assert CliRunner().invoke(main, [*command, "--yes"]).exit_code == 0
    assert CliRunner().invoke(main, command).exit_code == 0
    for options, code, told in (
        (["--archive", "一库"], 3, "named: 一库"),
        (["--archive", "一库", "--yes"], 0, "1 named"),
        (["--archive", "一库"], 0, "nothing to do; 4 stored"),
    ):
        done = CliRunner().invoke(main, [*command, *options])
        assert (done.exit_code, told in done.output) == (code, True)
    (archive / "a.txt").unlink()
    (archive / "b.txt").rename(archive / "e.txt")
    (archive / "bad.pdf").write_bytes(b"x")
    done = CliRunner().invoke(main, [*command, "--yes"])
    assert re.search(r"^2 of 3 changes done in ", done.output, re.MULTILINE)
    assert "1 renamed, 1 withdrawn" in done.output
    (archive / "bad.pdf").unlink()
    shutil.rmtree(archive)
    refused = CliRunner().invoke(main, [*command, "--yes"])
    assert (refused.exit_code, "no such file or folder" in refused.output) == (1, True)
