"""Have a model read a question: keywords, other names of them, critical information."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, zip_longest

from kgrag.language.text import normalize_name
from kgrag.llm.chat import ChatModel, Request
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import Json, ask
from kgrag.types import Query

_KEYWORDS = 8
_SYNONYMS = 4  # of each keyword
_IN_ALL = 24
_LONGEST_NAME = 40  # characters; what is longer is a sentence, not a name
_LONGEST_CRITICAL = 100

_TEXT = {"type": "string"}
_KEYWORD = {
    "type": "object",
    "properties": {"name": _TEXT, "synonyms": {"type": "array", "items": _TEXT}},
    "required": ["name", "synonyms"],
    "additionalProperties": False,
}
_SCHEMA = {
    "type": "object",
    "properties": {"keywords": {"type": "array", "items": _KEYWORD}, "critical": _TEXT},
    "required": ["keywords", "critical"],
    "additionalProperties": False,
}


def analyse_with_model(query: Query, *, model: ChatModel) -> Query:
    """Return a query with the keywords and the critical information that a model gives it.

    One call for what are two in the papers: keywords and synonyms (GRIM, section 3.2.2) and
    critical information (QCG-Rerank, section 3.2). Keywords come first, then the first synonym
    of each, the second of each, and so on: at most 24 in all, of at most 40 characters, no name
    twice. All else in the query stays as the rules of `kgrag.retrieval.query.analyse` made it,
    which is what a question without a model is searched with.

    Args:
        query: As read by rules.
        model: Whom to ask.

    Raises:
        ModelError: If the model cannot be asked or gives nothing usable; search with `query`.
    """
    asked = fence(query.question, label="question")
    messages = prompt("analysis", query.language).fill(question=asked)
    request = Request(messages, stage="analyse", schema=_SCHEMA, schema_name="analysis")
    keywords, critical = ask(model, request, _parse)
    return replace(query, keywords=keywords, critical=critical)


def _parse(answer: Json) -> tuple[tuple[str, ...], str]:
    """Return keywords and critical information.

    Raises:
        ValueError: If the answer has another form.
    """
    listed = answer.get("keywords") if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or not isinstance(listed, list):
        raise ValueError('an object with a list "keywords" is needed')
    names: list[str] = []
    synonyms: list[list[str]] = []
    for entry in listed[:_KEYWORDS]:
        # Models without a schema shorten a keyword without synonyms to its name.
        keyword = entry if isinstance(entry, dict) else {"name": entry}
        names.append(_line(keyword.get("name")))
        others = keyword.get("synonyms")
        synonyms.append([_line(o) for o in others[:_SYNONYMS]] if isinstance(others, list) else [])
    ordered = chain(names, *zip_longest(*synonyms, fillvalue=""))
    return _distinct(ordered), _line(answer.get("critical"))[:_LONGEST_CRITICAL]


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that are names, the first of each normal form."""
    kept: dict[str, str] = {}
    for name in names:
        if name and len(name) <= _LONGEST_NAME:
            kept.setdefault(normalize_name(name), name)
    return tuple(kept.values())[:_IN_ALL]


def _line(value: Json) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
