"""What pages and docstrings say is there."""

import doctest
import importlib
import pkgutil
import re
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import kgrag
import kgrag.ingestion
import scripts
from kgrag.errors import MissingDependencyError

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docker/*.md")])
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)")
PLACE = re.compile(r"`((?:kgrag|ingestion|cypher|tests|scripts|benchmarks)/[\w./-]*[\w/])`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_places_exist(page):
    text = page.read_text("utf-8")
    missing = [link for link in LINK.findall(text) if not (page.parent / link).exists()]
    missing += [place for place in PLACE.findall(text) if not (ROOT / place).exists()]
    assert not missing


def test_the_readme_can_be_read_in_a_few_minutes():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150


def test_every_page_stands_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    assert [p.name for p in PAGES if p.parent.name == "docs" and f"({p.name})" not in index] == [
        "README.md"
    ]


def test_contributors_are_told_every_switch_and_marker():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    sources = [p.read_text("utf-8") for p in (ROOT / "tests").rglob("*.py")]
    switches = set(
        re.findall(r"environ\.get\(\s*\"(KGRAG_(?:TEST|UPDATE)_\w+)\"", "".join(sources))
    )
    assert len(switches) >= 6
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    markers = [m.split(":")[0] for m in settings["tool"]["pytest"]["ini_options"]["markers"]]
    assert not [name for name in [*sorted(switches), *markers] if f"`{name}" not in text]


def test_the_constants_that_figures_stand_for_are_there():
    """`kgrag.a.b._NAME` names something of a module, `_OTHER` behind it one of the same module."""
    text = (ROOT / "benchmarks" / "decisions.md").read_text("utf-8")
    names = re.findall(r"`(kgrag\.[\w.]+|_[A-Z][A-Z_]+)`", text)
    missing, module = [], ""
    for name in names:
        module, last = name.rpartition(".")[::2] if "." in name else (module, name)
        if module.endswith(".Search"):  # of a class
            module, last = module.removesuffix(".Search"), "Search"
        found = import_module(module)
        is_module = hasattr(found, "__path__") and find_spec(f"{module}.{last}")
        if not hasattr(found, last) and not is_module:
            missing.append(name)
    assert len(names) >= 20
    assert not missing


def test_every_example_in_a_docstring_gives_what_it_says():
    """All modules are walked; a public example that rots fails here."""
    attempted = 0
    for package in (kgrag, scripts):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            try:
                module = importlib.import_module(found.name)
            except MissingDependencyError:  # an integration without its framework
                continue
            results = doctest.testmod(module)
            assert results.failed == 0, found.name
            attempted += results.attempted
    assert attempted > 20
