"""Change core modules one place at a time and see whether their own tests notice.

Each mutant is one change of the syntax: a comparison, an operator, a constant, a condition or a
statement. It is written into a copy of the tree, where only the tests named for its module run,
with the module's own examples. `mutants.toml` beside this file names the modules, their tests, and
the mutants that change nothing, each with the reason.

    python scripts/mutate.py [--n 20] [--seed 1] [PART OF A MODULE'S PATH ...]
"""

import argparse
import ast
import difflib
import multiprocessing
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

import hypothesis  # noqa: F401  # what every run needs is read once, before it forks
import numpy  # noqa: F401
import pytest

ROOT = Path(__file__).parents[1]
FORK = multiprocessing.get_context("fork")
LEAST_KILLED = 0.95
MOST_MEMORY = 8 << 30
OPTIONS = ("-p", "no:cacheprovider", "--doctest-modules",
           "-W", "ignore::pytest.PytestAssertRewriteWarning")  # fmt: skip  # of hypothesis

SWAPPED: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Mult,),
    ast.Raise: (ast.Pass,),
}
for one, other in (
    (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.And, ast.Or),
    (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitAnd, ast.BitOr), (ast.Break, ast.Continue),
):  # fmt: skip
    SWAPPED |= {one: (other,), other: (one,)}
NAMES = {"min": "max", "any": "all", "startswith": "endswith", "find": "rfind"}
NAMES |= {other: name for name, other in NAMES.items()}
TYPES = ("annotation", "returns", "decorator_list")  # fields that say nothing when it runs


@dataclass(frozen=True)
class Mutant:
    """A module with one change.

    Attributes:
        path: Of the module, from the root.
        line: Where the change is, in the module as it is kept.
        before: The lines that change, without indentation.
        after: What they become.
        text: The whole module, changed.
    """

    path: str
    line: int
    before: str
    after: str
    text: str


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a node may be replaced by."""
    for other in SWAPPED.get(type(node), ()):
        yield other()
    match node:
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Constant):
            yield ast.Return(ast.Constant(None))
        case ast.Name(id=name) if name in NAMES:
            yield ast.Name(NAMES[name])
        case ast.Attribute(attr=name) if name in NAMES:
            yield ast.Attribute(node.value, NAMES[name])
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()


def negated(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the conditions of a node that no operator of their own turns round."""
    for field in ("test", "ifs"):
        value = getattr(node, field, None)
        for test in value if isinstance(value, list) else [value]:
            if isinstance(test, ast.Name | ast.Call | ast.Attribute | ast.NamedExpr):
                yield field, test


def places(node: ast.AST, line: int = 0) -> Iterator[tuple[int, ast.AST, str, int | None]]:
    """Yield (line, parent, field, index) of every node below one that counts when it runs."""
    for field, value in ast.iter_fields(node):
        if field in TYPES:
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST):
                at = getattr(child, "lineno", line)
                yield at, node, field, index
                yield from places(child, at)


def mutants(path: str) -> Iterator[Mutant]:
    """Yield every mutant of a module."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    whole = ast.unparse(tree)
    for line, parent, field, index in list(places(tree)):
        value = getattr(parent, field)
        child = value if index is None else value[index]
        turned = [ast.UnaryOp(ast.Not(), test) for _, test in negated(parent) if test is child]
        for variant in (*variants(child), *turned):
            put(parent, field, index, variant)
            text = ast.unparse(tree)
            put(parent, field, index, child)
            if text != whole:
                yield Mutant(path, line, *changed(whole, text), text)


def put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    """Replace a node below another."""
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def changed(before: str, after: str) -> tuple[str, str]:
    """Return the lines that differ, without indentation: as they were, and as they are."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))
    gone, come = ([line[1:].strip() for line in lines[2:] if line[0] == sign] for sign in "-+")
    return "\n".join(gone), "\n".join(come)


class Copy:
    """A copy of the tree in which mutants of one module are tried."""

    def __init__(self, root: Path, tests: list[str], path: str) -> None:
        self.root = root
        self.path = path
        self.options = ["-qx", *OPTIONS, *tests, path]
        self.limit_s = 300.0

    def passes(self, text: str) -> bool:
        """Return whether the tests pass with this text for the module; never where they hang."""
        module = self.root / self.path
        module.write_text(text, "utf-8")
        Path(cache_from_source(str(module))).unlink(missing_ok=True)  # it knows but size and second
        run = FORK.Process(target=self._run)
        run.start()
        run.join(self.limit_s)
        if run.is_alive():
            run.kill()
            run.join()
        return run.exitcode == 0

    def _run(self) -> None:
        os.chdir(self.root)
        sys.path.insert(0, str(self.root))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))  # for loops that append
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        os._exit(pytest.main(self.options))

    def prepare(self) -> None:
        """Set the time limit, and see that the tests pass here and run on this copy.

        Raises:
            RuntimeError: If they fail as they are, or pass without the module.
        """
        began = time.monotonic()
        if not self.passes((ROOT / self.path).read_text("utf-8")):
            raise RuntimeError(f"{self.path}: its tests fail without any change")
        self.limit_s = 10 + 4 * (time.monotonic() - began)
        if self.passes("raise SystemError\n"):
            raise RuntimeError(f"{self.path}: its tests do not run on the copy, or not at all")


def copy_of_the_tree(folder: Path) -> Path:
    """Return a copy of what version control would take."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True,
    ).stdout.decode()  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() or (ROOT / name).is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def main() -> int:
    """Print what survives; return 1 where more than one in twenty does."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--n", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    known = tomllib.loads((ROOT / "scripts/mutants.toml").read_text("utf-8"))
    same = {(m["path"], m["before"], m["after"]) for m in known["same"]}
    killed = tried = 0
    with tempfile.TemporaryDirectory() as folder:
        root = copy_of_the_tree(Path(folder))
        for path, tests in known["modules"].items():
            if given.parts and not any(part in path for part in given.parts):
                continue
            k, n = try_module(Copy(root, tests, path), same, given)
            killed, tried = killed + k, tried + n
    print(f"killed {killed} of {tried}: {killed / max(tried, 1):.1%}")
    return int(killed < LEAST_KILLED * tried)


def try_module(
    copy: Copy, same: set[tuple[str, str, str]], given: argparse.Namespace
) -> tuple[int, int]:
    """Return how many of a module's mutants were killed, and how many tried."""
    found = list(mutants(copy.path))
    random.Random(f"{given.seed} {copy.path}").shuffle(found)
    found = [m for m in found if (m.path, m.before, m.after) not in same]
    sample = found[: given.n]
    copy.prepare()
    survived = [m for m in sample if copy.passes(m.text)]
    (copy.root / copy.path).write_text((ROOT / copy.path).read_text("utf-8"), "utf-8")
    killed = len(sample) - len(survived)
    print(f"{copy.path}: killed {killed} of {len(sample)} ({len(found)} in all)", flush=True)
    for mutant in sorted(survived, key=lambda m: m.line):
        print(f"  survived {mutant.path}:{mutant.line}")
        print(*(f"    - {line}" for line in mutant.before.splitlines()), sep="\n")
        print(*(f"    + {line}" for line in mutant.after.splitlines()), sep="\n", flush=True)
    return killed, len(sample)


if __name__ == "__main__":
    sys.exit(main())
