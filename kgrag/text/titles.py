"""Parse titles of official documents."""

import re
import unicodedata
from collections.abc import Sequence

from kgrag.text.leading_region import leading_region
from kgrag.text.regions import own_region, regions_named
from kgrag.text.title_keys import title_key, without_number
from kgrag.text.vocabulary import FIVE_YEAR_PLAN

# Predicates of facts by which one document cites another.
CITING_PREDICATES = frozenset(
    ["引用", "提及", "依据", "落实", "修订", "废止", "印发", "转发", "参照"]
)

_ISSUED = re.compile(r"(?:印发|发布|公布|转发|颁布)《(.{1,200})》")
_ISSUER = re.compile(r"^.{0,40}?(?=关于)")
# 关于印发云岭省节能规划的通知: what is issued, without or with any marks.
_PASSED_ON = re.compile(
    r"(?:印发|发布|公布|转发|颁布|出台)[《«〈]?(.{1,200}?)[》»〉）)~～\s]?(?:[（(][^（）()]*[）)])?的(?:通知|公告|通告|函)$"
)
# What may follow the kind in a title: （试行） and the mark that closes a quoted title.
_TRAILER = re.compile(r"(?:[（(][^（）()]*[）)]|[》」”\"]){1,20}$")
# What titles of official documents end in.
_KIND_WORDS = """
通知 公告 通告 公报 函 批复 决定 令 意见 实施意见 指导意见 若干意见 报告 要点 工作要点 白皮书
方案 实施方案 行动方案 工作方案 总体方案 试点方案 建设方案 改革方案 分工方案
规划 专项规划 纲要 规划纲要 计划 行动计划 工作计划 措施 若干措施 政策措施 支持措施
若干政策 举措 若干举措 法 方法 条例 规定 若干规定 暂行规定 办法 管理办法 暂行办法
管理暂行办法 实施办法 细则 实施细则 规程 操作规程 规则 准则 导则 标准 规范 技术规范 制度 章程
指南 申报指南 实施指南 技术指南 目录 名单 清单
"""
_KINDS = frozenset(_KIND_WORDS.split())
_LONGEST_KIND = max(map(len, _KINDS))
# What tells editions and periods of plans apart, by which no two places' titles agree.
_PERIOD = re.compile(
    rf"[“\"]?{FIVE_YEAR_PLAN}[”\"]?(?:时期|期间)?|[（(][^（）()]*[）)]"
    r"|(?<!\d)(?:19|20)\d\d(?:\s*+年?\s*+[-—–－−~至到]++\s*+(?:19|20)?\d\d)?(?!\d)(?:\s*+年度?前?)?"
)
_OWN = range(4, 0, -1)  # characters of 自治区, 全省, 我市 before what a title is about


def document_name(title: str) -> str:
    """Return the name by which other documents cite one with this title.

    It is the title in 《》 after 印发, or the title without the issuer before 关于.

    >>> document_name("云岭省人民政府关于印发《云岭省节能规划》的通知")
    '云岭省节能规划'
    >>> document_name("云岭省人民政府关于加快节能工作的意见")
    '关于加快节能工作的意见'
    """
    issued = _ISSUED.search(title)
    if issued:
        return issued.group(1)
    bare = _ISSUER.sub("", title.strip().strip("《》"))
    return bare or title


def titles_within(title: str) -> tuple[str, ...]:
    """Return a title, its citation name and the title it issues, without duplicates.

    Suffixes such as （试行） and closing punctuation are stripped.

    >>> titles_within("关于印发云岭省节能规划（试行）的通知")
    ('关于印发云岭省节能规划（试行）的通知', '云岭省节能规划')
    """
    bare = _TRAILER.sub("", title)
    issued = _PASSED_ON.search(bare)
    names = (title, document_name(title), issued.group(1) if issued else title)
    return tuple(dict.fromkeys(_TRAILER.sub("", name) for name in names))


def document_kinds(title: str) -> tuple[str, ...]:
    """Return the kinds of document in which a title, and the one it issues, end; longest match.

    >>> document_kinds("云岭省人民政府关于印发《云岭省节能实施方案》的通知")
    ('通知', '实施方案')
    >>> document_kinds("云岭省节能概况")
    ()
    """
    kinds = map(_kind, titles_within(title))
    return tuple(dict.fromkeys(filter(None, kinds)))


def kind_endings(kind: str) -> tuple[str, ...]:
    """Return the kinds in which a kind ends, itself first; 办法 is no 法.

    >>> kind_endings("管理暂行办法"), kind_endings("法")
    (('管理暂行办法', '暂行办法', '办法'), ('法',))
    """
    ends = (kind[-n:] for n in range(min(len(kind), _LONGEST_KIND), 0, -1))
    return tuple(end for end in ends if end in _KINDS and (len(end) > 1 or end == kind))


def title_subject(title: str, regions: Sequence[str]) -> tuple[str, str]:
    """Return what a title is about, and its kind; the same for the documents of many places.

    Issuer, enclosing notice, the document's place, years and five-year plans are left out.

    Args:
        title: As it stands.
        regions: Full names of the document's place, outermost first.

    Returns:
        (subject, kind): the subject as of `title_key`; either may be empty.

    >>> title_subject("云岭省人民政府关于印发云岭省“十四五”节能规划（试行）的通知", ("云岭省",))
    ('节能', '规划')
    >>> title_subject("自治区节能“十四五”规划（2021—2025年）", ("广西壮族自治区",))
    ('节能', '规划')
    """
    plain = unicodedata.normalize("NFKC", without_number(title))
    name = _ISSUER.sub("", titles_within(plain)[-1]).strip("《》").removeprefix("关于")
    name = _PERIOD.sub("", name)
    name = name[leading_region(name)[1] :]
    for region in regions:
        for called in (region, *(r.short for r in regions_named(region))):
            name = name.replace(called, "")
    name = next((name[n:] for n in _OWN if own_region(name[:n], regions)), name)
    kind = _kind(name)
    return title_key(name.removesuffix(kind)), kind


def _kind(name: str) -> str:
    lengths = range(_LONGEST_KIND, 0, -1)
    return next((name[-n:] for n in lengths if name[-n:] in _KINDS), "")
