"""What was not read well, or not at all."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.maintenance.problems import (
    MOST_UNREAD,
    UNREAD,
    Unread,
    reading_problems,
    renewed_unread,
    unread_from,
    unread_text,
)
from kgrag.metadata import Metadata
from kgrag.store.contents import DocumentBundle
from kgrag.store.sqlite.store import SQLiteStore
from kgrag.types import Document, Heading

GOOD = Document(
    "d-1",
    "云岭省节能规划",
    "云岭省节能规划\n" + "推进节能降碳。" * 500,
    "p/plan.txt",
    "txt",
    "00",
    metadata=Metadata(("云岭省人民政府",), issued="2022-03-05", level="省", regions=("云岭省",)),
)
HEADINGS = (Heading(0, 3, 1, "一、"),)


def held(document, headings=HEADINGS):
    """Return a store of one document, which it gives as it is."""
    return SimpleNamespace(
        get_meta=lambda key: None,
        sources=list,
        document_cards=lambda: [replace(document, text="", segments=())],
        documents=lambda doc_ids: [document],
        headings=lambda doc_ids: {document.doc_id: list(headings)},
    )


def kinds(document, headings=HEADINGS):
    """Return the kinds of problems of a document."""
    return [problem.kind for problem in reading_problems(held(document, headings))]


def test_a_document_that_was_read_well_has_no_problems():
    """Nothing is listed for the list's sake."""
    assert kinds(GOOD) == []


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"warnings": ("2 pages have no text",)}, "warning"),
        ({"title": "plan"}, "title"),
        ({"title": "untitled"}, "title"),
        ({"title": "r1", "file": "corpus.jsonl#r1"}, "title"),
        ({"metadata": replace(GOOD.metadata, issuers=())}, "issuer"),
        ({"metadata": replace(GOOD.metadata, issued="")}, "date"),
        ({"metadata": replace(GOOD.metadata, regions=())}, "region"),
        ({"metadata": replace(GOOD.metadata, regions=(), level="")}, "region"),
        ({"metadata": replace(GOOD.metadata, inferred=("issuers",))}, "issuer"),
        ({"metadata": replace(GOOD.metadata, inferred=("written",))}, "date"),
        ({"metadata": replace(GOOD.metadata, inferred=("regions",))}, "region"),
        ({"text": "云岭省节能规划"}, "short"),
    ],
)
def test_each_problem_is_named_once_with_a_remedy(change, kind):
    (problem,) = reading_problems(held(replace(GOOD, **change)))

    assert problem.kind == kind
    assert problem.detail
    assert problem.remedy
    assert (problem.doc_id, problem.file) == (GOOD.doc_id, change.get("file", GOOD.file))


@pytest.mark.parametrize(
    "change",
    [
        {"title": "plan", "text": "Plan\n" + GOOD.text},  # a file that is called as its title
        {"title": "plan", "properties": {"stated.title": "plan"}},
        {"metadata": replace(GOOD.metadata, regions=(), level="国家")},
        {"metadata": replace(GOOD.metadata, regions=(), level="部门")},
        {"metadata": replace(GOOD.metadata, regions=(), level=""),
         "properties": {"stated.regions": "全国"}},
    ],
)  # fmt: skip
def test_what_is_known_in_another_way_is_no_problem(change):
    """A national document has no region, and a file may be called as its title."""
    assert kinds(replace(GOOD, **change)) == []


def test_headings_are_missed_in_long_texts_only():
    """A notice of two pages has none."""
    assert kinds(GOOD, headings=()) == ["headings"]
    assert kinds(replace(GOOD, text=GOOD.text[:2000]), headings=()) == []


def test_sources_and_passages_that_could_not_be_read_are_listed(tmp_path):
    """Of a real store: sources first, then documents by file."""
    store = SQLiteStore.open(tmp_path / "kb")
    failed = [Unread("/p/z.pdf", "is locked"), Unread("/p/a.doc", "save it as .docx", skipped=True)]
    store.set_meta({UNREAD: unread_text(failed)})
    for name, marks in (("b", "x+m!0,3"), ("a", "x+m!5")):
        text = f"{GOOD.text}{name}"
        document = replace(
            GOOD,
            doc_id=name,
            text=text,
            title=f"节能规划{name}",
        )
        store.upsert_document(DocumentBundle(document, marks, HEADINGS), source=f"/p/{name}.txt")
    found = [p for p in reading_problems(store) if p.kind != "issuer"]
    store.close()

    assert [(p.kind, p.file, p.detail) for p in found] == [
        ("skipped", "/p/a.doc", "save it as .docx"),
        ("unread", "/p/z.pdf", "is locked"),
        ("passages", "/p/a.txt", "passages that a model could not read: 1"),
        ("passages", "/p/b.txt", "passages that a model could not read: 2"),
    ]
    assert found[-1].remedy == "kgrag ingest --retry-failed"


def many(*documents):
    """Return a store of some documents."""
    return SimpleNamespace(
        get_meta=lambda key: None,
        sources=list,
        document_cards=lambda: [replace(d, text="", segments=()) for d in documents],
        documents=lambda doc_ids: [d for d in documents if d.doc_id in doc_ids],
        headings=lambda doc_ids: {doc_id: list(HEADINGS) for doc_id in doc_ids},
    )


def test_twins_and_editions_of_a_title_are_listed():
    """The same text under two names, another text of one title and date, a later one."""
    later = replace(GOOD.metadata, issued="2024-01-02")
    found = reading_problems(
        many(
            GOOD,
            replace(GOOD, doc_id="d-2", file="p/copy.txt", title="节能规划（副本）"),
            replace(GOOD, doc_id="d-3", file="p/scan.pdf", text=GOOD.text + "页"),
            replace(GOOD, doc_id="d-4", file="p/plan2024.txt", text="新" * 900, metadata=later),
        )
    )
    told = [(p.kind, p.file, p.detail.split(" ")[-1], p.remedy) for p in found]
    assert [one[:2] for one in told] == [
        ("twin", "p/plan.txt"),
        ("edition", "p/plan2024.txt"),
        ("twin", "p/scan.pdf"),
    ]
    assert told[0][3] == "kgrag delete d-1"
    assert told[1][3].startswith("kgrag correct d-4 --title")


def test_the_title_with_a_year_behind_it_tells_editions_apart():
    """What the remedy says makes two nodes of them."""
    later = replace(GOOD.metadata, issued="2024-01-02")
    new = replace(GOOD, doc_id="d-2", file="p/b.txt", text="新" * 900, metadata=later)
    assert [p.kind for p in reading_problems(many(GOOD, new))] == ["edition"]
    renamed = replace(new, title=f"{new.title}（2024年）")
    assert list(reading_problems(many(GOOD, renamed))) == []


ANY_TEXT = st.text(st.characters(exclude_categories=()))


def sources(unread):
    """Return the names of files, and what is behind them."""
    return [one.source.rpartition("/")[2] for one in unread]


def of(folder, *names, skipped=False):
    """Return unread sources of a folder; their files are made."""
    for name in names:
        file = folder / name.partition("#")[0].partition(":")[0]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    return [Unread(str(folder / name), "is locked", skipped) for name in names]


@given(st.lists(st.builds(Unread, st.text(), ANY_TEXT, st.booleans())))
def test_a_note_gives_what_it_was_made_of(unread):
    """Whatever files are called, and as a text that every store can hold."""
    note = unread_text(unread)
    assert unread_from(note) == unread
    assert note.encode()
    assert "\0" not in note


@pytest.mark.parametrize("note", [None, "", "[]", "{", "1", '["a"]', "[[1, 2]]", "null"])
def test_a_note_that_is_none_holds_nothing(note):
    """A damaged one does not stand in the way of what is next."""
    assert unread_from(note) == []


def test_what_was_looked_at_again_leaves_the_list_unless_it_failed_again(tmp_path):
    """Files and parts of them at or below the paths of the run, and no others."""
    known = of(tmp_path, "p/a.pdf", "p/q/b.pdf", "p/r.jsonl:3", "p/r.jsonl#x", "p2/c.pdf", "d.pdf")
    found = [Unread(str(tmp_path / "p/a.pdf"), "has no text")]

    now = renewed_unread(known, found, looked_at=[tmp_path / "p"])
    assert sources(now) == ["c.pdf", "d.pdf", "a.pdf"]
    assert now[-1].reason == "has no text"
    assert sources(renewed_unread(known, [], looked_at=[tmp_path / "p" / ".." / "d.pdf"])) == [
        "a.pdf", "b.pdf", "r.jsonl:3", "r.jsonl#x", "c.pdf",
    ]  # fmt: skip
    assert sources(renewed_unread(known, [], looked_at=[tmp_path / "p/r.jsonl"])) == [
        "a.pdf", "b.pdf", "c.pdf", "d.pdf",
    ]  # fmt: skip
    assert renewed_unread(known, [], looked_at=[tmp_path]) == []


def test_what_is_gone_leaves_the_list(tmp_path):
    """Also a path that never was, and part of a file that has gone."""
    known = of(tmp_path, "a.pdf", "r.jsonl:3", "s#t.pdf")
    (tmp_path / "s#t.pdf").write_text("x")
    (tmp_path / "r.jsonl").unlink()
    found = [Unread(str(tmp_path / name), "no such file") for name in ("none", "x" * 5000, "\0")]

    assert sources(renewed_unread(known, found, looked_at=[])) == ["a.pdf", "s#t.pdf"]


def test_the_list_is_bounded_and_files_of_other_forms_make_way(tmp_path):
    """The newest stay; a reason of any length has an end."""
    skipped = of(tmp_path, "a.doc", "b.doc", skipped=True)
    failed = of(tmp_path, *(f"r.jsonl:{n}" for n in range(MOST_UNREAD)))
    long = [Unread(one.source, "x" * 9999) for one in failed[1:]]

    now = renewed_unread(failed[:1], [*skipped, *long], looked_at=[tmp_path / "b.doc"])
    assert len(now) == MOST_UNREAD
    assert not any(one.skipped for one in now)
    assert len(now[-1].reason) == 500
    assert "c.pdf" not in sources(renewed_unread(of(tmp_path, "c.pdf"), now, looked_at=[]))
    assert sources(renewed_unread(skipped, long[1:], looked_at=[]))[:2] == ["a.doc", "b.doc"]
