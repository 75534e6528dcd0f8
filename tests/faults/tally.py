"""What a run of faults counted, and the one line that tells it."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.commands import Done

KINDS = ("lost", "unnoticed", "tracebacks", "hangs")
_SHOWN = 8  # findings of a kind that are told in full


@dataclass(slots=True)
class Tally:
    """Counts of one module.

    Attributes:
        name: Of the module.
        runs: Faults that were made.
        found: By kind (`KINDS`), what was wrong, in words.
        skipped: What could not be tried here, and why.
    """

    name: str
    runs: int = 0
    found: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    skipped: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found."""
        return not any(self.found.values())

    def add(self, kind: str, what: str) -> None:
        """Count a finding of a kind; the first ones are printed in full, at once."""
        self.found[kind].append(what)
        if len(self.found[kind]) <= _SHOWN:
            print(f"{self.name}: {kind}: {what}", file=sys.stderr, flush=True)

    def expect(self, kind: str, what: str, *, holds: bool) -> None:
        """Count a finding of a kind unless something holds."""
        if not holds:
            self.add(kind, what)

    def look_at(self, done: Done, what: str) -> None:
        """Count a command that did not end, or that ended in a traceback."""
        if done.hung:
            self.add("hangs", what)
        if "Traceback (most recent call last)" in done.out + done.err:
            last = (done.err.strip().splitlines() or [""])[-1]
            self.add("tracebacks", f"{what}: {last}")

    def say(self, what: str) -> None:
        """Print how far a long run has come, with the counts so far."""
        print(f"{self}; {what} is done", file=sys.stderr, flush=True)

    def __str__(self) -> str:
        """Return the line of counts."""
        counts = ", ".join(f"{kind} {len(self.found[kind])}" for kind in KINDS)
        return f"{self.name}: {self.runs} runs, {counts}"

    def tell(self) -> None:
        """Print the counts, after what was left out."""
        for why in self.skipped:
            print(f"{self.name}: skipped: {why}", file=sys.stderr)
        print(self, flush=True)


Faults = Callable[[int, int, Path], Tally]


def main(run: Faults, *, full: int, others: Mapping[str, Faults] | None = None) -> None:
    """Run a module by itself: `--n` faults from a `--seed`; exit code 1 if anything was found.

    Args:
        run: Makes n faults from a seed in an empty folder.
        full: How many it makes where nothing is said.
        others: What makes other faults, by the option that asks for it.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=full, help="faults to make")
    parser.add_argument("--seed", type=int, default=1)
    parser.set_defaults(run=run)
    for option, other in (others or {}).items():
        parser.add_argument(option, dest="run", action="store_const", const=other)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tally = chosen.run(chosen.n, chosen.seed, Path(folder))
    tally.tell()
    sys.exit(not tally.is_clean)
