"""What the folder of a model from the hub says of itself: pooling, prompts, limits, adapters."""

import re
from collections.abc import Mapping
from pathlib import Path

from kgrag.embedding.card import ModelCard, Pooling
from kgrag.errors import ModelError
from kgrag.files.foreign_json import read_foreign

CONFIG_FILE = "config.json"
ADAPTER_CONFIG_FILE = "adapter_config.json"
JINA_V3 = "jina_embeddings_v3"

_Json = Mapping[str, object]

_POOLINGS: Mapping[str, Pooling] = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_lasttoken": "last",
    # newer files name the one instead
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
# Their positions begin behind the padding's, so that they read that many tokens less.
_SHIFTED = ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", JINA_V3)
_MAX_JSON = 64 * 1024**2  # bytes; lists of the parts of the largest models have one
_README = 100_000  # characters of a README whose head is read
_NO_LIMIT = 1_000_000  # tokenizers without a limit state an astronomic one
# The task instructions that jina-embeddings-v3 was trained with (`task_instructions` in the
# config.json of jinaai/jina-embeddings-v3); its transformers form does not carry them.
_JINA_QUERY = "Represent the query for retrieving evidence documents: "
_JINA_PASSAGE = "Represent the document for retrieval: "


def read_folder(path: Path) -> ModelCard:
    """Return what a folder says of itself, and the card's defaults where it says nothing.

    Read are `config.json`, `modules.json`, the pooling's `config.json`,
    `config_sentence_transformers.json`, `sentence_bert_config.json`, `tokenizer_config.json`,
    `adapter_config.json` of adapters, and the head of `README.md`. Hashes are not made.

    Args:
        path: A folder as the hub has it; every file may be missing.

    Raises:
        ModelError: If a file is malformed, or asks for what would be left out: a layer behind
            the pooling, another pooling.
    """
    config = read_json(path / CONFIG_FILE)
    is_jina = config.get("model_type") == JINA_V3
    prompts = _prompts(path)
    readme = _front_matter(path / "README.md")
    return ModelCard(
        name=path.resolve().name,
        dimension=_number(config.get("hidden_size")) or 0,
        pooling=_pooling(path),
        query_instruction=_first(prompts, _QUERY_PROMPTS, _JINA_QUERY if is_jina else ""),
        passage_instruction=_first(prompts, _PASSAGE_PROMPTS, _JINA_PASSAGE if is_jina else ""),
        max_tokens=_max_tokens(path, config),
        lower_case=read_json(path / "sentence_bert_config.json").get("do_lower_case") is True,
        languages=_languages(readme),
        licence=" ".join(readme.get("license", [])) or ("cc-by-nc-4.0" if is_jina else ""),
        source=path.resolve().name,
        query_adapter=_adapter(path, "retrieval_query"),
        passage_adapter=_adapter(path, "retrieval_passage"),
    )


def read_json(path: Path) -> _Json:
    """Return the object in a JSON file; empty where there is no such file.

    Raises:
        ModelError: If it is not an object in JSON.
    """
    data = _parsed(path) if path.is_file() else {}
    if not isinstance(data, dict):
        raise ModelError(
            f"{path} must hold an object, it holds {str(data)[:40]}. Remedy: download it again"
        )
    return data


def _parsed(path: Path) -> object:
    try:
        if (size := path.stat().st_size) > _MAX_JSON:
            raise ValueError(f"{size:,} bytes are more than settings have")
        parsed: object = read_foreign(path.read_bytes())
        return parsed
    except (OSError, ValueError) as exc:
        raise ModelError(f"cannot read {path}: {exc}. Remedy: download it again") from exc


def most_tokens(config: _Json) -> int | None:
    """Return how many tokens a model has positions for, by its config; None for no limit."""
    positions = _number(config.get("max_position_embeddings"))
    if positions is None or config.get("model_type") not in _SHIFTED:
        return positions
    return positions - 1 - (_number(config.get("pad_token_id")) or 0)


def adapters(path: Path) -> list[str]:
    """Return the names of the adapters in a folder: their folders, relative to it."""
    found = [
        *path.glob(f"*/{ADAPTER_CONFIG_FILE}"),
        *path.glob(f"adapters/*/{ADAPTER_CONFIG_FILE}"),
    ]
    return sorted(file.parent.relative_to(path).as_posix() for file in found)


def _adapter(path: Path, task: str) -> str:
    """Return the adapter of a task, however its name is spelt; else one for all retrieval."""
    spelt = {re.sub(r"[.-]", "_", Path(name).name): name for name in adapters(path)}
    return spelt.get(task) or spelt.get("retrieval", "")


def _pooling(path: Path) -> Pooling:
    folder = path / "1_Pooling"
    for module in _modules(path / "modules.json"):
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
    modes = [named] if named else [key for key, on in stated.items() if _is_mode(key) and on]
    if not modes:
        return "mean"
    pooling = _POOLINGS.get(str(modes[0]))
    if len(modes) > 1 or pooling is None or stated.get("include_prompt") is False:
        asked = ", ".join(map(str, modes))
        unprompted = stated.get("include_prompt") is False
        raise ModelError(
            f"{path} asks for the pooling {asked}{' without the prompt' if unprompted else ''}; "
            "kgrag has cls, mean and last, each with the prompt. Remedy: choose another model"
        )
    return pooling


def _is_mode(key: str) -> bool:
    return key.startswith("pooling_mode_")


def _modules(path: Path) -> list[_Json]:
    """Return the parts that sentence-transformers would run, in order."""
    if not path.is_file():
        return []
    data = _parsed(path)
    return [module for module in data if isinstance(module, dict)] if isinstance(data, list) else []


def _prompts(path: Path) -> dict[str, str]:
    stated = read_json(path / "config_sentence_transformers.json").get("prompts")
    if not isinstance(stated, dict):
        return {}
    return {str(name): text for name, text in stated.items() if isinstance(text, str)}


def _first(prompts: Mapping[str, str], names: tuple[str, ...], default: str) -> str:
    return next((prompts[name] for name in names if name in prompts), default)


def _max_tokens(path: Path, config: _Json) -> int:
    stated = (
        _number(read_json(path / "sentence_bert_config.json").get("max_seq_length")),
        _number(read_json(path / "tokenizer_config.json").get("model_max_length")),
    )
    limit = most_tokens(config)
    chosen = next((n for n in stated if n is not None), limit or 512)
    return min(chosen, limit) if limit else chosen


def _number(value: object) -> int | None:
    """Return a sensible whole number, or None."""
    return value if type(value) is int and 0 < value < _NO_LIMIT else None


def _front_matter(path: Path) -> dict[str, list[str]]:
    """Return the lists and scalars at the head of a README, as lists of words."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_README)
    except OSError:
        return {}
    head = re.match(r"---\s*\n(.*?)\n---\s*\n", text, re.DOTALL)
    found: dict[str, list[str]] = {}
    key = ""
    for line in head[1].splitlines() if head else ():
        if named := re.match(r"(\w+):(.*)", line):
            key = named[1]
            found[key] = re.findall(r"[\w.+-]+", named[2])
        elif item := re.match(r"\s*-\s+['\"]?([\w.+-]+)['\"]?\s*$", line):
            found.setdefault(key, []).append(item[1])
    return found


def _languages(readme: Mapping[str, list[str]]) -> str:
    """Return the languages stated; none for a model that reads them all, as its card says."""
    codes = readme.get("language", [])
    return "" if "multilingual" in codes else ",".join(codes)
