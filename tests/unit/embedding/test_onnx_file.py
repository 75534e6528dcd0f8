"""What an ONNX file says of itself, and files that are none."""

import numpy as np
import pytest

from kgrag.embedding.onnx_file import read_onnx_file
from kgrag.errors import ModelError

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
    monkeypatch.setattr("kgrag.embedding.onnx_file._MOST_FIELDS", 100)
    (tmp_path / "a").write_bytes(field(7, field(1, field(4, b"Identity")) * 99))
    with pytest.raises(ModelError, match="more parts than a model has"):
        read_onnx_file(tmp_path / "a")


def test_a_file_beyond_what_a_protocol_buffer_holds_is_refused(tmp_path):
    """It is not looked through."""
    with (tmp_path / "a").open("wb") as file:
        file.truncate(1 << 31)
    with pytest.raises(ModelError, match="less than 2 GB"):
        read_onnx_file(tmp_path / "a")
