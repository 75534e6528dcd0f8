"""Estimate tokens before a model counts them."""

import math
import re

from kgrag.llm.chat import Request

_PER_MESSAGE = 4  # its role and the marks around it
_PER_REQUEST = 3  # the beginning of the answer

# Tokens of one character. Chinese: 0.6 as DeepSeek documents (about the same for GLM and Qwen,
# whose vocabularies of 150,000 hold the common words of two characters). Latin: 0.25 to 0.3 with
# the blanks between words, which are part of the word's token. Digits: alone with Qwen, up to
# three in a token with DeepSeek. Marks: alone, but often one token with a neighbour or blank.
_CLASSES = (
    (re.compile(r"[\u2e80-\u2fff\u3040-\u9fff\uac00-\ud7af\uf900-\ufaff]"), 0.63),
    (re.compile(r"[A-Za-z]"), 0.24),
    (re.compile(r"[0-9]"), 0.6),
    (re.compile(r"\n"), 0.5),
    (re.compile(r"[ \t\r]"), 0.1),
    (re.compile(r"[!-/:-@\[-`{-~]"), 0.6),
)
_OTHER = 0.8  # full-width marks, accented letters, signs

_FENCED = re.compile(r"<(\w+) ([0-9a-f]{8,})>\n(.*?)\n</\1 \2>", re.DOTALL)


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has, 0 for none.

    By classes of characters; the weights stand for the vocabularies of GLM-4, DeepSeek and Qwen
    (0.6 to 0.7 tokens a Chinese character, 0.25 to 0.3 a Latin one) and were taken from what
    their makers state, not measured. Expect 15 % either way; `kgrag.llm.ledger` corrects the
    estimate by what each model counted.

    >>> estimate_tokens("到2025年，绿色建筑占比达到70%。")
    13
    """
    tokens, rest = 0.0, len(text)
    for characters, weight in _CLASSES:
        n = len(characters.findall(text))
        tokens += n * weight
        rest -= n
    return math.ceil(tokens + rest * _OTHER)


def estimate_request(request: Request) -> int:
    """Return about how many tokens of a prompt a request is.

    Its schema is left out: endpoints either are not sent it or use it to rule out tokens.
    """
    messages = sum(_PER_MESSAGE + estimate_tokens(m.content) for m in request.messages)
    return _PER_REQUEST + messages


def material(request: Request) -> list[str]:
    """Return what is fenced in the user's messages; the messages if nothing is."""
    texts = [m.content for m in request.messages if m.role == "user"]
    return [match[3] for text in texts for match in _FENCED.finditer(text)] or texts
