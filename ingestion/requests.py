"""Make the requests by which a model is asked to read a passage."""

import re
from collections.abc import Mapping
from typing import Literal

from kgrag.config import ExtractFacts
from kgrag.ingestion import fact_rows, summarize
from kgrag.ingestion.meta_model import MetaModel
from kgrag.ingestion.passages import Passage
from kgrag.ingestion.self_names import SelfNames
from kgrag.llm.chat import Request, Schema, Stage
from kgrag.llm.prompts import Prompt, fence, prompt
from kgrag.text.numbering import without_numbering
from kgrag.types import Language

Task = Literal["knowledge", "facts", "summaries"]

STAGES: Mapping[Task, Stage] = {
    "knowledge": "extract",
    "facts": "extract",
    "summaries": "summarize",
}
# Of the answer's form: calls of the former one say nothing of how long answers are now.
SCHEMA_NAMES: Mapping[Task, str] = {
    "knowledge": "knowledge_rows",
    "facts": "facts_rows",
    "summaries": "summaries",
}
_LEAST_HAN = 0.2  # of the letters of a Chinese text: names and tables are often Latin
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")
_AROUND_MARK = " \t\u3000：:．.、"
_NONE: Mapping[Language, str] = {"zh": "（无）", "en": "(none)"}
# The last line of the meta-model in a prompt: what about the relations that it does not have?
BEYOND: Mapping[ExtractFacts, Mapping[Language, str]] = {
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
    task: Task,
    passage: Passage,
    *,
    facts: ExtractFacts,
    meta_model: MetaModel | None,
    about: SelfNames | None = None,
) -> Request:
    """Return the request of a task.

    The document's title is that of its body, its region and issuer as rules read them: a passage
    that stands in two copies of a document, by itself in one and behind a letter in the other, is
    the same request, and is paid for once. That it is an annex is no part of it. What a document
    says stands in fences of its own.

    Args:
        task: What is asked for.
        passage: What is read.
        facts: `free` triples, those of the meta-model (`schema`), or `both`.
        meta_model: Types and relations; needed unless `facts` is `free`.
        about: What the passage's document is called, and whose it is; None where nobody knows.
    """
    language = language_of(passage.text)
    used = prompt_of(task, facts, language)
    values = passage_values(task, passage, language)
    told = described(about, language) if about else ""
    values["document"] = fence(told, label="document") if told else _NONE[language]
    if "meta_model" in used.fields and meta_model is not None:
        values["meta_model"] = f"{meta_model.listing(language)}\n{BEYOND[facts][language]}"
    return Request(
        messages=used.fill(**values),
        stage=STAGES[task],
        schema=_schema(task),
        schema_name=SCHEMA_NAMES[task],
        doc_id=passage.doc_id,
        streamed=True,
    )


def passage_values(task: Task, passage: Passage, language: Language) -> dict[str, str]:
    """Return what stands in the places of a prompt that are the passage's."""
    headings = " > ".join(h for h in passage.heading_path if without_numbering(h, _AROUND_MARK))
    text = passage.text if task == "facts" else summarize.marked(passage)
    values = {
        "headings": fence(headings, label="headings") if headings else _NONE[language],
        "passage": fence(text, label="passage"),
    }
    if task != "facts":
        values["parts"] = ", ".join(part.key for part in summarize.parts(passage))
    return values


def described(about: SelfNames, language: Language) -> str:
    """Return a document's title, region, issuer and legend on one line, as a model is told them.

    >>> described(SelfNames("节能规划", ("云岭省", "青川市"), "青川市人民政府"), "zh")
    '节能规划；地区：云岭省青川市；发文机关：青川市人民政府'
    """
    zh = language == "zh"
    region, agency = "".join(about.regions), about.agency
    parts = [about.document] if about.document else []
    parts += [f"地区：{region}" if zh else f"region: {region}"] if region else []
    parts += [f"发文机关：{agency}" if zh else f"issued by: {agency}"] if agency else []
    if about.legend:
        parts.append(
            f"责任单位的读法：{about.legend}" if zh else f"lists of organs: {about.legend}"
        )
    return ("；" if zh else "; ").join(" ".join(part.split()) for part in parts)


def _schema(task: Task) -> Schema:
    lists: dict[str, Schema] = {}
    if task != "summaries":
        lists["facts"] = fact_rows.ITEMS
    if task != "facts":
        lists["summaries"] = summarize.ITEMS
    return object_of(lists)


def object_of(properties: Mapping[str, object]) -> Schema:
    """Return the schema of an object that has just these properties, as strict endpoints want."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
