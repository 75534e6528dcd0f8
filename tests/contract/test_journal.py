"""The log of changes: what came, was replaced, renamed and went, on every store."""

from dataclasses import replace

from kgrag.statements.journal import CHANGES, Recorder, entries

TEXT = "一、目标\n到2025年建成绿色工厂500家。\n二、任务\n推进工业节能降碳，完善标准体系。"


def test_the_log_has_each_change_once(store, make):
    """What comes, gets another source, is renamed and goes, in the order in which it happens."""
    recorder, other = Recorder(store), Recorder(store)
    for name in "abc":
        recorder.upsert_document(make.bundle(name, TEXT + name), source=f"/{name}.txt")
    other.upsert_document(make.bundle("a", TEXT + "a"), source="/a.txt")  # has not heard of it
    recorder.attach_source("/a2.txt", "d-a")
    recorder.detach_source("/c.txt", to="/d.txt")
    recorder.detach_source("/a.txt")
    recorder.detach_source("/a.txt")
    recorder.detach_source("/b.txt")

    added = [("added", f"/{name}.txt") for name in ("a", "b", "c", "a2")]
    gone = [("withdrawn", f"/{name}.txt") for name in "ab"]
    told = [(e.kind, e.source) for e in entries(store)]
    assert told == [*added, ("renamed", "/d.txt"), *gone]
    held = {state.source: state.doc_id for state in store.sources()}
    assert held == {"/a2.txt": "d-a", "/d.txt": "d-c"}


def test_a_replaced_document_is_compared_in_the_same_transaction(store, make):
    """Its clauses are counted; what is stored again with the same content is no change."""
    store.upsert_document(make.bundle("a", TEXT), source="/a.txt")
    recorder = Recorder(store)
    new = make.bundle("b", TEXT.replace("节能降碳", "数字化改造"))
    recorder.upsert_document(new, source="/a.txt")

    (told,) = entries(store)
    assert (told.kind, told.title, told.was, told.clauses) == ("replaced", "b", "a", 1)
    assert not any(key.startswith(CHANGES) for key in store.all_meta())  # which exports have
    recorder.upsert_document(replace(new, fingerprint="other"), source="/a.txt")
    assert entries(store) == [told]
