"""What is installed is `kgrag` alone; folders of the user's own names do not get in its way."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["ingestion", "cypher"])
def test_a_folder_at_the_top_is_a_part_of_kgrag(name):
    link = ROOT / "kgrag" / name
    assert link.is_symlink(), "git config core.symlinks true, and check out again"
    assert link.resolve() == ROOT / name


def test_one_package_is_installed():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["kgrag"]


def test_own_folders_of_these_names_are_left_alone(tmp_path):
    """Beside a script, they come first on the path."""
    for name in ("ingestion", "cypher"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('not ours')", "utf-8")
    modules = "kgrag.api, kgrag.cli.main, kgrag.ingestion.load.load, kgrag.store.neo4j.statements"
    script = tmp_path / "script.py"
    script.write_text(f"import {modules}\nprint(kgrag.__name__)", "utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("kgrag\n", "")
