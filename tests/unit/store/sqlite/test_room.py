import math
import subprocess
import sys

import pytest

from kgrag.store.sqlite import lexical
from kgrag.store.sqlite.lexical import check_room, spare_bytes

resource = pytest.importorskip("resource", reason="Windows knows no such limits")
pytestmark = pytest.mark.skipif(not lexical._TAKEN.exists(), reason="needs /proc")

# Builds three indexes in a process that may take so many bytes more than it has.
BUILD = """
import resource, sys
from pathlib import Path
import tantivy
from kgrag.store.sqlite.lexical import _TAKEN
from kgrag.store.sqlite.store import SQLiteStore

taken = int(_TAKEN.read_text().split()[0]) * resource.getpagesize()
store = SQLiteStore.open(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_AS, (taken + int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    store.refresh(sizes=[8, 4, 2])
except MemoryError as exc:
    print(exc)
"""


def limited(monkeypatch, limit):
    """Let the process have a limit, in bytes, that nothing enforces."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, resource.RLIM_INFINITY))


def test_without_a_limit_there_is_room_for_all(monkeypatch):
    """Nothing is looked up then."""
    limited(monkeypatch, resource.RLIM_INFINITY)
    assert spare_bytes() == math.inf
    check_room(10**15)


def test_a_limit_leaves_what_is_not_taken(monkeypatch, tmp_path):
    """Of 1,000 pages 400 are taken."""
    page = resource.getpagesize()
    monkeypatch.setattr(lexical, "_TAKEN", tmp_path / "statm")
    lexical._TAKEN.write_text("400 30 20 10 0 10 0\n", "ascii")
    limited(monkeypatch, 1000 * page)
    assert spare_bytes() == 600 * page
    check_room(600 * page)
    with pytest.raises(MemoryError, match=r"needs 3 MB, 2 are left of what ulimit -v allows"):
        check_room(800 * page)


@pytest.mark.parametrize(("n_bytes", "said"), [(400_000_000, ""), (60_000_000, "needs 109 MB")])
def test_indexes_are_built_in_little_room_or_refused(folder, put, store, n_bytes, said):
    """Tantivy would end the process with signal 6."""
    store.close()
    words = [sys.executable, "-c", BUILD, str(folder), str(n_bytes)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert said in done.stdout
    assert bool(done.stdout) == bool(said)
