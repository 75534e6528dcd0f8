"""Whether a sentence states a figure as it is asked for: planned or reached, and for which year."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from kgrag.generation.sentences import Sentence
from kgrag.qualifiers import Qualifiers
from kgrag.question.question import Question
from kgrag.types import Fact, Language

_OTHER_STANDING = -0.03  # on a sentence's score: all its figures are of the other kind
_OTHER_YEAR = -0.1  # none of its figures is for the year asked for
_NOTES: Mapping[Language, str] = {
    "zh": "找到的是{stated}年的数字，未找到{asked}年的",
    "en": "the figures found are for {stated}; none for {asked} was found",
}


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

    def fit(self, sentence: Sentence, asked: Question) -> float:
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
        years = set(map(str, asked.years))
        if years and all(q.year and q.year not in years for q in told):
            loss += _OTHER_YEAR
        return loss

    def note(self, chosen: Sequence[Sentence], asked: Question, language: Language) -> str:
        """Return what is to be said where no figure found is for the year asked for; else nothing.

        Args:
            chosen: The sentences quoted.
            asked: What the question wants.
            language: Of the note.
        """
        years = {q.year for sentence in chosen for q in self.within(sentence)}
        wanted = set(map(str, asked.years))
        if not wanted or not years or "" in years or years & wanted:
            return ""
        return _NOTES[language].format(
            stated="、".join(sorted(years)), asked="、".join(sorted(wanted))
        )
