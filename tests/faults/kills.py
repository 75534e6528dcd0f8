"""kill -9 at any moment of a command that writes: what is there is whole, run again it ends."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tests.faults.commands import Done, ended
from tests.faults.corpus import exported, of_documents, problems
from tests.faults.scene import Scene
from tests.faults.server_scene import ServerScene
from tests.faults.tally import Tally, main
from tests.neo4j_server.server import Neo4jServer

SMALL, FULL = 14, 500
_IN_A_ROW = 5  # kills before a command may end, at most
_FROM_THE_START = 0.2  # share of the kills that come before the knowledge base is open
_SERVER_TOO = 10  # every so many kills of a command hit the server instead
_LATE = 1.1  # some commands end before their kill
_QUICKER = 0.8  # times what was measured, where one did: the machine was busier then
_ON_A_SERVER = (
    *("ingest", "ingest more", "reembed", "delete", "import-facts", "import-summaries", "copy"),
    *("correct", "merge", "split", "drop"),
)

# The command line, which tells when the knowledge base that is written is open.
_TELLING = """
import sys
from kgrag.cli import options
from kgrag.store.neo4j import connection
connection._RETRY_S = 1.0
from kgrag.api import KnowledgeBase
opened = KnowledgeBase.open.__func__
def tell(cls, *args, **more):
    base = opened(cls, *args, **more)
    print("open", file=sys.stderr, flush=True)
    return base
KnowledgeBase.open = classmethod(tell)
repaired = KnowledgeBase.repair
def tell_too(*args, **more):
    print("open", file=sys.stderr, flush=True)
    return repaired(*args, **more)
KnowledgeBase.repair = staticmethod(tell_too)
from kgrag.store.neo4j import drop
dropped = drop.drop
def tell_of_dropping(location):
    print("open", file=sys.stderr, flush=True)
    dropped(location)
drop.drop = tell_of_dropping
from kgrag.cli.main import main
main()
"""
PROGRAM = (sys.executable, "-c", _TELLING)


@dataclass(frozen=True, slots=True)
class Times:
    """How long a command takes where nothing disturbs it, in seconds.

    Attributes:
        opening: Until the knowledge base is open.
        writing: From then on.
    """

    opening: float
    writing: float

    def chosen(self, rng: random.Random) -> tuple[bool, float]:
        """Return whether to wait until it is open, and how long to wait then."""
        if rng.random() < _FROM_THE_START:
            return False, rng.uniform(0, self.opening)
        return True, rng.uniform(0, _LATE * self.writing)

    def quicker(self) -> "Times":
        """Return less time for writing, and the same for opening."""
        return replace(self, writing=_QUICKER * self.writing)


def _measured(scene: Scene, name: str, server: Neo4jServer | None) -> Times:
    """Let a command run undisturbed, and time it; on a server the second time, when it knows it."""
    if server is not None:
        scene.undisturbed(name)
    scene.prepare(name)
    began = time.monotonic()
    process = scene.place.start(*scene.words(name))
    assert process.stderr is not None
    process.stderr.readline()
    opened = time.monotonic()
    done = ended(process)
    times = Times(opened - began, time.monotonic() - opened)
    scene.remember(name, done)
    return times


def _killed(
    scene: Scene, name: str, *, when: tuple[bool, float], server: Neo4jServer | None
) -> Done:
    """Begin a command and kill it, or the server, at a moment; the server is there again then."""
    process = scene.place.start(*scene.words(name))
    wait_for_open, seconds = when
    if wait_for_open:
        assert process.stderr is not None
        process.stderr.readline()
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    if server is None:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        return ended(process)
    server.kill()
    done = ended(process)
    server.start()
    return done


class _Kills:
    """Kills of one command after another, and what is found after each."""

    def __init__(self, scene: Scene, rng: random.Random, tally: Tally) -> None:
        self._scene = scene
        self._rng = rng
        self._tally = tally

    def of(self, name: str, n: int, server: Neo4jServer | None) -> None:
        """Kill a command so many times, some in a row; between the rows let it end."""
        times = _measured(self._scene, name, server)
        _, after = self._scene.undisturbed(name)
        landed = tried = of_server = 0
        while landed < n and tried < 4 * n:
            self._scene.prepare(name)
            for _ in range(self._rng.randint(1, _IN_A_ROW)):
                tried += 1
                hit = server if landed % _SERVER_TOO == _SERVER_TOO // 2 else None
                when = times.chosen(self._rng)
                done = _killed(self._scene, name, when=when, server=hit)
                self._tally.look_at(done, f"{name}, killed")
                # What a kill came too late for had nothing left to delete, or has ended well.
                was_hit = done.code < 0 or (hit is not None and done.code > 0)
                if was_hit:
                    landed += 1
                    of_server += hit is not None
                    self._tally.runs += 1
                self._look(name, when, of_documents(after))
                if not was_hit:
                    times = times.quicker()
                if not was_hit or landed == n:
                    break
            self._end(name, after)
            too = f", {of_server} of the server" if server else ""
            self._tally.say(f"a row of {name} ({landed} of {n} kills{too})")

    def _look(self, name: str, when: tuple[bool, float], after: set[str]) -> None:
        """Check that nothing is half there, or lost that was there before."""
        what = f"{name} killed {when[1]:.3f} s after {'opening' if when[0] else 'its start'}"
        case = self._scene.cases[name]
        self._scene.settle()
        if case.shut:
            return
        self._scene.look(name, self._tally, what)
        held = of_documents(exported(self._scene.kb))
        self._tally.expect(
            "lost",
            f"{what}: half a document",
            holds=held <= of_documents(self._scene.before) | after,
        )
        if not case.begins_empty:
            kept = of_documents(self._scene.before) & after
            self._tally.expect("lost", f"{what}: documents gone", holds=kept <= held)

    def _end(self, name: str, after: list[str]) -> None:
        """Let the command end, and compare."""
        done = self._scene.place.run(*self._scene.words(name))
        self._tally.look_at(done, f"{name}, again")
        # What a killed command had deleted cannot be deleted again.
        went = done.code == 0 or name in ("delete", "drop")
        self._tally.expect("lost", f"{name}, again: {done.err[-300:]}", holds=went)
        wrong = problems(self._scene.kb)
        self._tally.expect("lost", f"{name}, again: {wrong[:3]}", holds=not wrong)
        same = exported(self._scene.kb) == after
        self._tally.expect("lost", f"{name}: another export", holds=same)
        if self._scene.cases[name].only_reads:
            printed, _ = self._scene.undisturbed(name)
            self._tally.expect("lost", f"{name}: another answer", holds=done.out == printed)


def run(n: int, seed: int, folder: Path) -> Tally:
    """Kill commands on a knowledge base in a folder so many times."""
    tally = Tally("kills")
    scene = Scene(folder, folder / "kb", program=PROGRAM)
    kills = _Kills(scene, random.Random(seed), tally)
    _share(kills, tuple(scene.cases), n, None)
    return tally


def run_neo4j(n: int, seed: int, folder: Path) -> Tally:
    """Kill commands on a Neo4j server, or the server itself, so many times."""
    tally = Tally("kills on Neo4j")
    with Neo4jServer(folder / "server") as server:
        scene = ServerScene(folder, server.uri, program=PROGRAM)
        kills = _Kills(scene, random.Random(seed), tally)
        _share(kills, _ON_A_SERVER, n, server)
    return tally


def _share(kills: _Kills, names: tuple[str, ...], n: int, server: Neo4jServer | None) -> None:
    """Give each command its share of the kills."""
    for at, name in enumerate(names):
        share = n // len(names) + (at < n % len(names))
        if share:
            kills.of(name, share, server)


if __name__ == "__main__":
    main(run, full=FULL, others={"--neo4j": run_neo4j})
