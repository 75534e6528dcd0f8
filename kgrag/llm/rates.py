"""What calls of one kind take, learned from those in the ledger."""

from collections.abc import Sequence
from dataclasses import dataclass

_ENOUGH = 8  # calls, for a line rather than a share
_SPREAD = 0.2  # of the mean; less of it tells nothing about a slope


@dataclass(frozen=True, slots=True)
class PastCall:
    """A paid call.

    Attributes:
        prompt: Tokens sent.
        completion: Tokens answered.
        cached: Those of `prompt` from the endpoint's own cache.
        estimated_prompt: What we thought that `prompt` would be.
        material_chars: Characters of documents in the request.
        used: Whether the answer could be used.
    """

    prompt: int
    completion: int
    cached: int
    estimated_prompt: int
    material_chars: int
    used: bool


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
    """

    calls: int
    attempts: float
    prompt: float
    cached: float
    completion_per_call: float
    completion_per_char: float

    def completion(self, material_chars: int) -> float:
        """Return the tokens answered to a request with that much material."""
        return self.completion_per_call + self.completion_per_char * material_chars


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
