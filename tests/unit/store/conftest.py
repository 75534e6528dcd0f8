"""A server that tells what changed, for tests of its copies."""

import pytest

from kgrag.store.sqlite.store import SQLiteStore
from kgrag.store.whole import ServerState

SETTINGS = {"chunk_sizes": "2048,256"}


class Server:
    """A knowledge base that tells what changed, as one on Neo4j does."""

    def __init__(self, folder):
        self.store = SQLiteStore.open(folder)
        self.store.set_meta(SETTINGS)
        self.changes = 0
        self.revised = {}
        self.read = []
        self.settled = True
        self.meanwhile = lambda doc_id: None

    def put(self, bundle, source=None):
        """Store a document."""
        self.store.upsert_document(bundle, source=source or bundle.document.file)
        self._changed(bundle.document.doc_id)

    def add(self, doc_id, **knowledge):
        """Add knowledge to a document."""
        self.store.add_knowledge(doc_id, **knowledge)
        self._changed(doc_id)

    def attach(self, source, doc_id):
        """Let a source hold a document."""
        self.store.attach_source(source, doc_id)
        self._changed(None)

    def delete(self, doc_id):
        """Delete a document."""
        self.store.delete_document(doc_id)
        self._changed(None)

    def state(self):
        """Return mark and settings."""
        return ServerState(str(self.changes), self.store.all_meta(), settled=self.settled)

    def revisions(self):
        """Return the revision of each document."""
        self.read.append("revisions")
        return {card.doc_id: self.revised[card.doc_id] for card in self.store.document_cards()}

    def sources(self):
        """Return the sources."""
        return self.store.sources()

    def counts(self):
        """Return how much it holds."""
        return self.store.counts()

    def bundle(self, doc_id):
        """Return a document; `meanwhile`, something happens."""
        self.read.append(doc_id)
        bundle = self.store.bundle(doc_id)
        self.meanwhile(doc_id)
        return bundle

    def _changed(self, doc_id):
        self.changes += 1
        if doc_id is not None:
            self.revised[doc_id] = str(self.changes)


@pytest.fixture
def server(tmp_path, make):
    """Three documents."""
    found = Server(tmp_path / "server")
    for name in ("a", "b", "c"):
        found.put(
            make.bundle(name, f"工信部印发{name}，绿色工厂。", facts=[("工信部", "印发", name)])
        )
    yield found
    found.store.close()
