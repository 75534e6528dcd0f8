"""Copying between two stores: what is written, passed over, refused and compared."""

import hashlib
from dataclasses import replace

import pytest

from kgrag.errors import StoreError
from kgrag.maintenance.copying import compare, copy, export_line, same_place
from kgrag.store.sqlite.store import SQLiteStore

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


def test_copy_takes_away_what_the_source_has_no_more(stores, make):
    """A document that the target knows more of becomes the source's."""
    source, target = stores
    fill(source, make)
    copy(source, target)
    target.add_knowledge("d-a", mentions=[make.mention("d-a", "工信部印发节能办法。", "节能")])
    assert copy(source, target).written == 1
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


def test_copy_tells_its_progress(stores, make):
    """Before each document its file and how many are done, and at the end that all are."""
    source, target = stores
    fill(source, make, "ab")
    calls = []
    copy(source, target, progress=lambda *call: calls.append(call))
    assert calls == [("/a.txt", 0, 2), ("/b.txt", 1, 2), ("", 2, 2)]


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


def test_copy_into_a_knowledge_base_with_other_files_is_refused(stores, make):
    """The same document from a file that the source does not know."""
    source, target = stores
    fill(source, make)
    target.upsert_document(document(make, "a"), source="/elsewhere/a.txt")
    with pytest.raises(StoreError, match=r"d-a.*from other files"):
        copy(source, target)
    assert target.counts().documents == 1


def test_copy_of_an_empty_knowledge_base_copies_its_settings(stores):
    """There is nothing else."""
    source, target = stores
    source.set_meta(SETTINGS)
    report = copy(source, target)
    assert (report.written, report.unchanged) == (0, 0)
    assert target.all_meta() == SETTINGS


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


def test_compare_when_one_ends_earlier_is_a_difference(stores):
    """None stands for the line that is not there, on either side."""
    source, target = stores
    assert compare(source, target).difference is None
    source.set_meta({"a": "1"})
    (line,) = exported(source)
    assert compare(source, target).difference == (line, None)
    assert compare(target, source).difference == (None, line)


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


def test_same_place_follows_links(tmp_path):
    """A link to a folder is the folder."""
    (tmp_path / "kb").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "kb")
    assert same_place(str(tmp_path / "kb"), str(tmp_path / "link"))
