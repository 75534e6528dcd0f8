"""The Store protocol: operations on a knowledge base, lists in and lists out.

It is made of six roles, each with a module of its own here and in every store: documents, search,
graph, a person's decisions, staged vectors, and the whole.
"""

from pathlib import Path
from typing import Protocol

from kgrag.store.decisions import DecisionStore
from kgrag.store.documents import DocumentStore, SearchedDocuments
from kgrag.store.graph import GraphStore, SearchedGraph
from kgrag.store.search import SearchedIndexes, SearchStore
from kgrag.store.staged import StagedVectors
from kgrag.store.whole import WholeStore


class SearchedStore(SearchedDocuments, SearchedIndexes, SearchedGraph, Protocol):
    """A knowledge base, or some documents of one, as the routes of retrieval see it.

    Unknown ids are left out of results, never an error. Every method raises
    `StoreError` (or a subclass) when the storage itself fails.
    """


class Store(DocumentStore, SearchStore, GraphStore, DecisionStore, WholeStore, Protocol):
    """A knowledge base. Unknown ids are left out of results, never an error.

    Every method raises `StoreError` (or a subclass) when the storage itself fails.
    """

    @property
    def staged(self) -> StagedVectors:
        """Return the vectors of another encoder that do not answer yet."""
        ...


def open_store(location: str | Path, *, create: bool) -> Store:
    """Return the store at a place.

    Args:
        location: A folder with an SQLite database, or the address of a Neo4j server
            (`bolt://HOST:7687`, `neo4j://HOST:7687`, `/DATABASE` after it for another than
            `neo4j`).
        create: Make a knowledge base where there is none.

    Raises:
        StoreUnavailableError: If it cannot be opened.
    """
    if "://" in str(location):
        from kgrag.store.neo4j.store import Neo4jStore

        return Neo4jStore.open(str(location), create=create)
    from kgrag.store.sqlite.store import SQLiteStore

    return SQLiteStore.open(Path(location), create=create)
