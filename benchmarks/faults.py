"""What a user sees of a model that misbehaves: the real command line, one row for each way.

A local server speaks the protocol and fails as told; three of the sample documents are taken in
(with instructions in one of them where that is the matter), and a question is asked of a knowledge
base that was made without trouble. Then the server behaves, and --retry-failed shows what is left
to be done. The same modes are tests: tests/integration/test_model_hostile.py.

usage: python benchmarks/faults.py [MODE...]        words of the names of modes; all by default
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from kgrag.testing.reply import stand_in
from tests.hostile.modes import MODES, OK, Mode
from tests.hostile.scene import Said, in_a_process, question_of, scene

_HEALTHY = Mode("healthy", lambda: stand_in, OK, OK, "whole")
_SAYS_NOTHING_OF_IT = re.compile(r"no encoder model|^\d+ files in|\bprice is known|^\s*$")
_LONGEST = 400  # characters of a cell


def main() -> None:
    """Print the table."""
    words = sys.argv[1:]
    chosen = [m for m in MODES if not words or any(word in m.name for word in words)]
    with tempfile.TemporaryDirectory() as folder:
        healthy = {hostile: _healthy(Path(folder), hostile) for hostile in (False, True)}
        print("mode | `kgrag ingest` | `kgrag ask` | then, with --retry-failed\n---|---|---|---")
        for number, mode in enumerate(chosen):
            kb, undisturbed = healthy[mode.hostile]
            taken, after = _taken_in(Path(folder, f"{number}-ingest"), mode, undisturbed)
            asked = _asked(Path(folder, f"{number}-ask"), mode, kb)
            print(" | ".join((mode.name, taken, asked, after)), flush=True)


def _healthy(folder: Path, hostile: bool) -> tuple[Path, str]:
    """Return a knowledge base that was made without trouble, and its export."""
    mode = replace(_HEALTHY, hostile=hostile)
    with scene(folder / f"healthy-{hostile}", mode, in_a_process) as undisturbed:
        undisturbed.kgrag("ingest", undisturbed.documents)
        return undisturbed.kb, undisturbed.kgrag("export").stdout


def _taken_in(folder: Path, mode: Mode, undisturbed: str) -> tuple[str, str]:
    """Return what taking in says, and what is left to be done after."""
    with scene(folder, mode, in_a_process) as faulty:
        said = faulty.kgrag("ingest", faulty.documents)
        requests = len(faulty.server.requests)
        sound = "" if faulty.kgrag("verify").code == 0 else "NOT SOUND; "
        faulty.heal()
        retried = faulty.kgrag("ingest", "--retry-failed")
        same = faulty.kgrag("export").stdout == undisturbed
        left = re.findall(r"\d+ retried|nothing to do", retried.stdout)
        graph = "the graph of an undisturbed run" if same else "another graph"
        leaks = f"; KEY IN {faulty.leaks()}" if faulty.leaks() else ""
        after = f"exit {retried.code}, {', '.join(left)}: {sound}{graph}{leaks}"
        return _cell(said, requests, said.stderr.splitlines() + said.stdout.splitlines()), after


def _asked(folder: Path, mode: Mode, kb: Path) -> str:
    """Return what asking says."""
    with scene(folder, mode, in_a_process) as faulty:
        shutil.copytree(kb, faulty.kb)
        said = faulty.kgrag("ask", question_of(mode), *mode.options)
        verdict = [line for line in said.stdout.splitlines() if "verified (" in line]
        answer = said.stdout.splitlines()[:1]
        leaks = [f"KEY IN {faulty.leaks()}"] if faulty.leaks() else []
        lines = [*said.stderr.splitlines(), *answer, *verdict, *leaks]
        return _cell(said, len(faulty.server.requests), lines)


def _cell(said: Said, requests: int, lines: Sequence[str]) -> str:
    """Return exit code, seconds, requests and what was said as a cell of a table."""
    head = f"exit {said.code}, {said.seconds:.1f} s, {requests} requests"
    return "<br>".join([head, *_shortened(lines)])


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines that say something, without places on this machine, each kind once."""
    seen: set[str] = set()
    for line in lines:
        shown = re.sub(r"/\S*/docs/", "", line)
        shown = re.sub(r"http://127\.0\.0\.1:\d+/v1", "ADDRESS", shown).replace("|", "\\|")
        kind = re.sub(r"^in part: .*?characters \d+ to \d+: |it begins: .*", "", shown)
        if kind not in seen and not _SAYS_NOTHING_OF_IT.search(line):
            seen.add(kind)
            yield f"`{shown[:_LONGEST]}`"


if __name__ == "__main__":
    main()
