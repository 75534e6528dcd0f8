"""Encoders run by transformers: reference vectors, batches, adapters, spans, damage."""

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kgrag.embedding.folder import read_folder
from kgrag.embedding.installed import read_card, write_card
from kgrag.embedding.pieces import windows
from kgrag.embedding.transformers_add import add_transformers
from kgrag.embedding.transformers_model import TransformersEmbedder, batches
from kgrag.errors import ModelError, ModelNotFoundError

pytestmark = [pytest.mark.jina, pytest.mark.filterwarnings("ignore")]

JINA = "jina_embeddings_v3"
FAMILIES = (JINA, "bert", "xlm-roberta", "modernbert")
TEXTS = ["绿色工厂", "a", "减排目标，减排目标。" * 5, "green factory", "b c", "色" * 40]
CLOSE = 1e-5  # of float32 on a processor, as the class promises


@pytest.fixture
def install(hub_folder: Callable[[str], Path], tmp_path: Path) -> Callable[..., Path]:
    """Return a function that installs a model of a family, used as the card's fields say."""

    def installed(family: str, **changes: Any) -> Path:
        source = hub_folder(family)
        folder = tmp_path / "models" / source.parent.name
        folder.mkdir(parents=True)
        given = dataclasses.replace(read_folder(source), name="tiny", **changes)
        write_card(add_transformers(source, folder, given), folder)
        return folder

    return installed


def reference(folder: Path, text: str, adapter: str = "") -> Any:
    """Return the states of one text as transformers itself gives them, with special tokens."""
    import torch
    import transformers
    from tokenizers import Tokenizer

    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32)
    if adapter:
        model.load_adapter(str(folder / adapter), adapter_name="only")
    ids = torch.tensor([Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).ids])
    with torch.no_grad():
        return model.eval()(input_ids=ids).last_hidden_state[0].numpy()


def unit(vector: Any) -> Any:
    """Return the vector with length 1."""
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("pooling", ["cls", "mean", "last"])
def test_embed_gives_what_the_model_gives_for_a_text_alone(install, family, pooling):
    """Each family and pooling, in a batch with padding, against one text without any."""
    folder = install(family, pooling=pooling, query_instruction="", passage_instruction="")
    adapter = "retrieval_passage" if family == JINA else ""
    rows = TransformersEmbedder.from_folder(folder).embed(TEXTS[:4], "passage")

    for text, row in zip(TEXTS, rows, strict=False):
        states = reference(folder, text, adapter)
        pooled = {"cls": states[0], "mean": states.mean(axis=0), "last": states[-1]}[pooling]
        assert np.abs(row - unit(pooled)).max() < CLOSE


@pytest.mark.parametrize("family", FAMILIES)
def test_embed_does_not_depend_on_the_company(install, family):
    """A text alone, in one batch, and in batches of two has the same vector to 1e-5."""
    embedder = TransformersEmbedder.from_folder(install(family))
    together = embedder.embed(TEXTS, "passage")
    embedder._network.batch_tokens = 90
    apart = embedder.embed(TEXTS[::-1], "passage")[::-1]

    assert np.abs(together - apart).max() < CLOSE
    for text, row in zip(TEXTS, together, strict=True):
        assert np.abs(embedder.embed([text], "passage")[0] - row).max() < CLOSE
        assert np.linalg.norm(row) == pytest.approx(1)


def test_embed_takes_the_adapter_of_the_task(install):
    """Questions and passages are read by their own adapters, in either order of loading."""
    folder = install(JINA, query_instruction="", passage_instruction="")
    embedder = TransformersEmbedder.from_folder(folder)

    for task in ("passage", "query", "passage"):
        (row,) = embedder.embed(["绿色工厂"], task)
        expected = unit(reference(folder, "绿色工厂", f"retrieval_{task}").mean(axis=0))
        assert np.abs(row - expected).max() < CLOSE
    assert np.abs(embedder.embed(["绿色工厂"], "query")[0] - expected).max() > 0.01


def test_embed_leaves_the_adapter_out_where_a_task_has_none(install):
    """A model of another kind may have an adapter for questions alone."""
    folder = install(JINA, query_instruction="", passage_instruction="")
    card = dataclasses.replace(read_card(folder), passage_adapter="")
    embedder = TransformersEmbedder.from_card(folder, card)
    query, passage = (embedder.embed(["a"], task)[0] for task in ("query", "passage"))

    assert np.abs(embedder.embed(["a"], "query")[0] - query).max() < CLOSE
    assert np.abs(passage - unit(reference(folder, "a").mean(axis=0))).max() < CLOSE
    assert np.abs(query - passage).max() > 0.01


def test_embed_puts_the_instruction_of_the_task_first(install):
    """An instruction is text before the text."""
    embedder = TransformersEmbedder.from_folder(install("bert", query_instruction="ask: "))

    (asked,) = embedder.embed(["绿色"], "query")
    assert np.abs(asked - embedder.embed(["ask: 绿色"], "passage")[0]).max() < CLOSE
    assert np.abs(asked - embedder.embed(["绿色"], "passage")[0]).max() > 0.01


def test_embed_cuts_texts_at_the_limit_of_tokens(install):
    """10 tokens are <s>, eight characters, </s>; what follows is not read."""
    embedder = TransformersEmbedder.from_folder(install("bert", max_tokens=10))
    exact, longer, shorter = embedder.embed(["a" * 8, "a" * 8 + "b" * 99, "a" * 7], "passage")

    assert np.abs(exact - longer).max() < CLOSE
    assert np.abs(exact - shorter).max() > CLOSE


def test_embed_keeps_the_order_and_encodes_equal_texts_once(install):
    """Row i belongs to text i; what repeats is not run again."""
    embedder = TransformersEmbedder.from_folder(install("bert"))
    read: list[int] = []
    pooled = embedder._network.pooled

    def counting(batch, task):
        read.append(len(batch))
        return pooled(batch, task)

    embedder._network.pooled = counting  # type: ignore[method-assign]
    texts = ["ab", "b", "", "ab", "减排目标", "b"]
    rows = embedder.embed(texts, "passage")

    assert sum(read) == 3
    for text, row in zip(texts, rows, strict=True):
        assert np.abs(embedder.embed([text], "passage")[0] - row).max() < CLOSE


def test_embed_gives_zero_for_empty_texts_and_no_rows_for_none(install):
    """An empty text is like nothing, also where an instruction would stand before it."""
    embedder = TransformersEmbedder.from_folder(install(JINA))

    assert not embedder.embed(["", " \n"], "query").any()
    assert embedder.embed([], "query").shape == (0, 32)


def test_embed_lowers_the_case_when_the_card_says_so(install):
    """Letters whose small form is two characters stay, so that places do not move."""
    embedder = TransformersEmbedder.from_folder(install("bert", lower_case=True))
    rows = embedder.embed(["abc", "ABC", "İab", "İAB"], "passage")

    assert (rows[0] == rows[1]).all()
    assert (rows[2] == rows[3]).all()


def test_embed_takes_texts_that_are_not_valid_unicode(install):
    """Half a surrogate pair from a broken file is one unknown character."""
    rows = TransformersEmbedder.from_folder(install("bert")).embed(["a\ud800", "a?"], "passage")

    assert np.abs(rows[0] - rows[1]).max() < CLOSE


def test_embed_may_be_called_from_several_threads(install):
    """Switching adapters in one thread does not disturb another."""
    embedder = TransformersEmbedder.from_folder(install(JINA), threads=1)
    tasks = ["query", "passage"] * 8
    expected = {task: embedder.embed(TEXTS[:3], task) for task in ("query", "passage")}
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda task: embedder.embed(TEXTS[:3], task), tasks))

    for task, rows in zip(tasks, results, strict=True):
        assert np.abs(rows - expected[task]).max() < CLOSE


def test_embed_spans_averages_the_states_of_the_tokens_of_a_span(install):
    """The text is read whole; special tokens and the instruction are in no span."""
    folder = install(JINA, passage_instruction="doc: ")
    text = "绿色工厂，减排目标。"
    states = reference(folder, "doc: " + text, "retrieval_passage")[6:-1]  # <s>, doc: and </s>
    spans = [(0, 4), (5, 10), (0, len(text)), (3, 3), (2, 3)]

    (rows,) = TransformersEmbedder.from_folder(folder).embed_spans([text], [spans])

    assert rows.shape == (5, 32)
    assert rows.dtype == np.float32
    for (start, end), row in zip(spans, rows, strict=True):
        expected = unit(states[start:end].mean(axis=0)) if start < end else np.zeros(32)
        assert np.abs(row - expected).max() < CLOSE


def test_embed_spans_sees_the_context_of_a_span(install):
    """The same words elsewhere have another vector: that is what late chunking is for."""
    embedder = TransformersEmbedder.from_folder(install(JINA))
    first, second = embedder.embed_spans(["绿色工厂", "减排绿色"], [[(0, 2)], [(2, 4)]])

    assert np.abs(first - second).max() > 0.01


def test_embed_spans_reads_long_texts_in_windows(install):
    """A span's states come from the windows that keep its tokens; each window is prompted."""
    folder = install("bert", max_tokens=20, passage_instruction="d:")
    text = "绿色工厂减排目标，abcdefghijklmnopqrstuvwxyz" * 2
    spans = [(0, 10), (10, 40), (len(text) - 3, len(text)), (0, len(text))]
    states = np.zeros((len(text), 32), np.float32)
    parts = windows(len(text), 20 - 4)  # <s>, </s>, d and :
    for part in parts:
        own = reference(folder, "d:" + text[part.start : part.end])[3:-1]
        states[part.keep_from : part.keep_to] = own[
            part.keep_from - part.start : part.keep_to - part.start
        ]

    (rows,) = TransformersEmbedder.from_folder(folder).embed_spans([text], [spans])

    assert len(parts) > 3
    for (start, end), row in zip(spans, rows, strict=True):
        assert np.abs(row - unit(states[start:end].mean(axis=0))).max() < CLOSE


def test_embed_spans_keeps_order_over_texts_of_any_length(install):
    """Batches are by length, answers by place; blank spans are zero, texts without spans empty."""
    embedder = TransformersEmbedder.from_folder(install("bert", max_tokens=20))
    texts = ["a b", "减排目标" * 9, "", "绿色"]
    spans = [[(0, 1), (1, 2)], [(0, 36)], [], [(0, 2)]]
    together = embedder.embed_spans(texts, spans)

    assert [rows.shape for rows in together] == [(2, 32), (1, 32), (0, 32), (1, 32)]
    assert not together[0][1].any()
    for text, of_text, rows in zip(texts, spans, together, strict=True):
        (alone,) = embedder.embed_spans([text], [of_text])
        assert np.abs(alone - rows).max(initial=0) < CLOSE


def test_embed_spans_refuses_an_instruction_as_long_as_the_limit(install):
    """There would be no room for the text."""
    embedder = TransformersEmbedder.from_folder(
        install("bert", max_tokens=8, passage_instruction="passage: ")
    )
    with pytest.raises(ModelError, match="instruction has 9 tokens"):
        embedder.embed_spans(["绿色"], [[(0, 2)]])


def test_name_tells_the_weights_and_the_settings(install):
    """The same files pooled otherwise are another model; the same again are the same."""
    first, again, other = (
        TransformersEmbedder.from_folder(install("bert", pooling=pooling))
        for pooling in ("mean", "mean", "cls")
    )

    assert first.name == again.name != other.name
    assert first.name.startswith("tiny-")
    assert first.name.split("-")[1] == other.name.split("-")[1]
    assert not first.is_stand_in


def test_settings_tell_what_decides_the_vectors(install):
    """People see adapter, instruction, pooling, limit and precision."""
    settings = TransformersEmbedder.from_folder(install(JINA, query_instruction="q: ")).settings

    assert settings["query"] == "adapter retrieval_query, instruction q: "
    assert (settings["pooling"], settings["max_tokens"]) == ("mean", "64")
    assert settings["precision"] == "float32"


def test_from_folder_refuses_files_that_were_changed(install):
    """A file that is gone, another config, shorter weights: each is named with the remedy."""
    damages: tuple[tuple[str, Callable[[bytes], bytes] | None, type[ModelError], str], ...] = (
        ("card.json", None, ModelNotFoundError, "is missing"),
        ("model.safetensors", None, ModelNotFoundError, "is missing"),
        ("config.json", lambda data: data.replace(b"gelu", b"relu"), ModelError, "is damaged"),
        ("model.safetensors", lambda data: data[:-8], ModelError, "is damaged"),
        ("files.json", lambda data: data.replace(b"config", b"konfig"), ModelError, "describe"),
    )
    for name, change, error, text in damages:
        folder = install("bert")
        data = (folder / name).read_bytes()
        (folder / name).unlink() if change is None else (folder / name).write_bytes(change(data))
        with pytest.raises(error, match=f"{text}.*Remedy: kgrag models add"):
            TransformersEmbedder.from_folder(folder)


def test_from_folder_refuses_no_threads(tmp_path):
    """Somebody has to do the work."""
    with pytest.raises(ValueError, match="at least 1"):
        TransformersEmbedder.from_folder(tmp_path, threads=0)


def test_embed_refuses_another_dimension_than_the_card_says(install):
    """A wrong card is found at the first text, whole or in spans."""
    folder = install("bert")
    card = dataclasses.replace(read_folder(folder), dimension=31)
    embedder = TransformersEmbedder.from_card(folder, card)

    with pytest.raises(ModelError, match="vectors of 32, its card says 31"):
        embedder.embed(["a"], "passage")
    with pytest.raises(ModelError, match="vectors of 32, its card says 31"):
        embedder.embed_spans(["a"], [[(0, 1)]])


def test_embed_refuses_vectors_without_direction(install):
    """Weights that give infinities are broken; that must not enter a store."""
    embedder = TransformersEmbedder.from_folder(install("bert"))
    embedder._network._model.embeddings.LayerNorm.weight.data[:] = float("nan")

    with pytest.raises(ModelError, match="vector of length nan"):
        embedder.embed(["a"], "passage")


def test_batches_are_of_like_length_and_cover_all():
    """Each place comes once; padded tokens stay below the limit unless one text is above it."""
    lengths = [5, 70, 5, 30, 31, 2, 2, 2]
    found = list(batches(lengths, 62))

    assert sorted(place for batch in found for place in batch) == list(range(8))
    assert found[:2] == [[1], [4, 3]]
    assert all(
        len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= 62 for batch in found
    )
