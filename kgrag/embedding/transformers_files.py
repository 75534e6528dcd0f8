"""The files of a model in its makers' format: which are taken, whether they are whole."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from kgrag.embedding.card import ModelCard
from kgrag.embedding.catalog import remedy
from kgrag.embedding.folder import ADAPTER_CONFIG_FILE, CONFIG_FILE, read_json
from kgrag.embedding.installed import TOKENIZER_FILE, file_sha256
from kgrag.embedding.model_files import check_sizes
from kgrag.errors import ModelError, ModelNotFoundError
from kgrag.ids import digest

FILES_FILE = "files.json"

_WEIGHTS = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_ADAPTER_WEIGHTS = "adapter_model.safetensors"
_MAX_HEAD = 100_000_000  # bytes, as the library that reads these files allows
# The hash of a gigabyte takes seconds: at every opening only smaller files are hashed again.
_QUICK_BYTES = 32 * 1024**2
# What would have a config choose code: that of the makers, or a kernel from the hub.
_CODE_KEYS = ("auto_map", "attn_implementation", "_attn_implementation", "use_kernels")
_PRECISIONS = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "F64": "float64"}


def copy_files(path: Path, target: Path, adapters: tuple[str, ...]) -> None:
    """Copy the config, the weights and the adapters; nothing that could be run.

    Args:
        path: The folder as its makers have it.
        target: An empty folder.
        adapters: Folders of the adapters, relative to `path`.

    Raises:
        ModelError: If a file is missing, cut short or a pointer to one, or the weights are not
            in safetensors.
    """
    config = {key: v for key, v in read_json(path / CONFIG_FILE).items() if key not in _CODE_KEYS}
    (target / CONFIG_FILE).write_text(json.dumps(config, indent=2), encoding="utf-8")
    names = [*_weight_names(path)]
    weights = [path / name for name in names if (path / name).is_file()]
    check_sizes(weights, path / CONFIG_FILE, target)
    for adapter in adapters:
        names += [f"{adapter}/{ADAPTER_CONFIG_FILE}", f"{adapter}/{_ADAPTER_WEIGHTS}"]
    for name in names:
        if not (path / name).is_file():
            raise ModelError(f"{path / name} is missing. Remedy: download it, too")
        if name.endswith(".safetensors"):
            safetensors_precision(path / name)
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path / name, target / name)


def _weight_names(path: Path) -> list[str]:
    """Return the files with the weights: one, or the parts and their index."""
    if (path / _WEIGHTS).is_file():
        return [_WEIGHTS]
    parts = read_json(path / _INDEX).get("weight_map")
    if isinstance(parts, dict) and parts:
        names = sorted({str(name) for name in parts.values()})
        if any(Path(name).name != name or not name.endswith(".safetensors") for name in names):
            raise ModelError(
                f"{path / _INDEX} names files outside of its folder, or none of safetensors: "
                f"{', '.join(names)[:200]}. Remedy: download it again"
            )
        return [_INDEX, *names]
    others = sorted(file.name for file in path.glob("*.bin"))
    seen = f"only {', '.join(others)}, which may hold code and is never opened" if others else ""
    raise ModelError(
        f"{path} has no {_WEIGHTS}{': ' if seen else ''}{seen}. Remedy: download the model's "
        "safetensors files, or convert it with save_pretrained of transformers"
    )


def safetensors_precision(path: Path) -> str:
    """Return the precision of most weights in a file, e.g. `bfloat16`, from its head alone.

    Raises:
        ModelError: If the file is no safetensors file, or cut short.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(8)
        if start == b"version ":
            raise ModelError(
                f"{path} is a Git LFS pointer, not the weights. Remedy: git lfs pull, or download "
                "the file itself"
            )
        length = int.from_bytes(start, "little")
        head = file.read(length) if length < min(size, _MAX_HEAD) else b""
    try:
        spans = _spans(head)
        end = max(behind for _, _, behind in spans)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as exc:
        raise ModelError(f"{path} is not a safetensors file. Remedy: download it again") from exc
    if 8 + length + end != size:
        raise ModelError(
            f"{path} has {size} bytes, its head says {8 + length + end}: the download was cut "
            "short. Remedy: download it again"
        )
    totals: dict[str, int] = {}
    for dtype, begin, behind in spans:
        totals[dtype] = totals.get(dtype, 0) + behind - begin
    most = max(totals, key=lambda dtype: totals[dtype])
    return _PRECISIONS.get(most, most.lower())


def _spans(head: bytes) -> list[tuple[str, int, int]]:
    """Return the type, and the first byte and the one behind the last, of each tensor."""
    found = []
    for name, tensor in json.loads(head).items():
        if name != "__metadata__":
            begin, behind = map(int, tensor["data_offsets"])
            found.append((str(tensor["dtype"]), begin, behind))
    return found


def precision(folder: Path) -> str:
    """Return the precision of a model's weights, e.g. `bfloat16`."""
    return safetensors_precision(folder / _weight_names(folder)[-1])


def seal(folder: Path) -> tuple[str, str]:
    """Write sizes and hashes of all files beside them; return the model's and tokenizer's hash.

    The first stands for everything but the tokenizer.
    """
    stated: dict[str, list[object]] = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            name = file.relative_to(folder).as_posix()
            stated[name] = [file.stat().st_size, file_sha256(file)]
    (folder / FILES_FILE).write_text(json.dumps(stated, indent=2) + "\n", encoding="utf-8")
    return _hashes(stated)


def check_files(folder: Path, card: ModelCard) -> None:
    """Check that a folder holds the files that its card describes.

    All sizes are compared, and the hashes of files below 32 MB; those of the weights were when
    the model was added.

    Raises:
        ModelNotFoundError: If a file is missing.
        ModelError: If one is another, or was changed.
    """
    stated = {str(k): v for k, v in read_json(folder / FILES_FILE).items() if isinstance(v, list)}
    if _hashes(stated) != (card.model_sha256, card.tokenizer_sha256):
        raise ModelError(
            f"{folder / FILES_FILE} does not describe the model of {folder / 'card.json'}. "
            f"{remedy(card.name)}"
        )
    for name, (size, sha256) in stated.items():
        file = folder / name
        if not file.is_file():
            raise ModelNotFoundError(f"the model file {file} is missing. {remedy(card.name)}")
        seen = file.stat().st_size
        if seen != size or (seen < _QUICK_BYTES and file_sha256(file) != sha256):
            raise ModelError(
                f"{file} is damaged: it is not the file of {size} bytes that was added. "
                f"{remedy(card.name)}"
            )


def _hashes(stated: Mapping[str, list[object]]) -> tuple[str, str]:
    lines = [f"{name} {v[-1]}" for name, v in sorted(stated.items()) if name != TOKENIZER_FILE]
    tokenizer = stated.get(TOKENIZER_FILE, [0, ""])
    return digest(*lines, length=64), str(tokenizer[-1])
