"""Encoders behind OpenAI-compatible `/embeddings` endpoints, with presets of providers."""

import logging
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from kgrag.config import EmbeddingConfig
from kgrag.embedding.embedder import TASKS, WITHOUT_ENCODER, Task, Vectors
from kgrag.errors import (
    ModelMismatchError,
    ModelOutputError,
    ModelUnavailableError,
    TransientModelError,
)
from kgrag.ids import digest
from kgrag.llm.address import ENCODER, Place, Preset, place_of, presets
from kgrag.llm.endpoint import TOO_LONG, Posting, malformed
from kgrag.text.messages import catalogue

_PER_TEXT = 2.0  # special tokens
_ASCII = 0.3  # tokens of a character of Latin text, with the blanks
_OTHER = 1.0  # of a Chinese one: 0.6 to 0.7 with large vocabularies, 1 with BERT's

_log = logging.getLogger(__name__)
PREFIX = "endpoint-"  # of identities
_PROBE = "维"  # encoded to learn the dimension
# Providers count by the minute, and most do not say how long to wait; with shorter pauses five
# attempts would end within it.
_PAUSE_S = 20.0
_SHORTEST = 16  # characters; texts too long for an endpoint are not truncated further


# Many servers do not support base64, the client's default.
_FLOATS: Mapping[str, str | bool] = {"encoding_format": "float"}
_NONE: Mapping[Task, str] = {"query": "", "passage": ""}
_JINA_TASKS: Mapping[Task, str] = {"query": "retrieval.query", "passage": "retrieval.passage"}
_JINA_WITH_TASKS = re.compile(r"jina-embeddings-v[3-9]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider(Preset):
    """A preset."""

    batch_texts: int = 32  # at most in a request
    batch_tokens: int = 16_000  # estimated, at most in a request
    dimensions: bool = False  # whether it truncates vectors if asked to
    fields: Mapping[str, str | bool] = field(default_factory=lambda: _FLOATS)  # of every request


PROVIDERS = presets(ENCODER, Provider)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An encoder's endpoint with all defaults filled in.

    Attributes:
        dimension: Requested length of vectors; 0 for the model's own.
        tasks: Field `task`; empty to omit it.
        instructions: Prefixes of texts.
    """

    place: Place
    provider: Provider = field(default_factory=Provider)
    dimension: int = 0
    tasks: Mapping[Task, str] = field(default_factory=lambda: _NONE)
    instructions: Mapping[Task, str] = field(default_factory=lambda: _NONE)


def open_endpoint(config: EmbeddingConfig, *, recorded: str | None = None) -> "EndpointEmbedder":
    """Return the configured encoder; nothing is sent, and no key read, yet.

    If `recorded`, the identity of a knowledge base's encoder, is this one, the dimension is known
    without a request.
    """
    endpoint = endpoint_for(config)
    known = re.fullmatch(rf"{PREFIX}{re.escape(endpoint.place.model)}-(\d+)-.*", recorded or "")
    return EndpointEmbedder(endpoint, config, dimension=int(known[1]) if known else 0)


class EndpointEmbedder:
    """An encoder on a server: Jina's, SiliconFlow's, OpenAI's, or your own vLLM, TEI or Ollama.

    Batches are sent concurrently. A batch that is too large for the endpoint is halved, and a
    single text that is too long is truncated to its first half, until they fit. For a shorter
    dimension than the endpoint's, vectors are truncated (Matryoshka: Kusupati et al., 2022, arXiv
    2205.13147). Thread-safe. Attributes are those of `Embedder`.
    """

    is_stand_in = False
    answered = None

    def __init__(self, endpoint: Endpoint, config: EmbeddingConfig, *, dimension: int = 0) -> None:
        """Store the settings; no client is created before the first request.

        `dimension` is the known length of vectors; 0 to call the endpoint for it.
        """
        self.languages = config.languages
        self.settings: Mapping[str, str] = _settings(endpoint)
        self._endpoint = endpoint
        self._concurrency = config.concurrency
        place = replace(endpoint.place, attempts=config.attempts)
        self._post = Posting(place, ENCODER, timeout_s=config.timeout_s, unsaid_s=_PAUSE_S)
        self._lock = threading.Lock()
        # dimension of all answers so far; 0 before the first
        self._seen = endpoint.dimension or dimension

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self._endpoint.place!r})"

    @cached_property
    def dimension(self) -> int:
        """Return the length of a vector; calls the endpoint once if settings do not state it."""
        if not self._seen:
            self._vectors([_PROBE], "passage")
        return self._seen

    @cached_property
    def name(self) -> str:
        """Return `endpoint-MODEL-DIMENSION-HASH`; the hash is of instructions and tasks.

        The address is not included, so that a knowledge base may move.
        """
        wanted = (self._endpoint.instructions, self._endpoint.tasks)
        parts = [of[task] for of in wanted for task in TASKS]
        hashed = digest("endpoint", *parts, length=4)
        return f"{PREFIX}{self._endpoint.place.model}-{self.dimension}-{hashed}"

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`; rows have unit length, or zero if empty.

        Equal texts are sent once, empty ones not at all. For errors see `embed_batches`.
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
        """Yield (positions, vectors) of each request's texts when answered; texts are distinct.

        Empty texts are left out. When a request fails, those in progress are still yielded before
        the error is raised: they are paid.

        Raises:
            ModelUnavailableError: If the endpoint cannot be reached, or refuses the key or model.
            RateLimitError: If the rate limit is exceeded in all attempts.
            TransientModelError: If all attempts fail otherwise.
            ModelOutputError: If its answer cannot be used.
            ModelMismatchError: If the vectors' dimension is not the requested or previous one.
            ModelError: If it refuses the request.
        """
        most = self._endpoint.provider
        batches = in_batches(texts, most_texts=most.batch_texts, most_tokens=most.batch_tokens)
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
        except KeyboardInterrupt:  # drop the requests in progress
            is_waited_for = False
            raise
        finally:
            pool.shutdown(wait=is_waited_for, cancel_futures=True)
        if task == "query" and isinstance(failure, ModelUnavailableError | TransientModelError):
            raise type(failure)(f"{failure} ({WITHOUT_ENCODER})") from failure
        if failure is not None:
            raise failure

    def _vectors(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return the vectors of texts in one request, or in halves where that is refused."""
        try:
            answer = self._answer(texts, task)
        except ModelOutputError as exc:
            if exc.kind != TOO_LONG:
                raise
            if len(texts) > 1:
                _log.info("%s; sends %d texts in halves", exc, len(texts))
                halves = (texts[: len(texts) // 2], texts[len(texts) // 2 :])
                return np.concatenate([self._vectors(half, task) for half in halves])
            if len(texts[0]) <= _SHORTEST:
                raise
            _log.info("%s; reads the first half of %r...", exc, texts[0][:40])
            return self._vectors([texts[0][: len(texts[0]) // 2]], task)
        return self._fitted(read_vectors(answer, len(texts), self._post.place), texts)

    def _answer(self, texts: Sequence[str], task: Task) -> object:
        endpoint = self._endpoint
        # Lone surrogates from damaged files cannot be sent.
        prompts = [
            (endpoint.instructions[task] + text).encode("utf-8", "replace").decode("utf-8")
            for text in texts
        ]
        body: dict[str, object] = {
            "model": endpoint.place.model,
            "input": prompts,
            **endpoint.provider.fields,
        }
        if endpoint.dimension and endpoint.provider.dimensions:
            body["dimensions"] = endpoint.dimension
        if endpoint.tasks[task]:
            body["task"] = endpoint.tasks[task]
        return self._post(body)

    def _fitted(self, vectors: Vectors, texts: Sequence[str]) -> Vectors:
        """Truncate vectors to the requested dimension and normalise them."""
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
    settings = {"model": endpoint.place.model}
    if endpoint.dimension:
        settings["dimension"] = str(endpoint.dimension)
    for task in TASKS:
        said = [("task", endpoint.tasks[task]), ("instruction", endpoint.instructions[task])]
        settings[task] = ", ".join(f"{what} {text}" for what, text in said if text)
    return settings


def endpoint_for(config: EmbeddingConfig) -> Endpoint:
    """Return an encoder's endpoint with the defaults of its provider and model.

    Raises:
        ConfigError: As `place_of`.
    """
    place = place_of(ENCODER, config.provider, config, PROVIDERS)
    provider = PROVIDERS.get(config.provider, Provider())
    has_tasks = config.provider == "jina" and _JINA_WITH_TASKS.match(place.model)
    listed = catalogue("kgrag.llm", "providers.toml")["instructions"].items()
    known = (of for name, of in listed if re.search(name, place.model, re.IGNORECASE))
    query, passage = next(known, ("", ""))
    return Endpoint(
        place=place,
        provider=replace(
            provider,
            batch_texts=config.batch_texts or provider.batch_texts,
            batch_tokens=config.batch_tokens or provider.batch_tokens,
        ),
        dimension=config.dimension,
        tasks=_JINA_TASKS if has_tasks else _NONE,
        instructions={
            "query": config.query_instruction or query,
            "passage": config.passage_instruction or passage,
        },
    )


def estimate_tokens(text: str) -> int:
    """Return an estimate of a text's tokens, rather too high.

    >>> estimate_tokens("绿色工厂 green factory")
    10
    """
    n_ascii = len(text.encode("ascii", "ignore"))
    return int(_PER_TEXT + _ASCII * n_ascii + _OTHER * (len(text) - n_ascii))


def in_batches(texts: Sequence[str], *, most_texts: int, most_tokens: int) -> list[list[int]]:
    """Return the positions of texts, in order, in batches of at most so many texts and tokens.

    A text that is too large is alone in its batch, an empty one is in none.

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

    Raises:
        ModelOutputError: If there is not exactly one vector for each text, of equal length, with
            finite numbers.
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
    """Return the rows by `index`, or as they come if there is none."""
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
