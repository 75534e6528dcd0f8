"""Ways to run an ONNX encoder: time and vectors, against one text a run in a thread a core.

Ways take turns in each round, so that what else the machine does meets all of them; printed are
medians of the rounds' ratios of seconds a text, on the clock and of the processor (below 1 is
faster). Texts are cut to equally many tokens, the best case of a batch. The least cosine is that of
a text's vectors in both ways; bytes are "own" where a text has the same in other company. `float32`
is the same model with its weights dequantised.

usage: python benchmarks/encoder_ways.py MODEL [--corpus FOLDER] [--tokens N] [--rounds N]
"""

import argparse
import multiprocessing
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx.numpy_helper import from_array, to_array

from kgrag.embedding.local import TextTokenizer, cores
from kgrag.embedding.model_folder import MODEL_FILE, installed_models

_Array = NDArray[np.float32]
_SAMPLES = Path(__file__).parents[1] / "ingestion" / "samples"


@dataclass(frozen=True)
class Way:
    """What is run at once, and settings of onnxruntime that are not its defaults."""

    name: str
    precision: str = "int8"
    batch: int = 1
    callers: int = cores()
    processes: bool = False
    binding: bool = False
    attributes: dict[str, object] = field(default_factory=dict)
    entries: dict[str, str] = field(default_factory=dict)


def _ways(sizes: Sequence[int]) -> list[Way]:
    inside: dict[str, object] = {"intra_op_num_threads": cores()}
    still = {"session.intra_op.allow_spinning": "0"}
    plain: dict[str, object] = {
        "graph_optimization_level": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    }
    return [
        Way("one text a run, a thread a core"),
        Way("the same again"),
        Way("a process a core", processes=True),
        Way("one caller", callers=1),
        Way("one caller, intra-op threads", callers=1, attributes=inside),
        Way(
            "one caller, intra-op threads, no spinning", callers=1, attributes=inside, entries=still
        ),
        Way("no graph optimisation", attributes=plain),
        Way("no arena", attributes={"enable_cpu_mem_arena": False}),
        Way("no memory pattern", attributes={"enable_mem_pattern": False}),
        Way("denormals are zero", entries={"session.set_denormal_as_zero": "1"}),
        Way("IO binding", binding=True),
        Way("int8 that cannot saturate", entries={"session.x64quantprecision": "1"}),
        *(Way(f"{n} texts a run", batch=n) for n in sizes),
        *(Way(f"float32, {n} texts a run", "float32", batch=n) for n in (1, *sizes)),
    ]


class Runner:
    """A session that runs batches of a way."""

    def __init__(self, way: Way, files: dict[str, str]) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        for name, value in way.attributes.items():
            setattr(options, name, value)
        for name, entry in way.entries.items():
            options.add_session_config_entry(name, entry)
        cpu = ["CPUExecutionProvider"]
        self._session = onnxruntime.InferenceSession(files[way.precision], options, cpu)
        self._binding = way.binding

    def __call__(self, ids: NDArray[np.int64]) -> tuple[_Array, float]:
        """Return unit vectors of texts, and the seconds of this thread's processor."""
        started = time.thread_time()
        made = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        made["token_type_ids"] = np.zeros_like(ids)
        fed = {node.name: made[node.name] for node in self._session.get_inputs()}
        output = self._session.get_outputs()[0].name
        if self._binding:
            bound = self._session.io_binding()
            for name, table in fed.items():
                bound.bind_cpu_input(name, table)
            bound.bind_output(output)
            self._session.run_with_iobinding(bound)
            states = bound.copy_outputs_to_cpu()[0]
        else:
            states = self._session.run([output], fed)[0]
        vectors = np.asarray(states[:, 0], np.float32)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / norms, time.thread_time() - started


_own: list[Runner] = []


def _begin(way: Way, files: dict[str, str]) -> None:
    _own[:] = [Runner(way, files)]


def _in_process(ids: NDArray[np.int64]) -> tuple[_Array, float]:
    return _own[0](ids)


class Contender:
    """A way that is ready to run: its session, and its threads or processes."""

    def __init__(self, way: Way, files: dict[str, str]) -> None:
        self.way = way
        self._call = _in_process if way.processes else Runner(way, files)
        self.pool: Executor = ThreadPoolExecutor(way.callers)
        if way.processes:
            context = multiprocessing.get_context("spawn")
            begin = partial(_begin, way, files)
            self.pool = ProcessPoolExecutor(way.callers, context, initializer=begin)

    def run(self, ids: NDArray[np.int64]) -> tuple[_Array, float, float]:
        """Return the vectors, and the seconds a text: on the clock, and of the processor."""
        wall, cpu, n = time.perf_counter(), time.process_time(), self.way.batch
        made = list(self.pool.map(self._call, [ids[i : i + n] for i in range(0, len(ids), n)]))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        if self.way.processes:
            cpu += sum(seconds for _, seconds in made)
        return np.concatenate([rows for rows, _ in made]), wall / len(ids), cpu / len(ids)


def main() -> None:
    """Print a row for each way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="name of an installed int8 model with CLS pooling")
    parser.add_argument("--corpus", type=Path, default=_SAMPLES, help="folder of .txt")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--texts", type=int, default=64, help="of a round")
    parser.add_argument("--batches", type=int, nargs="*", default=[8, 16, 32, 64], metavar="N")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", nargs="*", default=[""], help="parts of names, beside the first")
    asked = parser.parse_args()
    (card,) = (card for card in installed_models() if card.name == asked.model)
    assert card.folder is not None
    tokenizer = TextTokenizer.from_folder(card.folder, max_tokens=asked.tokens)
    text = "\n".join(
        file.read_text("utf-8", errors="ignore") for file in sorted(asked.corpus.rglob("*.txt"))
    )
    ids = _ids(text, tokenizer, asked.texts)
    with tempfile.TemporaryDirectory() as folder:
        quantised = str(card.folder / MODEL_FILE)
        files = {"int8": quantised, "float32": str(Path(folder) / MODEL_FILE)}
        onnx.save(_dequantised(onnx.load(quantised)), files["float32"])
        first, *others = _ways(asked.batches)
        chosen = [way for way in others if any(part in way.name for part in asked.only)]
        contenders = [Contender(way, files) for way in (first, *chosen)]
        _compare(contenders, ids, asked.rounds)


def _ids(text: str, tokenizer: TextTokenizer, n: int) -> NDArray[np.int64]:
    """Return the tokens of pieces of a text, all of the same length."""
    found: list[list[int]] = []
    rng = random.Random(1)
    while len(found) < n:
        at = rng.randrange(len(text))
        (tokens,) = tokenizer.encode([text[at : at + 8 * tokenizer.limit]])
        if len(tokens.ids) >= tokenizer.limit:
            found.append(tokenizer.framed(tokens.ids[: tokenizer.limit]))
    return np.array(found, np.int64)


def _compare(contenders: Sequence[Contender], ids: NDArray[np.int64], rounds: int) -> None:
    seconds: list[list[tuple[float, float]]] = [[] for _ in contenders]
    vectors: list[_Array] = []
    own: list[bool] = []
    for contender in contenders:  # the first run of each allocates memory
        found = contender.run(ids)[0]
        less = contender.way.batch // 2  # so that each has other neighbours
        vectors.append(found)
        own.append(found[less:].tobytes() == contender.run(ids[less:])[0].tobytes())
    for _ in range(rounds):
        for place, contender in enumerate(contenders):
            seconds[place].append(contender.run(ids)[1:])
    for contender in contenders:
        contender.pool.shutdown()
    print("way | on the clock | of the processor | least cosine | bytes")
    print("--- | --- | --- | --- | ---")
    for contender, rows, found, is_own in zip(contenders, seconds, vectors, own, strict=True):
        wall, cpu = (
            statistics.median(a[i] / b[i] for a, b in zip(rows, seconds[0], strict=True))
            for i in (0, 1)
        )
        least = float((found * vectors[0]).sum(axis=1).min())
        bytes_ = "own" if is_own else "differ"
        print(f"{contender.way.name} | {wall:.2f} | {cpu:.2f} | {least:.6f} | {bytes_}")


def _dequantised(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model with float32 weights in place of int8 ones that have a scale for each tensor.

    The scale of activations, which is multiplied in behind a product of integers, becomes 1.
    """
    graph = model.graph
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    rows = {n.output[0]: n.input[0] for n in graph.node if n.op_type == "DynamicQuantizeLinear"}
    scales = [n.output[1] for n in graph.node if n.op_type == "DynamicQuantizeLinear"]
    for node in graph.node:
        if node.op_type == "MatMulInteger":
            table, zero, kept = to_array(tensors[node.input[1]]), node.input[3:], node.input[1]
            offset = to_array(tensors[zero[0]]) if zero else 0
            centred = table.astype(np.float32) - np.asarray(offset, np.float32)
            tensors[kept].CopyFrom(from_array(centred, kept))
            node.op_type = "MatMul"
            node.input[:] = [rows[node.input[0]], kept]
    left = [node for node in graph.node if node.op_type != "DynamicQuantizeLinear"]
    del graph.node[:]
    graph.node.extend(left)
    graph.initializer.extend(from_array(np.ones((), np.float32), name) for name in scales)
    return model


if __name__ == "__main__":
    main()
