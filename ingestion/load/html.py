"""Saved web pages: the article without the site's furniture, paragraph by paragraph."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kgrag.errors import IngestionError
from kgrag.files.encoding import decode
from kgrag.ingestion.load.parsed import Parsed, join_blocks, join_cells, replace_unusable
from kgrag.ingestion.load.title import find_title, guess_title
from kgrag.language.text import normalize_name

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_DECLARED = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_NEVER_TEXT = frozenset(
    (
        *("script", "style", "noscript", "template", "iframe", "object", "svg", "canvas", "head"),
        *("button", "select", "option", "input", "textarea", "nav", "footer", "aside"),
    )
)
_FURNITURE_CLASS = re.compile(
    r"(?:^|[\s_-])(?:share|bdshare|bread|crumbs?|breadcrumbs?|curb|position|location|toolbar|tools"
    r"|qrcode|ewm|copyright|footer|pagination|pager|prenext|related|recommend)(?:$|[\s_-])",
    re.IGNORECASE,
)
# A block this long is text, whatever its class says.
_MAX_FURNITURE = 300
_FURNITURE_LINE = re.compile(
    r"(?:(?:您?(?:当前|现在)的?(?:所在)?位置)[:：].*|分享到?[:：]?.{0,20}|打印(?:本页)?|关闭(?:窗口|本页)?"
    r"|【?字[体号][:：\s]*[\[【]?大.{0,12}小.{0,6}|扫一扫.{0,20}|返回(?:顶部|首页)|上一[篇条].*|下一[篇条].*"
    r"|(?:相关|附件)(?:附件|链接|文档|稿件|下载)[:：]?)"
)
_BLOCK_TAGS = frozenset(
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
_BREAK = "\x00"
# lxml reads these characters but refuses to move text that holds them.
_NOT_XML = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_ZERO_WIDTH = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
_WRAPPED = re.compile(r"(?<=[\u2e80-\uffef“”])[ \t\r]*\n\s*(?=[\u2e80-\uffef“”])")
_META = {
    "pubdate": "date",
    "contentsource": "source",
    "sitename": "site",
    **{key: key for key in ("author", "url")},
}


def read_html(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return a page's article: paragraphs and table rows on lines of their own.

    The article is the innermost element that holds 80 % of the page's sentences outside links;
    menus, footers, share buttons and hidden parts are left out. The title is the page's
    `ArticleTitle`, a heading that the window's title repeats, or the window's title.

    Args:
        data: The whole file.
        name: The file, for messages.
        stem: The title where the page names none.

    Raises:
        IngestionError: It is not text or not a page.
    """
    declared = _DECLARED.search(data[:4096])
    decoded = decode(data, name=name, declared=declared[1].decode("ascii") if declared else None)
    clean, warnings = replace_unusable(decoded.text)
    page = _parse(clean, name)
    title, metadata = _page_title(page), _metadata(page)
    _drop_furniture(page)
    blocks = [b for b in _blocks(_article(page)) if not _FURNITURE_LINE.fullmatch(b)]
    text, segments = join_blocks(blocks, "paragraph")
    return Parsed(
        text=text,
        title=title or guess_title(text, stem),
        segments=segments,
        warnings=(*decoded.warnings, *warnings),
        properties={"encoding": decoded.encoding, **metadata},
    )


def _parse(text: str, name: str) -> "HtmlElement":
    from lxml import etree, html

    try:
        page = html.document_fromstring(_XML_DECLARATION.sub("", text))
    except (etree.LxmlError, ValueError) as exc:
        raise IngestionError(f"{name}: is not a web page ({exc}); save the page again") from exc
    for element in page.iter():
        if element.text and _NOT_XML.search(element.text):
            element.text = _NOT_XML.sub("", element.text)
        if element.tail and _NOT_XML.search(element.tail):
            element.tail = _NOT_XML.sub("", element.tail)
    return page


def _page_title(page: "HtmlElement") -> str:
    metas = {m.get("name", "").lower(): m.get("content", "") for m in page.iter("meta")}
    if metas.get("articletitle", "").strip():
        return _line(metas["articletitle"])
    window = _line(page.findtext(".//title") or "")
    for heading in page.iter("h1", "h2"):
        text = _line(heading.text_content())
        if len(text) >= 4 and normalize_name(text) in normalize_name(window):
            return text
    # What follows the last dash is the site: 《…的通知-某市人民政府门户网站》.
    bare = re.sub(r"\s*[-_|—–]+\s*[^-_|—–]*(?:网|网站|政府|平台|局|厅|委)\s*$", "", window)
    first = next((_line(h.text_content()) for h in page.iter("h1")), "")
    return bare or find_title(first) or ""


def _metadata(page: "HtmlElement") -> dict[str, str]:
    found = {}
    for meta in page.iter("meta"):
        key = _META.get(meta.get("name", "").lower())
        value = _line(meta.get("content", ""))
        if key and value:
            found[key] = value
    return found


def _drop_furniture(page: "HtmlElement") -> None:
    """Remove in place what no reader takes for the article."""
    for element in list(page.iter()):
        if not isinstance(element.tag, str):
            if element.getparent() is not None:
                element.drop_tree()
        elif element.tag not in ("html", "body") and _is_furniture(element):
            element.drop_tree()


def _is_furniture(element: "HtmlElement") -> bool:
    if element.tag in _NEVER_TEXT:
        return True
    style = re.sub(r"\s", "", element.get("style", "")).lower()
    if "display:none" in style or element.get("hidden") is not None:
        return True
    if element.tag == "header":
        return not any(a.tag in ("article", "main") for a in element.iterancestors())
    label = f"{element.get('class', '')} {element.get('id', '')}"
    return bool(_FURNITURE_CLASS.search(label)) and len(element.text_content()) < _MAX_FURNITURE


def _article(page: "HtmlElement") -> "HtmlElement":
    weights: dict[HtmlElement, int] = {}
    body = page.find("body")
    current = page if body is None else body
    for element in reversed(list(current.iter())):  # children before parents
        weights[element] = _own_weight(element) + sum(weights[child] for child in element)
    while weights[current]:
        best = max(current, key=lambda child: weights[child], default=None)
        if best is None or weights[best] < _MIN_SHARE * weights[current]:
            break
        # A paragraph or row alone is no article: its neighbours belong to it.
        if best.tag not in _BLOCK_TAGS or best.tag in ("p", "tr", "tbody", "li"):
            break
        current = best
    return current


def _own_weight(element: "HtmlElement") -> int:
    """Return the characters of sentences right inside a block, links left out."""
    if element.tag not in _BLOCK_TAGS:
        return 0
    own = "".join(_inline_text(element))
    return len(own) if element.tag in ("td", "th") or _SENTENCE.search(own) else 0


def _inline_text(element: "HtmlElement") -> Iterator[str]:
    yield (element.text or "").strip()
    for child in element:
        if child.tag not in _BLOCK_TAGS and child.tag != "a":
            yield from _inline_text(child)
        yield (child.tail or "").strip()


def _blocks(element: "HtmlElement") -> list[str]:
    return [line for part in "".join(_pieces(element)).split(_BREAK) if (line := _line(part))]


def _pieces(element: "HtmlElement") -> Iterator[str]:
    """Yield the text below an element, with a mark wherever a line ends."""
    if element.tag == "tr":
        yield from _row(element)
        return
    if element.tag == "br":
        yield _BREAK
        return
    mark = _BREAK if element.tag in _BLOCK_TAGS else ""
    text = element.text or ""
    yield mark
    yield text.replace("\n", _BREAK) if element.tag == "pre" else text
    for child in element:
        yield from _pieces(child)
        yield child.tail or ""
    yield mark


def _row(row: "HtmlElement") -> Iterator[str]:
    cells = [cell for cell in row if cell.tag in ("td", "th")]
    yield _BREAK
    if len(cells) == 1:
        yield from _pieces(cells[0])
    else:
        yield join_cells(" ".join(_blocks(cell)) for cell in cells)
    yield _BREAK


def _line(text: str) -> str:
    return " ".join(_ZERO_WIDTH.sub("", _WRAPPED.sub("", text)).split())
