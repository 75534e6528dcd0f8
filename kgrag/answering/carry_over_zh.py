"""Completing Chinese follow-up questions by rules."""

import functools
import re
from collections.abc import Sequence

from kgrag.question.query import analyse
from kgrag.question.question import grammar, question_of
from kgrag.text.leading_region import leading_region
from kgrag.text.places import places_in
from kgrag.text.titles import document_kinds, title_subject
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
_YEAR = re.compile(rf"\d{{4}}年?|“?{FIVE_YEAR_PLAN}”?(?:时期|期间)?")
_YEAR_PHRASE = re.compile(rf"(?:到|在|至)?(?:{_YEAR.pattern})(?:底|末|前|以前)?[，,]?")
_ARTICLE = re.compile(r"第[一二三四五六七八九十百零〇\d]+[条章节款项]")
_ASKING = re.compile(
    r"(?:是|有|为|在)?(?:什么时候|什么|多少(?:万|亿)?[个家项座元吨亩人]?|哪一?[些个年几家]?"
    r"|几[个家项年]|谁|何时|如何|怎么样?|怎样|是否|多久)|[吗呢]|[？?。！]"
)
_OF_DOCUMENTS = frozenset(["who issued", "validity", "which article"])
_SHORT = 8  # characters of a question that goes on where the last one was
_BY_ITSELF = re.compile("是什么|^其中")
_OF = re.compile(r"的(?=[^的]{2,}$)")


@functools.cache
def _pronouns() -> re.Pattern[str]:
    """Return the pattern of what stands for something named before.

    Only near the beginning: further in, it may mean something in the question itself.
    """
    this, paper, thing = ("|".join(grammar().words(name)) for name in ("this", "paper", "thing"))
    return re.compile(
        rf"^(?P<lead>.{{0,4}}?)(?P<said>(?P<document>(?:{this}|本)(?:{paper}))|它们?"
        rf"|其(?![中他它余次实])|(?:{this})(?:{thing})|[这那](?=是[谁哪第几]|[还现由]))(?P<of>的?)"
    )


@functools.cache
def _which_document() -> re.Pattern[str]:
    return re.compile(rf"哪一?[份个部项](?:{'|'.join(grammar().words('paper'))})?[里中的]*")


@functools.cache
def _general() -> frozenset[str]:
    return frozenset(read_word_list("general_words.txt"))


def complete(question: str, before: str, answer: str, cited: Sequence[str] = ()) -> str:
    """Return a question completed from the one before it; unchanged if no rule applies.

    In order: another place, year or article (那浙江呢？), a pronoun near the beginning (它的目标
    是什么？), a question of general words only (由哪个部门负责？). The subject is the title that
    the question before quotes, else the only one in the answer, else the content words of the
    question before; of what is said of documents (这个办法, 谁印发的, 还有效吗), the title quoted
    before, else the first document cited (of 这些文件, three).

    Args:
        question: The follow-up.
        before: The question before it, complete.
        answer: The answer to that.
        cited: Titles of the documents that the last answer with citations cites.
    """
    if quoted_titles(question):
        return question
    if other := _other(question):
        return _switched(other, before, answer)
    pronoun = _pronouns().match(question)
    if of_document(question, cited):
        return _of_document(question, pronoun, before, cited)
    if pronoun:
        return _named(question, pronoun, before, answer)
    if _place_spans(question):
        return question
    if not _is_general(question):
        return _kept_place(question, before)
    return _with_subject(question, before, answer)


def of_document(question: str, cited: Sequence[str]) -> bool:
    """Return whether a follow-up is about the document that was cited: 这个办法还有效吗, 谁印发的.

    Args:
        question: The follow-up.
        cited: Titles of the documents cited.
    """
    if not cited or quoted_titles(question):
        return False
    pronoun = _pronouns().match(question)
    if pronoun and pronoun["document"]:
        return True
    asks = question_of(analyse(question)).asks & _OF_DOCUMENTS
    if "which article" in asks:
        question = _which_document().sub("", question)
    if pronoun:
        may_be = re.search("[省市区]|单位|企业|部门", pronoun["said"]) is None
    else:
        may_be = not _place_spans(question) and _is_general(question)
    return may_be and bool(asks)


def asks_article(question: str, cited: Sequence[str]) -> bool:
    """Return whether a follow-up asks which article says what was answered: 第几条规定的.

    Args:
        question: The follow-up.
        cited: Titles of the documents cited.
    """
    asks = question_of(analyse(question)).asks
    return "which article" in asks and of_document(question, cited)


def is_sure(question: str, before: str, cited: Sequence[str] = ()) -> bool:
    """Return whether a follow-up asks for another place or year, and the question before has one.

    Such follow-ups need no model: 那浙江呢, 2030年呢, nor do those of `of_document`.

    Args:
        question: The follow-up.
        before: The question before it, complete.
        cited: Titles of the documents that the last answer with citations cites.
    """
    if of_document(question, cited):
        return True
    places, phrase, rest = _parts(_other(question))
    if rest or not (places or phrase) or quoted_titles(before):
        return False
    if places and len(_place_spans(before)) != 1:
        return False
    return not phrase or len(_YEAR.findall(before)) == 1


def _other(question: str) -> str:
    """Return what is asked for instead of what was asked before; empty for another question."""
    switch = _SWITCH.fullmatch(question.strip())
    if switch:
        return (switch[1] or switch[2]).strip(_ENDS)
    bare = re.sub(rf"^{_ASIDE}", "", question.strip(_ENDS))
    return "" if _parts(bare)[2] else bare


def _parts(text: str) -> tuple[str, str, str]:
    """Return the places, the year phrase, and the rest of what is asked for instead.

    >>> _parts("河南2030年的能耗强度"), _parts("江西呢，到2030年")
    (('河南', '2030年', '能耗强度'), ('江西', '到2030年', ''))
    """
    spans = _place_spans(text)
    first, last = (spans[0][0], spans[-1][1]) if spans else (0, 0)
    if spans and spans[-1][0] - spans[0][1] > 1:  # 河北和江苏
        first, last = spans[0]
    year = _YEAR_PHRASE.search(text[:first] + text[last:])
    rest = text[:first] + text[last:]
    if year:
        rest = rest[: year.start()] + rest[year.end() :]
    return text[first:last], year.group() if year else "", rest.strip(f"的呢，,{_ENDS}")


def _switched(other: str, before: str, answer: str) -> str:
    """Return the question before with something else of the same kind."""
    places, phrase, rest = _parts(other)
    if (named := _ARTICLE.search(rest)) and _ARTICLE.search(before):
        return _ARTICLE.sub(named.group(), before, count=1)
    if named:
        return f"{_subject(before, answer)}{other}的内容是什么？"
    if places and document_kinds(rest):
        return other + _besides_document(before)
    if places:
        before = _in_place(places, before)
    if year := _YEAR.search(phrase):
        dated = _YEAR.search(before)
        before = _YEAR.sub(year.group(), before, count=1) if dated else phrase + before
    if not rest:
        return before
    if _is_general(rest):
        return f"{_subject(before, answer)}的{rest}是什么？"
    return _about(rest, before) or f"{rest}：{before}"


def _about(other: str, before: str) -> str:
    """Return the question before about something else; empty if it is about several things.

    Of several pieces the one is meant that shares a character with the other.
    """
    pieces = question_of(analyse(before)).unbound()
    alike = max(pieces, key=lambda piece: len({*piece} & {*other}), default="")
    if not alike or (pieces[1:] and not {*alike} & {*other}):
        return ""
    at = before.find(alike)
    start = leading_region(alike)[1]  # 徐汇区节能改造
    amount = grammar().pattern("amount").search(alike, start + 1)
    end = amount.start() if amount else len(alike)
    return before[: at + start] + other + before[at + end :] if at >= 0 else ""


def _in_place(other: str, before: str) -> str:
    """Return the question before, of another place; of a title's place, what the title is about."""
    titles = quoted_titles(before)
    places = [
        span for span in _place_spans(before) if all(not a <= span[0] < b for a, b, _ in titles)
    ]
    if titles and not places:
        start, end, title = titles[0]
        about, kind = title_subject(title, leading_region(title)[0])
        about = grammar().pattern("urged").sub("", about)
        return f"{before[: start - 1]}{other}{about}{kind}{before[end + 1 :]}"
    if not places:
        return other + before
    between = before[places[0][1] : places[-1][0]]
    end = places[-1][1] if len(between) <= 2 or len(places) == 1 else places[0][1]
    return before[: places[0][0]] + other + before[end:]


def _besides_document(before: str) -> str:
    """Return what a question asks of its document: 甲市碳交易办法不履约罚多少."""
    if titles := quoted_titles(before):
        return before[titles[-1][1] + 1 :]
    places = _place_spans(before)
    if not places:
        return before
    named = grammar().pattern("titled").match(before, places[-1][1])
    return before[named.end() if named else places[-1][1] :]


def _kept_place(question: str, before: str) -> str:
    """Return a short question of what the one before is about: its title, else its place."""
    asked = question_of(analyse(question))
    short = len(question.strip(_ENDS)) <= _SHORT and not _BY_ITSELF.search(question)
    own = asked.query.national or asked.level or asked.abroad or "definition" in asked.asks
    if not short or own:
        return question
    if titles := quoted_titles(before):
        return f"《{titles[0][2]}》{question}"
    places = _place_spans(before)
    if not places or places[-1][0] - places[0][1] > 1:
        return question
    return before[places[0][0] : places[-1][1]] + question


def _of_document(
    question: str, pronoun: re.Match[str] | None, before: str, cited: Sequence[str]
) -> str:
    """Return a question about a document with its title."""
    titles = [title for _, _, title in quoted_titles(before)] or list(cited)
    several = pronoun is not None and re.search("些|们", pronoun["said"])
    named = "、".join(f"《{title}》" for title in titles[: 3 if several else 1])
    if "which article" in question_of(analyse(question)).asks:
        return f"{named}第几条规定{before.strip(_ENDS)}？"
    return named + (question[pronoun.end("said") :] if pronoun else question.lstrip("那么，, "))


def _named(question: str, pronoun: re.Match[str], before: str, answer: str) -> str:
    """Return the question with its pronoun resolved."""
    lead, said, of = pronoun.group("lead", "said", "of")
    subject = _subject(before, answer)
    places = _place_spans(before)
    if said.endswith(("省", "市", "地区")) and places:
        subject = before[places[0][0] : places[0][1]]
    lead = re.sub(rf"^{_ASIDE}", "", lead)
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
    return [(start, end) for start, end, _ in places_in(text)]
