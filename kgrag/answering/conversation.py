"""A conversation: questions that lean on one another, courtesy and help."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kgrag.answer.answer import Answer
from kgrag.answering.follow_up import Turn
from kgrag.text.messages import catalogue
from kgrag.text.words import question_language

_MARKS = dict.fromkeys(map(ord, "。！!？?．.～~、，,"), " ")
_REMEMBERED = 6  # answers
_said = catalogue("kgrag.answering", "conversation.toml")


def kind_of(line: str) -> str:
    """Return a name of `[lines]` in `conversation.toml`; all other lines are a "question".

    >>> kind_of("好的，谢谢！"), kind_of("谢谢这个词出现在哪个文件里？")
    ('courtesy', 'question')
    """
    parts = line.lower().translate(_MARKS).split()
    kinds = (k for k, whole in _said["lines"].items() if {*whole.split()}.issuperset(parts))
    return next(kinds, "question") if parts else "question"


@dataclass
class Conversation:
    """A sequence of questions that may refer to earlier ones.

    Attributes:
        ask: Answers a question, given earlier turns, oldest first.
    """

    ask: Callable[[str, Sequence[Turn]], Answer]
    _turns: list[Turn] = field(default_factory=list, init=False)

    def reply(self, line: str) -> Answer | str | None:
        """Return the answer to a line, or courtesy or help; None ends the conversation.

        Courtesy and help are no turns: the next question refers to the last question. Raises what
        `ask` raises.
        """
        match kind := kind_of(line):
            case "end":
                return None
            case "new":
                self._turns = []
                return ""
            case "courtesy":
                return str(_said[question_language(line)][kind])
            case "help":
                return "\n\n".join(_said[each][kind] for each in ("zh", "en"))
        answer = self.ask(line, self._turns)
        turn = Turn(answer.question, answer.text, answer.cited_titles)
        self._turns = [*self._turns, turn][-_REMEMBERED:]
        return answer
