"""Saved web pages: the article without the site's furniture, paragraph by paragraph."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from kgrag.errors import IngestionError
from kgrag.files.encoding import decode
from kgrag.ingestion.load.html_article import beside_article, find_article
from kgrag.ingestion.load.html_lines import clean, page_lines, texts_by_cell
from kgrag.ingestion.load.parsed import Parsed, join_blocks, replace_unusable
from kgrag.ingestion.load.title import find_title, guess_title
from kgrag.text.words import normalize_name

# By the name that `kgrag.ingestion.metadata.read` knows; the label as pages print it.
_LABELS: dict[str, tuple[str, ...]] = {
    "索引号": ("索引号", "索引编号", "索引"),
    "统一编号": ("统一编号", "统一登记号"),
    "发文字号": ("发文字号", "发文文号", "文件编号", "文件字号", "发文号", "文号"),
    "发布机构": (
        *("发布机构", "发布机关", "发文机构", "发文机关", "发文单位", "发布单位"),
        *("制发机关", "制定机关", "公开主体", "公开责任部门"),
    ),
    "成文日期": ("成文日期", "成文时间", "签署日期", "签发日期", "生成日期", "制发日期"),
    "发布日期": ("发布日期", "发布时间", "公开日期", "公开时间", "公布日期", "印发日期"),
    "施行日期": ("施行日期", "实施日期", "生效日期", "执行日期", "生效时间", "实施时间"),
    "失效日期": ("失效日期", "失效时间", "废止日期", "废止时间", "有效期至", "截止日期"),
    "时效性": ("时效性", "有效性", "文件状态", "效力状态", "文件时效", "是否有效"),
    "主题分类": ("主题分类", "信息分类", "主题词", "分类"),
}
_NAME_OF = {label: name for name, labels in _LABELS.items() for label in labels}
_DATES = frozenset(("成文日期", "发布日期", "施行日期", "失效日期"))
# A page that tells one of these has such a box; 发布时间 and 来源 stand above any news.
_SURE = frozenset(("索引号", "统一编号", "发文字号", "成文日期", "失效日期", "时效性"))
_SPACED = "|".join(r"\s*+".join(label) for label in sorted(_NAME_OF, key=lambda label: -len(label)))
_LABEL = re.compile(rf"(?:^|(?<=[\s\]】;；，|]))[\[【]?({_SPACED})\s*+[\]】]?\s*+[:：]\s*+")
_ALONE = re.compile(rf"[\[【]?({_SPACED})\s*+[\]】]?\s*+[:：]?")
_DATE = re.compile(r"\d{4}\s*[-年./]\s*\d{1,2}(?:\s*[-月./]\s*\d{1,2})?")
_VALID = re.compile(r"[已现]?(?:行|全文|部分)?(?:有效|失效|废止|修[改订])|尚未生效|现行")
_ONE_NUMBER = re.compile(
    r"[^\d\s]{1,20}\s*+[〔\[（(【]\s*+\d{4}\s*+[〕\]）)】]\s*+第?\s*+\d{1,5}\s*+号"
)
_NOTHING = re.compile(r"[\s\-—–_/无暂空]*")
_LONGEST = 120  # characters of a value
_APART = 8  # lines between two labels of one box

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


def read_box(lines: Sequence[str]) -> dict[str, str]:
    """Return what the official box of a page states, by the field's usual name.

    A box is a cluster of labels with values, on one line (索引号：X) or on two (the cells of a
    table). It counts only with two labels at least, one of them such as only a box has.

    Args:
        lines: Of the whole page, cells of tables on lines of their own.

    >>> read_box(["文　号：", "云政发〔2022〕3号", "失效日期：2027年3月4日"])
    {'发文字号': '云政发〔2022〕3号', '失效日期': '2027年3月4日'}
    >>> read_box(["发布时间：2022-03-05", "来源：云岭日报"])
    {}
    """
    found: dict[str, str] = {}
    last = -_APART
    for at, name, value in _pairs(lines):
        if at - last > _APART:
            if _is_box(found):
                break
            found = {}
        last = at
        if value and name not in found:
            found[name] = value
    return found if _is_box(found) else {}


def _is_box(found: dict[str, str]) -> bool:
    return len(found) > 1 and not _SURE.isdisjoint(found)


def _pairs(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Yield (line, field, value) of every label; the value is empty where there is none."""
    for at, line in enumerate(lines):
        below = lines[at + 1].strip() if at + 1 < len(lines) else ""
        below = "" if _LABEL.match(below) or _ALONE.fullmatch(below) else below
        if alone := _ALONE.fullmatch(line.strip()):
            yield at, *_pair(alone[1], below)
            continue
        hits = list(_LABEL.finditer(line))
        for hit, after in zip_longest(hits, hits[1:]):
            end = after.start() if after else len(line)
            yield at, *_pair(hit[1], line[hit.end() : end])


def _pair(label: str, text: str) -> tuple[str, str]:
    name = _NAME_OF["".join(label.split())]
    value = " ".join(text.split()).strip(" 　;；|")
    if (name in _DATES and not _DATE.match(value)) or (
        name == "时效性" and not _VALID.match(value)
    ):
        value = ""
    if name == "发文字号" and _ONE_NUMBER.fullmatch(value):
        value = "".join(value.split())
    if len(value) > _LONGEST or _NOTHING.fullmatch(value):
        value = ""
    return name, value
