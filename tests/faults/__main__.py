"""All faults, one line of counts each: `python -m tests.faults [--small] [NAME ...]`."""

import argparse
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from tests.faults import NAMES
from tests.faults.tally import Tally


def run(name: str, *, small: bool, seed: int) -> Tally:
    """Return the counts of one module, in its small or its full form."""
    module = import_module(f"tests.faults.{name}")
    with tempfile.TemporaryDirectory() as folder:
        tally: Tally = module.run(module.SMALL if small else module.FULL, seed, Path(folder))
    return tally


def main() -> None:
    """Run modules one after the other; exit code 1 if one of them found anything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--small", action="store_true", help="only some faults of each kind")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    clean = True
    for name in chosen.names or NAMES:
        tally = run(name, small=chosen.small, seed=chosen.seed)
        tally.tell()
        clean = clean and tally.is_clean
    sys.exit(not clean)


if __name__ == "__main__":
    main()
