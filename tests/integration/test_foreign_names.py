"""Files whose names are in GBK, as archives of Windows leave them: from taking in to deleting."""

import json
import os

import pytest

from kgrag import KnowledgeBase
from kgrag.ingestion.load import discover
from kgrag.ingestion.renew import reread
from tests.fixtures.kit import kgrag

pytestmark = pytest.mark.skipif(os.name == "nt", reason="names are text there")
NAME = "关于绿色工厂的通知"
TEXT = "一、目标\n到2025年绿色工厂达到500家。\n"
PAGE = f"<html><body><p>{TEXT}</p></body></html>"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder in GBK with two files in GBK, and a table that names one of them."""
    (tmp_path / "kgrag.toml").write_text('[embedding]\nmodel = "hash"\n', "utf-8")
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / os.fsdecode("政策".encode("gbk"))
    folder.mkdir()
    for suffix, content in ((".txt", TEXT), (".html", PAGE)):
        (folder / os.fsdecode((NAME + suffix).encode("gbk"))).write_text(content, "utf-8")
    (folder / "metadata.csv").write_text(f"file,title\n{NAME}.txt,绿色工厂通知\n", "utf-8")
    return folder


def run(*words, code=0):
    return kgrag(*words, code=code).stdout


def test_a_batch_with_names_in_gbk_is_taken_in_and_named_in_chinese(folder, tmp_path):
    """By report, list, table of metadata and deletion; a second run finds nothing new."""
    assert "2 added" in run("ingest", "--dry-run", folder)
    report = json.loads(run("ingest", folder, "--json"))
    shown = [str(tmp_path / "政策" / (NAME + suffix)) for suffix in (".html", ".txt")]
    assert [file["file"] for file in report["files"]] == shown
    assert "2 unchanged" in run("ingest", folder)
    listed = run("documents")
    assert all(f"政策/{NAME}{suffix}" in listed for suffix in (".html", ".txt"))
    assert "绿色工厂通知" in listed
    run("delete", f"{NAME}.html")
    assert f"{NAME}.html" not in run("documents")
    assert "hold" in run("verify")


def test_a_document_is_read_again_from_its_file(folder):
    """What is stored is how its name is shown: the file is found by it."""
    run("ingest", folder)
    with KnowledgeBase.open("kb") as base:
        (state,) = (s for s in base.store.sources() if s.source.endswith(".html"))
        document = reread(state.doc_id, [state.source])
    assert document is not None
    assert "绿色工厂达到500家" in document.text


def test_two_names_that_are_shown_alike_are_not_one_file(folder):
    """The second would replace the first in every run: it is refused by name."""
    (folder / f"{NAME}.txt").write_text("又一份", "utf-8")

    found = discover([folder])

    assert len(found.sources) == 2
    assert "in other bytes" in found.failures[0].reason
