"""Reading a model folder in the hub's layout: model, tokenizer and settings."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from kgrag.embedding.catalog import ModelCard, Pooling
from kgrag.embedding.model_folder import TOKENIZER_FILE
from kgrag.errors import ModelError
from kgrag.files.foreign_json import read_foreign

CONFIG_FILE = "config.json"
ADAPTER_CONFIG_FILE = "adapter_config.json"
JINA_V3 = "jina_embeddings_v3"
SAFETENSORS = ("model.safetensors", "model.safetensors.index.json")

_Json = Mapping[str, object]

_MAX_FILES = 100_000  # in a folder that is searched: a home folder is not a model's
_PICKLES = (".bin", ".pt", ".pth", ".ckpt")
_SHOWN = 12
_POOLINGS: Mapping[str, Pooling] = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_lasttoken": "last",
    # values in newer files
    "cls": "cls",
    "mean": "mean",
    "lasttoken": "last",
}
_APPLIED_MODULES = ("Transformer", "Pooling", "Normalize")
_QUERY_PROMPTS = ("query", "retrieval.query", "retrieval_query", "search_query")
_PASSAGE_PROMPTS = (
    "passage",
    "document",
    "retrieval.passage",
    "retrieval_passage",
    "search_document",
)
# Their positions start after the padding's, which reduces the limit.
_SHIFTED = ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", JINA_V3)
_MAX_JSON = 64 * 1024**2  # bytes; the largest models' lists of parts have 1 MB
_README = 100_000  # characters of a README that are read
_NO_LIMIT = 1_000_000  # tokenizers without a limit state an astronomic one
# The task instructions that jina-embeddings-v3 was trained with (`task_instructions` in the
# config.json of jinaai/jina-embeddings-v3); its transformers form does not contain them.
_JINA_QUERY = "Represent the query for retrieving evidence documents: "
_JINA_PASSAGE = "Represent the document for retrieval: "


def model_file(folder: Path, chosen: str | None = None) -> Path:
    """Return the single model in a folder and its subfolders: an `.onnx` file, else safetensors.

    `chosen` is the model's path in the folder; None if there is only one.

    Raises:
        ModelError: If there is none, more than one, or not the chosen one.
    """
    files = _files(folder)
    onnx = [file for file in files if file.suffix == ".onnx"]
    others = [file for file in files if file.name in SAFETENSORS and _is_whole(file)]
    if chosen is not None:
        if folder / chosen in (*onnx, *others):
            return folder / chosen
        raise ModelError(
            f"{folder} has no model {chosen!r}; it has {_listed(folder, [*onnx, *others])}"
        )
    found = onnx or others
    if len(found) == 1:
        return found[0]
    if found:
        raise ModelError(
            f"{folder} holds {len(found)} models: {_listed(folder, found)}. "
            f"Remedy: choose one: --file {found[0].relative_to(folder).as_posix()}"
        )
    pickles = [file for file in files if file.suffix in _PICKLES]
    seen = f": only {_listed(folder, pickles)}, which may hold code and is never opened"
    raise ModelError(
        f"{folder} holds no model (*.onnx or model.safetensors){seen if pickles else ''}. "
        "Remedy: download the model's .onnx or safetensors file with its tokenizer.json"
    )


def _is_whole(file: Path) -> bool:
    """Return whether a file represents all weights of a model in its makers' format."""
    return (file.parent / CONFIG_FILE).is_file() and not (
        file.name == SAFETENSORS[1] and (file.parent / SAFETENSORS[0]).is_file()
    )


def settings_folder(folder: Path, model: Path) -> Path:
    """Return the folder at or above a model that contains its settings."""
    for name in ("modules.json", CONFIG_FILE):
        for place in _upwards(folder, model):
            if (place / name).is_file():
                return place
    return folder


def tokenizer_file(folder: Path, model: Path) -> Path:
    """Return the nearest tokenizer of a model: beside it, above it, or elsewhere.

    Raises:
        ModelError: If there is none, or several as near.
    """
    places = [(place, place.glob("*.json")) for place in _upwards(folder, model)]
    for place, files in (*places, (folder, _files(folder))):
        found = sorted(file for file in files if _is_tokenizer(file))
        exact = [file for file in found if file.name == TOKENIZER_FILE]
        if len(exact or found) == 1:
            return (exact or found)[0]
        if found:
            raise ModelError(
                f"{place} holds {len(found)} tokenizers: {_listed(place, found)}. "
                "Remedy: put the model and its tokenizer.json alone into a folder"
            )
    raise ModelError(
        f"{folder} holds no tokenizer (*tokenizer*.json). Remedy: download the tokenizer.json "
        "that lies beside the model; vocab.txt or a .model file alone does not do"
    )


def _files(folder: Path) -> list[Path]:
    """Return all files in a folder, ordered, without following links."""
    found: list[Path] = []
    for place, _, names in os.walk(folder):
        found += (file for name in names if (file := Path(place, name)).is_file())
        if len(found) > _MAX_FILES:
            raise ModelError(
                f"{folder} holds more than {_MAX_FILES:,} files. Remedy: give the folder of the "
                "model alone"
            )
    return sorted(found)


def _upwards(folder: Path, model: Path) -> list[Path]:
    """Return the folders from a model's up to the given one."""
    inner = model.parent.relative_to(folder).parts
    return [folder.joinpath(*inner[:n]) for n in range(len(inner), -1, -1)]


def _is_tokenizer(file: Path) -> bool:
    # every hub repository also has a tokenizer_config.json
    name = file.name
    return file.suffix == ".json" and "tokenizer" in name and "tokenizer_config" not in name


def _listed(folder: Path, files: Sequence[Path]) -> str:
    shown = [
        f"{file.relative_to(folder).as_posix()} ({file.stat().st_size / 1e6:.0f} MB)"
        for file in files[:_SHOWN]
    ]
    return ", ".join([*shown, "…"] if len(files) > _SHOWN else shown) or "none"


def read_folder(path: Path) -> ModelCard:
    """Return the card of a folder, without hashes, with defaults for what is not stated.

    Every file may be missing.

    Raises:
        ModelError: If a file is malformed, or requires an unsupported layer or pooling.
    """
    config = read_json(path / CONFIG_FILE)
    is_jina = config.get("model_type") == JINA_V3
    languages = _stated(path / "README.md", "language")
    licence = " ".join(_stated(path / "README.md", "license"))
    return ModelCard(
        name=path.resolve().name,
        dimension=_number(config.get("hidden_size")) or 0,
        pooling=_pooling(path),
        query_instruction=_prompt(path, _QUERY_PROMPTS, _JINA_QUERY if is_jina else ""),
        passage_instruction=_prompt(path, _PASSAGE_PROMPTS, _JINA_PASSAGE if is_jina else ""),
        max_tokens=_max_tokens(path, config),
        lower_case=read_json(path / "sentence_bert_config.json").get("do_lower_case") is True,
        # multilingual models also list some languages
        languages="" if "multilingual" in languages else ",".join(languages),
        licence=licence or ("cc-by-nc-4.0" if is_jina else ""),
        source=path.resolve().name,
        query_adapter=_adapter(path, "retrieval_query"),
        passage_adapter=_adapter(path, "retrieval_passage"),
    )


def read_json(path: Path) -> _Json:
    """Return the object in a JSON file; empty where there is no such file.

    Raises:
        ModelError: If it is not an object in JSON.
    """
    data = _parsed(path, {})
    if not isinstance(data, dict):
        raise ModelError(
            f"{path} must hold an object, it holds {str(data)[:40]}. Remedy: download it again"
        )
    return data


def _parsed(path: Path, default: object) -> object:
    """Return the content of a JSON file; the default where there is no such file."""
    try:
        if not path.is_file():
            return default
        if (size := path.stat().st_size) > _MAX_JSON:
            raise ValueError(f"{size:,} bytes are more than settings have")
        parsed: object = read_foreign(path.read_bytes())
        return parsed
    except (OSError, ValueError) as exc:
        raise ModelError(f"cannot read {path}: {exc}. Remedy: download it again") from exc


def most_tokens(config: _Json) -> int | None:
    """Return how many tokens a model has positions for; None for no limit."""
    positions = _number(config.get("max_position_embeddings"))
    if positions is None or config.get("model_type") not in _SHIFTED:
        return positions
    return positions - 1 - (_number(config.get("pad_token_id")) or 0)


def adapters(path: Path) -> list[str]:
    """Return the names of the adapters in a folder: their folders, relative to it."""
    found = (
        file for way in ("*", "adapters/*") for file in path.glob(f"{way}/{ADAPTER_CONFIG_FILE}")
    )
    return sorted(file.parent.relative_to(path).as_posix() for file in found)


def _adapter(path: Path, task: str) -> str:
    """Return the adapter of a task, in any spelling; else one for all retrieval."""
    spelt = {re.sub(r"[.-]", "_", Path(name).name): name for name in adapters(path)}
    return spelt.get(task) or spelt.get("retrieval", "")


def _pooling(path: Path) -> Pooling:
    folder = path / "1_Pooling"
    modules = _parsed(path / "modules.json", [])  # of sentence-transformers, in order
    for module in modules if isinstance(modules, list) else ():
        if not isinstance(module, dict):
            continue
        kind = str(module.get("type", "")).rpartition(".")[2]
        if kind not in _APPLIED_MODULES:
            raise ModelError(
                f"{path / 'modules.json'} asks for a {kind} module behind the encoder, which "
                "kgrag does not apply. Remedy: choose a model that ends with pooling"
            )
        if kind == "Pooling":
            folder = path / str(module.get("path", ""))
    return _stated_pooling(folder / CONFIG_FILE)


def _stated_pooling(path: Path) -> Pooling:
    stated = read_json(path)
    named = stated.get("pooling_mode")
    switched_on = [k for k, on in stated.items() if k.startswith("pooling_mode_") and on]
    modes = [str(named)] if named else switched_on
    if not modes:
        return "mean"
    pooling = _POOLINGS.get(modes[0])
    without = " without the prompt" if stated.get("include_prompt") is False else ""
    if len(modes) > 1 or pooling is None or without:
        raise ModelError(
            f"{path} asks for the pooling {', '.join(modes)}{without}; "
            "kgrag has cls, mean and last, each with the prompt. Remedy: choose another model"
        )
    return pooling


def _prompt(path: Path, names: Sequence[str], default: str) -> str:
    """Return the prompt that a folder states under the first of some names."""
    stated = read_json(path / "config_sentence_transformers.json").get("prompts")
    prompts = stated if isinstance(stated, dict) else {}
    return next((text for name in names if isinstance(text := prompts.get(name), str)), default)


def _max_tokens(path: Path, config: _Json) -> int:
    stated = (
        _number(read_json(path / "sentence_bert_config.json").get("max_seq_length")),
        _number(read_json(path / "tokenizer_config.json").get("model_max_length")),
    )
    limit = most_tokens(config)
    chosen = next((n for n in stated if n is not None), limit or 512)
    return min(chosen, limit) if limit else chosen


def _number(value: object) -> int | None:
    return value if type(value) is int and 0 < value < _NO_LIMIT else None


def _stated(readme: Path, key: str) -> list[str]:
    """Return the values of a key in the front matter of a README."""
    try:
        with readme.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_README)
    except OSError:
        return []
    head = re.match(r"---\s*\n(.*?)\n---\s*\n", text, re.DOTALL)
    value = re.search(rf"^{key}:(.*(?:\n\s*- .*)*)", head[1], re.MULTILINE) if head else None
    return re.findall(r"\w[\w.+-]*", value[1]) if value else []
