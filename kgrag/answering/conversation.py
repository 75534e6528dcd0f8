"""Lines of a conversation that need no model: courtesy, original text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgrag.answer.answer import Answer
from kgrag.answering.follow_up import Turn, turn_of
from kgrag.notebook import place_words
from kgrag.store.store import Store
from kgrag.text.messages import catalogue
from kgrag.text.words import has_han, question_language, words
from kgrag.types import Language

_MARKS = dict.fromkeys(map(ord, "。！!？?．.～~、，,"), " ")
_REMEMBERED = 6  # answers
_said = catalogue("kgrag.answering", "conversation.toml")


def parse_line(line: str) -> tuple[str, int]:
    """Classify a line; anything that is not clearly something else is a question.

    Returns:
        (kind, number): a table of `[lines]` in `conversation.toml`, "original", or "question";
            the citation whose text is asked for, 0 for all.

    >>> parse_line("好的，谢谢！"), parse_line("给我[2]的原文")
    (('courtesy', 0), ('original', 2))
    >>> parse_line("谢谢这个词出现在哪个文件里？")
    ('question', 0)
    """
    parts = line.lower().translate(_MARKS).split()
    for kind, whole in _said["lines"].items():
        if parts and set(whole.split()).issuperset(parts):
            return str(kind), 0
    asked, besides = (set(_said["original"][name].split()) for name in ("asked", "besides"))
    named = set(words(line))
    numbers = {word for word in named if word.isdecimal()}
    if named & asked and named <= asked | besides | numbers:
        return "original", int(min(numbers, default="0"))
    return "question", 0


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
        kind, number = parse_line(line)
        language = question_language(line)
        match kind:
            case "end":
                return Reply(ends=True)
            case "new":
                self._answers = []
                return Reply()
            case "original":
                return Reply(self._original(number, language))
            case "courtesy":
                return Reply(_said[language][kind])
            case "help":
                return Reply(self._help(line))
        turns = [turn_of(answer) for answer in self._answers]
        answer = self._ask(line, turns)
        self._answers = [*self._answers, answer][-_REMEMBERED:]
        leans = bool(turns) and answer.question != line
        return Reply(answer=answer, understood=answer.question if leans else "")

    def _help(self, line: str) -> str:
        """Return the help in the language of the conversation, or in both before it began."""
        asked = [line] if has_han(line) else [a.question for a in self._answers[-1:]]
        languages = [question_language(asked[0])] if asked else ["zh", "en"]
        return "\n\n".join(_said[language]["help"] for language in languages)

    def _original(self, number: int, language: Language) -> str:
        """Return the cited passages of the last answer in full, each once with its numbers."""
        citations = self._answers[-1].citations if self._answers else ()
        wanted = [c for c in citations if number in (0, c.number)]
        if not wanted:
            return str(_said[language]["no_number" if citations else "no_original"]).format(number)
        chunks = {c.chunk_id: c for c in self._store().chunks([c.chunk_id for c in wanted])}
        numbers: dict[str, str] = {}
        for cited in wanted:
            chunk = chunks.get(cited.chunk_id)
            start, end, text = cited.start, cited.end, cited.quote
            if chunk and chunk.start <= start and end <= chunk.end:
                start, end, text = chunk.start, chunk.end, chunk.text
            path = " › ".join((cited.title, *cited.heading_path))
            place = place_words(cited.file, start, end, language)
            shown = f" {path}\n    {place}\n{text.strip(chr(10))}"
            numbers[shown] = numbers.get(shown, "") + f"[{cited.number}]"
        return "\n\n".join(said + shown for shown, said in numbers.items())
