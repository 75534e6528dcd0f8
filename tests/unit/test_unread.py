import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.maintenance.problems import MOST_UNREAD, Unread, renewed_unread, unread_from, unread_text

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
