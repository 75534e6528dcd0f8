"""A tiny encoder, made here: its vector of a text is a fixed function of its characters."""

import hashlib
import itertools
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from kgrag.embedding.catalog import CatalogEntry, ModelCard
from kgrag.embedding.model_folder import MODEL_FILE, TOKENIZER_FILE, ModelFolder, file_sha256

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "绿", "色")
STATES = (
    (0.0, 0.0, 0.0),
    (1.0, 1.0, 1.0),
    (0.0, 0.0, 5.0),
    (0.0, 0.0, 1.0),
    (3.0, 0.0, 0.0),
    (0.0, 4.0, 0.0),
    (1.0, 2.0, 0.0),
    (2.0, 0.0, 1.0),
    (0.0, 2.0, 1.0),
)


def make_tokenizer(path: Path) -> None:
    """Write a tokenizer of single letters that adds [CLS] and [SEP]."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel(dict(zip(WORDS, range(9), strict=True)), "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(path))


def make_model(
    path: Path,
    *,
    states: Sequence[Sequence[float]] = STATES,
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    outputs: Sequence[str] = ("last_hidden_state",),
    positions: int = 0,
    weights: str = "",
) -> None:
    """Write a graph that looks up a state for each token.

    The output `sentence_embedding` is their sum over the text, `pooler_output` is all zeros;
    every other name gives the states. With `positions`, it reads no more tokens than that; with
    `weights`, they lie in a file of that name.
    """
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper, save

    table = np.array(states, np.float32)
    shapes = {"sentence_embedding": ["n", "d"], "pooler_output": ["n", "d"]}
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["states"])]
    summed = {"sentence_embedding": "states", "pooler_output": "zeros"}
    nodes.append(helper.make_node("Sub", ["states", "states"], ["zeros"]))
    constants = {"axis": np.array([1], np.int64)}
    if positions:  # a table of positions, too short for more tokens
        nodes[:1] = [
            helper.make_node("Gather", ["table", "input_ids"], ["looked_up"]),
            helper.make_node("Shape", ["input_ids"], ["shape"]),
            helper.make_node("Gather", ["shape", "axis"], ["tokens"]),
            helper.make_node("Slice", ["positions", "zero", "tokens", "axis"], ["read"]),
            helper.make_node("Add", ["looked_up", "read"], ["states"]),
        ]
        constants["zero"] = np.array([0], np.int64)
        constants["positions"] = np.zeros((1, positions, table.shape[1]), np.float32)
    for name in outputs:
        if name in summed:
            nodes.append(helper.make_node("ReduceSum", [summed[name], "axis"], [name], keepdims=0))
        else:
            nodes.append(helper.make_node("Identity", ["states"], [name]))
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in inputs],
        [
            helper.make_tensor_value_info(
                name, TensorProto.FLOAT, shapes.get(name, ["n", "t", "d"])
            )
            for name in outputs
        ],
        [
            numpy_helper.from_array(table, "table"),
            *(numpy_helper.from_array(value, name) for name, value in constants.items()),
        ],
    )
    opset = helper.make_opsetid("", 13)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=8)
    save(
        model,
        str(path),
        save_as_external_data=bool(weights),
        location=weights or None,
        size_threshold=0,
    )


@pytest.fixture(scope="session")
def tiny_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tiny model's two files, without a card."""
    pytest.importorskip("onnx", reason="the tiny model is made with the onnx package")
    folder = tmp_path_factory.mktemp("tiny")
    make_model(folder / MODEL_FILE)
    make_tokenizer(folder / TOKENIZER_FILE)
    return folder


@pytest.fixture
def write_model(tiny_files: Path) -> Callable[..., None]:
    """Return `make_model`, to write other models with."""
    return make_model


@pytest.fixture
def tiny_card(tiny_files: Path) -> ModelCard:
    """The card of the tiny model: mean pooling, three dimensions."""
    return ModelCard(
        name="tiny",
        dimension=3,
        pooling="mean",
        query_instruction="c",
        max_tokens=8,
        precision="float32",
        model_sha256=file_sha256(tiny_files / MODEL_FILE),
        tokenizer_sha256=file_sha256(tiny_files / TOKENIZER_FILE),
    )


@pytest.fixture
def tiny_entry(tiny_card: ModelCard) -> CatalogEntry:
    """A catalogue entry for the tiny model; its check holds."""
    return CatalogEntry(
        card=tiny_card,
        hub_repo="maker/tiny",
        maven_artifact="org.example:tiny:1.0",
        size_mb=1,
        checks=(("a", "aa", "bb"),),
    )


@pytest.fixture
def tiny_folder(tiny_files: Path, tiny_card: ModelCard, tmp_path: Path) -> Path:
    """The tiny model with its card, ready to be opened and to be damaged."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    for name in (MODEL_FILE, TOKENIZER_FILE):
        (folder / name).write_bytes((tiny_files / name).read_bytes())
    ModelFolder(folder).write_card(tiny_card)
    return folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of models, and no other place where models could be."""
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    # the library has read the environment, if anything has imported it
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "cache" / "models"


class Hub(ThreadingHTTPServer):
    """A web server on this machine that answers as a hub does, with faults.

    Attributes:
        files: What it has, by path.
        faults: What goes wrong, by path: a status to answer with; `hang` before any answer or
            `stall` in the middle of it; `cut` in the middle; `endless`; `other` for a body that
            is not the one that was stated.
        states_size: Whether it says with a file how long it is; it does where only that is asked.
        asked: Paths in the order of the requests for files.
        tokens: The `Authorization` of every request that had one.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.faults: dict[str, int | str] = {}
        self.states_size = True
        self.asked: list[str] = []
        self.tokens: list[str] = []
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing when a client goes away."""


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        self.server.tokens += filter(None, [self.headers.get("Authorization")])
        fault = self.server.faults.get(self.path)
        if fault == "hang":
            self.server.closing.wait()
            return
        if isinstance(fault, int) or self.path not in self.server.files:
            self.send_error(fault if isinstance(fault, int) else 404)
            return
        body = self.server.files[self.path]
        self.send_response(200)
        self.send_header("X-Repo-Commit", "0" * 40)
        self.send_header("X-Linked-ETag", f'"{hashlib.sha256(body).hexdigest()}"')
        if (self.server.states_size or not with_body) and fault != "endless":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self._send(body, fault)

    def _send(self, body: bytes, fault: str | None) -> None:
        if fault == "other":
            body = b"x" * len(body)
        self.wfile.write(body[: len(body) // 2] if fault in ("cut", "stall") else body)
        if fault == "stall":
            self.server.closing.wait()
        while fault == "endless" and not self.server.closing.is_set():
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep the tests quiet."""


@pytest.fixture
def hub(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub without files that HF_ENDPOINT points to."""
    server = Hub()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.setenv("no_proxy", "*")
    yield server
    server.closing.set()
    server.shutdown()
    server.server_close()
    thread.join()


LETTERS = "abcdefghijklmnopqrstuvwxyz :绿色工厂减排目标，。"


def make_hub_tokenizer(folder: Path) -> None:
    """Write a tokenizer of single characters that adds <s> and </s>; <pad> is 1."""
    import json

    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {word: i for i, word in enumerate(("<s>", "<pad>", "</s>", "<unk>", *LETTERS))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.save(str(folder / TOKENIZER_FILE))
    stated = {"model_max_length": 64, "tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(stated))


def make_hub_folder(folder: Path, family: str) -> None:
    """Write a tiny model with random weights as its makers would, a jina one with adapters."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
        import transformers
        from peft import LoraConfig

        transformers.utils.logging.disable_progress_bar()
        torch.set_num_threads(1)
        torch.manual_seed(7)
        sizes = {
            "vocab_size": len(LETTERS) + 4,
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "max_position_embeddings": 66,
            "initializer_range": 0.4,  # so that neighbours and adapters make a difference
            "pad_token_id": 1,
        }
        config = transformers.AutoConfig.for_model(family, **sizes)
        model = transformers.AutoModel.from_config(config)
        model.save_pretrained(folder)
        if family == "jina_embeddings_v3":
            for task in ("retrieval_query", "retrieval_passage"):
                model = transformers.AutoModel.from_pretrained(folder)
                lora = LoraConfig(
                    r=4, target_modules=["q_proj", "k_proj", "v_proj"], init_lora_weights=False
                )
                model.add_adapter(lora, adapter_name=task)
                model.save_pretrained(folder / task)
    make_hub_tokenizer(folder)


@pytest.fixture(scope="session")
def _hub_folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def made_once(family: str) -> Path:
        if family not in made:
            made[family] = tmp_path_factory.mktemp(family)
            make_hub_folder(made[family], family)
        return made[family]

    return made_once


@pytest.fixture
def hub_folder(_hub_folders: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that gives a folder as the hub has it, of a family; it may be changed."""
    numbers = itertools.count()

    def copied(family: str) -> Path:
        target = tmp_path / "hub" / str(next(numbers)) / family
        return Path(shutil.copytree(_hub_folders(family), target))

    return copied
