"""Ask a model for JSON or text, validate the answer, and ask once more if it is unusable.

After the two functions that ask follows the reading of answers: JSON, thoughts, loops, refusals.
"""

import json
import math
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TypeVar

from kgrag.errors import ModelOutputError
from kgrag.llm.chat import OK, ChatModel, Completion, Message, OnText, Request, outcome_of
from kgrag.llm.prompts import prompt
from kgrag.text.visible import shortened
from kgrag.text.words import is_latin
from kgrag.types import Language

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
_S = TypeVar("_S")
_T = TypeVar("_T")

_AT_ONCE = ("truncated", "filtered")  # kinds of errors that the same request would repeat
_SHOWN = 121  # characters of a bad answer in an error, the … included
_HEAD, _TAIL = 600, 200  # characters of a bad answer sent back to the model
# Remedies besides asking again.
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


def ask(model: ChatModel, request: Request, parse: Callable[[Json], _T]) -> _T:
    """Return the parsed JSON answer of a model.

    An unusable answer is asked for once more, with the error shown to the model; a truncated one is
    not: ask for less. `parse` converts the JSON; it raises a short ValueError for another form, and
    may be called more than once.

    Raises:
        ModelOutputError: If the second answer is unusable too, or the first was truncated or
            withheld.
        ModelError: If the call fails.
    """
    return _complete(model, request, lambda completion: _parsed(completion, request, parse))


def ask_text(
    model: ChatModel,
    request: Request,
    check: Callable[[str], object] | None = None,
    on_text: OnText | None = None,
) -> Completion:
    """Return a model's answer in plain text, or its calls of the request's tools.

    An answer that is empty, a refusal, repeats itself or fails the check is asked for once more,
    unless part of it was passed to `on_text`. `check` raises a short ValueError; it is not called
    for a cached answer, which was accepted before.

    Raises:
        ModelOutputError: If no answer is usable; with kind `truncated` at the token limit.
        ModelError: If the call fails.
    """

    def checked(completion: Completion) -> Completion:
        if completion.calls and request.tools and completion.finish == "calls":
            return completion
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
    read: Callable[[Completion], _T],
    on_text: OnText | None = None,
    *,
    is_first: bool = True,
) -> _T:
    """Return the value of the first usable answer: a cached one, a fresh one, a second one.

    `read` converts an answer, and raises ModelOutputError if it is unusable.
    """
    reader = Reader(on_text)
    on_piece = None if on_text is None else reader
    completion = model.complete(request, on_text=on_piece)
    if completion.from_cache:
        with suppress(ModelOutputError):  # accepted by another version
            return _judged(completion, read, on_text)
        completion = model.complete(replace(request, fresh=True), on_text=on_piece)
    try:
        return _judged(completion, read, on_text)
    except ModelOutputError as exc:
        if not is_first or exc.kind in _AT_ONCE or reader.shown:
            raise
        again = _corrected(request, completion.text, exc)
    return _complete(model, again, read, on_text, is_first=False)


def _judged(completion: Completion, read: Callable[[Completion], _T], on_text: OnText | None) -> _T:
    """Convert an answer, and report whether it was usable."""
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
    """Return the request with the bad answer, shortened, and its error."""
    language: Language = "en" if is_latin(request.messages[0].content) else "zh"
    detail = shortened(str(error.__cause__ or error.kind), 2 * _SHOWN)
    problem = _PROBLEMS[language].get(error.kind, "{detail}").format(detail=detail)
    if len(answer) > _HEAD + _TAIL:
        answer = f"{answer[:_HEAD]} …… {answer[-_TAIL:]}"
    _, correction = prompt("correction", language).fill(problem=problem)
    # Some endpoints refuse an empty message.
    bad = Message("assistant", answer if answer.strip() else "……")
    return replace(request, messages=(*request.messages, bad, correction), added=request.added + 2)


def _parsed(completion: Completion, request: Request, parse: Callable[[Json], _T]) -> _T:
    if completion.finish == "filter":
        raise _unusable("filtered", completion)
    # An answer at the limit may be complete, with blanks after it; it must not be repaired.
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


def _apply(function: Callable[[_S], _T], value: _S, completion: Completion) -> _T:
    """Apply the caller's function to an answer; its errors name the model."""
    try:
        return function(value)
    except ValueError as exc:
        raise _unusable("invalid", completion, str(exc)) from exc
    except ModelOutputError as exc:
        raise _unusable(exc.kind, completion, str(exc)) from exc


def _check_finish(completion: Completion) -> None:
    """Raise ModelOutputError for an answer that is empty, withheld, truncated or repeats itself."""
    if completion.finish == "filter":
        raise _unusable("filtered", completion)
    if not completion.text.strip():
        raise _unusable("empty", completion)
    if repeats(completion.text):
        raise _unusable("repeating", completion)
    if completion.finish == "length":
        raise _unusable("truncated", completion)


def _in_its_object(value: Json, request: Request) -> Json:
    """Return a bare list in the object that its schema requires around it."""
    properties = (request.schema or {}).get("properties")
    if not isinstance(value, list) or not isinstance(properties, dict):
        return value
    lists = [name for name, of in properties.items() if of.get("type") == "array"]
    return {lists[0]: value} if len(lists) == 1 else value


def _unusable(kind: str, completion: Completion, detail: str = "") -> ModelOutputError:
    why = f"{kind}: {shortened(detail, _SHOWN)}" if detail else kind
    told = f"the answer of {completion.model} cannot be used ({why})"
    if kind in _REMEDIES:
        told += f"; {_REMEDIES[kind]}"
    begins = shortened(completion.text, _SHOWN)
    told += f"; it begins: {begins}" if begins else ""
    return ModelOutputError(told, kind=kind, answer=completion.text)


_THOUGHT_END = re.compile(r"\A[^{\[]*?</think>")  # some servers omit the start tag
_FENCED = re.compile(
    r"```[ \t]*(?:json)?[ \t]*\n?(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL | re.IGNORECASE
)
# The start of an object or a list, not a remark in brackets like {注} or [1].
_BEGINNING = re.compile(r"\{(?=\s*(?:[\"'“‘”’}]|[A-Za-z_]\w*\s*[:：]))|\[(?=\s*[\"'“‘”’\[{\]])")
_CURLY_KEY = re.compile(r"[“”‘’]([A-Za-z_]\w{0,39})[“”‘’]\s*[:：]")
_KEY_COLON = re.compile(r"(\"[A-Za-z_]\w{0,39}\")\s*：")
_CURLY_VALUE = re.compile(r"(?<=[:：\[,，])(\s*)‘([^‘’\"]*)’(?=\s*[,，}\]])")
_HALF = re.compile("[\ud800-\udfff]")
_DEEPEST = 100
_CLOSED = re.compile(r"[\"'”’{}\[\]]\s*[}\]]\Z")  # not the bracket of a citation in a text
# Not strict: models often do not escape line breaks and tabs in strings.
_DECODER = json.JSONDecoder(strict=False)
_MOST_REPAIRED = 40_000  # characters; repair is slower than linear


def read_json(text: str) -> Json:
    """Return the JSON in an answer, repaired if damaged.

    Thoughts, code fences and prose around it are ignored. Quotation marks, commas, colons, line
    breaks and closing brackets are repaired.

    Raises:
        ModelOutputError: With kind `truncated` where the text ends in the middle of the JSON,
            `malformed` where there is none, or none that can be repaired.
    """
    whole, damaged = _found(text)
    if whole and whole[0][0] >= len(damaged):
        return whole[0][1]
    if not damaged:
        raise ModelOutputError("the answer holds no JSON", kind="malformed")
    return _repaired(damaged)


def find_json(text: str) -> Json:
    """Return the JSON in an answer without repair: all of it, or the longest complete part.

    Line breaks in strings are accepted; lone surrogates become U+FFFD.

    Raises:
        ValueError: If there is none, or it is damaged.
    """
    whole, damaged = _found(text)
    if not whole or damaged:
        raise ValueError("no object or list that is whole")
    return whole[0][1]


def whole_part(text: str) -> dict[str, Json]:
    """Return the object of an answer that is cut off, up to the last list or object that is whole.

    >>> whole_part('{"facts":[{"quote":"甲","triples":[["甲","有","乙"],["甲","')
    {'facts': [{'quote': '甲', 'triples': [['甲', '有', '乙']]}]}
    """
    whole, _, _ = _brackets(_found(text)[1])
    with suppress(ValueError, RecursionError):
        value = _sound(_DECODER.decode(whole))
        return value if isinstance(value, dict) else {}
    return {}


def _brackets(block: str) -> tuple[str, str, bool]:
    """Return a block closed behind its last bracket that closes, what closes all of it, and more.

    The last is whether it ends inside a string.
    """
    at, closed, closing, inside, escaped = 0, "", "", False, False
    for end, character in enumerate(block, 1):
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = inside
        elif character == '"':
            inside = not inside
        elif not inside and character in "{[":
            closing = ("}" if character == "{" else "]") + closing
        elif not inside and character in "}]":
            closing = closing[1:]
            at, closed = end, closing
    return block[:at] + closed, closing, inside


def _found(text: str) -> tuple[list[tuple[int, Json]], str]:
    """Return (length, value) of complete JSON, the longest first, and the damaged rest."""
    answer = without_thoughts(text.lstrip("\ufeff"))
    answer = _THOUGHT_END.sub("", answer).lstrip("\ufeff").strip()
    with suppress(ValueError, RecursionError):
        return [(len(answer), _sound(_DECODER.decode(answer)))], ""
    fenced = max(_FENCED.finditer(answer), key=lambda found: len(found[1]), default=None)
    if fenced and _BEGINNING.search(fenced[1]) and not _is_inside(answer, fenced.start()):
        answer = fenced[1]
    found: list[tuple[int, Json]] = []
    position, damaged = 0, ""
    while match := _BEGINNING.search(answer, position):
        try:
            value, position = _DECODER.raw_decode(answer, match.start())
            found.append((position - match.start(), _sound(value)))
        except (ValueError, RecursionError):
            damaged = answer[match.start() :]  # the rest may be part of it
            break
    return sorted(found, key=itemgetter(0), reverse=True), damaged


def _is_inside(text: str, mark: int) -> bool:
    """Return whether an offset is inside the text's first object or list."""
    first = _BEGINNING.search(text, 0, mark)
    if first is None:
        return False
    try:
        return _DECODER.raw_decode(text, first.start())[1] > mark
    except (ValueError, RecursionError):
        return False


def _repaired(damaged: str) -> Json:
    """Return what can be parsed of a damaged object or list, with what follows it."""
    block = _with_ascii_marks(damaged.rstrip().removesuffix("```").rstrip())
    if _is_cut(block):
        raise ModelOutputError("the answer ends in the middle of its JSON", kind="truncated")
    block = block[: max(block.rfind("}"), block.rfind("]")) + 1]
    if len(block) > _MOST_REPAIRED:
        raise ModelOutputError(f"{len(block)} characters of damaged JSON", kind="malformed")
    import json_repair

    value: Json = None
    with suppress(Exception):  # any error means a bad answer
        value = _sound(json_repair.loads(block, skip_json_loads=True))  # type: ignore[arg-type]
    if not value or not isinstance(value, dict | list):
        raise ModelOutputError("the answer's JSON is beyond repair", kind="malformed")
    return value


def _with_ascii_marks(block: str) -> str:
    """Replace Chinese punctuation that `json_repair` does not know."""
    block = _CURLY_KEY.sub(r'"\1":', block)
    return _KEY_COLON.sub(r"\1:", _CURLY_VALUE.sub(r'\1"\2"', block))


def _is_cut(block: str) -> bool:
    """Return whether a block ends in the middle, more than its last brackets missing."""
    _, closing, inside = _brackets(block)
    if block.endswith(("}", "]")):
        return inside and not _CLOSED.search(block)
    return inside or bool(closing)


def _sound(value: Json, depth: int = 0) -> Json:
    """Replace lone surrogates, NaN and infinity; ValueError if it is nested too deeply."""
    if depth > _DEEPEST:
        raise ValueError(f"nested deeper than {_DEEPEST}")
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [_sound(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {_HALF.sub("\ufffd", key): _sound(v, depth + 1) for key, v in value.items()}
    return value


_TIMES = 8  # repetitions in a row, more than in a list or for emphasis
_LONGEST_UNIT = 200  # characters of the repeated end
_LEAST = 80  # characters in all: a rule of dashes is shorter
_ITEM_END = re.compile(r"[\n。；;!?！？{}\[\]]")
_NUMBER = re.compile(r'"\w+":\s*[-+.\d]+,?')  # in a list of scores, a line each
_SHORTEST_ITEM = 8  # characters; shorter ones, e.g. scores, may be equal
_ITEMS = 5  # longest repeated sequence of items


def repeats(text: str) -> bool:
    """Return whether a text repeats itself.

    It ends in a unit of up to 200 characters repeated eight times or more, or contains the same
    sequence of up to five items (lines, sentences or list elements of eight characters or more)
    eight times in a row.

    >>> repeats("一是节能。" + "二是降碳，" * 40), repeats("一是节能。二是降碳。")
    (True, False)
    """
    return _ends_in_a_loop(text) or _has_equal_items(text)


def _ends_in_a_loop(text: str) -> bool:
    for unit in range(1, min(_LONGEST_UNIT, len(text) // _TIMES) + 1):
        tail = text[-max(unit * _TIMES, _LEAST) :]
        if len(tail) >= _LEAST and tail[unit:] == tail[:-unit]:
            return True
    return False


def _has_equal_items(text: str) -> bool:
    items = [item.strip() for item in _ITEM_END.split(text)]
    items = [i for i in items if len(i) >= _SHORTEST_ITEM and not _NUMBER.fullmatch(i)]
    for together in range(1, _ITEMS + 1):
        run = 0
        for item, earlier in zip(items[together:], items, strict=False):
            run = run + 1 if item == earlier else 0
            if run >= together * (_TIMES - 1):
                return True
    return False


_LONGEST_REFUSAL = 200  # characters; longer answers are none
_ALWAYS = re.compile(
    r"作为(?:一个|一名|一款)?(?:(?:AI|人工智能)(?:语言)?(?:模型|助手|助理)|大?语言模型)"
    r"|换个话题|检测到.{0,20}(?:不安全|敏感)"
    r"|\bas an AI\b|\bas a (?:large )?language model\b",
    re.IGNORECASE,
)
_DECLINED = re.compile(
    r"我(?:暂时|目前|现在)?(?:无法|不能|没有办法|没办法|不便|拒绝)(?:为您|为你|直接|继续|对此)?"
    r"(?:回答|提供|协助|帮助|帮您|帮你|满足|完成|处理|继续|讨论|生成|参与|执行|响应)"
    r"|(?:这个|该|此|您的|你的)(?:问题|请求|内容|话题)我?(?:暂时)?(?:无法|不能|不便)"
    r"(?:回答|处理|讨论|提供)"
    r"|\bI(?:'m| am)? ?(?:cannot|can't|can not|won't|will not|unable to|not able to|not allowed to)"
    r" (?:\w+ )?(?:help|assist|answer|provide|comply|continue|fulfil|process|complete|do|generate"
    r"|create|discuss|engage)",
    re.IGNORECASE,
)
# Stating that the documents contain no answer is an answer.
_ABOUT_DOCUMENTS = re.compile(
    r"文档|文件|资料|材料|上下文|文中|原文|段落|未提及|没有提到"
    r"|\b(?:documents?|passages?|context|sources?|texts?|materials?)\b",
    re.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    """Return whether a short answer declines the task.

    That the documents contain nothing about a question is an answer, not a refusal.

    >>> is_refusal("抱歉，我无法回答这个问题。"), is_refusal("抱歉，文档中没有相关内容。")
    (True, False)
    """
    text = text.strip().replace("’", "'")
    if not 0 < len(text) <= _LONGEST_REFUSAL:
        return False
    if _ALWAYS.search(text):
        return True
    return bool(_DECLINED.search(text)) and not _ABOUT_DOCUMENTS.search(text)


_LONGEST_QUESTION = 300  # characters: real questions have up to 90, and rewritten ones grow
_LABEL = re.compile(r"^(?:改写|补充)?后?的?问题[:：]\s*|^(?:\w+ )?question:\s*", re.IGNORECASE)
# Quotation marks around all of it, not just “双碳” at its start.
_QUOTED = re.compile(r"[\"'“‘「`*]+([^\"'“”‘’「」`*]+)[\"'”’」`*]+")


def one_question(text: str) -> str:
    r"""Return a question on one line, without a label or quotation marks.

    Raises:
        ValueError: If it has no word, has several lines, or is too long for a question.

    >>> one_question("改写后的问题：“氢能的目标是什么？”\n")
    '氢能的目标是什么？'
    """
    question = _LABEL.sub("", text.strip()).strip()
    quoted = _QUOTED.fullmatch(question)
    question = quoted.group(1).strip() if quoted else question
    if not re.search(r"\w", question):
        raise ValueError("a question is wanted, got no word")
    if len(question.splitlines()) > 1:
        raise ValueError("one question on one line is wanted, got several lines")
    if len(question) > _LONGEST_QUESTION:
        raise ValueError(f"at most {_LONGEST_QUESTION} characters are wanted, got {len(question)}")
    return question


_BEGIN, _END = "<think>", "</think>"


@dataclass(slots=True)
class Reader:
    """Passes pieces of an answer on, and keeps what was shown."""

    on_text: OnText | None
    shown: str = ""

    def __call__(self, piece: str) -> None:
        """Pass a piece on."""
        self.shown += piece
        if self.on_text is not None:
            self.on_text(piece)


class ThoughtFilter:
    """Removes thoughts from a streamed answer.

    A thought is `<think>...</think>` at the very start of an answer, as written by reasoning models
    where the endpoint does not separate it. One that never ends leaves an empty answer.
    """

    def __init__(self) -> None:
        self._held: str | None = ""  # text before the answer; None once it has started

    def feed(self, piece: str) -> str:
        """Return the displayable part of the answer after another piece; may be empty."""
        if self._held is None:
            return piece
        self._held += piece
        start = self._held.lstrip()
        if not start.startswith(_BEGIN):
            if _BEGIN.startswith(start):
                return ""
            return self.end()
        thought, found, rest = start.removeprefix(_BEGIN).partition(_END)
        if not found:
            self._held = _BEGIN + thought[-len(_END) :]  # the tag may be split
        elif answer := rest.lstrip():
            self._held = None
            return answer
        return ""

    def end(self) -> str:
        """Return the text held back at the end."""
        held, self._held = self._held or "", None
        return "" if held.lstrip().startswith(_BEGIN) else held


def without_thoughts(text: str) -> str:
    """Return an answer without the thought at its start.

    >>> without_thoughts("<think>是不是？</think> 是。")
    '是。'
    """
    thoughts = ThoughtFilter()
    return thoughts.feed(text) + thoughts.end()
