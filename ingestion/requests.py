"""Make the requests by which a model is asked to read a passage."""

import re
from collections.abc import Mapping
from typing import Literal

from kgrag.choices import ExtractFacts
from kgrag.ingestion import extract, summarize
from kgrag.ingestion.meta_model import MetaModel
from kgrag.ingestion.passages import Passage
from kgrag.llm.chat import Request, Schema, Stage
from kgrag.llm.prompts import Prompt, fence, prompt
from kgrag.types import Language

Task = Literal["knowledge", "facts", "summaries"]

STAGES: Mapping[Task, Stage] = {
    "knowledge": "extract",
    "facts": "extract",
    "summaries": "summarize",
}
_LEAST_HAN = 0.2  # of the letters of a Chinese text: names and tables are often Latin
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")
_MERE_ANNEX = re.compile(r"附\s*[件录表][\s\d一二三四五六七八九十：:．.、]*")  # with no title
_NO_HEADINGS: Mapping[Language, str] = {"zh": "（无）", "en": "(none)"}
# The last line of the meta-model in a prompt: what about the relations that it does not have?
_BEYOND: Mapping[ExtractFacts, Mapping[Language, str]] = {
    "free": {"zh": "", "en": ""},
    "schema": {
        "zh": "表外的关系、不合表中类型的三元组不写。",
        "en": "Leave out relations that are not listed, and triples whose types do not fit.",
    },
    "both": {
        "zh": "表中没有合适的关系时，用原文的动词，类型仍从表中选。",
        "en": "Where no relation listed fits, use the text's verb; types still come from the list.",
    },
}


def language_of(text: str) -> Language:
    """Return the language of a text: Chinese from a fifth of Chinese characters on.

    >>> language_of("推广LED照明"), language_of("Shanghai (上海) is a city in China.")
    ('zh', 'en')
    """
    han, latin = len(_HAN.findall(text)), len(_LATIN.findall(text))
    return "zh" if han >= _LEAST_HAN * (han + latin) else "en"


def prompt_of(task: Task, facts: ExtractFacts, language: Language) -> Prompt:
    """Return the prompt of a task."""
    with_model = task != "summaries" and facts != "free"
    return prompt(f"{task}_schema" if with_model else task, language)


def passage_request(
    task: Task, passage: Passage, *, facts: ExtractFacts, meta_model: MetaModel | None
) -> Request:
    """Return the request of a task.

    The document's title is no part of it, nor is that it is an annex: a passage that stands in
    two documents, by itself in one and behind a letter in the other, is the same request, and is
    paid for once. Document text and headings stand in fences of their own.

    Args:
        task: What is asked for.
        passage: What is read.
        facts: `free` triples, those of the meta-model (`schema`), or `both`.
        meta_model: Types and relations; needed unless `facts` is `free`.
    """
    language = language_of(passage.text)
    used = prompt_of(task, facts, language)
    headings = " > ".join(h for h in passage.heading_path if not _MERE_ANNEX.fullmatch(h))
    values = {
        "headings": fence(headings, label="headings") if headings else _NO_HEADINGS[language],
        "passage": fence(
            passage.text if task == "facts" else summarize.marked(passage), label="passage"
        ),
    }
    if task != "facts":
        values["parts"] = ", ".join(part.key for part in summarize.parts(passage))
    if "meta_model" in used.fields and meta_model is not None:
        values["meta_model"] = f"{meta_model.listing(language)}\n{_BEYOND[facts][language]}"
    return Request(
        messages=used.fill(**values),
        stage=STAGES[task],
        schema=_schema(task, None if facts == "free" else meta_model),
        schema_name=task,
        doc_id=passage.doc_id,
    )


def _schema(task: Task, meta_model: MetaModel | None) -> Schema:
    lists: dict[str, Schema] = {}
    if task != "summaries":
        lists["facts"] = extract.items_schema(meta_model)
    if task != "facts":
        lists["summaries"] = summarize.ITEMS
    return {
        "type": "object",
        "properties": lists,
        "required": list(lists),
        "additionalProperties": False,
    }
