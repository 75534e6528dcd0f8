"""Where in a folder the model, its settings and its tokenizer lie."""

import pytest

from kgrag.embedding.archive import unpacked
from kgrag.embedding.model_files import check_sizes, hub_folder, model_file, tokenizer_file
from kgrag.errors import ModelError


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


def test_hub_folder_is_the_nearest_with_settings(make):
    """Those of sentence-transformers first; without any, what was given."""
    folder = make("a/modules.json", "a/config.json", "a/onnx/config.json", "a/onnx/m.onnx", "b/m")

    assert hub_folder(folder, folder / "a/onnx/m.onnx") == folder / "a"
    assert hub_folder(folder, folder / "b/m") == folder


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
    monkeypatch.setattr("kgrag.embedding.model_files._MAX_FILES", 3)
    with pytest.raises(ModelError, match="more than 3 files"):
        model_file(make("a.onnx", "b/1", "b/2", "c/3"))


def test_check_sizes_refuses_a_tokenizer_of_gigabytes(tmp_path):
    """It is read into memory."""
    for name, size in (("m.onnx", 5), ("tokenizer.json", 1 << 30)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    with pytest.raises(ModelError, match=r"tokenizer.json 1,073,741,824; at most"):
        check_sizes([tmp_path / "m.onnx"], tmp_path / "tokenizer.json", tmp_path)
