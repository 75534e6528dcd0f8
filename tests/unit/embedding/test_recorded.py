"""What a knowledge base records of its encoder, and how a difference is told."""

import json

from kgrag.embedding.hashing import HashEmbedder
from kgrag.embedding.recorded import differences, encoder_meta
from kgrag.kb_meta import KbMeta


def encoder(name="m-1", dimension=4, **settings):
    """Return an encoder with settings, which encodes nothing."""
    made = HashEmbedder(dimension)
    made.name, made.settings = name, {"model": name.partition("-")[0], **settings}
    return made


def test_encoder_meta_is_identity_and_what_people_want_to_know():
    """Texts only; the settings in a fixed order."""
    meta = encoder_meta(encoder(pooling="cls"))

    assert meta.stored == {
        "embedder": "m-1",
        "languages": "",
        "stand_in": "yes",
        "embedder_settings": '{"dimension": "4", "model": "m", "pooling": "cls"}',
    }
    text = encoder_meta(encoder(query="问题：")).stored["embedder_settings"]
    assert json.loads(text)["query"] == "问题："


def test_differences_of_one_model_tell_every_setting():
    """One that is there on one side only is none on the other; an empty one is none."""
    meta = encoder_meta(encoder(pooling="cls", passage="", query="a"))

    assert differences(meta, encoder(pooling="mean", query="a", precision="int8")) == [
        "pooling mean instead of cls",
        "precision int8 instead of none",
    ]
    assert differences(meta, encoder(dimension=2, pooling="cls", query="")) == [
        "dimension 2 instead of 4",
        "query none instead of a",
    ]
    assert differences(meta, encoder(pooling="cls", query="a")) == []
    late = encoder_meta(encoder(**{"late chunking": "on"}))
    assert differences(late, encoder()) == ["late chunking off instead of on"]


def test_differences_of_two_models_tell_what_both_have():
    """The model first."""
    meta = encoder_meta(encoder(pooling="cls", lower_case="yes"))

    assert differences(meta, encoder("other-2", 2, pooling="mean", precision="int8")) == [
        "model other instead of m",
        "dimension 2 instead of 4",
        "pooling mean instead of cls",
    ]


def test_differences_of_a_knowledge_base_that_tells_no_settings_are_none():
    """It was made by an older kgrag."""
    assert differences(KbMeta({"embedder": "m-1"}), encoder("other-2")) == []
