"""Names of records, files, models and requests never become places outside their folder."""

import csv
import io
import json
import os
import sys
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.add import add_model, copy_safetensors, unpacked
from kgrag.embedding.catalog import is_name, name_from
from kgrag.embedding.model_folder import remove_model
from kgrag.errors import KgragError, ModelError
from kgrag.serve.desk import Desk
from kgrag.store.contents import SourceState
from kgrag.store.folders import FOLDERS, originals
from tests.fixtures.hostile_names import hostile_names
from tests.fixtures.kit import each, kgrag, knowledge_base
from tests.fixtures.served import client

SECRET = "不得外传的内容"
_WATCHED: list[tuple[str, list[str]]] = []  # folders, and what was done in them
_CHANGES = ("open", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink")


def _watch(event, args):
    if not _WATCHED or event not in _CHANGES:
        return
    folder, seen = _WATCHED[-1]
    for name in args[:2]:
        if isinstance(name, str | bytes) and b"\0" not in os.fsencode(name):
            real = os.path.realpath(os.fsdecode(name))
            if real.startswith((folder, "/etc/passwd", "/proc/self/environ")):
                seen.append(f"{event} {real}")


sys.addaudithook(_watch)  # cannot be removed: it looks at nothing outside `untouched`


@contextmanager
def untouched(top, *besides):
    """Assert that nothing outside is opened, and that no file but those below `besides` changes.

    Of the knowledge base it is only seen that it is still there.
    """
    besides = (*besides, top / "site" / "kb")

    def files():
        return {
            path: path.read_bytes()
            for path in top.rglob("*")
            if not any(path.is_relative_to(place) for place in besides) and path.is_file()
        }

    seen: list[str] = []
    before = files()
    _WATCHED.append((str((top / "outside").resolve()), seen))
    try:
        yield
    finally:
        _WATCHED.pop()
    assert seen == []
    assert files() == before
    assert (top / "site" / "kb" / "kgrag.db").is_file()


@dataclass
class Place:
    """A served knowledge base beside files that are none of its business."""

    top: Path
    base: KnowledgeBase
    desk: Desk
    client: Any

    @property
    def names(self):
        """The names, with this folder in them."""
        return hostile_names(self.top)

    @property
    def records(self):
        """The file of a record of each name."""
        return (self.desk.uploads or Path()) / "r.jsonl"

    def add(self, *files):
        """Upload files and return their outcomes."""
        told = self.client.post("/api/ingest", files=[("files", file) for file in files])
        assert told.status_code == 202, told.text
        self.desk.ingesting.wait()
        return self.client.get("/api/ingest").json()["files"]

    def ask(self, method, door, name, **more):
        """Ask for a name; the client takes escapes out twice, a server once."""
        once = quote(name.encode("utf-8", "replace"), safe="").replace(".", "%2E")
        return self.client.request(method, f"{door}{quote(once, safe='')}", **more)


@contextmanager
def place(top):
    """Yield one with three documents of its own: of a file, a record and an upload."""
    (top / "outside").mkdir()
    for name in ("secret.txt", "secret.pdf", "metadata.csv"):
        (top / "outside" / name).write_text(SECRET, "utf-8")
    site = top / "site"
    site.mkdir()
    with knowledge_base(site, {"文件": "文件正文。"}, "hash-32") as base:
        desk = Desk(base, uploads=site / "uploads")
        with client(desk) as asked:
            made = Place(top, base, desk, asked)
            record = json.dumps({"id": "1", "text": "记录正文。"})
            made.add(("own.txt", "自己的正文。".encode()), ("own.jsonl", record.encode()))
            (site / "uploads" / "metadata.csv").write_text("file,title\n", "utf-8")
            yield made


@pytest.fixture
def site(tmp_path):
    with place(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """One that holds a record of each name, which no test changes."""
    with place(tmp_path_factory.mktemp("full")) as made:
        filled(made)
        yield made


def filled(made):
    """Upload a record of each name; return the outcomes."""
    records = [{"id": name, "title": name, "text": "记录的正文。"} for name in made.names]
    text = "".join(json.dumps(record) + "\n" for record in records)
    return made.add(("r.jsonl", text.encode()))


def test_there_are_enough_names():
    names = hostile_names(Path("/top"))
    assert len({*names}) == len(names) >= 100


def test_every_record_is_taken_in_or_told(site):
    """Each by its own id: no two become one path."""
    with untouched(site.top, site.desk.uploads):
        outcomes = filled(site)
    assert len(outcomes) == len(site.names)
    failed = [one for one in outcomes if one["status"] != "added"]
    assert all("must be" in one["detail"] or "already" in one["detail"] for one in failed)
    assert len(failed) < 8
    again = site.base.ingest(site.records).outcomes
    assert {one.status for one in again} == {"unchanged", "failed"}
    assert site.base.verify() == []


def test_what_a_record_is_called_opens_nothing_else(full):
    """The original of a record is its file."""

    def check(name):
        for door in ("/original/", "/documents/", "/static/"):
            told = full.ask("GET", door, name)
            assert told.status_code in (200, 303, 400, 404), told.text
            assert SECRET not in told.text
            if door == "/original/" and told.status_code == 200:
                assert told.content == full.records.read_bytes()

    with untouched(full.top):
        each(check, full.names)


def test_what_an_older_kgrag_took_an_id_for_is_not_served(full):
    """It stored `FILE#ID` as one path, parents taken out."""
    document = full.base.document("1")
    for name in full.names:
        card = replace(document, doc_id=name)
        whole = f"{full.records}#{name}"
        stored = {str(Path(whole)), os.path.normpath(whole)}
        states = [SourceState(source, name, "") for source in stored]
        assert {*originals(card, states, full.base.store.get_meta(FOLDERS))} <= {full.records}


def test_a_request_for_a_name_finds_nothing(site_of_all):
    """With a clear error, whatever is asked for."""

    def check(name):
        name = name.replace("\ud800", "\ufffd")
        told = site_of_all.ask("GET", "/original/", name)
        assert told.status_code in (400, 404), told.text
        assert SECRET not in told.text
        told = site_of_all.client.get("/api/search", params={"question": "正文", "system": name})
        assert told.status_code in (200, 400)
        assert told.status_code == 400 or not name.strip()
        table = {"indicator": name, "form": "csv"}
        told = site_of_all.client.get("/api/targets", params=table)
        if told.status_code == 200:
            header = told.headers["content-disposition"]
            assert header == 'attachment; filename="kgrag-targets.csv"'

    with untouched(site_of_all.top):
        each(check, site_of_all.names)


@pytest.fixture(scope="module")
def site_of_all(tmp_path_factory):
    """One without records of these names."""
    with place(tmp_path_factory.mktemp("all")) as made:
        yield made


def test_deleting_each_record_deletes_no_other_file(site):
    """The records' file goes with the last of them."""
    filled(site)
    ids = [card.doc_id for card in site.base.documents() if card.file.startswith("uploads/r.jsonl")]
    assert len(ids) > 100
    kept = {path.name for path in site.desk.uploads.iterdir()} - {"r.jsonl"}
    with untouched(site.top, site.records):
        for n, doc_id in enumerate(ids):
            assert site.records.is_file()
            told = site.client.post("/api/delete", json={"document": doc_id})
            assert told.json()["rows"][0]["doc_id"] == doc_id, (n, doc_id)
    assert not site.records.exists()
    assert {path.name for path in site.desk.uploads.iterdir()} == kept
    assert len(site.base.documents()) == 3
    assert site.base.verify() == []


def test_uploads_stay_in_their_folder(site):
    """Each is kept by a plain name, or refused."""
    names = [name for name in site.names if "\ud800" not in name and len(name) < 1000]
    names = [name for plain in names for name in (plain, f"{plain}.txt")]
    with untouched(site.top, site.desk.uploads):
        told = site.client.post("/api/ingest", files=[("files", ("x" * 5000, b"x"))])
        assert (told.status_code, "cannot be read" in told.text) == (400, True)
        for at in range(0, len(names), 100):
            site.add(*((name, f"正文{at}".encode()) for name in names[at : at + 100]))
    for path in site.desk.uploads.glob("[!.]*"):
        assert path.parent == site.desk.uploads
        assert path.is_file()
        assert not path.name.startswith((".", "~", "-rf/"))
        assert len(path.name.encode()) < 256
    assert (site.desk.uploads / "own.txt").read_text("utf-8") == "自己的正文。"


@pytest.mark.parametrize("kind", ["metadata.csv", "metadata.jsonl"])
def test_a_table_of_metadata_tells_of_files_of_its_folder_only(site, tmp_path, kind):
    folder = tmp_path / "site" / "folder"
    folder.mkdir()
    (folder / "doc.txt").write_text("文件的正文。", "utf-8")
    rows = [{"file": name, "title": "改了"} for name in site.names if "\ud800" not in name]
    out = io.StringIO()
    if kind.endswith("csv"):
        table = csv.DictWriter(out, ["file", "title"])
        table.writeheader()
        table.writerows(rows)
    else:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    (folder / kind).write_text(out.getvalue(), "utf-8", newline="")
    with untouched(tmp_path):
        outcomes = site.base.ingest([folder]).outcomes
    assert [one.status for one in outcomes if one.doc_id] == ["added"]
    told = [one for one in outcomes if one.status == "failed"]
    assert len(told) == 21  # the others are counted
    assert "further" in told[-1].detail
    assert "改了" not in {card.title for card in site.base.documents()}


def test_a_folder_is_read_without_what_leads_out_of_it(site, tmp_path):
    folder, outside = tmp_path / "site" / "folder", tmp_path / "outside"
    folder.mkdir()
    made = set()
    for name in site.names:
        plain = name.replace("/", "∕")[:60].replace("\0", "").encode("utf-8", "replace").decode()
        if plain.strip(". "):
            file = folder / f"{plain}.txt"
            file.write_text("文件的正文。", "utf-8")
            made.add(file.name)
    (folder / "link.txt").symlink_to(outside / "secret.txt")
    (folder / "links").symlink_to(outside)
    (folder / "up").symlink_to("..")
    with untouched(tmp_path):
        outcomes = site.base.ingest([folder]).outcomes
    assert sum(one.status == "not followed" for one in outcomes) == 3
    skipped = [one for one in outcomes if one.status not in ("added", "duplicate", "not followed")]
    assert {one.detail for one in skipped} == {
        "reads like a record (.jsonl#); rename the file or its folder"
    }
    hidden = {name for name in made if name.startswith((".", "~$"))}
    assert len(outcomes) == len(made - hidden) + 3


def test_a_file_that_became_a_link_is_neither_served_nor_deleted(site, tmp_path):
    (doc_id,) = (card.doc_id for card in site.base.documents() if card.file.endswith("own.txt"))
    file = site.desk.uploads / "own.txt"
    assert site.ask("GET", "/original/", doc_id).text == "自己的正文。"
    file.unlink()
    file.symlink_to(tmp_path / "outside" / "secret.txt")
    with untouched(tmp_path):
        told = site.ask("GET", "/original/", doc_id)
        assert (told.status_code, SECRET in told.text) == (404, False)
        assert site.client.post("/api/delete", json={"document": doc_id}).status_code == 200
    assert file.is_symlink()


def test_an_export_is_one_file(full, tmp_path):
    out, kb = tmp_path / "export.jsonl", full.top / "site" / "kb"
    with untouched(full.top):
        kgrag("export", "--kb", kb, "--out", out, code=0)
    assert list(tmp_path.iterdir()) == [out]


def test_a_model_is_kept_in_a_folder_of_its_name(full, tmp_path, monkeypatch):
    """Or its name, or that of a part of it, is refused."""
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "cache"))
    parts = tmp_path / "parts"
    parts.mkdir()
    index = parts / "model.safetensors.index.json"

    def check(name):
        assert not is_name(name) or Path(name).name == name
        assert is_name(name_from(name))
        index.write_text(json.dumps({"weight_map": {"w": f"{name}.safetensors"}}), "utf-8")
        with pytest.raises(ModelError):
            remove_model(name)
        with pytest.raises((KgragError, ValueError)):
            add_model(full.top / "outside", name=name)
        with pytest.raises(ModelError):
            copy_safetensors(index, tmp_path / "target", ())

    with untouched(full.top):
        each(check, full.names)
    assert not list(tmp_path.glob("cache/models/[!.]*"))


def test_an_archive_of_a_model_is_unpacked_into_its_folder(full, tmp_path):
    archive, target = tmp_path / "model.zip", tmp_path / "in" / "target"
    target.parent.mkdir()
    with zipfile.ZipFile(archive, "w") as out:
        for name in full.names:
            if len(name) < 200 and "\ud800" not in name:
                out.writestr(zipfile.ZipInfo(name or "x"), "x")
    with untouched(full.top), pytest.raises(ModelError), unpacked(archive, target):
        raise ModelError("it is unpacked, and holds no model")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "model.zip"]
    assert list(target.parent.iterdir()) == []
