"""The commands that write, and knowledge bases before and after each of them."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests.faults.commands import KGRAG, Done, Place
from tests.faults.corpus import (
    exported,
    problems,
    write_corpus,
    write_facts,
    write_summaries,
)
from tests.faults.tally import Tally

QUESTION = "绿色工厂达到多少家？"


@dataclass(frozen=True, slots=True)
class Case:
    """A command.

    Attributes:
        words: Of the command, its knowledge base left out.
        begins_empty: Whether the knowledge base is not there before.
        only_reads: Whether it stores nothing but search caches.
        is_damaged: Whether it is damaged before.
        shut: Whether it may be damaged, or not to be read, as long as the command has not ended.
        decides: Whether a person decides by it what documents say: all of them, or none.
    """

    words: tuple[str | Path, ...]
    begins_empty: bool = False
    only_reads: bool = False
    is_damaged: bool = False
    shut: bool = False
    decides: bool = False


class Scene:
    """A place where commands are disturbed, and what each leaves where it is not.

    Args:
        folder: Holds everything; made where it is not there.
        kb: As the attribute.
        program: The command line.
        n: Records in the corpus, beside the sample documents.

    Attributes:
        place: Holds the settings, and runs commands.
        kb: The knowledge base that commands write.
        out: One in a folder, as it is before them.
        cases: By name.
        before: Its export.
    """

    def __init__(
        self, folder: Path, kb: Path | str, *, program: tuple[str, ...] = KGRAG, n: int = 40
    ) -> None:
        self.place = Place(folder, program)
        self.kb, self.out = kb, folder / "before"
        corpus = write_corpus(folder / "corpus", n=n)
        more = write_corpus(folder / "more", n=n, first=200)
        facts = write_facts(folder / "f.jsonl", n=n)
        summaries = write_summaries(folder / "s.jsonl", n=n)
        self.cases: dict[str, Case] = {
            "ingest": Case(("ingest", *corpus), begins_empty=True),
            "ingest more": Case(("ingest", *corpus, *more)),
            "reembed": Case(("reembed", "--model", "hash-128")),
            "delete": Case(("delete", "r3")),
            "correct": Case(
                ("correct", "r3", "--title", "云岭省第3号规划", "--date", "2024-03-05"),
                decides=True,
            ),
            "merge": Case(("merge", "绿色制造工厂", "--names", "绿色工厂"), decides=True),
            "split": Case(("split", "省能源局", "云岭省能源局"), decides=True),
            "import-facts": Case(("import-facts", facts)),
            "import-summaries": Case(("import-summaries", summaries)),
            "copy": Case(("copy", "--from", self.out, "--to", self.kb), begins_empty=True),
            "search": Case(("search", QUESTION, "--json"), only_reads=True),
            "ask": Case(("ask", QUESTION, "--json"), only_reads=True),
            "repair": Case(("repair",), is_damaged=True, shut=True),
        }
        must(self.place.run("ingest", *corpus, "--kb", self.out))
        self.before = exported(self.out)
        self._after: dict[str, tuple[str, list[str]]] = {}

    def undisturbed(self, name: str) -> tuple[str, list[str]]:
        """Return what a command prints, and the export after it."""
        if name not in self._after:
            self.prepare(name)
            self.remember(name, self.place.run(*self.words(name)))
        return self._after[name]

    def remember(self, name: str, done: Done) -> None:
        """Take what a command just left for what it leaves undisturbed."""
        must(done)
        self._after[name] = done.out, exported(self.kb)

    def prepare(self, name: str) -> None:
        """Make the knowledge base what it is before a command."""
        if self.cases[name].begins_empty:
            self.clear()
            return
        self.fill()
        if self.cases[name].is_damaged:
            damage(Path(self.kb))

    def look(self, name: str, tally: Tally, what: str) -> None:
        """Check what a command left that was cut off: nothing wrong, and no half of a decision."""
        wrong = problems(self.kb)
        tally.expect("lost", f"{what}: {wrong[:3]}", holds=not wrong)
        if self.cases[name].decides and not wrong:
            whole = exported(self.kb) in (self.before, self.undisturbed(name)[1])
            tally.expect("lost", f"{what}: half decided", holds=whole)

    def clear(self) -> None:
        """Let there be no knowledge base."""
        shutil.rmtree(self.kb, ignore_errors=True)

    def fill(self) -> None:
        """Let there be one as it is before commands, without search caches."""
        self.clear()
        shutil.copytree(self.out, self.kb)
        shutil.rmtree(Path(self.kb) / "cache", ignore_errors=True)

    def settle(self) -> None:
        """Wait until nothing goes on that a killed command began; in a folder nothing does."""

    def words(self, name: str) -> tuple[str | Path, ...]:
        """Return a whole command."""
        words = self.cases[name].words
        return words if name == "copy" else (*words, "--kb", self.kb)


def must(done: Done) -> None:
    """Refuse to go on after a command that failed undisturbed.

    Raises:
        RuntimeError: If it did.
    """
    if done.code:
        raise RuntimeError(done.err)


def damage(kb: Path) -> None:
    """Change a document's text and some vectors where they lie."""
    with closing(sqlite3.connect(kb / "kgrag.db")) as connection:
        connection.execute(
            "UPDATE documents SET text = '乙' || substr(text, 2) WHERE doc_id = 'r3'"
        )
        connection.execute(
            "UPDATE embeddings SET vector = zeroblob(length(vector))"
            " WHERE key IN (SELECT key FROM embeddings ORDER BY key LIMIT 3)"
        )
        connection.commit()
