"""Entry points of other packages, and the names that they may use."""

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kgrag import extending
from kgrag.errors import ConfigError, PluginError
from kgrag.plugins import Group, by_name, find, installed
from tests.fixtures.packages import PAGE, example_files, put_package

ROOT = Path(__file__).parents[2]
ROUTES: Group = "kgrag.routes"


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder on the path that packages are installed into."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    yield folder
    for name in [n for n in sys.modules if n.startswith("plug_")]:
        del sys.modules[name]


def test_a_plugin_is_found_by_name_and_nothing_is_imported(site):
    put_package(site, "kgrag-short", {"plug_a.py": "X = 5"}, {ROUTES: {"short": "plug_a:X"}})
    plugin = find(ROUTES, "short")
    assert plugin is not None
    assert (plugin.package, plugin.version, plugin.value) == ("kgrag-short", "1.0", "plug_a:X")
    assert "plug_a" not in sys.modules
    assert plugin.load() == 5
    assert find(ROUTES, "long") is None
    assert find("kgrag.systems", "short") is None


def test_one_that_is_installed_later_is_seen_when_the_path_has_changed(tmp_path, monkeypatch):
    assert find(ROUTES, "late") is None
    put_package(tmp_path, "late", {"plug_late.py": "X = 1"}, {ROUTES: {"late": "plug_late:X"}})
    monkeypatch.syspath_prepend(tmp_path)
    assert find(ROUTES, "late") is not None


@pytest.mark.parametrize(
    ("source", "value", "told"),
    [
        ("import a_module_that_is_not_there", "plug_b:X", "ModuleNotFoundError"),
        ("1 / 0", "plug_b:X", "ZeroDivisionError: division by zero"),
        ("x = (", "plug_b:X", "SyntaxError"),
        ("Y = 1", "plug_b:X", "AttributeError"),
        ("Y = 1", "plug_c:X", "No module named 'plug_c'"),
    ],
)
def test_one_that_cannot_be_imported_is_an_error_that_names_it(site, source, value, told):
    put_package(site, "kgrag-bad", {"plug_b.py": source}, {ROUTES: {"bad": value}}, version="2.3")
    plugin = find(ROUTES, "bad")
    assert plugin is not None
    with pytest.raises(PluginError) as caught:
        plugin.load()
    said = str(caught.value)
    assert f"the plugin 'bad' of kgrag-bad 2.3 (kgrag.routes: {value}) cannot be" in said
    assert told in said
    assert "pip uninstall kgrag-bad" in said


def test_two_of_one_name_are_an_error_that_names_both(site):
    for package in ("kgrag-one", "kgrag-two"):
        module = f"plug_{package[-3:]}"
        put_package(site, package, {f"{module}.py": "X = 1"}, {ROUTES: {"same": f"{module}:X"}})
    with pytest.raises(PluginError, match=r"kgrag-one 1\.0 .*kgrag-two 1\.0 .*pip uninstall"):
        find(ROUTES, "same")
    assert [plugin.package for plugin in installed(ROUTES)] == ["kgrag-one", "kgrag-two"]


def test_a_name_of_kgrags_own_is_not_replaced_and_the_log_says_so(site, caplog):
    put_package(site, "kgrag-new", {}, {ROUTES: {"own": "plug_n:X", "other": "plug_n:Y"}})
    assert find(ROUTES, "own", taken=("own",)) is None
    assert list(by_name(ROUTES, taken=("own",))) == ["other"]
    (record,) = caplog.records
    assert "'own' of kgrag-new 1.0" in record.getMessage()
    assert "is not used" in record.getMessage()


def test_suffixes_are_named_without_dot_and_in_lower_case(site):
    put_package(site, "kgrag-x", {}, {"kgrag.loaders": {".RST": "plug_r:read"}})
    assert list(by_name("kgrag.loaders")) == ["rst"]


def test_a_guarded_function_names_the_plugin_in_its_errors(site):
    put_package(site, "kgrag-g", {"plug_g.py": "X = 1"}, {ROUTES: {"g": "plug_g:X"}})
    plugin = find(ROUTES, "g")
    assert plugin is not None

    def fails(error):
        raise error

    def fails_softly(text: Any) -> Any:
        return text

    assert plugin.guarded(len, int)("abc") == 3
    with pytest.raises(PluginError, match=r"'g' of kgrag-g.* failed: ValueError: no"):
        plugin.guarded(fails, int)(ValueError("no"))
    with pytest.raises(ConfigError, match=r"^known$"):
        plugin.guarded(fails, int)(ConfigError("known"))
    with pytest.raises(PluginError, match="gave str where int is wanted"):
        plugin.guarded(fails_softly, int)("x")


def test_start_up_looks_for_no_plugins():
    """Neither the command line nor the interface reads the metadata of what is installed."""
    code = (
        "import importlib.metadata as m; m.entry_points = None; import kgrag.cli.main, kgrag.api\n"
        "from kgrag.retrieval.systems import preset; preset('grim')\n"
        "from kgrag.embedding.choose import open_embedder; open_embedder('hash')\n"
        "from kgrag.ingestion.load import Source; from pathlib import Path\n"
        "print(Source(Path('a.pdf')).media_type)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (run.stdout, run.returncode) == ("pdf\n", 0), run.stderr


LISTED = PAGE.read_text("utf-8").partition("## Public names")[2]


def test_every_name_stands_on_the_page_and_no_other():
    named = set(re.findall(r"`(\w+)`", LISTED))
    assert named == set(extending.__all__)
    assert list(extending.__all__) == sorted(set(extending.__all__))


@pytest.mark.parametrize("name", sorted({*extending.__all__} - {"Task", "Vectors"}))
def test_every_name_is_explained(name):
    assert inspect.getdoc(getattr(extending, name))


def test_examples_import_nothing_else_of_kgrag():
    """What the page shows rests on what is promised to stay."""
    used = re.findall(r"from (kgrag[\w.]*) import", "".join(example_files().values()))
    assert set(used) == {"kgrag", "kgrag.extending", "kgrag_example.route"}
