"""A folder for as long as a process lives."""

import signal
import subprocess
import sys
from pathlib import Path

from kgrag.store.background_copy import ProcessFolder

LIVES = """
import sys, time
from pathlib import Path
from kgrag.store.background_copy import ProcessFolder
folder = ProcessFolder(Path(sys.argv[1]))
(folder.path / "held.txt").write_text("held")
print(folder.path, flush=True)
time.sleep(60)
"""


def test_it_is_closed_to_others_and_deleted_with_all_in_it(tmp_path):
    folder = ProcessFolder(tmp_path / "parent")
    (folder.path / "inner").mkdir()
    (folder.path / "inner" / "a.txt").write_text("a")
    assert folder.path.stat().st_mode & 0o077 == 0
    folder.delete()
    assert list((tmp_path / "parent").iterdir()) == []


def test_that_of_a_killed_process_goes_with_the_next_and_that_of_a_living_one_stays(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", LIVES, tmp_path], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    with process, process.stdout:
        held = process.stdout.readline().strip()
        ProcessFolder(tmp_path).delete()
        assert (Path(held) / "held.txt").read_text() == "held"
        process.send_signal(signal.SIGKILL)
        process.wait()
    ProcessFolder(tmp_path).delete()
    assert list(tmp_path.iterdir()) == []
