"""Which encoder is used; how it is wrapped."""

import hashlib
import json
import math
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from kgrag.config import EmbeddingConfig
from kgrag.embedding.add import add_model
from kgrag.embedding.choose import (
    built_with,
    configured_embedder,
    differences,
    encoder_meta,
    encoder_note,
    open_embedder,
)
from kgrag.embedding.endpoint import open_endpoint
from kgrag.embedding.hashing import HashEmbedder
from kgrag.embedding.model_folder import CARD_FILE
from kgrag.embedding.wrapped import checked, truncated
from kgrag.errors import (
    ModelError,
    ModelMismatchError,
    ModelNotFoundError,
)
from kgrag.kb_meta import KbMeta


def test_open_embedder_is_the_stand_in_when_nothing_is_installed(cache):
    """Nothing is fetched, and the user is told the command."""
    embedder = open_embedder()
    note = encoder_note(embedder)

    assert embedder.name == "hash-1024"
    assert note is not None
    assert "kgrag models pull bge-small-zh" in note
    assert not cache.exists()


def test_open_embedder_takes_the_default_model_when_it_is_installed(
    cache, tiny_files, tiny_entry, monkeypatch
):
    """The model wins over the stand-in, which stays available by name."""
    monkeypatch.setattr("kgrag.embedding.choose.DEFAULT_MODEL", "tiny")
    add_model(tiny_files, name="tiny")
    embedder = open_embedder(threads=1)

    assert embedder.name.startswith("tiny-")
    told = encoder_note(embedder)
    assert told is not None
    assert told.kind == "unmeasured"
    assert open_embedder("hash").is_stand_in
    assert open_embedder("hash-64").dimension == 64


def test_open_embedder_never_falls_back_when_the_default_model_is_damaged(
    cache, tiny_files, monkeypatch
):
    """The stand-in in place of a damaged model would go unnoticed."""
    monkeypatch.setattr("kgrag.embedding.choose.DEFAULT_MODEL", "tiny")
    add_model(tiny_files, name="tiny")
    (cache / "tiny" / CARD_FILE).write_text("{", encoding="utf-8")

    with pytest.raises(ModelError, match="card"):
        open_embedder()


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("bge-small-zh", "kgrag models pull bge-small-zh"),
        ("bge-small-zh-15b717c382bc-1a2b", "kgrag models pull bge-small-zh"),
        ("mine", "kgrag models add PATH --name mine"),
        ("../mine", "kgrag models add"),
    ],
)
def test_open_embedder_names_the_command_when_a_model_is_not_installed(cache, name, command):
    """One command mends it."""
    with pytest.raises(ModelNotFoundError, match=command):
        open_embedder(name)


def test_built_with_refuses_another_encoder_and_says_what_differs():
    """With both remedies, and what works meanwhile."""
    meta = encoder_meta(HashEmbedder(16))
    with pytest.raises(ModelMismatchError) as told:
        built_with(meta, lambda: HashEmbedder(8))

    assert "with the encoder hash-16, but hash-8 is chosen (model " in str(told.value)
    assert "; dimension 8 instead of 16). To use the first" in str(told.value)
    for remedy in ("take [embedding] out of kgrag.toml", "`kgrag reembed`", "--system bm25"):
        assert remedy in str(told.value)


def test_built_with_says_where_the_endpoint_of_a_knowledge_base_is_to_be_named():
    """It is not found again by taking settings out."""
    with pytest.raises(ModelMismatchError) as told:
        built_with(KbMeta({"embedder": "endpoint-bge-m3-1024-0000"}), lambda: HashEmbedder(8))

    assert "name it in [embedding] of kgrag.toml" in str(told.value)
    assert "take [embedding] out" not in str(told.value)


def test_open_embedder_opens_a_recorded_identity_with_its_cut(cache, tiny_files):
    """What a knowledge base records is enough to open the same encoder again."""
    card = add_model(tiny_files, name="mine")
    cut = open_embedder(f"{card.identity}@2")

    assert open_embedder("mine").name == open_embedder(card.identity).name == card.identity
    with pytest.raises(ModelNotFoundError, match="kgrag models add PATH --name mine"):
        open_embedder("mine-000000000000-0000")
    assert (cut.name, cut.dimension) == (f"{card.identity}@2", 2)
    assert open_embedder(cut.name).name == cut.name


def test_configured_embedder_cuts_vectors_to_the_dimension_that_is_set(cache):
    """`dimension` is heeded, and a knowledge base that records the cut agrees with it."""
    cut = configured_embedder(EmbeddingConfig(dimension=16), "hash-64@16")

    assert (cut.name, cut.dimension) == ("hash-64@16", 16)
    with pytest.raises(ModelError, match=r"embedding\.dimension is 128"):
        configured_embedder(EmbeddingConfig(model="hash-64", dimension=128))


def test_configured_embedder_cuts_anew_where_settings_name_another_dimension(cache, tiny_files):
    """Of the model's own vectors, not of those that the knowledge base has."""
    name = add_model(tiny_files, name="mine").identity
    own = open_embedder(name).dimension

    for dimension, recorded, chosen in (
        (8, "hash-64@16", "hash-64@8"),
        (32, "hash-64@16", "hash-64@32"),
        (1, f"{name}@2", f"{name}@1"),
        (own, f"{name}@2", name),
    ):
        settings = EmbeddingConfig(dimension=dimension)
        assert configured_embedder(settings, recorded).name == chosen


def test_configured_embedder_opens_an_endpoint_without_asking_it(cache):
    """What a knowledge base records spares the request for the dimension; nothing listens here."""
    config = EmbeddingConfig(base_url="http://127.0.0.1:9/v1", model="bge-m3", attempts=1)
    of_hash = open_endpoint(config, recorded="endpoint-bge-m3-1024-0000").name
    embedder = configured_embedder(config, "endpoint-bge-m3-1024-0000")

    assert embedder.dimension == 1024
    assert embedder.name == of_hash
    with pytest.raises(ModelError, match="is the server up"):
        _ = configured_embedder(config, "hash-64").dimension


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"concurrency": 9, "api_key_env": "K"}, "embedding.api_key_env, embedding.concurrency: "),
        ({"languages": "zh"}, "embedding.languages: only endpoints take heed of this"),
        ({"base_url": "http://127.0.0.1:9", "threads": 2}, "embedding.threads is for models of"),
        ({"base_url": "http://127.0.0.1:9", "concurrency": 9}, ""),
        ({"threads": 1, "dimension": 16}, ""),
    ],
)
def test_configured_embedder_tells_once_of_settings_that_are_not_for_it(
    cache, caplog, settings, told
):
    """Who writes them believes that they do something."""
    configured_embedder(EmbeddingConfig(model="hash-64", **settings))

    assert len(caplog.records) == bool(told)
    assert told in caplog.text


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


class Plain:
    """The least that an encoder has; gives what it is told to."""

    name: Any = "plain-1"
    dimension: Any = 2

    def __init__(self, rows=None):
        self.rows = rows

    def embed(self, texts, task):
        """Give the rows, or fail."""
        if isinstance(self.rows, Exception):
            raise self.rows
        return [[3, 4]] * len(texts) if self.rows is None else self.rows


def test_lists_become_unit_vectors():
    embedder = checked(Plain())
    vectors = embedder.embed(["a", "b"], "passage")
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [[0.6, 0.8]] * 2, rtol=1e-6)
    assert embedder.embed([], "query").shape == (0, 2)
    np.testing.assert_array_equal(checked(Plain([[0, 0]])).embed(["a"], "query"), [[0, 0]])


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([[1.0, 2.0, 3.0]], r"shape \(1, 3\); wanted are \(1, 2\)"),
        ([[1.0, 2.0]] * 2, r"shape \(2, 2\)"),
        ([], r"shape \(0,\)"),
        ([[1.0], [1.0, 2.0]], "no rows of numbers"),
        ([["a", "b"]], "no rows of numbers"),
        (5, "no rows of numbers"),
        ([[float("nan"), 1.0]], "not finite"),
        ([[1e300, 1.0]], "not finite"),
        (ValueError("out of paper"), "failed: ValueError: out of paper"),
    ],
)
def test_what_is_no_vector_of_each_text_is_an_error_that_names_the_class(rows, told):
    with pytest.raises(ModelError, match=rf"test_choose\.Plain .*{told}"):
        checked(Plain(rows)).embed(["a"], "query")


@pytest.mark.parametrize(
    ("attribute", "value", "told"),
    [
        ("name", None, "has no name of type str"),
        ("name", "", "a name of one line"),
        ("name", "a\nb", "a name of one line"),
        ("dimension", "2", "has no dimension of type int"),
        ("dimension", 0, "a dimension of at least 1"),
        ("answered", "high", "failed: ValueError: .*high"),
        ("embed", 5, r"no method embed\(texts, task\)"),
    ],
)
def test_what_is_no_encoder_is_refused_at_once(attribute, value, told):
    embedder = Plain()
    setattr(embedder, attribute, value)
    with pytest.raises(ModelError, match=told):
        checked(embedder)


def test_what_is_not_said_is_assumed():
    embedder = checked(Plain())
    assert (embedder.is_stand_in, embedder.languages) == (False, "")
    assert embedder.settings == {"model": "plain-1", "class": f"{__name__}.Plain"}
    assert embedder.answered is None
    told = Plain()
    told.is_stand_in, told.languages, told.settings = True, "zh", {"pooling": "mean"}  # type: ignore[attr-defined]
    embedder = checked(told, plugin="kgrag-plain")
    assert (embedder.is_stand_in, embedder.languages) == (True, "zh")
    assert embedder.settings["pooling"] == "mean"
    assert embedder.settings["plugin"] == "kgrag-plain"


def test_what_was_measured_is_of_whole_vectors():
    """Shorter vectors have other cosines."""
    told = Plain()
    told.answered = 0.7  # type: ignore[attr-defined]
    embedder = checked(told)
    assert embedder.answered == 0.7
    assert truncated(embedder, 1).answered is None


def test_truncated_rows_are_the_first_components_made_unit_again():
    """A row keeps its direction within the components that are left."""
    whole = HashEmbedder(64)
    cut = truncated(whole, 16)
    assert (cut.name, cut.settings["cut to"]) == ("hash-64@16", "16")
    rows, full = (
        cut.embed(["推进节能减排和资源循环利用", "有序实现碳达峰碳中和目标"], "passage"),
        whole.embed(["推进节能减排和资源循环利用", "有序实现碳达峰碳中和目标"], "query"),
    )
    assert rows.shape == (2, 16)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    for row, long in zip(rows, full[:, :16], strict=True):
        np.testing.assert_allclose(row, long / np.linalg.norm(long), atol=1e-6)


@pytest.mark.parametrize("dimension", [0, -1, 65])
def test_truncated_beyond_the_model_is_an_error(dimension):
    """The text names the setting and what is possible."""
    with pytest.raises(ModelError, match=r"embedding\.dimension is .* choose 1 to 64"):
        truncated(HashEmbedder(64), dimension)


TEXTS = [
    "到2025年，建成绿色工厂500家。",
    "绿色工厂建设目标：到2025年达到五百家。",
    "加强农村生活污水治理。",
]


def test_embed_gives_unit_rows_of_the_dimension():
    """Rows are float32 with length 1, whatever the dimension."""
    for dimension in (64, 1024):
        embedder = HashEmbedder(dimension)
        rows = embedder.embed(TEXTS, "passage")

        assert (embedder.name, embedder.is_stand_in) == (f"hash-{dimension}", True)

        assert rows.shape == (3, dimension)
        assert rows.dtype == np.float32
        assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 1], abs=1e-6)


def test_embed_dampens_repeated_words():
    """A feature that comes twice weighs 1 + ln 2, worked out by hand for `pue pue`.

    Twice: the word, `pu`, `ue`, `pue`; once: `ep`, `uep`, `epu`.
    """
    one, two = HashEmbedder(1 << 20).embed(["pue", "pue pue"], "passage")
    weight = 1 + math.log(2)

    assert one @ two == pytest.approx(4 * weight / (2 * math.sqrt(4 * weight**2 + 3)), abs=1e-6)


def test_embed_does_not_depend_on_the_process():
    """Python's own hash is salted for each process; ours must not be."""
    code = (
        "import sys, hashlib, warnings; warnings.simplefilter('ignore')\n"
        "from kgrag.embedding.hashing import HashEmbedder\n"
        "rows = HashEmbedder().embed(sys.argv[1:], 'passage')\n"
        "print(hashlib.sha256(rows.tobytes()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "PYTHONUTF8": "1"}
    other = subprocess.run(
        [sys.executable, "-c", code, *TEXTS],
        env=environment,
        capture_output=True,
        check=True,
        text=True,
    )
    ours = hashlib.sha256(HashEmbedder().embed(TEXTS, "passage").tobytes()).hexdigest()

    assert other.stdout.strip() == ours
