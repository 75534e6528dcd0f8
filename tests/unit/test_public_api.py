"""The names that `import kgrag` offers."""

import inspect
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import kgrag

ROOT = Path(__file__).parents[2]
CLASSES = [name for name in kgrag.__all__ if name != "__version__"]


def test_all_is_sorted_and_names_each_once():
    """One place to look, easy to compare."""
    assert list(kgrag.__all__) == sorted(set(kgrag.__all__))


@pytest.mark.parametrize("name", CLASSES)
def test_public_name_can_be_imported_and_is_documented(name):
    """Every public name has a docstring of its own, not one that a dataclass makes up."""
    value = getattr(kgrag, name)
    assert value.__name__ == name
    assert inspect.getdoc(value)
    assert not value.__doc__.startswith(f"{name}(")


def public(owner):
    """Return the functions, methods and properties that a public class offers of its own."""
    return {
        name: member
        for name, member in vars(owner).items()
        if not name.startswith("_")
        and (callable(member) or isinstance(member, property | classmethod | staticmethod))
    }


@pytest.mark.parametrize("name", CLASSES)
def test_methods_of_public_classes_are_documented(name):
    """What a user can call says what it does."""
    owner = getattr(kgrag, name)
    bare = [f"{name}.{key}" for key, member in public(owner).items() if not inspect.getdoc(member)]
    assert not bare


def test_version_is_that_of_the_package():
    """One source: what `pip` and `kgrag --version` say."""
    assert kgrag.__version__ == metadata.version("kgrag")


def test_unknown_name_is_an_attribute_error():
    """`hasattr` and `from kgrag import x` behave as with any module."""
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        kgrag.nothing  # noqa: B018 - the access is the test


def test_import_loads_nothing_else():
    """`import kgrag` reads one file; the rest comes with the first use of a name."""
    code = (
        "import sys; before = set(sys.modules); import kgrag; "
        "new = set(sys.modules) - before; "
        "print(*sorted(m for m in new if m.startswith(('kgrag', 'importlib.metadata'))), "
        "'numpy' in new); "
        "kgrag.Answer; print('kgrag.types' in sys.modules, 'kgrag.api' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines() == ["kgrag False", "True False"]
