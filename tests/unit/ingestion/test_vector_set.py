"""Which nodes carry vectors, by settings and by what is recorded."""

import re

import numpy as np
import pytest

from kgrag.embedding.hashing import HashEmbedder
from kgrag.embedding.wrapped import late
from kgrag.errors import ConfigError
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.vector_set import VectorSet, configured_vectors, other_vectors, vectors_to_add
from kgrag.kb_meta import KbMeta

SIZES = ChunkSizes(2048, (1024, 512, 256))


class InContext(HashEmbedder):
    """Could encode spans."""

    def embed_spans(self, texts, spans):
        """Return nothing useful."""
        return [np.zeros((len(of), self.dimension), np.float32) for of in spans]


def configured(*wanted, facts=True, embedder=None, sizes=SIZES):
    return configured_vectors(
        wanted, facts=facts, sizes=sizes, embedder=embedder or HashEmbedder(8)
    )


def to_add(meta, *wanted, facts=True):
    return vectors_to_add(meta, wanted, facts=facts, sizes=SIZES, embedder=HashEmbedder(8))


def test_the_smallest_chunks_carry_vectors_unless_told():
    """And facts do."""
    assert configured() == VectorSet((256,), facts=True, late=False)


def test_sizes_are_put_in_order_and_taken_once():
    """Whatever their order in the settings."""
    assert configured(256, 2048, 256, facts=False) == VectorSet((2048, 256), facts=False)


def test_an_unknown_size_names_those_there_are():
    """So that the right one can be chosen."""
    with pytest.raises(ConfigError, match=r"chunks of 300; .* 2048, 1024, 512, 256"):
        configured(256, 300)


def test_chunks_are_late_where_the_encoder_is_made_for_it():
    """Not where it merely could."""
    assert not configured(embedder=InContext(8)).late
    assert configured(embedder=late(InContext(8))).late


def test_a_new_knowledge_base_gets_what_is_configured():
    """Nothing is recorded then."""
    assert to_add(KbMeta(), 512, facts=False) == VectorSet((512,), facts=False)


@pytest.mark.parametrize("vectors", [VectorSet((512, 256)), VectorSet((256,), facts=False)])
def test_settings_that_ask_for_nothing_go_along_with_what_is_recorded(vectors):
    """A set comes back from what is recorded of it."""
    assert to_add(KbMeta.of(embedder="hash-8") | vectors.meta()) == vectors
    assert to_add(KbMeta.of(embedder="hash-8") | vectors.meta(), *vectors.sizes) == vectors


def test_a_knowledge_base_without_a_record_has_vectors_of_leaves_and_facts():
    """Those that were made before it was recorded."""
    assert to_add(KbMeta.of(embedder="hash-8")) == VectorSet((256,))


@pytest.mark.parametrize(
    ("wanted", "facts", "told"),
    [
        ((512,), True, "embedding.sizes is 512, .* vectors of chunks of 1024, 256: .*reembed"),
        ((), False, "embedding.facts is off, .* vectors of facts, too: run `kgrag reembed`"),
    ],
)
def test_settings_that_ask_for_another_set_are_refused_with_the_remedy(wanted, facts, told):
    """Half of the documents with other vectors would be found by half."""
    meta = KbMeta.of(embedder="hash-8") | VectorSet((1024, 256)).meta()
    with pytest.raises(ConfigError, match=told):
        to_add(meta, *wanted, facts=facts)
    assert re.match(told, other_vectors(meta, wanted, facts=facts, sizes=SIZES))


@pytest.mark.parametrize("wanted", [(), (256, 1024), (1024, 256, 256)])
def test_settings_ask_for_no_other_vectors_than_are_there_in_any_order(wanted):
    """Nor does any knowledge base that is new have others."""
    meta = KbMeta.of(embedder="hash-8") | VectorSet((1024, 256)).meta()
    assert other_vectors(meta, wanted, facts=True, sizes=SIZES) == ""
    assert other_vectors(KbMeta(), (512,), facts=False, sizes=SIZES) == ""
    without = KbMeta.of(embedder="hash-8") | VectorSet((256,), facts=False).meta()
    assert other_vectors(without, (256,), facts=False, sizes=SIZES) == ""
