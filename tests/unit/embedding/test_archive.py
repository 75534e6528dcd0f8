"""Archives of models, whoever made them."""

import shutil
import struct
import zipfile
from collections import namedtuple

import pytest

from kgrag.embedding import archive
from kgrag.embedding.archive import unpacked
from kgrag.errors import ModelError

Usage = namedtuple("Usage", "total used free")


def files(path, target):
    """Unpack; return the files by name."""
    with unpacked(path, target) as folder:
        return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def zipped(tmp_path):
    """Return a maker of zips: members by name."""

    def make(method=zipfile.ZIP_DEFLATED, **members):
        path = tmp_path / "m.zip"
        with zipfile.ZipFile(path, "w", method) as out:
            for name, data in members.items():
                out.writestr(name, data)
        return path

    return make


def refused(path, said):
    """Check that an archive is refused, and that nothing is left of it."""
    target = path.parent / "target"
    with pytest.raises(ModelError, match=said):
        files(path, target)
    assert not target.exists()


def test_unpacked_refuses_a_bomb(zipped):
    """17 MB of zeros in 17 kB; what a model may hold of them is not one."""
    refused(zipped(a=bytes(17 * 1024**2)), r"would unpack \d+ bytes of 'a' to 17825792.*yourself")


def test_unpacked_takes_some_zeros(zipped, tmp_path):
    """An embedding of unused tokens is made of them."""
    assert files(zipped(a=bytes(15 * 1024**2)), tmp_path / "t") == {"a"}


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_unpacked_refuses_what_packs_a_disk_into_a_page(zipped, method):
    """And, to be unpacked, asks for as much memory as it likes."""
    refused(zipped(method, a=b"x"), "'a' is packed in a way other than deflate")


def test_unpacked_refuses_more_files_than_a_model_has(zipped, monkeypatch):
    """Each takes a block of the disk, and a while."""
    monkeypatch.setattr(archive, "_MAX_FILES", 2)
    refused(zipped(a=b"", b=b"", c=b""), "holds 3 files, more than a model has")


def test_unpacked_refuses_a_list_of_files_that_fills_the_memory(tmp_path):
    """Before it is read: the record at the end says how long it is."""
    path = tmp_path / "m.zip"
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 65535, 65535, 1 << 30, 0, 0)
    path.write_bytes(bytes(100) + end)
    refused(path, "lists more files than a model has")


def test_unpacked_refuses_what_the_disk_lacks_room_for(zipped, monkeypatch):
    """Before it is full."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(9, 0, 9))
    refused(zipped(a=bytes(10)), r"needs 10 bytes in .*, where 9 are free")


def test_unpacked_says_when_a_member_is_damaged(zipped, tmp_path):
    """Whatever the damage makes zlib say."""
    path = zipped(a=bytes(range(256)) * 40)
    whole = path.read_bytes()
    for at in range(31, 90):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        told = "cannot read a model from"
        try:
            files(path, tmp_path / "target")
        except ModelError as exc:
            told = str(exc)
        assert "cannot read a model from" in told


def test_unpacked_writes_no_links_and_nothing_outside(tmp_path):
    """A link is a file that holds its goal; a path that climbs stays inside."""
    path = tmp_path / "m.zip"
    with zipfile.ZipFile(path, "w") as out:
        link = zipfile.ZipInfo("tokenizer.json")
        link.external_attr = 0o120777 << 16
        out.writestr(link, "/etc/passwd")
        for name in ("../../up.onnx", "/root.onnx", "a/../../b.onnx"):
            out.writestr(name, "x")
    (tmp_path / "deep").mkdir()
    before = {file.name for file in tmp_path.iterdir()}
    with unpacked(path, tmp_path / "deep/target") as folder:
        assert not (folder / "tokenizer.json").is_symlink()
        assert (folder / "tokenizer.json").read_text() == "/etc/passwd"
        names = {file.name for file in folder.rglob("*.onnx")}
    assert names == {"up.onnx", "root.onnx", "b.onnx"}
    assert {file.name for file in tmp_path.iterdir()} == before
