"""Parse the text of an answer into statements with their citation marks [n]."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from kgrag.text.numerals import HAN_SMALL
from kgrag.text.quantities import broken_numbers
from kgrag.text.words import sentence_spans
from kgrag.types import Language

NOT_FOUND: Mapping[Language, str] = {
    "zh": "在这些文件中未找到答案。",
    "en": "Not found in these documents.",
}

Form = Literal["claim", "lead-in", "heading", "denial", "closing"]

# Every form in which models write [n]: [1, 2], [1-3], 【1】, [^1], [文档1], 【1†来源】.
# 国发[2021]4号 and 政办发[21]号 are not citations.
_NAMES = (
    r"(?:第|文档|文件|文段|资料|段落|来源|引文|引用|参考|documents?|docs?|passages?|sources?|refs?)"
)
_NUMBER = rf"(?:{_NAMES}\s*+[:：#]?\s*+)?[\^＾]?\d{{1,3}}\s*+段?"
MARK = re.compile(
    rf"[\[［【]\s*+{_NUMBER}(?:\s*+[,，、;；\-–—~～至]\s*+{_NUMBER})*+\s*+(?:†[^\]］】\n]{{0,40}})?[\]］】]"
    r"(?!\s*+\d*+\s*+号)",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"\[(\d{1,3})\](?!\s*+\d*+\s*+号)")
# What opens a line and says nothing: #, -, 1., （一）, ①, >.
_OPENING = re.compile(
    r"^[ \t>]*+(?:(?:#{1,6}[ \t]++|[-*+•·][ \t]++|\d{1,2}[.．、)）](?!\d)"
    rf"|[（(][{HAN_SMALL}\d]{{1,3}}[）)]|[{HAN_SMALL}]{{1,3}}、|[①-⑳])[ \t]*+)++",
    re.MULTILINE,
)
# A line that leads to those below it, without a colon: 主要措施有以下三项。
_LEADING = re.compile(r"(?:如下|(?:以下|下列)[^，。；：\d]{0,10})[。.]?$")
_RULE = re.compile(r"(?=[\s|:\-]*?-{3})[\s|:\-]*+")  # of a Markdown table
# What speaks: the documents. What a provision says of others (未规定的, 无法确定者) is no denial.
_TOLD = (
    "(?:找到|查到|提及|提到|说明|规定|涉及|给出|提供|包含|记载|列出|列明|明确|载明|单列"
    "|交代|述及|信息|内容|答案|回答|见)"
)
_SILENT = (
    "(?:均|都|也|并|尚)?(?:未|没有|并无|无|没)"
    f"(?:能|予|予以|作|作出|单独|明确|直接|具体|任何|相关)*{_TOLD}"
)
_OF_OTHERS = r"(?![^。]{0,30}(?:的[，,]|的(?:情形|事项|部分|不)|者|应当|但|不过))"
_OF_DOCUMENTS = re.compile(
    r"(?:文件|资料|材料|段落|文段|文档|上下文|原文|文中|文内|文本|引文|信息)"
    rf"(?:[^，,。；;：]{{0,30}}|[，,]\s*){_SILENT}{_OF_OTHERS}"
    r"|\b(?:documents?|passages?|context|texts?|sources?|materials?|information)\b.{0,20}"
    r"\b(?:do|does|did)(?: not|n't) (?:\w+ly )?(?:say|mention|contain|provide|specif|stat|includ"
    r"|tell|give|cover|answer|indicat|address|discuss|list|describ|set out)"
    r"(?!.*\b(?:but|however)\b)"
    r"|\b(?:no|none of the|neither) (?:\w+ )?(?:documents?|passages?|texts?|sources?)\b.{0,10}"
    r"\b(?:say|mention|contain|provid|specif|stat|includ|tell|give|cover|answer|indicat)"
    r"|\bnot (?:found|mentioned|specified|stated|provided|given|covered|available|addressed"
    r"|listed)\b.{0,20}\b(?:documents?|passages?|context|texts?|sources?|materials?)\b"
    r"(?!.*\b(?:but|however)\b)",
    re.IGNORECASE,
)
_AT_ALL = re.compile(  # without a word for the documents: only where nothing is cited
    rf"(?:未|没有|不能|无法)(?:能|从|在)?[^，,。]{{0,20}}(?:找到|查到|得知|确定|回答){_OF_OTHERS}"
    rf"|(?:^|[，,：:；;])\s*(?:《[^》]*》|[^，,：:；;。《》]{{0,8}}?)"
    rf"(?:均|都|也|并|尚)?(?:未|没有)(?:予|予以|作|作出|单独|明确|直接|具体)*{_TOLD}"
    r"(?:(?!的(?:情形|事项|不))[^，,。；;者]){0,20}[。；;]?\s*$"
    r"|(?:没有|无|缺乏)相关(?:信息|内容|规定|资料)(?!.*但)|^不确定(?!性)"
    r"|\b(?:cannot|can't|unable to|can not) (?:be )?(?:answer|determin|find|found)"
    r"|\b(?:is|are|was|were) not (?:stated|mentioned|specified|given|provided|addressed)\b"
    r"|\bno (?:relevant )?(?:information|mention|answer)\b|^uncertain\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[^，,。；;：:（）()]+")
# Clauses beside a denial that tell nothing: what it is about, and what follows of it.
_FRAME = re.compile(
    r"\s*+(?:关于|对于|至于|针对|就|根据|依据|按照|从|除此|因此|所以|故|由此|目前|但|而|不过)?[^\w]*+"
    r"(?:(?:关于|对于|至于|针对|就|根据|依据|按照|从)[^，]*+|[^，]*(?:无法|不能|难以|没法)[^，]*+"
    r"|(?:请|建议|需要?|可)[^，]{0,6}(?:查阅|参阅|查询|参考|咨询|核实|补充)[^，]*+)?\s*+"
)
_TELLING = re.compile(r"\d|[\u3400-\u9fff]{4}|[A-Za-z]\W++[A-Za-z]++\W++[A-Za-z]")
# What begins a closing paragraph, which sums up what stands and is cited above.
_CLOSING = re.compile(
    r"\s*+\**+\s*+(?:综上|综合(?:来看|以上|上述)|总体(?:来看|而言|上)|总的(?:来看|来说)|总[之结]"
    r"|整体(?:来看|而言)|由此(?:可见|看来)|可见[，,]|简言之"
    r"|in (?:summary|short|sum|conclusion)\b|overall\b|to sum up\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an answer.

    Attributes:
        start: Offset in the answer's text, after bullets and list numbers.
        end: Offset after its last character, citation marks included.
        text: The characters between, with blanks in place of each [n].
        numbers: Its citations [n], in order, without duplicates.
        rests_on: Those, or without any, those of the next cited sentence of its block; a lead-in
            rests on all of its block.
        form: `claim`; `lead-in` (ends in a colon), `heading`, `denial` (the documents do not
            answer) and `closing` (of a last paragraph without [n] that sums up: it rests on all
            citations above) need no citation.
        block: Index of its paragraph or list; blank lines and headings separate them.
    """

    start: int
    end: int
    text: str
    numbers: tuple[int, ...]
    rests_on: tuple[int, ...]
    form: Form
    block: int


def is_denial(sentence: str) -> bool:
    """Return whether a sentence states that the documents do not answer.

    >>> is_denial("文件中没有规定补贴金额。"), is_denial("每亩补贴500元。")
    (True, False)
    """
    bare = _PLAIN.sub("", sentence).strip()
    cited = _PLAIN.search(sentence) is not None
    if _OF_DOCUMENTS.search(sentence):
        return not (cited and _TELLING.search(without_denials(sentence)))
    return bare in NOT_FOUND.values() or (not cited and _AT_ALL.search(bare) is not None)


def without_denials(sentence: str) -> str:
    """Return the claims of a sentence, with blanks in place of denials (see `is_denial`).

    >>> without_denials("甲省300家[1]，文件未说明乙省。").split()
    ['甲省300家', '，', '。']
    >>> without_denials("关于补贴，文段没有说明[1]。").split()
    ['，', '。']
    """
    told = _PLAIN.sub(lambda m: " " * len(m.group()), sentence)
    silent = [match.span() for match in _OF_DOCUMENTS.finditer(told)]
    if not silent:
        return told
    clauses = [match.span() for match in _CLAUSE.finditer(told)]
    for i, (start, end) in enumerate(clauses):
        denies = any(first < end and start < last for first, last in silent)
        is_topic = any(
            begin < last <= after and not told[last:after].strip(" 的了")
            for _, last in silent
            for begin, after in clauses[i + 1 : i + 2]
        )
        clause = told[start:end]
        if denies or is_topic or _AT_ALL.search(clause) or _FRAME.fullmatch(clause):
            told = told[:start] + " " * (end - start) + told[end:]
    return told


def says_not_found(text: str) -> bool:
    """Return whether an answer as a whole is a denial: it begins with one and cites nothing else.

    >>> says_not_found("资料中未提及补贴。"), says_not_found("补贴500元[1]。资料未提及上限。")
    (True, False)
    """
    said = [s for s in statements(text) if s.form != "heading"]
    return (
        bool(said)
        and said[0].form == "denial"
        and not any(s.numbers for s in said if s.form != "denial")
    )


def marks(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, number) of every [n] in a text."""
    for match in _PLAIN.finditer(text):
        yield match.start(), match.end(), int(match.group(1))


def without_marks(text: str) -> str:
    """Replace what looks like a citation: [7] becomes 〔7〕.

    >>> without_marks("甲[7]。国发[2021]4号")
    '甲〔7〕。国发[2021]4号'
    """
    return MARK.sub(lambda m: f"〔{m.group()[1:-1]}〕", text)


def statements(text: str) -> list[Statement]:
    r"""Return the sentences of an answer in order, without rules and blank lines.

    >>> [(s.text.strip(), s.rests_on) for s in statements("甲。乙[2]。\n- 丙。[1][3]")]
    [('甲。', (2,)), ('乙   。', (2,)), ('丙。', (1, 3))]
    """
    found: list[Statement] = []
    block, reach = 0, 0
    masked = _mask(text)
    for start, end, own in _spans(text, masked):
        between = text[reach:start]
        body = masked[start:end]
        form = _form(text, start, end, body)
        if found and (re.search(r"\n[ \t]*\n", between) or "heading" in (form, found[-1].form)):
            block += 1
        found.append(Statement(start, end, body, own, own, form, block))
        reach = end
    return inherited(found)


def _mask(text: str) -> str:
    for pattern in (_PLAIN, _OPENING):
        text = pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    for start, end in broken_numbers(text):  # 0. 75 ends no sentence
        text = text[:start] + "".join(text[start:end].split()).rjust(end - start) + text[end:]
    return text


def _spans(text: str, masked: str) -> list[tuple[int, int, tuple[int, ...]]]:
    found = list(marks(text))
    begins = [mark[0] for mark in found]
    spans: list[tuple[int, int, list[int]]] = []
    for start, end in sentence_spans(masked):
        body = masked[start:end]
        here = found[bisect_left(begins, start) : bisect_left(begins, end)]
        word = re.search(r"\w", body)
        first = start + (len(body) - len(body.lstrip()) if word else len(body))
        if spans and (text[start - 1] != "\n" or not word):
            behind = [mark for mark in here if mark[0] < first]
            if behind:
                last = spans[-1]
                spans[-1] = (last[0], behind[-1][1], [*last[2], *(m[2] for m in behind)])
                here = here[len(behind) :]
        if word:
            last_end = max([start + len(body.rstrip()), *(mark[1] for mark in here)])
            spans.append((first, last_end, [mark[2] for mark in here]))
    return [(start, end, tuple(dict.fromkeys(own))) for start, end, own in spans]


def _form(text: str, start: int, end: int, body: str) -> Form:
    line_end = _line_end(text, end)
    line = text[text.rfind("\n", 0, start) + 1 : line_end]
    following = text[line_end + 1 : _line_end(text, line_end + 1)]
    bare = body.strip()
    bold = bare.startswith("**") and bare.endswith("**") and len(line.strip()) - len(bare) < 8
    if line.lstrip().startswith("#") or bold or ("|" in line and _RULE.fullmatch(following)):
        return "heading"
    if bare.rstrip("*_ |").endswith((":", "：")):
        return "lead-in"
    if following.strip() and _LEADING.search(line.strip()) and line.strip().endswith(bare):
        return "lead-in"
    return "denial" if is_denial(text[start:end]) else "claim"


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def inherited(found: list[Statement]) -> list[Statement]:
    """Return sentences in order, with `rests_on` of those without [n] filled in."""
    out: list[Statement] = []
    following: dict[int, tuple[int, ...]] = {}  # numbers of the next cited sentence, by block
    for statement in reversed(found):
        if statement.numbers:
            following[statement.block] = statement.numbers
        out.append(replace(statement, rests_on=following.get(statement.block, ())))
    whole: dict[int, dict[int, None]] = {}
    for statement in found:
        whole.setdefault(statement.block, {}).update(dict.fromkeys(statement.numbers))
    return _closed(
        [
            replace(s, rests_on=tuple(whole[s.block]))
            if s.form == "lead-in" and not s.numbers
            else s
            for s in reversed(out)
        ]
    )


def _closed(found: list[Statement]) -> list[Statement]:
    cited = tuple(dict.fromkeys(number for s in found for number in s.numbers))
    first = next((i for i, s in enumerate(found) if s.block == found[-1].block), 0)
    last = found[first:]
    if not cited or any(s.numbers for s in last) or not _CLOSING.match(last[0].text):
        return found
    is_open = {"claim", "closing"}
    return [
        *found[:first],
        *(replace(s, form="closing", rests_on=cited) if s.form in is_open else s for s in last),
    ]
