"""A model of transformers at work: token ids in, pooled vectors or token states out."""

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kgrag.embedding.card import ModelCard, Pooling
from kgrag.embedding.embedder import Task, Vectors
from kgrag.embedding.transformers_load import load_model, said
from kgrag.errors import ModelError

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

_TASKS: tuple[Task, ...] = ("query", "passage")
# Padded tokens of a batch: more take memory, and pad more; one long text of jina is as much.
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


class Network:
    """A model in memory with an adapter for each task; any thread may use it, one at a time.

    Attributes:
        batch_tokens: Padded tokens that a batch should not exceed.
    """

    def __init__(
        self, model: "PreTrainedModel", *, pooling: Pooling, adapters: Mapping[Task, str]
    ) -> None:
        self._model = model
        self._pool = _POOL[pooling]
        self._adapters = adapters
        self._active: str | None = None
        self._lock = threading.Lock()  # which adapter is in use is state of the model
        self._pad = model.config.pad_token_id or 0
        self.batch_tokens = _BATCH_TOKENS[model.device.type]

    @classmethod
    def from_folder(cls, folder: Path, card: ModelCard, *, threads: int | None) -> "Network":
        """Return the model in a folder, with the pooling and the adapters of a card.

        Args:
            folder: With `config.json`, the weights, and adapters in folders of their own.
            card: Names the pooling and the adapters.
            threads: Processor threads of torch, in all of this process; None leaves them.

        Raises:
            ModelError: As `load_model`.
        """
        model, names = load_model(folder, card)
        if threads:
            import torch

            torch.set_num_threads(threads)
        adapters = {task: names.get(card.adapter(task), "") for task in _TASKS}
        return cls(model, pooling=card.pooling, adapters=adapters)

    def pooled(self, batch: Sequence[Sequence[int]], task: Task) -> Vectors:
        """Return `float32[len(batch), dimension]`: the token states pooled, not normalised.

        Args:
            batch: Token ids of each text, at least one, special tokens included.
            task: Which adapter reads them.

        Raises:
            ModelError: If the model fails.
        """
        return self._forward(batch, task, self._pool)

    def states(self, batch: Sequence[Sequence[int]], task: Task) -> list[Vectors]:
        """Return for each text `float32[its tokens, dimension]`: the state of every token.

        Args:
            batch: As above.
            task: As above.

        Raises:
            ModelError: If the model fails.
        """
        rows = self._forward(batch, task, lambda states, mask: states)
        return [row[: len(ids)] for row, ids in zip(rows, batch, strict=True)]

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
        # torch raises RuntimeError and its kin, models whatever they like
        except Exception as exc:
            raise ModelError(
                f"the model failed on {len(batch)} texts of up to {width} tokens: {said(exc)}. "
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
