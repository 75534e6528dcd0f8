"""The server store: a Neo4j database."""

from kgrag.store.neo4j import schema
from kgrag.store.neo4j.address import parse
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.graph import Graph
from kgrag.store.neo4j.search import Search
from kgrag.store.neo4j.staged import Neo4jStagedVectors, finish_switch
from kgrag.store.neo4j.whole import Whole


class Neo4jStore(Whole, Graph, Search):
    """A knowledge base in a database of a Neo4j server or cluster.

    See `kgrag.store.store.Store` for what each method promises. Any number of threads and
    processes may read and write; writers wait for each other. Reads go to any member of a
    cluster and see what this store wrote before.
    """

    @classmethod
    def open(cls, location: str, *, create: bool = True) -> "Neo4jStore":
        """Open the knowledge base of a database.

        Args:
            location: `bolt://HOST:PORT` for a server, `neo4j://HOST:PORT` for a cluster; `/NAME`
                after it for another database than `neo4j`. User and password come from the
                environment: NEO4J_USERNAME and NEO4J_PASSWORD.
            create: Make it where there is none.

        Raises:
            StoreUnavailableError: If it cannot be reached, refuses us, or holds no knowledge
                base and `create` is off, or another graph.
            StoreError: If a newer kgrag made it.
        """
        database = Database.open(parse(location))
        try:
            schema.prepare(database, create=create)
            finish_switch(database)
        except BaseException:
            database.close()
            raise
        return cls(database)

    @property
    def staged(self) -> Neo4jStagedVectors:
        """Return the vectors of another encoder that do not answer yet."""
        return Neo4jStagedVectors(self._database)
