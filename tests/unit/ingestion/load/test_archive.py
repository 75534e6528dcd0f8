"""Zip archives: their members are files of their own, within bounds."""

import io
import stat
import zipfile
from pathlib import Path

import pytest

from kgrag import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.load import Source, discover, load
from kgrag.ingestion.load.archive import archive_of_member


def packed(members: dict[str, bytes]) -> bytes:
    """Return an archive of these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def found(path: Path) -> tuple[list[str], dict[str, str]]:
    """Return the sources below a path, and why other files are not read, by name in the archive."""
    told = discover([path])
    reasons = {f.file: str(f.reason) for f in told.failures}
    reasons |= {str(s.path): str(s.reason) for s in told.skipped}
    base = f"{path}!/"
    return (
        [source.name.removeprefix(base) for source in told.sources],
        {name.removeprefix(base): reason for name, reason in reasons.items()},
    )


def test_members_are_files_of_their_own(tmp_path):
    """With the id that they have unpacked, and names in UTF-8 whatever they were packed in."""
    text = "节能方案\n第一条 到2025年下降10%。".encode()
    path, plain = tmp_path / "a.zip", tmp_path / "方案.txt"
    path.write_bytes(packed({"目录/方案.txt": text, "b.zip": b"x", "c.exe": b"x", "._d.txt": b"x"}))
    plain.write_bytes(text)
    names, reasons = found(path)
    assert names == ["目录/方案.txt"]
    assert set(reasons) == {"b.zip", "c.exe"}
    assert "unpack it first" in reasons["b.zip"]
    document = load(discover([path]).sources[0])
    assert document.file == f"{path}!/目录/方案.txt"
    assert document.doc_id == load(Source(plain)).doc_id


def test_names_in_gbk_are_read(tmp_path):
    """Archives of Chinese Windows do not say what their names are written in."""
    path = tmp_path / "a.zip"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo("x" * len("云岭省方案.txt".encode("gbk")))
        archive.writestr(info, "甲")
    data = buffer.getvalue().replace(info.filename.encode(), "云岭省方案.txt".encode("gbk"))
    path.write_bytes(data)
    assert found(path)[0] == ["云岭省方案.txt"]
    assert load(discover([path]).sources[0]).text == "甲"


def test_names_never_lead_out_and_links_are_not_followed(tmp_path):
    """What cannot be a file of the archive is told by name, and the others are read."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in ("../out.txt", "/etc/passwd.txt", "C:/x.txt", "a//b.txt", "x/..\\y.txt"):
            archive.writestr(zipfile.ZipInfo(name), "甲")
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("good.txt", "乙")
    path = tmp_path / "a.zip"
    path.write_bytes(buffer.getvalue())
    names, reasons = found(path)
    assert names == ["good.txt"]
    assert len(reasons) == 6
    assert "is a link" in reasons.pop("link.txt")
    assert all("leads out" in reason for reason in reasons.values())


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04 no archive", "cannot be unpacked"),
        (b"", "cannot be unpacked"),
        (packed({"a.txt": b"x" * 60_000_000}), "members of 60,000,000 bytes"),
        (packed({f"{i}.txt": b"x" for i in range(2001)}), "has 2,001 members"),
    ],
)
def test_what_is_no_archive_or_a_bomb_is_refused(tmp_path, data, said):
    """Before anything is unpacked, with the remedy."""
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    names, reasons = found(path)
    assert not names
    assert said in reasons[str(path)]


def test_locked_and_damaged_members_are_told_alone(tmp_path):
    """Of a damaged member the archive's others are read."""
    data = bytearray(packed({"a.txt": b"first" * 9, "b.txt": "乙".encode()}))
    data[40] ^= 0xFF
    locked = packed({"c.txt": b"x"}).replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"
    )
    for name, packed_ in (("d.zip", bytes(data)), ("l.zip", locked)):
        (tmp_path / name).write_bytes(packed_)
    assert "locked with a password" in found(tmp_path / "l.zip")[1]["c.txt"]
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as kb:
        report = kb.ingest([tmp_path / "d.zip"])
        assert report.counts == {"failed": 1, "added": 1}
        assert "cannot be unpacked" in next(o.detail for o in report.outcomes if o.detail)
        assert [
            Path(problem.file).name for problem in kb.problems() if problem.kind == "unread"
        ] == ["a.txt"]


def test_a_member_that_is_gone_is_withdrawn(tmp_path):
    """An archive is followed as a folder is; one that cannot be read any more withdraws nothing."""
    folder = tmp_path / "in"
    folder.mkdir()
    path = folder / "a.zip"
    texts = {f"{i}.txt": f"第{i}号方案\n到202{i}年下降10%。".encode() for i in range(1, 5)}
    path.write_bytes(packed(texts))
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as kb:
        assert kb.ingest([folder]).counts == {"added": 4}
        assert kb.ingest([folder]).counts == {"unchanged": 4}
        sync = kb.sync(folder)
        path.write_bytes(packed({name: texts[name] for name in ("1.txt", "2.txt", "3.txt")}))
        plan = sync.plan()
        assert plan.counts == {"withdrawn": 1}
        assert plan.changes[0].source == f"{path}!/4.txt"
        sync.run(plan)
        path.write_bytes(b"PK\x03\x04")
        assert sync.plan().counts == {}
        path.unlink()
        assert sync.plan().counts == {"withdrawn": 3}
        assert kb.verify() == []


def test_archive_of_member_when_a_path_is_no_member():
    """Only what stands behind the ending of an archive is one."""
    assert archive_of_member("a!/b.txt") == (Path("a!/b.txt"), "")
    assert archive_of_member("s3:/bucket/A.ZIP!/x/y.txt") == (Path("s3:/bucket/A.ZIP"), "x/y.txt")


def test_an_archive_in_an_object_store_is_copied_and_unpacked(tmp_path, monkeypatch):
    """Its members have the URL of the archive, and are found again."""
    fsspec = pytest.importorskip("fsspec")
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "cache"))
    files = fsspec.filesystem("memory")
    files.pipe("/archives/a.zip", packed({"x/方案.txt": "节能方案\n第一条 略。".encode()}))
    try:
        with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as kb:
            report = kb.ingest(["memory://archives"])
            assert [o.source for o in report.outcomes] == ["memory://archives/a.zip!/x/方案.txt"]
            assert kb.ingest(["memory://archives/a.zip"]).counts == {"unchanged": 1}
    finally:
        files.rm("/archives", recursive=True)
