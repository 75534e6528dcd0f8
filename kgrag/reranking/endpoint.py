"""Cross-encoders behind a `/rerank` endpoint, in the format of Jina and others, or of TEI."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kgrag.config import RerankConfig
from kgrag.errors import ModelOutputError
from kgrag.llm.address import RERANKER, Place, Preset, place_of, presets
from kgrag.llm.endpoint import TOO_LONG, Posting

_MOST = 1e6  # that a score may be: probabilities are below 1, logits below 100


PROVIDERS = presets(RERANKER, Preset)


class EndpointCrossEncoder:
    """A cross-encoder on a server; thread-safe."""

    def __init__(self, post: Posting, *, is_tei: bool) -> None:
        self._post = post
        self._is_tei = is_tei

    @classmethod
    def from_config(cls, config: RerankConfig) -> "EndpointCrossEncoder":
        """Return the configured endpoint; nothing is sent, and no key read, yet.

        Raises:
            ConfigError: As `place_of`.
        """
        place = place_of(RERANKER, config.provider, config, PROVIDERS)
        is_tei = config.provider == "tei"
        if is_tei:  # it has /v1 for what OpenAI has, which is no reranking
            place = replace(place, url=place.url.removesuffix("/v1"))
        post = Posting(
            replace(place, attempts=config.attempts),
            RERANKER,
            timeout_s=config.timeout_s,
            within_s=config.timeout_s,
        )
        return cls(post, is_tei=is_tei)

    def __repr__(self) -> str:
        return f"EndpointCrossEncoder({self._post.place!r})"

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return the relevance of each passage from the endpoint.

        Requests that the endpoint refuses as too large are split in halves.

        Raises:
            ModelError: As `Posting`, or if the response is invalid.
        """
        # Half characters, which broken files bring, cannot be sent.
        texts = [text.encode("utf-8", "replace").decode("utf-8") for text in (question, *passages)]
        body = {"query": texts[0], "texts": texts[1:], "truncate": True} if self._is_tei else {
            "model": self._post.place.model,
            "query": texts[0],
            "documents": texts[1:],
            "top_n": len(passages),
        }  # fmt: skip
        try:
            answer = self._post(body)
        except ModelOutputError as exc:
            if exc.kind != TOO_LONG or len(passages) == 1:
                raise
            middle = len(passages) // 2
            return [s for half in (passages[:middle], passages[middle:])
                    for s in self.scores(question, half)]  # fmt: skip
        return read_scores(answer, len(passages), self._post.place)


def read_scores(answer: object, n_passages: int, place: Place) -> list[float]:
    """Parse the scores of a response, in the order of the passages.

    Args:
        answer: Parsed JSON, or text if the response is not declared as JSON.
        n_passages: Passages that were sent.
        place: The endpoint, for errors.

    Raises:
        ModelOutputError: If it has another form, not exactly one score per passage, or one that is
            not finite.
    """
    items = answer.get("results") if isinstance(answer, Mapping) else answer
    if not isinstance(items, list):
        raise _unusable(place, f"no scores, but {place.shown(answer) or 'nothing'!r}")
    scores: dict[int, float] = {}
    for item in items:
        match item:
            case {"index": int(index), "relevance_score": int(score) | float(score)}:
                pass
            case {"index": int(index), "score": int(score) | float(score)}:
                pass
            case _:
                raise _unusable(place, f"a result without index or score ({place.shown(item)})")
        if not abs(score) < _MOST:  # NaN is not, either
            raise _unusable(place, f"a score that is none ({place.shown(item)})")
        scores[index] = float(score)
    if len(items) != n_passages or scores.keys() != set(range(n_passages)):
        numbers = place.shown(sorted(scores))
        raise _unusable(place, f"{len(items)} scores, of {numbers}, for {n_passages} passages")
    return [scores[index] for index in range(n_passages)]


def _unusable(place: Place, what: str) -> ModelOutputError:
    return ModelOutputError(f"{place} gives {what}; is it a reranker?", kind="malformed")
