"""Whether a sentence states a figure as it is asked for: planned or reached, and for which year."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from kgrag.generation.sentences import Sentence
from kgrag.qualifiers import Qualifiers, Standing
from kgrag.types import Fact, Language

# 2021年4月, 2021年的计划 tell when a document was issued, 比2020年 what a figure is compared with.
_YEAR = re.compile(
    r"(?<!\d)(?<!比)(?:19|20)\d\d(?=\s*年(?!\s*\d{1,2}\s*月|度?的?(?:\S{0,8})(?:计划|方案|规划|意见|通知|文件|办法|要点))"
    r"|[^\d年]|$)"
)
_PLANNED = re.compile(
    r"目标|力争|预期|预计|打算|要(?:达到|达|建|降|提高|控制|完成|实现|到)|将(?:达|建|降|提高)|target|goal|\bwill\b",
    re.IGNORECASE,
)
_ACHIEVED = re.compile(
    r"已经?|实际|现状|现有|目前|截至|截止|过去|完成了|实现了|达到了|建成了|做到|成效|家底|年底的"
    r"|achieved|so far|current",
    re.IGNORECASE,
)
_COMPARED = re.compile(r"比\s*(?:19|20)\d\d|多出|相差|差多少|差距|相比|compared")
_OTHER_STANDING = -0.03  # on a sentence's score: all its figures are of the other kind
_OTHER_YEAR = -0.1  # none of its figures is for the year asked for
_NOTES: Mapping[Language, str] = {
    "zh": "找到的是{stated}年的数字，未找到{asked}年的",
    "en": "the figures found are for {stated}; none for {asked} was found",
}


@dataclass(frozen=True, slots=True)
class AskedFigure:
    """What a question wants of a figure.

    Attributes:
        standing: Planned or achieved; empty where it does not say.
        years: That it names.
    """

    standing: Standing
    years: frozenset[str]

    @classmethod
    def of(cls, question: str) -> Self:
        """Return what a question wants.

        >>> AskedFigure.of("到2030年森林覆盖率的目标是多少").years
        frozenset({'2030'})
        """
        planned, achieved = _PLANNED.search(question), _ACHIEVED.search(question)
        standing: Standing = ""
        # 十三五做到多少，十四五要到多少 asks for both, and so does 比2020年底多出多少.
        if bool(planned) != bool(achieved) and not _COMPARED.search(question):
            standing = "planned" if planned else "achieved"
        return cls(standing, frozenset(_YEAR.findall(question)))


class StatedTargets:
    """The figures that facts state, by where they stand."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._places: dict[str, dict[tuple[int, int, Qualifiers], None]] = defaultdict(dict)
        for fact in facts:
            for e in fact.evidence:
                if e.qualifiers.kind == "target":
                    self._places[e.doc_id][e.start, e.end, e.qualifiers] = None

    def within(self, sentence: Sentence) -> list[Qualifiers]:
        """Return what is stated of the figures of a sentence."""
        return [
            told
            for start, end, told in self._places.get(sentence.doc_id, ())
            if start < sentence.end and sentence.start < end
        ]

    def fit(self, sentence: Sentence, asked: AskedFigure) -> float:
        """Return what a sentence loses because its figures are others than those asked for.

        Returns:
            In [-0.13, 0]; 0 for a sentence of whose figures nothing is known.
        """
        told = self.within(sentence)
        if not told:
            return 0.0
        loss = 0.0
        if asked.standing and all(q.standing not in ("", asked.standing) for q in told):
            loss += _OTHER_STANDING
        if asked.years and all(q.year and q.year not in asked.years for q in told):
            loss += _OTHER_YEAR
        return loss

    def note(self, chosen: Sequence[Sentence], asked: AskedFigure, language: Language) -> str:
        """Return what is to be said where no figure found is for the year asked for; else nothing.

        Args:
            chosen: The sentences quoted.
            asked: What the question wants.
            language: Of the note.
        """
        years = {q.year for sentence in chosen for q in self.within(sentence)}
        if not asked.years or not years or "" in years or years & asked.years:
            return ""
        return _NOTES[language].format(
            stated="、".join(sorted(years)), asked="、".join(sorted(asked.years))
        )
