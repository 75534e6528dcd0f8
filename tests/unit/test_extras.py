"""Extras: each that an error names can be installed, and says what it brings."""

import re
import tomllib
from pathlib import Path

import pytest

from kgrag.errors import MissingDependencyError, needs_extra

ROOT = Path(__file__).parents[2]


def test_needs_extra_names_what_is_missing_and_the_remedy():
    with (
        pytest.raises(MissingDependencyError) as caught,
        needs_extra("jina", "the model in kb"),
    ):
        import kgrag_has_no_such_module  # type: ignore[import-not-found] # noqa: F401

    assert str(caught.value) == (
        "the model in kb needs packages that are not installed "
        "(No module named 'kgrag_has_no_such_module'). Remedy: pip install 'kgrag[jina]'"
    )


def test_needs_extra_leaves_other_errors_as_they_are():
    with pytest.raises(ValueError, match="mine"), needs_extra("jina", "the model in kb"):
        raise ValueError("mine")


def test_extras_that_are_named_can_be_installed():
    """An unknown one is passed over by pip, with no more than a warning."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "kgrag").rglob("*.py"))
    pages = "".join(path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md"))
    named = set(re.findall(r'needs_extra\("([^"]+)"', sources))
    named |= set(re.findall(r"kgrag\[([a-z0-9-]+)\]", sources + pages))
    assert {"jina", "llama-index", "neo4j-graphrag"} <= named
    assert named <= set(extras["optional-dependencies"])
