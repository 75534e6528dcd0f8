"""A conversation without a model's help where none is needed: courtesy, originals, comparison."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kgrag.asking.compared_figures import compared, nothing_to_compare
from kgrag.asking.said import Said, said
from kgrag.generation.extract import METHOD
from kgrag.generation.follow_up import Turn
from kgrag.language.text import has_han, question_language
from kgrag.results import Answer
from kgrag.store.store import Store
from kgrag.types import Language

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
        "  上面两个城市哪个多？              比较刚才两个地方的数字\n"
        "  给我原文 给我[2]的原文            显示所引段落的全文\n"
        "  /new 重新开始                     忘掉上文\n"
        "  /help 帮助                        显示这段说明\n"
        "  /exit 退出 quit                   结束",
        "en": "A question a line; it may lean on those before:\n"
        "  What about Henan? And in 2030?    the same for another place or year\n"
        "  Which is higher?                  compares the figures of the last two places\n"
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
    "place": {"zh": "{}，第 {} 至 {} 个字符", "en": "{}, characters {}-{}"},
}


@dataclass(frozen=True, slots=True)
class Reply:
    """What is said to a line.

    Attributes:
        text: Words of courtesy, help, passages; empty where there is an answer.
        answer: To a question, or a comparison; None for words alone.
        understood: What a question that leans on those before was taken for; else empty.
        ends: Whether the conversation is over.
    """

    text: str = ""
    answer: Answer | None = None
    understood: str = ""
    ends: bool = False


class Conversation:
    """Questions that may lean on the ones before, and what is said besides."""

    def __init__(
        self,
        ask: Callable[[str, Sequence[Turn]], Answer],
        store: Callable[[], Store],
        *,
        leaf: Callable[[], int],
    ) -> None:
        """Begin a conversation.

        Args:
            ask: Answers a question with what was said before it, oldest first.
            store: Gives the knowledge base.
            leaf: Gives the size of the chunks that facts are tied to.
        """
        self._ask = ask
        self._store = store
        self._leaf = leaf
        self._answers: list[Answer] = []

    def reply(self, line: str) -> Reply:
        """Return what is said to a line; raises what `ask` raises.

        Courtesy, help, originals and comparisons are no turns: what comes behind them leans on the
        last question, answered or refused.
        """
        what = said(line)
        match what.kind:
            case "end":
                return Reply(ends=True)
            case "new":
                self._answers = []
                return Reply()
            case "original":
                return Reply(self._original(what))
            case "compare":
                if self._answers:
                    return self._compared(line, what)
            case "thanks" | "greeting":
                return Reply(_SAYING[what.kind][what.language])
            case "help":
                return Reply(self._help(line))
            case "question":
                pass
        return self._answered(line)

    def _help(self, line: str) -> str:
        """Return how to go on, in the language of the conversation; before it in both."""
        asked = [line] if has_han(line) else [a.question for a in self._answers[-1:]]
        told = _SAYING["help"]
        return told[question_language(asked[0])] if asked else "\n\n".join(told.values())

    def _answered(self, line: str) -> Reply:
        turns = [Turn(answer.question, answer.text) for answer in self._answers]
        answer = self._ask(line, turns)
        self._answers = [*self._answers, answer][-_REMEMBERED:]
        leans = bool(turns) and answer.question != line
        return Reply(answer=answer, understood=answer.question if leans else "")

    def _compared(self, line: str, what: Said) -> Reply:
        found = compared(
            self._answers,
            self._store(),
            leaf=self._leaf(),
            least=what.least,
            language=what.language,
        )
        if found is None and self._answers[-1].method not in (METHOD, ""):
            return self._answered(line)  # by the model that wrote the last answer
        if found is None:
            return Reply(nothing_to_compare(what.language))
        return Reply(answer=replace(found, question=line))

    def _original(self, what: Said) -> str:
        """Return the cited passages of the last answer, whole."""
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
            place = _SAYING["place"][what.language].format(cited.file, start, end)
            heads.setdefault(place, []).append(cited.number)
            path = " › ".join((cited.title, *cited.heading_path))
            texts[place] = [path, f"    {place}", text.strip("\n")]
        return "\n\n".join(
            "\n".join(["".join(f"[{n}]" for n in heads[place]) + f" {path}", where, text])
            for place, (path, where, text) in texts.items()
        )
