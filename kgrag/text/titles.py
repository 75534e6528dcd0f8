"""Parse titles of official documents."""

import re

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


def _kind(name: str) -> str:
    lengths = range(_LONGEST_KIND, 0, -1)
    return next((name[-n:] for n in lengths if name[-n:] in _KINDS), "")
