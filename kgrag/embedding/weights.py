"""Files of weights of strangers: which precision, which other files, whole or not, copied."""

import json
import math
import mmap
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgrag.embedding.hub_folder import ADAPTER_CONFIG_FILE, CONFIG_FILE, SAFETENSORS, read_json
from kgrag.embedding.model_folder import CARD_FILE, MODEL_FILE, TOKENIZER_FILE
from kgrag.errors import ModelError

_MAX_BYTES = 64 * 1024**3  # of a model
_MAX_TOKENIZER = 256 * 1024**2  # the largest known are of some 35 MB
_MAX_HEAD = 100_000_000  # bytes, as the library that reads safetensors allows
_LFS = b"version https://git-lfs"

# The fields of an ONNX file that hold messages, and which;
# https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
_MESSAGES: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph"},
    "graph": {1: "node", 5: "tensor"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph"},
    "tensor": {13: "entry"},
    "entry": {},
}
# Operators that count in whole numbers, whatever type most of the weights have.
_QUANTISED = {
    "MatMulNBits": "int4",
    "DynamicQuantizeLinear": "int8",
    "DynamicQuantizeMatMul": "int8",
    "MatMulInteger": "int8",
    "MatMulIntegerToFloat": "int8",
    "QAttention": "int8",
    "QLinearMatMul": "int8",
    "QuantizeLinear": "int8",
}
# TensorProto.DataType
_TYPES = {1: "float32", 2: "uint8", 3: "int8", 10: "float16", 11: "float64", 16: "bfloat16"}
_MOST_SIZES = 32  # of a tensor's dimensions
_MOST_ELEMENTS = 1 << 40  # numbers of a tensor
_MOST_FIELDS = 1_000_000  # of a message; those of a model of a gigabyte are some 100,000
_MOST_BYTES = 1 << 31  # of a protocol buffer: more weights lie beside it
_PRECISIONS = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "F64": "float64"}
# What would have a config choose code: that of the makers, or a kernel from the hub.
_CODE_KEYS = ("auto_map", "attn_implementation", "_attn_implementation", "use_kernels")

_Value = int | memoryview
_Fields = list[tuple[int, _Value]]


@dataclass(frozen=True, slots=True)
class OnnxFile:
    """What an ONNX file says of itself, and onnxruntime does not tell.

    Attributes:
        precision: `int8` or `int4` where it is quantised, else the type of most weights:
            `float32`, `float16`, …; empty where it has none.
        weights: Names of the files beside it that hold its weights, ordered.
    """

    precision: str
    weights: tuple[str, ...]


def read_onnx_file(path: Path) -> OnnxFile:
    """Return what an ONNX file says of itself; it is a protocol buffer, and is not loaded.

    Raises:
        ModelError: If it is not an ONNX file, is cut short, or its weights lie elsewhere than
            beside it.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(_LFS)) == _LFS:
                raise ModelError(
                    f"{path} is a pointer that Git left in place of the file. "
                    "Remedy: git lfs pull, where it was cloned"
                )
            if path.stat().st_size >= _MOST_BYTES:
                raise ValueError("a protocol buffer has less than 2 GB")
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        found = _summed(data)
    except RecursionError as exc:
        raise ModelError(f"{path}: graphs in graphs, more than can be read") from exc
    except (OSError, ValueError) as exc:
        raise ModelError(
            f"{path} is not an ONNX file, or not a whole one ({path.stat().st_size} bytes): {exc}. "
            "Remedy: download it again"
        ) from exc
    for name in found.weights:
        if name in ("", ".", "..") or Path(name).name != name or "\\" in name:
            raise ModelError(f"{path} wants weights from {name!r}, which is not a file beside it")
    return found


def _summed(data: memoryview) -> OnnxFile:
    operators: set[str] = set()
    elements: Counter[int] = Counter()  # by type
    weights: set[str] = set()
    for kind, fields in _messages(data, "model"):
        if kind == "node":
            operators |= {_text(value) for number, value in fields if number == 4}
        elif kind == "tensor":
            sizes = [size for number, value in fields if number == 1 for size in _numbers(value)]
            if len(sizes) > _MOST_SIZES or math.prod(sizes) > _MOST_ELEMENTS:
                raise ValueError("a tensor of more numbers than a model has")
            types = [value for number, value in fields if number == 2]
            if types and types[0] in _TYPES:
                elements[int(types[0])] += math.prod(sizes)
        elif kind == "entry":  # of where the weights of a tensor lie
            key, value = (next((v for n, v in fields if n == wanted), b"") for wanted in (1, 2))
            weights |= {_text(value)} if _text(key) == "location" else set()
    if not operators:
        raise ValueError("it has no graph")
    quantised = {_QUANTISED[name] for name in operators & _QUANTISED.keys()}
    most = [_TYPES[kind] for kind, _ in elements.most_common(1)]
    return OnnxFile(min(quantised, default="".join(most)), tuple(sorted(weights)))


def _messages(data: _Value | bytes, kind: str) -> Iterator[tuple[str, _Fields]]:
    """Yield the kind and the fields of a message and of all that are in it."""
    if isinstance(data, int):
        raise ValueError("a number where a message should be")
    fields: _Fields = []
    for field in _fields(memoryview(data)):
        fields.append(field)
        if len(fields) > _MOST_FIELDS:
            raise ValueError("it has more parts than a model has")
    yield kind, fields
    for number, value in fields:
        if number in _MESSAGES[kind]:
            yield from _messages(value, _MESSAGES[kind][number])


def _fields(data: memoryview) -> Iterator[tuple[int, _Value]]:
    """Yield (number, value) of each field of a message; values of 4 or 8 bytes are left out."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield tag >> 3, value
            continue
        if kind not in (1, 2, 5):
            raise ValueError(f"no field can begin at byte {at}")
        size, at = _varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
        if at + size > len(data):
            raise ValueError(f"{at + size - len(data)} bytes are missing")
        if kind == 2:
            yield tag >> 3, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """Return a number of 7 bits a byte, lowest first, and the place behind it."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise ValueError("it ends within a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError(f"no number ends at byte {at}")


def _numbers(value: _Value) -> Iterator[int]:
    """Yield the numbers of a repeated field, packed or one by one."""
    if isinstance(value, int):
        yield value
        return
    at = 0
    while at < len(value):
        number, at = _varint(value, at)
        yield number


def _text(value: _Value | bytes) -> str:
    if isinstance(value, int):
        raise ValueError("a number where a text should be")
    return bytes(value).decode("utf-8")


def safetensors_precision(path: Path) -> str:
    """Return the precision of most weights in a file, e.g. `bfloat16`, from its head alone.

    Raises:
        ModelError: If the file is no safetensors file, or cut short.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(8)
        if start == _LFS[:8]:
            raise ModelError(
                f"{path} is a Git LFS pointer, not the weights. Remedy: git lfs pull, or download "
                "the file itself"
            )
        length = int.from_bytes(start, "little")
        head = file.read(length) if length < min(size, _MAX_HEAD) else b""
    totals: Counter[str] = Counter()  # bytes by type
    end = 0
    try:
        for name, tensor in json.loads(head).items():
            if name != "__metadata__":
                begin, behind = map(int, tensor["data_offsets"])
                totals[str(tensor["dtype"])] += behind - begin
                end = max(end, behind)
        ((most, _),) = totals.most_common(1)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as exc:
        raise ModelError(f"{path} is not a safetensors file. Remedy: download it again") from exc
    if 8 + length + end != size:
        raise ModelError(
            f"{path} has {size} bytes, its head says {8 + length + end}: the download was cut "
            "short. Remedy: download it again"
        )
    return _PRECISIONS.get(most, most.lower())


def copy_onnx(model: Path, tokenizer: Path, target: Path) -> None:
    """Copy a model, the weights beside it and a tokenizer into a folder, under our names.

    Raises:
        ModelError: If the file is not a model, or its weights are missing.
    """
    names = read_onnx_file(model).weights
    missing = [name for name in names if not (model.parent / name).is_file()]
    if missing or {MODEL_FILE, TOKENIZER_FILE, CARD_FILE} & set(names):
        raise ModelError(
            f"the weights of {model.name} lie in {', '.join(missing or names)}, which is not "
            f"beside it. Remedy: put the file into {model.parent}"
        )
    check_sizes([model, *(model.parent / name for name in names)], tokenizer, target)
    for name in names:  # under their own names, by which the model finds them
        shutil.copyfile(model.parent / name, target / name)
    shutil.copyfile(model, target / MODEL_FILE)
    shutil.copyfile(tokenizer, target / TOKENIZER_FILE)


def copy_safetensors(path: Path, target: Path, adapters: Sequence[str]) -> str:
    """Copy the config, the weights and the adapters; nothing that could be run.

    Args:
        path: The folder as its makers have it.
        target: An empty folder.
        adapters: Folders of the adapters, relative to `path`.

    Returns:
        The precision of the weights, e.g. `bfloat16`.

    Raises:
        ModelError: If a file is missing, cut short or a pointer to one, or the weights are not
            in safetensors.
    """
    config = {key: v for key, v in read_json(path / CONFIG_FILE).items() if key not in _CODE_KEYS}
    (target / CONFIG_FILE).write_text(json.dumps(config, indent=2), encoding="utf-8")
    names = _weight_names(path)
    last = names[-1]
    weights = [path / name for name in names if (path / name).is_file()]
    check_sizes(weights, path / CONFIG_FILE, target)
    for adapter in adapters:
        names += [f"{adapter}/{ADAPTER_CONFIG_FILE}", f"{adapter}/adapter_model.safetensors"]
    for name in names:
        if not (path / name).is_file():
            raise ModelError(f"{path / name} is missing. Remedy: download it, too")
        if name.endswith(".safetensors"):
            safetensors_precision(path / name)
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path / name, target / name)
    return safetensors_precision(target / last)


def _weight_names(path: Path) -> list[str]:
    """Return the files with the weights: one, or the index and the parts."""
    whole, index = SAFETENSORS
    if (path / whole).is_file():
        return [whole]
    parts = read_json(path / index).get("weight_map")
    if isinstance(parts, dict) and parts:
        names = sorted({str(name) for name in parts.values()})
        if any(Path(name).name != name or not name.endswith(".safetensors") for name in names):
            raise ModelError(
                f"{path / index} names files outside of its folder, or none of safetensors: "
                f"{', '.join(names)[:200]}. Remedy: download it again"
            )
        return [index, *names]
    others = sorted(file.name for file in path.glob("*.bin"))
    seen = f": only {', '.join(others)}, which may hold code and is never opened" if others else ""
    raise ModelError(
        f"{path} has no {whole}{seen}. Remedy: download the model's safetensors files, or convert "
        "it with save_pretrained of transformers"
    )


def check_sizes(model: Sequence[Path], tokenizer: Path, target: Path) -> None:
    """Refuse files that are larger than a model's, or than the disk that they are copied to.

    Raises:
        ModelError: If so.
    """
    size, words = sum(file.stat().st_size for file in model), tokenizer.stat().st_size
    if size > _MAX_BYTES or words > _MAX_TOKENIZER:
        raise ModelError(
            f"{model[0]} has {size:,} bytes and {tokenizer.name} {words:,}; at most "
            f"{_MAX_BYTES:,} and {_MAX_TOKENIZER:,} are taken. Remedy: choose another model"
        )
    check_room(size + words, target)


def check_room(size: int, folder: Path) -> None:
    """Refuse to write so many bytes to a disk that lacks them.

    Raises:
        ModelError: If it does.
    """
    free = shutil.disk_usage(folder).free
    if size > free:
        raise ModelError(
            f"the model needs {size:,} bytes in {folder}, where {free:,} are free. Remedy: free "
            "space, or set KGRAG_CACHE to a folder on another disk"
        )
