"""Commands on a disk that fills up: what is stored is whole, and running again goes on.

The disk is a small one in memory, mounted for the purpose, with a file on it that leaves just so
much free. Where mounting is not allowed, the system limits how large a file may become instead.
"""

import random
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.faults.commands import Done
from tests.faults.corpus import exported
from tests.faults.scene import Case, Scene
from tests.faults.tally import Tally, main

# KB that are left: nothing, the pages that SQLite needs to open a file, up to more than enough.
SIZES = (0, 4, 16, 36, 64, 100, 160, 256, 400, 640, 1000, 1600, 2500, 4000, 8000)
_DISK_MB = 64


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk that can be filled.

    Attributes:
        folder: Where it is.
        is_own: Whether it is one by itself; else only files are limited.
    """

    folder: Path
    is_own: bool

    @contextmanager
    def filled(self, free: int) -> Iterator[Callable[[], None] | None]:
        """Leave so many bytes; give what limits a process where the disk is not our own."""
        if not self.is_own:
            yield partial(resource.setrlimit, resource.RLIMIT_FSIZE, (free, resource.RLIM_INFINITY))
            return
        filler = self.folder / "filler"
        with filler.open("wb") as file:
            n_bytes = shutil.disk_usage(self.folder).free - free
            while n_bytes > 0:
                n_bytes -= file.write(b"x" * min(n_bytes, 1 << 20))
        try:
            yield None
        finally:
            filler.unlink()


@contextmanager
def small_disk(folder: Path, tally: Tally) -> Iterator[Disk]:
    """Give a disk of some megabytes; says so where there is none to be had."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_MB}m", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as exc:
        tally.skipped.append(f"a full disk: mounting is not allowed ({exc}); files are limited")
        yield Disk(folder, is_own=False)
        return
    try:
        yield Disk(folder, is_own=True)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, capture_output=True)


class DiskScene(Scene):
    """A scene on a small disk, where an export is written, too."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        super().__init__(folder, disk.folder / "kb")
        self.disk = disk
        self.exported = disk.folder / "export.jsonl"
        self.cases["export"] = Case(("export", "--out", self.exported))
        del self.cases["repair"]

    def clear(self) -> None:
        """Let nothing be on the disk."""
        for path in self.disk.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _try(scene: DiskScene, name: str, size_kb: int, tally: Tally) -> None:
    """Run a command with so much space, look at what is left, and run it again with enough."""
    tally.runs += 1
    what = f"{name} with {size_kb} KB"
    printed, after = scene.undisturbed(name)
    scene.prepare(name)
    with scene.disk.filled(size_kb * 1024) as limit:
        done = scene.place.run(*scene.words(name), before=limit)
    tally.look_at(done, what)
    case = scene.cases[name]
    told = done.code == 0 or (done.code == 1 and "kgrag: " in done.err)
    tally.expect("unnoticed", f"{what}: code {done.code}: {done.err[-300:]}", holds=told)
    if case.only_reads:
        same = done.code == 0 and done.out == printed
        tally.expect("lost", f"{what}: {done.code}: {done.err[-300:]}", holds=same)
    _look_at_rest(scene, name, done, tally, what)
    scene.look(name, tally, what)
    if done.code:
        again = scene.place.run(*scene.words(name))
        tally.look_at(again, f"{what}, again")
        tally.expect("lost", f"{what}, again: {again.err[-300:]}", holds=again.code == 0)
    tally.expect("lost", f"{what}: another export", holds=exported(scene.kb) == after)


def _look_at_rest(scene: DiskScene, name: str, done: Done, tally: Tally, what: str) -> None:
    """Check what a command left, now that there is space."""
    if name == "export" and scene.exported.exists():
        whole = scene.exported.read_bytes().decode("utf-8", "replace").splitlines() == scene.before
        tally.expect("lost", f"{what}: half an export", holds=whole)
    if not Path(scene.kb, "kgrag.db").exists():
        tally.expect("lost", f"{what}: nothing there", holds=done.code != 0)


def run(n: int, seed: int, folder: Path) -> Tally:
    """Try so many pairs of a command and a size, all of them where n is large enough."""
    tally = Tally("full_disk")
    with small_disk(folder / "disk", tally) as disk:
        scene = DiskScene(folder, disk)
        rng = random.Random(seed)
        sizes = {name: rng.sample(SIZES, len(SIZES)) for name in scene.cases}
        pairs = [(name, sizes[name][turn]) for turn in range(len(SIZES)) for name in scene.cases]
        for name, size_kb in pairs[:n]:
            _try(scene, name, size_kb, tally)
            tally.say(f"{name} with {size_kb} KB")
    return tally


SMALL, FULL = 13, 13 * len(SIZES)

if __name__ == "__main__":
    main(run, full=FULL)
