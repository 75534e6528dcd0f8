"""The title of a document from its first lines, and that of a notice that covers it."""

import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile, takewhile

from kgrag.text.numbering import item_end
from kgrag.text.numerals import HAN_DIGITS, HAN_SMALL, HAN_WHOLE
from kgrag.text.page_labels import NAME_LABELS, page_label, with_labels
from kgrag.text.title_keys import without_number
from kgrag.text.vocabulary import DOCUMENT_KINDS, ISSUER_ENDS
from kgrag.text.words import normalize_name

_KINDS = (
    f"{DOCUMENT_KINDS}|函|手册|答复|说明|解读|公示|议案|提案|建议|请示|纪要|倡议书|安排|法|工程|行动"
    "|机制|体系"
)
_KIND_END = re.compile(rf"(?:{_KINDS})$")
# What may follow the kind: a bracket such as （试行） and the mark that closes a quoted title.
_TRAILER = re.compile(r"(?:[（(][^（）()]*[）)]|[》」”\"]){1,20}$")
_BRACKET_LINE = re.compile(r"[（(](?!此|本)[^（）()〔〕\[\]号月]{2,20}[）)]")
_ACTS = "通知|函|公告|通告|决定|意见|批复|通报"
_ACT_END = re.compile(rf"的(?:{_ACTS})$")
_TAIL = re.compile(rf"(?!.*(?:关于|印发))(?:.{{0,16}}的)?(?:{_ACTS})$")
_MARKDOWN = re.compile(r"^#+\s*|\*\*|^>\s*|^[-*+]\s+")
_DATE = rf"[0-9０-９{HAN_WHOLE}]{{4}}\s*[年.\-/]\s*[0-9０-９{HAN_SMALL}]{{1,3}}"
_FURNITURE = re.compile(
    r"[\W\d_]*$"
    rf"|(?:附\s*+件|附\s*+录)\s*+[0-9{HAN_SMALL}]*+\s*+[:：]?$"
    r"|(?:目\s*录|前\s*言|序\s*言|引\s*言|摘\s*要|正\s*文|总\s*则|言)\s*$"
    r"|.{0,40}文\s*件$"
    r"|[（(]?(?!关于)[^，。《》：]{1,16}[〔\[【［(（]\s*[0-9０-９]{4}\s*[〕\]】］)）].{0,8}号[）)]?(?:\s*签发人.*)?$"
    r"|[（(]?(?:第\s*\S{1,12}\s*号|.{2,30}令)[）)]?$"
    rf"|[（(]?{_DATE}.{{0,40}}$|[（(]?[0-9０-９{HAN_DIGITS}〇○]{{4}}\s*年度?[）)]?$"
    r"|(?:索引号|主题|发文|文号|字号|发布|成文|生成|实施|施行|公开|来源|信息|时效|效力|法规|有效|分类"
    r"|名称|发稿|作者|责任编辑|编辑|更新|时间|日期|字体|点击|访问|审核|录入|供稿|浏览|阅读|打印|分享|当前位置|您(?:当前)?所在|首页)[^，。]{0,12}[:：>]"
    r"|(?:密级|紧急程度|公开方式|公开属性|主动公开|不予公开|依申请公开|特急|平急|加急)"
    r"|今天是|欢迎(?:来到|访问|光临|您)|首页\s|.{0,20}设为首页|[^，。]{0,80}[（(]共\s*\d+\s*篇[）)]$|篇\d+[:：]|特此"
    r"|(?:社交媒体|一键)?(?:分享|搜索|收藏|打印|下载|转发|关闭)(?:本[页文]|到.{1,8})?$"
    r"|[（(]此件|【[^】]*】|\[[^\]]*\]$|.{0,20}[.．·…]{6,}"
    r"|.*[»>|].*[»>|]|.*[»>]$|(?:[^|]{1,8}\|)+[^|]{1,8}$|返回(?:顶部|首页|列表)|导读[:：]|标\s*题\s*[:：]|【?字[体号]"
)
# The head of an order or announcement: 云岭省人民政府令, 公 告; its number stands on the next line.
_ACT_HEAD = re.compile(r"[^，。；：《》“”]{0,60}?(?:命?令|公告|通告)")
_ACT_NUMBER = re.compile(
    rf"[（(]?(?:(?:19|20)\d\d年)?第?[{HAN_WHOLE}\d]{{1,8}}号[）)]?"
    r"|[〔\[［(（](?:19|20)\d\d[〕\]］)）]第?\d{1,5}号"
)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_LINK = re.compile(
    r"(?<=[一-鿿》）])\s*(?:English|ENGLISH|繁體|繁体)$"
)  # of the page, to a translation
_LATIN = re.compile(r"[A-Za-z]{2}")
_BY_NUMBER = re.compile(r"(?<=[\u4e00-\u9fff“《（])\s+(?=\d)|(?<=\d)\s+(?=[\u4e00-\u9fff”》）])")
_ISSUER = re.compile(rf"[^，。；：《》]{{2,60}}(?:{ISSUER_ENDS})(?:[（(].{{1,12}}[）)])?$")
_ACT = re.compile(r"(?:关于|印发|转发|发布|批转|《|“)")
# Titles to which the next text was glued, the most certain first.
_RUN_ON = (
    re.compile(r"(?P<title>[^，。]{8,120}?)(?=(?P=title))"),
    re.compile(
        rf"(?P<title>[^，。]{{6,120}}?的(?:{_ACTS}))"
        r"(?=各[省市县区旗地州盟有相镇单部]|[^，。]{1,8}[〔\[][0-9０-９]{4})"
    ),
    re.compile(
        rf"(?!根据|按照|依据|贯彻)(?P<title>[^，。]{{6,120}}?(?:{_KINDS})(?:[（(][^（）()]{{1,20}}[）)])?)"
        r"(?=\s+[一-鿿]{1,12}[〔\[［﹝](?:19|20)\d\d[〕\]］﹞]\d{1,5}号\s)"
    ),
    re.compile(
        r"《(?P<title>[^《》]{6,80})》(?=[^的，、》\s])(?!.{0,10}(?:解读|说明|问答|图解|意见|公示)$)"
    ),
    re.compile(
        rf"(?P<title>[^，。]{{4,60}}(?:{_KINDS}))"
        r"(?=为(?:了|深入|认真|全面|切实|贯彻|进一步|加快|推动|落实|规范|加强)|近日|日前)"
    ),
    re.compile(
        rf"(?P<title>[^，。]{{6,120}}(?:{_KINDS})(?:[（(][^（）()]{{1,20}}[）)])?)"
        r"(?=[（(]?[一-鿿]{1,12}[〔\[［﹝][0-9０-９]{4}[〕\]］﹞][0-9０-９]{1,5}号[）)]?$)"
    ),
)
# What sentences of a first paragraph begin with, though a line of it may end in 方案.
_OPENING = re.compile(
    r"根据|按照|依据|遵照|近日|日前|近年来"
    r"|为(?:了|深入|认真|全面|切实|贯彻|进一步|加快|推动|推进|落实|规范|加强|积极|做好|更好)"
)
# Kinds that are words of other titles as well: 信息披露制度 改革方案.
_WEAK_KIND = re.compile(r"(?:制度|政策|标准|工程|行动|机制|体系|目录|安排|法)$")
_ISSUED = re.compile(
    r"(?:现将|我[省市县区州盟旗厅局委]印发)《(?P<a>[^《》]{4,80})》"
    r"|《(?P<b>[^《》]{4,80})》[已业经]{1,2}[^。《》]{0,40}(?:同意|通过|批准)"
    r"|[，,](?:特|现|研究|组织)*(?:编制|制定|制订)(?:形成|了)?《(?P<c>[^《》]{4,80})》(?=[，。,])"
)
# Stands behind a title or ahead of it, by a mark or none: 云政发〔2022〕3号.
_NUMBER_TEXT = r"[一-鿿]{2,12}[〔\[［﹝]\s*(?:19|20)\d\d\s*[〕\]］﹞]\s*\d{1,5}\s*号"
_NUMBER_AHEAD = re.compile(rf"{_NUMBER_TEXT}\s*(?=[^，。《》]{{2,40}}(?:关于|印发))")
_NUMBER_BEHIND = re.compile(
    rf"(?<=通知|公告|通告|决定|意见|批复|通报)\s*[（(]?{_NUMBER_TEXT}[）)]?$"
)
# 应急预案—云岭省洪涝应急预案: the column of a site, which the title ends in.
_COLUMN = re.compile(r"(?P<kind>[一-鿿]{2,6})\s*[—－-]+\s*(?=[^—－-]{4,100}(?P=kind)$)")
# The year that a collection of laws puts behind a title.
_EDITION = re.compile(r"(?<!\s)\s*+[（(](?:19|20)\d\d\s*+年?(?:修订|修正)?[）)]$")
_SPELLED = re.compile(r"[一-鿿](?: [一-鿿]){1,3}")  # 通 知, drawn wide
_SHORT_REST = 12  # characters of the last line of a title
_MAX_LINES = 5
_MAX_TITLE = 150
_LOOK_AHEAD = 2000
_MAX_FALLBACK = 60
_MAX_CAPITALS = 200
_BODY_LINES = 400  # in which the title of the body stands again
_MOST_TITLE_LINES = 5  # that a title fills
_AFTER_QUOTE = r"(?:[（(][^（）()]{1,24}[）)])?"
_ISSUED_QUOTED = re.compile(
    rf"(?:印发|发布|公布|颁布|颁发|下发)(?:施行|实施)?[《«〈](?P<body>.{{4,160}})[》»〉]{_AFTER_QUOTE}?的(?:通知|公告|通告|函)"
)
_ISSUED_PLAIN = re.compile(
    r"(?:印发|发布|公布|颁布|颁发|下发)(?![《〈])(?P<body>.{4,160}?)的(?:通知|公告|通告|函)$"
)
_SEVERAL = re.compile(r"[》»〉](?:[、和及与]|以及)?[《«〈]")
_TITLE_NUMBER = re.compile(r"[（(]?[一-鿿]{1,16}[〔\[【［(（]\d{4}[〕\]】］)）]\d+号[）)]?$")


def guess_title(text: str, stem: str) -> str:
    r"""Return the title in a text's first 2000 characters; its file's stem as a last resort.

    In this order: the first run of up to five lines that ends in a kind of document (通知, 意见,
    方案, ...), with an issuer on the lines before it; the first line that is no furniture, if it
    has at most 60 characters and is no sentence; the first title that the text issues
    (现将《…》印发); the stem.

    >>> guess_title("青政〔2024〕1号\n关于印发《节能降碳\n方案》的通知\n各市人民政府：", "a")
    '关于印发《节能降碳方案》的通知'
    """
    return find_title(text) or _fallback(text, stem)


def find_title(text: str) -> str | None:
    """Return the title that has lines of its own among the first, if any."""
    lines = _without_act_head(_without_latin(with_labels(list(_first_lines(text)))))
    for i, line in enumerate(lines):
        if _is_furniture(line) or _is_body(line) or _is_of_the_page(lines, i):
            continue
        title = _run_on(line) or _joined(lines, i)
        if title:
            return _edition(_tidy(_issuers_before(lines, i, title) + title), lines)
    return None


def _first_lines(text: str) -> Iterator[str]:
    for line in text[:_LOOK_AHEAD].splitlines():
        # U+3164 and its kin are letters to Python and blanks to the eye.
        clean = " ".join(_MARKDOWN.sub("", line.strip()).replace("\u3164", " ").split())
        if clean:
            yield clean.replace(" ", "") if _SPELLED.fullmatch(clean) else clean


def _without_latin(lines: list[str]) -> list[str]:
    """Return a Chinese text's lines without those in English, the page's head."""
    if sum(bool(_CHINESE.search(line)) for line in lines) <= len(lines) / 2:
        return lines
    return [line for line in lines if _CHINESE.search(line) or not _LATIN.search(line)]


def _without_act_head(lines: list[str]) -> list[str]:
    """Return lines without the heads of orders and announcements: organ, 令 and number."""
    kept: list[str] = []
    for i, line in enumerate(lines):
        following = "".join(lines[i + 1].split()) if i + 1 < len(lines) else ""
        bare = "".join(line.split())
        is_head = _ACT_HEAD.fullmatch(bare) and _ACT_NUMBER.fullmatch(following)
        number = bool(kept) and kept[-1] == "" and _ACT_NUMBER.fullmatch(bare)
        kept.append("" if is_head or number else line)
    return [line for line in kept if line]


def _is_furniture(line: str) -> bool:
    unnumbered = _NUMBER_BEHIND.sub("", line)
    if unnumbered != line and _ACT_END.search(unnumbered):
        return False
    return bool(_FURNITURE.match(line) or page_label(re.split("[:：]", line, maxsplit=1)[0]))


def _is_of_the_page(lines: list[str], i: int) -> bool:
    """Return whether a line is a column's name or the path to the page, above the title."""
    line, following = lines[i], lines[i + 1] if i + 1 < len(lines) else ""
    if not _is_whole(following) or _is_body(following) or _is_furniture(following):
        return False
    if line != following and line.endswith(" " + following):
        return True
    organ, act, _ = following.partition("关于")
    begins = following.startswith("关于") or (act and _ISSUER.fullmatch(organ))
    return bool(begins) and not (_ACT.search(line) or _is_issuer(line) or _is_whole(line))


def _edition(title: str, lines: list[str]) -> str:
    """Return a title without the year behind it, if a line repeats it without that."""
    bare = _EDITION.sub("", title)
    return bare if bare != title and bare in lines else title


def _is_body(line: str) -> bool:
    """Return whether a line is a sentence, an addressee or a numbered heading, not a title."""
    if _run_on(line):
        return False
    return (
        line.endswith((":", "：", "，", "；", ",", ";"))
        or "。" in line
        or len(line) > _MAX_TITLE
        or item_end(line) > 0
        or bool(_OPENING.match(line))
        or line.count("，") + line.count(",") > 1
    )


def _run_on(line: str) -> str | None:
    """Return the title at the head of a line, to which the next text was glued."""
    for pattern in _RUN_ON:
        match = pattern.match(line)
        if match and _is_whole(match["title"]) and not item_end(line):
            return match["title"]
    return None


def _joined(lines: list[str], first: int) -> str | None:
    """Return the lines from `first` on that make a complete title."""
    following = "".join(lines[first + 1 : first + 2])
    if _is_issuer(lines[first]) and (_is_issuer(following) or _ACT.match(following)):
        return None  # the title begins below; `_issuers_before` puts this line in front
    title = ""
    for i, line in enumerate(lines[first : first + _MAX_LINES], first):
        if i > first and (_is_furniture(line) or _is_body(line)):
            return None
        title += line if not title or _cjk_meet(title, line) else " " + line
        if len(title) > _MAX_TITLE:
            return None
        if unnumbered := _unnumbered(title):
            return unnumbered
        if _is_whole(title) and not _goes_on(title, lines[i + 1 : i + 3]):
            following = "".join(lines[i + 1 : i + 2])
            return title + following if _BRACKET_LINE.fullmatch(following) else title
    return None


def _unnumbered(title: str) -> str:
    """Return a title without the number behind it; empty where none stands there."""
    bare = _NUMBER_BEHIND.sub("", title)
    return bare if bare != title and _ACT_END.search(bare) and _closed(bare) else ""


def _goes_on(title: str, following: Sequence[str]) -> bool:
    """Return whether one or two short lines go on with a title: …意见|促进节能的|实施方案."""
    rest = ""
    for line in following:
        if not rest and _TAIL.match(line):
            return True
        if _is_furniture(line) or _is_body(line) or len(line) > _SHORT_REST:
            return False
        rest += line
        if _is_whole(rest):
            other = rest[:2] == title[:2]  # the next title of a list
            return not (other or _ACT_END.search(title) or _WEAK_KIND.search(rest))
    return False


def _is_whole(title: str) -> bool:
    core = _TRAILER.sub("", title)
    if len(core) < 4 or not _KIND_END.search(core):
        return False
    # A scan may have lost the closing mark, but 的通知 is the end all the same.
    return _closed(title) or bool(_ACT_END.search(title))


def _closed(title: str) -> bool:
    pairs = (("《", "》"), ("“", "”"), ("（", "）"), ("(", ")"), ("〈", "〉"), ("«", "»"))
    return all(title.count(first) == title.count(last) for first, last in pairs)


def _cjk_meet(left: str, right: str) -> bool:
    """Return whether two pieces join without a blank, as Chinese does."""
    return left[-1] > "\u2e7f" or right[0] > "\u2e7f" or "“" in (left[-1] + right[0])


def _issuers_before(lines: list[str], first: int, title: str) -> str:
    """Return the issuers on the lines before a title that begins with 关于 or 印发."""
    if not _ACT.match(title):
        return ""
    issuers: list[str] = []
    for line in reversed(lines[:first]):
        if not _is_issuer(line):
            break
        issuers.insert(0, line)
    return " ".join(issuers)


def _is_issuer(line: str) -> bool:
    return bool(_ISSUER.fullmatch(line)) and "关于" not in line and not _is_furniture(line)


def _tidy(title: str) -> str:
    if re.match(r"[^《]{4,40}号\s*《", title):  # 云政发〔2021〕3号《关于…的通知》
        title = without_number(title)
    title = _COLUMN.sub("", _NUMBER_AHEAD.sub("", title, count=1))
    title = _LINK.sub("", _BY_NUMBER.sub("", re.sub(r"(?<=[一-鿿])_(?=[一-鿿])", " ", title)))
    if title.startswith("《") and title.endswith("》") and title.count("《") == 1:
        return title[1:-1]
    return title


def _named(lines: list[str]) -> str:
    """Return the title in the metadata box of a page, or ""."""
    for i, line in enumerate(lines):
        label, _, told = line.partition("：") if "：" in line else line.partition(":")
        if page_label(label) in NAME_LABELS:
            told = told.strip() or (lines[i + 1] if i + 1 < len(lines) else "")
            if len(told) >= _SHORT_REST and not _is_body(told):
                return told
    return ""


def _fallback(text: str, stem: str) -> str:
    lines = with_labels(list(_first_lines(text)))
    if named := _named(lines):
        return named
    lines = list(dropwhile(_is_furniture, lines))
    first = lines[0] if lines else ""
    if first.isupper() and first.isascii():  # on several lines, as acts in English have it
        more = takewhile(
            lambda line: line.isupper() and not item_end(line), lines[1:_MOST_TITLE_LINES]
        )
        first = " ".join((first, *more))
        return _tidy(first) if len(first) <= _MAX_CAPITALS else stem
    if first and len(first) <= _MAX_FALLBACK and not _is_body(first):
        return _tidy(first)
    match = _ISSUED.search("\n".join(lines[:10]))
    if match:
        return match["a"] or match["b"] or match["c"]
    return stem if normalize_name(stem) else "untitled"


def split_title(text: str, title: str) -> tuple[str, str]:
    r"""Return the title of a document's body, and that of the notice that covers it, or "".

    Where the notice is 关于印发《A》的通知 and A follows below with its own title, A is the body.
    What a notice only forwards (转发) is no body.

    Args:
        text: The document.
        title: Of the body or the notice, as `guess_title` or the file gives it.

    >>> split_title("关于印发《节能方案》的通知\n现印发给你们。\n节能方案\n一、要求",
    ...             "关于印发《节能方案》的通知")
    ('节能方案', '关于印发《节能方案》的通知')
    >>> split_title("关于节能的通知\n各市：", "关于节能的通知")
    ('关于节能的通知', '')
    """
    body = _issued_by(title)
    if body:
        return (body, title) if _stands_again(text, body) else (title, "")
    notice = find_title(text) or ""
    issued = _issued_by(notice)
    same = issued and normalize_name(issued) in (normalize_name(title), _bare(title))
    return (title, notice) if same else (title, "")


def _issued_by(title: str) -> str:
    """Return the title that a notice's title says it issues, or "" for none or several."""
    bare = _TITLE_NUMBER.sub("", title.strip())
    match = _ISSUED_QUOTED.search(bare) or _ISSUED_PLAIN.search(bare)
    body = match["body"].strip("《》«»〈〉 ") if match else ""
    return "" if _SEVERAL.search(body) else body


def _bare(title: str) -> str:
    return normalize_name(re.sub(r"[（(][^（）()]*[）)]$", "", title))


def _stands_again(text: str, body: str) -> bool:
    """Return whether a title is repeated below: on lines of its own, or behind a signature."""
    lines = [line.strip() for line in text.splitlines()[:_BODY_LINES] if line.strip()]
    wanted = {normalize_name(body), _bare(body)} - {""}
    return any(_stands_from(lines, i, wanted) for i in range(1, len(lines)))


def _stands_from(lines: Sequence[str], first: int, wanted: set[str]) -> bool:
    joined = ""
    longest = max(map(len, wanted))
    for line in lines[first : first + _MOST_TITLE_LINES]:
        if len(line) > longest + 200:
            return False
        joined += normalize_name(line)
        if any(joined == name or joined.endswith(f"日{name}") for name in wanted):
            return True
        if len(joined) > longest + 60:
            return False
    return False
