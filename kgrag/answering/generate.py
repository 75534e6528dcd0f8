"""Answers of a model from a packed context."""

import re
from collections.abc import Sequence
from dataclasses import replace

from kgrag.answer.notes import note
from kgrag.answering.draft import Draft, Mend, cited_passages, without_bold
from kgrag.answering.follow_up import Turn
from kgrag.answering.pack import facts_block, passage_block, passages_block
from kgrag.config import Template
from kgrag.errors import ModelError, ModelOutputError
from kgrag.llm.chat import ChatModel, OnText, Request
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import ask_text
from kgrag.results import Context
from kgrag.text.answer_text import MARK, NOT_FOUND, says_not_found
from kgrag.text.words import character_pairs
from kgrag.types import Language, Query

TEMPLATES: dict[Template, str] = {
    "normal": "answer_normal",
    "focused": "answer_focused",
    "markdown": "answer_markdown",
    "steps": "answer_steps",
}

_NONE = {"zh": "（无）", "en": "(none)"}
_HISTORY = 3  # turns that are shown
_HISTORY_CHARS = 400  # of each answer
_ANSWER = re.compile(r"^[ \t>#*]*(?:答案|ANSWER)[ \t]*\**[：:]\**", re.MULTILINE | re.IGNORECASE)
_ANALYSIS = re.compile(r"^[ \t>#*]*(?:分析|ANALYSIS)[ \t]*\**[：:]\**", re.IGNORECASE)
_WRAPPED = re.compile(r"```\w*\n(.*?)\n?```", re.DOTALL)
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
_FEW_WORDS = 5  # no language shows in fewer

_OTHER_LANGUAGE = {
    "zh": "回答用了另一种语言；请用中文回答",
    "en": "the answer is in another language than the question; answer in English",
}
_UNCITED = {
    "zh": "回答没有标出所依据的文段；每个句子末尾都要有文段编号，如 [1]",
    "en": "the answer names no passage; end every sentence with the number of its passage, as [1]",
}

_KEPT = 0.9  # of the first answer's character pairs, at least


def generate(
    query: Query,
    context: Context,
    *,
    model: ChatModel,
    template: Template = "normal",
    history: Sequence[Turn] = (),
    mend: Mend | None = None,
    on_text: OnText | None = None,
) -> Draft:
    """Return a model's answer to a question, its citations not yet resolved.

    An answer that is empty, repeats itself, is in another language or cites nothing is requested
    once more with the problem. One that again cites nothing, or is again in the other language, is
    accepted: `resolve` looks for support, and a note names the language. Without passages no call
    is made. An answer that was streamed is not requested again. Bold type is only for the template
    `markdown`.

    Args:
        query: The question.
        context: Of the answer.
        model: Of the stage `answer`.
        template: Name of the prompt; EasyRAG, section 1.2.6 and appendix A.
        history: Earlier turns, oldest first; the last few are sent.
        mend: An answer from the same context and what is wrong with it.
        on_text: Called with each piece of text as it is streamed, [n] as the model writes them.

    Raises:
        ModelOutputError: If the answer cannot be used; `kind` says why.
        ModelError: If the call fails otherwise.
    """
    if not context.passages:
        return Draft(NOT_FOUND[query.language], model.name)
    places = {
        "question": fence(query.question, label="question"),
        "passages": passages_block(context),
        "facts": facts_block(context.facts) or _NONE[query.language],
        "history": _conversation(history) or _NONE[query.language],
        "not_found": NOT_FOUND[query.language],
    }
    if template == "focused":
        places["best"] = str(context.best)
    messages = prompt(TEMPLATES[template], query.language).fill(**places)
    if mend:
        again = prompt("answer_again", query.language).fill(
            answer=fence(mend.answer, label="answer"),
            problem=fence(mend.problem, label="problem"),
        )
        messages = (*messages, again[-1])
    request = Request(messages, stage="answer")
    check = _Check(query.language)
    completion = ask_text(model, request, None if on_text else check, on_text)
    analysis, text = _parted(completion.text)
    text = text if template == "markdown" else without_bold(text)
    notes = () if is_language(text, query.language) else (note("language", query.language),)
    return Draft(text, completion.model, analysis, notes)


class _Check:
    """Refuses, once, an answer in another language or without citations."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._asked = 0

    def __call__(self, text: str) -> None:
        self._asked += 1
        _, answer = _parted(text)
        if self._asked > 1 or says_not_found(answer):
            return
        if not is_language(answer, self._language):
            raise ModelOutputError(_OTHER_LANGUAGE[self._language], kind="language")
        if not MARK.search(answer):
            raise ModelOutputError(_UNCITED[self._language], kind="uncited")


def is_language(text: str, language: Language) -> bool:
    """Return whether an answer is in a language; names in the other one are allowed.

    Very short answers count as both.

    >>> is_language("The target is 500 plants by 2025 [1].", "zh")
    False
    >>> is_language("目标是500家[1]。", "zh"), is_language("PUE 1.3 [1]", "zh")
    (True, True)
    """
    han, latin = len(_HAN.findall(text)), len(_LATIN_WORD.findall(text))
    if language == "zh":
        return latin < _FEW_WORDS or han >= latin
    return han < 2 * _FEW_WORDS or latin >= han / 2


def _parted(text: str) -> tuple[str, str]:
    """Split into (analysis, answer) without code fences; without analysis all is answer."""
    if wrapped := _WRAPPED.fullmatch(text.strip()):
        text = wrapped.group(1)
    *_, last = [None, *_ANSWER.finditer(text)]
    if last is None or not text[last.end() :].strip():
        return "", text.strip()
    return _ANALYSIS.sub("", text[: last.start()].strip()).strip(), text[last.end() :].strip()


def _conversation(history: Sequence[Turn]) -> str:
    turns = (f"{turn.question}\n{turn.answer[:_HISTORY_CHARS]}" for turn in history[-_HISTORY:])
    return fence("\n\n".join(turns), label="conversation") if history else ""


def integrate(query: Query, draft: Draft, context: Context, *, model: ChatModel) -> Draft:
    """Return a draft completed from the best passage alone, in a second call.

    EasyRAG, section 1.2.7 and appendix B: a model attends to every passage and may leave out
    what the first one states. A result that loses a citation or more than a tenth of the draft is
    refused (the appendix wants every character kept); then, and if the call fails, the draft is
    returned.

    Args:
        query: The question.
        draft: The first answer; "not found" is returned unchanged.
        context: Of the draft.
        model: Of the stage `answer`.
    """
    best = next((p for p in context.passages if p.number == context.best), None)
    if best is None or says_not_found(draft.text):
        return draft
    request = Request(
        prompt("integrate", query.language).fill(
            question=fence(query.question, label="question"),
            answer=fence(draft.text, label="answer"),
            passage=passage_block(best),
            best=str(best.number),
        ),
        stage="answer",
    )
    try:
        completion = ask_text(model, request)
    except ModelError as exc:
        return replace(
            draft, notes=(*draft.notes, note("integration-failed", query.language, error=exc))
        )
    if not _keeps(draft.text, completion.text, context):
        return replace(draft, notes=(*draft.notes, note("integration-refused", query.language)))
    return replace(draft, text=completion.text.strip(), model=completion.model)


def _keeps(first: str, second: str, context: Context) -> bool:
    """Return whether a text keeps the citations and content of the first one."""
    if not cited_passages(first, context) <= cited_passages(second, context):
        return False
    before, after = set(character_pairs(first)), set(character_pairs(second))
    return len(before & after) >= _KEPT * len(before)
