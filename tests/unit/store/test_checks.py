"""What every store refuses before it writes."""

from dataclasses import replace

import numpy as np
import pytest

from kgrag.errors import ModelMismatchError, StoreError
from kgrag.store.checks import (
    check_bundle,
    check_encoder,
    check_knowledge,
    check_settings,
    check_vectors,
)

TEXT = "工信部印发绿色工厂标准"


@pytest.fixture
def bundle(make):
    return make.bundle(
        "a", TEXT, facts=[("工信部", "印发", "绿色工厂")], mentions=["标准"], summaries=["摘要"]
    )


def of_other(bundle, part):
    """Return the bundle with one thing that another document says."""
    fact, mention, summary = bundle.facts[0], bundle.mentions[0], bundle.summaries[0]
    spot = replace(fact.evidence[0], doc_id="d-b")
    return replace(
        bundle,
        **{
            "facts": {"facts": [fact, replace(fact, evidence=(*fact.evidence, spot))]},
            "mentions": {"mentions": [mention, replace(mention, evidence=spot)]},
            "summaries": {"summaries": [summary, replace(summary, doc_id="d-b")]},
        }[part],
    )


@pytest.mark.parametrize("part", ["facts", "mentions", "summaries"])
def test_knowledge_of_another_document_is_refused(bundle, part):
    """Wherever among the right ones it stands; in a bundle as added later."""
    other = of_other(bundle, part)
    with pytest.raises(ValueError, match="is known from d-b, not from d-a"):
        check_bundle(other)
    with pytest.raises(ValueError, match="is known from d-b, not from d-a"):
        check_knowledge("d-a", other.facts, other.mentions, other.summaries)


def test_vectors_of_another_encoder_are_refused():
    """Not those of any in a new knowledge base, nor those of which it is not known."""
    for given, recorded in (("", "m"), ("m", None), ("m", "m")):
        check_encoder(given, recorded)
    with pytest.raises(ModelMismatchError, match=r"encoder old were made.*to new.*run it again"):
        check_encoder("old", "new")


def test_vectors_are_of_one_dimension():
    """That of those stored, or of the first."""
    two, three = np.array([1, 0], np.float32), np.array([1, 0, 0], np.float32)
    assert check_vectors({}, None) is None
    assert check_vectors({}, 2) == check_vectors({"k1": two}, 2) == 2
    assert check_vectors({"k1": three}, None) == 3
    for given, stored in (({"k1": two, "k2": three}, None), ({"k2": three}, 2)):
        with pytest.raises(StoreError, match=r"vector k2 has shape \(3,\).* of 2"):
            check_vectors(given, stored)


def test_a_vector_of_another_length_is_refused():
    """As `check_vector` says."""
    with pytest.raises(ValueError, match="vector k1 has length 2"):
        check_vectors({"k1": np.array([2, 0], np.float32)}, None)


META = {
    "chunk_sizes": "2048,1024,512,256",
    "embedder": "bge-small-zh-15b717c382bc-1a2b",
    "embedder_settings": '{"dimension": "512"}',
    "languages": "zh",
    "stand_in": "no",
}


def test_settings_as_they_are_written_are_let_through():
    """As are those of an older kgrag, and of a later one."""
    assert check_settings(META) == META
    assert check_settings({}) == {}
    assert check_settings({"embedder": "x", "later": "any"}) == {"embedder": "x", "later": "any"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, value) for key in META for value in (None, b"yes", 7, "\x00\x1b[2J", "9" * 5000)),
        *(
            ("chunk_sizes", v)
            for v in ("", "0", "256,1", "-1,-2", "256,256", "256,512", "256,x", "1e9")
        ),
        ("chunk_sizes", "2048，1024"),
        ("embedder", ""),
        ("embedder_settings", "{"),
        ("embedder_settings", '["a"]'),
        ("embedder_settings", '{"dimension": 512}'),
        ("embedder_settings", "[" * 100_000),
        ("stand_in", "maybe"),
    ],
)
def test_a_setting_that_nothing_writes_is_refused(key, value):
    """With its name, what it is, and the remedy."""
    with pytest.raises(StoreError, match=f"{key}.*kgrag repair") as raised:
        check_settings(META | {key: value})
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("key", ["chunk_sizes", "embedder"])
def test_a_setting_that_is_missing_beside_others_is_named(key):
    """They are written together."""
    with pytest.raises(StoreError, match=f"{key}.*missing"):
        check_settings({k: v for k, v in META.items() if k != key})
