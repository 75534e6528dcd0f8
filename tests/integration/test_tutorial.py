"""The tutorial notebook runs from beginning to end, and shows what it says."""

import ast
import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "tutorial.ipynb"


def test_the_notebook_runs_and_shows_what_it_says():
    """As a kernel does: a cell's last expression is shown."""
    pytest.importorskip("pandas", reason="pandas is not installed")
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    names: dict[str, object] = {}
    shown = [run("".join(c["source"]), names) for c in cells if c["cell_type"] == "code"]
    answer, quote, absent = shown[1], shown[2], shown[4]
    assert "38%" in answer._repr_html_()
    assert "38%" in quote
    assert absent.startswith("引文中没有2035年的")
    frame, duties = shown[8], shown[9]
    assert {300, 60} <= set(frame["value"])
    assert frame["reference"].str.startswith("《").all()
    assert len(duties) > 0
    assert shown[11] > 10_000


def test_it_keeps_no_results():
    """They would grow stale, and hold paths of who ran it."""
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    assert not [c for c in cells if c.get("outputs") or c.get("execution_count")]


def run(source, names):
    """Run a cell; return what it shows."""
    tree = ast.parse(source)
    *before, last = tree.body
    exec(compile(ast.Module(before, []), "cell", "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    exec(compile(ast.Module([last], []), "cell", "exec"), names)
    return None
