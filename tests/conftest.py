"""A builder of small documents with everything that a store keeps of them."""

import hashlib
import os
import signal
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ids import chunk_id, embedding_key, entity_id, fact_id, summary_id
from kgrag.ingestion.samples import sample_folder
from kgrag.ingestion.workers.pool import Pool
from kgrag.store.contents import DocumentBundle, NodeVector
from kgrag.types import Chunk, Document, Entity, Evidence, Fact, Heading, Mention, Segment, Summary
from tests.fixtures.kit import knowledge_base
from tests.fixtures.policies import POLICIES

# A shell has its background jobs ignore Ctrl-C, which tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ("tests.neo4j_server.plugin",)

# No property is refused for its time: a busy machine is not a wrong result. Fixtures that examples
# share are builders and stores that each example fills with names of its own.
settings.register_profile(
    "kgrag",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("kgrag")


def pytest_collection_modifyitems(items):
    """Skip tests marked `jina` without that extra; where KGRAG_TEST_JINA is set, they fail."""
    if os.environ.get("KGRAG_TEST_JINA") or all(map(find_spec, ("torch", "transformers"))):
        return
    for item in items:
        if item.get_closest_marker("jina"):
            item.add_marker(pytest.mark.skip(reason="kgrag[jina] is not installed"))


@pytest.fixture(scope="session", autouse=True)
def english():
    """Have help and results in English, whatever the locale; tests of Chinese ask for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGRAG_LANG", "en")
        yield


@pytest.fixture(scope="session", autouse=True)
def one_reading_process():
    """Read files in this process unless a test says in how many: each takes two seconds."""
    begin = Pool.__init__

    def alone(self, setting, limits, *, alone=False, **more):
        begin(self, setting, limits, alone=alone or not limits.workers, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pool, "__init__", alone)
        yield


@pytest.fixture(scope="session")
def policies(tmp_path_factory):
    """A knowledge base of a few policies, which tests only read."""
    with knowledge_base(tmp_path_factory.mktemp("policies"), POLICIES, "hash-32") as base:
        yield base


@pytest.fixture(scope="session")
def sample_kb(tmp_path_factory):
    """The folder of a knowledge base of the samples: open it to read, copy it to write."""
    folder = tmp_path_factory.mktemp("samples") / "kb"
    with KnowledgeBase.open(folder, embedder=HashEmbedder()) as base:
        assert not base.ingest([sample_folder()]).failed
    return folder


PARENT, LEAF = 24, 8  # characters
DIMENSION = 8


def entity(name, type_="entity"):
    return Entity(entity_id(name), name, type_)


def unit_vector(text, dimension=DIMENSION):
    """Return a vector that depends on nothing but the text."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(dimension)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def node_vector(node_id, kind, text, *, given=True, dimension=DIMENSION):
    vector = unit_vector(text, dimension) if given else None
    return NodeVector(node_id, kind, embedding_key("test", text), vector)


def evidence(doc_id, text, place, extractor="rules"):
    """Return evidence for the place's first occurrence, tied to the leaf that it begins in."""
    start = text.index(place)
    leaf = chunk_id(doc_id, LEAF, start // LEAF)
    return Evidence(doc_id, start, start + len(place), leaf, extractor, 1.0)


def fact(doc_id, text, triple, extractor="rules", place=None):
    """Return a fact of (subject, predicate, object), found where its subject stands."""
    subject, predicate, object_ = triple
    s = subject if isinstance(subject, Entity) else entity(subject)
    o = object_ if isinstance(object_, Entity) else entity(object_)
    spot = evidence(doc_id, text, place or s.name, extractor)
    return Fact(fact_id(s.entity_id, predicate, o.entity_id), s, predicate, o, (spot,))


def qualified(doc_id, text, triple, qualifiers, **more):
    """Return a fact whose document adds something to it."""
    stated = fact(doc_id, text, triple, **more)
    (spot,) = stated.evidence
    return replace(stated, evidence=(replace(spot, qualifiers=qualifiers),))


def fact_vector(stated, **more):
    """Return the vector of a fact as it is worded."""
    words = f"{stated.subject.name} {stated.predicate} {stated.object.name}"
    return node_vector(stated.fact_id, "fact", words, **more)


def mention(doc_id, text, name):
    return Mention(entity(name), evidence(doc_id, text, name))


def summary(doc_id, text, words):
    """Return a summary of the whole text."""
    targets = tuple(chunk_id(doc_id, PARENT, i) for i in range(-(-len(text) // PARENT)))
    return Summary(
        summary_id(doc_id, 0, len(text), words), doc_id, 0, len(text), words, "document", "import",
        targets,
    )  # fmt: skip


def chunks(doc_id, text, heading_path):
    """Cut every 24 characters for parents, every 8 for children."""

    def group(size, parent_size):
        return [
            Chunk(
                chunk_id(doc_id, size, i), doc_id, size, i, start, min(start + size, len(text)),
                text[start : start + size],
                chunk_id(doc_id, parent_size, start // parent_size) if parent_size else None,
                heading_path,
            )
            for i, start in enumerate(range(0, len(text), size))
        ]  # fmt: skip

    return [*group(PARENT, None), *group(LEAF, PARENT)]


def make_bundle(
    name, text, *, title=None, headings=(), facts=(), mentions=(), summaries=(), dimension=DIMENSION
):
    """Return a document cut into chunks; its leaves, summaries, facts and itself have vectors.

    Args:
        name: Makes the id `d-NAME`.
        text: Of the document.
        title: The name, if None.
        headings: Titles, each of which the text holds; all chunks get them as heading path.
        facts: (subject, predicate, object), each anchored where the subject's name stands.
        mentions: Names that the text holds.
        summaries: Texts.
        dimension: Of the vectors.
    """
    doc_id = f"d-{name}"
    pieces = chunks(doc_id, text, tuple(headings))
    summed = [summary(doc_id, text, words) for words in summaries]
    nodes = [(c.chunk_id, "chunk", c.text) for c in pieces if c.size == LEAF]
    nodes += [(s.summary_id, "summary", s.text) for s in summed]
    nodes.append((doc_id, "document", text))
    stated = [fact(doc_id, text, triple) for triple in facts]
    spots = [(text.index(h), h) for h in headings]
    return DocumentBundle(
        document=Document(
            doc_id, title or name, text, f"{name}.txt", "txt", f"hash of {text}",
            segments=(Segment(0, len(text), "page", 1),) if text else (),
            warnings=("guessed",), properties={"b": "2", "a": "1"},
        ),
        fingerprint=f"fingerprint of {text}",
        headings=[Heading(at, at + len(h), 1, h) for at, h in spots],
        chunks=pieces,
        summaries=summed,
        facts=stated,
        mentions=[mention(doc_id, text, n) for n in mentions],
        vectors=[
            *(node_vector(*node, dimension=dimension) for node in nodes),
            *(fact_vector(f, dimension=dimension) for f in stated),
        ],
    )  # fmt: skip


class Make:
    """The builders above, as tests get them."""

    PARENT, LEAF, DIMENSION = PARENT, LEAF, DIMENSION
    bundle = staticmethod(make_bundle)
    entity = staticmethod(entity)
    evidence = staticmethod(evidence)
    fact = staticmethod(fact)
    qualified = staticmethod(qualified)
    fact_vector = staticmethod(fact_vector)
    mention = staticmethod(mention)
    summary = staticmethod(summary)
    node_vector = staticmethod(node_vector)
    unit_vector = staticmethod(unit_vector)


@pytest.fixture(scope="session")
def make():
    """Builders of documents and knowledge."""
    return Make
