"""Complete follow-up questions: what they name fills fields of the question before."""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kgrag.text.in_chinese import place_spans
from kgrag.text.places import places_in
from kgrag.text.vocabulary import FIVE_YEAR_PLAN
from kgrag.text.words import question_language, read_word_list, word_boundaries, words

_PATTERNS = {
    "title": re.compile(r"《[^《》]{2,120}》|(?<![“\"\w])[\"“][^\"“”一-鿿]{3,120}[\"”]"),
    "article": re.compile(r"第[一二三四五六七八九十百\d]{1,6}条|(?i:\barticle\s\d{1,3}\b)"),
    "time": re.compile(rf"(?<!\d)(?:19|20)\d\d(?!\d)年?[底末]?|“?{FIVE_YEAR_PLAN}”?(?:时期|期间)?"),
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
_OF = {"其": "的", "its": "'s", "their": "'s"}
_ASKING = re.compile(r"(?:什么|多少|哪一?|几|谁|何时|是否)[万亿]?[个家项座元吨亩人年些种]?")
_listed = functools.cache(read_word_list)


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
        places = place_spans(text) if english else places_in(text, known)
        found["place"] = [(start, end) for start, end, *_ in places]
        spans: dict[str, list[tuple[int, int]]] = {}
        several = set()
        for kind, said in found.items():
            own = spans[kind] = list[tuple[int, int]]()
            for start, end in said:
                in_title = kind != "title" and any(a <= start < b for a, b in spans["title"])
                if in_title or (own and start > own[-1][1]):  # 四川省成都市 is one place
                    several.add(kind)
                if not in_title:
                    joined = bool(own) and not words(text[own[-1][1] : start])
                    own.append((own.pop()[0] if joined else start, end))
        return cls(text, english, spans, frozenset(several))

    def said(self, *kinds: str) -> str:
        """Return the first field of each of some kinds."""
        return "".join(self.text[start:end] for k in kinds for start, end in self.spans[k][:1])

    def rest(self, *kinds: str) -> str:
        """Return the text without the fields of some kinds, or of all."""
        spans = (span for kind in kinds or self.spans for span in self.spans[kind])
        return _edited(self.text, ((*span, " ") for span in spans))


def completed(
    question: str, before: str, cited: Sequence[str] = (), *, known: Iterable[str] = ()
) -> tuple[str, bool]:
    """Complete a question from the one before it.

    Places, times, titles or articles alone (那浙江呢？) replace those of the question before. A
    pronoun near the beginning, or a question without words of its own, gets the title that was
    quoted, else the only one cited, else what was asked about; 那能耗强度呢 gets the title, else
    time and place. Other questions are unchanged.

    Args:
        question: The follow-up.
        before: The question before it, complete.
        cited: Titles of the documents that the last answer with citations cites.
        known: Places of the knowledge base.

    Returns:
        (question, certain): certain where no other reading is likely.

    >>> completed("那浙江呢？", "到2025年吉林省的目标是多少？")
    ('到2025年浙江的目标是多少？', True)
    """
    places = ("全国", *known)
    own, last = _Fields.of(question, places), _Fields.of(before, places)
    named = {kind for kind, spans in own.spans.items() if spans}
    fits = all(last.spans[kind] for kind in named & {"title", "article"})
    same, asking = own.english == last.english, _ASKING.search(question)
    if same and named and fits and not asking and {*words(own.rest())} <= _SWITCHING:
        certain = last.several.isdisjoint(named)
        if not certain and named >= {"place"} and not last.spans["place"]:  # no title is made up
            last = _Fields.of(before.replace("《", "").replace("》", ""), places)
        return _replaced(own, last), certain
    pointer = _pointer(own)
    is_bare = not named & {"title", "place"} and not _content(own.rest())
    if "title" not in named and (pointer or (same and is_bare)):
        return _filled(own, last, cited, pointer)
    joined = _asked(question) != question.lstrip() and not asking
    switches = joined or question.rstrip("？?。 ").endswith("呢")
    if "title" in named or not (same and switches):
        return question, False
    title = "" if "place" in named else last.said("title")
    if own.english:
        return _beside(question, title or before), False
    about = title or last.said(*(kind for kind in ("time", "place") if kind not in named))
    return about + _asked(question), False


def _replaced(own: _Fields, last: _Fields) -> str:
    """Return the last question with the fields of another, in front where it has none."""
    edits = ((*span, own.said(kind)) for kind in own.spans for span in last.spans[kind][:1])
    text = _edited(last.text, (edit for edit in edits if edit[2]))
    front = own.said(*(kind for kind in own.spans if not last.spans[kind]))
    return _beside(text, front) if front and own.english else front + text


def _pointer(own: _Fields) -> re.Match[str] | None:
    """Return the pronoun near the beginning of a question: nothing is named before it."""
    ends, text = word_boundaries(own.text), own.text
    found = next((m for m in _POINTER.finditer(text) if {*m.span()} <= ends), None)
    if not found or _content(text[: found.start()]):
        return None
    expletive = found[0].lower() == "it" and _content(text[found.end() :])
    return None if expletive else found


def _filled(
    own: _Fields, last: _Fields, cited: Sequence[str], pointer: re.Match[str] | None
) -> tuple[str, bool]:
    """Return a question with what its pronoun stands for, or with what it lacks."""
    kind, document = (pointer["kind"], pointer["document"]) if pointer else (None, None)
    alike = [title for title in cited if kind and kind in title]
    quoted = last.said("title")
    titles = [quoted] if quoted else [f"《{title}》" for title in alike or cited]
    title = titles[0] if titles and (document or len(titles) == 1) else ""
    if own.english and not (pointer and title):
        return _beside(own.text, title or last.text), False
    if pointer:
        said = (title or _subject(last.text)) + _OF.get(pointer[0].lower(), "")
        certain = len(titles) == 1 and "title" not in last.several
        return _asked(_edited(own.text, [(*pointer.span(), said)])), certain
    if quoted:
        return quoted + _asked(own.text), False
    subject = _subject(_replaced(own, last) if own.spans["time"] else last.text)
    return title + subject + _asked(own.rest("time")), False


def _content(text: str) -> set[str]:
    """Return the words of a text that name something."""
    found = {word for word in words(text) if not word.isdigit()}
    return found.difference(_listed("general_words.txt"))


def _subject(text: str) -> str:
    """Return what a Chinese question is about: what stands before, or is counted behind, 多少."""
    if asking := _ASKING.search(text):
        behind = text[asking.end() :]
        text = text[: asking.start()] + (behind if _content(behind) else "")
    ends = sorted(word_boundaries(text))
    return text[: max((b for a, b in pairwise(ends) if _content(text[a:b])), default=0)]


def _asked(text: str) -> str:
    """Return a question without the word that joins it to the one before."""
    ends = word_boundaries(text)
    lead = (len(w) for w in _LEADS if text.lower().startswith(w) and len(w) in ends)
    return text[next(lead, 0) :].lstrip("，, 的")


def _beside(question: str, subject: str) -> str:
    return f"{question.rstrip('?. ')} (regarding: {subject.rstrip('?. ')})?"


def _edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
