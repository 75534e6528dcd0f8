"""Read an answer as it comes: in time, without thoughts and key, and not for ever."""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import TypeVar

from kgrag.endpoint.address import Place
from kgrag.errors import BrokenOffError
from kgrag.llm.chat import Finish, OnText, Usage
from kgrag.llm.checks import repeats
from kgrag.llm.protocol import Piece

_LOOK = 2_000  # characters between looks for a loop
_SEEN = 8_000  # characters that each look sees, the latest
_LOOKS = 2  # in a row that find one: the first may see a rule of dashes, or a row of a table
_MOST_THOUGHT = 1_000_000  # characters; some endpoints do not count them as answered
_T = TypeVar("_T")
_BEGIN, _END = "<think>", "</think>"


def gather(pieces: Iterable[Piece], on_text: OnText, *, most_chars: int) -> Piece:
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
    thoughts, loops = ThoughtFilter(), _LoopWatch()
    texts: list[str] = []
    thought: list[str] = []
    finish: Finish | None = None
    usage: Usage | None = None
    length = thought_length = 0
    for piece in _until_answered(pieces):
        if new := thoughts.feed(piece.text):
            on_text(new)
        texts.append(piece.text)
        thought.append(piece.thought)
        length += len(piece.text)
        thought_length += len(piece.thought)
        finish = piece.finish or finish
        usage = piece.usage or usage
        too_long = length > most_chars or thought_length > _MOST_THOUGHT
        if loops.found_with(piece.thought + piece.text) or too_long:
            finish = finish or "length"
            break
    if rest := thoughts.end():
        on_text(rest)
    text = "".join(texts)
    if finish is None:
        raise BrokenOffError(f"the stream ended before the answer did: {text}")
    return Piece(text, "".join(thought), finish, usage)


def _until_answered(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield pieces; an endpoint that keeps the line open after the answer's end has answered."""
    ended = False
    try:
        for piece in pieces:
            ended = ended or piece.finish is not None
            yield piece
    except BrokenOffError:
        if not ended:
            raise


class _LoopWatch:
    """Looks now and then whether what came last repeats itself."""

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


@dataclass(frozen=True, slots=True)
class _End:
    error: BaseException | None = None


def in_time(
    produce: Callable[[], Generator[_T | None, None, None]],
    *,
    wait_s: float,
    deadline: float,
    late: str,
) -> Generator[_T, None, None]:
    """Yield what is produced, never waiting longer than is allowed.

    It is produced in a thread of its own: a library's timeout is one for each read, and an
    endpoint that sends a blank now and then never runs into it, nor does one whose name is
    looked up for ever. A thread that nobody waits for ends when it next yields.

    Args:
        produce: Called in the thread; what it raises is raised here. None is handed to nobody
            and is no sign of life, but lets the thread end.
        wait_s: Seconds to wait for each item.
        deadline: Moment, on the clock of `time.monotonic`, after which nothing is waited for.
        late: Text of the error.

    Raises:
        BrokenOffError: If the next item does not come in time.
    """
    arrived: SimpleQueue[_T | _End] = SimpleQueue()
    gone = threading.Event()

    def run() -> None:
        end = _End()
        try:
            with closing(produce()) as items:
                for item in items:
                    if gone.is_set():
                        break
                    if item is not None:
                        arrived.put(item)
        except BaseException as exc:  # whatever it is, it is raised where somebody waits
            end = _End(exc)
        arrived.put(end)

    threading.Thread(target=run, name="call", daemon=True).start()
    try:
        while True:
            left = min(wait_s, deadline - time.monotonic())
            try:
                item = arrived.get(timeout=max(0.0, left))
            except Empty:
                raise BrokenOffError(late) from None
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            yield item
    finally:
        gone.set()


def without_key(pieces: Iterable[Piece], place: Place) -> Iterator[Piece]:
    """Yield the pieces of an answer without the key that it was asked with, split or whole.

    Some models say what they were sent, and gateways what they were asked with: an answer is
    shown, stored and sent to the next model.
    """
    text, thought = KeyFilter(place), KeyFilter(place)
    for piece in pieces:
        said, meant = text.feed(piece.text), thought.feed(piece.thought)
        if piece.finish is not None:  # what comes after may never end
            said, meant = said + text.end(), meant + thought.end()
        yield replace(piece, text=said, thought=meant)


class KeyFilter:
    """A text that comes in pieces, given on without the key of the endpoint that it comes from.

    What may be the beginning of the key is held back until it is seen whether it is.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return what is safe to show after one more piece; may be empty."""
        text = self._place.hide(self._held + piece)
        begun = max((_begun(text, secret) for secret in self._place.secrets), default=0)
        shown = len(text) - begun
        self._held = text[shown:]
        return text[:shown]

    def end(self) -> str:
        """Return what was held back, when no more pieces come."""
        held, self._held = self._held, ""
        return held


def _begun(text: str, secret: str) -> int:
    """Return how many characters of a secret a text ends with.

    >>> _begun("the key is k-12", "k-12345678")
    4
    """
    longest = min(len(text), len(secret) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(secret[:n])), 0)


class ThoughtFilter:
    """Takes an answer in pieces and gives back those that are no thought.

    A thought is `<think>...</think>` at the very start of an answer, as models that reason write
    it where the endpoint does not set it apart. One that never ends leaves an empty answer.
    """

    def __init__(self) -> None:
        self._held = ""  # what may still turn out to be a mark
        self._state = "before"  # then `inside`, `gap` and `answer`

    def feed(self, piece: str) -> str:
        """Return what can be shown of the answer after one more piece of it; may be empty."""
        if self._state == "answer":
            return piece
        self._held += piece
        if self._state == "before":
            start = self._held.lstrip()
            if len(start) < len(_BEGIN) and _BEGIN.startswith(start):
                return ""
            if not start.startswith(_BEGIN):
                return self._answer(self._held)
            self._state = "inside"
        if self._state == "inside":
            thought, found, rest = self._held.partition(_END)
            if not found:
                self._held = thought[-len(_END) :]  # the mark may come in two pieces
                return ""
            self._state, self._held = "gap", rest
        answer = self._held.lstrip()
        return self._answer(answer) if answer else ""

    def end(self) -> str:
        """Return what was held back, when no more pieces come."""
        return self._answer(self._held) if self._state == "before" else ""

    def _answer(self, text: str) -> str:
        self._state, self._held = "answer", ""
        return text


def without_thoughts(text: str) -> str:
    """Return an answer without the thought at its start.

    >>> without_thoughts("<think>是不是？</think> 是。")
    '是。'
    """
    thoughts = ThoughtFilter()
    return thoughts.feed(text) + thoughts.end()
