"""Extract the facts and summaries of one passage with a chat model."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal

from kgrag.config import ExtractCalls, ExtractFacts
from kgrag.errors import ModelOutputError
from kgrag.ids import digest
from kgrag.ingestion import extract, fact_rows, summarize
from kgrag.ingestion.agreement import known
from kgrag.ingestion.facts import with_evidence
from kgrag.ingestion.meta_model import MetaModel
from kgrag.ingestion.passages import Passage
from kgrag.ingestion.resolve import NameResolver
from kgrag.ingestion.self_names import SelfNames
from kgrag.llm.chat import ChatModel, Request, Schema, Stage
from kgrag.llm.prompts import LANGUAGES, Prompt, fence, prompt
from kgrag.llm.structured import Json, ask, whole_part
from kgrag.llm.tokens import KNOWN
from kgrag.text.numbering import without_numbering
from kgrag.types import Chunk, Fact, Language, Summary

Task = Literal["knowledge", "facts", "summaries"]

_STAGES: Mapping[Task, Stage] = {
    "knowledge": "extract",
    "facts": "extract",
    "summaries": "summarize",
}
# Names of the form of answers; a new form needs a new name: the ledger predicts lengths by it.
SCHEMA_NAMES: Mapping[Task, str] = {
    "knowledge": "knowledge_missing",
    "facts": "facts_missing",
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
    settings: "ExtractSettings",
    about: SelfNames | None = None,
    told: Sequence[str] = (),
) -> Request:
    """Return the request of a task, with the document's legend where the passage lacks it.

    The title is that of the document's body, region and issuer come from rules, and being an annex
    is left out: a passage in two copies of a document, one of them behind a covering letter, gives
    the same request and is paid for once. Text of the document is fenced. `told` are lines of what
    rules found in the passage.
    """
    language = language_of(passage.text)
    used = prompt_of(task, settings.facts, language)
    values = _passage_values(task, passage, language)
    if about and (about.legend in passage.text or task == "summaries"):
        about = replace(about, legend="")
    described = _described(about, language) if about else ""
    values["document"] = fence(described, label="document") if described else _NONE[language]
    if "known" in used.fields:
        values["known"] = fence("\n".join(told), label=KNOWN) if told else _NONE[language]
    if "meta_model" in used.fields and settings.meta_model is not None:
        listing = settings.meta_model.listing(language)
        values["meta_model"] = f"{listing}\n{_BEYOND[settings.facts][language]}"
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
        lists |= {"facts": fact_rows.ITEMS, "corrections": fact_rows.CORRECTIONS}
    if task != "facts":
        lists["summaries"] = summarize.ITEMS
    return fact_rows.object_of(**lists)


_ModelOf = Callable[[Stage], ChatModel]

READING_VERSION = "5"  # raise it when passages or parsed answers change
_TASKS: Mapping[ExtractCalls, tuple[Task, ...]] = {
    "combined": ("knowledge",),
    "separate": ("facts", "summaries"),
    "facts": ("facts",),
    "summaries": ("summaries",),
}
_TOO_LONG = ("truncated", "repeating", "too long")  # kinds of failure that less text may cure


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
    ruled: Sequence[Fact],
    *,
    names: NameResolver,
    settings: ExtractSettings,
    model_of: _ModelOf,
    anew: bool = False,
) -> PassageKnowledge:
    """Return the knowledge that a model extracts from a passage.

    Of an answer that is cut off the whole facts are kept, and the text behind them is read. Where
    there are none, or it repeats itself, the passage is split near the middle and each half is
    read, down to about 500 characters. `leaves` are the document's smallest chunks in reading
    order, `ruled` its facts, of which those of rules are told; `model_of` returns the model of
    stage `extract` or `summarize`, and is called from several threads. With `anew`, answers that
    were truncated before are asked for again.

    Raises:
        ModelError: If a call fails after all retries.
    """
    reader = _Reader(names, leaves, ruled, settings, model_of, anew)
    return _joined(reader.read(task, passage) for task in _tasks(passage, settings))


def planned_requests(
    passage: Passage, ruled: Sequence[Fact], names: NameResolver, *, settings: ExtractSettings
) -> list[Request]:
    """Return the requests that `read_passage` sends if no answer fails; may be empty."""
    told = [one.line(names) for one in known(ruled, passage.start, passage.end)]
    tasks = _tasks(passage, settings)
    return [passage_request(task, passage, settings, names.names, told) for task in tasks]


_Answer = tuple[list[fact_rows.Statement], list[fact_rows.Correction], list[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads passages of one document; for the attributes see `read_passage`."""

    names: NameResolver
    leaves: Sequence[Chunk]
    ruled: Sequence[Fact]
    settings: ExtractSettings
    model_of: _ModelOf
    anew: bool

    def read(self, task: Task, passage: Passage) -> PassageKnowledge:
        source = self._source(task, passage)
        begun = PassageKnowledge([], [])
        try:
            return self._read_whole(task, source)
        except ModelOutputError as error:
            parts: Sequence[Passage] | None = None
            if task != "summaries" and error.kind == "truncated":
                begun, parts = self._begun(source, error.answer)
            if parts is None and error.kind in _TOO_LONG:
                parts = passage.halves()
            if parts is None:
                raise
        lost = _spans(passage).difference(*map(_spans, parts))
        if task == "knowledge" and lost:
            # a summarised part is cut: summaries of the whole passage, facts of its parts
            apart = self.read("summaries", passage)
            return _joined([begun, apart, self._read_all("facts", parts)])
        missing = Counter({summarize.MISSING: len(lost) if task == "summaries" else 0})
        known = _joined([begun, self._read_all(task, parts)])
        return replace(known, dropped=dict(missing + Counter(known.dropped)))

    def _read_all(self, task: Task, parts: Iterable[Passage]) -> PassageKnowledge:
        return _joined(self.read(t, part) for part in parts for t in _possible((task,), part))

    def _source(self, task: Task, passage: Passage) -> extract.Source:
        settings = self.settings
        return extract.Source(
            passage=passage,
            leaves=self.leaves,
            names=self.names,
            known=known(self.ruled, passage.start, passage.end),
            extractor=self.model_of(_STAGES[task]).name,
            language=language_of(passage.text),
            facts=settings.facts,
            meta_model=None if settings.facts == "free" else settings.meta_model,
        )

    def _read_whole(self, task: Task, source: extract.Source) -> PassageKnowledge:
        passage, about = source.passage, self.names.names
        told = [one.line(self.names) for one in source.known]
        request = passage_request(task, passage, self.settings, about, told)
        statements, corrections, summaries = ask(
            self.model_of(_STAGES[task]),
            replace(request, anew=self.anew),
            lambda json: _parsed(json, task, source),
        )
        facts, dropped = extract.read_facts(statements, source, corrections)
        if task == "facts":
            return PassageKnowledge(facts, [], dropped)
        found, lost = summarize.summaries_of(
            summaries, passage, source=source.extractor, about=about
        )
        return PassageKnowledge(facts, found, dropped + lost)

    def _begun(
        self, source: extract.Source, answer: str
    ) -> tuple[PassageKnowledge, Sequence[Passage] | None]:
        """Return the facts of an answer that is cut off, and what is left to read.

        Answers follow the text: what stands behind the last fact is left; None where there is no
        fact.
        """
        json = whole_part(answer)
        facts: list[Fact] = []
        with suppress(ValueError):
            statements, corrections, _ = _parsed(json, "facts", source)
            facts, dropped = extract.read_facts(statements, source, corrections)
        if not facts:
            return PassageKnowledge([], []), None
        rest = source.passage.behind(facts[-1].evidence[-1]) if "corrections" not in json else None
        return PassageKnowledge(facts, [], dropped), [rest] if rest else []


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


def _parsed(json: Json, task: Task, source: extract.Source) -> _Answer:
    """Return what an answer states; ValueError if it has another form.

    Raises:
        ModelOutputError: If its summaries are in another language than the text.
    """
    items = [] if task == "summaries" else _list(json, "facts")
    summaries = summarize.read_items([] if task == "facts" else _list(json, "summaries"))
    foreign = sum(language_of(text) != source.language for _, text in summaries)
    if 2 * foreign > len(summaries):
        wanted = "Chinese" if source.language == "zh" else "English"
        raise ModelOutputError(
            f"summaries must be in the language of the text, {wanted}", kind="language"
        )
    corrections = fact_rows.read_corrections(_list(json, "corrections", []))
    return fact_rows.read_items(items, source.meta_model), corrections, summaries


def _list(json: Json, key: str, missing: list[Json] | None = None) -> list[Json]:
    value = json.get(key, missing) if isinstance(json, dict) else None
    if not isinstance(value, list):
        raise ValueError(f'the answer needs a list "{key}"')
    return value


def _joined(parts: Iterable[PassageKnowledge]) -> PassageKnowledge:
    facts: dict[str, Fact] = {}
    summaries: dict[str, Summary] = {}
    dropped: Counter[str] = Counter()
    for part in parts:
        for fact in part.facts:
            has = facts[fact.fact_id].evidence if fact.fact_id in facts else ()
            facts[fact.fact_id] = with_evidence(fact, (*has, *fact.evidence))
        summaries.update((s.summary_id, s) for s in part.summaries)
        dropped.update(part.dropped)
    return PassageKnowledge(list(facts.values()), list(summaries.values()), dict(dropped))
