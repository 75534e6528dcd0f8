"""Models that are added, and the catalogue."""

import dataclasses
import json
import os
import shutil
import struct
import zipfile
from collections import namedtuple
from pathlib import Path

import pytest

from kgrag.embedding import add
from kgrag.embedding.add import add_model, proven, unpacked, with_files
from kgrag.embedding.catalog import (
    CATALOG,
    ModelCard,
    find_entry,
    is_name,
)
from kgrag.embedding.choose import open_embedder
from kgrag.embedding.model_folder import (
    CARD_FILE,
    MODEL_FILE,
    TOKENIZER_FILE,
    ModelFolder,
    installed_models,
)
from kgrag.errors import GarbledTextError, ModelError


@pytest.fixture
def known(monkeypatch, tiny_entry):
    """The tiny model as a catalogued one."""
    monkeypatch.setattr(add, "CATALOG", (tiny_entry,))
    return tiny_entry


def make_zip(path: Path, **members: bytes) -> Path:
    """Write a zip; `__` in a keyword stands for a slash, `_D` for a dot."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in members.items():
            out.writestr(name.replace("__", "/").replace("_D", "."), data)
    return path


def test_add_model_takes_a_folder_with_the_given_settings(cache, tiny_files):
    """Pooling and instruction are the user's; the dimension is measured."""
    card = add_model(tiny_files, name="mine", pooling="cls", query_instruction="b", max_tokens=9)

    assert card.folder == cache / "mine"
    assert (card.dimension, card.pooling, card.query_instruction) == (3, "cls", "b")
    assert (card.max_tokens, card.licence) == (9, "")
    assert open_embedder("mine").embed(["a"], "query")[0] == pytest.approx([0, 0, 1])
    assert installed_models() == [card]


@pytest.mark.parametrize("suffix", [".zip", ".jar"])
def test_add_model_takes_an_archive_and_names_it_after_its_stem(
    cache, tiny_files, tmp_path, suffix
):
    """Folders inside do not matter, a tokenizer_config.json is not the tokenizer."""
    archive = make_zip(
        tmp_path / f"My Model v1.5{suffix}",
        deep__small_Donnx=(tiny_files / MODEL_FILE).read_bytes(),
        small_tokenizer_Djson=(tiny_files / TOKENIZER_FILE).read_bytes(),
        tokenizer_config_Djson=b"{}",
        META__MANIFEST=b"",
    )
    card = add_model(archive)

    assert (card.name, card.pooling, card.source) == ("my-model-v1.5", "mean", archive.name)
    assert (cache / card.name / MODEL_FILE).read_bytes() == (tiny_files / MODEL_FILE).read_bytes()


def test_add_model_knows_files_by_their_hashes(cache, known, tiny_files):
    """Known files bring their own card and name; the settings given do not spoil it."""
    card = add_model(tiny_files, query_instruction="wrong")

    assert dataclasses.replace(card, folder=None) == known.card
    card = add_model(tiny_files, name="mine", pooling="cls")
    assert card == dataclasses.replace(known.card, name="mine", folder=cache / "mine")


def test_add_model_checks_unknown_files_under_a_catalogued_name(
    cache, known, tiny_files, tmp_path, write_model
):
    """`--name` of a catalogued model brings its card, if the model passes its checks."""
    folder = tmp_path / "download"
    folder.mkdir()
    (folder / TOKENIZER_FILE).write_bytes((tiny_files / TOKENIZER_FILE).read_bytes())
    write_model(folder / "model_quantized.onnx", inputs=("input_ids",))

    card = add_model(folder, name="tiny")

    assert card.query_instruction == known.card.query_instruction
    assert card.model_sha256 != known.card.model_sha256

    write_model(folder / "model_quantized.onnx", states=[[1.0, 0.0, 0.0]] * 9)
    with pytest.raises(ModelError, match="the files are not tiny"):
        add_model(folder, name="tiny")
    assert installed_models() == [card]


def test_add_model_stops_at_the_limit_of_size(cache, tiny_files, tmp_path, monkeypatch):
    """A small archive may unpack to more than the disk holds."""
    monkeypatch.setattr(add, "_MAX_BYTES", 10_000)
    bomb = make_zip(tmp_path / "bomb.zip", a_Donnx=bytes(20_000), tokenizer_Djson=b"{}")

    with pytest.raises(ModelError, match="more than 10000 bytes"):
        add_model(bomb)
    assert [path for path in cache.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({}, r"m\.zip holds no model"),
        (
            {"a_Donnx": b"", "b_Donnx": b""},
            r"holds 2 models: a\.onnx .*, b\.onnx .* --file a\.onnx",
        ),
        ({"a_Donnx": b""}, "holds no tokenizer"),
        ({"a_Donnx": b"x", "tokenizer_Djson": b"{}"}, "not an ONNX file"),
        ({"pytorch_model_Dbin": b"x", "config_Djson": b"{}"}, r"pytorch_model\.bin .*never opened"),
    ],
)
def test_add_model_says_what_is_wrong_with_the_files(cache, tmp_path, members, message):
    """Too few, too many, or no model at all."""
    with pytest.raises(ModelError, match=message):
        add_model(make_zip(tmp_path / "m.zip", **members))


def hub_clone(folder: Path, tiny_files: Path) -> Path:
    """Write a folder as the hub has it: settings above, the model in a folder of its own."""
    (folder / "onnx").mkdir(parents=True)
    (folder / "1_Pooling").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes((tiny_files / MODEL_FILE).read_bytes())
    (folder / TOKENIZER_FILE).write_bytes((tiny_files / TOKENIZER_FILE).read_bytes())
    for name, value in {
        "config.json": {"model_type": "bert", "max_position_embeddings": 512},
        "config_sentence_transformers.json": {"prompts": {"query": "a", "document": "b"}},
        "sentence_bert_config.json": {"max_seq_length": 7},
        "1_Pooling/config.json": {"pooling_mode_lasttoken": True},
    }.items():
        (folder / name).write_text(json.dumps(value))
    (folder / "README.md").write_text("---\nlicense: mit\nlanguage: en\n---\n")
    return folder


def test_add_model_reads_what_a_folder_says_of_itself(cache, tiny_files, tmp_path):
    """Pooling, prompts, limit, licence and language, from the files above the model."""
    card = add_model(hub_clone(tmp_path / "maker-model-v1.5", tiny_files))

    assert (card.name, card.format, card.precision) == ("maker-model-v1.5", "onnx", "float32")
    assert (card.pooling, card.max_tokens) == ("last", 7)
    assert (card.query_instruction, card.passage_instruction) == ("a", "b")
    assert (card.licence, card.languages, card.dimension) == ("mit", "en", 3)


def test_add_model_takes_the_chosen_one_of_several(cache, tiny_files, tmp_path, write_model):
    """A clone of the hub has five of them; the error shows what to write."""
    folder = hub_clone(tmp_path / "m", tiny_files)
    write_model(folder / "onnx" / "model_fp16.onnx", states=[[1.0, 2.0]] * 9)

    with pytest.raises(ModelError, match=r"2 models: .*Remedy: .* --file onnx/model\.onnx"):
        add_model(folder)
    with pytest.raises(ModelError, match=r"no model 'x\.onnx'; it has onnx/model\.onnx"):
        add_model(folder, file="x.onnx")
    card = add_model(folder, file="onnx/model_fp16.onnx")

    assert (card.dimension, card.source) == (2, "m onnx/model_fp16.onnx")


def test_add_model_copies_the_weights_beside_the_model(cache, tmp_path, tiny_files, write_model):
    """Under the name by which the model finds them; without them it is no model."""
    folder = tmp_path / "large"
    folder.mkdir()
    write_model(folder / "a.onnx", weights="a.onnx_data")
    (folder / TOKENIZER_FILE).write_bytes((tiny_files / TOKENIZER_FILE).read_bytes())
    card = add_model(folder)

    assert card.weights_sha256
    assert open_embedder("large").embed(["ab"], "passage")[0] == pytest.approx(
        [3 / 61**0.5, 4 / 61**0.5, 6 / 61**0.5]
    )
    (folder / "a.onnx_data").unlink()
    with pytest.raises(ModelError, match=r"a\.onnx_data is missing"):
        add_model(folder)


def test_add_model_hands_other_formats_on(cache, tmp_path, monkeypatch):
    """config.json and model.safetensors are a model for transformers."""
    (tmp_path / "maker").mkdir()
    for name in ("config.json", "model.safetensors"):
        (tmp_path / "maker" / name).write_text("{}")
    seen = []

    def add_transformers(path, staging, given):
        seen.append((path, given.pooling))
        return dataclasses.replace(given, dimension=5, format="transformers")

    monkeypatch.setattr("kgrag.embedding.add.add_transformers", add_transformers)
    card = add_model(tmp_path / "maker", pooling="cls")

    assert (card.format, card.dimension, card.name) == ("transformers", 5, "maker")
    assert seen == [(tmp_path / "maker/model.safetensors", "cls")]


def test_add_model_speaks_of_the_users_path_only(cache, tmp_path, tiny_files, write_model):
    """Where it was copied to before it failed is nobody's concern."""
    folder = tmp_path / "m"
    folder.mkdir()
    write_model(folder / "a.onnx", inputs=("input_ids", "pixel_values"))
    (folder / TOKENIZER_FILE).write_text("{}")

    for expected in ("not a text encoder", "cannot load the tokenizer"):
        with pytest.raises(ModelError, match=expected) as caught:
            add_model(folder)
        assert "staging" not in str(caught.value)
        write_model(folder / "a.onnx")


def test_add_model_refuses_names_that_are_unsafe_or_taken(cache, tiny_files):
    """A name becomes a folder's name; `hash` is the stand-in."""
    with pytest.raises(ModelError, match=r"cannot be called '\.\./x'"):
        add_model(tiny_files, name="../x")


def test_add_model_puts_no_model_in_the_place_of_another_unless_told(cache, tiny_files):
    """Knowledge bases of the first could not be searched; the same one again changes nothing."""
    first = add_model(tiny_files, name="mine")
    assert add_model(tiny_files, name="mine") == first
    with pytest.raises(ModelError, match=f"as mine: {first.identity}, .* --replace"):
        add_model(tiny_files, name="mine", pooling="cls")
    assert installed_models() == [first]

    other = add_model(tiny_files, name="mine", pooling="cls", replace=True)

    assert installed_models() == [other]
    assert other.identity != first.identity
    (cache / "mine" / CARD_FILE).write_text("{")  # a damaged one may be replaced
    assert add_model(tiny_files, name="mine") == first


def test_add_model_takes_a_folder_whose_name_is_not_utf_8(cache, tiny_files, tmp_path):
    """Its card shows the name in GBK; a setting that came in damaged is refused."""
    folder = tmp_path / os.fsdecode("北".encode("gbk"))
    shutil.copytree(tiny_files, folder)
    assert add_model(folder, name="tiny").source == "北"
    with pytest.raises(GarbledTextError):
        add_model(folder, name="other", query_instruction="\udce4")


Usage = namedtuple("Usage", "total used free")


def files(path, target):
    """Unpack; return the files by name."""
    with unpacked(path, target) as folder:
        return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def zipped(tmp_path):
    """Return a maker of zips: members by name."""

    def make(method=zipfile.ZIP_DEFLATED, **members):
        path = tmp_path / "m.zip"
        with zipfile.ZipFile(path, "w", method) as out:
            for name, data in members.items():
                out.writestr(name, data)
        return path

    return make


def refused(path, said):
    """Check that an archive is refused, and that nothing is left of it."""
    target = path.parent / "target"
    with pytest.raises(ModelError, match=said):
        files(path, target)
    assert not target.exists()


def test_unpacked_refuses_a_bomb(zipped):
    """17 MB of zeros in 17 kB; what a model may hold of them is not one."""
    refused(zipped(a=bytes(17 * 1024**2)), r"would unpack \d+ bytes of 'a' to 17825792.*yourself")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_unpacked_refuses_what_packs_a_disk_into_a_page(zipped, method):
    """And, to be unpacked, asks for as much memory as it likes."""
    refused(zipped(method, a=b"x"), "'a' is packed in a way other than deflate")


def test_unpacked_refuses_more_files_than_a_model_has(zipped, monkeypatch):
    """Each takes a block of the disk, and a while."""
    monkeypatch.setattr(add, "_MAX_FILES", 2)
    refused(zipped(a=b"", b=b"", c=b""), "holds 3 files, more than a model has")


def test_unpacked_refuses_a_list_of_files_that_fills_the_memory(tmp_path):
    """Before it is read: the record at the end says how long it is."""
    path = tmp_path / "m.zip"
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 65535, 65535, 1 << 30, 0, 0)
    path.write_bytes(bytes(100) + end)
    refused(path, "lists more files than a model has")


def test_unpacked_refuses_what_the_disk_lacks_room_for(zipped, monkeypatch):
    """Before it is full."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(9, 0, 9))
    refused(zipped(a=bytes(10)), r"needs 10 bytes in .*, where 9 are free")


def test_unpacked_says_when_a_member_is_damaged(zipped, tmp_path):
    path = zipped(a=bytes(range(256)) * 40)
    whole = path.read_bytes()
    for at in range(31, 90):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        told = "cannot read a model from"
        try:
            files(path, tmp_path / "target")
        except ModelError as exc:
            told = str(exc)
        assert "cannot read a model from" in told


def test_unpacked_writes_no_links_and_nothing_outside(tmp_path):
    """A link is a file that holds its goal; a path that climbs stays inside."""
    path = tmp_path / "m.zip"
    with zipfile.ZipFile(path, "w") as out:
        link = zipfile.ZipInfo("tokenizer.json")
        link.external_attr = 0o120777 << 16
        out.writestr(link, "/etc/passwd")
        for name in ("../../up.onnx", "/root.onnx", "a/../../b.onnx"):
            out.writestr(name, "x")
    (tmp_path / "deep").mkdir()
    before = {file.name for file in tmp_path.iterdir()}
    with unpacked(path, tmp_path / "deep/target") as folder:
        assert not (folder / "tokenizer.json").is_symlink()
        assert (folder / "tokenizer.json").read_text() == "/etc/passwd"
        names = {file.name for file in folder.rglob("*.onnx")}
    assert names == {"up.onnx", "root.onnx", "b.onnx"}
    assert {file.name for file in tmp_path.iterdir()} == before


def test_proven_refuses_a_limit_that_the_model_cannot_read(tiny_folder, tiny_card, write_model):
    """A model with 512 positions fails at the first long text, years later; it is tried now."""
    write_model(tiny_folder / MODEL_FILE, positions=12)

    card = dataclasses.replace(tiny_card, max_tokens=12)

    assert proven(card, ModelFolder(tiny_folder)).dimension == 3
    with pytest.raises(ModelError, match=r"should read 13 tokens.*Remedy: --max-tokens"):
        proven(dataclasses.replace(card, max_tokens=13), ModelFolder(tiny_folder))


def test_with_files_hashes_the_weights_beside_the_model(tiny_folder, tiny_card, write_model):
    """The same graph with other weights is another model."""
    write_model(tiny_folder / MODEL_FILE, weights="model.onnx_data")
    first = with_files(tiny_card, ModelFolder(tiny_folder))
    data = bytearray((tiny_folder / "model.onnx_data").read_bytes())
    data[-1] ^= 1
    (tiny_folder / "model.onnx_data").write_bytes(data)
    second = with_files(tiny_card, ModelFolder(tiny_folder))

    assert first.model_sha256 == second.model_sha256
    assert first.identity != second.identity
    assert first.precision == "float32"


CARD = ModelCard(name="m", dimension=3, query_instruction="q:", model_sha256="0123456789abcdef" * 4)


@pytest.mark.parametrize(
    "changes",
    [
        {"model_sha256": "f" * 64},
        {"tokenizer_sha256": "f" * 64},
        {"pooling": "cls"},
        {"query_instruction": ""},
        {"passage_instruction": "p:"},
        {"max_tokens": 256},
        {"lower_case": True},
        {"weights_sha256": "f" * 64},
        {"format": "transformers"},
    ],
)
def test_identity_changes_with_all_that_changes_vectors(changes):
    """Two encoders with the same identity give the same vectors."""
    assert dataclasses.replace(CARD, **changes).identity != CARD.identity


@pytest.mark.parametrize(
    "changes",
    [{"query_adapter": "q"}, {"passage_adapter": "p"}, {"precision": "bfloat16"}],
)
def test_identity_of_transformers_models_changes_with_adapters_and_precision(changes):
    """They decide the vectors of such a model."""
    card = dataclasses.replace(CARD, format="transformers")

    assert dataclasses.replace(card, **changes).identity != card.identity


def test_identity_of_the_default_model_stays_what_knowledge_bases_record():
    """A change would have every one of them refuse its encoder."""
    assert find_entry("bge-small-zh").card.identity == "bge-small-zh-15b717c382bc-8d14"


REFUSED = ["", "hash", "hash-64", "../x", "A", "a b", "-a", "a" * 65, "BAAI/bge-m3", ".staging-7"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_name_is_refused(name):
    """A name becomes a folder's name; `hash` is the stand-in."""
    assert not is_name(name)


def test_catalogue_entries_are_complete():
    """Each has hashes, a licence and at least one check; no name is used twice."""
    assert len({entry.card.name for entry in CATALOG}) == len(CATALOG)
    for entry in CATALOG:
        assert len(entry.card.model_sha256) == len(entry.card.tokenizer_sha256) == 64
        assert entry.card.licence
        assert entry.checks
        assert entry.card.folder is None
