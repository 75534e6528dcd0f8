"""A file is written whole or not at all."""

import os
from pathlib import Path

import pytest

from kgrag.files.whole_file import write_whole


def test_write_whole_takes_the_place_of_an_older_file(tmp_path):
    """Its rights stay, and nothing else is left."""
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o640)

    def lines():
        yield "新"
        assert (tmp_path / "a").read_text() == "old"

    write_whole(tmp_path / "a", lines())
    assert (tmp_path / "a").read_bytes() == "新\n".encode()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    if os.name == "posix":
        assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_write_whole_leaves_the_older_file_when_it_is_stopped(tmp_path):
    """Nothing else is left."""
    (tmp_path / "a").write_text("old")

    def lines():
        yield "new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "a", lines())
    assert (tmp_path / "a").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.skipif(os.name != "posix", reason="needs /dev/null")
def test_write_whole_writes_to_what_is_no_file():
    """Nothing takes the place of a device."""
    write_whole(Path("/dev/null"), ["x"])
    assert not Path("/dev/null").is_file()


def test_write_whole_keeps_a_link(tmp_path):
    """What it leads to is written."""
    (tmp_path / "far").write_text("old")
    (tmp_path / "near").symlink_to("far")
    write_whole(tmp_path / "near", ["new"])
    assert (tmp_path / "near").is_symlink()
    assert (tmp_path / "far").read_text() == "new\n"
