"""Models for transformers: loaded safely, with adapters, and run."""

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kgrag.embedding.catalog import ModelCard, Pooling, name_from
from kgrag.embedding.embedder import TASKS, Task, Vectors
from kgrag.embedding.hub_folder import ADAPTER_CONFIG_FILE
from kgrag.errors import ModelError, needs_extra

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

# Padded tokens of a batch: more need more memory and padding; a long text of jina has as many.
_BATCH_TOKENS = {"cpu": 8192, "mps": 8192, "cuda": 16384}

_Take = Callable[["torch.Tensor", "torch.Tensor"], "torch.Tensor"]

# states (n, tokens, dim) and mask (n, tokens, 1) to (n, dim); padding is on the right
_POOL: Mapping[Pooling, _Take] = {
    "cls": lambda states, mask: states[:, 0],
    "mean": lambda states, mask: (states * mask).sum(1) / mask.sum(1),
    "last": lambda states, mask: states.gather(
        1, (mask.sum(1, keepdim=True).long() - 1).expand(-1, -1, states.shape[2])
    ).squeeze(1),
}


class TransformersNetwork:
    """A loaded model with an adapter for each task; thread-safe by a lock.

    On the processor a text's vector is the same in any batch to 1e-5 in each component. The half
    precision of a graphics processor differs by some 1e-3 (cosine 0.9999; measured with a random
    model of 12 layers in bfloat16), which does not count as another model.
    """

    pads = True

    def __init__(
        self, model: "PreTrainedModel", *, pooling: Pooling, adapters: Mapping[Task, str]
    ) -> None:
        self._model = model
        self._pool = _POOL[pooling]
        self._adapters = adapters
        self._active: str | None = None
        self._lock = threading.Lock()  # the active adapter is state of the model
        self._pad = model.config.pad_token_id or 0
        self.batch_tokens = _BATCH_TOKENS[model.device.type]

    @classmethod
    def from_folder(
        cls, folder: Path, card: ModelCard, *, threads: int | None = None
    ) -> "TransformersNetwork":
        """Load the model in a folder, with the pooling and adapters of a card.

        It runs on the graphics processor if there is one, in bfloat16 or float16, else on the
        processor in float32. No code of its makers is run, nothing is downloaded, and only
        safetensors files are opened. `threads` sets the threads of torch in this process; None
        leaves them.

        Raises:
            MissingDependencyError: If torch or transformers is not installed.
            ModelError: If files are damaged, or weights are missing.
        """
        with _imports(folder):
            import torch  # transformers imports without it, and fails later
            import transformers

            if card.query_adapter or card.passage_adapter:
                import peft  # noqa: F401 - transformers needs it for adapters
        device, dtype = choose_device()
        with _loading(folder, card.name):
            model, report = transformers.AutoModel.from_pretrained(
                str(folder),
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=dtype,
                output_loading_info=True,
            )
            # sentence encoders often lack the pooler, which is not used
            missing = [key for key in report["missing_keys"] if "pooler." not in key]
            what = f"the weights in {folder} are not those of its config.json"
            _check_weights(what, missing, (), card.name)
            names = {"": ""}
            for adapter in map(card.adapter, TASKS):
                if adapter not in names:
                    # peft does not allow dots in names, and finds weights by them
                    names[adapter] = f"kgrag_adapter_{len(names)}"
                    _load_adapter(model, folder / adapter, names[adapter], card.name)
            model = model.to(device).eval()
        if threads:
            torch.set_num_threads(threads)
        adapters = {task: names[card.adapter(task)] for task in TASKS}
        return cls(model, pooling=card.pooling, adapters=adapters)

    def pooled(self, batch: Sequence[Sequence[int]], task: Task) -> Vectors:
        """Return `float32[len(batch), dimension]`: the pooled token states, not normalised.

        `batch` are the token ids of each text, at least one, special tokens included.
        """
        return self._forward(batch, task, self._pool)

    def _forward(self, batch: Sequence[Sequence[int]], task: Task, take: _Take) -> Vectors:
        import torch

        width = max(map(len, batch))
        ids = np.full((len(batch), width), self._pad, np.int64)
        mask = np.zeros((len(batch), width), np.int64)
        for row, text in enumerate(batch):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        try:
            with self._lock, torch.inference_mode():
                self._activate(self._adapters[task])
                seen = torch.from_numpy(mask).to(self._model.device)
                read = torch.from_numpy(ids).to(self._model.device)
                states = self._model(input_ids=read, attention_mask=seen).last_hidden_state
                taken = take(states.float(), seen.unsqueeze(2).float())
                rows: Vectors = taken.cpu().numpy()
        # torch raises RuntimeError and subclasses, models anything
        except Exception as exc:
            raise ModelError(
                f"the model failed on {len(batch)} texts of up to {width} tokens: {_line(exc)}. "
                "Remedy: if its memory is too small, a lower max_tokens, or CUDA_VISIBLE_DEVICES="
                " in the environment to use the processor"
            ) from exc
        return rows

    def _activate(self, adapter: str) -> None:
        if adapter == self._active or not any(self._adapters.values()):
            return
        if adapter:
            self._model.enable_adapters()
            self._model.set_adapter(adapter)
        else:
            self._model.disable_adapters()
        self._active = adapter


def choose_device() -> tuple[str, "torch.dtype"]:
    """Return device and precision: a graphics processor if there is one."""
    import torch

    if torch.cuda.is_available():
        has_bfloat16 = torch.cuda.is_bf16_supported(including_emulation=False)
        return "cuda", torch.bfloat16 if has_bfloat16 else torch.float16
    if torch.backends.mps.is_available():
        return "mps", torch.float16
    return "cpu", torch.float32


def knows(model_type: str, folder: Path) -> bool:
    """Return whether transformers supports a type of model without further code.

    Raises:
        MissingDependencyError: If transformers is not installed.
    """
    with _imports(folder):
        from transformers.models.auto.configuration_auto import CONFIG_MAPPING
    return model_type in CONFIG_MAPPING


def convert_tokenizer(folder: Path, target: Path) -> None:
    """Write the `tokenizer.json` of a model with other tokenizer files.

    Raises:
        MissingDependencyError: If transformers is not installed.
        ModelError: If they cannot be converted.
    """
    with _imports(folder):
        import transformers
    with _loading(folder, folder.name):
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False
        )
        tokenizer.backend_tokenizer.save(str(target))


def _load_adapter(model: "PreTrainedModel", folder: Path, adapter: str, name: str) -> None:
    if not (folder / ADAPTER_CONFIG_FILE).is_file():
        raise ModelError(f"the adapter {folder} is missing. {_again(name)}")
    report = model.load_adapter(
        str(folder), adapter_name=adapter, adapter_kwargs={"local_files_only": True}
    )
    # earlier adapters also count as missing
    missing = [key for key in report.missing_keys if adapter in key]
    what = f"the adapter {folder} does not fit the model"
    _check_weights(what, missing, report.unexpected_keys, name)


def _check_weights(what: str, missing: Iterable[str], unknown: Iterable[str], name: str) -> None:
    for how, keys in (("missing", sorted(missing)), ("unknown", sorted(unknown))):
        if keys:
            raise ModelError(
                f"{what}: {len(keys)} weights are {how}, the first is {keys[0]}. {_again(name)}"
            )


@contextlib.contextmanager
def _imports(folder: Path) -> Iterator[None]:
    with needs_extra("jina", f"the model in {folder}"), warnings.catch_warnings(action="ignore"):
        yield


@contextlib.contextmanager
def _loading(folder: Path, name: str) -> Iterator[None]:
    """Silence transformers, and map errors of any kind."""
    from transformers.utils import logging

    verbosity, has_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    except ModelError:
        raise
    except Exception as exc:
        raise ModelError(
            f"cannot load the model in {folder}: {_line(exc)}. {_again(name)}"
        ) from exc
    finally:
        logging.set_verbosity(verbosity)
        if has_bars:
            logging.enable_progress_bar()


def _again(name: str) -> str:
    return f"Remedy: download its files again, then kgrag models add PATH --name {name_from(name)}"


def _line(exc: Exception) -> str:
    """Return the start of an error message, which may be a page long."""
    return " ".join(str(exc).split())[:300] or type(exc).__name__
