"""Estimation of token counts."""

import json
import math
import re

from kgrag.llm.chat import Request

_PER_MESSAGE = 4  # role and separators
_PER_REQUEST = 3  # start of the answer

# Tokens of one character. Chinese: 0.6 as DeepSeek documents (about the same for GLM and Qwen,
# whose vocabularies of 150,000 include common words of two characters). Latin: 0.25 to 0.3 with
# the blanks between words, which are part of the word's token. Digits: single with Qwen, up to
# three in a token with DeepSeek. Punctuation: single, but often with a neighbour or blank.
_CLASSES = (
    (re.compile(r"[\u2e80-\u2fff\u3040-\u9fff\uac00-\ud7af\uf900-\ufaff]"), 0.63),
    (re.compile(r"[A-Za-z]"), 0.24),
    (re.compile(r"[0-9]"), 0.6),
    (re.compile(r"\n"), 0.5),
    (re.compile(r"[ \t\r]"), 0.1),
    (re.compile(r"[!-/:-@\[-`{-~]"), 0.6),
)
_OTHER = 0.8  # full-width marks, accented letters, signs

# A page of A4 at 150 dpi, in squares of 28 pixels (Qwen2-VL, Wang et al. 2024, section 2.1); others
# reckon with less.
_PICTURE = 2900

KNOWN = "known"  # label of what rules found, of which an answer says no more
_FENCED = re.compile(r"<(\w+) ([0-9a-f]{8,})>\n(.*?)\n</\1 \2>", re.DOTALL)


def estimate_tokens(text: str) -> int:
    """Return an estimate of a text's tokens, 0 for an empty one.

    By classes of characters; the weights follow what the makers of GLM-4, DeepSeek and Qwen state
    (0.6 to 0.7 tokens a Chinese character, 0.25 to 0.3 a Latin one), and were not measured. Expect
    an error of 15 %; `kgrag.llm.ledger` corrects it by each model's counts.

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
    """Return an estimate of a request's prompt tokens.

    Tools are read by the model. The schema is left out: endpoints do not receive it or use it to
    constrain tokens.
    """
    texts = ("".join(m.parts[1 : len(m.parts) - len(m.images)]) for m in request.messages)
    tools = estimate_tokens(json.dumps(request.tools, ensure_ascii=False)) if request.tools else 0
    messages = sum(_PER_MESSAGE + estimate_tokens(text) for text in texts)
    pictures = _PICTURE * sum(len(m.images) for m in request.messages)
    return _PER_REQUEST + tools + messages + pictures


def material(request: Request) -> list[str]:
    """Return the fenced texts in the user's messages; the messages if there are none.

    What is fenced as `KNOWN` is left out.
    """
    texts = [m.content for m in request.messages if m.role == "user"]
    return [
        match[3] for text in texts for match in _FENCED.finditer(text) if match[1] != KNOWN
    ] or texts
