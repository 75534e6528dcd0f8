"""Answers of a model from a packed context, their citations written as [n]."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from kgrag.answer.notes import note
from kgrag.answering.follow_up import Turn, shown
from kgrag.answering.look_up import LookUp
from kgrag.answering.pack import facts_block, passages_block
from kgrag.config import Template
from kgrag.errors import ModelOutputError
from kgrag.llm.chat import ChatModel, Completion, Message, OnText, Request
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import ask_text
from kgrag.results import Context
from kgrag.text.answer_text import MARK, NOT_FOUND, says_not_found
from kgrag.text.words import has_han
from kgrag.types import Language, Query

_NONE = {"zh": "（无）", "en": "(none)"}
_ANSWER = ("答案：", "答案:", "ANSWER:")  # behind the analysis of the template `steps`
_FEW = 20  # letters in which no language shows
_OF_A_WORD = 5  # letters for each Chinese character
_DIGITS = re.compile(r"\d+")
_TO = frozenset("-–—~～至")

_OTHER_LANGUAGE = {
    "zh": "回答用了另一种语言；请用中文回答",
    "en": "the answer is in another language than the question; answer in English",
}
_UNCITED = {
    "zh": "回答没有标出所依据的文段；每个句子末尾都要有文段编号，如 [1]",
    "en": "the answer names no passage; end every sentence with the number of its passage, as [1]",
}


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer as a model wrote it.

    Attributes:
        text: With [n] of the context's passages, in any notation.
        model: Name of the model.
        notes: Notes for the reader.
    """

    text: str
    model: str
    notes: tuple[str, ...] = ()


def generate(
    query: Query,
    context: Context,
    *,
    model: ChatModel,
    template: Template = "normal",
    history: Sequence[Turn] = (),
    mend: tuple[str, str] | None = None,
    on_text: OnText | None = None,
    look_up: LookUp | None = None,
) -> Draft:
    """Return a model's answer to a question, its citations not yet resolved.

    An answer that is empty, repeats itself, is in another language or cites nothing is requested
    once more with the problem. One that again cites nothing, or is again in the other language, is
    accepted: `resolve` looks for support, and a note names the language. Without passages and
    tools no call is made. An answer that was streamed is not requested again.

    Args:
        query: The question.
        context: Of the answer.
        model: Of the stage `answer`.
        template: Name of the prompt; EasyRAG, section 1.2.6 and appendix A.
        history: Earlier turns, oldest first; the last few are sent.
        mend: (answer, problem): one from the same context with [n] of its passages, and what is
            wrong with it, in words.
        on_text: Called with each piece of text as it is streamed, [n] as the model writes them.
        look_up: Tools that the model may call first; None for none.

    Raises:
        ModelOutputError: If the answer cannot be used; `kind` says why.
        ModelError: If the call fails otherwise.
    """
    language = query.language
    offered = look_up is not None and bool(look_up.functions)
    if not context.passages and not offered:
        return Draft(NOT_FOUND[language], model.name)
    places = {
        "question": fence(query.question, label="question"),
        "passages": passages_block(context),
        "facts": facts_block(context.facts) or _NONE[language],
        "history": fence(shown(history), label="conversation") if history else _NONE[language],
        "not_found": NOT_FOUND[language],
        "archive": look_up.archive() if look_up and offered else _NONE[language],
    }
    if template == "focused":
        places["best"] = str(context.best)
    messages = prompt(f"answer_{template}", language).fill(**places)
    if mend:
        again = prompt("answer_again", language).fill(
            answer=fence(mend[0], label="answer"), problem=fence(mend[1], label="problem")
        )
        messages = (*messages, again[-1])
    check = None if on_text else _Check(language)
    completion = _written(messages, model, check, on_text, look_up)
    text = _answer_in(completion.text)
    notes = () if is_language(text, language) else (note("language"),)
    return Draft(text, completion.model, notes)


def _written(
    messages: tuple[Message, ...],
    model: ChatModel,
    check: Callable[[str], object] | None,
    on_text: OnText | None,
    look_up: LookUp | None,
) -> Completion:
    """Return the answer, after the model's calls of tools."""
    while True:
        functions = look_up.functions if look_up else ()
        request = Request(messages, stage="answer", tools=functions)
        held_back = _HeldBack(on_text) if on_text and functions else None
        completion = ask_text(model, request, check, held_back or on_text)
        if not (look_up and functions and completion.calls):
            if held_back:
                held_back.end()
            return completion
        messages = (*messages, *look_up.answered(completion.calls))


@dataclass
class _HeldBack:
    """Passes text on from its first [n] on: before they call a tool, models may say so."""

    on_text: OnText
    _text: str = ""
    _is_answer: bool = False

    def __call__(self, piece: str) -> None:
        if self._is_answer:
            self.on_text(piece)
            return
        self._text += piece
        if MARK.search(self._text):
            self.end()
            self._is_answer = True

    def end(self) -> None:
        """Pass on what was held back."""
        if self._text:
            self.on_text(self._text)
        self._text = ""


@dataclass
class _Check:
    """Refuses, once, an answer in another language or without citations."""

    language: Language
    asked: bool = False

    def __call__(self, text: str) -> None:
        asked, self.asked = self.asked, True
        answer = _answer_in(text)
        if asked or says_not_found(answer):
            return
        if not is_language(answer, self.language):
            raise ModelOutputError(_OTHER_LANGUAGE[self.language], kind="language")
        if not MARK.search(answer):
            raise ModelOutputError(_UNCITED[self.language], kind="uncited")


def is_language(text: str, language: Language) -> bool:
    """Return whether an answer is in a language; names in the other one are allowed.

    Very short answers count as both.

    >>> is_language("The target is 500 plants and 30 parks [1].", "zh")
    False
    >>> is_language("目标是500家[1]。", "zh"), is_language("PUE 1.3 [1]", "zh")
    (True, True)
    """
    han = sum(map(has_han, text)) * _OF_A_WORD
    letters = sum(c.isascii() and c.isalpha() for c in text)
    own, other = (han, letters) if language == "zh" else (2 * letters, han)
    return other < _FEW or own >= other


def _answer_in(text: str) -> str:
    """Return a model's answer without its analysis and without the code fence around it."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        text = text.partition("\n")[2].removesuffix("```").strip()
    for mark in _ANSWER:
        behind = text.rpartition(mark)[2].lstrip("* ").strip() if mark in text else ""
        text = behind or text
    return text


def normalise(text: str, known: Collection[int]) -> tuple[str, list[int]]:
    """Return (text, numbers removed): every citation as [n], unknown ones removed.

    >>> normalise("甲【1】。乙[1-3]，丙[^2]。丁[文档9]", [1, 2, 3])
    ('甲[1]。乙[1][2][3]，丙[2]。丁', [9])
    """
    astray: dict[int, None] = {}

    def plain(match: re.Match[str]) -> str:
        numbers = _numbers(match[0], known)
        astray.update(dict.fromkeys(n for n in numbers if n not in known))
        return "".join(f"[{n}]" for n in numbers if n in known)

    return MARK.sub(plain, text).strip(), list(astray)


def _numbers(mark: str, known: Collection[int]) -> list[int]:
    """Return the numbers in a citation, each once; of a range its ends and what is known."""
    bare = mark.split("†")[0]
    numbers: list[int] = []
    reach = 0
    for digits in _DIGITS.finditer(bare):
        if numbers and _TO.intersection(bare[reach : digits.start()]):
            numbers += (n for n in sorted(known) if numbers[-1] < n < int(digits[0]))
        numbers.append(int(digits[0]))
        reach = digits.end()
    return list(dict.fromkeys(numbers))
