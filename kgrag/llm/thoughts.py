"""Leave out what a model thinks aloud before its answer."""

_BEGIN, _END = "<think>", "</think>"


class Thoughts:
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
    thoughts = Thoughts()
    return thoughts.feed(text) + thoughts.end()
