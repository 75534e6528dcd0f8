"""Extract the facts and summaries of one passage with a chat model."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from kgrag.config import ExtractCalls, ExtractFacts
from kgrag.errors import ModelOutputError
from kgrag.ids import digest
from kgrag.ingestion import extract, fact_rows, summarize
from kgrag.ingestion.meta_model import MetaModel
from kgrag.ingestion.passages import Passage
from kgrag.ingestion.resolve import NameResolver
from kgrag.ingestion.self_names import SelfNames, self_names
from kgrag.llm.chat import ChatModel, Request, Schema, Stage
from kgrag.llm.prompts import LANGUAGES, Prompt, fence, prompt
from kgrag.llm.structured import Json, ask
from kgrag.text.numbering import without_numbering
from kgrag.types import Chunk, Document, Fact, Language, Summary

Task = Literal["knowledge", "facts", "summaries"]

_STAGES: Mapping[Task, Stage] = {
    "knowledge": "extract",
    "facts": "extract",
    "summaries": "summarize",
}
# Names of the form of answers; a new form needs a new name: the ledger predicts lengths by it.
SCHEMA_NAMES: Mapping[Task, str] = {
    "knowledge": "knowledge_rows",
    "facts": "facts_rows",
    "summaries": "summaries",
}
_LEAST_HAN = 0.2  # share of letters in a Chinese text: names and tables are often Latin
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")
_AROUND_MARK = " \t\u3000：:．.、"
_NONE: Mapping[Language, str] = {"zh": "（无）", "en": "(none)"}
# Last line of the meta-model in a prompt: how to treat relations that it does not list.
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
    """Return the language of a text: Chinese if at least a fifth of the letters are.

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
    """Return the request of a task; it needs `meta_model` unless `facts` is `free`.

    The title is that of the document's body, region and issuer come from rules, and being an annex
    is left out: a passage in two copies of a document, one of them behind a covering letter, gives
    the same request and is paid for once. Text of the document is fenced.
    """
    language = language_of(passage.text)
    used = prompt_of(task, facts, language)
    values = _passage_values(task, passage, language)
    told = _described(about, language) if about else ""
    values["document"] = fence(told, label="document") if told else _NONE[language]
    if "meta_model" in used.fields and meta_model is not None:
        values["meta_model"] = f"{meta_model.listing(language)}\n{_BEYOND[facts][language]}"
    return Request(
        messages=used.fill(**values),
        stage=_STAGES[task],
        schema=_schema(task),
        schema_name=SCHEMA_NAMES[task],
        doc_id=passage.doc_id,
        streamed=True,
    )


def _passage_values(task: Task, passage: Passage, language: Language) -> dict[str, str]:
    """Return the values of a prompt's placeholders that depend on the passage."""
    headings = " > ".join(h for h in passage.heading_path if without_numbering(h, _AROUND_MARK))
    text = passage.text if task == "facts" else summarize.marked(passage)
    values = {
        "headings": fence(headings, label="headings") if headings else _NONE[language],
        "passage": fence(text, label="passage"),
    }
    if task != "facts":
        values["parts"] = ", ".join(part.key for part in summarize.parts(passage))
    return values


def _described(about: SelfNames, language: Language) -> str:
    """Return a document's title, region, issuer and legend on one line.

    >>> _described(SelfNames("节能规划", ("云岭省", "青川市"), "青川市人民政府"), "zh")
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
    return _object_of(lists)


def _object_of(properties: Mapping[str, object]) -> Schema:
    """Return the schema of an object with exactly these properties, as strict endpoints require."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_ModelOf = Callable[[Stage], ChatModel]

READING_VERSION = "4"  # raise it when passages or parsed answers change
_TASKS: Mapping[ExtractCalls, tuple[Task, ...]] = {
    "combined": ("knowledge",),
    "separate": ("facts", "summaries"),
    "facts": ("facts",),
    "summaries": ("summaries",),
}
_TOO_LONG = frozenset(
    ["truncated", "repeating", "too long"]
)  # kinds of failure that less text may cure


@dataclass(frozen=True, slots=True)
class ExtractSettings:
    """What to extract with models.

    Attributes:
        calls: `combined` extracts facts and summaries in one call a passage, `separate` in two,
            `facts` and `summaries` one of them only.
        facts: `free` for open triples, `schema` for those of the meta-model only, `both` for
            the meta-model's types and relations with open triples beside them.
        meta_model: Types and relations; needed unless `facts` is `free`.
        passage_chars: Maximum characters of a passage.
    """

    calls: ExtractCalls = "combined"
    facts: ExtractFacts = "free"
    meta_model: MetaModel | None = None
    passage_chars: int = 3584

    def __post_init__(self) -> None:
        """Raise ValueError if a meta-model is needed and missing, or `passage_chars` is below 1."""
        if self.facts != "free" and self.meta_model is None:
            raise ValueError(f"facts {self.facts!r} need a meta-model, got none")
        if self.passage_chars < 1:
            raise ValueError(f"passage_chars must be at least 1, got {self.passage_chars}")

    @property
    def identity(self) -> str:
        """Return a digest of all that decides the outcome, prompts and meta-model included."""
        typed = self.meta_model is not None and self.facts != "free"
        prompts = [
            repr(prompt_of(task, self.facts, language))
            for task in _TASKS[self.calls]
            for language in LANGUAGES
        ]
        return digest(
            READING_VERSION,
            self.calls,
            self.facts,
            self.meta_model.identity if self.meta_model and typed else "",
            str(self.passage_chars),
            *prompts,
        )


@dataclass(frozen=True, slots=True)
class PassageKnowledge:
    """The knowledge extracted from a passage.

    Attributes:
        facts: Unique by id, each with all its evidence.
        summaries: Of its parents and children.
        dropped: Unusable statements and summaries, by reason.
    """

    facts: list[Fact]
    summaries: list[Summary]
    dropped: Mapping[str, int] = field(default_factory=dict)


def read_passage(
    passage: Passage,
    leaves: Sequence[Chunk],
    *,
    names: NameResolver,
    settings: ExtractSettings,
    model_of: _ModelOf,
    anew: bool = False,
) -> PassageKnowledge:
    """Return the knowledge that a model extracts from a passage.

    Where the answer would be too long, or repeats itself, the passage is split near the middle
    and each half is read, down to about 500 characters. `leaves` are the document's smallest
    chunks in reading order; `model_of` returns the model of stage `extract` or `summarize`, and is
    called from several threads. With `anew`, answers that were truncated before are asked for
    again.

    Raises:
        ModelError: If a call fails after all retries.
    """
    reader = _Reader(names, leaves, settings, model_of, anew)
    return _joined(reader.read(task, passage) for task in _tasks(passage, settings))


def planned_requests(
    passage: Passage, document: Document, *, settings: ExtractSettings
) -> list[Request]:
    """Return the requests that `read_passage` sends if no answer fails; may be empty."""
    return [
        replace(_request(task, passage, settings, self_names(document)), doc_id=document.doc_id)
        for task in _tasks(passage, settings)
    ]


@dataclass(frozen=True, slots=True)
class _Answer:
    statements: Sequence[fact_rows.Statement]
    summaries: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads passages of one document; for the attributes see `read_passage`."""

    names: NameResolver
    leaves: Sequence[Chunk]
    settings: ExtractSettings
    model_of: _ModelOf
    anew: bool

    def read(self, task: Task, passage: Passage) -> PassageKnowledge:
        try:
            return self._read_whole(task, passage)
        except ModelOutputError as error:
            halves = passage.halves() if error.kind in _TOO_LONG else None
            if halves is None:
                raise
        lost = _spans(passage).difference(*map(_spans, halves))
        if task == "knowledge" and lost:
            # a summarised part is cut: summaries of the whole passage, facts of its halves
            return _joined([self.read("summaries", passage), self._read_halves("facts", halves)])
        missing = Counter({summarize.MISSING: len(lost) if task == "summaries" else 0})
        known = self._read_halves(task, halves)
        return replace(known, dropped=dict(missing + Counter(known.dropped)))

    def _read_halves(self, task: Task, halves: Iterable[Passage]) -> PassageKnowledge:
        return _joined(self.read(t, half) for half in halves for t in _possible((task,), half))

    def _read_whole(self, task: Task, passage: Passage) -> PassageKnowledge:
        model = self.model_of(_STAGES[task])
        language = language_of(passage.text)

        def parse(json: Json) -> _Answer:
            return _parsed(json, task, language, meta_model)

        settings, names = self.settings, self.names
        meta_model = None if settings.facts == "free" else settings.meta_model
        request = replace(_request(task, passage, settings, names.names), anew=self.anew)
        answer = ask(model, request, parse)
        source = extract.Source(
            passage=passage,
            leaves=self.leaves,
            names=names,
            extractor=model.name,
            language=language,
            facts=settings.facts,
            meta_model=meta_model,
        )
        facts, dropped = extract.read_facts(answer.statements, source)
        if task == "facts":
            return PassageKnowledge(facts, [], dropped)
        summaries, lost = summarize.summaries_of(
            answer.summaries, passage, source=model.name, about=names.names
        )
        return PassageKnowledge(facts, summaries, dropped + lost)


def _tasks(passage: Passage, settings: ExtractSettings) -> tuple[Task, ...]:
    return _possible(_TASKS[settings.calls], passage)


def _possible(tasks: Sequence[Task], passage: Passage) -> tuple[Task, ...]:
    """Return the tasks that apply to a passage."""
    if not passage.text.strip():
        return ()
    if summarize.parts(passage):
        return tuple(tasks)
    return tuple("facts" if task == "knowledge" else task for task in tasks if task != "summaries")


def _spans(passage: Passage) -> set[tuple[int, int]]:
    return {(part.start, part.end) for part in summarize.parts(passage)}


def _request(task: Task, passage: Passage, settings: ExtractSettings, about: SelfNames) -> Request:
    """Return the request of a task, with the document's legend where the passage lacks it."""
    facts, meta_model = settings.facts, settings.meta_model
    if about.legend in passage.text or task == "summaries":
        about = replace(about, legend="")
    return passage_request(task, passage, facts=facts, meta_model=meta_model, about=about)


def _parsed(json: Json, task: Task, language: Language, meta_model: MetaModel | None) -> _Answer:
    """Return the statements and summaries of an answer; ValueError if it has another form.

    Raises:
        ModelOutputError: If its summaries are in another language than the text (`language`).
    """
    items = [] if task == "summaries" else _list(json, "facts")
    statements = fact_rows.read_items(items, meta_model)
    summaries = summarize.read_items([] if task == "facts" else _list(json, "summaries"))
    foreign = sum(language_of(text) != language for _, text in summaries)
    if 2 * foreign > len(summaries):
        wanted = "Chinese" if language == "zh" else "English"
        raise ModelOutputError(
            f"summaries must be in the language of the text, {wanted}", kind="language"
        )
    return _Answer(statements, summaries)


def _list(json: Json, key: str) -> list[Json]:
    value = json.get(key) if isinstance(json, dict) else None
    if not isinstance(value, list):
        raise ValueError(f'the answer needs a list "{key}"')
    return value


def _joined(parts: Iterable[PassageKnowledge]) -> PassageKnowledge:
    facts: dict[str, Fact] = {}
    summaries: dict[str, Summary] = {}
    dropped: Counter[str] = Counter()
    for part in parts:
        for fact in part.facts:
            known = facts.get(fact.fact_id)
            facts[fact.fact_id] = extract.with_evidence(known, fact.evidence) if known else fact
        summaries.update((s.summary_id, s) for s in part.summaries)
        dropped.update(part.dropped)
    return PassageKnowledge(list(facts.values()), list(summaries.values()), dict(dropped))
