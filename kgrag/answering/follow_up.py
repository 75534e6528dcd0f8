"""Completing follow-up questions by the fields of the question before, or by a model."""

import functools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kgrag.answer.answer import Step
from kgrag.answering.models import QuestionModels
from kgrag.errors import ModelError
from kgrag.llm.chat import Request
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import ask_text, one_question
from kgrag.question.question import times_in
from kgrag.text.in_chinese import place_spans
from kgrag.text.places import places_in
from kgrag.text.visible import shortened
from kgrag.text.words import question_language, read_word_list, word_boundaries, words

_TURNS = 3  # of the conversation that a model is shown
_ANSWER = 400  # characters of each answer
_CHAIN = 20  # questions that may lean on one another
_LONGEST = 300  # characters of a question
_PATTERNS = {
    "title": re.compile(r"《[^《》]{2,120}》|(?<![“\"\w])[\"“][^\"“”一-鿿]{3,120}[\"”]"),
    "article": re.compile(r"第[一二三四五六七八九十百\d]{1,6}条|(?i:\barticle\s\d{1,3}\b)"),
}
# What asks for another field of the question before: its beginning, or words besides the field.
_LEADS = ("那么", "那", "换成", "改成", "what about", "how about")
_SWITCHING = frozenset(["换成", "改成", "怎么样", "about", "instead", "switch", "change"])
_POINTER = re.compile(
    r"(?P<document>(?:上面|刚才|前面)?(?:[这那][个份项部]?|该|此|上述|本)"
    r"(?P<kind>文件|办法|方案|规划|计划|意见|通知|条例|细则|规定|纲要|法律|政策)"
    r"|\b(?:this|that)\s(?:plan|policy|document|measure|notice|law|regulation)\b)"
    r"|它们?|其|这(?=[是还由])|\b(?i:its|their|they|them|it)\b"
)
_ASKING = re.compile(r"(?:什么|多少|哪一?|几|谁|何时|是否)[万亿]?[个家项座元吨亩人年些种]?")
_listed = functools.cache(read_word_list)


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation and its answer.

    Attributes:
        question: As asked, or as completed.
        answer: The answer's text.
        cited: Titles of the documents that it cites, in order.
    """

    question: str
    answer: str
    cited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Fields:
    """A question with the spans of its fields by kind, in order; enumerated ones are one.

    Kinds in `several` are enumerated, stand apart, or in a title, too: which is meant is unsure.
    """

    text: str
    english: bool
    spans: Mapping[str, Sequence[tuple[int, int]]]
    several: frozenset[str]

    @classmethod
    def of(cls, text: str, known: Iterable[str]) -> "_Fields":
        english = question_language(text) == "en"
        found = {kind: [m.span() for m in p.finditer(text)] for kind, p in _PATTERNS.items()}
        found["time"] = times_in(text)
        places = place_spans(text) if english else places_in(text, known)
        found["place"] = [(start, end) for start, end, *_ in places]
        spans: dict[str, list[tuple[int, int]]] = {}
        several = set()
        for kind, said in found.items():
            own: list[tuple[int, int]] = []
            for start, end in said:
                if kind != "title" and any(a <= start < b for a, b in spans.get("title", ())):
                    several.add(kind)
                    continue
                if own and start > own[-1][1]:  # 四川省成都市 is one place
                    several.add(kind)
                joined = bool(own) and not _words(text[own[-1][1] : start])
                own.append((own.pop()[0] if joined else start, end))
                spans[kind] = own
        return cls(text, english, spans, frozenset(several))

    def said(self, *kinds: str) -> str:
        """Return the first field of each of some kinds."""
        first = (self.spans[kind][0] for kind in kinds if kind in self.spans)
        return "".join(self.text[start:end] for start, end in first)

    def rest(self, *kinds: str) -> str:
        """Return the text without the fields of some kinds, or of all."""
        spans = (span for kind in kinds or self.spans for span in self.spans.get(kind, ()))
        return _edited(self.text, ((*span, " ") for span in spans))


def complete(
    question: str,
    history: Sequence[Turn],
    *,
    models: QuestionModels | None = None,
    known: Collection[str] = (),
) -> tuple[str, tuple[Step, ...]]:
    """Return a self-contained form of a question, and the steps to it.

    One call of a model; none where the fields are certain. If there is no model, it gives nothing
    usable or changes the language, the fields decide.

    Args:
        question: The last one.
        history: The turns before it, oldest first; the last 3 are sent, answers shortened.
        models: Of the question; that of the stage `analyse` is asked.
        known: Places of the knowledge base.
    """
    if not history:
        return question, ()
    by_fields, certain = carry_over(question, history, known=known)
    if certain or models is None:
        return by_fields, (Step("understand", by_fields),)
    shown = "\n".join(
        f"Q: {turn.question[:_LONGEST]}\nA: {shortened(turn.answer, _ANSWER)}"
        for turn in history[-_TURNS:]
    )
    language, before = question_language(question), models.calls
    messages = prompt("follow_up", language).fill(
        history=fence(shown, label="history"), question=fence(question, label="question")
    )
    try:
        asked = Request(messages, "analyse")
        told = one_question(ask_text(models.of("analyse"), asked, one_question).text)
    except ModelError as exc:
        detail = f"left out: {exc}\nby rule: {by_fields}"
        failed = Step("understand", detail, models.calls - before, failed=True)
        return by_fields, (failed,)
    understood = told if question_language(told) == language else by_fields
    return understood, (Step("understand", understood, models.calls - before),)


def carry_over(
    question: str, history: Sequence[Turn], *, known: Collection[str] = ()
) -> tuple[str, bool]:
    """Complete a question from the ones before it.

    Places, times, titles or articles alone (那浙江呢？) replace those of the question before. A
    pronoun near the beginning, or a question without words of its own, gets the title that was
    quoted, else the only one cited, else what was asked about; 那能耗强度呢 gets the title, else
    time and place. Other questions are unchanged.

    Args:
        question: The last one.
        history: The turns before it, oldest first, as asked or as completed.
        known: Places of the knowledge base.

    Returns:
        (question, certain): certain where no other reading is likely; unchanged if it stands by
        itself, or would exceed 300 characters.

    >>> carry_over("那浙江呢？", [Turn("到2025年吉林省的目标是多少？", "24%[1]")])
    ('到2025年浙江的目标是多少？', True)
    """
    if not history or not question.strip():
        return question, True
    last, _ = carry_over(history[-1].question, history[-_CHAIN:-1], known=known)
    cited = next((turn.cited for turn in reversed(history) if turn.cited), ())
    told, certain = _completed(question, last, cited, known)
    return (told, certain) if len(told) <= _LONGEST else (question, False)


def _completed(
    question: str, before: str, cited: Sequence[str], known: Iterable[str]
) -> tuple[str, bool]:
    """Return `carry_over` of a question and the one before it, which is complete."""
    places = ("全国", *known)
    own, last = _Fields.of(question, places), _Fields.of(before, places)
    same, asks = own.english == last.english, _ASKING.search(question)
    fits = not asks and own.spans.keys() & {"title", "article"} <= last.spans.keys()
    if same and own.spans and fits and _words(own.rest()) <= _SWITCHING:
        certain = last.several.isdisjoint(own.spans)
        if not certain and "place" in own.spans and "place" not in last.spans:  # make up no title
            last = _Fields.of(before.replace("《", "").replace("》", ""), places)
        return _replaced(own, last), certain
    if "title" in own.spans:
        return question, False
    if pointer := _pointer(own):
        return _pointed(own, last, cited, pointer)
    return _filled(own, last, cited) if same else question, False


def _replaced(own: _Fields, last: _Fields) -> str:
    """Return the last question with the fields of another, in front where it has none."""
    shared = own.spans.keys() & last.spans.keys()
    text = _edited(last.text, ((*last.spans[kind][0], own.said(kind)) for kind in shared))
    front = own.said(*(kind for kind in own.spans if kind not in shared))
    return _beside(text, front) if front and own.english else front + text


def _pointer(own: _Fields) -> re.Match[str] | None:
    """Return the pronoun near the beginning of a question: nothing is named before it."""
    ends, text = _cuts(own.text), own.text
    found = next((m for m in _POINTER.finditer(text) if {*m.span()}.issubset(ends)), None)
    if not found or _content(text[: found.start()]):
        return None
    expletive = found[0].lower() == "it" and _content(text[found.end() :])
    return None if expletive else found


def _pointed(
    own: _Fields, last: _Fields, cited: Sequence[str], pointer: re.Match[str]
) -> tuple[str, bool]:
    """Return a question with what its pronoun stands for."""
    alike = [title for title in cited if pointer["kind"] and pointer["kind"] in title]
    quoted = [last.said("title")] if "title" in last.spans else []
    titles = quoted or [f"《{title}》" for title in alike or cited]
    title = titles[0] if titles and (pointer["document"] or len(titles) == 1) else ""
    if own.english and not title:
        return _beside(own.text, last.text), False
    text = _edited(own.text, [(*pointer.span(), title or _subject(last.text))])
    return _asked(text), len(titles) == 1 and "title" not in last.several


def _filled(own: _Fields, last: _Fields, cited: Sequence[str]) -> str:
    """Return a question without pronoun with the fields that it lacks, if it has no content."""
    is_bare = "place" not in own.spans and not _content(own.rest())
    joined = _asked(own.text) != own.text.lstrip() and not _ASKING.search(own.text)
    if not (is_bare or joined or own.text.rstrip("？?。 ").endswith("呢")):
        return own.text
    title = "" if "place" in own.spans else last.said("title")
    if own.english:
        return _beside(own.text, title or last.text)
    if title or not is_bare:
        missing = sorted({"time", "place"} - own.spans.keys())
        return (title or last.said(*missing)) + _asked(own.text)
    subject = _subject(_replaced(own, last) if "time" in own.spans else last.text)
    return (f"《{cited[0]}》" if len(cited) == 1 else "") + subject + _asked(own.rest("time"))


def _content(text: str) -> set[str]:
    """Return the words of a text that name something."""
    return {w for w in _words(text) if not w.isdigit()}.difference(_listed("general_words.txt"))


def _words(text: str) -> set[str]:
    return {*words(text)}


def _cuts(text: str) -> list[int]:
    """Return where words of a text begin and end, in order."""
    return sorted(word_boundaries(text))


def _subject(text: str) -> str:
    """Return what a Chinese question is about: what stands before, or is counted behind, 多少."""
    if asking := _ASKING.search(text):
        behind = text[asking.end() :]
        text = text[: asking.start()] + (behind if _content(behind) else "")
    ends = _cuts(text)
    return text[: max((b for a, b in pairwise(ends) if _content(text[a:b])), default=0)]


def _asked(text: str) -> str:
    """Return a question without the word that joins it to the one before."""
    ends, lower = _cuts(text), text.lower()
    lead = next((w for w in _LEADS if lower.startswith(w) and len(w) in ends), "")
    return text[len(lead) :].lstrip("，, 的")


def _beside(question: str, subject: str) -> str:
    return f"{question.rstrip('?. ')} (regarding: {subject.rstrip('?. ')})?"


def _edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
