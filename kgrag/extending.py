"""Every name that a plugin, or a program with parts of its own, imports; see docs/plugins.md.

What stands here stays where it is: it changes with a line in CHANGELOG.md only.
"""

from kgrag.embedding.embedder import Embedder, PlainEmbedder, Task, Vectors
from kgrag.errors import IngestionError, ModelError
from kgrag.files.encoding import decode
from kgrag.ingestion.load.formats import Reader
from kgrag.ingestion.load.parsed import (
    Parsed,
    join_blocks,
    join_cells,
    line_segments,
    replace_unusable,
)
from kgrag.ingestion.load.title import guess_title
from kgrag.llm.chat import ChatModel, Completion, Message, Request, Usage
from kgrag.results import ScoredChunk
from kgrag.retrieval.coverage import by_coverage
from kgrag.retrieval.dense import similar_chunks
from kgrag.retrieval.fact_vectors import chunks_of_similar_facts
from kgrag.retrieval.graph import chunks_of_facts, cited_documents
from kgrag.retrieval.grim import Pipeline, merge_and_fill, merge_and_fill_best
from kgrag.retrieval.lexical import titles_in_text, words_in_path, words_in_text
from kgrag.retrieval.search import Ranking, Search
from kgrag.retrieval.summaries import summarised_chunks
from kgrag.retrieval.systems import preset
from kgrag.retrieval.weighted_fusion import (
    ReciprocalRankFusion,
    WeightedFusion,
    WeightedRetriever,
)
from kgrag.store.store import SearchedStore
from kgrag.text.words import normalize_name, words
from kgrag.types import Chunk, Document, Query, Segment

__all__ = [
    "ChatModel",
    "Chunk",
    "Completion",
    "Document",
    "Embedder",
    "IngestionError",
    "Message",
    "ModelError",
    "Parsed",
    "Pipeline",
    "PlainEmbedder",
    "Query",
    "Ranking",
    "Reader",
    "ReciprocalRankFusion",
    "Request",
    "ScoredChunk",
    "Search",
    "SearchedStore",
    "Segment",
    "Task",
    "Usage",
    "Vectors",
    "WeightedFusion",
    "WeightedRetriever",
    "by_coverage",
    "chunks_of_facts",
    "chunks_of_similar_facts",
    "cited_documents",
    "decode",
    "guess_title",
    "join_blocks",
    "join_cells",
    "line_segments",
    "merge_and_fill",
    "merge_and_fill_best",
    "normalize_name",
    "preset",
    "replace_unusable",
    "similar_chunks",
    "summarised_chunks",
    "titles_in_text",
    "words",
    "words_in_path",
    "words_in_text",
]
