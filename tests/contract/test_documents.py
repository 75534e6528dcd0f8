"""Writing, replacing, deleting and reading documents."""

from dataclasses import replace

import pytest

from kgrag.errors import NotFoundError, StoreError
from kgrag.store.contents import Counts, SourceState
from kgrag.store.folders import FOLDERS, with_folders
from kgrag.text.messages import in_language, message
from kgrag.types import Segment

TEXT = "到2025年建成绿色工厂500家。\n推进工业节能降碳，完善标准体系。"


def put(store, bundle, source=None):
    store.upsert_document(bundle, source=source or f"/archive/{bundle.document.file}")
    return bundle


def ids(items):
    return [item.chunk_id for item in items]


def test_documents_come_back_as_they_were_stored(store, make):
    """All fields survive; the file shown is the source."""
    bundle = put(store, make.bundle("a", TEXT, title="甲方案"))

    expected = replace(bundle.document, file="/archive/a.txt")
    assert store.documents(["d-a"]) == [expected]
    assert store.document_cards(["d-a"]) == [replace(expected, text="", segments=())]


def test_documents_come_in_the_order_asked_without_those_not_held(store, make):
    """None asks for all by id; unknown ids are left out."""
    for name in "bca":
        put(store, make.bundle(name, TEXT + name))

    assert [d.doc_id for d in store.documents()] == ["d-a", "d-b", "d-c"]
    assert [d.doc_id for d in store.document_cards(["d-c", "d-x", "d-a"])] == ["d-c", "d-a"]
    assert store.documents([]) == []


def test_segments_keep_the_level_and_the_label_that_their_format_states(store, make):
    """Whatever the level: none is 0. Rows of sheets keep the cells by which they are cited."""
    bundle = make.bundle("a", TEXT)
    segments = (Segment(0, 16, "paragraph", 1, 2), Segment(17, 20, "row", 2, 0, "表!A2:F2"))
    put(store, replace(bundle, document=replace(bundle.document, segments=segments)))

    assert store.documents(["d-a"])[0].segments == segments
    assert next(r for r in store.export() if r["record"] == "document")["segments"] == [
        [0, 16, "paragraph", 1, 2],
        [17, 20, "row", 2, 0, "表!A2:F2"],
    ]


def test_documents_of_any_text_come_back(store, make):
    """Empty texts, NUL and characters beyond the basic plane are texts, too."""
    for i, text in enumerate(
        ["", "\x00甲\x00", "𠮷野家👨‍👩‍👧", "a\r\nb\u2028c", "'; DROP TABLE documents; --"]
    ):
        put(store, make.bundle(str(i), text, title=text.strip() or "空"))

        assert store.documents([f"d-{i}"])[0].text == text
    assert store.verify() == []


def test_headings_come_in_text_order(store, make):
    """A document's headings are its own; none for one not held."""
    bundle = put(store, make.bundle("a", TEXT, headings=["到2025年", "推进工业"]))

    assert store.headings(["d-x", "d-a"]).get("d-a") == list(bundle.headings)
    assert store.headings(["d-x"]).get("d-x", []) == []


def test_chunks_come_in_the_order_asked(store, make):
    """All fields survive, unknown ids are left out, thousands of ids are no trouble."""
    bundle = put(store, make.bundle("a", TEXT, headings=["推进工业"]))
    wanted = [bundle.chunks[3], bundle.chunks[0]]

    assert store.chunks([wanted[0].chunk_id, "d-x:8:0", wanted[1].chunk_id]) == wanted
    many = [f"d-a:8:{i}" for i in range(20_000)]
    assert len(store.chunks(many)) == sum(c.size == make.LEAF for c in bundle.chunks)
    assert store.chunks([]) == []


def test_chunks_of_come_by_document_then_position(store, make):
    """One group only, documents as asked."""
    a, b = put(store, make.bundle("a", TEXT)), put(store, make.bundle("b", TEXT * 4))

    found = store.chunks_of(["d-b", "d-x", "d-a"], size=make.LEAF)
    expected = [c for x in (b, a) for c in x.chunks if c.size == make.LEAF]
    assert found == expected
    assert [c.position for c in found[:12]] == list(range(12))
    assert store.chunks_of(["d-a"], size=7) == []


def test_children_come_by_parent_then_position(store, make):
    """Parents as asked; a child has none."""
    bundle = put(store, make.bundle("a", TEXT * 2))
    first, second = (c.chunk_id for c in bundle.chunks[:2])

    found = store.children([second, "d-x:24:0", first], size=make.LEAF)
    assert ids(found) == [f"d-a:8:{i}" for i in (3, 4, 5, 0, 1, 2)]
    assert store.children(["d-a:8:0"], size=make.LEAF) == []


def test_families_come_parent_first(store, make):
    """Parents as asked, each with its children after it; a child is no parent."""
    bundle = put(store, make.bundle("a", TEXT * 2))
    first, second = (c.chunk_id for c in bundle.chunks[:2])

    found = store.families([second, "d-x:24:0", first, "d-a:8:0"])
    expected = [second, *(f"d-a:8:{i}" for i in (3, 4, 5)), first]
    assert ids(found) == [*expected, *(f"d-a:8:{i}" for i in (0, 1, 2))]
    assert set(found) <= set(bundle.chunks)
    assert store.families([]) == []


def test_summaries_come_in_the_order_asked_or_by_place(store, make):
    """All fields survive; None asks for all."""
    a = put(store, make.bundle("a", TEXT, summaries=["甲摘要", "又一"]))
    b = put(store, make.bundle("b", TEXT, summaries=["乙摘要"]))

    one, two = a.summaries
    assert store.summaries([two.summary_id, "s-x", one.summary_id]) == [two, one]
    everything = sorted([*a.summaries, *b.summaries], key=lambda s: (s.doc_id, s.summary_id))
    assert store.summaries() == everything


def test_sources_are_ordered_and_carry_the_fingerprint(store, make):
    """What a second run needs to know."""
    b, a = put(store, make.bundle("b", "乙")), put(store, make.bundle("a", "甲"))

    assert store.sources() == [
        SourceState("/archive/a.txt", "d-a", a.fingerprint),
        SourceState("/archive/b.txt", "d-b", b.fingerprint),
    ]


def test_counts_count_everything(store, make):
    """Chunks by group; a vector that nodes share counts once."""
    assert store.counts() == Counts(0, 0, {}, 0, 0, 0, 0, 0)

    text = "甲厂节能。" + "甲厂节能。甲厂节" + "甲厂节能。甲厂节"
    bundle = make.bundle(
        "a", text, facts=[("甲厂", "节", "能")], mentions=["节能"], summaries=["简"]
    )
    put(store, bundle)
    distinct = {v.key for v in bundle.vectors}
    assert store.counts() == Counts(
        documents=1,
        characters=len(text),
        chunks={make.PARENT: 1, make.LEAF: 3},
        summaries=1,
        entities=3,
        facts=1,
        mentions=1,
        vectors=len(distinct),
    )


def test_upsert_twice_changes_nothing(store, make):
    """The same bundle again leaves the same content."""
    bundle = make.bundle("a", TEXT, facts=[("绿色工厂", "有", "500家")], summaries=["摘要"])
    assert store.upsert_document(bundle, source="/archive/a.txt") is None
    before = list(store.export())
    assert store.upsert_document(bundle, source="/archive/a.txt") == bundle.fingerprint

    assert list(store.export()) == before
    assert store.verify() == []


def test_upsert_replaces_the_document_of_the_same_id(store, make):
    """Nothing of the old self stays, in any table or search."""
    put(store, make.bundle("a", TEXT * 3, facts=[("绿色工厂", "有", "500家")], summaries=["旧"]))
    put(store, make.bundle("a", "全新内容，别无他物。", facts=[("内容", "是", "新")]))

    assert ids(store.chunks_of(["d-a"], size=make.LEAF)) == ["d-a:8:0", "d-a:8:1"]
    assert store.summaries() == []
    assert store.find_entities(["绿色工厂", "500家"]) == []
    assert store.search_phrase("绿色工厂", field="text", size=make.LEAF, top_k=5) == []
    assert store.verify() == []


def test_upsert_replaces_what_only_the_source_held(store, make):
    """A changed file has another id: its old document goes with it."""
    put(store, make.bundle("old", TEXT), source="/archive/x.txt")
    put(store, make.bundle("new", "新的内容"), source="/archive/x.txt")

    assert [d.doc_id for d in store.document_cards()] == ["d-new"]
    assert [(s.source, s.doc_id) for s in store.sources()] == [("/archive/x.txt", "d-new")]
    assert store.verify() == []


def test_upsert_keeps_what_another_source_holds(store, make):
    """The copy in the other folder stays as it is, and shows its own file."""
    put(store, make.bundle("old", TEXT), source="/archive/1/x.txt")
    store.attach_source("/archive/2/x.txt", "d-old")
    assert store.document_cards(["d-old"])[0].file == "/archive/1/x.txt"
    put(store, make.bundle("new", "新的内容"), source="/archive/1/x.txt")

    assert [d.doc_id for d in store.document_cards()] == ["d-new", "d-old"]
    assert store.document_cards(["d-old"])[0].file == "/archive/2/x.txt"
    assert store.verify() == []


def test_upsert_of_a_held_document_keeps_its_other_sources(store, make):
    """Ingesting one copy again does not detach the other."""
    put(store, make.bundle("a", TEXT), source="/2/a.txt")
    store.attach_source("/3/a.txt", "d-a")
    put(store, make.bundle("a", TEXT), source="/1/a.txt")

    assert [s.source for s in store.sources()] == ["/1/a.txt", "/2/a.txt", "/3/a.txt"]
    assert store.document_cards(["d-a"])[0].file == "/1/a.txt"


def test_attach_source_drops_what_only_it_held(store, make):
    """A file that became a copy of another leaves its old document."""
    put(store, make.bundle("a", "甲"), source="/1.txt")
    put(store, make.bundle("b", "乙"), source="/2.txt")
    store.attach_source("/2.txt", "d-a")
    store.attach_source("/2.txt", "d-a")

    assert [d.doc_id for d in store.document_cards()] == ["d-a"]
    assert [s.source for s in store.sources()] == ["/1.txt", "/2.txt"]
    assert store.verify() == []


def test_attach_source_refuses_a_document_that_is_not_held(store):
    """A source without a document would be a broken promise."""
    with pytest.raises(NotFoundError, match="d-x"):
        store.attach_source("/1.txt", "d-x")

    assert store.sources() == []


def test_detach_source_deletes_a_document_with_its_last_source(store, make):
    """A copy that is gone leaves the document to the other, which it then shows."""
    put(store, make.bundle("a", TEXT), source="/1.txt")
    store.attach_source("/2.txt", "d-a")
    store.detach_source("/1.txt")
    store.detach_source("/1.txt")

    assert [s.source for s in store.sources()] == ["/2.txt"]
    assert store.document_cards()[0].file == "/2.txt"
    assert store.verify() == []
    store.detach_source("/2.txt")
    assert store.sources() == store.document_cards() == store.verify() == []


def test_delete_tells_whether_the_document_was_held(store, make):
    """Deleting twice is no error; its sources go, too."""
    put(store, make.bundle("a", TEXT))
    store.attach_source("/copy/a.txt", "d-a")

    assert store.delete_document("d-a") is True
    assert store.delete_document("d-a") is False
    assert store.sources() == []
    assert store.counts() == Counts(0, 0, {}, 0, 0, 0, 0, 0)


def test_delete_removes_exactly_what_nothing_else_supports(store, make):
    """Shared entities, facts and vectors stay; the rest goes."""
    shared = ("绿色工厂", "属于", "工业")
    put(
        store, make.bundle("a", TEXT, facts=[shared, ("标准体系", "有", "缺口")], mentions=["降碳"])
    )
    put(store, make.bundle("b", TEXT, facts=[shared], mentions=["节能"]))
    n_vectors = store.counts().vectors
    store.delete_document("d-a")

    (kept,) = store.facts_around([make.entity("工业").entity_id], limit=9)
    assert [e.doc_id for e in kept.evidence] == ["d-b"]
    names = {
        e.name
        for e in store.find_entities(["绿色工厂", "工业", "标准体系", "缺口", "降碳", "节能"])
    }
    assert names == {"绿色工厂", "工业", "节能"}
    assert store.counts().vectors == n_vectors - 1  # both texts are the same, a fact is not
    store.delete_document("d-b")
    assert store.counts() == Counts(0, 0, {}, 0, 0, 0, 0, 0)
    assert store.verify() == []


def test_a_bundle_that_contradicts_itself_is_stored_not_at_all(store, make):
    """The old self stays whole when the new one is refused half way."""
    old = put(store, make.bundle("a", TEXT, facts=[("绿色工厂", "有", "500家")]))
    before, counter = list(store.export()), store.change_counter()
    lost = replace(old.facts[0].evidence[0], chunk_id="d-a:8:99")
    bad = replace(old, facts=[replace(old.facts[0], evidence=(lost,))])

    with pytest.raises(StoreError):
        put(store, bad)
    with pytest.raises(ValueError, match="no evidence"):
        put(store, replace(old, facts=[replace(old.facts[0], evidence=())]))
    with pytest.raises(ValueError, match="d-b"):
        put(store, replace(make.bundle("b", TEXT), document=old.document))
    assert list(store.export()) == before
    assert store.change_counter() == counter
    assert store.verify() == []


def test_meta_is_recorded_and_overwritten(store):
    """Settings are texts by name; unknown ones are None."""
    store.set_meta({"embedder": "a", "sizes": "24,8"})
    store.set_meta({"embedder": "b"})

    assert (store.get_meta("embedder"), store.get_meta("sizes")) == ("b", "24,8")
    assert store.get_meta("x") is None


def test_change_counter_grows_with_content_only(store, make):
    """Reading, settings and what was there already do not move it."""
    seen = [store.change_counter()]
    bundle = put(store, make.bundle("a", TEXT))
    seen.append(store.change_counter())
    store.add_knowledge("d-a", summaries=[make.summary("d-a", TEXT, "摘要")])
    seen.append(store.change_counter())
    store.delete_document("d-a")
    seen.append(store.change_counter())
    put(store, bundle)
    seen.append(store.change_counter())
    assert seen == sorted(set(seen))

    store.set_meta({"a": "b"})
    store.add_knowledge("d-a", vectors=[bundle.vectors[0]])
    store.delete_document("d-x")
    store.search_words({"工厂": 1.0}, field="text", size=make.LEAF, top_k=3)
    assert store.change_counter() == seen[-1]


def test_documents_show_the_path_from_the_folder_that_was_ingested(store, make):
    """Files outside show their own folder; with the note changed, so is what is shown."""
    put(store, make.bundle("a", TEXT), source="/archive/policies/gd/x.txt")
    put(store, make.bundle("b", TEXT + "b"), source="/archive/policies/sc/x.txt")
    put(store, make.bundle("c", TEXT + "c"), source="/old/me/x.jsonl#a/b")
    sources = [state.source for state in store.sources()]
    note = with_folders(None, ["/archive/policies"], sources)
    store.set_meta({FOLDERS: note})

    shown = ["policies/gd/x.txt", "policies/sc/x.txt", "me/x.jsonl#a/b"]
    assert [card.file for card in store.document_cards()] == shown
    assert [document.file for document in store.documents()] == shown
    assert store.bundle("d-a").document.file == shown[0]

    store.set_meta({FOLDERS: with_folders(note, ["/other/policies"], sources)})
    assert [d.file for d in store.document_cards(["d-b"])] == ["archive/policies/sc/x.txt"]
    assert store.document_cards()[2].file == "old/me/x.jsonl#a/b"
    assert [state.source for state in store.sources()] == sources
    assert FOLDERS not in store.all_meta()


def test_warnings_come_back_as_messages(store, make):
    """Worded in any language when they are read; an export has English, a bundle the messages."""
    warnings = (message("{n} note(s) put at the end of the text", n=2), "of a plugin")
    bundle = make.bundle("a", TEXT)
    put(store, replace(bundle, document=replace(bundle.document, warnings=warnings)))

    for read in (*store.documents(), *store.document_cards(), store.bundle("d-a").document):
        assert read.warnings == warnings
        assert in_language(read.warnings[0], "zh") == "2 条注释，放在文末"
        assert in_language(read.warnings[1], "zh") == "of a plugin"
    (exported,) = [r for r in store.export() if r["record"] == "document"]
    assert exported["warnings"] == ["2 note(s) put at the end of the text", "of a plugin"]
