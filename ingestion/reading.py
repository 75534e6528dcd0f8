"""Read one passage with a chat model: its facts and its summaries."""

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources

from kgrag.config import ExtractCalls, ExtractFacts
from kgrag.errors import ModelOutputError
from kgrag.ids import digest
from kgrag.ingestion import extract, fact_rows, summarize
from kgrag.ingestion.meta_model import SHIPPED, MetaModel, read_meta_model
from kgrag.ingestion.passages import Passage
from kgrag.ingestion.requests import (
    BEYOND,
    STAGES,
    Task,
    language_of,
    object_of,
    passage_request,
    passage_values,
    prompt_of,
)
from kgrag.ingestion.resolve import NameResolver
from kgrag.ingestion.self_names import SelfNames, self_names
from kgrag.llm.chat import ChatModel, Request, Schema, Stage
from kgrag.llm.prompts import LANGUAGES, prompt
from kgrag.llm.structured import Json, ask
from kgrag.types import Chunk, Document, Fact, Language, Summary

_TEXT: Schema = {"type": "string"}

ModelOf = Callable[[Stage], ChatModel]

READING_VERSION = "4"  # raise it when passages or what an answer is read into come out differently
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
    """What a model is asked for.

    Attributes:
        calls: `combined` asks for facts and summaries in one call a passage, `separate` in two,
            `facts` and `summaries` for one of them only.
        facts: `free` for open triples, `schema` for those of the meta-model only, `both` for
            the meta-model's types and relations with open triples beside them.
        meta_model: Types and relations; needed unless `facts` is `free`.
        passage_chars: Most characters of a passage.
    """

    calls: ExtractCalls = "combined"
    facts: ExtractFacts = "free"
    meta_model: MetaModel | None = None
    passage_chars: int = 3584

    def __post_init__(self) -> None:
        """Refuse settings that cannot be followed.

        Raises:
            ValueError: If a meta-model is needed and missing, or `passage_chars` is below 1.
        """
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
    """What a passage gave.

    Attributes:
        facts: Unique by id, each with all its evidence.
        summaries: Of its parents and children.
        dropped: How many statements and summaries could not be used, by reason.
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
    model_of: ModelOf,
    anew: bool = False,
) -> PassageKnowledge:
    """Return what a model reads in a passage.

    Where the answer would be too long, or runs in circles, the passage is cut in two near the
    middle and each half is read, down to about 500 characters.

    Args:
        passage: Of the document.
        leaves: The document's smallest chunks in reading order.
        names: Resolves the names of the document.
        settings: What is asked for.
        model_of: Gives the model of stage `extract` or `summarize`. Passages may be read in
            several threads.
        anew: Whether answers that were cut before are asked for again.

    Raises:
        ModelError: If a call fails for good.
    """
    reader = _Reader(names, leaves, settings, model_of, anew)
    return _joined(reader.read(task, passage) for task in _tasks(passage, settings))


def planned_requests(
    passage: Passage, document: Document, *, settings: ExtractSettings
) -> list[Request]:
    """Return the requests that `read_passage` sends if all goes well; may be empty."""
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
    """Reads passages of one document.

    Attributes:
        names: Resolves the names of the document.
        leaves: The document's smallest chunks in reading order.
        settings: What is asked for.
        model_of: Gives the model of a stage.
        anew: Whether answers that were cut before are asked for again.
    """

    names: NameResolver
    leaves: Sequence[Chunk]
    settings: ExtractSettings
    model_of: ModelOf
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
            # the cut goes through what is summarised: summaries apart, the facts in halves
            return _joined([self.read("summaries", passage), self._read_halves("facts", halves)])
        missing = Counter({summarize.MISSING: len(lost) if task == "summaries" else 0})
        known = self._read_halves(task, halves)
        return replace(known, dropped=dict(missing + Counter(known.dropped)))

    def _read_halves(self, task: Task, halves: Iterable[Passage]) -> PassageKnowledge:
        return _joined(self.read(t, half) for half in halves for t in _possible((task,), half))

    def _read_whole(self, task: Task, passage: Passage) -> PassageKnowledge:
        model = self.model_of(STAGES[task])
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
    """Return the tasks that a passage gives something to do for."""
    if not passage.text.strip():
        return ()
    if summarize.parts(passage):
        return tuple(tasks)
    return tuple("facts" if task == "knowledge" else task for task in tasks if task != "summaries")


def _spans(passage: Passage) -> set[tuple[int, int]]:
    return {(part.start, part.end) for part in summarize.parts(passage)}


def _request(task: Task, passage: Passage, settings: ExtractSettings, about: SelfNames) -> Request:
    """Return the request of a task; the document's legend is told where the passage lacks it."""
    facts, meta_model = settings.facts, settings.meta_model
    if about.legend in passage.text or task == "summaries":
        about = replace(about, legend="")
    request = passage_request(task, passage, facts=facts, meta_model=meta_model, about=about)
    if about.legend:  # answers of before were given without it
        return request
    former = former_request(task, passage, facts=facts, meta_model=meta_model)
    return replace(request, former=former)


def _parsed(json: Json, task: Task, language: Language, meta_model: MetaModel | None) -> _Answer:
    """Return the statements and summaries of an answer.

    Raises:
        ValueError: If it has another form.
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
