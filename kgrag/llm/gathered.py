"""Put a streamed answer together while it is shown, and end one that does not end by itself."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kgrag.endpoint.address import Blotted, Place
from kgrag.errors import BrokenOffError
from kgrag.llm.chat import Finish, OnText, Usage
from kgrag.llm.loops import repeats
from kgrag.llm.protocol import Piece
from kgrag.llm.thoughts import Thoughts

_LOOK = 2_000  # characters between looks for a loop
_SEEN = 8_000  # characters that each look sees, the latest
_LOOKS = 2  # in a row that find one: the first may see a rule of dashes, or a row of a table
_MOST_THOUGHT = 1_000_000  # characters; some endpoints do not count them as answered


def gathered(pieces: Iterable[Piece], on_text: OnText, *, most_chars: int) -> Piece:
    """Return an answer whole, having shown it piece by piece without its thoughts.

    One that runs in circles or grows beyond what was asked for is ended, and counts as cut at
    the limit.

    Args:
        pieces: Of the answer, or all of it in one.
        on_text: Gets what is no thought.
        most_chars: Characters at most, thoughts that come apart not counted.

    Raises:
        BrokenOffError: If the pieces end before the answer does.
    """
    thoughts, circles = Thoughts(), _Circles()
    texts: list[str] = []
    thought: list[str] = []
    finish: Finish | None = None
    usage: Usage | None = None
    length = thought_length = 0
    for piece in _until_late(pieces):
        if new := thoughts.feed(piece.text):
            on_text(new)
        texts.append(piece.text)
        thought.append(piece.thought)
        length += len(piece.text)
        thought_length += len(piece.thought)
        finish = piece.finish or finish
        usage = piece.usage or usage
        too_long = length > most_chars or thought_length > _MOST_THOUGHT
        if circles.found_with(piece.thought + piece.text) or too_long:
            finish = finish or "length"
            break
    if rest := thoughts.end():
        on_text(rest)
    text = "".join(texts)
    if finish is None:
        raise BrokenOffError(f"the stream ended before the answer did: {text}")
    return Piece(text, "".join(thought), finish, usage)


def blotted(pieces: Iterable[Piece], place: Place) -> Iterator[Piece]:
    """Yield the pieces of an answer without the key that it was asked with, split or whole.

    Some models say what they were sent, and gateways what they were asked with: an answer is
    shown, stored and sent to the next model.
    """
    text, thought = Blotted(place), Blotted(place)
    for piece in pieces:
        said, meant = text.feed(piece.text), thought.feed(piece.thought)
        if piece.finish is not None:  # what comes after may never end
            said, meant = said + text.end(), meant + thought.end()
        yield replace(piece, text=said, thought=meant)


def _until_late(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield pieces; an endpoint that keeps the line open after the answer's end has answered."""
    ended = False
    try:
        for piece in pieces:
            ended = ended or piece.finish is not None
            yield piece
    except BrokenOffError:
        if not ended:
            raise


class _Circles:
    """Looks now and then whether what came last runs in circles."""

    def __init__(self) -> None:
        self._recent = ""
        self._unseen = self._found = 0

    def found_with(self, new: str) -> bool:
        self._recent = (self._recent + new)[-_SEEN:]
        self._unseen += len(new)
        if self._unseen < _LOOK:
            return False
        self._unseen = 0
        self._found = self._found + 1 if repeats(self._recent) else 0
        return self._found >= _LOOKS
