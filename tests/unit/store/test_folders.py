"""Paths as shown: from the folder that was ingested on."""

import json
from pathlib import Path

import pytest

from kgrag.store.folders import absolute, shown_from, with_folders
from kgrag.text.visible import without_folders


def shown(folders, sources):
    note = with_folders(None, folders, sources)
    return [shown_from(note)(source) for source in sources]


@pytest.mark.parametrize(
    ("folders", "sources", "expected"),
    [
        (["/d/p"], ["/d/p/gd/a.txt", "/d/p/sc/a.txt"], ["p/gd/a.txt", "p/sc/a.txt"]),
        (["/d/p", "/d/p/gd"], ["/d/p/gd/a.txt"], ["p/gd/a.txt"]),
        (["/d/p/"], ["/d/p/a.txt", "/d/pp/a.txt"], ["p/a.txt", "pp/a.txt"]),
        (["/x/p", "/y/p"], ["/x/p/a.txt", "/y/p/a.txt"], ["x/p/a.txt", "y/p/a.txt"]),
        ([], ["/x/1/a.txt", "/x/2/a.txt"], ["1/a.txt", "2/a.txt"]),
        ([], ["/x/g/a.txt", "/y/g/a.txt"], ["x/g/a.txt", "y/g/a.txt"]),
        (["/"], ["/a.txt", "/b/a.txt"], ["/a.txt", "/b/a.txt"]),
        ([], ["/a.txt"], ["/a.txt"]),
        (["C:\\d\\p"], ["C:\\d\\p\\gd\\a.txt"], ["p\\gd\\a.txt"]),
    ],
)
def test_paths_begin_with_the_folder_ingested(folders, sources, expected):
    """The outermost folder counts; folders of one name are told apart."""
    assert shown(folders, sources) == expected


def test_different_files_are_shown_differently():
    """Whatever the folders are called, also where one looks like a part of another."""
    folders = ["/data/policies", "/x/policies", "/q/data", "/data2"]
    sources = [f"{folder}/{rest}" for folder in folders for rest in ("policies/a", "a", "b/a")]
    sources += ["/q/x/policies/a", "/policies/a", "/a"]
    assert len(set(shown(folders, sources))) == len(sources)


@pytest.mark.parametrize("note", [None, "", "[", "7", '{"a": 1}', '["x"]'])
def test_without_a_note_absolute_paths_are_shown(note):
    """An older knowledge base, or a damaged note."""
    assert shown_from(note)("/a/b/c.txt") == "/a/b/c.txt"
    assert json.loads(with_folders(note, ["/a"], []))[1:] == ["/a"]


def test_absolute_takes_parents_out_unless_a_link_is_before_them(tmp_path, monkeypatch):
    """`link/..` is the folder above the link's target."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a" / "b")
    monkeypatch.chdir(tmp_path / "a")
    assert absolute(Path("../a/x.txt")) == str(tmp_path / "a" / "x.txt")
    assert absolute("../link/../x.txt") == str(tmp_path / "a" / "../link/../x.txt")


def test_of_an_absolute_path_only_the_name_leaves_the_machine():
    """Paths from the archive's folder on are for everyone."""
    assert without_folders("/old/me/a.txt") == "a.txt"
    assert without_folders("p/gd/a.txt") == "p/gd/a.txt"
