"""Completing Chinese follow-up questions by rules."""

import functools
import re

from kgrag.text.places import question_places
from kgrag.text.vocabulary import FIVE_YEAR_PLAN
from kgrag.text.words import quoted_titles, read_word_list, words

_ENDS = "？?。！! \t"
_ASIDE = r"(?:那么|那|请问|而|还有|再说|另外|如果是|换成|换作)?[，, ]*"
# 那浙江呢？ 2030年的呢？ 第二条怎么样？
_SWITCH = re.compile(
    # 换成河南, 改成2030年
    r"(?:那么?|就|请|再|给我|[把它这])*(?:换成|换作|改成|改为|改问)(?:一下)?(.{1,24}?)"
    r"(?:的?(?:呢|吧|怎么样|又如何|又怎样|试试|看看|会怎样))?[？?。！]*"
    rf"|{_ASIDE}(.{{1,24}}?)的?(?:呢|怎么样|又如何|又怎样)[？?。！]*"
)
_SUFFIX = r"(?:(?:壮族|回族|维吾尔)?自治[区州县]|特别行政区|[省市县区州盟旗])?"
_YEAR = re.compile(rf"\d{{4}}年?|“?{FIVE_YEAR_PLAN}”?(?:时期|期间)?")
_YEAR_PHRASE = re.compile(rf"(?:到|在|至)?(?:{_YEAR.pattern})(?:底|末|前|以前)?[，,]?")
_ARTICLE = re.compile(r"第[一二三四五六七八九十百零〇\d]+[条章节款项]")
_NOUN = (
    r"(?:文件|办法|方案|规划|政策|意见|通知|规定|法律|条例|计划|标准|行动|项目|资金|措施|目标"
    r"|机制|制度|企业|单位|部门|地区|省|市)"
)
# Only near the beginning: further in, it may mean something in the question itself.
_PRONOUN = re.compile(
    r"^(.{0,4}?)(它们?|其(?![中他它余次实])"
    rf"|(?:该|此|这(?:个|份|项|部|些)?|上述|以上)(?:{_NOUN}))(的?)"
)
_ASKING = re.compile(
    r"(?:是|有|为|在)?(?:什么时候|什么|多少(?:万|亿)?[个家项座元吨亩人]?|哪一?[些个年几家]?"
    r"|几[个家项年]|谁|何时|如何|怎么样?|怎样|是否|多久)|[吗呢]|[？?。！]"
)
_OF = re.compile(r"的(?=[^的]{2,}$)")


@functools.cache
def _general() -> frozenset[str]:
    return frozenset(read_word_list("general_words.txt"))


def complete(question: str, before: str, answer: str) -> str:
    """Return a question completed from the one before it; unchanged if no rule applies.

    In order: another place, year or article (那浙江呢？), a pronoun near the beginning (它的目标
    是什么？), a question of general words only (由哪个部门负责？). The subject is the title that
    the question before quotes, else the only one in the answer, else the content words of the
    question before.

    Args:
        question: The follow-up.
        before: The question before it, complete.
        answer: The answer to that.
    """
    if quoted_titles(question):
        return question
    switch = _SWITCH.fullmatch(question.strip())
    if switch:
        return _switched(switch[1] or switch[2], before, answer)
    if is_place_or_year(question):
        return _switched(question.strip(_ENDS), before, answer)
    pronoun = _PRONOUN.match(question)
    if pronoun:
        return _named(question, pronoun, before, answer)
    if _place_spans(question) or not _is_general(question):
        return question
    return _with_subject(question, before, answer)


def is_place_or_year(text: str) -> bool:
    """Return whether a text is only the name of a place, or a year.

    >>> is_place_or_year("河南省？"), is_place_or_year("2030年"), is_place_or_year("河南的目标")
    (True, True, False)
    """
    bare = text.strip(_ENDS)
    return bool(bare) and (
        _place_spans(bare) == [(0, len(bare))] or _YEAR_PHRASE.fullmatch(bare) is not None
    )


def is_sure(question: str, before: str) -> bool:
    """Return whether a follow-up asks for another place or year, and the question before has one.

    Such follow-ups need no model: 那浙江呢, 2030年呢.

    Args:
        question: The follow-up.
        before: The question before it, complete.
    """
    switch = _SWITCH.fullmatch(question.strip())
    other = (switch[1] or switch[2] if switch else question).strip(_ENDS)
    if not is_place_or_year(other) or quoted_titles(before):
        return False
    if _place_spans(other):
        return len(_place_spans(before)) == 1
    return len(_YEAR.findall(before)) == 1


def _switched(other: str, before: str, answer: str) -> str:
    """Return the question before with something else of the same kind."""
    places = _place_spans(before)
    if _place_spans(other):
        if not places:
            return other + before
        between = before[places[0][1] : places[-1][0]]
        end = places[-1][1] if len(between) <= 2 or len(places) == 1 else places[0][1]
        return before[: places[0][0]] + other + before[end:]
    for kind in (_YEAR, _ARTICLE):
        named = kind.search(other)
        if named and kind.search(before):
            return kind.sub(named.group(), before, count=1)
    if _ARTICLE.search(other):
        return f"{_subject(before, answer)}{other}的内容是什么？"
    if _is_general(other):
        return f"{_subject(before, answer)}的{other}是什么？"
    tail = _OF.split(before, maxsplit=1)
    kept = "".join(before[start:end] for start, end in places)
    return f"{kept}{other}的{tail[1]}" if len(tail) == 2 else f"{other}：{before}"


def _named(question: str, pronoun: re.Match[str], before: str, answer: str) -> str:
    """Return the question with its pronoun resolved."""
    lead, said, of = pronoun.groups()
    subject = _subject(before, answer)
    places = _place_spans(before)
    if said.endswith(("省", "市", "地区")) and places:
        subject = before[places[0][0] : places[0][1]]
    lead = re.sub(r"^(?:那么|那)[，, ]*", "", lead)
    return f"{lead}{subject}{'的' if said == '其' else of}{question[pronoun.end() :]}"


def _with_subject(question: str, before: str, answer: str) -> str:
    """Return a question without subject, completed with that of the question before."""
    bare = re.sub(rf"^{_ASIDE}", "", question)
    subject = _subject(before, answer)
    if _YEAR.search(bare):
        subject = _YEAR_PHRASE.sub("", subject)
    begins = words(bare[:4])[:1]
    noun = bool(begins) and begins[0].isalpha() and bare.startswith(begins[0]) and "是" in bare
    return f"{subject}{'的' if noun or _ARTICLE.match(bare) else ''}{bare}"


def _subject(before: str, answer: str) -> str:
    titles = [title for _, _, title in quoted_titles(before)]
    if not titles:
        told = list(dict.fromkeys(title for _, _, title in quoted_titles(answer)))
        titles = told if len(told) == 1 else []
    if titles:
        return f"《{titles[0]}》"
    of = _OF.search(before)
    if of and of.start() >= 2:
        return before[: of.start()]
    return _ASKING.sub("", before).strip("，, ")


def _is_general(text: str) -> bool:
    """Return whether a text has no names."""
    bare = _ARTICLE.sub("", _YEAR_PHRASE.sub("", text))
    return all(word in _general() or word.isdigit() for word in words(bare))


def _place_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of the places in a text, with their suffix, in order."""
    names = sorted(question_places(text, ()), key=len, reverse=True)
    if not names:
        return []
    pattern = re.compile(f"(?:{'|'.join(map(re.escape, names))}){_SUFFIX}")
    return [match.span() for match in pattern.finditer(text)]
