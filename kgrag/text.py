"""Text as this field needs it: normal forms, words, character pairs, sentences, quoted titles."""

import functools
import re
import unicodedata
from collections.abc import Iterator

_TITLE = re.compile(r"《([^《》]{2,120}(?:《[^《》]{1,80}》[^《》]{0,60})*)》")
_NOT_WORD = re.compile(r"[\W_]+")
_WORD = re.compile(r"[\w.%％℃°]+")
_SENTENCE_END = re.compile(r"[。！？!?；;]+[”’」』）)》\"]*|\.(?=\s|$)|\n")
_LATIN = re.compile(r"[a-z]+(?:'s)?$")

# Function words and question words: they carry no topic. Ours, kept short on purpose.
STOP_WORDS = frozenset(
    "的 了 和 与 及 或 等 在 是 为 对 由 从 到 把 被 将 以 于 其 该 这 那 之 而 并 也 都 就 还 又 "
    "吗 呢 吧 啊 么 什么 哪 哪些 哪个 哪里 哪儿 怎么 怎样 如何 多少 几 是否 有 没有 有没有 个 里 "
    "上 中 下 各 每 能 能否 可以 可 要 会 请 问 请问 谁 为何 为什么 多久 何时 给 让 他 她 它 我 你 "
    "们 我们 你们 他们 不 没 所 者 时 地 得 着 过 即 则 因 但 且 若 如 按 向 "
    "a an the of in on at to for and or is are was were be been by with from as that this which "
    "who whom whose what when where why how did do does it its he she his her they their".split()
)


def normalize(text: str) -> str:
    """Return text with full-width forms narrowed and letters in lower case (NFKC, casefold).

    The length may change: never use it where offsets matter.

    >>> normalize("２０２５年ＰＵＥ")
    '2025年pue'
    """
    return unicodedata.normalize("NFKC", text).casefold()


def normalize_name(text: str) -> str:
    """Return the bare letters and digits of a name or title: no blanks, marks or width.

    A name that has neither letter nor digit keeps its marks, so that it stays a name.

    >>> normalize_name("《“十四五” 规划》（试行）")
    '十四五规划试行'
    """
    bare = _NOT_WORD.sub("", normalize(text))
    return bare or normalize(text).strip()


def character_pairs(text: str) -> list[str]:
    """Return the overlapping character pairs of the normalised name of `text`.

    They make a phrase match blind to line breaks, quotation marks and width.

    >>> character_pairs("碳 达峰")
    ['碳达', '达峰']
    """
    bare = normalize_name(text)
    return [bare[i : i + 2] for i in range(len(bare) - 1)] or ([bare] if bare else [])


@functools.cache
def _jieba_cut() -> "functools.partial[Iterator[str]]":
    import logging

    import jieba

    jieba.setLogLevel(logging.WARNING)
    tokenizer = jieba.Tokenizer()
    tokenizer.initialize()
    for word in _domain_words():
        tokenizer.add_word(word)
    return functools.partial(tokenizer.cut_for_search, HMM=True)


def _domain_words() -> list[str]:
    from importlib import resources

    text = resources.files("kgrag").joinpath("domain_words.txt").read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip() and line[0] != "#"]


def words(text: str, *, stop_words: bool = False) -> list[str]:
    """Return the words of a text in order: jieba's search mode, normalised.

    Search mode gives a long word and the short ones inside it, so both match.
    English words lose a plural s and a possessive.

    Args:
        text: Any text.
        stop_words: Keep function words.

    >>> words("建设绿色工厂的目标")
    ['建设', '绿色', '工厂', '绿色工厂', '目标']
    """
    out = []
    for token in _jieba_cut()(normalize(text)):
        if not _WORD.fullmatch(token):
            continue
        if not stop_words and token in STOP_WORDS:
            continue
        out.append(_stem(token))
    return out


def _stem(token: str) -> str:
    if not _LATIN.match(token):
        return token
    token = token.removesuffix("'s")
    if len(token) > 4 and token.endswith("ies"):
        return token[:-3] + "y"
    if len(token) > 3 and token.endswith("s") and not token.endswith(("ss", "us", "is")):
        return token[:-1]
    return token


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of the sentences of a text, marks included; together they cover it.

    A line break ends a sentence, too: headings and list items stand on lines of their own.

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
    """Return (start, end, title) of every 《title》; the offsets leave the outer marks out.

    >>> quoted_titles("落实《节能法》")
    [(3, 6, '节能法')]
    """
    return [(m.start(1), m.end(1), m.group(1)) for m in _TITLE.finditer(text)]
