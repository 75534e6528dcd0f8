"""The official box of a government's page: number, dates and issuer beside the text (信息公开)."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

# By the name that `kgrag.ingestion.rules.metadata` knows; the label as pages print it.
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
