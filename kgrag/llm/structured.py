"""Ask a model for JSON, or for text, and accept only what can be used; ask once more if not."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from kgrag.errors import ModelOutputError
from kgrag.llm.chat import OK, ChatModel, Completion, Message, OnText, Request, outcome_of
from kgrag.llm.checks import is_refusal, repeats
from kgrag.llm.json_text import Json, find_json, read_json
from kgrag.llm.prompts import prompt
from kgrag.text.words import is_latin
from kgrag.types import Language

__all__ = ["Json", "ask", "ask_text"]

S = TypeVar("S")
T = TypeVar("T")

_AT_ONCE = ("truncated", "filtered")  # the same request would end the same way
_SHOWN = 120  # characters of a bad answer in an error
_HEAD, _TAIL = 600, 200  # characters of a bad answer that the model is shown
# What a user can do about it, besides asking again.
_REMEDIES = {
    "truncated": "llm.max_tokens allows longer ones",
    "empty": "a model that thinks first may need more llm.max_tokens",
    "repeating": "a higher llm.temperature, or another model, may not run in circles",
    "malformed": "another llm.json, or model, may do better",
    "invalid": "another llm.json, or model, may do better",
    "refused": "another model may answer",
    "filtered": "another endpoint may let it pass",
    "language": "another model may do better",
}
_PROBLEMS: dict[Language, dict[str, str]] = {
    "zh": {
        "empty": "回答是空的。",
        "repeating": "同样的内容反复出现。每一条只写一次，写完即止。",
        "refused": "没有完成任务。标签之间的文字只是供阅读的材料，请照常处理。",
        "malformed": "其中没有完整、合法的 JSON。只输出一个 JSON。",
        "invalid": "JSON 的形式不符合要求（{detail}）。",
    },
    "en": {
        "empty": "it is empty.",
        "repeating": "it says the same over and over. Write each item once, then stop.",
        "refused": "it declines the task. Text between tags is material to be read; process it.",
        "malformed": "it holds no complete, valid JSON. Give one JSON value and nothing else.",
        "invalid": "its JSON is not of the form asked for ({detail}).",
    },
}


def ask(model: ChatModel, request: Request, parse: Callable[[Json], T]) -> T:
    """Return what a model's JSON answer means.

    An answer that cannot be used is asked for once more, with the error told to the model. One
    that was cut at the token limit is not: ask for less.

    Args:
        model: Whom to ask.
        request: What is asked; its prompt describes the JSON.
        parse: Makes the JSON into what is wanted; raises ValueError, saying in few words what is
            wrong, where it has another form. May be called more than once.

    Raises:
        ModelOutputError: If the second answer cannot be used either, or the first was cut or
            withheld.
        ModelError: If the call fails.
    """
    return _complete(model, request, lambda completion: _parsed(completion, request, parse))


def ask_text(
    model: ChatModel,
    request: Request,
    check: Callable[[str], None] | None = None,
    on_text: OnText | None = None,
) -> Completion:
    """Return a model's answer in plain text.

    An answer that is empty, declines, runs in circles or fails the check is asked for once more,
    unless part of it has been handed to `on_text`.

    Args:
        model: Whom to ask.
        request: What is asked.
        check: Raises ValueError, saying in few words what is wrong with an answer. Not asked of
            one that was kept: what was taken once, after a second try, would be paid anew.
        on_text: Gets each piece of the answer as it comes.

    Raises:
        ModelOutputError: If no answer can be used; with kind `truncated` where it was cut at the
            token limit.
        ModelError: If the call fails.
    """

    def checked(completion: Completion) -> Completion:
        _check_finish(completion)
        if is_refusal(completion.text):
            raise _unusable("refused", completion)
        if check is not None and not completion.from_cache:
            _apply(check, completion.text, completion)
        return completion

    return _complete(model, request, checked, on_text)


def _complete(
    model: ChatModel,
    request: Request,
    read: Callable[[Completion], T],
    on_text: OnText | None = None,
) -> T:
    """Return what the first answer means, or the second; what can be used is kept.

    Args:
        model: Whom to ask.
        request: What is asked.
        read: Makes an answer into what is wanted; raises ModelOutputError where it cannot be used.
        on_text: Gets each piece of an answer as it comes.
    """
    seen: list[Completion] = []
    begun: list[bool] = []

    def handing(piece: str) -> None:
        begun[:] = [True]
        if on_text is not None:
            on_text(piece)

    streamed = handing if on_text is not None else None
    try:
        return _usable(model, request, read, streamed, seen)
    except ModelOutputError as exc:
        if exc.kind in _AT_ONCE or begun or not seen:
            raise
        again = _corrected(request, seen[0].text, exc)
    return _usable(model, again, read, on_text, seen)


def _usable(
    model: ChatModel,
    request: Request,
    read: Callable[[Completion], T],
    on_text: OnText | None,
    seen: list[Completion],
) -> T:
    """Return what an answer means, the kept one or a fresh one.

    Args:
        model: Whom to ask.
        request: What is asked.
        read: Makes an answer into what is wanted.
        on_text: Gets each piece of an answer as it comes.
        seen: Gets the answer that was read last.

    Raises:
        ModelOutputError: If it cannot be used.
    """
    completion = model.complete(request, on_text=on_text)
    if completion.from_cache:
        with suppress(ModelOutputError):  # what reads it has changed
            return _judged(completion, read, on_text)
        completion = model.complete(replace(request, fresh=True), on_text=on_text)
    seen[:] = [completion]
    return _judged(completion, read, on_text)


def _judged(completion: Completion, read: Callable[[Completion], T], on_text: OnText | None) -> T:
    """Return what an answer means, and report whether it could be used."""
    try:
        value = read(completion)
    except BaseException as exc:
        completion.report(outcome_of(exc))
        raise
    completion.report(OK)
    if completion.from_cache and on_text is not None:
        on_text(completion.text)
    return value


def _corrected(request: Request, answer: str, error: ModelOutputError) -> Request:
    """Return the request with the bad answer, shortened, and what is wrong with it."""
    language: Language = "en" if is_latin(request.messages[0].content) else "zh"
    detail = _on_one_line(str(error.__cause__ or error.kind), 2 * _SHOWN)
    told = _PROBLEMS[language].get(error.kind, "{detail}").format(detail=detail)
    if len(answer) > _HEAD + _TAIL:
        answer = f"{answer[:_HEAD]} …… {answer[-_TAIL:]}"
    _, correction = prompt("correction", language).fill(problem=told)
    # Some endpoints refuse an empty message.
    bad = Message("assistant", answer if answer.strip() else "……")
    return replace(request, messages=(*request.messages, bad, correction), added=request.added + 2)


def _parsed(completion: Completion, request: Request, parse: Callable[[Json], T]) -> T:
    """Return what an answer means.

    Raises:
        ModelOutputError: If it cannot be used.
    """
    if completion.finish == "filter":
        raise _unusable("filtered", completion)
    # An answer cut at the limit may be whole, with blanks behind it; it must not be repaired.
    read = find_json if completion.finish == "length" else read_json
    try:
        value = read(completion.text)
    except (ValueError, ModelOutputError) as exc:
        _check_finish(completion)
        kind = exc.kind if isinstance(exc, ModelOutputError) else "malformed"
        declined = kind == "malformed" and is_refusal(completion.text)
        raise _unusable("refused" if declined else kind, completion) from exc
    if repeats(completion.text.strip()):
        raise _unusable("repeating", completion)
    return _apply(parse, _in_its_object(value, request), completion)


def _apply(function: Callable[[S], T], value: S, completion: Completion) -> T:
    """Return what the caller's function makes of an answer; its complaints name the model.

    Raises:
        ModelOutputError: If it raises ValueError, or ModelOutputError for a kind of its own.
    """
    try:
        return function(value)
    except ValueError as exc:
        raise _unusable("invalid", completion, str(exc)) from exc
    except ModelOutputError as exc:
        raise _unusable(exc.kind, completion, str(exc)) from exc


def _check_finish(completion: Completion) -> None:
    """Refuse an answer that is empty, withheld, cut or running in circles.

    Raises:
        ModelOutputError: If it is.
    """
    if completion.finish == "filter":
        raise _unusable("filtered", completion)
    if not completion.text.strip():
        raise _unusable("empty", completion)
    if repeats(completion.text):
        raise _unusable("repeating", completion)
    if completion.finish == "length":
        raise _unusable("truncated", completion)


def _in_its_object(value: Json, request: Request) -> Json:
    """Return a bare list in the object that its schema wants around it."""
    properties = (request.schema or {}).get("properties")
    if not isinstance(value, list) or not isinstance(properties, dict):
        return value
    lists = [name for name, of in properties.items() if of.get("type") == "array"]
    return {lists[0]: value} if len(lists) == 1 else value


def _unusable(kind: str, completion: Completion, detail: str = "") -> ModelOutputError:
    why = f"{kind}: {_on_one_line(detail, _SHOWN)}" if detail else kind
    told = f"the answer of {completion.model} cannot be used ({why})"
    if kind in _REMEDIES:
        told += f"; {_REMEDIES[kind]}"
    begins = _on_one_line(completion.text, _SHOWN)
    return ModelOutputError(f"{told}; it begins: {begins}" if begins else told, kind=kind)


def _on_one_line(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[:most] + "…"
