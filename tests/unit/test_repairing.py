"""Repairing and copying stores."""

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.errors import StoreError
from kgrag.maintenance import repairing
from kgrag.maintenance.copying import compare, copy, export_line, same_place
from kgrag.retrieval.filter import Filter
from kgrag.statements.journal import entries
from kgrag.store.contents import Problem
from kgrag.store.sqlite.cache import CacheFolder
from kgrag.store.sqlite.store import CACHE_FOLDER, SQLiteStore

CONFIG = Config(embedding=EmbeddingConfig(model="hash-32"))
TEXT = "第一章 总则\n第一条 为推动{0}发展，依据《{0}管理办法》制定本方案。\n第二条 到2030年建成。\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A knowledge base of three files."""
    folder = tmp_path_factory.mktemp("made")
    for name in ("绿色工厂", "节能降碳", "标准体系"):
        (folder / f"{name}.txt").write_text(TEXT.format(name) * 4, "utf-8")
    with KnowledgeBase.open(folder / "kb", config=CONFIG) as base:
        base.ingest(sorted(folder.glob("*.txt")))
    return folder


@pytest.fixture
def folder(made, tmp_path):
    """A copy of it; the files that it was made of stay where they are."""
    shutil.copytree(made / "kb", tmp_path / "kb")
    return tmp_path / "kb"


def lines(folder):
    with KnowledgeBase.open(folder, create=False, config=CONFIG) as base:
        return [export_line(record) for record in base.export()], base.verify()


def change(folder, *statements):
    with closing(sqlite3.connect(folder / "kgrag.db", isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def bytes_of(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


FIRST = "(SELECT min(doc_id) FROM documents)"
DAMAGE = [
    "UPDATE meta SET value = replace(value, '2048', '2049') WHERE key = 'chunk_sizes'",
    "UPDATE meta SET value = 'hash-30' WHERE key = 'embedder'",
    "DELETE FROM meta WHERE key = 'embedder'",
    "DELETE FROM meta",
    "DELETE FROM state",
    f"UPDATE documents SET text = 'x' WHERE doc_id = {FIRST}",
    f"UPDATE documents SET properties = '{{}}' WHERE doc_id = {FIRST}",
    f"DELETE FROM documents WHERE doc_id = {FIRST}",
    f"UPDATE documents SET doc_id = replace(doc_id, 'd-', 'e-') WHERE doc_id = {FIRST}",
    "UPDATE chunks SET heading_path = '[]'",
    "DELETE FROM chunks WHERE number = 3",
    "UPDATE headings SET text = 'x'",
    "UPDATE evidence SET confidence = 0.5",
    "DELETE FROM facts",
    "UPDATE entities SET name = 'x'",
    "UPDATE entities SET entity_id = replace(entity_id, 'e-', 'f-')",
    "UPDATE entity_names SET entity_id = replace(entity_id, 'e-', 'f-')",
    "INSERT INTO entity_search (entity_search) VALUES ('delete-all')",
    "UPDATE embeddings SET vector = zeroblob(128)",
    "DELETE FROM node_vectors WHERE number % 2",
    "DELETE FROM seals WHERE part = 'text'",
    "UPDATE changes SET seq = 1",
    "DELETE FROM commits WHERE seq = 1",
    "DROP TABLE headings",
    "DROP INDEX chunks_place",
    "PRAGMA application_id = 7",
]


@pytest.mark.parametrize("statement", DAMAGE)
def test_what_can_be_made_anew_is(folder, statement):
    """The same records as before, and what was damaged is kept."""
    before, _ = lines(folder)
    change(folder, statement)

    report = KnowledgeBase.repair(folder, config=CONFIG)

    assert report.found
    assert report.done
    assert report.left == ()
    assert lines(folder) == (before, [])
    assert report.kept is not None
    assert report.kept.parent == folder
    assert not list(folder.glob("repair-*"))


def test_a_repaired_document_keeps_its_archive_and_the_log(folder, made):
    """What is noted of folders and changes is repaired with the rest."""
    with KnowledgeBase.open(folder, config=CONFIG) as base:
        follows = base.sync(made, exclude=["kb"], archive="一库")
        follows.run(follows.plan())
        log = entries(base.store)
    change(folder, f"UPDATE documents SET text = 'x' WHERE doc_id = {FIRST}")

    assert KnowledgeBase.repair(folder, config=CONFIG).left == ()

    with KnowledgeBase.open(folder, config=CONFIG) as base:
        assert len(base.doc_ids(Filter(documents=("一库",))) or ()) == 3
        assert entries(base.store) == log
        assert len(log) == 3


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE chunks SET heading_path = '[\"x\"]'",
        "UPDATE documents SET text = text || 'x'",
        "UPDATE evidence SET confidence = 0.5",
        "DELETE FROM facts",
    ],
)
def test_references_lead_to_held_documents_again(tmp_path, statement):
    """A document that is made anew cites the held one, not its title; and is cited as before."""
    plan = "云岭省节能规划\n一、总则\n到2025年，创建绿色工厂500家。\n"
    (tmp_path / "plan.txt").write_text(plan, "utf-8")
    following = "青川市节能方案\n为落实《云岭省节能规划》，制定本方案。\n一、目标\n推进节能。\n"
    (tmp_path / "following.txt").write_text(following, "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", config=CONFIG) as base:
        base.ingest(sorted(tmp_path.glob("*.txt")))
        (cited,) = base.store.statements("reference")
        assert cited.qualifiers.match == "exact"
    before, _ = lines(tmp_path / "kb")
    change(tmp_path / "kb", statement)

    report = KnowledgeBase.repair(tmp_path / "kb", config=CONFIG)

    assert report.left == ()
    assert lines(tmp_path / "kb") == (before, [])


def test_damaged_metadata_are_told_by_who_asks(folder):
    """In words, with the remedy, which helps."""
    before, _ = lines(folder)
    date = '{"issued": "2009-05- 1"}'
    change(folder, f"UPDATE documents SET metadata = '{date}' WHERE doc_id = {FIRST}")
    with KnowledgeBase.open(folder, create=False, config=CONFIG) as base:
        with pytest.raises(StoreError, match=r"metadata of d-.*2009-05- 1.*kgrag repair"):
            base.documents()
        assert {p.invariant for p in base.verify()} == {"checksum", "documents"}

    assert KnowledgeBase.repair(folder, config=CONFIG).left == ()
    assert lines(folder) == (before, [])


@pytest.mark.parametrize("at", [0, 3, 16, 18, 56, 68])
def test_a_damaged_header_is_made_anew(folder, at):
    """Even where SQLite does not know the file any more."""
    before, _ = lines(folder)
    file = folder / "kgrag.db"
    data = bytearray(file.read_bytes())
    data[at] ^= 0xFF
    file.write_bytes(data)

    assert KnowledgeBase.repair(folder, config=CONFIG).left == ()
    assert lines(folder) == (before, [])


@pytest.mark.parametrize(
    "table", ["chunks", "commits", "documents", "embeddings", "evidence", "meta", "seals"]
)
def test_pages_that_cannot_be_read_cost_nothing_that_files_hold(folder, table):
    """Rows are taken from both sides of them; the rest is read anew."""
    before, _ = lines(folder)
    with closing(sqlite3.connect(folder / "kgrag.db")) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
        ).fetchone()
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    with (folder / "kgrag.db").open("r+b") as file:
        file.seek((page - 1) * page_bytes)
        file.write(b"\xff" * 512)

    report = KnowledgeBase.repair(folder, config=CONFIG)

    assert report.left == ()
    assert lines(folder) == (before, [])


def test_a_document_whose_file_is_gone_is_left_as_it_is_and_named(folder, made):
    """With the remedy; once the file is back, it is repaired."""
    before, _ = lines(folder)
    change(folder, "UPDATE documents SET properties = '{}' WHERE title LIKE '%绿色工厂%' OR 1")
    moved = sorted(made.glob("*.txt"))
    for file in moved:
        file.rename(file.with_suffix(".away"))
    try:
        damaged = bytes_of(folder)
        report = KnowledgeBase.repair(folder, config=CONFIG)
        assert len(report.left) == 3
        assert all("put it back" in line and "kgrag delete" in line for line in report.left)
        assert bytes_of(folder) == damaged
    finally:
        for file in moved:
            file.with_suffix(".away").rename(file)

    assert KnowledgeBase.repair(folder, config=CONFIG).left == ()
    assert lines(folder) == (before, [])


@pytest.fixture
def one_is_gone(folder, made):
    """The id of a document whose file is away."""
    file = made / "绿色工厂.txt"
    with closing(sqlite3.connect(folder / "kgrag.db")) as connection:
        query = "SELECT doc_id FROM sources WHERE source = ?"
        (doc_id,) = connection.execute(query, (str(file),)).fetchone()
    file.rename(file.with_suffix(".away"))
    yield doc_id
    file.with_suffix(".away").rename(file)


def test_a_document_that_cannot_be_made_again_is_left_out_and_named(folder, made, one_is_gone):
    """Where the rest is repaired; the damaged file has it still, and its own brings it back."""
    before, _ = lines(folder)
    change(folder, "UPDATE documents SET text = text || 'x'")

    report = KnowledgeBase.repair(folder, config=CONFIG)

    (left,) = report.left
    assert left.startswith(f"{one_is_gone}: its text, title or headings could not be made")
    assert "put it back and ingest it again; until then the document is left out" in left
    assert len(report.done) == 2
    after, problems = lines(folder)
    assert problems == []
    assert not any(one_is_gone in line for line in after)
    with KnowledgeBase.open(folder, config=CONFIG) as base:
        base.ingest([(made / "绿色工厂.away").rename(made / "绿色工厂.txt")])
        (made / "绿色工厂.txt").rename(made / "绿色工厂.away")
    assert lines(folder) == (before, [])


@pytest.mark.parametrize("table", ["chunks", "evidence", "mentions"])
def test_a_stored_text_does_where_the_file_is_gone(folder, one_is_gone, table):
    """All but the text follows from it."""
    before, _ = lines(folder)
    change(folder, f"UPDATE {table} SET chunk_id = chunk_id || 'x'")

    report = KnowledgeBase.repair(folder, config=CONFIG)

    assert report.left == ()
    assert lines(folder) == (before, [])


def test_a_lost_name_of_a_file_is_named(folder, made, one_is_gone):
    """The document stays; a name that still leads to it is right."""
    change(folder, "UPDATE sources SET source = source || '.x' WHERE source LIKE '%绿色工厂%'")
    change(folder, "UPDATE sources SET doc_id = 'x' WHERE source LIKE '%节能降碳%'")
    before, _ = lines(folder)

    report = KnowledgeBase.repair(folder, config=CONFIG)

    (left,) = report.left
    assert left.startswith(f"{one_is_gone}: which file holds it is not known for sure")
    assert "ingest its file" in left
    assert len(report.done) == 1
    assert lines(folder) == (before, [])


def test_a_document_without_files_has_those_that_are_ingested_then(folder, made):
    """So that it goes with its file."""
    change(folder, "DELETE FROM sources WHERE source LIKE '%绿色工厂%'")
    assert len(KnowledgeBase.repair(folder, config=CONFIG).left) == 1

    with KnowledgeBase.open(folder, config=CONFIG) as base:
        base.ingest(sorted(made.glob("*.txt")))
        assert {Path(s.source) for s in base.store.sources()} == {*made.glob("*.txt")}
        assert base.verify() == []


def test_facts_of_an_import_that_are_lost_are_named(folder):
    """Nothing else has them; those of other documents stay."""
    with KnowledgeBase.open(folder, config=CONFIG) as base:
        first, second, _ = (card.doc_id for card in base.documents())
        rows = [
            {"doc": doc_id, "start": 0, "end": 9, "triples": [["绿色工厂", "属于", "工业"]]}
            for doc_id in (first, second)
        ]
        facts = folder / "facts.jsonl"
        facts.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        base.import_facts(facts)
    before, _ = lines(folder)
    change(
        folder,
        f"UPDATE evidence SET confidence = 0.5 WHERE doc_id = '{first}'",
        f"UPDATE chunks SET heading_path = '[]' WHERE doc_id = '{second}'",
    )

    report = KnowledgeBase.repair(folder, config=CONFIG)

    (left,) = report.left
    assert left.startswith(f"{first}: what a model or an import gave of it is not all there")
    after, problems = lines(folder)
    assert problems == []
    lost = [json.loads(line) for line in {*before} - {*after}]
    assert {record.get("doc_id", first) for record in lost} == {first}
    assert any(record["record"] == "evidence" for record in lost)


@pytest.mark.parametrize("statement", [None, "UPDATE headings SET text = '章'"])
def test_what_a_damaged_log_lost_cannot_be_made_anew(folder, tmp_path, statement):
    """It is said, whether there is something else to repair or not."""
    if statement:
        change(folder, statement)
    with KnowledgeBase.open(folder, config=CONFIG) as base:
        for doc in base.documents()[:2]:
            base.delete(doc.doc_id)
        shutil.copytree(folder, tmp_path / "crashed")
    log = tmp_path / "crashed" / "kgrag.db-wal"
    data = bytearray(log.read_bytes())
    data[100] ^= 1
    log.write_bytes(data)

    report = KnowledgeBase.repair(tmp_path / "crashed", config=CONFIG)
    (left,) = report.left
    assert "what was stored behind that is lost" in left
    assert bool(report.done) == bool(statement)
    assert not KnowledgeBase.repair(tmp_path / "crashed", config=CONFIG).found


def test_a_dry_run_changes_nothing(folder):
    """And says what a run would do."""
    change(folder, "UPDATE chunks SET heading_path = '[]'")
    before = bytes_of(folder)

    report = KnowledgeBase.repair(folder, config=CONFIG, dry_run=True)

    assert len(report.done) == 3
    assert report.kept is None
    assert bytes_of(folder) == before


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\x00" + b"\x00" * 9000])
def test_what_holds_nothing_of_a_knowledge_base_is_left_as_it_is(tmp_path, content):
    """It may be another program's."""
    (tmp_path / "kgrag.db").write_bytes(content)

    with pytest.raises(StoreError, match="ingest"):
        KnowledgeBase.repair(tmp_path, config=CONFIG)
    assert bytes_of(tmp_path) == {"kgrag.db": content}


def test_who_has_it_open_sees_what_was_repaired(folder):
    """It takes the place of the damaged one in one transaction."""
    question = "绿色工厂"
    with KnowledgeBase.open(folder, create=False, config=CONFIG) as base:
        before = [(r.chunk.chunk_id, r.score) for r in base.search(question)]
        change(folder, "UPDATE chunks SET text = 'x', heading_path = '[\"x\"]'")
        KnowledgeBase.repair(folder, config=CONFIG)

        assert base.verify() == []
        assert [(r.chunk.chunk_id, r.score) for r in base.search(question)] == before
        base.delete("绿色工厂.txt")
        assert base.verify() == []
    assert Path(folder, "kgrag.db").is_file()


def test_a_server_is_only_checked(monkeypatch):
    """Its problems are named, with what mends them; nothing is written."""
    problem = Problem("evidence", "d-1", "x")
    store = SimpleNamespace(verify=lambda: [problem], close=lambda: None)
    monkeypatch.setattr(repairing, "open_store", lambda location, *, create: store)
    report = KnowledgeBase.repair("bolt://localhost", config=CONFIG)
    assert (report.found, report.done, report.kept) == ((problem,), (), None)
    assert report.left[0] == "evidence: d-1: x"
    assert "a knowledge base on a server is only checked" in report.left[1]


def test_what_a_newer_kgrag_made_is_no_damage(folder):
    """It is left as it is."""
    change(folder, "PRAGMA user_version = 9999")
    before = bytes_of(folder)
    with pytest.raises(StoreError, match="newer kgrag"):
        KnowledgeBase.repair(folder, config=CONFIG)
    assert bytes_of(folder) == before


def test_a_search_index_that_does_not_fit_is_forgotten(folder, monkeypatch):
    """The file itself is not touched; the index is built anew when it is next asked."""
    with KnowledgeBase.open(folder, config=CONFIG) as base:
        found = base.search("绿色工厂")
    cache = CacheFolder(folder / CACHE_FOLDER)
    name, *others = cache.names("lexical-")
    wrong = [Problem("cache-agrees", name, "it holds 2 chunks instead of 3")]
    monkeypatch.setattr(SQLiteStore, "verify", lambda store: wrong)
    for dry_run in (True, False):
        report = KnowledgeBase.repair(folder, config=CONFIG, dry_run=dry_run)
        assert report.done == (f"the search index {name} is built anew when it is next asked",)
        assert (report.left, report.kept) == ((), None)
        assert cache.names("lexical-") == ([name, *others] if dry_run else others)
    with KnowledgeBase.open(folder, config=CONFIG) as base:
        assert base.search("绿色工厂") == found


SETTINGS = {"embedder": "hash-1", "chunk_sizes": "24,8"}


class InterruptedCopyError(Exception):
    """Stops a copy."""


@pytest.fixture
def stores(tmp_path):
    """A source and a target, both empty."""
    opened = [SQLiteStore.open(tmp_path / name) for name in ("source", "target")]
    yield opened
    for store in opened:
        store.close()


def document(make, name, text="工信部印发节能办法。"):
    return make.bundle(name, text, facts=[("工信部", "印发", "节能办法")], summaries=["摘要"])


def fill(store, make, names="abc"):
    store.set_meta(SETTINGS)
    for name in names:
        store.upsert_document(document(make, name), source=f"/{name}.txt")


def exported(store):
    return [export_line(record) for record in store.export()]


def same(source, target):
    """Say whether content, settings and sources agree."""
    return exported(source) == exported(target) and source.sources() == target.sources()


def interrupt(name, *_):
    if name == "/b.txt":
        raise InterruptedCopyError


def test_copy_brings_settings_documents_and_all_their_sources(stores, make):
    """Content and sources are the source's; both hold as much."""
    source, target = stores
    fill(source, make)
    source.attach_source("/copy/of/a.txt", "d-a")
    report = copy(source, target)

    assert (report.written, report.unchanged, report.documents) == (3, 0, 3)
    assert report.source == report.target == source.counts()
    assert same(source, target)
    assert target.verify() == []


def test_copy_again_writes_nothing(stores, make):
    """Not even a transaction without effect."""
    source, target = stores
    fill(source, make)
    copy(source, target)
    before = target.change_counter()
    report = copy(source, target)

    assert (report.written, report.unchanged) == (0, 3)
    assert target.change_counter() == before


def test_copy_again_after_a_change_writes_what_changed(stores, make):
    """Imported knowledge leaves the fingerprint as it is, but is brought; sources, too."""
    source, target = stores
    fill(source, make)
    copy(source, target)
    text = "工信部印发节能办法。"
    source.add_knowledge("d-b", facts=[make.fact("d-b", text, ("节能", "属", "办法"), "import")])
    source.attach_source("/more/c.txt", "d-c")
    source.upsert_document(document(make, "d"), source="/d.txt")
    report = copy(source, target)

    assert (report.written, report.unchanged) == (2, 2)
    assert same(source, target)


def test_copy_that_was_interrupted_is_made_again(stores, make):
    """The second run passes over what the first one wrote."""
    source, target = stores
    fill(source, make)
    with pytest.raises(InterruptedCopyError):
        copy(source, target, progress=interrupt)
    assert [s.source for s in target.sources()] == ["/a.txt"]
    report = copy(source, target)

    assert (report.written, report.unchanged) == (2, 1)
    assert same(source, target)


def test_copy_when_files_changed_places_loses_no_document(stores, make):
    """A source that moves to another document may take its last one's place for a moment."""
    source, target = stores
    fill(source, make, "ab")
    target.set_meta(SETTINGS)
    for name, path in (("a", "/b.txt"), ("b", "/a.txt")):
        target.upsert_document(document(make, name), source=path)
    copy(source, target)
    assert same(source, target)


def test_copy_when_a_document_is_deleted_meanwhile_goes_on(stores, make):
    """It is left out."""
    source, target = stores
    fill(source, make)
    report = copy(source, target, progress=lambda *_: source.delete_document("d-c"))
    assert report.source == report.target
    assert [c.doc_id for c in target.document_cards()] == ["d-a", "d-b"]


def test_copy_of_a_source_that_grew_meanwhile_shows_in_the_counts(stores, make):
    """The report does not call the two equal."""
    source, target = stores
    fill(source, make, "ab")

    def grow(*_):
        source.upsert_document(document(make, "c"), source="/c.txt")

    report = copy(source, target, progress=grow)
    assert (report.source.documents, report.target.documents) == (3, 2)


@pytest.mark.parametrize(
    ("key", "value"), [("embedder", "other"), ("chunk_sizes", "48,8"), ("unknown", "x")]
)
def test_copy_into_a_knowledge_base_with_other_settings_is_refused(stores, make, key, value):
    """Named with both values and the remedy; nothing is written."""
    source, target = stores
    fill(source, make)
    target.set_meta({key: value})
    with pytest.raises(StoreError, match=f"{key} = {value}.*new place"):
        copy(source, target)
    assert target.all_meta() == {key: value}
    assert target.counts().documents == 0


def test_copy_into_a_knowledge_base_with_other_documents_is_refused(stores, make):
    """They are named, the first of many; nothing is written."""
    source, target = stores
    fill(source, make)
    fill(target, make, "cxyzw")
    with pytest.raises(StoreError, match=r"d-w, d-x, d-y and 1 more.*kgrag delete"):
        copy(source, target)
    assert target.counts().documents == 5


def test_compare_hashes_equal_exports_as_lines(stores, make):
    """The hash is that of the file that `kgrag export` writes."""
    source, target = stores
    fill(source, make)
    copy(source, target)
    lines = exported(source)
    text = "".join(f"{line}\n" for line in lines)
    found = compare(source, target)

    assert found.difference is None
    assert found.records == len(lines)
    assert found.sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_compare_stops_at_the_first_difference(stores, make):
    """With both lines, and how many were equal before."""
    source, target = stores
    fill(source, make)
    fill(target, make)
    changed = document(make, "b")
    changed = replace(changed, document=replace(changed.document, title="另题"))
    target.upsert_document(changed, source="/b.txt")
    found = compare(source, target)

    assert found.records == 1
    assert found.difference == (exported(source)[1], exported(target)[1])
    assert found.sha256 == hashlib.sha256(exported(source)[0].encode() + b"\n").hexdigest()


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("kb", "kb/", True),
        ("a/../kb", "./kb", True),
        ("kb", "kb2", False),
        ("bolt://h", "neo4j+s://H:7687/", True),
        ("bolt://h:7687/neo4j", "bolt://h", True),
        ("bolt://h/a", "bolt://h/b", False),
        ("bolt://h:1", "bolt://h:2", False),
        ("bolt://h", "h", False),
    ],
)
def test_same_place_reads_folders_and_addresses(one, other, expected):
    """A folder however it is named, a database whatever the scheme."""
    assert same_place(one, other) is expected
    assert same_place(other, one) is expected
