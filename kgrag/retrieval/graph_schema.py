"""The graph on a Neo4j server as text, for models that write queries and for people who do.

`graph_schema.txt` is what `ask_graph` gives its model and what `kgrag browser --schema` prints, so
that a property is described once.
"""

import functools
from collections.abc import Mapping
from importlib import resources

from kgrag.llm.prompts import prompt
from kgrag.store.neo4j.statements import own_labels, statement
from kgrag.types import Language

# Statements that make the indexes which a query may want to use.
INDEXES = (
    *("index_chunk_text", "index_entity_names", "index_document_year"),
    *("index_document_region", "index_document_kind"),
)
_INDEXES: Mapping[Language, str] = {"zh": "索引：", "en": "Indexes:"}


@functools.cache
def graph_schema() -> Mapping[str, str]:
    """Return what there is under `nodes` and `relationships`, a line each.

    Each line has the label, or the pattern, and its properties with their types and an example.
    """
    file = resources.files("kgrag.retrieval").joinpath("graph_schema.txt")
    _, after = file.read_text(encoding="utf-8").split("[nodes]\n")
    nodes, relationships = after.split("[relationships]\n")
    return {"nodes": nodes.strip(), "relationships": relationships.strip()}


def schema_for_models(language: Language, base: str = "") -> str:
    """Return all that a model must know to write queries for the graph.

    It is our own prompt except for its first two paragraphs, which give the task, and its last,
    which says what form the answer shall have; the indexes, which our own model does not use,
    come first.

    Args:
        language: Of the words.
        base: Name of the knowledge base in its database.
    """
    system = prompt("graph_query_cypher", language).system
    for place, text in graph_schema().items():
        system = system.replace(f"${place}", text)
    known = "\n\n".join(system.split("\n\n")[2:-1])
    indexes = [_index(name, base) for name in INDEXES]
    return "\n".join([own_labels(known, base), "", _INDEXES[language], *indexes, ""])


def _index(name: str, base: str) -> str:
    """Return the name of an index, its kind, and what it holds, as its statement says."""
    head, _, what = " ".join(statement(name, base).split()).partition(" IF NOT EXISTS FOR ")
    *_, kind, _, index = ["RANGE", *head.split()[1:]]
    return f"- {index}: {kind} {what.partition(' OPTIONS ')[0]}"
