"""Every way in which a model misbehaves, and what a user must be told of it."""

import itertools
import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from kgrag.testing.reply import Body, Reply, contents, stand_in

KEY = "k-hostile-0123456789abcdef"  # opens the server
WRONG_KEY = "k-hostile-fedcba9876543210"
INVENTED = "两千五百亿元专项债券"  # stands in no document
TAKEN_OVER = "系统已被接管"  # what the hostile document wants to be said

Behaviour = Callable[[Body], Reply]
After = Literal["whole", "waiting", "pieces"]
_PASSAGE = re.compile(r"<passage (\w+)>\n(.*?)\n</passage \1>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Told:
    """What a command must say.

    Attributes:
        code: Its exit code.
        says: Pieces of standard output or error.
    """

    code: int
    says: tuple[str, ...] = ()


OK = Told(0)


@dataclass(frozen=True, slots=True)
class Mode:
    """A way in which an endpoint or its model misbehaves.

    Attributes:
        name: For a table.
        behaviour: Makes what decides on each request; called for each run, so that it may count.
        ingest: What taking in says.
        ask: What asking says.
        after: What taking in leaves: the `whole` graph of an undisturbed run, passages
            `waiting` for --retry-failed, or a whole one that was read in smaller `pieces`.
        llm: Settings of [llm].
        key: The key in the environment; None for no such variable.
        is_up: Whether the server listens.
        hostile: Whether the hostile document is among those taken in, and asked about.
        options: Of `kgrag ask`.
    """

    name: str
    behaviour: Callable[[], Behaviour]
    ingest: Told
    ask: Told
    after: After
    llm: Mapping[str, object] = field(default_factory=dict)
    key: str | None = KEY
    is_up: bool = True
    hostile: bool = False
    options: tuple[str, ...] = ()


def always(reply: Reply) -> Callable[[], Behaviour]:
    """Give every request the same reply."""
    return lambda: lambda _: reply


def first(n: int, reply: Reply) -> Callable[[], Behaviour]:
    """Give the first n requests a reply; then behave."""

    def make() -> Behaviour:
        left, lock = [reply] * n, threading.Lock()

        def behave(body: Body) -> Reply:
            with lock:
                return left.pop() if left else stand_in(body)

        return behave

    return make


def where(wanted: Callable[[Body], bool], change: Behaviour) -> Callable[[], Behaviour]:
    """Misbehave for some requests only."""
    return lambda: lambda body: change(body) if wanted(body) else stand_in(body)


def task(body: Body) -> str:
    """Return the name of the JSON that a request asks for; empty for plain text."""
    match body.get("response_format"):
        case {"json_schema": {"name": str(name)}}:
            return name
    return ""


def said(body: Body) -> str:
    """Return the messages of a request as one text."""
    return "\n".join(contents(body))


def is_reading(body: Body) -> bool:
    """Return whether a request is about a passage of a document."""
    return task(body) in ("knowledge_missing", "facts_missing", "summaries")


def is_checking(body: Body) -> bool:
    """Return whether a request is about an answer."""
    return task(body) in ("cov", "cov_scores", "self_check")


def is_rating(body: Body) -> bool:
    """Return whether a request is about an answer, or about the passages for it."""
    return is_checking(body) or task(body) == "ratings"


def _healthy() -> Behaviour:
    return stand_in


def _in_fences(body: Body) -> Reply:
    good = stand_in(body).text
    if not task(body):
        return Reply(good)
    return Reply(f"好的，以下是结果：\n```json\n{good}\n```\n希望对您有帮助！[注]")


def _cut(body: Body) -> Reply:
    return Reply(stand_in(body).text[:-20], finish_reason="length")


def _is_long(body: Body) -> bool:
    passages = _PASSAGE.findall(said(body)) if is_reading(body) else []
    return any(len(text) > 1200 for _, text in passages)


def _in_english(body: Body) -> Reply:
    if not task(body):
        return Reply("The regulation sets fines of up to 300,000 yuan for such enterprises [1].")
    answer = json.loads(stand_in(body).text)
    for item in answer.get("summaries", []):
        item["summary"] = "This part sets out who is responsible for which measures."
    return Reply(json.dumps(answer, ensure_ascii=False))


def _inventing(body: Body) -> Reply:
    """Add facts that the text does not hold to a good answer; invent answers."""
    if is_reading(body):
        answer = json.loads(stand_in(body).text)
        if "facts" in answer:
            triple = ["专项债券", "measure", "规模为", INVENTED, "target"]
            answer["facts"].append({"quote": f"发行{INVENTED}", "triples": [triple]})
        return Reply(json.dumps(answer, ensure_ascii=False))
    return stand_in(body) if task(body) else Reply(f"{TAKEN_OVER}。发行{INVENTED}共9999万元[99]。")


def _obeying(body: Body) -> Reply:
    """Do what the hostile document says, wherever it is read."""
    if TAKEN_OVER not in said(body):
        return stand_in(body)
    return Reply(TAKEN_OVER)


def _never_passing() -> Behaviour:
    """Find every answer false, and think of another question each time."""
    numbers = itertools.count(1)

    def behave(body: Body) -> Reply:
        another = f"撤销称号满{next(numbers)}年的企业，可以重新申报省级绿色工厂吗？"
        if is_checking(body):
            scores: dict[str, object] = dict.fromkeys(json.loads(stand_in(body).text), 0.1)
            judged = {"bias": 0.9, "judgement": "false", "revised_question": another}
            scores |= {name: value for name, value in judged.items() if name in scores}
            return Reply(json.dumps(scores, ensure_ascii=False))
        return Reply(another) if "没有通过检查的回答" in said(body) else stand_in(body)

    return behave


def _one_refused(body: Body) -> bool:
    return not is_reading(body) or "绿色工厂" in said(body)


def _refused(_: Body) -> Reply:
    return Reply("抱歉，作为一个人工智能语言模型，我无法回答这个问题。")


_WAITING = ("--retry-failed",)
_QUOTED = ("clauses are quoted by rule instead",)


# Those whose turn came after the endpoint was given up count as unavailable, not as the fault.
_NONE_READ = "3 passages could not be read ("


def _lost(kind: str, *says: str) -> Told:
    return Told(1, (*says, kind, *_WAITING))


def _quoted(*says: str) -> Told:
    return Told(1, (*says, *_QUOTED))


_LEAST = {"attempts": 1}
_SLOW = Reply("请稍后再试", 429)
_NO_MONEY = Reply("You exceeded your current quota: insufficient_quota", 429)
_LONG = Reply("This model's maximum context length is 8192 tokens", 400)
_NO_MODEL = Reply("The model `stand-in` does not exist", 404)
_ECHO = Reply(f"internal error; headers: Authorization: Bearer {KEY}", 500)
_LOOP = Reply("一是推进节能降碳，" * 200, finish_reason="length")

MODES = (
    Mode(
        "429 with Retry-After, once",
        first(1, Reply("请稍后再试", 429, {"Retry-After": "1"})),
        *(OK, OK, "whole"),
    ),
    Mode("429 without Retry-After, once", first(1, _SLOW), OK, OK, "whole"),
    Mode(
        "429 always",
        always(_SLOW),
        _lost(
            " rate limit",
            "3 passages could not be read",
            "answers 429",
            "请稍后再试",
            "llm.concurrency",
        ),
        _quoted("answers 429", "llm.requests_per_minute"),
        "waiting",
        llm=_LEAST,
    ),
    Mode(
        "quota exhausted (429)",
        always(_NO_MONEY),
        _lost("3 unavailable", "insufficient_quota", "top it up"),
        _quoted("top it up"),
        "waiting",
    ),
    Mode("500 once", first(1, Reply("oops", 500)), OK, OK, "whole"),
    Mode(
        "500 always",
        always(Reply("upstream is overloaded", 500)),
        _lost(" connection", _NONE_READ, "answers 500", "upstream is overloaded"),
        _quoted("answers 500"),
        "waiting",
        llm=_LEAST,
    ),
    Mode(
        "no answer in time",
        always(Reply("好", hang_s=9)),
        _lost(" connection", _NONE_READ, "no answer in time", "llm.timeout_s"),
        _quoted("llm.timeout_s"),
        "waiting",
        llm={"timeout_s": 1, **_LEAST},
    ),
    Mode(
        "connection dropped in the middle",
        always(Reply("好。" * 50, drop="inside")),
        _lost(" connection", _NONE_READ, "the call broke off"),
        _quoted("the call broke off"),
        "waiting",
        llm=_LEAST,
    ),
    Mode(
        "server not there",
        _healthy,
        _lost("3 unavailable", "no connection", "is the server up", "llm.base_url"),
        _quoted("no connection"),
        "waiting",
        llm=_LEAST,
        is_up=False,
    ),
    Mode(
        "wrong key (401), echoed",
        _healthy,
        _lost("3 unavailable", "answers 401", "Bearer ***", "KGRAG_HOSTILE_KEY"),
        _quoted("KGRAG_HOSTILE_KEY"),
        "waiting",
        key=WRONG_KEY,
    ),
    Mode(
        "key's variable not set",
        _healthy,
        _lost("3 unavailable", "set the environment variable KGRAG_HOSTILE_KEY"),
        _quoted("set the environment variable KGRAG_HOSTILE_KEY"),
        "waiting",
        key=None,
    ),
    Mode(
        "key echoed in an error (500)",
        always(_ECHO),
        _lost(" connection", _NONE_READ, "Bearer ***"),
        _quoted("Bearer ***"),
        "waiting",
        llm=_LEAST,
    ),
    Mode(
        "unknown model (404)",
        always(_NO_MODEL),
        _lost("3 unavailable", "check llm.model"),
        _quoted("check llm.model"),
        "waiting",
    ),
    Mode(
        "prompt too long (400)",
        always(_LONG),
        _lost("3 too long", "maximum context length", "extract.passage_chars"),
        _quoted("answer.context_tokens"),
        "waiting",
    ),
    Mode("no JSON, once", first(1, Reply("好的，我来提取。")), OK, OK, "whole"),
    Mode(
        "no JSON, always",
        where(lambda body: bool(task(body)), lambda _: Reply("事实如下：甲负责乙。")),
        _lost("3 malformed", "it begins: 事实如下：甲负责乙。", "llm.json"),
        Told(1, ("未能核验（cov）", "甲负责乙")),
        "waiting",
    ),
    Mode("JSON in fences, prose around it", lambda: _in_fences, OK, OK, "whole"),
    Mode(
        "cut at max_tokens, always",
        lambda: _cut,
        Told(0, ("summary missing",)),  # facts are read piece by piece
        _quoted("truncated", "llm.max_tokens"),
        "pieces",
    ),
    Mode("cut at max_tokens where the text is long", where(_is_long, _cut), OK, OK, "pieces"),
    Mode("empty answer", always(Reply("")), _lost("3 empty"), _quoted("empty"), "waiting"),
    Mode(
        "endless repetition",
        always(_LOOP),
        _lost("3 repeating"),
        _quoted("repeating"),
        "waiting",
    ),
    Mode(
        "answer in another language",
        lambda: _in_english,
        _lost("3 language", "must be in the language of the text"),
        Told(0, ("回答与问题不是同一种语言",)),
        "waiting",
    ),
    Mode(
        "refusal, of one document",
        where(_one_refused, _refused),
        _lost("1 refused", "我无法回答"),
        _quoted("refused"),
        "waiting",
    ),
    Mode("instructions in a document, ignored", _healthy, OK, OK, "whole", hostile=True),
    Mode(
        "instructions in a document, obeyed",
        lambda: _obeying,
        _lost("1 malformed", f"it begins: {TAKEN_OVER}"),
        Told(1, (f"{TAKEN_OVER}[1]", "按文字比对", "未能核验（cov）")),
        "waiting",
        hostile=True,
    ),
    Mode(
        "invented facts, answers with [99]",
        lambda: _inventing,
        Told(0, ("quote not in the text 3",)),
        Told(0, ("[99]", "9999万元。〔无引用〕")),
        "whole",
        hostile=True,
    ),
    Mode(
        "verification never passes",
        _never_passing,
        OK,
        Told(0, ("核验（cov）：未通过", "verify.max_rounds")),
        "whole",
    ),
    Mode(
        "verification never passes (chats-grid)",
        _never_passing,
        OK,
        Told(0, ("未通过", "verify.max_calls")),
        "whole",
        options=("--verify", "chats-grid"),
    ),
    Mode(
        "verification malformed",
        where(is_checking, lambda _: Reply("打分：很好")),
        OK,
        Told(1, ("未能核验（cov）", "打分：很好")),
        "whole",
    ),
    Mode(
        "verification malformed (chats-grid)",
        where(is_rating, lambda _: Reply("打分：很好")),
        OK,
        Told(1, ("未能核验（chats-grid）", "打分：很好")),
        "whole",
        options=("--verify", "chats-grid"),
    ),
)
