"""Expand a question by one call of a model: keywords, rewordings, passage, sub-questions."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from kgrag.llm.chat import ChatModel, Request
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import Json, ask
from kgrag.retrieval.bilingual import read
from kgrag.text.facets import NATIONAL
from kgrag.text.places import asks_nationally, places_in
from kgrag.text.words import normalize_name
from kgrag.types import Query, SubQuestion

_KEYWORDS = 8
_SYNONYMS = 4  # of each keyword
_IN_ALL = 24
_LONGEST_NAME = 40  # characters; what is longer is a sentence, not a name
_LONGEST_CRITICAL = 100
_LONGEST_QUESTION = 200  # characters; what is longer is no question
_LONGEST_PASSAGE = 200
_LONGEST_TITLE = 100
_SUB_QUESTIONS = 6
_YEAR = re.compile(r"(?:19|20)\d\d")

_TEXT = {"type": "string"}


def _object(**properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: object) -> dict[str, object]:
    return {"type": "array", "items": items}


_SCHEMA = _object(
    keywords=_list(_object(name=_TEXT, synonyms=_list(_TEXT))),
    critical=_TEXT,
    wordings=_list(_TEXT),
    passage=_TEXT,
    sub_questions=_list(_object(question=_TEXT, place=_TEXT, document=_TEXT, year=_TEXT)),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A model's expansion of a question.

    Attributes:
        keywords: Then the first synonym of each, the second of each, and so on: at most 24 in
            all, of at most 40 characters, without duplicates.
        critical: Critical information, at most 100 characters; may be empty.
        wordings: Paraphrases, unlike the question; may be fewer than requested.
        passage: Hypothetical answer, at most 200 characters, possibly false: use it only as
            `Search(hypothetical=...)`, for vectors, never in an answer. May be empty.
        sub_questions: At most 6, without duplicates; empty for a simple question.
    """

    keywords: tuple[str, ...] = ()
    critical: str = ""
    wordings: tuple[str, ...] = ()
    passage: str = ""
    sub_questions: tuple[SubQuestion, ...] = ()

    def told_to(
        self, query: Query, *, known_places: Collection[str] = (), chinese: float = 0.0
    ) -> Query:
        """Return a query with keywords, critical information and sub-questions added.

        The rest stays as parsed by rules. Places of sub-questions are mapped to the names that
        documents or the list of places have; English sub-questions over Chinese documents are
        translated as questions are.
        """
        placed = (_placed(sub, known_places, chinese) for sub in self.sub_questions)
        return replace(
            query,
            keywords=tuple(dict.fromkeys((*self.keywords, *query.keywords))),
            critical=self.critical,
            sub_questions=tuple(placed),
        )

    def described(self) -> str:
        """Return the expansion as text for the user, a line per part."""
        parts = (
            ("keywords and synonyms", "、".join(self.keywords)),
            ("critical", self.critical),
            ("wordings", " / ".join(self.wordings)),
            ("made-up passage", self.passage),
            ("sub-questions", " / ".join(sub.text for sub in self.sub_questions)),
        )
        return "\n".join(f"{name}: {said or 'none'}" for name, said in parts)


def read_question(query: Query, *, model: ChatModel, wordings: int = 2) -> Reading:
    """Expand a question by a model.

    One call for what are five in the papers: keywords and synonyms (GRIM, section 3.2.2), critical
    information (QCG-Rerank, section 3.2), paraphrases (Chats-Grid, section III; 2 are enough,
    Table V), a hypothetical passage (HyDE; it cost EasyRAG accuracy, section 1.2.1, and gains over
    policies: benchmarks/decisions.md), and sub-questions, which are ours. Only keywords are
    required, if only as an empty list; other missing or malformed parts are ignored.

    Raises:
        ValueError: If wordings < 0.
        ModelError: If the model fails or its answer is unusable; search with `query`.
    """
    if wordings < 0:
        raise ValueError(f"wordings must be at least 0, got {wordings}")
    fenced = fence(query.question, label="question")
    messages = prompt("question", query.language).fill(question=fenced, n=str(wordings))
    request = Request(messages, stage="analyse", schema=_SCHEMA, schema_name="question")
    return ask(model, request, lambda answer: reading_of(answer, query.question, wordings=wordings))


def reading_of(answer: Json, question: str, *, wordings: int) -> Reading:
    """Parse a model's answer.

    Raises:
        ValueError: If it has another form.
    """
    listed = answer.get("keywords") if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or not isinstance(listed, list):
        raise ValueError('an object with a list "keywords" is needed')
    asked = normalize_name(question)
    reworded = _questions(map(_line, _items(answer.get("wordings"))), besides=asked)
    return Reading(
        _keywords(listed, answer.get("synonyms")),
        _line(answer.get("critical"))[:_LONGEST_CRITICAL],
        reworded[:wordings],
        _line(answer.get("passage"))[:_LONGEST_PASSAGE],
        _sub_questions(_items(answer.get("sub_questions")), besides=asked),
    )


def _keywords(listed: list[Json], beside: Json) -> tuple[str, ...]:
    """Return keywords, then their first synonyms, and so on."""
    named = beside if isinstance(beside, dict) else {}
    names: list[str] = []
    synonyms: list[list[str]] = []
    for entry in listed[:_KEYWORDS]:
        # Models without a schema shorten a keyword without synonyms to its name.
        keyword = entry if isinstance(entry, dict) else {"name": entry}
        name = _line(keyword.get("name"))
        others = _items(keyword.get("synonyms")) or _items(named.get(name))
        names.append(name)
        synonyms.append([_line(other) for other in others[:_SYNONYMS]])
    return _distinct(chain(names, *zip_longest(*synonyms, fillvalue="")))


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for name in names:
        if name and len(name) <= _LONGEST_NAME:
            kept.setdefault(normalize_name(name), name)
    return tuple(kept.values())[:_IN_ALL]


def _questions(lines: Iterable[str], *, besides: str) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for line in lines:
        key = normalize_name(line)
        if key and key != besides and len(line) <= _LONGEST_QUESTION:
            kept.setdefault(key, line)
    return tuple(kept.values())


def _sub_questions(listed: list[Json], *, besides: str) -> tuple[SubQuestion, ...]:
    found: dict[SubQuestion, None] = {}
    for entry in listed[: 2 * _SUB_QUESTIONS]:
        # As with keywords, a bare text is a question without place, document and year.
        told = entry if isinstance(entry, dict) else {"question": entry}
        for text in _questions([_line(told.get("question"))], besides=besides):
            place = _line(told.get("place"))[:_LONGEST_NAME]
            if not place and asks_nationally(_line(told.get("level"))):
                place = NATIONAL
            document = _line(told.get("document")).strip("《》")[:_LONGEST_TITLE]
            found[SubQuestion(text, place, document, _year(told.get("year")))] = None
    return tuple(found)[:_SUB_QUESTIONS]


def _year(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return 0
    found = _YEAR.search(str(value))
    return int(found[0]) if found else 0


def _placed(sub: SubQuestion, known: Collection[str], chinese: float) -> SubQuestion:
    """Translate a sub-question, and map its place to one that documents have."""
    text = read(sub.text, known_places=known, chinese=chinese).text
    place = _place(sub.place, known)
    if text != sub.text and place not in (NATIONAL, ""):
        named = read(f"{sub.place}: {sub.text}", known_places=known, chinese=chinese).places
        place = next(iter(named)) if len(named) == 1 else place
    return replace(sub, text=text, place=place)


def _place(name: str, known: Collection[str]) -> str:
    """Return the known place that a name ends with; else the name."""
    if named := places_in(name, known):
        return named[-1][2]
    national = asks_nationally(name) or name.casefold() in ("national", "nation")
    return NATIONAL if national else name


def _items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _line(value: Json) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
