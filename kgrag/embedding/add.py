"""Installing a model from local files: a folder, a zip or a jar."""

import contextlib
import dataclasses
import json
import math
import shutil
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import get_args

from kgrag.embedding.catalog import (
    CATALOG,
    CatalogEntry,
    ModelCard,
    Pooling,
    is_name,
    name_from,
)
from kgrag.embedding.embedder import TASKS
from kgrag.embedding.hub_folder import (
    ADAPTER_CONFIG_FILE,
    CONFIG_FILE,
    JINA_V3,
    SAFETENSORS,
    adapters,
    model_file,
    most_tokens,
    read_folder,
    read_json,
    settings_folder,
    tokenizer_file,
)
from kgrag.embedding.local import LocalEmbedder
from kgrag.embedding.model_folder import (
    MODEL_FILE,
    TOKENIZER_FILE,
    ModelFolder,
    file_sha256,
    installed_models,
    installing,
)
from kgrag.embedding.onnx import read_onnx_file
from kgrag.embedding.transformers_model import convert_tokenizer, knows
from kgrag.errors import MissingDependencyError, ModelError
from kgrag.ids import digest
from kgrag.limits import check_whole
from kgrag.text.visible import shown_path

_MAX_BYTES = 8 * 1024**3  # of an archive, unpacked
_MAX_FILES = 10_000  # those of a model are a few dozen
# Highest compression ratio: weights hardly shrink, a tokenizer to a tenth; zeros a thousandfold.
_MAX_SHRUNK = 100
_MAY_SHRINK = 16 * 1024**2  # bytes of a file without that limit
# bzip2 and LZMA pack a disk of zeros into some kilobytes, and LZMA needs gigabytes of memory.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_MAX_LISTING = 16 * 1024**2  # bytes of the central directory, which is read into memory
_END = b"PK\x05\x06"
_END_BYTES = 22 + 65_535  # of the end record and the longest comment after it
_UNPACK = "unpack it yourself and give the folder, if you trust it"

_MAX_WEIGHTS = 64 * 1024**3  # bytes of a model
_MAX_TOKENIZER = 256 * 1024**2  # the largest known are of some 35 MB
_PRECISIONS = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "F64": "float64"}
# Keys of a config that would run code of the makers, or a kernel from the hub.
_CODE_KEYS = ("auto_map", "attn_implementation", "_attn_implementation", "use_kernels")

_MOST_NUMBERS = 32_768  # of a vector; the largest encoders give 8,192
# Longer than the 512 tokens of most encoders, to detect a card that claims more. Takes a second or
# two on a processor, where 8,192 would take a minute.
_PROBE_TOKENS = 1024
# Loading takes time and memory by these, before the weights are compared with the config.
_MOST = {"max_position_embeddings": 10_000_000, "num_hidden_layers": 1_000}
_VOCABULARIES = (
    "vocab.txt",
    "vocab.json",
    "sentencepiece.bpe.model",
    "spiece.model",
    "tokenizer.model",
)


def add_model(
    path: Path,
    *,
    file: str | None = None,
    name: str | None = None,
    pooling: Pooling | None = None,
    query_instruction: str | None = None,
    passage_instruction: str | None = None,
    max_tokens: int | None = None,
    languages: str | None = None,
    replace: bool = False,
) -> ModelCard:
    """Install a model from files and return its card.

    The path is a folder, `.zip`, `.jar` or `.whl` with an `.onnx` file and its `*tokenizer*.json`,
    or else in its makers' format: `config.json` and `model.safetensors`; `file` is the model's path
    in it, needed if there are several. The name has lower-case letters, digits and `.-_`, by
    default the catalogue's name of known files, else the path's.

    Files with known hashes get their card from the catalogue; so do files that are given the name
    of a catalogued model and pass its checks. For all others, settings are those given here, else
    those of the folder (`read_folder`), else the defaults of `ModelCard`, which also describes
    them.

    Raises:
        ModelError: If the path has no working model, or the name is not allowed or taken.
        MissingDependencyError: If it needs an extra.
        ValueError: If a setting is unknown, out of range, or damaged.
    """
    if pooling not in (None, *get_args(Pooling)) or (max_tokens is not None and max_tokens < 1):
        raise ValueError(f"got pooling {pooling!r} and max_tokens {max_tokens}")
    real = path.resolve()
    if name is not None and not is_name(name):
        raise ModelError(
            f"a model cannot be called {name!r}. Remedy: use lower-case letters, digits and .-_ "
            "(`hash` is the stand-in; names such as `con` are no folder's on Windows)"
        )
    given = {
        "name": name or name_from(real.name if path.is_dir() else real.stem),
        "source": " ".join(filter(None, (shown_path(real.name), file))),
        "pooling": pooling,
        "query_instruction": query_instruction,
        "passage_instruction": passage_instruction,
        "max_tokens": max_tokens,
        "languages": languages,
    }  # fmt: skip
    given = {key: value for key, value in given.items() if value is not None}
    check_whole("model's setting", *map(str, given.values()))
    return _install(path, file, given, is_named=name is not None, replace=replace)


def _install(
    path: Path, file: str | None, given: Mapping[str, object], *, is_named: bool, replace: bool
) -> ModelCard:
    with installing() as staging, unpacked(path, staging.unpacked) as folder:
        try:
            model = model_file(folder, file)
            stated = read_folder(settings_folder(folder, model))
            card = dataclasses.replace(stated, **given)  # type: ignore[arg-type]
            if model.suffix == ".onnx":
                copy_onnx(model, tokenizer_file(folder, model), staging.path)
                card = _known(card, staging, is_named=is_named)
            else:
                card = add_transformers(model, staging, card)
        except (ModelError, MissingDependencyError) as exc:
            ours = (str(folder), str(staging.path))  # temporary folders mean nothing to users
            text = str(exc).replace(ours[0], str(path)).replace(ours[1], str(path))
            raise type(exc)(text) from exc
        if not replace:
            _check_place(card)
        return staging.install(card)


def gather(path: Path, staging: ModelFolder) -> None:
    """Copy the single ONNX model of a folder, zip or jar and its tokenizer into a folder."""
    with unpacked(path, staging.unpacked) as folder:
        model = model_file(folder)
        copy_onnx(model, tokenizer_file(folder, model), staging.path)


def check_entry(entry: CatalogEntry, folder: ModelFolder) -> ModelCard:
    """Return the card of files after verifying that they are a catalogued model.

    Files without known hashes must load, have the right dimension and rank the entry's passages.

    Raises:
        ModelError: If they are not that model.
    """
    card = with_files(entry.card, folder)
    if card == entry.card:
        return card
    embedder = LocalEmbedder.from_card(folder.path, card)
    for question, answer, other in entry.checks:
        (query,) = embedder.embed([question], "query")
        near, far = embedder.embed([answer, other], "passage") @ query
        if not near > far:
            raise ModelError(
                f"the files are not {card.name}: for {question!r} they rank {other!r} "
                f"({far:.3f}) over {answer!r} ({near:.3f})"
            )
    return card


def with_files(card: ModelCard, folder: ModelFolder) -> ModelCard:
    """Return the card with hashes and precision of the ONNX files in a folder."""
    file = read_onnx_file(folder.path / MODEL_FILE)
    hashes = [f"{name} {file_sha256(folder.path / name)}" for name in file.weights]
    return dataclasses.replace(
        card,
        model_sha256=file_sha256(folder.path / MODEL_FILE),
        weights_sha256=digest(*hashes, length=64) if hashes else "",
        tokenizer_sha256=file_sha256(folder.path / TOKENIZER_FILE),
        precision=file.precision,
    )


def _known(given: ModelCard, staging: ModelFolder, *, is_named: bool) -> ModelCard:
    """Return the card of ONNX files: the catalogue's if they are known, else the given one."""
    for entry in CATALOG:
        if is_named and entry.card.name == given.name:
            return check_entry(entry, staging)
    card = with_files(dataclasses.replace(given, query_adapter="", passage_adapter=""), staging)
    for entry in CATALOG:
        if _files(entry.card) == _files(card):
            return dataclasses.replace(entry.card, name=given.name if is_named else entry.card.name)
    return proven(card, staging)


def _files(card: ModelCard) -> tuple[str, str, str]:
    return card.model_sha256, card.weights_sha256, card.tokenizer_sha256


def proven(card: ModelCard, folder: ModelFolder) -> ModelCard:
    """Load the model in a folder and return the card with its dimension.

    Raises:
        ModelError: If it cannot be loaded or run, or reads fewer tokens than the card says.
    """
    embedder = LocalEmbedder.from_card(folder.path, card)
    embedder.dimension = dimension = embedder.probe(1)
    if not 0 < dimension <= _MOST_NUMBERS:
        raise ModelError(
            f"the model gives vectors of {dimension} numbers; at most {_MOST_NUMBERS} are taken. "
            "Remedy: choose an encoder of texts"
        )
    try:
        embedder.probe(_PROBE_TOKENS)
    except ModelError as exc:
        raise ModelError(
            f"the model should read {card.max_tokens} tokens, but {exc}. Remedy: --max-tokens 512, "
            "or what its makers state"
        ) from exc
    for task in TASKS:  # each may have an adapter
        embedder.embed(["绿色 green"], task)
    return dataclasses.replace(card, dimension=dimension)


def _check_place(card: ModelCard) -> None:
    """Refuse the name of another model; a damaged or equal one may be replaced."""
    for other in installed_models():
        if other.name == card.name and other.identity != card.identity:
            raise ModelError(
                f"another model is installed as {card.name}: {other.identity}, from "
                f"{other.source or 'unknown files'}; this one is {card.identity}. Remedy: "
                "--name another, or --replace: knowledge bases of the other one cannot be "
                "searched by meaning until it is there again, or they are re-embedded"
            )


def add_transformers(model: Path, staging: ModelFolder, card: ModelCard) -> ModelCard:
    """Copy and test a model in its makers' format, and return its card.

    Raises:
        ModelError: If files are missing or damaged, the model is of an unknown kind, needs code of
            its makers or other weights, or reads fewer tokens than the card says.
    """
    path = model.parent
    config, stated = read_json(path / CONFIG_FILE), read_folder(path)
    card = dataclasses.replace(
        card,
        format="transformers",
        query_adapter=card.query_adapter or stated.query_adapter,
        passage_adapter=card.passage_adapter or stated.passage_adapter,
    )
    _check_config(path, config, card)
    adapters = dict.fromkeys(filter(None, map(card.adapter, TASKS)))
    card = dataclasses.replace(card, precision=copy_safetensors(model, staging.path, adapters))
    try:
        if not (staging.path / TOKENIZER_FILE).is_file():
            convert_tokenizer(path, staging.path / TOKENIZER_FILE)
        card = proven(card, staging)
    except ModelError as exc:
        if "auto_map" in config:
            raise ModelError(f"{_needs_code(path, config)}. Without it: {exc}") from exc
        raise
    model_sha256, tokenizer_sha256 = staging.seal()
    return dataclasses.replace(card, model_sha256=model_sha256, tokenizer_sha256=tokenizer_sha256)


def _check_config(path: Path, config: Mapping[str, object], card: ModelCard) -> None:
    """Refuse unusable models before gigabytes are copied."""
    kind, file = config.get("model_type"), path / CONFIG_FILE
    if not isinstance(kind, str):
        raise ModelError(f"{file} names no model_type. Remedy: download it again")
    if not knows(kind, path):
        if "auto_map" in config:
            raise ModelError(_needs_code(path, config))
        raise ModelError(
            f"{file} is of the kind {kind!r}, which the installed transformers does not know. "
            "Remedy: pip install --upgrade transformers, or choose another model"
        )
    for key, most in _MOST.items():
        value = config.get(key)
        if isinstance(value, int | float) and value > most:
            raise ModelError(
                f"{file} says {key} = {value}; at most {most:,} is taken. Remedy: download it again"
            )
    if kind == JINA_V3 and not (card.query_adapter and card.passage_adapter):
        seen = ", ".join(adapters(path)) or "none"
        raise ModelError(
            f"{path} lacks adapters for questions and passages; seen: {seen}. Remedy: download "
            "the folders retrieval_query and retrieval_passage, too"
        )
    limit = most_tokens(config)
    if limit is not None and card.max_tokens > limit:
        raise ModelError(
            f"max_tokens is {card.max_tokens}, but the model in {path} reads {limit}. "
            f"Remedy: a max_tokens of 1 to {limit}"
        )


def _needs_code(path: Path, config: Mapping[str, object]) -> str:
    remedy = "choose a model that transformers knows itself"
    if "lora_adaptations" in config:  # the first release of jina-embeddings-v3
        remedy = "download its transformers form, jinaai/jina-embeddings-v3-hf"
    return (
        f"the model in {path} needs code of its makers ({CONFIG_FILE} has auto_map), which kgrag "
        f"never runs. Remedy: {remedy}"
    )


@contextlib.contextmanager
def unpacked(path: Path, target: Path) -> Iterator[Path]:
    """Yield a folder, or the temporary folder of an unpacked archive.

    `target`, where a `.zip`, `.jar` or `.whl` is unpacked, must not exist.

    Raises:
        ModelError: If the path cannot be read, or is too large.
    """
    if path.is_dir():
        yield path
        return
    try:
        try:
            _check_listing(path)
            with zipfile.ZipFile(path) as archive:
                _check_members(path, archive.infolist(), target)
                # zipfile enforces stated sizes, stays in the folder and writes links as files
                archive.extractall(target)
        # zipfile raises the others for encrypted members, unknown compression and damage
        except (
            *(OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError),
            *(zlib.error, struct.error, EOFError, ValueError),
        ) as exc:
            raise ModelError(
                f"cannot read a model from {path}: {exc}. Remedy: give a folder, .zip or .jar "
                "with the model and its tokenizer.json; --file chooses among several models"
            ) from exc
        yield target
    finally:
        shutil.rmtree(target, ignore_errors=True)


def _check_listing(path: Path) -> None:
    """Refuse a central directory that does not fit into memory, before it is read."""
    if not path.is_file():
        raise ValueError("it is no file" if path.exists() else "there is no such file")
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _END_BYTES))
        end = file.read()
    at = end.rfind(_END)
    if at >= 0 and len(end) >= at + 16:
        (size,) = struct.unpack_from("<I", end, at + 12)
        if size > _MAX_LISTING:
            raise ModelError(f"{path} lists more files than a model has; {_UNPACK}")


def _check_members(path: Path, members: list[zipfile.ZipInfo], target: Path) -> None:
    """Refuse archives that would fill the disk."""
    if len(members) > _MAX_FILES:
        raise ModelError(f"{path} holds {len(members)} files, more than a model has; {_UNPACK}")
    for member in members:
        if member.compress_type not in _METHODS:
            raise zipfile.BadZipFile(f"{member.filename!r} is packed in a way other than deflate")
        shrunk = member.file_size / max(1, member.compress_size)
        if member.file_size > _MAY_SHRINK and shrunk > _MAX_SHRUNK:
            raise ModelError(
                f"{path} would unpack {member.compress_size} bytes of {member.filename!r} to "
                f"{member.file_size}, as no model does; {_UNPACK}"
            )
    size = sum(member.file_size for member in members)
    if size > _MAX_BYTES:
        raise ModelError(f"{path} would unpack to more than {_MAX_BYTES} bytes; {_UNPACK}")
    _check_room(size, target.parent)


def copy_onnx(model: Path, tokenizer: Path, target: Path) -> None:
    """Copy a model, its external weights and a tokenizer into a folder, with standard names."""
    # the model refers to weights by name
    weights = {name: model.parent / name for name in read_onnx_file(model).weights}
    _copy({**weights, MODEL_FILE: model, TOKENIZER_FILE: tokenizer}, target)


def _weight_files(model: Path) -> list[str]:
    """Return the names of the files of weights; ModelError for an index that names others."""
    if model.name == SAFETENSORS[0]:
        return [model.name]
    parts = read_json(model).get("weight_map")
    names = sorted({str(n) for n in parts.values()}) if isinstance(parts, dict) else []
    if not names or any(Path(n).name != n or Path(n).suffix != ".safetensors" for n in names):
        raise ModelError(
            f"{model} names files outside of its folder, or none of safetensors: "
            f"{', '.join(names)[:200]}. Remedy: download it again"
        )
    return names


def copy_safetensors(model: Path, target: Path, adapters: Iterable[str]) -> str:
    """Copy the files needed, and no code, into an empty folder; return the weights' precision.

    `model` is the file of weights, or the index of their parts; adapters are folders relative to
    it.

    Raises:
        ModelError: If a file is missing, or not a complete safetensors file.
    """
    path, names = model.parent, _weight_files(model)
    files = {name: path / name for name in {*names, model.name}}
    for adapter in adapters:
        for name in (ADAPTER_CONFIG_FILE, "adapter_model.safetensors"):
            files[f"{adapter}/{name}"] = path / adapter / name
    if (path / TOKENIZER_FILE).is_file():
        files[TOKENIZER_FILE] = path / TOKENIZER_FILE
    elif not any((path / name).is_file() for name in _VOCABULARIES):
        raise ModelError(
            f"{path} has no tokenizer: neither {TOKENIZER_FILE} nor {', '.join(_VOCABULARIES)}. "
            "Remedy: download them, too"
        )
    _copy(files, target)
    config = {key: v for key, v in read_json(path / CONFIG_FILE).items() if key not in _CODE_KEYS}
    (target / CONFIG_FILE).write_text(json.dumps(config, indent=2), encoding="utf-8")
    return _precision(target / names[-1])  # the others are checked when they are loaded


def _copy(files: Mapping[str, Path], target: Path) -> None:
    """Copy files into a folder, by their names there.

    Raises:
        ModelError: If one is missing or too large, or the disk is full.
    """
    for file in files.values():
        if not file.is_file():
            raise ModelError(f"{file} is missing. Remedy: download it, too")
    sizes = {name: file.stat().st_size for name, file in files.items()}
    size, words = sum(sizes.values()), sizes.get(TOKENIZER_FILE, 0)
    if size > _MAX_WEIGHTS or words > _MAX_TOKENIZER:
        raise ModelError(
            f"the model has {size:,} bytes and {TOKENIZER_FILE} {words:,}; at most "
            f"{_MAX_WEIGHTS:,} and {_MAX_TOKENIZER:,} are taken. Remedy: choose another model"
        )
    _check_room(size, target)
    for name, file in files.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target / name)


def _precision(path: Path) -> str:
    """Return the most common precision of weights in a safetensors file, e.g. `bfloat16`.

    Raises:
        ModelError: If the file is not a complete safetensors file.
    """
    from safetensors import SafetensorError, safe_open

    totals: Counter[str] = Counter()
    try:
        with safe_open(path, "np") as file:
            for name in file.keys():  # noqa: SIM118 - it is no mapping
                part = file.get_slice(name)
                totals[part.get_dtype()] += math.prod(part.get_shape())
        if not totals:
            raise ValueError("it holds no weights")
    except (OSError, ValueError, SafetensorError) as exc:
        raise ModelError(
            f"{path} is not a safetensors file, or not a whole one: {exc}. Remedy: download it "
            "again (git lfs pull, where it was cloned)"
        ) from exc
    most = totals.most_common(1)[0][0]
    return _PRECISIONS.get(most, most.lower())


def _check_room(size: int, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if size > free:
        raise ModelError(
            f"the model needs {size:,} bytes in {folder}, where {free:,} are free. Remedy: free "
            "space, or set KGRAG_CACHE to a folder on another disk"
        )
