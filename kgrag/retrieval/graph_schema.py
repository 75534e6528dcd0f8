"""The schema of the graph on a Neo4j server as text, for models and people who write queries.

`graph_schema.txt` is used by the prompt of `ask_graph` and by `kgrag browser --schema`.
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
    """Return the lines of `nodes` and `relationships`.

    A line has a label or pattern, and its properties with types and an example.
    """
    file = resources.files("kgrag.retrieval").joinpath("graph_schema.txt")
    _, after = file.read_text(encoding="utf-8").split("[nodes]\n")
    nodes, relationships = after.split("[relationships]\n")
    return {"nodes": nodes.strip(), "relationships": relationships.strip()}


def schema_for_models(language: Language, base: str = "") -> str:
    """Return the schema as a prompt for models that write queries, indexes first.

    It is the prompt of `ask_graph` without its first two paragraphs (the task), its last (the
    form of the answer).
    """
    system = prompt("graph_query_cypher", language).system
    for place, text in graph_schema().items():
        system = system.replace(f"${place}", text)
    known = "\n\n".join(system.split("\n\n")[2:-1])
    indexes = [_index(name, base) for name in INDEXES]
    return "\n".join([own_labels(known, base), "", _INDEXES[language], *indexes, ""])


def _index(name: str, base: str) -> str:
    """Return name, kind and content of an index, from its statement."""
    head, _, what = " ".join(statement(name, base).split()).partition(" IF NOT EXISTS FOR ")
    *_, kind, _, index = ["RANGE", *head.split()[1:]]
    return f"- {index}: {kind} {what.partition(' OPTIONS ')[0]}"
