"""Whether an archive's life leaves a knowledge base as a fresh one of its last state would be.

Each day files of a made archive are added, changed, renamed, moved and withdrawn at random, and
`kgrag sync` or `kgrag watch` follows, some of the time killed (kill -9) at a random moment. At the
end one more `sync` runs, and `kgrag export` of the knowledge base is compared with that of a new
one that takes in the last state of the folder. Corrections outlive a change, so none are made.

usage: python benchmarks/archive_life.py [--days 30] [--seed 1] [--files 12]

No model is asked; the encoder is the stand-in. The exit code is 1 if the two exports differ.
"""

import argparse
import contextlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from click.testing import CliRunner

from kgrag.cli.main import main

# Says when it begins: a kill while it imports is none.
_KGRAG = """
import kgrag.api, kgrag.embedding.hashing, kgrag.ingestion.pipeline, kgrag.maintenance.sync
import kgrag.store.sqlite.store, jieba, watchfiles
from kgrag.cli.main import main
print("ready", flush=True)
main()
"""
_CONFIG = ("--lang", "en", "--config", "kgrag.toml")
_SETTINGS = '[embedding]\nmodel = "hash"\n'
_NOTICED_S = 3.0  # from a change to when `watch` acts on it
_TOPICS = ("节能降碳", "绿色工厂", "资源综合利用", "清洁生产", "新型储能", "公共充电")
_PLACES = ("四川省", "浙江省", "成都市", "江苏省", "广东省")


@dataclass
class Life:
    """A made archive and the knowledge base that follows it.

    Attributes:
        place: Where both are; an empty folder.
        random: Of everything that happens.
    """

    place: Path
    random: random.Random
    done: Counter[str] = field(default_factory=Counter)
    _number: int = 0
    _longest_s: float = 0.1  # that `sync` took

    def __post_init__(self) -> None:
        (self.place / "archive").mkdir(parents=True)
        (self.place / "kgrag.toml").write_text(_SETTINGS, "utf-8")

    @property
    def files(self) -> list[Path]:
        """The files of the archive."""
        return sorted(p for p in (self.place / "archive").rglob("*.txt") if p.is_file())

    def day(self, n: int) -> None:
        """Let so many things happen."""
        for _ in range(n):
            kinds = ("add", "add", "change", "rename", "move", "withdraw")
            kind = self.random.choice(kinds if len(self.files) > 4 else ("add",))
            file = self.random.choice(self.files) if self.files else Path()
            self.done[kind] += 1
            if kind == "add":
                self._number += 1
                name = f"{self._number}-{self.random.choice(_TOPICS)}.txt"
                (self.place / "archive" / name).write_text(self._text(), "utf-8")
            elif kind == "change":
                file.write_text(self._text(), "utf-8")
            elif kind == "rename":
                self._number += 1
                file.rename(file.with_name(f"{self._number}-{file.name.partition('-')[2]}"))
            elif kind == "move":
                folder = self.place / "archive" / self.random.choice("甲乙丙")
                folder.mkdir(exist_ok=True)
                if file.parent != folder:
                    file.rename(folder / file.name)
            else:
                file.unlink()

    def sync(self, *, kill: bool = False) -> None:
        """Run `kgrag sync`; with `kill`, end it at a random moment."""
        command = ("sync", "archive", "--kb", "kb", "--yes", "--allow-emptying")
        if kill:
            self._kill(self._start(*command))
            return
        began = time.monotonic()
        self._run(*command)
        self._longest_s = max(self._longest_s, time.monotonic() - began)

    def watch(self, n: int, *, kill: bool = False) -> None:
        """Let so many things happen while `kgrag watch` runs, which is ended then."""
        process = self._start("watch", "archive", "--kb", "kb", "--allow-emptying")
        self.day(n)
        if kill:
            self._kill(process, after_s=_NOTICED_S)
            return
        with process:
            time.sleep(_NOTICED_S + self._longest_s)
            process.send_signal(signal.SIGTERM)

    def differences(self) -> int:
        """Return how many lines the export differs in from that of a new knowledge base."""
        self.sync()
        self._run("verify", "--kb", "kb")
        self._run("ingest", "archive", "--kb", "fresh")
        ours, fresh = (self._run("export", "--kb", kb).splitlines() for kb in ("kb", "fresh"))
        return len({*ours} ^ {*fresh}) + (ours != fresh)

    def _text(self) -> str:
        place, topic = self.random.choice(_PLACES), self.random.choice(_TOPICS)
        year, n = self.random.randint(2024, 2030), self.random.randint(10, 900)
        cited = self.random.choice(_TOPICS)
        return (
            f"{place}{topic}实施方案\n\n一、总体要求\n根据《{self.random.choice(_PLACES)}{cited}"
            f"实施方案》制定本方案。\n\n二、主要目标\n到{year}年，建成绿色工厂{n}家以上。\n\n"
            f"三、重点任务\n{topic}由省工业和信息化厅牵头，省生态环境厅配合。\n" * 2
        )

    def _kill(self, process: "subprocess.Popen[str]", after_s: float = 0.0) -> None:
        with process:  # closes its pipe
            try:
                process.wait(after_s + self.random.uniform(0, self._longest_s))
                self.done["(ended before)"] += 1
            except subprocess.TimeoutExpired:
                process.kill()
                self.done["kill -9"] += 1

    def _start(self, *words: str) -> "subprocess.Popen[str]":
        """Return a command in a process of its own that has imported what it needs."""
        with (self.place / "log").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", _KGRAG, *_CONFIG, *words],
                cwd=self.place, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
        if process.stdout is None or process.stdout.readline() != "ready\n":
            raise RuntimeError(f"kgrag {words[0]} did not begin")
        return process

    def _run(self, *words: str) -> str:
        """Return what a command printed, run in this process."""
        with contextlib.chdir(self.place):
            result = CliRunner().invoke(main, [*_CONFIG, *words])
        if result.exit_code:
            raise RuntimeError(f"kgrag {words[0]}: {result.output[-2000:]}") from result.exception
        return result.stdout


def live(place: Path, *, days: int, seed: int, files: int) -> tuple[int, Counter[str]]:
    """Return in how many lines the exports differ after a life, and what happened in it.

    Args:
        place: An empty folder.
        days: Length; each day three things happen.
        seed: Of all that is random.
        files: Of the first day.
    """
    life = Life(place, random.Random(seed))
    life.day(files)
    life.sync()
    for day in range(days):
        kill = day % 2 == 0
        if day % 4 == 3:
            life.watch(3, kill=kill)
        elif day % 4 == 2:
            life.watch(3, kill=True)
        else:
            life.day(3)
            life.sync(kill=kill)
    return life.differences(), life.done


def measure() -> int:
    """Run the life of an archive; print what happened and whether the exports agree."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=12)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        differ, done = live(
            Path(place) / "life", days=given.days, seed=given.seed, files=given.files
        )
    print(", ".join(f"{n} {what}" for what, n in sorted(done.items())))
    print(f"{given.days} days: {differ} lines differ from a fresh ingest")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(measure())
