"""Lexical overlap of an answer with reference answers, by standard measures.

ROUGE is that of `rouge-score`, BLEU-1 and METEOR are those of `nltk`, on words segmented by kgrag,
also Chinese. METEOR matches equal words and English stems, but no synonyms: WordNet has no Chinese
and would have to be downloaded.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from kgrag.errors import needs_extra
from kgrag.text.words import normalize, word_boundaries

# As `overlap_scores` gives them, in the order of tables.
OVERLAP = ("EM", "F1-char", "F1-word", "ROUGE-1", "ROUGE-L", "BLEU-1", "METEOR")


def overlap_scores(answer: str, references: Sequence[str]) -> dict[str, float]:
    """Return every measure of `OVERLAP` in [0, 1], each with its best reference.

    Punctuation, blanks, case and width are ignored. Characters and words are multisets (SQuAD,
    Rajpurkar et al. 2016, section 4.2). ROUGE-1 and ROUGE-L are F-measures (Lin 2004), BLEU-1 has
    its brevity penalty (Papineni et al. 2002).

    Args:
        answer: Without [n]; an empty one has 0 everywhere.
        references: Alternative reference answers; without any all is 0.

    Raises:
        MissingDependencyError: If the packages of the extra `eval` are not installed.
    """
    measures = _measures()
    said = word_tokens(answer)
    known = [tokens for tokens in map(word_tokens, references) if tokens]
    if not said or not known:
        return dict.fromkeys(OVERLAP, 0.0)
    return {name: max(measure(said, tokens) for tokens in known) for name, measure in measures}


def word_tokens(text: str) -> list[str]:
    """Return the words of a text without punctuation and blanks, without overlap.

    >>> word_tokens("创建 绿色工厂，500家！")
    ['创建', '绿色工厂', '500', '家']
    """
    plain = normalize(text)
    ends = sorted(word_boundaries(plain))
    pieces = (plain[a:b] for a, b in pairwise(ends))
    bare = ("".join(filter(str.isalnum, piece)) for piece in pieces)
    return [token for token in bare if token]


def token_f1(said: Sequence[str], reference: Sequence[str]) -> float:
    """Return the harmonic mean of the shares of common tokens, in [0, 1].

    >>> token_f1("abcd", "abce")
    0.75
    """
    common = sum((Counter(said) & Counter(reference)).values())
    return 2 * common / (len(said) + len(reference)) if common else 0.0


_Tokens = Sequence[str]
_Measure = Callable[[_Tokens, _Tokens], float]


def _equal(said: _Tokens, reference: _Tokens) -> float:
    return float("".join(said) == "".join(reference))


def _f1_of_characters(said: _Tokens, reference: _Tokens) -> float:
    return token_f1("".join(said), "".join(reference))


@cache
def _measures() -> tuple[tuple[str, _Measure], ...]:
    with needs_extra("eval", "measuring answers"):
        from nltk.translate.bleu_score import sentence_bleu
        from nltk.translate.meteor_score import single_meteor_score
        from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rouge1", "rougeL"], tokenizer=_Joined())

    def rouge(kind: str) -> _Measure:
        def measure(said: _Tokens, reference: _Tokens) -> float:
            found: Mapping[str, Any] = scorer.score(_joined(reference), _joined(said))
            return float(found[kind].fmeasure)

        return measure

    def bleu(said: _Tokens, reference: _Tokens) -> float:
        if not set(said) & set(reference):
            return 0.0  # which nltk warns of
        return float(sentence_bleu([list(reference)], list(said), weights=(1.0,)))

    def meteor(said: _Tokens, reference: _Tokens) -> float:
        return float(single_meteor_score(list(reference), list(said), wordnet=_NoSynonyms()))

    found = (_equal, _f1_of_characters, token_f1, rouge("rouge1"), rouge("rougeL"), bleu, meteor)
    return tuple(zip(OVERLAP, found, strict=True))


def _joined(tokens: _Tokens) -> str:
    return "\n".join(tokens)


class _Joined:
    """Tokenizer for `rouge-score` of text that is already segmented."""

    def tokenize(self, text: str) -> list[str]:
        return text.split("\n")


class _NoSynonyms:
    """Empty replacement of WordNet for `nltk`."""

    def synsets(self, _word: str) -> list[object]:
        return []
