"""What a line of a conversation is: a question, or words to the one who answers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from kgrag.language.text import question_language
from kgrag.types import Language

Kind = Literal["question", "end", "new", "help", "thanks", "greeting", "original", "compare"]
_WORDED: Sequence[tuple[Kind, tuple[str, ...]]] = (
    ("end", ("/quit", "/exit", "/q", "quit", "exit", "退出", "结束", "再见", "bye")),
    ("new", ("/new", "重新开始", "新对话")),
    ("help", ("/help", "/?", "help", "帮助", "怎么用")),
)
_COMMANDS: Mapping[str, Kind] = MappingProxyType({w: kind for kind, ws in _WORDED for w in ws})
_POLITE = r"(?:[您你]|大家|的|了|啦|啊|呀|哦|非常|太|多|先)*"
_SEEN = "好的?|嗯|行|明白了?|知道了|了解了?|收到"
_THANKS = re.compile(
    rf"(?:{_SEEN})?[，, ]*(?:{_POLITE}(?:谢谢|感谢|多谢|谢了|辛苦){_POLITE})"
    r"(?:你|您|[，, ]*(?:帮助|再见|辛苦了?))*"
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
_THING = r"(?:城市|省市|省份|省|市|地方|地区|数字?|指标|目标|文件|方案|者|地)"
_COMPARE = re.compile(
    r"(?:那么?|请问)?[，, ]*"
    rf"(?:(?:上面|上述|以上|刚才|前面|这|那)?的?(?:[两二三几]|些)?(?:个|座|家|份)?{_THING}?|它们|他们)?"
    r"(?:里面?|中间?|之中|之间|相比|比较一?下?|比一比)?[，, ]*"
    rf"(?:(?:哪一?[个座家边]?{_THING}?|谁)的?(?:目标|要求|数字|比例|数)?(?:定得|要求)?(?:更|最|比较)?"
    r"(?P<zh>多|高|大|少|低|小)(?:一些|些|一点)?|(?:相差|差)(?:多少|多大|几个百分点))"
    r"|which (?:one|of (?:them|the two|these)|city|province|figure|target)?\s*"
    r"(?:is|has)?(?: the)?\s*(?P<en>higher|highest|more|most|larger|largest|bigger|greater"
    r"|lower|lowest|less|smaller|fewer)(?: (?:one|target|figure|share))?"
    r"|(?:what is the |how big is the )?difference(?: between (?:them|the two))?",
    re.IGNORECASE,
)
_ENDS = "。！!？?．.～~ \t、，,"
_HAN = {c: n for n, c in enumerate("一二三四五六七八九十", 1)}
_DOWN = frozenset(
    ("少", "低", "小", "lower", "lowest", "less", "smaller", "fewer")
)  # the least is asked for


@dataclass(frozen=True, slots=True)
class Said:
    """A line of a conversation.

    Attributes:
        kind: What it is.
        language: Of what is said in reply.
        number: Of the citation whose text is asked for; 0 for all.
        least: Whether the smaller one is asked for in a comparison.
    """

    kind: Kind
    language: Language
    number: int = 0
    least: bool = False


def said(line: str) -> Said:
    """Return what a line of a conversation is; what is not surely anything else is a question.

    >>> said("谢谢！").kind, said("给我[2]的原文").number, said("上面两个城市哪个多？").kind
    ('thanks', 2, 'compare')
    >>> said("谢谢这个词出现在哪个文件里？").kind
    'question'
    """
    language = question_language(line)
    bare = line.strip().rstrip(_ENDS)
    command = _COMMANDS.get(bare.lower()) or _COMMANDS.get(line.strip().lower())
    if command:
        return Said(command, language)
    if _THANKS.fullmatch(bare):
        return Said("thanks", language)
    if _GREETING.fullmatch(bare):
        return Said("greeting", language)
    original = _ORIGINAL.fullmatch(bare)
    if original:
        number = original["zh"] or original["en"] or "0"
        return Said("original", language, number=_HAN.get(number) or int(number))
    compared = _COMPARE.fullmatch(bare)
    if compared:
        asked = (compared["zh"] or compared["en"] or "").lower()
        return Said("compare", language, least=asked in _DOWN)
    return Said("question", language)
