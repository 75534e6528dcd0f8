"""The log of changes: what came, was replaced, renamed and went, on every store."""

from dataclasses import replace

from kgrag.statements.journal import LOG, Recorder, entries, record

TEXT = "一、目标\n到2025年建成绿色工厂500家。\n二、任务\n推进工业节能降碳，完善标准体系。"


def kinds(store):
    return [(e.kind, e.source) for e in entries(store)]


def test_the_log_has_each_change_once(store, make):
    """Nothing twice, and what was not recorded before a kill is found by comparing."""
    record(store)
    for name in "abc":
        store.upsert_document(make.bundle(name, TEXT + name), source=f"/{name}.txt")
    record(store)
    store.attach_source("/d.txt", "d-c")
    store.detach_source("/c.txt")
    store.detach_source("/a.txt")

    expected = [("added", f"/{name}.txt") for name in "abc"]
    expected += [("renamed", "/d.txt"), ("withdrawn", "/a.txt")]
    assert kinds(store) == expected  # and nothing is recorded yet
    record(store)
    record(store)
    assert kinds(store) == expected


def test_a_replaced_document_is_compared_in_the_same_transaction(store, make):
    """Its clauses are counted; what is stored again with the same content is no change."""
    store.upsert_document(make.bundle("a", TEXT), source="/a.txt")
    record(store)
    recorder = Recorder(store)
    new = make.bundle("b", TEXT.replace("节能降碳", "数字化改造"))
    recorder.upsert(new, "/a.txt")
    record(store)

    (told,) = entries(store)  # what was there before the log is no change
    assert (told.kind, told.doc_id, told.was, told.clauses) == ("replaced", "d-b", "a", 1)
    assert LOG not in store.all_meta()  # which copies and exports have
    same = replace(new, fingerprint="other")
    recorder.upsert(same, "/a.txt")
    assert entries(store) == [told]
