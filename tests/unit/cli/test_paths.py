"""Documents are shown with the path from the folder that was ingested on, wherever one stands."""

import json
from io import BytesIO

import docx
import pytest

from tests.fixtures.kit import kgrag

TEXT = "{}节能条例\n第一条 目标\n到2025年，全省创建绿色工厂{}家。\n"


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """Two files of one name in two folders, in the current folder."""
    monkeypatch.setenv("KGRAG_LANG", "en")
    monkeypatch.chdir(tmp_path)
    for folder, region, n in (("gd", "广东省", 500), ("sc", "四川省", 300)):
        (tmp_path / "policies" / folder).mkdir(parents=True)
        (tmp_path / "policies" / folder / "a.txt").write_text(TEXT.format(region, n), "utf-8")
    return tmp_path


def files():
    told = json.loads(kgrag("documents", "--json", code=0).stdout)
    return sorted(row["file"] for row in told["rows"])


def test_files_of_one_name_are_told_apart(archive):
    """In lists, answers, results, tables, as names of documents, and in a Word file."""
    kgrag("ingest", "policies/", code=0)
    assert files() == ["policies/gd/a.txt", "policies/sc/a.txt"]

    question = "到2025年，广东省创建绿色工厂多少家？"
    assert "policies/gd/a.txt，第" in kgrag("ask", question, code=0).stdout
    assert "policies/gd/a.txt, characters" in kgrag("read", "policies/gd/a.txt", code=0).stdout
    assert "policies/sc/a.txt" in kgrag("search", "四川 绿色工厂", code=0).stdout
    kgrag("targets", "--csv", "targets.csv", code=0)
    assert "policies/gd/a.txt" in (archive / "targets.csv").read_text("utf-8-sig")
    for named in ("gd/a.txt", "policies/gd/a.txt", archive / "policies/gd/a.txt"):
        found = kgrag("search", "绿色工厂", "--document", named, code=0).stdout
        assert "policies/gd/a.txt" in found
        assert "policies/sc/a.txt" not in found
    kgrag("ask", question, "--out", "answer.docx", code=0)
    with (archive / "answer.docx").open("rb") as file:
        notes = docx.Document(BytesIO(file.read())).part.package.iter_parts()
        told = "".join(part.blob.decode("utf-8", "ignore") for part in notes)
    assert "policies/gd/a.txt" in told
    assert str(archive) not in told


def test_another_working_directory_changes_nothing(archive, monkeypatch):
    """Given as `.`, with `..`, singly, or by a folder in it: no duplicates, the same paths."""
    kgrag("ingest", "policies/", "--kb", archive / "kb", code=0)
    monkeypatch.setenv("KGRAG_KB", str(archive / "kb"))
    for folder, path in (
        ("policies", "."),
        ("policies/gd", "../../policies"),
        ("policies", "gd"),
        ("policies/sc", "a.txt"),
    ):
        monkeypatch.chdir(archive / folder)
        assert "unchanged" in kgrag("ingest", path, code=0).stdout
        assert files() == ["policies/gd/a.txt", "policies/sc/a.txt"]

    (archive / "policies/sc/a.txt").write_text(TEXT.format("四川省", 301), "utf-8")
    assert "1 replaced" in kgrag("ingest", "a.txt", code=0).stdout
    assert files() == ["policies/gd/a.txt", "policies/sc/a.txt"]


def test_a_copy_shows_the_same_paths(archive):
    """The note of the folders is copied, too."""
    kgrag("ingest", "policies", code=0)
    kgrag("copy", "--from", "kb", "--to", "copied", code=0)
    copied = kgrag("documents", "--json", "--kb", "copied", code=0).stdout
    assert "policies/gd/a.txt" in copied
    assert copied == kgrag("documents", "--json", code=0).stdout
