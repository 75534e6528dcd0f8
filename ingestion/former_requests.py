"""Make the requests by which passages were asked about before: answers to them still serve.

Before answers were rows a triple was an object, and the model was told neither title nor region.
Whoever reads a document anew pays nothing for what was answered then.
"""

import functools
from importlib import resources

from kgrag.choices import ExtractFacts
from kgrag.ingestion import summarize
from kgrag.ingestion.meta_model import SHIPPED, MetaModel, read_meta_model
from kgrag.ingestion.passages import Passage
from kgrag.ingestion.requests import (
    BEYOND,
    STAGES,
    Task,
    language_of,
    object_of,
    passage_values,
    prompt_of,
)
from kgrag.llm.chat import Request, Schema
from kgrag.llm.prompts import prompt
from kgrag.types import Language

_TEXT: Schema = {"type": "string"}


def former_request(
    task: Task, passage: Passage, *, facts: ExtractFacts, meta_model: MetaModel | None
) -> Request:
    """Return the request of a task as it was made before.

    Args:
        task: What is asked for.
        passage: What is read.
        facts: As for `kgrag.ingestion.requests.passage_request`.
        meta_model: The same.
    """
    language = language_of(passage.text)
    used = prompt(f"former/{prompt_of(task, facts, language).name}", language)
    values = passage_values(task, passage, language)
    if "meta_model" in used.fields and meta_model is not None:
        values["meta_model"] = f"{_listing(meta_model, language)}\n{BEYOND[facts][language]}"
    return Request(
        messages=used.fill(**values),
        stage=STAGES[task],
        schema=_schema(task, None if facts == "free" else meta_model),
        schema_name=task,
        doc_id=passage.doc_id,
    )


def _listing(meta_model: MetaModel, language: Language) -> str:
    """Return a meta-model as it was listed; one of the user's own has not changed."""
    name = next((n for n in SHIPPED if read_meta_model(n) == meta_model), None)
    return meta_model.listing(language) if name is None else _shipped(name, language)


@functools.cache
def _shipped(name: str, language: Language) -> str:
    file = resources.files("kgrag.ingestion").joinpath(
        "meta_models", "former", f"{name}.{language}.txt"
    )
    return file.read_text(encoding="utf-8").rstrip("\n")


def _schema(task: Task, meta_model: MetaModel | None) -> Schema:
    lists: dict[str, Schema] = {}
    if task != "summaries":
        lists["facts"] = _list_of({"quote": _TEXT, "triples": _list_of(_triple(meta_model))})
    if task != "facts":
        lists["summaries"] = summarize.ITEMS
    return object_of(lists)


def _triple(meta_model: MetaModel | None) -> dict[str, Schema]:
    if meta_model is None:
        return {"s": _TEXT, "p": _TEXT, "o": _TEXT}
    key: Schema = {"type": "string", "enum": [t.key for t in meta_model.types]}
    return {"s": _TEXT, "st": key, "p": _TEXT, "o": _TEXT, "ot": key}


def _list_of(properties: dict[str, Schema]) -> Schema:
    return {"type": "array", "items": object_of(properties)}
