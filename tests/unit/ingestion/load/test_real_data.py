"""The loaders on real policy documents, where these are beside the repository."""

import json
import re
from pathlib import Path

import pytest

from kgrag.ingestion.load import Source, discover, load_all
from kgrag.ingestion.load.context import ocr_is
from kgrag.ingestion.load.legible import illegible
from kgrag.text.words import normalize_name
from kgrag.types import Document
from tests.fixtures import extent

DATA = Path(__file__).parents[5] / "shared" / "data" / "policy"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data/policy")


def bare(text: str) -> str:
    """Return a text without blanks."""
    return re.sub(r"\s+", "", text)


FOLDERS = ("text", "docx", "pdf", "html", "laws_md")


@pytest.fixture(scope="module")
def found():
    """Return (source, documents and failures) of some files of each folder."""
    with ocr_is("off"):
        return {
            folder: [(source, list(load_all(source))) for source in sources_of(DATA / folder)]
            for folder in FOLDERS
        }


def sources_of(folder: Path) -> list[Source]:
    """Return some files of a folder, all in a full run."""
    found = discover([folder])
    assert not found.skipped
    assert not found.failures
    assert len(found.sources) == len(list(folder.iterdir()))
    return list(extent.among(found.sources, 12))


@pytest.mark.parametrize("folder", FOLDERS)
def test_load_all_on_a_folder(found, folder):
    """Every file gives one document with a title, and segments in order inside its text."""
    assert all(len(items) == 1 for _, items in found[folder])
    for _, (item,) in found[folder]:
        assert isinstance(item, Document), item
        assert item.title
        ends = [0, *(s.end for s in item.segments)]
        assert all(e <= s.start < s.end for e, s in zip(ends, item.segments, strict=False))
        assert ends[-1] <= len(item.text)


def test_load_when_the_format_is_text(found):
    """Offsets point into the user's file: the text is the file."""
    for source, (item,) in found["text"]:
        assert item.text.encode() == source.path.read_bytes()


def test_guess_title_agrees_with_the_manifest(found):
    """At least 3 of 4 titles agree in full, 9 of 10 from 关于 on (issuers are often edited)."""
    rows = [json.loads(x) for x in (DATA / "manifest.jsonl").read_text("utf-8").splitlines()]
    titles = {row["file"]: normalize_name(row["title"]) for row in rows}
    whole = part = 0
    for source, (item,) in found["text"]:
        wanted = titles[f"text/{source.path.name}"]
        got = normalize_name(item.title)
        agrees = wanted in got or got in wanted
        whole += agrees
        part += agrees or wanted.split("关于", 1)[-1].removesuffix("的实施方案") in got

    assert whole / len(found["text"]) >= 0.75
    assert part / len(found["text"]) >= 0.9


def test_load_when_the_format_is_pdf(found):
    """Of the characters of a PDF nearly all stand in the published text, in lines of it."""
    shares = []
    for source, (item,) in found["pdf"]:
        reference = (DATA / "text" / f"{source.path.stem}.txt").read_text("utf-8")
        lines = {bare(line) for line in reference.splitlines()}
        ours = [bare(line) for line in item.text.splitlines()]
        same = sum(len(line) for line in ours if line in lines)
        shares.append(same / sum(len(line) for line in ours))

    assert sum(shares) / len(shares) >= 0.9


def test_no_real_document_is_called_illegible(found):
    """228 pages of PDF, Word files and pages; of the texts only those without decimal points."""
    named = {
        source.path.stem: [warning.template.split()[0] for warning in warnings]
        for folder in ("pdf", "docx", "html", "text")
        for source, (item,) in found[folder]
        if (warnings := illegible(item.text, item.segments))
    }
    without_points = {"dc108", "dc320", "dc443", "dc493", "dc542", "dc552"}
    assert named == {
        source.path.stem: ["numbers"]
        for source, _ in found["text"]
        if source.path.stem in without_points
    }


def test_load_when_the_format_is_html(found):
    """No page of the sample keeps its menu or footer."""
    for source, (item,) in found["html"]:
        assert not re.search(r"版权所有|网站标识码|用户登录|当前位置|分享到", item.text), (
            source.name
        )
