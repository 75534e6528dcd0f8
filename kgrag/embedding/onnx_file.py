"""What an ONNX file says of itself, read without loading it: its precision, its weights' files."""

import mmap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kgrag.errors import ModelError

# Operators that count in whole numbers, whatever type most of the weights have.
_INT8 = frozenset(
    {
        "DynamicQuantizeLinear",
        "DynamicQuantizeMatMul",
        "MatMulInteger",
        "MatMulIntegerToFloat",
        "QAttention",
        "QLinearMatMul",
        "QuantizeLinear",
    }
)
_INT4 = frozenset({"MatMulNBits"})
# TensorProto.DataType, https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
_TYPES = {1: "float32", 2: "uint8", 3: "int8", 10: "float16", 11: "float64", 16: "bfloat16"}
_EXTERNAL = 1  # TensorProto.DataLocation
_MOST_SIZES = 32  # of a tensor's dimensions
_MOST_ELEMENTS = 1 << 40  # numbers of a tensor
_MOST_FIELDS = 5_000_000  # of a file; those of a model of a gigabyte are some 100,000
_MOST_BYTES = 1 << 31  # of a protocol buffer: more weights lie beside it
_LFS = b"version https://git-lfs"

_Field = tuple[int, int | memoryview]


@dataclass(frozen=True, slots=True)
class OnnxFile:
    """What an ONNX file says of itself.

    Attributes:
        precision: `int8` or `int4` where it is quantised, else the type of most weights:
            `float32`, `float16`, …; empty where it has none.
        weights: Names of the files beside it that hold its weights, ordered.
    """

    precision: str
    weights: tuple[str, ...]


@dataclass(slots=True)
class _Seen:
    n_fields: int = 0
    operators: set[str] = field(default_factory=set)
    elements: Counter[int] = field(default_factory=Counter)  # by type
    weights: set[str] = field(default_factory=set)

    def fields(self, data: int | memoryview) -> Iterator[_Field]:
        """Yield the fields of a message, as long as there are not too many in all."""
        for found in _fields(data):
            self.n_fields += 1
            if self.n_fields > _MOST_FIELDS:
                raise ValueError("it has more parts than a model has")
            yield found


def read_onnx_file(path: Path) -> OnnxFile:
    """Return what an ONNX file says of itself.

    It is a protocol buffer, of which the few fields that matter are read; big ones are skipped.

    Raises:
        ModelError: If it is not an ONNX file, is cut short, or its weights lie elsewhere than
            beside it.
    """
    seen = _Seen()
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
        graphs = [value for number, value in seen.fields(data) if number == 7]
        for graph in graphs:
            _read_graph(graph, seen)
    except FileNotFoundError as exc:
        raise ModelError(f"{path} is missing") from exc
    except RecursionError as exc:
        raise ModelError(f"{path}: graphs in graphs, more than can be read") from exc
    except (OSError, ValueError, TypeError) as exc:
        raise ModelError(
            f"{path} is not an ONNX file, or not a whole one ({path.stat().st_size} bytes): {exc}. "
            "Remedy: download it again"
        ) from exc
    if not graphs or not seen.operators:
        raise ModelError(f"{path} is not an ONNX file: it has no graph. Remedy: download it again")
    for name in seen.weights:
        if name in ("", ".", "..") or Path(name).name != name or "\\" in name:
            raise ModelError(f"{path} wants weights from {name!r}, which is not a file beside it")
    return OnnxFile(_precision(seen), tuple(sorted(seen.weights)))


def _precision(seen: _Seen) -> str:
    for name, operators in (("int4", _INT4), ("int8", _INT8)):
        if operators & seen.operators:
            return name
    weights = Counter({kind: n for kind, n in seen.elements.items() if kind in _TYPES})
    return _TYPES[weights.most_common(1)[0][0]] if weights else ""


def _fields(data: int | memoryview) -> Iterator[_Field]:
    """Yield (number, value) of each field of a message; values of 4 or 8 bytes are left out."""
    if isinstance(data, int):
        raise ValueError("a number where a message should be")
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


def _read_graph(graph: int | memoryview, seen: _Seen) -> None:
    for number, value in seen.fields(graph):
        if number == 1:
            _read_node(value, seen)
        elif number == 5:
            _read_tensor(value, seen)


def _read_node(node: int | memoryview, seen: _Seen) -> None:
    for number, value in seen.fields(node):
        if number == 4:
            seen.operators.add(_text(value))
        elif number == 5:
            for key, content in seen.fields(
                value
            ):  # an attribute: a tensor, or a graph in a branch
                if key == 5:
                    _read_tensor(content, seen)
                elif key == 6:
                    _read_graph(content, seen)


def _read_tensor(tensor: int | memoryview, seen: _Seen) -> None:
    kind, elements, n_sizes, is_external, location = 0, 1, 0, False, ""
    for number, value in seen.fields(tensor):
        if number == 1:
            for size in _numbers(value):
                n_sizes += 1
                elements *= size
                if n_sizes > _MOST_SIZES or elements > _MOST_ELEMENTS:
                    raise ValueError("a tensor of more numbers than a model has")
        elif number == 2 and isinstance(value, int):
            kind = value
        elif number == 13:
            entry = {key: _text(content) for key, content in seen.fields(value)}
            location = entry.get(2, "") if entry.get(1) == "location" else location
        elif number == 14:
            is_external = value == _EXTERNAL
    seen.elements[kind] += elements
    if is_external:
        seen.weights.add(location)


def _numbers(value: int | memoryview) -> Iterator[int]:
    """Yield the numbers of a repeated field, packed or one by one."""
    if isinstance(value, int):
        yield value
        return
    at = 0
    while at < len(value):
        number, at = _varint(value, at)
        yield number


def _text(value: int | memoryview) -> str:
    if isinstance(value, int):
        raise ValueError("a number where a text should be")
    return bytes(value).decode("utf-8")
