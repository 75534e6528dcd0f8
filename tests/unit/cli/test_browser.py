"""`kgrag browser`: the pack that it writes, the address that it prints."""

import re
from zipfile import ZipFile

import pytest

from kgrag.cli.browser import page_address, saved_queries, style_sheet
from kgrag.errors import StoreUnavailableError
from tests.fixtures.kit import kgrag


@pytest.fixture(autouse=True)
def no_password(monkeypatch):
    """Nobody has to log in."""
    monkeypatch.delenv("NEO4J_PASSWORD", raising=False)


def run(*args):
    return kgrag("browser", *args)


def test_pack_is_a_style_sheet_and_an_archive_of_every_query(tmp_path):
    """The Browser takes one file at a time, so the queries come as one."""
    assert run("--out", tmp_path / "pack").exit_code == 0
    assert (tmp_path / "pack" / "kgrag.grass").read_text("utf-8") == style_sheet()
    with ZipFile(tmp_path / "pack" / "kgrag-queries.zip") as archive:
        held = {name: archive.read(name).decode() for name in archive.namelist()}
    assert held == {f"kgrag/{query.file}": query.text for query in saved_queries()}


def test_every_query_is_listed_with_both_titles(tmp_path):
    """So that one finds a query by its Chinese or its English name."""
    printed = run("--out", tmp_path).stdout
    assert "http://localhost:7474/browser/" in printed
    assert str(tmp_path / "kgrag.grass") in printed
    for query in saved_queries():
        assert f"{query.title}  {query.english}" in printed


@pytest.mark.parametrize(
    ("kb", "address"),
    [
        ("bolt://graph", "http://graph:7474/browser/?dbms=bolt://graph"),
        ("neo4j+s://graph:7687", "https://graph:7473/browser/?dbms=neo4j%2Bs://graph:7687"),
        ("bolt://graph:7/laws", "http://graph:7474/browser/?dbms=bolt://graph:7&db=laws"),
    ],
)
def test_address_names_server_and_database(kb, address, monkeypatch):
    """The usual database goes without saying."""
    assert page_address(kb) == address + "&preselectAuthMethod=NO_AUTH"
    monkeypatch.setenv("NEO4J_PASSWORD", "secret")
    assert page_address(kb) == address


def test_a_named_knowledge_base_has_queries_of_its_own(tmp_path):
    """Labels, indexes and the folder's name in the Browser are those of that one."""
    done = run("--kb", "bolt://graph#energy", "--out", tmp_path)
    assert "?dbms=bolt://graph&" in done.stdout
    with ZipFile(tmp_path / "kgrag-queries.zip") as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert all(name.startswith("kgrag-energy/") for name in texts)
    ours = re.findall(r"\bKgrag\w+|\bkgrag_\w+", "".join(texts.values()))
    assert len(ours) > 50
    assert all(word.endswith("_energy") for word in ours)
    sheet = (tmp_path / "kgrag.grass").read_text("utf-8")
    for label in ("Document", "Chunk", "Summary", "Entity"):
        names = (label, f"Kgrag{label}", f"Kgrag{label}_energy")
        looks = [sheet.split(f"node.{name} {{")[1].split("\n}")[0] for name in names]
        assert len(set(looks)) == 1
    assert sheet.index("node.KgragChunk_energy {") < sheet.index("node.ParentChunk {")


@pytest.mark.parametrize("kb", ["kb", "http://graph:7474", "bolt://neo4j:secret@graph"])
def test_folder_and_password_are_refused(kb, tmp_path):
    """Neo4j Browser shows servers; a password does not belong into an address."""
    with pytest.raises(StoreUnavailableError):
        page_address(kb)
    done = run("--kb", kb, "--out", tmp_path / "pack")
    assert done.exit_code == 1
    assert "secret" not in done.output
    assert not (tmp_path / "pack").exists()
