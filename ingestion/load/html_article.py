"""Where the article of a web page is: its block, and signature, date and 附件 set beside it."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from lxml import etree

from kgrag.text.numerals import HAN_SMALL
from kgrag.text.vocabulary import ISSUER_ENDS

if TYPE_CHECKING:
    from lxml.html import HtmlElement


class _HasText(Protocol):
    @property
    def text(self) -> str: ...


L = TypeVar("L", bound=_HasText)

BLOCK_TAGS = frozenset(
    (
        *("html", "body", "main", "article", "section", "header", "div", "center", "form", "p"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "hr", "pre", "blockquote", "address", "figure"),
        *("table", "thead", "tbody", "tfoot", "tr", "td", "th", "ul", "ol", "li", "dl", "dt"),
        *("dd", "details", "summary", "figcaption", "fieldset", "legend", "ucapcontent"),
    )
)
_SENTENCE = re.compile(r"[，。；：、！？]|.{30}")
# The article is the innermost element that still holds this share of the page's sentences.
_MIN_SHARE = 0.8
_UNCLOSED = 3
_ORGAN = (
    rf"[一-鿿]{{2,30}}?(?:{ISSUER_ENDS})"
    r"(?:[（(]代章[）)])?"
)
_YEAR = r"(?:\d{4}|二[〇○零Oo０][一-九〇○零]{2})"
# Organs one behind another, or blanks between them: what ends the run ends as one of them does.
_SIGNED = (
    r"[一-鿿]{3,120}(?:(?<=[厅会委局部署院办行社司])|(?<=政府|中心)|(?<=办公室)|(?<=领导小组))"
    rf"(?:[（(]代章[）)])?+(?=[\s、]|{_YEAR}|$)"
)
# What ends a document, when a site sets it into a block of its own.
_ENDING = re.compile(
    rf"(?:{_SIGNED}[\s、]*+)++(?:{_YEAR}年.{{1,6}}日)?"
    rf"|[（(]?{_YEAR}\s{{0,9}}年\s{{0,9}}.{{1,3}}\s{{0,9}}月\s{{0,9}}.{{1,3}}\s{{0,9}}日[）)]?(?:印发)?"
    rf"|{_ORGAN}.{{0,8}}{_YEAR}年.{{1,6}}日印发|(?:抄送|主送|公开方式|联系人|联系电话|信息公开属性)\s*[:：].{{1,200}}"
    r"|[（(](?:此件|本文|联系人|公开方式).{1,60}[）)]"
)
_ATTACHED = re.compile(
    rf"附\s{{0,9}}[件录表]\s{{0,9}}[\d{HAN_SMALL}]{{0,3}}\s{{0,9}}(?:[:：.．、\s].{{0,120}})?"
)
_LIST_HEAD = re.compile(r"(?:相关)?附件(?:下载|列表|链接|文件|文档)?\s*[:：]?")
_LISTED = re.compile(
    rf"[\d{HAN_SMALL}]{{1,2}}\s*[.．、].{{2,120}}|.{{2,120}}\.(?:docx?|pdf|xlsx?|wps|ofd|zip|rar|jpg)"
)
_NUMBER = re.compile(r"[^，。《》：:]{2,24}[〔\[（(]\d{4}[〕\]）)]第?\d{1,5}号")
_BETWEEN_DOCUMENTS = re.compile(
    r"(?:上|下)一[篇条]|相关(?!附件)|推荐|扫一扫|分享|主办|承办|版权|网站"
)
_LINES_AHEAD = 5


def find_article(page: "HtmlElement") -> "HtmlElement":
    """Return the innermost element that holds 80 % of a page's sentences outside links."""
    weights: dict[HtmlElement, int] = {}
    body = page.find("body")
    current = page if body is None else body
    for element in reversed(list(current.iter())):  # children before parents
        weights[element] = _own_weight(element) + sum(weights[child] for child in element)
    least = _MIN_SHARE * weights[current]
    left_behind = []  # elements on the way whose own paragraphs would be lost
    while weights[current]:
        best = max(current, key=lambda child: weights[child], default=None)
        if best is None or weights[best] < least:
            break
        # A paragraph or row alone is no article: its neighbours belong to it.
        if best.tag not in BLOCK_TAGS or best.tag in ("p", "tr", "tbody", "li"):
            break
        if any(child.tag == "p" and weights[child] for child in current if child is not best):
            left_behind.append(current)
        current = best
    # One level is a site's footer; where each holds a paragraph, blocks were never closed.
    return left_behind[0] if len(left_behind) >= _UNCLOSED else current


def beside_article(
    article: "HtmlElement", lines_of: Callable[["HtmlElement"], Sequence[L]]
) -> tuple[list[L], list[L]]:
    """Return lines that belong to an article but stand in blocks before and behind it.

    Before it, its number (文号); behind it, signature, date, who it was sent to, and attachments
    with their whole text. The first line behind it that is none of these ends it.

    Args:
        article: As found.
        lines_of: Gives the lines of an element.
    """
    before: list[L] = []
    for element in _beside(article, preceding=True):
        before = [*lines_of(element), *before]
        if len(before) >= _LINES_AHEAD:
            break
    near = reversed(before[-_LINES_AHEAD:])
    number = next((line for line in near if _NUMBER.fullmatch(line.text)), None)
    behind: list[L] = []
    for element in _beside(article, preceding=False):
        lines = lines_of(element)
        taken = _ending(lines, listing=bool(behind) and bool(_ATTACHED.match(behind[-1].text)))
        behind += taken
        if len(taken) < len(lines):
            break
    return [number] if number else [], behind


def _beside(article: "HtmlElement", *, preceding: bool) -> Iterator["HtmlElement"]:
    """Yield the elements before or behind one, the nearest first, out to the page's body."""
    element = article
    while element is not None and element.tag not in ("body", "html"):
        yield from element.itersiblings(preceding=preceding)
        element = element.getparent()


def _ending(lines: Sequence[L], *, listing: bool) -> list[L]:
    """Return the lines of a block, from its first, that end the document before it."""
    taken: list[L] = []
    attached = False
    for line in lines:
        text = line.text
        if _LIST_HEAD.fullmatch(text):
            listing = True
        elif _ATTACHED.fullmatch(text):
            attached = listing = True
        elif _ENDING.fullmatch(text):
            listing = False
        elif _BETWEEN_DOCUMENTS.match(text) or not (
            attached or (listing and _LISTED.fullmatch(text))
        ):
            break
        taken.append(line)
    return taken


def _own_weight(element: "HtmlElement") -> int:
    """Return the characters of sentences right inside a block, links left out."""
    if element.tag not in BLOCK_TAGS:
        return 0
    own = "".join(_inline_text(element))
    return len(own) if element.tag in ("td", "th") or _SENTENCE.search(own) else 0


def _inline_text(root: "HtmlElement") -> Iterator[str]:
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            if element is not root and (element.tag in BLOCK_TAGS or element.tag == "a"):
                walk.skip_subtree()
            else:
                yield (element.text or "").strip()
        elif element is not root:
            yield (element.tail or "").strip()
