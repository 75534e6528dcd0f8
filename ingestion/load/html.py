"""Saved web pages: the article without the site's furniture, paragraph by paragraph."""

import re
from typing import TYPE_CHECKING

from kgrag.errors import IngestionError
from kgrag.files.encoding import decode
from kgrag.ingestion.load.html_article import beside_article, find_article
from kgrag.ingestion.load.html_box import read_box
from kgrag.ingestion.load.html_lines import clean, page_lines, texts_by_cell
from kgrag.ingestion.load.parsed import Parsed, join_blocks, replace_unusable
from kgrag.ingestion.load.title import find_title, guess_title
from kgrag.language.text import normalize_name

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_DECLARED = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_SILENT = frozenset(
    ("script", "style", "noscript", "template", "iframe", "object", "svg", "canvas", "head")
)
_CONTROLS = frozenset(("button", "select", "option", "textarea", "nav", "footer", "aside"))
# Without these tags a page says the same, and is not nested.
_SITE = re.compile(r"\s{0,9}[-_|—–]{1,9}(?=[^-_|—–]*$)[^-_|—–]*(?:网|网站|政府|平台|局|厅|委)\s*+$")
_WRAPPERS = re.compile(
    r"</?(?:div|span|font|center|section|article|main|form|b|i|u|em|strong|ul|blockquote)\b[^<>]*+>",
    re.IGNORECASE,
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
# lxml reads these characters but refuses to move text that holds them.
_NOT_XML = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
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
    usable, warnings = replace_unusable(decoded.text)
    page, flattened = _parse(usable, name)
    title, metadata = _page_title(page), _metadata(page)
    _drop_silent(page)
    box = read_box(texts_by_cell(page))
    _drop_furniture(page)
    article = find_article(page)
    before, behind = beside_article(article, page_lines)
    lines = [*before, *page_lines(article), *behind]
    kept = [line for line in lines if not _FURNITURE_LINE.fullmatch(line.text)]
    text, segments = join_blocks(
        (line.text for line in kept), "paragraph", (line.level for line in kept)
    )
    return Parsed(
        text=text,
        title=title or guess_title(text, stem),
        segments=segments,
        warnings=(*decoded.warnings, *warnings, *flattened),
        properties={"encoding": decoded.encoding, **metadata, **box},
    )


def _parse(text: str, name: str) -> tuple["HtmlElement", list[str]]:
    """Return a page's tree, and a warning where it had to be flattened to be read whole."""
    from lxml import etree, html

    source = _XML_DECLARATION.sub("", text)
    flattened = []
    try:
        parser = html.HTMLParser(huge_tree=True)  # 256 levels are read without, 2,048 with it
        page = html.document_fromstring(source, parser=parser)
        if any(error.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for error in parser.error_log):
            parser = html.HTMLParser(huge_tree=True)
            page = html.document_fromstring(_WRAPPERS.sub("<br>", source), parser=parser)
            flattened.append("its blocks are nested too deeply, and were read without nesting")
            if any(e.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for e in parser.error_log):
                flattened.append("the page is nested too deeply to be read whole; save it again")
    except (etree.LxmlError, ValueError) as exc:
        raise IngestionError(f"{name}: is not a web page ({exc}); save the page again") from exc
    _drop_unusable(page)
    return page, flattened


def _drop_unusable(page: "HtmlElement") -> None:
    for element in page.iter():
        if element.text and _NOT_XML.search(element.text):
            element.text = _NOT_XML.sub("", element.text)
        if element.tail and _NOT_XML.search(element.tail):
            element.tail = _NOT_XML.sub("", element.tail)


def _page_title(page: "HtmlElement") -> str:
    metas = {m.get("name", "").lower(): m.get("content", "") for m in page.iter("meta")}
    if metas.get("articletitle", "").strip():
        return clean(metas["articletitle"])
    window = clean(page.findtext(".//title") or "")
    for heading in page.iter("h1", "h2"):
        text = clean(heading.text_content())
        if len(text) >= 4 and normalize_name(text) in normalize_name(window):
            return text
    # What follows the last dash is the site: 《…的通知-某市人民政府门户网站》.
    bare = _SITE.sub("", window)
    first = next((clean(h.text_content()) for h in page.iter("h1")), "")
    return bare or find_title(first) or ""


def _metadata(page: "HtmlElement") -> dict[str, str]:
    found = {}
    for meta in page.iter("meta"):
        key = _META.get(meta.get("name", "").lower())
        value = clean(meta.get("content", ""))
        if key and value:
            found[key] = value
    return found


def _drop_silent(page: "HtmlElement") -> None:
    """Remove in place comments, scripts and the like."""
    for element in list(page.iter()):
        silent = not isinstance(element.tag, str) or element.tag in _SILENT
        if silent and element.getparent() is not None:
            element.drop_tree()


def _drop_furniture(page: "HtmlElement") -> None:
    """Remove in place what no reader takes for the article."""
    for element in list(page.iter()):
        if element.tag not in ("html", "body") and _is_furniture(element):
            element.drop_tree()


def _is_furniture(element: "HtmlElement") -> bool:
    if element.tag in _CONTROLS:
        return True
    style = re.sub(r"\s", "", element.get("style", "")).lower()
    if "display:none" in style or element.get("hidden") is not None:
        return True
    if element.tag == "header":
        return not any(a.tag in ("article", "main") for a in element.iterancestors())
    label = f"{element.get('class', '')} {element.get('id', '')}"
    return bool(_FURNITURE_CLASS.search(label)) and len(element.text_content()) < _MAX_FURNITURE
