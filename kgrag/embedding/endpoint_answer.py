"""What an endpoint sends back, read into rows of a matrix; and what is sent at once."""

from collections.abc import Mapping, Sequence

import numpy as np

from kgrag.embedding.embedder import Vectors
from kgrag.endpoint.address import Place
from kgrag.endpoint.errors import malformed
from kgrag.errors import ModelOutputError

_PER_TEXT = 2.0  # tokens before and after each
_ASCII = 0.3  # tokens of a character of Latin text, with the blanks
_OTHER = 1.0  # of a Chinese one: 0.6 to 0.7 with large vocabularies, 1 with BERT's


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has, rather too many than too few.

    >>> estimate_tokens("绿色工厂 green factory")
    10
    """
    n_ascii = len(text.encode("ascii", "ignore"))
    return int(_PER_TEXT + _ASCII * n_ascii + _OTHER * (len(text) - n_ascii))


def in_batches(texts: Sequence[str], *, most_texts: int, most_tokens: int) -> list[list[int]]:
    """Return the places of texts, in order, parted so that no part is too large to be sent.

    A text that is too large by itself stands alone. Empty texts stand in no part.

    Args:
        texts: Any number.
        most_texts: In a part.
        most_tokens: In a part, as estimated.

    >>> in_batches(["a", "b", " ", "c"], most_texts=2, most_tokens=100)
    [[0, 1], [3]]
    """
    batches: list[list[int]] = []
    room = 0
    for place, text in enumerate(texts):
        if not text.strip():
            continue
        tokens = estimate_tokens(text)
        if not batches or len(batches[-1]) >= most_texts or tokens > room:
            batches.append([])
            room = most_tokens
        batches[-1].append(place)
        room -= tokens
    return batches


def read_vectors(answer: object, n_texts: int, place: Place) -> Vectors:
    """Return `float32[n_texts, dimension]` from an answer's JSON, in the order of the texts.

    Args:
        answer: Parsed JSON, or text where the endpoint did not say that it is JSON.
        n_texts: Texts that were sent.
        place: Whom to name in errors.

    Raises:
        ModelOutputError: If it is not an answer of vectors, holds one for each text not once,
            of different lengths, empty, or not all finite numbers.
    """
    match answer:
        case {"data": [*items]} if items:
            rows = _in_order(items, n_texts, place)
        case _:
            raise malformed(place, f"no vectors, but {place.shown(answer) or 'nothing'!r}")
    try:
        vectors = np.asarray(rows, np.float32)
    except (TypeError, ValueError):  # lengths differ, or a row is no list of numbers
        raise malformed(place, f"a row that is no vector ({place.shown(rows[0])})") from None
    if vectors.ndim != 2 or not vectors.shape[1]:
        raise malformed(place, f"vectors of shape {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise ModelOutputError(
            f"{place} gives vectors that are not of finite numbers (NaN): the server's model"
            " overflows; run it in float32 or bfloat16",
            kind="invalid",
        )
    return vectors


def _in_order(items: Sequence[object], n_texts: int, place: Place) -> list[object]:
    """Return the rows by their `index`; as they come where none has one."""
    if len(items) != n_texts:
        raise ModelOutputError(
            f"{place} gives {len(items)} vectors for {n_texts} texts; it cannot be told which is"
            " whose: set embedding.batch_texts = 1",
            kind="invalid",
        )
    rows: dict[object, object] = {}
    for number, item in enumerate(items):
        if not isinstance(item, Mapping) or "embedding" not in item:
            raise malformed(place, f"an entry without a vector ({place.shown(item)})")
        rows[item.get("index", number)] = item["embedding"]
    if rows.keys() != set(range(n_texts)):
        raise ModelOutputError(
            f"{place} numbers the vectors of {n_texts} texts {place.shown(sorted(rows, key=str))}:"
            " it cannot be told which is whose: set embedding.batch_texts = 1",
            kind="invalid",
        )
    return [rows[number] for number in range(n_texts)]
