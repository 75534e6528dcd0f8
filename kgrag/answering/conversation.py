"""Lines of a conversation that need no model: courtesy, original text."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from kgrag.answer.answer import Answer
from kgrag.answering.follow_up import Turn, turn_of
from kgrag.notebook import place_words
from kgrag.store.store import Store
from kgrag.text.words import has_han, question_language
from kgrag.types import Language

Kind = Literal["question", "end", "new", "help", "thanks", "greeting", "original"]
_WORDED: Sequence[tuple[Kind, tuple[str, ...]]] = (
    ("end", ("/quit", "/exit", "/q", "quit", "exit", "退出", "结束", "再见", "bye")),
    ("new", ("/new", "重新开始", "新对话")),
    ("help", ("/help", "/?", "help", "帮助", "怎么用")),
)
_COMMANDS: Mapping[str, Kind] = MappingProxyType({w: kind for kind, ws in _WORDED for w in ws})
_POLITE = r"(?:[您你]|大家|的|了|啦|啊|呀|哦|非常|太|多|先)*"
_SEEN = "好的?|嗯|行|明白了?|知道了|了解了?|收到"
_THANKS = re.compile(
    rf"(?:{_SEEN})?[，, ]*(?:{_POLITE}(?:谢谢|感谢|多谢|谢了|辛苦){_POLITE}+)"
    r"(?:你|您|[，, ]*+(?:帮助|再见|辛苦了?))*+"
    r"|(?:ok(?:ay)?|great|good)?[, ]*"
    r"(?:many thanks|thanks?(?: you)?(?: (?:so|very) much| a lot)?)"
    rf"|(?:{_SEEN}|ok|okay)",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"(?:[您你]们?好|早上?好|[上下]午好|晚上好|在吗|哈喽|嗨)[呀啊]?"
    r"|(?:hi|hello|hey)(?: there)?|good (?:morning|afternoon|evening)",
    re.IGNORECASE,
)
_ORIGINAL = re.compile(
    r"(?:请|麻烦|能不能|能|可以|那|再)*(?:给|让)?我?"
    r"(?:看看?|显示|给出|列出|贴出?|发|要|出示|展开|附上)?(?:一下|一?看)?我?"
    r"(?:\[?第?\s*(?P<zh>\d{1,2}|[一二三四五六七八九十])\]?\s*[条个段]?)?的?"
    r"(?:完整的?|全部的?|所有的?|引用的?|上面的?|相关的?)*"
    r"(?:原文|引文|原话|出处|全文|原句|段落|条款原文)(?:段落|内容|是什么|呢|吗|看看)?"
    r"|(?:please |can you |could you )?(?:show|give|print|let me see)(?: me| us)?(?: the)?"
    r"(?: (?:full|original|whole|cited|source|complete))*"
    r" (?:texts?|passages?|sources?|originals?|quotes?|wording|citations?)"
    r"(?:(?: of)? \[?(?P<en>\d{1,2})\]?)?",
    re.IGNORECASE,
)
_ENDS = "。！!？?．.～~ \t、，,"
_HAN = {c: n for n, c in enumerate("一二三四五六七八九十", 1)}
_REMEMBERED = 6  # answers
_SAYING: Mapping[str, Mapping[Language, str]] = {
    "thanks": {"zh": "不客气，请继续提问。", "en": "You are welcome; go on asking."},
    "greeting": {
        "zh": "您好，请提出关于这些文件的问题；/help 说明用法。",
        "en": "Hello; ask about the documents. /help tells how.",
    },
    "help": {
        "zh": "每行一个问题，可以承接上文：\n"
        "  那广东呢？ 换成河南 2030年呢？    同一个问题，换地方、换年份\n"
        "  给我原文 给我[2]的原文            显示所引段落的全文\n"
        "  /new 重新开始                     忘掉上文\n"
        "  /help 帮助                        显示这段说明\n"
        "  /exit 退出 quit                   结束",
        "en": "A question a line; it may lean on those before:\n"
        "  What about Henan? And in 2030?    the same for another place or year\n"
        "  Show me the text; show source 2   the passages cited, whole\n"
        "  /new                              forgets what was said\n"
        "  /help                             shows this\n"
        "  /exit, /quit                      ends",
    },
    "no original": {
        "zh": "上一个回答没有引用文件，没有原文可以显示。",
        "en": "The last answer cites nothing; there is no text to show.",
    },
    "no number": {
        "zh": "上一个回答没有引文[{}]。",
        "en": "The last answer has no citation [{}].",
    },
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a conversation.

    Attributes:
        kind: Kind of line.
        language: Of the reply.
        number: Citation whose text is asked for; 0 for all.
    """

    kind: Kind
    language: Language
    number: int = 0


def parse_line(line: str) -> Line:
    """Classify a line; anything that is not clearly something else is a question.

    >>> parse_line("谢谢！").kind, parse_line("给我[2]的原文").number
    ('thanks', 2)
    >>> parse_line("谢谢这个词出现在哪个文件里？").kind
    'question'
    """
    language = question_language(line)
    bare = line.strip().rstrip(_ENDS)
    command = _COMMANDS.get(bare.lower()) or _COMMANDS.get(line.strip().lower())
    if command:
        return Line(command, language)
    if _THANKS.fullmatch(bare):
        return Line("thanks", language)
    if _GREETING.fullmatch(bare):
        return Line("greeting", language)
    original = _ORIGINAL.fullmatch(bare)
    if original:
        number = original["zh"] or original["en"] or "0"
        return Line("original", language, number=_HAN.get(number) or int(number))
    return Line("question", language)


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
        self,
        ask: Callable[[str, Sequence[Turn]], Answer],
        store: Callable[[], Store],
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
        what = parse_line(line)
        match what.kind:
            case "end":
                return Reply(ends=True)
            case "new":
                self._answers = []
                return Reply()
            case "original":
                return Reply(self._original(what))
            case "thanks" | "greeting":
                return Reply(_SAYING[what.kind][what.language])
            case "help":
                return Reply(self._help(line))
            case "question":
                pass
        return self._answered(line)

    def _help(self, line: str) -> str:
        """Return the help in the language of the conversation, or in both before it began."""
        asked = [line] if has_han(line) else [a.question for a in self._answers[-1:]]
        told = _SAYING["help"]
        return told[question_language(asked[0])] if asked else "\n\n".join(told.values())

    def _answered(self, line: str) -> Reply:
        turns = [turn_of(answer) for answer in self._answers]
        answer = self._ask(line, turns)
        self._answers = [*self._answers, answer][-_REMEMBERED:]
        leans = bool(turns) and answer.question != line
        return Reply(answer=answer, understood=answer.question if leans else "")

    def _original(self, what: Line) -> str:
        """Return the cited passages of the last answer in full."""
        citations = self._answers[-1].citations if self._answers else ()
        if not citations:
            return _SAYING["no original"][what.language]
        wanted = [c for c in citations if what.number in (0, c.number)]
        if not wanted:
            return _SAYING["no number"][what.language].format(what.number)
        chunks = {c.chunk_id: c for c in self._store().chunks([c.chunk_id for c in wanted])}
        texts: dict[str, list[str]] = {}
        heads: dict[str, list[int]] = {}
        for cited in wanted:
            chunk = chunks.get(cited.chunk_id)
            whole = chunk and chunk.start <= cited.start and cited.end <= chunk.end
            start, end, text = (
                (chunk.start, chunk.end, chunk.text)
                if chunk and whole
                else (cited.start, cited.end, cited.quote)
            )
            place = place_words(cited.file, start, end, what.language)
            heads.setdefault(place, []).append(cited.number)
            path = " › ".join((cited.title, *cited.heading_path))
            texts[place] = [path, f"    {place}", text.strip("\n")]
        return "\n\n".join(
            "\n".join(["".join(f"[{n}]" for n in heads[place]) + f" {path}", where, text])
            for place, (path, where, text) in texts.items()
        )
