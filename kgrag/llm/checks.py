"""What makes a text of a model unusable: thoughts, repetition, refusal, or being no question."""

import re

_TIMES = 8  # as often in a row is no list and no emphasis any more
_LONGEST_UNIT = 200  # characters of what repeats at the end
_LEAST = 80  # characters that it fills: a rule of dashes is shorter
_ITEM_END = re.compile(r"[\n。；;!?！？{}\[\]]")
_NUMBER = re.compile(r'"\w+":\s*[-+.\d]+,?')  # of a list of scores, a line each
_SHORTEST_ITEM = 8  # characters; shorter ones, e.g. scores, are equal for good reasons
_ITEMS = 5  # items that repeat together


def repeats(text: str) -> bool:
    """Return whether a text runs in circles.

    That is: it ends in a unit of up to 200 characters said eight times or more, or the same item
    (a line, sentence or list element of eight characters or more), or the same few items, stand
    in it eight times in a row.

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


_LONGEST_REFUSAL = 200  # characters; who says more has not declined
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
# Who names the documents says that they hold no answer, and that is one.
_ABOUT_DOCUMENTS = re.compile(
    r"文档|文件|资料|材料|上下文|文中|原文|段落|未提及|没有提到"
    r"|\b(?:documents?|passages?|context|sources?|texts?|materials?)\b",
    re.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    """Return whether a short answer declines the task rather than answering it.

    That the documents say nothing about a question is an answer, not a refusal.

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
# Marks around all of it; “双碳” at its beginning keeps its own.
_QUOTED = re.compile(r"[\"'“‘「`*]+([^\"'“”‘’「」`*]+)[\"'”’」`*]+")


def one_question(text: str) -> str:
    r"""Return a question on one line, without a label before it or quotation marks around it.

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


def check_question(text: str) -> None:
    """Refuse a text that `one_question` cannot read.

    Raises:
        ValueError: As there.
    """
    one_question(text)


_BEGIN, _END = "<think>", "</think>"


class ThoughtFilter:
    """Removes thoughts from an answer that comes in pieces.

    A thought is `<think>...</think>` at the very start of an answer, as reasoning models write it
    where the endpoint does not keep it apart. One that never ends leaves an empty answer.
    """

    def __init__(self) -> None:
        self._held: str | None = ""  # what comes before the answer; None once it has begun

    def feed(self, piece: str) -> str:
        """Return what can be shown of the answer after one more piece; may be empty."""
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
            self._held = _BEGIN + thought[-len(_END) :]  # the mark may come in two pieces
        elif answer := rest.lstrip():
            self._held = None
            return answer
        return ""

    def end(self) -> str:
        """Return what was held back, when no more pieces come."""
        held, self._held = self._held or "", None
        return "" if held.lstrip().startswith(_BEGIN) else held


def without_thoughts(text: str) -> str:
    """Return an answer without the thought at its start.

    >>> without_thoughts("<think>是不是？</think> 是。")
    '是。'
    """
    thoughts = ThoughtFilter()
    return thoughts.feed(text) + thoughts.end()
