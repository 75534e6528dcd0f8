"""Compare how well passages of one context back a sentence, and lead a wrong citation back."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgrag.generation.searched import NUMBER_MARK

# Weights and margin: benchmarks/decisions.md, from `python benchmarks/moved.py`.
_NUMBER_WEIGHT = 3.0  # of a number, against 1 for a pair of characters
_ASKED_WEIGHT = 0.3  # of the question's words
_ABOVE_WEIGHT = 0.5  # of what only stands in title and headings
_MARGIN = 0.15  # share of a sentence that another passage must hold more of
_MARGIN_OF_COPIED = 0.25  # the same for few words that stand in the cited one, too
_FEWEST = 0.3  # share that it must hold at all
_COPIED, _WORDY = 0.85, 8  # share of a sentence of so many features that is as good as copied


@dataclass(frozen=True, slots=True)
class Held:
    """What a passage holds of a sentence and of the question.

    Attributes:
        quoted: Features in the sentences that would be quoted.
        above: Those in its title and headings.
        anywhere: Those anywhere in it.
    """

    quoted: frozenset[str]
    above: frozenset[str]
    anywhere: frozenset[str]


@dataclass(frozen=True, slots=True)
class Backing:
    """The passages of a context beside one sentence.

    Features are pairs of characters or words, and numbers; rare ones count more, by the number of
    passages that hold them, so that shares of different passages can be compared.

    Attributes:
        said: Features of the sentence.
        asked: Features of the question that the sentence does not have.
        held: By the number of the passage.
    """

    said: frozenset[str]
    asked: frozenset[str]
    held: Mapping[int, Held]

    def share(self, numbers: Sequence[int]) -> float:
        """Return how much passages together hold of sentence and question, in [0, 1].

        What stands only in a title or heading counts half.
        """
        weights = self._weights()
        total = math.fsum(weights.values())
        quoted = frozenset[str]().union(*(self.held[n].quoted for n in numbers))
        above = frozenset[str]().union(*(self.held[n].above for n in numbers)) - quoted
        got = math.fsum(weights[f] for f in weights.keys() & quoted)
        got += _ABOVE_WEIGHT * math.fsum(weights[f] for f in weights.keys() & above)
        return got / total if total else 0.0

    def led_back(self, cited: Sequence[int]) -> list[int]:
        """Return the passages that a sentence should cite, of which one may differ.

        A cited passage gives way to another where that raises the share that all cited ones hold
        by a margin; none does where nearly all that is said stands in what would be quoted.

        Args:
            cited: Numbers as the model wrote them, each once.
        """
        copied = self._is_copied(cited)
        if copied and len(self.said) >= _WORDY:
            return list(cited)
        margin = _MARGIN_OF_COPIED if copied else _MARGIN
        best, most = list(cited), self.share(cited) + margin
        for place in range(len(cited)):
            for other in self.held.keys() - set(cited):
                changed = [*cited[:place], other, *cited[place + 1 :]]
                share = self.share(changed)
                if share > max(most, _FEWEST) or (share == most and changed < best):
                    best, most = changed, share
        return best

    def _is_copied(self, numbers: Sequence[int]) -> bool:
        quoted = frozenset[str]().union(*(self.held[n].quoted for n in numbers))
        return len(self.said & quoted) >= _COPIED * len(self.said)

    def _weights(self) -> dict[str, float]:
        n = len(self.held)
        weights = {}
        for feature in self.said | self.asked:
            holding = sum(feature in held.anywhere for held in self.held.values())
            weight = math.log(1 + n / (holding or n))
            if feature.startswith(NUMBER_MARK):
                weight *= _NUMBER_WEIGHT
            weights[feature] = weight if feature in self.said else _ASKED_WEIGHT * weight
        return weights
