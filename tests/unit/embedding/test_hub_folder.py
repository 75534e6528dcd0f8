"""Folders from the hub: the model, its settings and its tokenizer, the weights."""

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kgrag.embedding.add import unpacked
from kgrag.embedding.catalog import ModelCard
from kgrag.embedding.hub_folder import (
    adapters,
    model_file,
    most_tokens,
    read_folder,
    settings_folder,
    tokenizer_file,
)
from kgrag.embedding.model_folder import ModelFolder
from kgrag.embedding.weights import (
    check_sizes,
    copy_safetensors,
    read_onnx_file,
    safetensors_precision,
)
from kgrag.errors import ModelError, ModelNotFoundError


def put(folder: Path, **files: Any) -> Path:
    """Write files; `__` in a keyword stands for a slash, and `.json` is added."""
    for name, data in files.items():
        path = folder / f"{name.replace('__', '/')}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data if isinstance(data, str) else json.dumps(data))
    return folder


def test_read_folder_gives_the_cards_defaults_for_an_empty_folder(tmp_path):
    """Nothing said: mean pooling, 512 tokens, no instructions, no adapters."""
    card = read_folder(tmp_path)

    assert (card.pooling, card.max_tokens, card.lower_case) == ("mean", 512, False)
    assert (card.query_instruction, card.passage_instruction) == ("", "")
    assert (card.query_adapter, card.passage_adapter, card.licence) == ("", "", "")
    assert (card.name, card.source) == (tmp_path.name, tmp_path.name)


@pytest.mark.parametrize(
    ("stated", "pooling"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode_lasttoken": True, "include_prompt": True}, "last"),
        ({"pooling_mode": "lasttoken"}, "last"),
        ({"word_embedding_dimension": 8}, "mean"),
    ],
)
def test_read_folder_takes_the_pooling_of_the_pooling_module(tmp_path, stated, pooling):
    """Older files have a switch for each mode, newer ones its name."""
    modules = [{"path": "", "type": "sentence_transformers.models.Transformer"},
               {"path": "2_Pool", "type": "sentence_transformers.models.Pooling"},
               {"path": "3", "type": "sentence_transformers.models.Normalize"}]  # fmt: skip
    put(tmp_path, modules=modules, **{"2_Pool__config": stated})

    assert read_folder(tmp_path).pooling == pooling


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"1_Pooling__config": {"pooling_mode_max_tokens": True}}, "pooling_mode_max_tokens"),
        (
            {"1_Pooling__config": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": 1}},
            "cls_token, pooling_mode_mean",
        ),
        (
            {"1_Pooling__config": {"pooling_mode": "mean", "include_prompt": False}},
            "mean without the prompt",
        ),
        ({"modules": [{"type": "sentence_transformers.models.Dense"}]}, "a Dense module"),
        ({"config": "{"}, r"cannot read .*config\.json"),
        ({"config": "[]"}, "must hold an object"),
        ({"modules": "{"}, r"cannot read .*modules\.json"),
    ],
)
def test_read_folder_refuses_what_would_be_left_out(tmp_path, files, message):
    """Another pooling, or a layer behind it, would give vectors of another model."""
    with pytest.raises(ModelError, match=f"{message}.*Remedy"):
        read_folder(put(tmp_path, **files))


def test_read_folder_takes_prompts_by_any_of_their_names(tmp_path):
    """Query and document, or the names of the tasks."""
    prompts = {"retrieval.query": "Q: ", "document": "D: ", "other": "X: "}
    card = read_folder(put(tmp_path, config_sentence_transformers={"prompts": prompts}))

    assert (card.query_instruction, card.passage_instruction) == ("Q: ", "D: ")


@pytest.mark.parametrize(
    ("config", "sbert", "tokenizer", "expected"),
    [
        ({"max_position_embeddings": 512}, None, None, 512),
        ({"max_position_embeddings": 512}, 256, 10**30, 256),
        ({"max_position_embeddings": 512}, None, 8192, 512),
        ({"max_position_embeddings": 514, "model_type": "xlm-roberta", "pad_token_id": 1},
         514, None, 512),
        ({"max_position_embeddings": 8194, "model_type": "jina_embeddings_v3", "pad_token_id": 1},
         None, None, 8192),
        ({}, None, 10**30, 512),
        ({}, None, 2048, 2048),
    ],
)  # fmt: skip
def test_read_folder_takes_the_lowest_sensible_limit(tmp_path, config, sbert, tokenizer, expected):
    """What sentence-transformers says, else the tokenizer, never above the positions."""
    put(tmp_path, config=config)
    if sbert:
        put(tmp_path, sentence_bert_config={"max_seq_length": sbert, "do_lower_case": True})
    if tokenizer:
        put(tmp_path, tokenizer_config={"model_max_length": tokenizer})
    card = read_folder(tmp_path)

    assert card.max_tokens == expected
    assert card.lower_case == bool(sbert)


def test_most_tokens_is_open_for_models_without_positions():
    """Relative positions know no limit."""
    assert most_tokens({"model_type": "t5"}) is None


def test_read_folder_knows_jina_by_its_kind(tmp_path):
    """Its instructions and licence stand nowhere in the transformers form."""
    for task in ("retrieval_query", "retrieval_passage", "separation"):
        put(tmp_path, **{f"{task}__adapter_config": {}})
    card = read_folder(put(tmp_path, config={"model_type": "jina_embeddings_v3"}))

    assert card.query_instruction == "Represent the query for retrieving evidence documents: "
    assert card.passage_instruction == "Represent the document for retrieval: "
    assert (card.query_adapter, card.passage_adapter) == ("retrieval_query", "retrieval_passage")
    assert card.licence == "cc-by-nc-4.0"
    assert adapters(tmp_path) == ["retrieval_passage", "retrieval_query", "separation"]


def test_read_folder_finds_adapters_however_they_are_spelt(tmp_path):
    """With dots, in a folder of adapters, or one for questions and passages alike."""
    dotted = put(tmp_path / "a", **{"retrieval.query__adapter_config": {}})
    assert read_folder(dotted).query_adapter == "retrieval.query"
    shared = read_folder(put(tmp_path / "b", adapters__retrieval__adapter_config={}))
    assert (shared.query_adapter, shared.passage_adapter) == ("adapters/retrieval",) * 2


@pytest.mark.parametrize(
    ("head", "licence", "languages"),
    [
        ("license: mit\nlanguage:\n- zh\n- en\n", "mit", "zh,en"),
        ("language: zh\ntags:\n- x\nlicense: apache-2.0\n", "apache-2.0", "zh"),
        ("language: [zh, en]\n", "", "zh,en"),
        ("license: mit\nlanguage:\n- multilingual\n- af\n", "mit", ""),
        ("nothing", "", ""),
    ],
)
def test_read_folder_takes_licence_and_languages_from_the_readme(
    tmp_path, head, licence, languages
):
    """The head of README.md, between its rules; models for all languages have none."""
    (tmp_path / "README.md").write_text(f"---\n{head}\n---\nlicense: none\n")
    card = read_folder(tmp_path)

    assert (card.licence, card.languages) == (licence, languages)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a": ' * 100_000, "9" * 5000, "5", "null", "\xff", "{"]
)
@pytest.mark.parametrize("name", ["config.json", "modules.json", "tokenizer_config.json"])
def test_read_folder_refuses_settings_that_are_none(tmp_path, name, text):
    """In words, or passes over what says nothing; however deep, long or broken it is."""
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    passed_over = name == "modules.json" and text in ("5", "null")
    with contextlib.nullcontext() if passed_over else pytest.raises(ModelError, match=name):
        read_folder(tmp_path)


def test_read_folder_does_not_read_settings_of_gigabytes(tmp_path):
    """They would fill the memory."""
    with (tmp_path / "config.json").open("wb") as file:
        file.truncate(1 << 34)
    with pytest.raises(ModelError, match="17,179,869,184 bytes are more than settings have"):
        read_folder(tmp_path)


@pytest.fixture
def make(tmp_path):
    """Return a function that writes empty files and returns their folder."""

    def made(*names):
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(b"")
        return tmp_path

    return made


def test_model_file_prefers_onnx_which_needs_no_torch(make):
    """A clone of the hub often has both; --file takes the other."""
    folder = make("config.json", "model.safetensors", "onnx/model.onnx", "pytorch_model.bin")

    assert model_file(folder) == folder / "onnx/model.onnx"
    assert model_file(folder, "model.safetensors") == folder / "model.safetensors"


@pytest.mark.parametrize(
    "names",
    [
        ("config.json", "model.safetensors", "task/adapter_model.safetensors"),
        ("config.json", "model.safetensors", "model.safetensors.index.json"),
    ],
)
def test_model_file_is_the_whole_model_in_its_makers_format(make, names):
    """Adapters are none, nor is an index beside the weights."""
    folder = make(*names)

    assert model_file(folder) == folder / "model.safetensors"


def test_model_file_takes_an_index_for_weights_in_parts(make):
    """A large model's."""
    folder = make("deep/config.json", "deep/model.safetensors.index.json")

    assert model_file(folder).name == "model.safetensors.index.json"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), r"holds no model \(\*\.onnx or model\.safetensors\)\. Remedy"),
        (("config.json", "pytorch_model.bin"), r"only pytorch_model\.bin .*never opened"),
        (("model.safetensors",), "holds no model"),
        (("a.onnx", "b.onnx"), r"2 models: a\.onnx \(0 MB\), b\.onnx .* --file a\.onnx"),
    ],
)
def test_model_file_says_what_is_there_instead(make, names, message):
    """Weights without a config are no model, pickles are not opened."""
    with pytest.raises(ModelError, match=message):
        model_file(make(*names))


def test_settings_folder_is_the_nearest_with_settings(make):
    """Those of sentence-transformers first; without any, what was given."""
    folder = make("a/modules.json", "a/config.json", "a/onnx/config.json", "a/onnx/m.onnx", "b/m")

    assert settings_folder(folder, folder / "a/onnx/m.onnx") == folder / "a"
    assert settings_folder(folder, folder / "b/m") == folder


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("tokenizer.json", "onnx/m.onnx"), "tokenizer.json"),
        (("tokenizer.json", "onnx/tokenizer.json", "onnx/m.onnx"), "onnx/tokenizer.json"),
        (("onnx/m.onnx", "onnx/small-tokenizer.json"), "onnx/small-tokenizer.json"),
        (("onnx/m.onnx", "onnx/x-tokenizer.json", "onnx/tokenizer.json"), "onnx/tokenizer.json"),
        (("onnx/m.onnx", "vocabulary/tokenizer.json"), "vocabulary/tokenizer.json"),
        (("onnx/m.onnx", "tokenizer_config.json", "tokenizer.json"), "tokenizer.json"),
    ],
)
def test_tokenizer_file_is_the_nearest(make, names, expected):
    """Beside the model, above it, elsewhere; its config is none."""
    folder = make(*names)

    assert tokenizer_file(folder, folder / "onnx/m.onnx") == folder / expected


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("m.onnx", "vocab.txt", "tokenizer_config.json"), "holds no tokenizer .*vocab.txt"),
        (("m.onnx", "a_tokenizer.json", "b_tokenizer.json"), "2 tokenizers: a_tokenizer"),
    ],
)
def test_tokenizer_file_says_what_is_wrong(make, names, message):
    """None, or two as near."""
    folder = make(*names)

    with pytest.raises(ModelError, match=message):
        tokenizer_file(folder, folder / "m.onnx")


def test_unpacked_leaves_a_folder_alone(tmp_path):
    """It is the user's."""
    with unpacked(tmp_path, tmp_path / "target") as folder:
        assert folder == tmp_path
    assert tmp_path.is_dir()


def test_model_file_does_not_look_through_a_whole_disk(make, monkeypatch):
    """A home folder is none of a model."""
    monkeypatch.setattr("kgrag.embedding.hub_folder._MAX_FILES", 3)
    with pytest.raises(ModelError, match="more than 3 files"):
        model_file(make("a.onnx", "b/1", "b/2", "c/3"))


def test_check_sizes_refuses_a_tokenizer_of_gigabytes(tmp_path):
    """It is read into memory."""
    for name, size in (("m.onnx", 5), ("tokenizer.json", 1 << 30)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    with pytest.raises(ModelError, match=r"tokenizer.json 1,073,741,824; at most"):
        check_sizes([tmp_path / "m.onnx"], tmp_path / "tokenizer.json", tmp_path)


onnx = pytest.importorskip("onnx", reason="graphs are made with the onnx package")


def write(path, weights, *, operators=("Identity",), branch=()):
    """Write a graph with weights and operators that need not make sense."""
    helper = onnx.helper
    nodes = [helper.make_node(name, ["x"], [f"y{i}"]) for i, name in enumerate(operators)]
    if branch:
        inner = helper.make_graph([], "inner", [], [], list(branch))
        nodes.append(helper.make_node("If", ["x"], ["z"], then_branch=inner))
    graph = helper.make_graph(nodes, "g", [], [], list(weights))
    path.write_bytes(helper.make_model(graph).SerializeToString())
    return path


def tensor(kind, *shape):
    """Return weights of a type."""
    return onnx.numpy_helper.from_array(np.zeros(shape, kind), "w")


def beside(location):
    """Return weights that lie in another file."""
    weights = tensor(np.float32, 2, 3)
    weights.ClearField("raw_data")
    weights.data_location = onnx.TensorProto.EXTERNAL
    weights.external_data.add(key="location", value=location)
    return weights


@pytest.mark.parametrize(
    ("weights", "operators", "precision"),
    [
        ([tensor(np.float32, 9, 9), tensor(np.int64, 99, 99)], ["MatMul"], "float32"),
        ([tensor(np.float16, 9, 9), tensor(np.float32, 2)], ["MatMul"], "float16"),
        ([tensor(np.float32, 9, 9)], ["DynamicQuantizeLinear", "MatMulInteger"], "int8"),
        ([tensor(np.uint8, 9, 9)], ["MatMulNBits"], "int4"),
        ([tensor(np.int8, 9, 9), tensor(np.float32, 9)], ["DequantizeLinear"], "int8"),
        ([], ["Identity"], ""),
    ],
)
def test_precision_is_that_of_the_arithmetic_or_of_most_weights(
    tmp_path, weights, operators, precision
):
    """Whole numbers in an operator decide; lists of places count for nothing."""
    assert (
        read_onnx_file(write(tmp_path / "a", weights, operators=operators)).precision == precision
    )


def test_weights_beside_the_file_are_named(tmp_path):
    """Also those of a branch, each file once."""
    path = write(tmp_path / "a", [beside("b.data"), beside("b.data")], branch=[beside("a_data")])

    assert read_onnx_file(path).weights == ("a_data", "b.data")


@pytest.mark.parametrize("location", ["../x", "/etc/passwd", "a/b", "..", "", "a\\b"])
def test_weights_elsewhere_are_refused(tmp_path, location):
    """A model may not name files outside of its folder."""
    with pytest.raises(ModelError, match="not a file beside it"):
        read_onnx_file(write(tmp_path / "a", [beside(location)]))


def test_a_file_that_is_cut_short_is_refused_wherever_it_ends(tmp_path):
    """At every byte: nothing else than our error comes of it."""
    whole = write(tmp_path / "a", [tensor(np.float32, 4)]).read_bytes()
    graph = whole.rindex(b"\x42")  # behind it only the version of the operators
    for end in range(graph):
        (tmp_path / "a").write_bytes(whole[:end])
        with pytest.raises(ModelError, match="not an ONNX file"):
            read_onnx_file(tmp_path / "a")


@pytest.mark.parametrize(
    "content", [b"<html>404</html>", b"\x89PNG\r\n\x1a\n", b"\xff" * 99, b"{}"]
)
def test_other_files_are_refused(tmp_path, content):
    """What a server sent in place of the file."""
    (tmp_path / "a").write_bytes(content)

    with pytest.raises(ModelError, match=r"not an ONNX file.*Remedy: download it again"):
        read_onnx_file(tmp_path / "a")


def test_a_pointer_of_git_is_told_as_what_it_is(tmp_path):
    """The usual result of a clone without LFS."""
    (tmp_path / "a").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")

    with pytest.raises(ModelError, match="git lfs pull"):
        read_onnx_file(tmp_path / "a")


def field(number, data):
    """Return a field of a protocol buffer that holds bytes."""
    size, length = len(data), b""
    while size > 0x7F:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + data


@pytest.mark.parametrize(
    ("dims", "said"),
    [(b"\xff" * 8 + b"\x7f", "more numbers than a model has"), (b"\0" * 40, "more numbers")],
    ids=["a number beyond all memory", "dimensions without end"],
)
def test_absurd_dimensions_are_refused(tmp_path, dims, said):
    """The product of a million numbers would take hours."""
    graph = field(1, field(4, b"Identity")) + field(5, field(1, dims))
    (tmp_path / "a").write_bytes(field(7, graph))
    with pytest.raises(ModelError, match=said):
        read_onnx_file(tmp_path / "a")


def test_graphs_in_graphs_are_refused_where_they_have_no_end(tmp_path):
    """Some thousand fit into a small file."""
    graph = field(1, field(4, b"Identity"))
    for _ in range(2000):
        graph = field(1, field(5, field(6, graph)))
    (tmp_path / "a").write_bytes(field(7, graph))
    with pytest.raises(ModelError, match="graphs in graphs"):
        read_onnx_file(tmp_path / "a")


def test_a_file_of_too_many_parts_is_refused(tmp_path, monkeypatch):
    """To read each takes a microsecond, and a gigabyte has room for many."""
    monkeypatch.setattr("kgrag.embedding.weights._MOST_FIELDS", 98)
    (tmp_path / "a").write_bytes(field(7, field(1, field(4, b"Identity")) * 99))
    with pytest.raises(ModelError, match="more parts than a model has"):
        read_onnx_file(tmp_path / "a")


def test_a_file_beyond_what_a_protocol_buffer_holds_is_refused(tmp_path):
    """It is not looked through."""
    with (tmp_path / "a").open("wb") as file:
        file.truncate(1 << 31)
    with pytest.raises(ModelError, match="less than 2 GB"):
        read_onnx_file(tmp_path / "a")


def safetensors(path: Path, **tensors: tuple[str, int]) -> Path:
    """Write a safetensors file of zeros: each tensor's type and bytes."""
    head: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, (dtype, size) in tensors.items():
        head[name] = {"dtype": dtype, "shape": [size], "data_offsets": [end, end + size]}
        end += size
    data = json.dumps(head).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(len(data).to_bytes(8, "little") + data + bytes(end))
    return path


@pytest.fixture
def maker(tmp_path: Path) -> Path:
    """A folder as the hub has it, with more in it than is needed."""
    folder = tmp_path / "maker"
    safetensors(folder / "model.safetensors", a=("BF16", 64), b=("F32", 8))
    safetensors(folder / "retrieval_query" / "adapter_model.safetensors", a=("F32", 4))
    (folder / "retrieval_query" / "adapter_config.json").write_text("{}")
    config = {"model_type": "bert", "auto_map": {"AutoModel": "x.Y"}, "attn_implementation": "a/b"}
    (folder / "config.json").write_text(json.dumps(config))
    for name in ("pytorch_model.bin", "modeling.py", "README.md", "tokenizer.json"):
        (folder / name).write_text(name)
    return folder


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "target"
    folder.mkdir()
    return folder


def names(folder: Path) -> list[str]:
    """Return the files in a folder, relative to it."""
    return sorted(f.relative_to(folder).as_posix() for f in folder.rglob("*") if f.is_file())


def test_copy_safetensors_takes_weights_config_and_adapters_alone(maker, target):
    """Nothing that could be run comes along, nor what would make transformers look for it."""
    assert copy_safetensors(maker, target, ("retrieval_query",)) == "bfloat16"
    assert names(target) == [
        "config.json",
        "model.safetensors",
        "retrieval_query/adapter_config.json",
        "retrieval_query/adapter_model.safetensors",
    ]
    assert json.loads((target / "config.json").read_text()) == {"model_type": "bert"}


def test_copy_safetensors_takes_weights_in_parts(maker, target):
    """Large models come in several files with an index."""
    (maker / "model.safetensors").unlink()
    parts = {"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-1.safetensors"}
    for name in set(parts.values()):
        safetensors(maker / name, a=("F16", 4))
    index = maker / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": parts}))
    assert copy_safetensors(maker, target, ()) == "float16"
    assert names(target)[1:] == ["model-1.safetensors", "model-2.safetensors", index.name]

    index.write_text(json.dumps({"weight_map": {"a": "../model-1.safetensors"}}))
    with pytest.raises(ModelError, match=r"outside.*Remedy"):
        copy_safetensors(maker, target, ())


def test_copy_safetensors_says_what_is_missing(maker, target):
    """No weights, weights in a format that may hold code, an adapter's weights."""
    (maker / "retrieval_query" / "adapter_model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"adapter_model\.safetensors is missing.*Remedy"):
        copy_safetensors(maker, target, ("retrieval_query",))
    (maker / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"only pytorch_model\.bin, which may hold code.*Remedy"):
        copy_safetensors(maker, target, ())
    (maker / "pytorch_model.bin").unlink()
    with pytest.raises(ModelError, match=r"has no model\.safetensors\. Remedy"):
        copy_safetensors(maker, target, ())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer"),
        (b"<html>not found</html>", "is not a safetensors file"),
        (b"", "is not a safetensors file"),
        (b"\x02\0\0\0\0\0\0\0{}", "is not a safetensors file"),
        (b"\x02\0\0\0\0\0\0\0[]", "is not a safetensors file"),
        (b'\x0f\0\0\0\0\0\0\0{"a":{"dtype":1}}', "is not a safetensors file"),
    ],
)
def test_safetensors_precision_refuses_what_is_none(tmp_path, data, message):
    """A pointer of Git LFS is the commonest of them."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(data)

    with pytest.raises(ModelError, match=f"{message}.*Remedy"):
        safetensors_precision(path)


def test_safetensors_precision_tells_a_download_that_was_cut_short(tmp_path):
    """The head says how long the file is."""
    path = safetensors(tmp_path / "model.safetensors", a=("F32", 400))
    path.write_bytes(path.read_bytes()[:-1])

    with pytest.raises(ModelError, match=r"cut short.*Remedy"):
        safetensors_precision(path)


def test_seal_hashes_the_tokenizer_apart_from_the_rest(maker):
    """A changed adapter is another model, a changed tokenizer another tokenizer."""
    model, tokenizer = ModelFolder(maker).seal()
    (maker / "files.json").unlink()
    (maker / "tokenizer.json").write_text("other")
    other = ModelFolder(maker).seal()
    (maker / "files.json").unlink()
    (maker / "retrieval_query" / "adapter_config.json").write_text("{ }")
    third = ModelFolder(maker).seal()

    assert len(model) == len(tokenizer) == 64
    assert other[0] == model
    assert other[1] != tokenizer
    assert third[0] != model
    assert third[1] == other[1]


def sealed(folder: Path) -> ModelCard:
    """Return a card for a folder, once its files are hashed."""
    model, tokenizer = ModelFolder(folder).seal()
    card = ModelCard(
        name="mine",
        dimension=1,
        format="transformers",
        model_sha256=model,
        tokenizer_sha256=tokenizer,
    )
    ModelFolder(folder).write_card(card)
    return card


def test_check_files_accepts_what_was_sealed(maker):
    """A card lies beside the files and is none of them."""
    sealed(maker)

    assert ModelFolder(maker).check().name == "mine"


def test_check_files_refuses_a_file_that_is_gone_or_changed(maker):
    """Same length, other bytes: the hash tells; the error names the file and the remedy."""
    sealed(maker)
    path = maker / "config.json"
    path.write_text(path.read_text().replace("bert", "gert"))
    with pytest.raises(ModelError, match=r"config\.json is damaged.*models add PATH --name mine"):
        ModelFolder(maker).check()
    path.unlink()
    with pytest.raises(ModelNotFoundError, match=r"config\.json is missing.*Remedy"):
        ModelFolder(maker).check()


def test_check_files_compares_only_the_size_of_large_files(maker, monkeypatch):
    """A gigabyte is not hashed at every opening."""
    monkeypatch.setattr("kgrag.embedding.model_folder._QUICK_BYTES", 60)
    sealed(maker)
    path = maker / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    ModelFolder(maker).check()
    path.write_bytes(path.read_bytes()[:-1])

    with pytest.raises(ModelError, match="is damaged"):
        ModelFolder(maker).check()


def test_check_files_refuses_another_models_list(maker):
    """The card and the list of files belong together."""
    sealed(maker)
    (maker / "files.json").write_text("{}")

    with pytest.raises(ModelError, match=r"does not describe.*Remedy"):
        ModelFolder(maker).check()


@pytest.mark.parametrize(
    "head",
    [
        b"[" * 100_000,
        b'{"a": {"dtype": [], "data_offsets": [0, {}]}}',
        b'{"a": {"dtype": "F32", "data_offsets": [0]}}',
        b'{"a": 1}',
        b"{}",
    ],
)
def test_safetensors_precision_refuses_heads_of_strangers(tmp_path, head):
    """However they are made."""
    (tmp_path / "a").write_bytes(len(head).to_bytes(8, "little") + head)
    with pytest.raises(ModelError, match="not a safetensors file"):
        safetensors_precision(tmp_path / "a")


def test_safetensors_precision_reads_no_head_of_gigabytes(tmp_path):
    """A file of holes is as large as it likes to be."""
    with (tmp_path / "a").open("wb") as file:
        file.write((10 * 1024**3).to_bytes(8, "little"))
        file.truncate(11 * 1024**3)
    with pytest.raises(ModelError, match="not a safetensors file"):
        safetensors_precision(tmp_path / "a")
