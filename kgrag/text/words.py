"""Tokenise and normalise text: words, character bigrams, sentences, quoted titles."""

import functools
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import resources
from math import inf, log
from operator import add

from kgrag.errors import ModelError
from kgrag.files.cache_folder import cache_folder
from kgrag.types import Language

# As in jieba 0.42: runs of these are segmented, what stands between them is given as it is.
_RUN = re.compile(r"([\u4e00-\u9fd5a-zA-Z0-9+#&._%\-]+)")
_PIECE = re.compile(r"[\u4e00-\u9fd5]{1,1000}+|[^\u4e00-\u9fd5]++")
_KEPT_UNKNOWN = 1 << 15  # runs of unknown characters whose segmentation is remembered
_KEPT_RUNS = 1 << 12  # runs whose words' ends are remembered: all rules read the same sentences

_TITLE = re.compile(r"《([^《》]{2,120}(?:《[^《》]{1,80}》[^《》]{0,60})*)》")
_NOT_WORD = re.compile(r"[\W_]+")
# Most texts are in form NFKC but for these marks, and such a text is only looked through.
_WIDE_MARKS = tuple(zip("，（）：；", ",():;", strict=True))
_WORD = re.compile(r"[\w.%％℃°]+")
# Signs without which a number is another one.
_RANGE = re.compile(r"(?<=[\d%])[-—–~～]+(?=\d)")
_SIGNED_NUMBER = re.compile(r"\d(?:[.%‰]|[-—–~～]+\d)|[<>≤≥±]=?\d")
_NOT_KEPT = re.compile(r"(?:(?!(?<=\d)\.(?=\d)|(?<=\d)[%‰]|(?<=[\d%])-(?=\d)|[<>≤≥±]=?\d)[\W_])+")
# No stop of an abbreviation ends one: behind a single letter, or before a small one (UAX 29, SB8).
_SENTENCE_END = re.compile(
    r"[。！？!?；;]+[”’」』）)》\"]*|(?<![\s.][A-Za-z])\.(?=\s|$)(?![^\S\n]+[a-z])|\n"
)
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[a-z]+(?:'s)?$")
_LONGEST_CLAUSE = 64  # characters; longer ones are rare, and not remembered


class Segmenter:
    """Segments as `jieba.Tokenizer.cut_for_search` does, HMM included.

    jieba looks every candidate up twice and builds a list of them for each character; one pass
    from the end gives the same path. The arithmetic is jieba's, operation for operation, so that
    ties are broken equally.
    """

    def __init__(self, frequencies: Mapping[str, int], total: int) -> None:
        """Keep a dictionary.

        Args:
            frequencies: By word; 0 for mere prefixes of words.
            total: Sum of the frequencies.
        """
        whole = log(total)
        self._unknown = log(1) - whole
        # Logarithms are below zero: 0.0 stands for what is no word itself.
        self._weights = {
            word: log(count) - whole if count else 0.0 for word, count in frequencies.items()
        }
        self._recognised = lru_cache(_KEPT_UNKNOWN)(_by_model)
        self.ends_in = lru_cache(_KEPT_RUNS)(self._ends_in)
        self._best = lru_cache(_KEPT_RUNS)(self._best_path)

    @classmethod
    def from_jieba(cls, added: Iterable[str] = ()) -> "Segmenter":
        """Build a segmenter from jieba's dictionary and further words."""
        import logging

        import jieba

        jieba.setLogLevel(logging.CRITICAL)  # that nothing could be kept is no news
        tokenizer = jieba.Tokenizer()
        # Not in the folder for temporary files: there, another user's file is in the way.
        tokenizer.tmp_dir = _own_folder()
        tokenizer.initialize()
        for word in added:
            tokenizer.add_word(word)
        return cls(tokenizer.FREQ, tokenizer.total)

    def runs(self, text: str) -> Iterator[tuple[str, bool]]:
        """Yield (run, whether to segment it); other text comes character by character."""
        for number, piece in enumerate(_RUN.split(text)):
            if number % 2:
                yield piece, True
            else:
                yield from ((character, False) for character in piece)

    def segment(self, run: str) -> list[str]:
        """Return the words of a run in order, long words after the short ones inside them."""
        _, ends = self._best_path(run)
        out: list[str] = []
        at = first_single = 0
        while at < len(run):
            end = ends[at]
            if end - at > 1:
                if first_single < at:
                    self._add_singles(run[first_single:at], out)
                self._add_word(run[at:end], out)
                first_single = end
            at = end
        self._add_singles(run[first_single:], out)
        return out

    def boundaries(self, text: str) -> frozenset[int]:
        """Return the offsets of word boundaries, 0 and the length of the text included."""
        found, at = {0}, 0
        for piece, is_run in self.runs(text):
            if is_run:
                found.update(at + end for end in self.ends_in(piece))
            at += len(piece)
            found.add(at)
        return frozenset(found)

    def _ends_in(self, run: str) -> frozenset[int]:
        (_, ends), found = self._best(run), [0]
        while found[-1] < len(run):
            found.append(ends[found[-1]])
        return frozenset(found)

    def torn(self, run: str, start: int, end: int) -> float:
        """Return by how much a word that runs out of a part of a run is likelier than that part.

        Args:
            run: Characters without marks.
            start: Of the part.
            end: Of it.

        Returns:
            The difference of logarithms; 0.0 if no word runs out of the part but one that begins
            with it.
        """
        scores, ends = self._best(run)
        at = start
        while at < end:
            first, at = at, ends[at]
        if at == end or first == start:
            return 0.0
        return scores[start] - self._best(run[start:end])[0][0] - scores[end]

    def _best_path(self, run: str) -> tuple[list[float], list[int]]:
        """Return score of the rest and end of the word at each offset, on the likeliest path."""
        weight_of, n = self._weights.get, len(run)
        scores, ends = [0.0] * (n + 1), [0] * n
        for start in range(n - 1, -1, -1):
            best, stop = self._unknown + scores[start + 1], start + 1
            known = False
            for end in range(start + 1, n + 1):
                weight = weight_of(run[start:end])
                if weight is None:
                    break
                if weight:
                    score = weight + scores[end]
                    if score >= best or not known:  # of equals the longest, as in jieba
                        best, stop, known = score, end, True
            scores[start], ends[start] = best, stop
        return scores, ends

    def _add_singles(self, run: str, out: list[str]) -> None:
        """Add a run of characters that are no dictionary words."""
        if len(run) < 2 or self._weights.get(run):
            out.extend(run)
        else:
            for word in self._recognised(run):
                self._add_word(word, out)

    def _add_word(self, word: str, out: list[str]) -> None:
        for length in range(2, min(len(word), 4)):
            parts = (word[i : i + length] for i in range(len(word) - length + 1))
            out.extend(filter(self._weights.get, parts))
        out.append(word)


def _by_model(run: str) -> tuple[str, ...]:
    """Segment by jieba's hidden Markov model; its time is quadratic in the length."""
    from jieba import finalseg

    return tuple(word for piece in _PIECE.findall(run) for word in finalseg.cut(piece))


def _own_folder() -> str:
    """Return the folder of jieba's dictionary cache; without it, loading takes about a second."""
    try:
        folder = cache_folder() / "jieba"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, ModelError):
        return os.devnull
    return str(folder)


def normalize(text: str) -> str:
    """Normalise text by NFKC and casefold; the length may change, and with it offsets.

    >>> normalize("２０２５年ＰＵＥ")
    '2025年pue'
    """
    for wide, narrow in _WIDE_MARKS:
        text = text.replace(wide, narrow)
    return unicodedata.normalize("NFKC", text).casefold()


def normalize_name(text: str) -> str:
    """Return the letters and digits of a name or title, normalised.

    A name without any keeps its punctuation, so that it is not empty.

    >>> normalize_name("《“十四五” 规划》（试行）")
    '十四五规划试行'
    """
    bare = _NOT_WORD.sub("", normalize(text))
    return bare or normalize(text).strip()


def identity_key(text: str) -> str:
    """Return a key of a name that also distinguishes numbers, unlike `normalize_name`.

    Decimal points, percent signs, comparators and range dashes are kept next to digits: without
    them 13.5% and 135 would be equal.

    >>> identity_key("下降 13.5％"), identity_key("5～10万元"), identity_key("《“十四五”规划》")
    ('下降13.5%', '5-10万元', '十四五规划')
    """
    narrow = "".join(normalize(text).split())
    if not _SIGNED_NUMBER.search(narrow):
        return normalize_name(text)
    return _NOT_KEPT.sub("", _RANGE.sub("-", narrow))


def character_pairs(text: str) -> list[str]:
    """Return the character bigrams of a normalised name.

    With them phrases match regardless of line breaks, quotation marks and width.

    >>> character_pairs("碳 达峰")
    ['碳达', '达峰']
    """
    bare = normalize_name(text)
    return list(map(add, bare, bare[1:])) or ([bare] if bare else [])


@functools.cache
def _segmenter() -> Segmenter:
    return Segmenter.from_jieba(read_word_list("domain_words.txt"))


def read_word_list(name: str) -> list[str]:
    """Return a word list of the package, such as `stop_words.txt`; # begins a comment line."""
    text = resources.files("kgrag.text").joinpath(name).read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return [word for line in lines for word in line.split()]


@functools.cache
def stop_words() -> frozenset[str]:
    """Return function words and question words."""
    return frozenset(read_word_list("stop_words.txt"))


def words(text: str) -> list[str]:
    """Return the words of a text in order: jieba's search mode, normalised.

    Search mode returns a long word and the short ones inside it, so both match. Stop words are
    dropped; English words lose a plural s and a possessive.

    >>> words("建设绿色工厂的目标")
    ['建设', '绿色', '工厂', '绿色工厂', '目标']
    """
    found: list[str] = []
    for piece, is_run in _segmenter().runs(normalize(text)):
        if not is_run:
            found.extend(_search_forms(piece))
        elif len(piece) <= _LONGEST_CLAUSE:
            found.extend(_words_of_clause(piece))
        else:
            found.extend(_search_forms(*_segmenter().segment(piece)))
    return found


def word_boundaries(text: str) -> frozenset[int]:
    """Return the offsets that split no word of `words`.

    >>> sorted(word_boundaries("科技部门"))
    [0, 2, 4]
    """
    return frozenset(
        at
        for at in _segmenter().boundaries(text)
        if not (
            0 < at < len(text)
            and text[at - 1 : at + 1].isascii()
            and text[at - 1 : at + 1].isalnum()
        )
    )


def runs_of_words(text: str) -> Iterator[tuple[int, str]]:
    """Yield (start, run) of the characters of a text between marks and blanks."""
    yield from ((match.start(), match[0]) for match in _RUN.finditer(text))


def tears(run: str, start: int, end: int) -> float:
    """Return how much likelier, as a logarithm, words are that a part of a run tears.

    Infinite where the part begins within a word.

    >>> tears("美丽江苏", 1, 3) > tears("新乡村", 0, 2) > 3 > tears("山西北部", 0, 2) > 0
    True
    """
    segmenter = _segmenter()
    return segmenter.torn(run, start, end) if start in segmenter.ends_in(run) else inf


class WordEnds:
    """The offsets of `word_boundaries`, computed lazily for each run.

    >>> ends = WordEnds("科技部，我部≥部门")
    >>> ends.around(2), ends.around(5), ends.around(6)
    ((False, True), (True, True), (True, True))
    """

    def __init__(self, text: str) -> None:
        self._runs = _RUN.finditer(text)
        self._run = next(self._runs, None)
        self._ends: frozenset[int] | None = None  # of the run, once they are asked for

    def around(self, at: int) -> tuple[bool, bool]:
        """Return whether words begin at and end after a character; call with increasing offsets."""
        while self._run and self._run.end() <= at:
            self._run, self._ends = next(self._runs, None), None
        if self._run is None or at < self._run.start():  # a mark
            return True, True
        if self._ends is None:
            self._ends = _segmenter().ends_in(self._run[0])
        start = self._run.start()
        return at - start in self._ends, at + 1 - start in self._ends


# Chunks of several sizes hold the same clauses: those of a dozen documents are remembered.
@functools.lru_cache(maxsize=1 << 13)
def _words_of_clause(clause: str) -> tuple[str, ...]:
    return tuple(_search_forms(*_segmenter().segment(clause)))


def _search_forms(*tokens: str) -> Iterator[str]:
    """Yield the normalised tokens without stop words."""
    stop = stop_words()
    return (
        _stem(token)
        for token in tokens
        if token not in stop and (token.isalnum() or _WORD.fullmatch(token))
    )


def _stem(token: str) -> str:
    if not token.isascii() or not _LATIN.match(token):
        return token
    token = token.removesuffix("'s")
    if len(token) > 4 and token.endswith("ies"):
        return token[:-3] + "y"
    if len(token) > 3 and token.endswith("s") and not token.endswith(("ss", "us", "is")):
        return token[:-1]
    return token


def is_latin(text: str) -> bool:
    """Return whether a text is in Latin letters rather than Chinese characters.

    >>> is_latin("Who founded it?"), is_latin("PUE要降到多少？")
    (True, False)
    """
    return not has_han(text) and any("a" <= c <= "z" for c in text.casefold())


def question_language(question: str) -> Language:
    """Return the language to answer a question in; Chinese if it has no letters.

    >>> question_language("Who founded it?"), question_language("2025?")
    ('en', 'zh')
    """
    return "en" if is_latin(question) else "zh"


def has_han(text: str) -> bool:
    """Return whether a text contains Chinese characters.

    >>> has_han("PUE要降到多少？"), has_han("2025")
    (True, False)
    """
    return _HAN.search(text) is not None


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of sentences with their punctuation; together they cover the text.

    A line break ends a sentence, too: headings and list items are lines of their own.

    >>> sentence_spans("甲。乙")
    [(0, 2), (2, 3)]
    """
    spans, start = [], 0
    for match in _SENTENCE_END.finditer(text):
        spans.append((start, match.end()))
        start = match.end()
    if start < len(text):
        spans.append((start, len(text)))
    return spans


def quoted_titles(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, title) of every 《title》; the offsets exclude the outer marks.

    >>> quoted_titles("落实《节能法》")
    [(3, 6, '节能法')]
    """
    return [(m.start(1), m.end(1), m.group(1)) for m in _TITLE.finditer(text)]
