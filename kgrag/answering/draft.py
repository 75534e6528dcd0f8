"""A model's draft, before its citations are resolved."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kgrag.results import Context
from kgrag.text.answer_text import MARK, marks

_WORD = r"(?:文段|段落|资料|文档|来源|passages?|sources?)"
_NUMBERS = (
    r"(?:\[\d{1,3}\]|\d{1,3})(?:\s*+(?:[,，、和与及]|and)?\s*+(?:\[\d{1,3}\]|\d{1,3}(?![\d.%])))*"
)
# At the beginning of a sentence: 根据文段[2]，; 文段[2]指出，; According to passage [2],
_SPEAKS_OF_PASSAGE = re.compile(
    r"(?P<before>^[ \t>]*(?:(?:[-*+•·]|\d{1,2}[.、])[ \t]++)?|(?<=[。！？；;])\s*+|(?<=[.!?]\s))"
    r"(?:"
    rf"(?:根据|依据|按照|依照|据|如|正如|从)\s*+{_WORD}?\s*+(?P<a>{_NUMBERS})\s*+"
    r"(?:中?(?:的?(?:规定|内容|说明|信息|表述|描述|记载)|所述|所示|所说|可知|可以看出|来看)?)\s*+[，,：:]"
    rf"|{_WORD}\s*+(?P<b>{_NUMBERS})\s*+中?"
    r"(?:明确)?(?:指出|提到|提及|说明|显示|规定|表明|写明|写道|列出)(?:了)?\s*+[，,：:]?"
    rf"|(?:according to|based on|as stated in)\s+{_WORD}\s*+(?P<c>{_NUMBERS})\s*+,\s*+"
    rf"|{_WORD}\s*+(?P<d>{_NUMBERS})\s+(?:states?|says?|notes?|shows?|mentions?)(?:\s+that)?,?\s+"
    r")",
    re.MULTILINE | re.IGNORECASE,
)
_MATERIAL = r"(?:文段|段落|资料|材料|文件|文档|内容|信息|问题|规定|passages?|documents?|question)"
# 好的， before the answer; 根据您提供的文段，回答如下： as its first line.
_GREETING = re.compile(
    r"\s*(?:(?:好的|当然(?:可以)?|没问题|收到|您好|你好|sure|certainly|of course|okay|ok)"
    r"(?:[，,。！!~～]+\s*|[：:]\s*\n\s*)"
    rf"|(?:以下|下面)(?:内容)?(?:是|为)[^，。：:\n\d\[]{{0,20}}(?:回答|解答|答复|整理|总结|梳理|归纳)[：:。]\s*"
    rf"|(?:我(?:来|将)?)?(?:根据|依据|按照|基于|结合|针对)(?:您|你|所|以上|上述|提供|给出?|的|相关|这些|参考)*{_MATERIAL}"
    r"[，,]?(?:我|现|对|将|为|您|你|的|这个|该|问题|相关|内容|，)*(?:回答|解答|答复|整理|总结|梳理|归纳)(?:整理|总结)?"
    r"(?:如下|于下)?[：:。]\s*"
    r"|here (?:is|are) (?:the|a|my) (?:answer|summary)[^.:\n\[]{0,40}[:.]\s*)+",
    re.IGNORECASE,
)
# A sentence to the reader behind the answer.
_GOODBYE = re.compile(
    r"(?:(?<=[。！？!?.;；\]])\s*+|(?<=\n)[^\S\n]*+)(?:"
    r"(?:希望|但愿|愿)(?:以上|上述|这些|这|我|本|的|回答|解答|整理|内容|信息|总结|分析|梳理|归纳|答复)*"
    r"(?:能够?|可以|会)?(?:对|给|为|帮)?[您你大家]*(?:有?所?帮助|有用|帮到[您你]|参考)[^。！!\n\[\d]{0,12}"
    r"|(?:如果?|若)[您你]?(?:还|需要?|对|想|有)[^。！!\n\[]{0,30}"
    r"(?:告诉我|告知|提问|随时|欢迎|联系|继续问|进一步说明)[^。！!\n\[]{0,16}"
    r"|(?:欢迎|请)(?:随时|继续)(?:提问|追问|联系|咨询|告诉我)[^。！!\n\[]{0,12}"
    r"|祝[您你][^。！!\n\[]{0,12}"
    r"|i hope (?:this|that|it|the above)[^.!\n\[]{0,40}|(?:please )?let me know if[^.!\n\[]{0,60}"
    r"|if you (?:have|need)[^.!\n\[]{0,60}"
    r")(?:[。！!.~～😊]++|$)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[。！？；]|[.!?;](?=\s|$)|\n|$")
_CITED = re.compile(r"\[\d{1,3}\]")
_DIGITS = re.compile(r"\d+")
_BOLD_LINE = re.compile(r"^([ \t]*)(\*\*|__)(?=\S)([^\n]+?)\2[ \t]*$", re.MULTILINE)
_BOLD = re.compile(r"(?<!\*)\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*(?!\*)")
_ENDS = re.compile(r"[。！？；：:.!?;\]]$")


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer as a model wrote it.

    Attributes:
        text: With [n] of the context's passages, in any notation.
        model: Name of the model.
        analysis: Its reasoning, if the template asks for that.
        notes: Notes for the reader.
    """

    text: str
    model: str
    analysis: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mend:
    """What a further answer from the same context must fix.

    Attributes:
        answer: The last one, with [n] of the context's passages.
        problem: What is wrong with it, in words.
    """

    answer: str
    problem: str


def without_courtesies(text: str) -> str:
    """Remove words to the reader before and after the answer.

    >>> without_courtesies("好的，根据文段[1]，目标是500家。希望以上整理对您有帮助！")
    '根据文段[1]，目标是500家。'
    >>> without_courtesies("好的做法有三项[1]。")
    '好的做法有三项[1]。'
    """
    greeting = _GREETING.match(text)
    bare = (text[greeting.end() :] if greeting else text).rstrip()
    end = len(bare)
    for goodbye in reversed(list(_GOODBYE.finditer(bare))):
        if goodbye.end() != end:
            break
        end = goodbye.start()
    return bare[:end].rstrip() or text


def without_talk_of_passages(text: str, known: Collection[int]) -> str:
    r"""Remove 根据文段[2]， before a sentence, and put its [2] after it.

    The [2] is added only if the sentence has no [n]. 根据国发〔2021〕4号 is kept.

    Args:
        text: Of a draft; citations as [n].
        known: Numbers of passages; others are ignored.

    >>> without_talk_of_passages("根据文段[2]，目标是500家。文段1指出，资金3000万元[1]。", {1, 2})
    '目标是500家[2]。资金3000万元[1]。'
    >>> without_talk_of_passages("Passage [2] states that 500 plants are planned.", {2})
    '500 plants are planned[2].'
    """
    parts, reach = [], 0
    for match in _SPEAKS_OF_PASSAGE.finditer(text):
        if match.start() < reach:
            continue
        said = next(filter(None, match.group("a", "b", "c", "d")))
        numbers = list(dict.fromkeys(int(digits) for digits in _DIGITS.findall(said)))
        end = _SENTENCE_END.search(text, match.end())
        rest = text[match.end() : end.start() if end else len(text)]
        named = "文段" in match.group() or _CITED.search(said) or not match.group("a")
        if not named or not set(numbers) <= set(known) or not rest.strip():
            continue
        behind = "" if _CITED.search(rest) else "".join(f"[{n}]" for n in numbers)
        parts += [text[reach : match.start()], match.group("before"), rest, behind]
        reach = match.end() + len(rest)
    return "".join([*parts, text[reach:]])


def without_bold(text: str) -> str:
    r"""Remove ** around words; a bold line by itself becomes a lead-in.

    >>> without_bold("**目标**\n- **甲市**：500家[1]")
    '目标：\n- 甲市：500家[1]'
    """
    return _BOLD.sub(r"\1", _BOLD_LINE.sub(_led_in, text))


def _led_in(match: re.Match[str]) -> str:
    indent, mark, said = match.groups()
    if mark in said:  # **甲**和**乙**
        return match.group()
    if _ENDS.search(said):
        return f"{indent}{said}"
    return f"{indent}{said}{':' if said.isascii() else '：'}"


_RANGE = re.compile(r"(?<!\d)(\d++)\D{0,12}?[\-–—~～至]\D{0,12}?(\d+)")

_LINK = re.compile(r"(?<=\])\((?:https?:|#)[^)\s]{0,500}\)")
_BROKEN_DECIMAL = re.compile(r"(?<![\d.])0\.[ \t]{1,2}(?=\d)")  # 0. 75, copied from a scan
REPEATED = re.compile(r"(\[\d+\])(?:\s*\1)+")
_ONE = r"(?:passages?|sources?|文段|段落|文档|资料|来源)\s*+[:：#]?\s*+\d{1,3}"
# （来源：passage 1）, (passages 1, 2), （见文段3）
_IN_WORDS = re.compile(
    r"[（(]\s*+(?:(?:资料|信息|内容)?(?:来源|出处|依据|参见|引自|source|see|见)\s*+[:：]?\s*+)?"
    rf"(?P<list>{_ONE}(?:\s*+(?:[,，、;；和及]|and)\s*+(?:{_ONE}|\d{{1,3}}))*)\s*+[)）]",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"[（(]\s*+(?:资料|信息|内容)?(?:来源|出处|依据|参见|引自|source|see|见)\s*+[:：]?\s*+((?:\[\d+\])+)\s*+[)）]",
    re.IGNORECASE,
)
# 参考文献 or References, then nothing but lines that begin with [n] until the end.
_REFERENCE_LIST = re.compile(
    r"(?:^|\n)[ \t>#*_\-—]*(?:参考(?:文献|资料|来源)|资料来源|引用(?:来源|文献)?|文献|来源|出处"
    r"|references?|sources?|citations?|bibliography)[ \t]*+[*_]*+[:：]?[*_]*+[ \t]*+"
    rf"(?:\n\s*+(?:[-*•][ \t]++)?(?:{MARK.pattern})[^\n]*+)++\s*+$",
    re.IGNORECASE,
)


def cited_passages(text: str, context: Context) -> set[int]:
    """Return the numbers of the passages that a draft cites, in any notation."""
    known = {p.number for p in context.passages}
    return {number for _, _, number in marks(normalise(text, known)[0])}


def normalise(text: str, known: Iterable[int]) -> tuple[str, list[int]]:
    """Return (text, numbers removed): every citation as [n], unknown ones removed.

    Courtesies and a list of references at the end are removed, too. 根据文段[2]， before a
    sentence becomes [2] after it.

    >>> normalise("甲【1】。乙[1-3]，丙[^2]。丁[文档9]（来源：passage 1）", [1, 2, 3])
    ('甲[1]。乙[1][2][3]，丙[2]。丁[1]', [9])
    """
    held, astray = set(known), dict[int, None]()

    def plain(match: re.Match[str]) -> str:
        numbers = _numbers(match.group(), held)
        astray.update(dict.fromkeys(n for n in numbers if n not in held))
        return "".join(f"[{n}]" for n in numbers if n in held)

    text = _BROKEN_DECIMAL.sub("0.", text)
    text = _REFERENCE_LIST.sub("", _LINK.sub("", text).strip())
    text = _IN_WORDS.sub(lambda m: "".join(f"[{n}]" for n in _DIGITS.findall(m["list"])), text)
    text = _SOURCE.sub(r"\1", MARK.sub(plain, text))
    text = without_talk_of_passages(without_courtesies(text), held)
    return REPEATED.sub(r"\1", text).strip(), list(astray)


def _numbers(mark: str, held: set[int]) -> list[int]:
    """Return the numbers in a citation; of a range the known ones, and its ends."""
    numbers: dict[int, None] = {}
    bare = mark.split("†")[0]
    for match in _RANGE.finditer(bare):
        low, high = int(match.group(1)), int(match.group(2))
        numbers.update(dict.fromkeys(n for n in range(low, high + 1) if n in held))
    numbers.update(dict.fromkeys(int(d) for d in _DIGITS.findall(bare)))
    return sorted(numbers) if _RANGE.search(bare) else list(numbers)
