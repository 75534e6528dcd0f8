"""Lines of a conversation that need no model: courtesy, original text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgrag.answer.answer import Answer
from kgrag.answering.follow_up import Turn, turn_of
from kgrag.notebook import place_words
from kgrag.store.store import Store
from kgrag.text.messages import catalogue
from kgrag.text.words import question_language, words
from kgrag.types import Language

_MARKS = dict.fromkeys(map(ord, "。！!？?．.～~、，,"), " ")
_REMEMBERED = 6  # answers
_said = catalogue("kgrag.answering", "conversation.toml")


def kind_of(line: str) -> str:
    """Return a name of `[lines]` in `conversation.toml`, or "original" for the passages cited.

    Anything that is not clearly something else is a "question".

    >>> kind_of("好的，谢谢！"), kind_of("谢谢这个词出现在哪个文件里？")
    ('courtesy', 'question')
    """
    parts = line.lower().translate(_MARKS).split()
    for kind, whole in _said["lines"].items():
        if parts and set(whole.split()).issuperset(parts):
            return str(kind)
    asked, besides = (set(_said["original"][name].split()) for name in ("asked", "besides"))
    named = {word for word in words(line) if not word.isdecimal()}
    return "original" if named & asked and named <= asked | besides else "question"


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply to a line.

    Attributes:
        text: Courtesy, help or passages; empty if there is an answer.
        answer: To a question; else None.
        understood: The follow-up question as completed; else empty.
        ends: Whether the conversation is over.
    """

    text: str = ""
    answer: Answer | None = None
    understood: str = ""
    ends: bool = False


class Conversation:
    """A sequence of questions that may refer to earlier ones."""

    def __init__(
        self, ask: Callable[[str, Sequence[Turn]], Answer], store: Callable[[], Store]
    ) -> None:
        """Initialise.

        Args:
            ask: Answers a question, given earlier turns, oldest first.
            store: Returns the knowledge base.
        """
        self._ask = ask
        self._store = store
        self._answers: list[Answer] = []

    def reply(self, line: str) -> Reply:
        """Return the reply to a line; raises what `ask` raises.

        Courtesy, help and originals are not turns: the next question refers to the last question.
        """
        kind, language = kind_of(line), question_language(line)
        match kind:
            case "end":
                return Reply(ends=True)
            case "new":
                self._answers = []
                return Reply()
            case "original":
                return Reply(self._original(language))
            case "courtesy":
                return Reply(_said[language][kind])
            case "help":
                return Reply("\n\n".join(_said[each][kind] for each in ("zh", "en")))
        turns = [turn_of(answer) for answer in self._answers]
        answer = self._ask(line, turns)
        self._answers = [*self._answers, answer][-_REMEMBERED:]
        leans = bool(turns) and answer.question != line
        return Reply(answer=answer, understood=answer.question if leans else "")

    def _original(self, language: Language) -> str:
        """Return the cited passages of the last answer in full, each once with its numbers."""
        citations = self._answers[-1].citations if self._answers else ()
        if not citations:
            return str(_said[language]["no_original"])
        chunks = {c.chunk_id: c for c in self._store().chunks([c.chunk_id for c in citations])}
        numbers: dict[str, str] = {}
        for cited in citations:
            chunk = chunks.get(cited.chunk_id)
            start, end, text = cited.start, cited.end, cited.quote
            if chunk and chunk.start <= start and end <= chunk.end:
                start, end, text = chunk.start, chunk.end, chunk.text
            path = " › ".join((cited.title, *cited.heading_path))
            place = place_words(cited.file, start, end, language)
            shown = f" {path}\n    {place}\n{text.strip(chr(10))}"
            numbers[shown] = numbers.get(shown, "") + f"[{cited.number}]"
        return "\n\n".join(said + shown for shown, said in numbers.items())
