"""Models of transformers from a folder: quietly, safely, whole, with adapters."""

import contextlib
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.embedding.card import ModelCard
from kgrag.embedding.folder import ADAPTER_CONFIG_FILE
from kgrag.embedding.names import name_from
from kgrag.errors import ModelError
from kgrag.extras import needs_extra

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel


def load_model(folder: Path, card: ModelCard) -> tuple["PreTrainedModel", dict[str, str]]:
    """Return the model in a folder, and for each adapter of the card its name in the model.

    The model is on the graphics processor where there is one, in bfloat16 or float16, else on
    the processor in float32. No code of its makers is run, nothing is fetched, and only
    safetensors files are opened.

    Raises:
        MissingDependencyError: If torch or transformers is not installed.
        ModelError: If files are damaged, or weights that the model needs are missing.
    """
    with _imports(folder):
        import torch  # noqa: F401 - transformers imports without it, and fails later
        import transformers

        if card.query_adapter or card.passage_adapter:
            import peft  # noqa: F401 - transformers needs it for adapters
    device, dtype = choose_device()
    with _raised(folder, card.name), _quiet():
        model, report = transformers.AutoModel.from_pretrained(
            str(folder),
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            dtype=dtype,
            output_loading_info=True,
        )
        _check_complete(folder, report["missing_keys"], card.name)
        names: dict[str, str] = {}
        for adapter in filter(None, (card.query_adapter, card.passage_adapter)):
            if adapter not in names:
                # peft takes no dots in names, and finds its weights by them
                names[adapter] = f"kgrag_adapter_{len(names)}"
                _load_adapter(model, folder / adapter, names[adapter], card.name)
        model = model.to(device).eval()
    return model, names


def choose_device() -> tuple[str, "torch.dtype"]:
    """Return where to run and in which precision: a graphics processor if there is one."""
    import torch

    if torch.cuda.is_available():
        has_bfloat16 = torch.cuda.is_bf16_supported(including_emulation=False)
        return "cuda", torch.bfloat16 if has_bfloat16 else torch.float16
    if torch.backends.mps.is_available():
        return "mps", torch.float16
    return "cpu", torch.float32


def knows(model_type: str, folder: Path) -> bool:
    """Return whether transformers has a kind of model built in.

    Args:
        model_type: As `config.json` has it.
        folder: Of the model, for the text of the error.

    Raises:
        MissingDependencyError: If transformers is not installed.
    """
    with _imports(folder):
        from transformers.models.auto.configuration_auto import CONFIG_MAPPING
    return model_type in CONFIG_MAPPING


def convert_tokenizer(folder: Path, target: Path) -> None:
    """Write the `tokenizer.json` of a model that comes with other tokenizer files.

    Raises:
        MissingDependencyError: If transformers is not installed.
        ModelError: If they are of a kind that cannot be written so.
    """
    with _imports(folder):
        import transformers
    with _raised(folder, folder.name), _quiet():
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
    # adapters that were loaded before count as missing, too
    missing = sorted(key for key in report.missing_keys if adapter in key)
    wrong = missing or sorted(report.unexpected_keys)
    if wrong:
        raise ModelError(
            f"the adapter {folder} does not fit the model: {len(wrong)} weights are "
            f"{'missing' if missing else 'unknown'}, the first is {wrong[0]}. "
            f"{_again(name)}"
        )


def _check_complete(folder: Path, missing_keys: Iterable[str], name: str) -> None:
    # encoders of sentences often come without the pooler, which we do not read
    missing = sorted(key for key in missing_keys if "pooler." not in key)
    if missing:
        raise ModelError(
            f"the weights in {folder} are not those of its config.json: {len(missing)} are "
            f"missing, the first is {missing[0]}. {_again(name)}"
        )


@contextlib.contextmanager
def _imports(folder: Path) -> Iterator[None]:
    with needs_extra("jina", f"the model in {folder}"), _without_warnings():
        yield


@contextlib.contextmanager
def _raised(folder: Path, name: str) -> Iterator[None]:
    """Map what transformers, safetensors and peft raise, each of its own kind."""
    try:
        yield
    except ModelError:
        raise
    except Exception as exc:
        raise ModelError(f"cannot load the model in {folder}: {said(exc)}. {_again(name)}") from exc


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers' progress bars and remarks from the user, then restore them."""
    from transformers.utils import logging

    verbosity, has_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with _without_warnings():
            yield
    finally:
        logging.set_verbosity(verbosity)
        if has_bars:
            logging.enable_progress_bar()


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _again(name: str) -> str:
    return f"Remedy: download its files again, then kgrag models add PATH --name {name_from(name)}"


def said(exc: Exception) -> str:
    """Return the beginning of what a library says; some say a page."""
    return " ".join(str(exc).split())[:300] or type(exc).__name__
