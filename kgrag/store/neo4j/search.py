"""Searching by title, by words, by vectors."""

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.dense import VectorSearch
from kgrag.store.neo4j.lexical import WordSearch
from kgrag.store.neo4j.staged import finish_switch
from kgrag.store.search import T
from kgrag.text.words import normalize_name
from kgrag.types import NodeKind
from kgrag.vectors.vector import Hit, Vector

_AT_ONCE = 8  # what one question has under way: its routes, and searches by vector begun before
_LEAST_TITLE = 2  # a single character is part of too many titles to name one


class Search(WordSearch, VectorSearch):
    """Everything that searches, several at a time; see `kgrag.store.search.SearchStore`."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._threads = ThreadPoolExecutor(_AT_ONCE, "kgrag-neo4j")

    def close(self) -> None:
        """Close all connections, and begin nothing that waits for a thread."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        super().close()

    def refresh(self, *, sizes: Collection[int] = ()) -> None:
        """Bring the indexes up to date, and finish what was cut off.

        Args:
            sizes: Chunk sizes that get a full-text index where they have none yet.
        """
        self._finish_deletions()
        finish_switch(self._database)
        self._refresh_words(sizes)
        self._refresh_vectors()
        self._database.read("await_fulltext")

    def find_documents(self, name: str, *, top_k: int) -> list[str]:
        """Return documents whose title contains a name, shortest first; [] for one character."""
        wanted = normalize_name(name)
        if len(wanted) < _LEAST_TITLE:
            return []
        rows = self._database.read("find_documents", name=wanted)
        ordered = sorted((len(row["title_key"]), row["id"]) for row in rows)
        return [doc_id for _, doc_id in ordered[: max(top_k, 0)]]

    def begin_search_vectors(
        self,
        vector: Vector,
        *,
        kind: NodeKind,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> Callable[[], list[Hit]]:
        """Begin `search_vectors` in another thread: the server answers several at a time."""
        self._check_open()
        search = partial(self.search_vectors, vector, kind=kind, top_k=top_k, doc_ids=doc_ids)
        return self._threads.submit(search).result

    def side_by_side(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """Return what each of some works returns; the server answers several at a time."""
        self._check_open()
        begun = [self._threads.submit(work) for work in works[1:]]
        found = [work() for work in works[:1]]
        # What no thread has begun is done here: nobody waits for threads that wait for others.
        both = zip(works[1:], begun, strict=True)
        return found + [work() if f.cancel() else f.result() for work, f in both]
