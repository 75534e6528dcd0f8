"""The Store protocol: operations on a knowledge base, lists in and lists out.

It is made of six roles, each with a module of its own here and in every store: documents, search,
graph, a person's decisions, staged vectors, and the whole.
"""

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
