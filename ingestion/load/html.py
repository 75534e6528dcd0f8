"""Saved web pages: the article without the site's furniture, paragraph by paragraph."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from lxml import etree

from kgrag.errors import IngestionError
from kgrag.files.encoding import decode
from kgrag.ingestion.load.grid import Cell, table_lines
from kgrag.ingestion.load.parsed import (
    DOCUMENT_NUMBER,
    Block,
    Parsed,
    join_blocks,
    replace_unusable,
    visible,
)
from kgrag.ingestion.load.raised import lowered, raised
from kgrag.ingestion.load.title import find_title, guess_title
from kgrag.text.messages import message
from kgrag.text.numbering import item_end
from kgrag.text.numerals import HAN_SMALL, roman_number
from kgrag.text.titles import document_kinds
from kgrag.text.vocabulary import ISSUER_ENDS
from kgrag.text.words import normalize_name

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_GROUPS = ("thead", "tbody", "tfoot")
_PROSE_TAGS = ("p", "div", "li", "br", "section")
_PAGE_PARTS = ("h1", "h2", "h3", "h4", "h5", "h6", "article", "main")
_MOST_WITHIN = 3  # tables within tables within tables; deeper, cells are lines
_FEW_ROWS = 3  # a table of so many rows may only lay out the page
_PROSE = 400  # characters of a cell that is text rather than data
_PROSE_BLOCKS = 3

_WRAPPED = re.compile(r"(?<=[\u2e80-\uffef“”])[ \t\r]*\n\s*(?=[\u2e80-\uffef“”])")
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
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
_LABEL = re.compile(
    rf"(?:^|(?<=[\s\]】;；，|]))(?:[\[【]\s*+)?({_SPACED})\s*+(?:[\]】]\s*+[:：]?|[:：])\s*+"
)
_ALONE = re.compile(rf"[\[【]?({_SPACED})\s*+[\]】]?\s*+[:：]?")
_DATE = re.compile(r"\d{4}\s*[-年./]\s*\d{1,2}(?:\s*[-月./]\s*\d{1,2})?")
_VALID = re.compile(r"[已现]?(?:行|全文|部分)?(?:有效|失效|废止|修[改订])|尚未生效|现行")
_ONE_NUMBER = re.compile(
    r"[^\d\s]{1,20}\s*+[〔\[（(【]\s*+\d{4}\s*+[〕\]）)】]\s*+第?\s*+\d{1,5}\s*+号"
)
_NOTHING = re.compile(r"[\s\-—–_/无暂空]*")
_LONGEST = 120  # characters of a value
_APART = 8  # lines between two labels of one box


_DECLARED = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_SILENT = frozenset(
    ("script", "style", "noscript", "template", "iframe", "object", "svg", "canvas", "head")
)
_CONTROLS = frozenset(("button", "select", "option", "textarea", "nav", "footer", "aside"))
_DELETED = frozenset(("del", "s", "strike"))
_HIDING = re.compile(
    r"(?:^|;)(?:display:none|visibility:hidden|opacity:0(?![.\d]*[1-9])|font-size:0(?![.\d]*[1-9])"
    r"|text-decoration(?:-line)?:[^;]*line-through)",
    re.IGNORECASE,
)
_AT_RULE = re.compile(r"@[^{};]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_RULE = re.compile(r"(?<![^{}])([^{}]+)\{([^{}]*)\}")
_PLAIN_SELECTOR = re.compile(r"\s*[a-z]*([.#])([\w-]+)\s*", re.IGNORECASE)
# Without these tags a page says the same, and is not nested.
_SITE = re.compile(r"\s{0,9}[-—–]{1,9}(?=[^-—–]*$)[^-—–]*(?:网|网站|政府|平台|局|厅|委)\s*+$")
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


def clean(text: str) -> str:
    """Return text with whitespace normalised, and without the source's line breaks in Chinese."""
    return " ".join(visible(_WRAPPED.sub("", text)).split())


def page_lines(element: "HtmlElement", *, by_cell: bool = False) -> list[Block]:
    """Return the lines below an element, with heading levels (h1 to h6).

    Numbers of lists are written out, raised and lowered characters are kept as such, checkboxes
    are ☑ and ☐.

    Args:
        element: Without furniture.
        by_cell: Have cells of tables on lines of their own, not rows.
    """
    lines: list[Block] = []
    pieces: list[str] = []
    level = 0
    for piece in (*_pieces(element, by_cell=by_cell), 0):
        if isinstance(piece, str):
            pieces.append(piece)
            continue
        if text := clean("".join(pieces)):
            lines.append(Block(text, level))
        pieces.clear()
        if isinstance(piece, int):
            level = piece
        else:
            lines.append(piece)
    return lines


def _pieces(root: "HtmlElement", *, by_cell: bool) -> Iterator[str | int | Block]:
    """Yield texts, at ends of lines the level of the next one, and rows of tables."""
    lists = _Lists()
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag = element.tag
        if event == "start":
            leaf = None if by_cell and tag == "table" else _leaf(element)
            if leaf is not None:
                walk.skip_subtree()
                yield from leaf
                continue
            if tag in BLOCK_TAGS:
                yield _HEADINGS.get(tag, 0)
            yield lists.mark(element)
            text = element.text or ""
            for i, line in enumerate(text.split("\n") if tag == "pre" else [text]):
                if i:
                    yield 0
                yield line
        else:
            if tag in BLOCK_TAGS:
                yield 0
            if element is not root:
                yield element.tail or ""


def _leaf(element: "HtmlElement") -> list[str | int | Block] | None:
    """Return the pieces of an element that is not walked; None for others."""
    tag = element.tag
    if tag == "br":
        return [0]
    if tag == "table":
        rows = _html_table_lines(element)
        return None if rows is None else [0, *(Block(row) for row in rows if row), 0]
    if tag in _SCRIPTS:
        return [_SCRIPTS[tag](clean(element.text_content()))]
    if tag in _OF_TWO and len(element) == 2:
        return [_OF_TWO[tag](*(clean(part.text_content()) for part in element))]
    if tag == "input":
        ticked = element.get("type", "").lower() in ("checkbox", "radio")
        return [("☑" if element.get("checked") is not None else "☐") if ticked else ""]
    return None


_SCRIPTS: Mapping[str, Callable[[str], str]] = {"sup": raised, "sub": lowered}
_OF_TWO: Mapping[str, Callable[[str, str], str]] = {  # of MathML
    "mfrac": lambda above, below: f"({above})/({below})",
    "msup": lambda base, mark: base + raised(mark),
    "msub": lambda base, mark: base + lowered(mark),
}


class _Lists:
    """Counts the items of numbered lists."""

    def __init__(self) -> None:
        self._next: dict[HtmlElement, int] = {}

    def mark(self, element: "HtmlElement") -> str:
        """Return the number that a browser shows before an element, if any."""
        parent = element.getparent()
        if element.tag != "li" or parent is None or parent.tag != "ol":
            return ""
        step = -1 if parent.get("reversed") is not None else 1
        number = self._next.get(parent)
        if number is None:
            first = len(parent.findall("li")) if step < 0 else 1
            number = _whole(parent.get("start"), first)
        number = _whole(element.get("value"), number)
        self._next[parent] = number + step
        style = "".join(parent.get("style", "").split()).lower()
        kind = element.get("type") or parent.get("type") or ""
        if "list-style:none" in style or "list-style-type:none" in style:
            return ""
        text = element.text_content().lstrip()
        if item_end(text) or text.startswith("-"):
            return ""
        return f"{_counted(number, kind)}. "


def _whole(text: str | None, default: int) -> int:
    bare = (text or "").strip()
    return int(bare) if re.fullmatch(r"-?\d{1,6}", bare, re.ASCII) else default


def _counted(number: int, kind: str) -> str:
    if kind in ("a", "A") and 1 <= number <= 26:
        return chr(ord(kind) + number - 1)
    if kind in ("i", "I") and 1 <= number < 40:
        return roman_number(number) if kind == "i" else roman_number(number).upper()
    return str(number)


def _html_table_lines(table: "HtmlElement") -> list[str] | None:
    """Return a table as lines, see `grid.table_lines`; None where it only lays out the page.

    A layout has one column, or few rows with headings, tables or long text of several paragraphs
    in their cells, or text outside its cells.
    """
    rows = [list(row.iterchildren("td", "th")) for row in _rows(table)]
    captions = list(table.iterchildren("caption"))
    is_all = _length(table) == sum(map(_length, chain(captions, *rows)))
    if _is_layout(rows, table) or not is_all:
        return None
    texts = [[_cell(cell) for cell in row] for row in rows]
    if len(rows) == 1 and any("\n" in cell.text for cell in texts[0]):
        return None
    above = [line for caption in captions for line in _texts_by_cell(caption)]
    return [*above, *table_lines(texts, _n_header(table, rows) or None)]


def _rows(table: "HtmlElement") -> "Iterator[HtmlElement]":
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in _GROUPS:
            yield from (row for row in child if row.tag == "tr")


def _is_layout(rows: "list[list[HtmlElement]]", table: "HtmlElement") -> bool:
    if (table.get("role") or "").lower() in ("presentation", "none"):
        return True
    if all(len(row) < 2 for row in rows):
        return True
    filled = [row for row in rows if any(_length(cell) for cell in row)]
    if len(filled) > _FEW_ROWS:
        return False
    if next(table.iterdescendants("table", *_PAGE_PARTS), None) is not None:
        return True
    return any(
        _length(cell) > _PROSE and len(list(cell.iter(*_PROSE_TAGS))) >= _PROSE_BLOCKS
        for row in filled
        for cell in row
    )


def _length(element: "HtmlElement") -> int:
    return len("".join("".join(element.itertext()).split()))


def _texts_by_cell(element: "HtmlElement") -> list[str]:
    return [line.text for line in page_lines(element, by_cell=True)]


def _cell(cell: "HtmlElement") -> Cell:
    row_span = _span(cell.get("rowspan"))
    # 0 is "as far as the rows go".
    is_deep = sum(1 for _ in cell.iterancestors("table")) > _MOST_WITHIN
    lines = (line.text for line in page_lines(cell, by_cell=is_deep))
    col_span = _span(cell.get("colspan")) or 1
    return replace(Cell.of_lines(lines), row_span=row_span or 65535, col_span=col_span)


def _span(told: str | None) -> int:
    digits = re.match(r"\s*\+?(\d{1,6})", told or "1", re.ASCII)
    return int(digits[1]) if digits else 1


def _n_header(table: "HtmlElement", rows: "list[list[HtmlElement]]") -> int:
    """Return how many rows are in `thead`, or have only `th`."""
    heads = [head for head in table if head.tag == "thead"]
    told = sum(len(head.findall("tr")) for head in heads)
    marked = 0
    while marked < len(rows) and rows[marked] and all(cell.tag == "th" for cell in rows[marked]):
        marked += 1
    return max(told, marked)


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
_BETWEEN_DOCUMENTS = re.compile(
    r"(?:上|下)一[篇条]|相关(?!附件)|推荐|扫一扫|分享|主办|承办|版权|网站"
)
_FILE = re.compile(
    r"(?<![^/?#=])([^/?#=]+\.(?:docx?|pdf|xlsx?|wps|et|ofd|zip|rar|7z))(?:$|[?#&])", re.IGNORECASE
)
_LINES_AHEAD = 5


def find_article(page: "HtmlElement") -> "HtmlElement":
    """Return the innermost element with 80 % of a page's sentences outside links."""
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


def beside_article(article: "HtmlElement") -> tuple[list[Block], list[Block]]:
    """Return lines of an article in blocks before and behind it.

    Before it, its number (文号); behind it, signature, date, recipients and attachments with their
    text, up to the first line that is none of these.
    """
    before: list[Block] = []
    for element in _beside(article, preceding=True):
        before = [*page_lines(element), *before]
        if len(before) >= _LINES_AHEAD:
            break
    near = reversed(before[-_LINES_AHEAD:])
    number = next((line for line in near if DOCUMENT_NUMBER.fullmatch(line.text)), None)
    behind: list[Block] = []
    for element in _beside(article, preceding=False):
        lines = page_lines(element)
        taken = _ending(lines, listing=bool(behind) and bool(_ATTACHED.match(behind[-1].text)))
        behind += taken
        if len(taken) < len(lines):
            break
    return [number] if number else [], behind


def _attached(article: "HtmlElement", text: str) -> Iterator[Block]:
    """Yield the names of files that are linked behind an article and that its text lacks."""
    for element in _beside(article, preceding=False):
        for link in element.iter():
            if _BETWEEN_DOCUMENTS.match((link.text or "").strip()):
                return
            file = _FILE.search(link.get("href", ""))
            name = file and (clean(link.text_content()) or clean(link.get("title", "")) or file[1])
            if name and name not in text:
                text += name
                yield Block(f"附件：{name}")


def _beside(article: "HtmlElement", *, preceding: bool) -> Iterator["HtmlElement"]:
    """Yield the elements before or behind one, the nearest first."""
    element = article
    while element is not None and element.tag not in ("body", "html"):
        yield from element.itersiblings(preceding=preceding)
        element = element.getparent()


def _ending(lines: Sequence[Block], *, listing: bool) -> list[Block]:
    """Return the first lines of a block that end the document before it."""
    taken: list[Block] = []
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


def read_html(data: bytes, *, name: str, stem: str, is_article: bool = False) -> Parsed:
    """Return a page's article: paragraphs and table rows on lines of their own.

    The article is the innermost element with 80 % of the page's sentences outside links, without
    menus, footers, share buttons and hidden parts. The title is the page's `ArticleTitle`, a
    heading that the window's title repeats, or the window's title.

    Args:
        data: The whole page.
        name: The file, for messages.
        stem: The title where the page has none.
        is_article: Whether there is nothing else in it: a mail, a chapter of a book.

    Raises:
        IngestionError: It is not text or not a page.
    """
    declared = _DECLARED.search(data[:4096])
    decoded = decode(data, name=name, declared=declared[1].decode("ascii") if declared else None)
    usable, warnings = replace_unusable(decoded.text)
    page, flattened = _parse(usable, name)
    title, metadata = _page_title(page), _metadata(page)
    hidden = _hidden_by_rule(page)
    _drop_silent(page)
    box = read_box(_texts_by_cell(page))
    _drop_furniture(page, hidden)
    article = page if is_article else find_article(page)
    before, behind = beside_article(article)
    lines = [*before, *page_lines(article), *behind]
    kept = [line for line in lines if not _FURNITURE_LINE.fullmatch(line.text)]
    kept += _attached(article, "".join(line.text for line in kept))
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
    """Return a page's tree, and warnings where it had to be flattened."""
    from lxml import etree, html

    source = _XML_DECLARATION.sub("", text)
    flattened: list[str] = []
    try:
        parser = html.HTMLParser(huge_tree=True)  # 256 levels are read without, 2,048 with it
        page = html.document_fromstring(source, parser=parser)
        if any(error.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for error in parser.error_log):
            parser = html.HTMLParser(huge_tree=True)
            page = html.document_fromstring(_WRAPPERS.sub("<br>", source), parser=parser)
            flattened.append(
                message("its blocks are nested too deeply, and were read without nesting")
            )
            if any(e.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for e in parser.error_log):
                flattened.append(
                    message("the page is nested too deeply to be read whole; save it again")
                )
    except (etree.LxmlError, ValueError) as exc:
        raise IngestionError(
            "{name}: is not a web page ({error}); save the page again", name=name, error=exc
        ) from exc
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
    # Beside a _ stand columns and the site, also before the title: 首页_…的通知_政府信息公开专栏.
    parts = [part.strip() for part in re.split("[_|]", window)]
    bare = _SITE.sub("", next(filter(document_kinds, parts), parts[0]))
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
    for element in list(page.iter()):
        silent = not isinstance(element.tag, str) or element.tag in _SILENT
        if silent and element.getparent() is not None:
            element.drop_tree()


def _hidden_by_rule(page: "HtmlElement") -> list["HtmlElement"]:
    """Return the elements that a rule of the page hides, for a class or an id alone.

    What holds most of the page's text is shown by a script.
    """
    names: set[str] = set()
    for sheet in page.iter("style"):
        for selectors, rules in _RULE.findall(_AT_RULE.sub("", sheet.text or "")):
            if _HIDING.search(re.sub(r"\s", "", rules)):
                names.update(
                    "".join(match.groups())
                    for match in map(_PLAIN_SELECTOR.fullmatch, selectors.split(","))
                    if match
                )
    most = _length(page) / 2 if names else 0
    return [
        element
        for element in (page.iter() if names else ())
        if isinstance(element.tag, str)
        and not names.isdisjoint(
            (f"#{element.get('id')}", *(f".{name}" for name in element.get("class", "").split()))
        )
        and _length(element) < most
    ]


def _drop_furniture(page: "HtmlElement", hidden: Sequence["HtmlElement"]) -> None:
    for element in hidden:
        if element.getparent() is not None:
            element.drop_tree()
    for element in list(page.iter()):
        if element.tag not in ("html", "body") and _is_furniture(element):
            element.drop_tree()


def _is_furniture(element: "HtmlElement") -> bool:
    if element.tag in _CONTROLS:
        return True
    if element.tag in _DELETED or element.get("hidden") is not None:
        return True
    if _HIDING.search(re.sub(r"\s", "", element.get("style", ""))):
        return True
    if element.tag == "header":
        return not any(a.tag in ("article", "main") for a in element.iterancestors())
    label = f"{element.get('class', '')} {element.get('id', '')}"
    return bool(_FURNITURE_CLASS.search(label)) and len(element.text_content()) < _MAX_FURNITURE


def read_box(lines: Sequence[str]) -> dict[str, str]:
    """Return the metadata box of a page, by the field's usual name.

    It is a cluster of at least two labels with values, on one line (索引号：X) or on two (cells of
    a table), one of them a label that only such boxes have.

    Args:
        lines: Of the page, cells of tables on lines of their own.

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
    """Yield (line, field, value) of every label; the value may be empty."""
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
