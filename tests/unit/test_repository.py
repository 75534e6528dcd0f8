"""What a release must not hold, and what it must."""

import ast
import re
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[2]

# Written so that this file does not hold what it looks for.
MACHINE_PATH = re.compile(r"(?<![\w.$}*-])/(?:work|root|tmp|home|Users|opt)/\w")
REGISTRY = re.compile(
    r"p[y]pi\.(?:org|python)|pythonhoste[d]|registry\.npmj[s]|repo1?\.mave[n]|mirrors?\.[a-z]+\."
    r"|index[-_]ur[l]|trusted-hos[t]|find-link[s]"
)


def files():
    """Return the files that version control would take, by the patterns of .gitignore."""
    lines = (ROOT / ".gitignore").read_text("utf-8").split()
    ignored = [line.strip("/") for line in lines if not line.startswith("#")]
    found: list[Path] = []
    folders = [ROOT]
    while folders:
        for path in sorted(folders.pop().iterdir()):
            names = (path.name, path.relative_to(ROOT).as_posix())
            if path.name == ".git" or any(fnmatchcase(n, p) for n in names for p in ignored):
                continue
            (folders if path.is_dir() else found).append(path)
    return found


def texts():
    """Yield (path from the root, text) of the files that are text."""
    for path in files():
        try:
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
        except UnicodeDecodeError:
            continue


def lines_that_hold(pattern):
    return [
        f"{path}:{number}: {line.strip()[:120]}"
        for path, text in texts()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("cd " + "/work" + "/main", True),
        ("'" + "/tmp" + "/x'", True),
        ("../shared/data", False),
        ("$home/work/x", False),
        ("a" + "/tmp" + "/b", False),
    ],
)
def test_machine_path_pattern_knows_absolute_paths(line, named):
    """A path of one machine starts at its root."""
    assert bool(MACHINE_PATH.search(line)) is named


def test_no_file_names_a_path_of_one_machine():
    """The repository works wherever it lies."""
    assert not lines_that_hold(MACHINE_PATH)


def test_no_file_names_a_package_registry():
    """Where packages come from is the user's own configuration."""
    assert not lines_that_hold(REGISTRY)


def test_constraints_are_plain_pins():
    """Every line is name==version: no hosts, no hashes, no options."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert lines
    assert not [line for line in lines if not re.fullmatch(r"[a-z0-9-]+==[\w.]+", line)]


def test_licence_is_apache_2():
    """The text and the metadata agree."""
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text
    assert 'license = "Apache-2.0"' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_files_are_small():
    """Data and models are fetched, not kept."""
    assert not [path.name for path in files() if path.stat().st_size > 100_000]


def test_every_module_says_what_it_is_for():
    """A docstring opens each module; an empty `__init__.py` says nothing and needs none."""
    bare = []
    for package in ("kgrag", "ingestion", "cypher", "benchmarks"):
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text("utf-8"))
            if tree.body and not ast.get_docstring(tree):
                bare.append(path.relative_to(ROOT).as_posix())
    assert not bare


def test_no_property_is_refused_for_its_time():
    """One profile says so for all properties; a decorator that says more keeps to it."""
    assert settings().deadline is None
    assert settings(max_examples=9).deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check


def test_what_mutants_are_made_of_is_there():
    """What moved is named anew; each change that changes nothing has a reason."""
    known = tomllib.loads((ROOT / "scripts/mutants.toml").read_text("utf-8"))
    assert len(known["modules"]) >= 10
    for module, tests in known["modules"].items():
        assert [path for path in (module, *tests) if not (ROOT / path).is_file()] == []
    for same in known["same"]:
        assert same["reason"]
        assert same["path"] in known["modules"]
        assert same["before"] != same["after"]
