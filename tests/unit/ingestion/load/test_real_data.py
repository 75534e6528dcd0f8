"""The loaders on real policy documents, where these are beside the repository."""

import json
import re
from pathlib import Path

import pytest

from kgrag.ingestion.load import Source, discover, load, load_all
from kgrag.ingestion.load.context import ocr_is
from kgrag.ingestion.load.legible import illegible
from kgrag.text.words import normalize_name
from kgrag.types import Document

DATA = Path(__file__).parents[5] / "shared" / "data" / "policy"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data/policy")


def bare(text: str) -> str:
    """Return a text without blanks."""
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize("folder", ["text", "docx", "pdf", "html", "laws_md"])
def test_load_all_on_a_folder(folder):
    """Every file gives one document with a title, and segments in order inside its text."""
    found = discover([DATA / folder])
    items = [item for source in found.sources for item in load_all(source)]

    assert not found.skipped
    assert not found.failures
    assert len(items) == len(list((DATA / folder).iterdir()))
    for item in items:
        assert isinstance(item, Document), item
        assert item.title
        ends = [0, *(s.end for s in item.segments)]
        assert all(e <= s.start < s.end for e, s in zip(ends, item.segments, strict=False))
        assert ends[-1] <= len(item.text)


def test_load_when_the_format_is_text():
    """Offsets point into the user's file: the text is the file."""
    for source in discover([DATA / "text"]).sources[::20]:
        assert load(source).text.encode() == source.path.read_bytes()


def test_guess_title_agrees_with_the_manifest():
    """At least 3 of 4 titles agree in full, 9 of 10 from 关于 on (issuers are often edited)."""
    rows = [json.loads(x) for x in (DATA / "manifest.jsonl").read_text("utf-8").splitlines()]
    rows = [row for row in rows if row["file"].startswith("text/")]
    whole = part = 0
    for row in rows:
        wanted = normalize_name(row["title"])
        got = normalize_name(load(Source(DATA / row["file"])).title)
        agrees = wanted in got or got in wanted
        whole += agrees
        part += agrees or wanted.split("关于", 1)[-1].removesuffix("的实施方案") in got

    assert whole / len(rows) >= 0.75
    assert part / len(rows) >= 0.9


def test_load_when_the_format_is_pdf():
    """Of the characters of a PDF nearly all stand in the published text, in lines of it."""
    shares = []
    for source in discover([DATA / "pdf"]).sources:
        reference = (DATA / "text" / f"{source.path.stem}.txt").read_text("utf-8")
        lines = {bare(line) for line in reference.splitlines()}
        ours = [bare(line) for line in load(source).text.splitlines()]
        same = sum(len(line) for line in ours if line in lines)
        shares.append(same / sum(len(line) for line in ours))

    assert sum(shares) / len(shares) >= 0.9


def test_no_real_document_is_called_illegible():
    """228 pages of PDF, Word files and pages; of the texts only those without decimal points."""
    named = {}
    with ocr_is("off"):
        for folder in ("pdf", "docx", "html", "text"):
            for source in discover([DATA / folder]).sources:
                document = load(source)
                if found := illegible(document.text, document.segments):
                    named[source.path.stem] = [warning.template.split()[0] for warning in found]

    assert named == {
        stem: ["numbers"] for stem in ("dc108", "dc320", "dc443", "dc493", "dc542", "dc552")
    }


def test_load_when_the_format_is_html():
    """No page of the sample keeps its menu or footer."""
    for source in discover([DATA / "html"]).sources:
        text = load(source).text
        assert not re.search(r"版权所有|网站标识码|用户登录|当前位置|分享到", text), source.name
