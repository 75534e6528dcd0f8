"""Readers of plugins: what they give is checked, what they raise is an error of the file."""

import sys
from pathlib import Path

import pytest

from kgrag.errors import IngestionError, PluginError
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.load import Failure, Source, discover, load, load_all
from kgrag.ingestion.load.formats import MEDIA_TYPES, media_type_of, plugin_reader, suffixes
from tests.fixtures.packages import put_package


@pytest.fixture
def read_by(tmp_path, monkeypatch):
    """Return a function that installs a loader for `.org` and gives a file that it reads."""

    def install(code, text="甲"):
        source = f"from kgrag.extending import *\ndef read(data, *, name, stem):\n    {code}\n"
        loaders = {"kgrag.loaders": {"org": "plug_org:read"}}
        put_package(tmp_path / "site", "kgrag-org", {"plug_org.py": source}, loaders)
        monkeypatch.syspath_prepend(tmp_path / "site")
        (tmp_path / "a.org").write_text(text, "utf-8")
        return Source(tmp_path / "a.org")

    yield install
    sys.modules.pop("plug_org", None)


def test_a_file_is_read_by_the_loader_of_its_suffix(read_by):
    source = read_by("return Parsed(decode(data, name=name).text + '\\0', '')")
    document = load(source)
    assert (document.text, document.title, document.media_type) == ("甲\ufffd", "a", "org")
    assert len(document.warnings) == 1
    assert "a.org" in [s.path.name for s in discover([source.path.parent]).sources]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise IngestionError('is locked; unlock it')", "is locked; unlock it"),
        ("raise IngestionError(f'{name}: is locked')", "is locked"),
        (
            "raise KeyError('x')",
            r"the plugin 'org' of kgrag-org 1\.0 .*could not read it: KeyError",
        ),
        ("return Parsed(data, stem)", "gave a text, title, warning or property that is no str"),
        ("return Parsed('甲', stem, properties={'n': 5})", "property that is no str"),
        ("return Parsed('甲', '', (Segment(0, 2, 'page', 1),))", "a segment out of order"),
        ("return Parsed('甲', '', (Segment(0, 1, 'line', 1),) * 2)", "a segment out of order"),
        ("return Parsed(' ', stem)", "has no text; check that it opens"),
    ],
)
def test_what_goes_wrong_with_a_file_is_a_failure_of_that_file(read_by, code, told):
    source = read_by(code)
    (failure,) = load_all(source)
    assert isinstance(failure, Failure)
    assert failure.file == source.name
    with pytest.raises(IngestionError, match=rf"a\.org: .*{told}"):
        load(source)
    assert source.name not in failure.reason


def test_what_is_no_parsed_text_is_an_error_of_the_plugin(read_by):
    with pytest.raises(PluginError, match="gave str where Parsed is wanted"):
        load(read_by("return '甲'"))


def test_a_fingerprint_tells_versions_of_a_loader_apart(read_by):
    read_by("return Parsed('甲', '')")
    plain = Fingerprint.of("ab", "txt", settings="s")
    assert Fingerprint.of("ab", "pdf", settings="s") == plain
    assert Fingerprint.of("ab", "org", settings="s") != plain


def test_own_formats_need_no_plugin(read_by):
    assert ".org" not in suffixes()
    assert media_type_of(".org") is None
    read_by("return Parsed('甲', '')")
    assert suffixes() == sorted([*MEDIA_TYPES, ".org"])
    assert (media_type_of(".org"), media_type_of(".htm"), media_type_of("")) == (
        "org",
        "html",
        None,
    )
    assert plugin_reader("pdf") is None
    assert Source(Path("A.ORG")).media_type == "org"
