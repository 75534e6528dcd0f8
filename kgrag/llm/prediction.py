"""Learn from past calls what requests take, predict it before they are sent, and price it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kgrag.llm.calls import Calls, PastCall
from kgrag.llm.chat import Request, Stage, Usage
from kgrag.llm.ledger import request_key
from kgrag.llm.tokens import estimate_request, material_chars, material_tokens

_ENOUGH = 8  # calls, for a line rather than a share
_SPREAD = 0.2  # of the mean; less of it tells nothing about a slope
_PER_MILLION = 1_000_000

# Without history, by name of the schema: (tokens a call, tokens a token of material) of the answer.
# A thorough model answered 1,638 tokens for 1,000 characters of policy as compact objects with
# summaries (four documents); as rows with the fields of values that is about 1,400, or 2.1 for each
# token of the text. One that is less thorough takes half as much, which a sample shows.
_DEFAULTS = {
    "facts_rows": (20.0, 1.97),
    "summaries": (20.0, 0.3),
    "knowledge_rows": (30.0, 2.1),
    "question": (240.0, 0.0),  # 180 questions read by a model: 241 on average, 455 at most
}
_DEFAULT = (250.0, 0.0)  # questions, verdicts, answers: short whatever is read


@dataclass(frozen=True, slots=True)
class Rates:
    """What an answered request takes on average, tokens of unusable answers included.

    Attributes:
        calls: Calls that this rests on.
        attempts: Paid calls per answer, at least 1.
        prompt: Tokens sent per estimated token.
        cached: Share of the tokens sent that the endpoint had in its cache, in [0, 1].
        completion_per_call: Tokens answered whatever the material.
        completion_per_char: Further tokens answered per character of material.
        completion_per_token: Further tokens answered per token of material, where nothing is
            known of past calls: a text of another language has other characters.
    """

    calls: int
    attempts: float
    prompt: float
    cached: float
    completion_per_call: float
    completion_per_char: float
    completion_per_token: float = 0.0

    def completion(self, material_chars: int, material_tokens: int = 0) -> float:
        """Return the tokens answered to a request with that much material."""
        by_length = self.completion_per_char * material_chars
        return self.completion_per_call + by_length + self.completion_per_token * material_tokens


def rates_of(calls: Sequence[PastCall]) -> Rates | None:
    """Return the rates of past calls of one kind; None where none of them gave an answer."""
    used = [call for call in calls if call.used]
    estimated = sum(call.estimated_prompt for call in used)
    if not estimated:
        return None
    prompt = sum(call.prompt for call in calls)
    answered = sum(call.completion for call in used)
    waste = sum(call.completion for call in calls) / answered if answered else 1.0
    per_call, per_char = _line([(call.material_chars, call.completion) for call in used])
    return Rates(
        calls=len(calls),
        attempts=len(calls) / len(used),
        prompt=prompt / estimated,
        cached=sum(call.cached for call in calls) / prompt,
        completion_per_call=per_call * waste,
        completion_per_char=per_char * waste,
    )


def _line(points: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Return (y at 0, slope), neither negative, of points with x >= 0 and y >= 0.

    The line of least squares where the points are many and far enough apart; else, and where
    that line would fall or begin below 0, one through their mean: from the origin, or flat.
    """
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    if not mean_x:
        return mean_y, 0.0
    variance = sum((x - mean_x) ** 2 for x, _ in points) / n
    if n < _ENOUGH or variance < (_SPREAD * mean_x) ** 2:
        return 0.0, mean_y / mean_x
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / n / variance
    slope = min(max(slope, 0.0), mean_y / mean_x)
    return mean_y - slope * mean_x, slope


@dataclass(frozen=True, slots=True)
class Prediction:
    """What requests are expected to take.

    Attributes:
        calls: Calls that will be paid, repeated ones included.
        cached_calls: Requests whose answer is kept already and costs nothing.
        prompt_tokens: Tokens sent.
        cached_tokens: Those of them that the endpoint will have in its own cache.
        completion_tokens: Tokens answered.
        basis: Past calls that this rests on, the fewest of any kind of request; 0 where one of
            the kinds has no history and the defaults stand in.
    """

    calls: int
    cached_calls: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    basis: int

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, with the names that `--json` gives."""
        return {
            "calls": self.calls,
            "kept": self.cached_calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "basis": self.basis,
        }

    @property
    def usage(self) -> Usage:
        """Return the tokens as `cost` takes them."""
        return Usage(self.prompt_tokens, self.completion_tokens, self.cached_tokens, estimated=True)


def predict(
    requests: Iterable[Request], *, model: str, parameters: Mapping[str, str], calls: Calls
) -> Prediction:
    """Return what requests will take of one model.

    A request takes what past requests of its stage and schema took (`rates_of`): the prompt
    in proportion to its estimated tokens, the answer to the characters of its material, and where
    there were none to its tokens. Requests that are equal are sent once; those whose answer is
    kept, also by what a former version asked, not at all.

    Args:
        requests: Read one by one; they may be many.
        model: Name of the model.
        parameters: As `kgrag.llm.ledger.Cached` is given them.
        calls: Kept answers and the ledger.
    """
    seen: set[str] = set()
    history: dict[tuple[Stage, str], Rates | None] = {}
    kept = 0
    n = prompt = cached = completion = 0.0
    for request in requests:
        key = request_key(request, model=model, parameters=parameters)
        if key in seen:
            continue
        seen.add(key)
        if calls.has_answer(key) or _was_answered(request.former, model, parameters, calls):
            kept += 1
            continue
        kind = (request.stage, request.schema_name)
        if kind not in history:
            history[kind] = rates_of(calls.past(model, *kind))
        rates = history[kind] or _assumed(request.schema_name)
        sent = estimate_request(request) * rates.prompt
        n += rates.attempts
        prompt += sent
        cached += sent * rates.cached
        completion += rates.completion(material_chars(request), material_tokens(request))
    basis = min((rates.calls if rates else 0 for rates in history.values()), default=0)
    return Prediction(round(n), kept, round(prompt), round(cached), round(completion), basis)


def _was_answered(
    request: Request | None, model: str, parameters: Mapping[str, str], calls: Calls
) -> bool:
    """Return whether what a former version asked is kept."""
    if request is None:
        return False
    return calls.has_answer(request_key(request, model=model, parameters=parameters))


def cost(usage: Usage, *, price_in: float, price_cached: float, price_out: float) -> float:
    """Return what tokens cost.

    Args:
        usage: Of one call, or a sum.
        price_in: Of a million tokens sent.
        price_cached: Of a million tokens sent that the endpoint had in its cache.
        price_out: Of a million tokens answered.

    >>> cost(Usage(2_000_000, 1_000_000, cached=500_000), price_in=4, price_cached=1, price_out=9)
    15.5
    """
    fresh = usage.prompt - usage.cached
    total = fresh * price_in + usage.cached * price_cached + usage.completion * price_out
    return total / _PER_MILLION


def _assumed(schema_name: str) -> Rates:
    per_call, per_token = _DEFAULTS.get(schema_name, _DEFAULT)
    return Rates(
        calls=0,
        attempts=1.0,
        prompt=1.0,
        cached=0.0,
        completion_per_call=per_call,
        completion_per_char=0.0,
        completion_per_token=per_token,
    )
