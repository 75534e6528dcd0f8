"""Parse the metadata box above a document on a web page: 索引号, 发文机关, 成文日期."""

import re
from collections.abc import Iterable, Sequence

_ORGANS = """
发布机构 发布机关 发布单位 发布部门 发文机关 发文机构 发文单位 发文部门 制定机关 制发机关 颁布单位
颁布部门 公布机关
"""
_DAYS = """
成文日期 签发日期 发文日期 发文时间 生成日期 成稿日期 印发日期 发布日期 发布时间 公布日期 颁布日期
公开日期 公开时间 施行日期 实施日期 生效日期 生效时间 失效日期 失效时间 废止日期 废止时间 终止日期
"""
_NUMBERS = "文号 发文字号 发文文号 文件编号 字号"
_NAMES = "标题 文件标题 名称 文件名称 信息名称"
_OTHERS = """
索引号 主题分类 主题词 关键词 体裁分类 组配分类 信息分类 服务对象 服务分类 公开方式 公开形式
公开类别 公开范围 来源 信息来源 有效性 时效性 效力状态 文件状态 效力级别 法规类别 文种 内容概述
内容概要 浏览次数 责任编辑
文档类型 文件类型 原文链接 基本信息 时效 是否有效 文件有效性 责任部门 公开责任部门
"""
ORGAN_LABELS = tuple(_ORGANS.split())
_VALUES = (
    (frozenset(ORGAN_LABELS), re.compile(r"(?!.*关于)[^。《》\d]{2,80}")),
    (frozenset(_DAYS.split()), re.compile(r"(?:19|20)\d\d\s*[年.\-/].{1,24}")),
    (frozenset(_NUMBERS.split()), re.compile(r"[^，。]{2,40}号")),
)
NAME_LABELS = frozenset(_NAMES.split())
PAGE_LABELS = NAME_LABELS.union(_OTHERS.split(), *(labels for labels, _ in _VALUES))
_SPELLED = (r"\s*".join(label) for label in sorted(PAGE_LABELS, key=len, reverse=True))
_IN_ROW = re.compile(rf"(?:^|(?<=\s))(?P<label>{'|'.join(_SPELLED)})(?=\s|[:：]|$)")
_LONGEST_ROW, _LONG_NAME = 300, 12  # characters of a row, of a title in one
_MARKS = re.compile(r"^[\s•·●◆■▪*\-—|【\[]+|[\s】\]|:：]{1,40}$|\s+")


def page_label(line: str) -> str:
    """Return the label that is all of a line; empty for other lines.

    >>> page_label("• 索 引 号："), page_label("索引号：0123")
    ('索引号', '')
    """
    bare = _MARKS.sub("", line) if len(line) < 40 else ""
    return bare if bare in PAGE_LABELS else ""


def label_row(line: str) -> list[str]:
    """Split a row into labels with their values; other lines are returned unchanged.

    Args:
        line: With its blanks, which separate labels from values.

    >>> label_row("文 号 云政发〔2022〕3号 发文机关 云岭省能源局")
    ['文号：云政发〔2022〕3号', '发文机关：云岭省能源局']
    """
    found = list(_IN_ROW.finditer(line)) if len(line) < _LONGEST_ROW and "|" not in line else []
    if not found or found[0].start():
        return [line]
    ends = [*(match.start() for match in found[1:]), len(line)]
    told = [
        ("".join(match["label"].split()), line[match.end() : end].strip(" \t\u3000:："))
        for match, end in zip(found, ends, strict=True)
    ]
    label, value = told[0]
    if len(told) < 2 and not (label in NAME_LABELS and len(value) > _LONG_NAME):
        return [line]
    return [f"{label}：{value}" for label, value in told]


def with_labels(lines: Sequence[str]) -> list[str]:
    """Return lines with one label and its value each.

    Args:
        lines: A value may be on the line below its label, or in the next cell of a row.

    >>> with_labels(["成文日期", "2022-03-05", "文号：", "标题"])
    ['成文日期：2022-03-05', '文号：', '标题']
    >>> with_labels(["发文机关 | 云岭省能源局 | 成文日期 | 2022-03-05", "甲 | 乙"])
    ['发文机关：云岭省能源局', '成文日期：2022-03-05', '甲 | 乙']
    """
    rows = (row for line in lines for row in label_row(line))
    return list(_joined([piece for line in rows for piece in _cells(line)]))


def _cells(line: str) -> Iterable[str]:
    cells = [cell.strip() for cell in line.split("|")]
    labels = [page_label(cell) for cell in cells]
    if len(cells) == 1 or not any(labels):
        yield line
        return
    for label, value in zip(labels, [*cells[1:], ""], strict=True):
        if label:
            yield f"{label}：{'' if page_label(value) else value}"


def _joined(lines: Sequence[str]) -> Iterable[str]:
    at = 0
    while at < len(lines):
        label = page_label(lines[at])
        value = lines[at + 1] if label and at + 1 < len(lines) else ""
        if any(label in labels and fits.fullmatch(value) for labels, fits in _VALUES):
            yield f"{label}：{value}"
            at += 2
        else:
            yield lines[at]
            at += 1
