"""Encoders behind any OpenAI-compatible `/embeddings` endpoint."""

import logging
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from functools import cached_property

import numpy as np

from kgrag.config import EmbeddingConfig
from kgrag.embedding.embedder import WITHOUT_ENCODER, Task, Vectors
from kgrag.embedding.endpoint_providers import Endpoint, endpoint_for
from kgrag.errors import (
    ModelMismatchError,
    ModelOutputError,
    ModelUnavailableError,
    TransientModelError,
)
from kgrag.ids import digest
from kgrag.llm.address import ENCODER, Place
from kgrag.llm.endpoint import TOO_LONG, Posting, malformed

_PER_TEXT = 2.0  # tokens before and after each
_ASCII = 0.3  # tokens of a character of Latin text, with the blanks
_OTHER = 1.0  # of a Chinese one: 0.6 to 0.7 with large vocabularies, 1 with BERT's

_log = logging.getLogger(__name__)
PREFIX = "endpoint-"  # of identities
_PROBE = "维"  # encoded to learn the dimension
# Providers count by the minute, and most do not say how long to wait; with shorter pauses five
# tries would be over before the minute is.
_PAUSE_S = 20.0
_SHORTEST = 16  # characters; a text that is too long for an endpoint is not cut below


def open_endpoint(config: EmbeddingConfig, *, recorded: str | None = None) -> "EndpointEmbedder":
    """Return the encoder that the settings name; nothing is sent, and no key read, yet.

    Args:
        config: Settings.
        recorded: Identity of the encoder that a knowledge base was built with: if it is this
            one, the endpoint need not be asked for its dimension.

    Raises:
        ConfigError: As `endpoint_for`.
    """
    endpoint = endpoint_for(config)
    known = re.fullmatch(rf"{PREFIX}{re.escape(endpoint.model)}-(\d+)-.*", recorded or "")
    return EndpointEmbedder(
        endpoint,
        languages=config.languages,
        concurrency=config.concurrency,
        timeout_s=config.timeout_s,
        attempts=config.attempts,
        dimension=int(known[1]) if known else 0,
    )


class EndpointEmbedder:
    """An encoder on a server: Jina's, SiliconFlow's, OpenAI's, or your own vLLM, TEI or Ollama.

    Texts go out in batches, several at the same time. A batch that the endpoint calls too large
    is halved, and a single text that is too long is cut to its first half, until they fit. Where
    a shorter dimension is wanted than the endpoint gives, vectors are cut to their first numbers
    (Matryoshka: Kusupati et al., 2022, arXiv 2205.13147). May be called from several threads.

    Attributes:
        is_stand_in: False.
        languages: As the settings say.
        settings: What its vectors depend on, for people.
    """

    is_stand_in = False

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        languages: str = "",
        concurrency: int = 4,
        timeout_s: float = 60.0,
        attempts: int = 5,
        dimension: int = 0,
    ) -> None:
        """Keep the settings; no client is built before the first request.

        Args:
            endpoint: Where, and what is asked.
            languages: Codes of the languages that the model reads well; empty for any.
            concurrency: Requests under way at the same time, at least 1.
            timeout_s: Seconds that an answer may take.
            attempts: Tries of a request that fails in a way that may pass, at least 1.
            dimension: Length that its vectors are known to have; 0 asks the endpoint.
        """
        self.languages = languages
        self.settings: Mapping[str, str] = _settings(endpoint)
        self._endpoint = endpoint
        self._concurrency = concurrency
        place = Place(
            endpoint.base_url, endpoint.model, key_env=endpoint.api_key_env, attempts=attempts
        )
        self._post = Posting(place, ENCODER, timeout_s=timeout_s, unsaid_s=_PAUSE_S)
        self._lock = threading.Lock()
        # by all answers so far; 0 before the first
        self._seen = endpoint.dimension or dimension

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self._endpoint.model!r} at {self._endpoint.base_url!r})"

    @cached_property
    def dimension(self) -> int:
        """Return the length of a vector; asks the endpoint once where the settings do not say.

        Raises:
            ModelError: As `embed_batches`.
        """
        if not self._seen:
            self._vectors([_PROBE], "passage")
        return self._seen

    @cached_property
    def name(self) -> str:
        """Return `endpoint-MODEL-DIMENSION-HASH`; the hash is of instructions and tasks.

        Where the model runs is no part of it, so that a knowledge base may move.

        Raises:
            ModelError: As `embed_batches`.
        """
        tasks: tuple[Task, Task] = ("query", "passage")
        parts = [of[task] for of in (self._endpoint.instructions, self._endpoint.tasks)
                 for task in tasks]  # fmt: skip
        hashed = digest("endpoint", *parts, length=4)
        return f"{PREFIX}{self._endpoint.model}-{self.dimension}-{hashed}"

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`; rows have unit length, or zero if empty.

        Equal texts are sent once, empty ones not at all.

        Raises:
            ModelError: As `embed_batches`.
        """
        distinct = list(dict.fromkeys(texts))
        parts = list(self.embed_batches(distinct, task))
        table = np.zeros((len(distinct), self.dimension), np.float32)
        for places, vectors in parts:
            table[places] = vectors
        row = {text: number for number, text in enumerate(distinct)}
        return table[[row[text] for text in texts]]

    def embed_batches(
        self, texts: Sequence[str], task: Task
    ) -> Iterator[tuple[list[int], Vectors]]:
        """Yield (places, their vectors) of a request's texts as soon as it is answered.

        Empty texts are left out. When a request fails, those under way are still waited for, and
        yielded, before the error is raised: they are paid.

        Args:
            texts: Distinct.
            task: Decides the instruction, or the field `task`.

        Raises:
            ModelUnavailableError: If the endpoint cannot be reached, or refuses the key or model.
            RateLimitError: If it goes on refusing for being asked too often.
            TransientModelError: If it fails otherwise, at each attempt.
            ModelOutputError: If its answer cannot be used.
            ModelMismatchError: If the vectors' dimension is not the asked or former one.
            ModelError: If it refuses the request.
        """
        endpoint = self._endpoint
        batches = in_batches(
            texts, most_texts=endpoint.batch_texts, most_tokens=endpoint.batch_tokens
        )
        failure: Exception | None = None
        pool = ThreadPoolExecutor(self._concurrency)
        is_waited_for = True
        try:
            under_way = {
                pool.submit(self._vectors, [texts[place] for place in places], task): places
                for places in batches
            }
            for future in as_completed(under_way):
                try:
                    vectors = future.result()
                except CancelledError:
                    continue
                except Exception as exc:  # raised below, when the others are done
                    failure = failure or exc
                    for other in under_way:
                        other.cancel()
                    continue
                yield under_way[future], vectors
        except KeyboardInterrupt:  # nobody takes what is under way
            is_waited_for = False
            raise
        finally:
            pool.shutdown(wait=is_waited_for, cancel_futures=True)
        if task == "query" and isinstance(failure, ModelUnavailableError | TransientModelError):
            raise type(failure)(f"{failure}\n{WITHOUT_ENCODER}") from failure
        if failure is not None:
            raise failure

    def _vectors(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return the vectors of texts that are sent at once, or in halves where that is refused."""
        try:
            answer = self._answer(texts, task)
        except ModelOutputError as exc:
            if exc.kind != TOO_LONG:
                raise
            if len(texts) > 1:
                _log.info("%s; sends %d texts in halves", exc, len(texts))
                middle = len(texts) // 2
                halves = [self._vectors(part, task) for part in (texts[:middle], texts[middle:])]
                return np.concatenate(halves)
            if len(texts[0]) <= _SHORTEST:
                raise
            _log.info("%s; reads the first half of %r...", exc, texts[0][:40])
            return self._vectors([texts[0][: len(texts[0]) // 2]], task)
        return self._fitted(read_vectors(answer, len(texts), self._post.place), texts)

    def _answer(self, texts: Sequence[str], task: Task) -> object:
        """Return the JSON that the endpoint sends back, after as many tries as it takes."""
        endpoint = self._endpoint
        # Half characters, which broken files bring, cannot be sent.
        prompts = [
            (endpoint.instructions[task] + text).encode("utf-8", "replace").decode("utf-8")
            for text in texts
        ]
        body: dict[str, object] = {"model": endpoint.model, "input": prompts, **endpoint.fields}
        if endpoint.asks_dimension:
            body["dimensions"] = endpoint.dimension
        if endpoint.tasks[task]:
            body["task"] = endpoint.tasks[task]
        return self._post(body)

    def _fitted(self, vectors: Vectors, texts: Sequence[str]) -> Vectors:
        """Return vectors of the dimension that is asked for, and of unit length."""
        asked, place = self._endpoint.dimension, self._post.place
        if asked:
            vectors = vectors[:, :asked]
        with self._lock:
            seen = self._seen = self._seen or vectors.shape[1]
        if vectors.shape[1] != seen:
            said = "asked for by embedding.dimension" if asked else "before"
            remedy = (
                "take embedding.dimension out of kgrag.toml, or lower it" if asked
                else "another model is behind it now: `kgrag reembed` encodes everything anew"
            )  # fmt: skip
            raise ModelMismatchError(
                f"{place} gives vectors of {vectors.shape[1]} numbers, {seen} were {said}; {remedy}"
            )
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not norms.all():
            text = texts[int(np.flatnonzero(norms == 0)[0])]
            raise ModelOutputError(
                f"{place} gives a vector of zeros for {text[:40]!r}; check the model that is"
                " served",
                kind="invalid",
            )
        return np.asarray(vectors / norms, np.float32)


def _settings(endpoint: Endpoint) -> dict[str, str]:
    tasks: tuple[Task, Task] = ("query", "passage")
    settings = {"model": endpoint.model}
    if endpoint.dimension:
        settings["dimension"] = str(endpoint.dimension)
    for task in tasks:
        said = [("task", endpoint.tasks[task]), ("instruction", endpoint.instructions[task])]
        settings[task] = ", ".join(f"{what} {text}" for what, text in said if text)
    return settings


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
