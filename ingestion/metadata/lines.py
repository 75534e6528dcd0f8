"""The lines of a document, normalised for metadata: ASCII digits, no whitespace."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kgrag.text.page_labels import label_row, with_labels

HEAD = 40  # lines in which a title, a number, addressees and the signature of a notice stand
_LINES = 20_000  # that are read of any document
_LONGEST = 2_000  # characters that are read of a line
_MARKS = {
    "ꎬ": "，",
    "ꎮ": "。",
    "«": "《",
    "»": "》",
    "﹝": "〔",
    "﹞": "〕",
    "〇": "〇",
    "\x00": "",
}
_WIDE = [chr(c) for c in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))]
_RADICALS = [chr(c) for c in range(0x2F00, 0x2FD6)]
_NARROW: Mapping[int, str] = MappingProxyType(
    str.maketrans(_MARKS | {c: unicodedata.normalize("NFKC", c) for c in (*_WIDE, *_RADICALS)})
)
_BLANK = re.compile(r"(?<![A-Za-z])[\s\u3000\u3164]+|[\s\u3000\u3164]+(?![A-Za-z])")
# Half-width marks behind Chinese, as pages have them: 各市人民政府,省政府各部门:
_HALF = re.compile(
    r"(?<=[\u4e00-\u9fff》”〉）)])[,;]|[()](?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])[()]"
)
_FULL = str.maketrans(",;()", "，；（）")
_MARKDOWN = re.compile(r"^(?:#+|>|[*-])\s+|\*\*")
_DAY_BEGUN = re.compile(r"(?:19|20)\d\d年(?:\d{1,2}(?:月\d{0,2})?)?$")
_DAY_REST = re.compile(r"\d{0,2}月?\d{0,2}日")
_WHOLE_DAY = re.compile(r"\d{4}年\d{1,2}月\d{1,2}日")
_PAGE_MARK = re.compile(r"[-—–\s·.]*+\d{0,4}+[-—–\s·.]*+$")
_ADDRESSEE = re.compile(
    r"(?:^|(?<=的通知)|(?<=的意见)|(?<=号)|(?<=号）))"
    r"(?P<who>(?:[各有市省县区州厅委局驻厂]|相关|国务院|机关|中央|本市|[一-鿿]{2,9}(?:[省市县区州盟旗]|企业|大学))"
    r"[^。：:《》]{1,600})[：:](?=$|为|根据|按照|依据|现|《|经|近|今|遵照|落实|贯彻|自|我|随|实现|当前|[一-鿿]{1,12}[，、])"
)
_NO_ADDRESSEE = re.compile(
    r"^第|条件$|时$|如下|通知$|事项|规定$|要求$|内容$|包括|[：:]|^市场|^有效|^中国|^国家"
    r"|(?:日期|时间|来源|索引号|文号|有效性|时效性|分类|主题词|电话|联系人|地址|邮箱|抄送|网址|作者|编辑)$"
    r"|(?:责任|牵头|配合|联系|主管|申报)单位$|(?:发布|发文|公布|颁布|制定)(?:部门|机构|机关|单位)$|单位名称$"
)
_WHO = re.compile(
    r"[厅局委办部院会组司]|政府|单位|企业|公司|部门|机构|[大中]学|院校|高校|中心|银行|集团|处室|[省市县区州]$"
)


@dataclass(frozen=True, slots=True)
class DocumentLines:
    """The non-empty lines of a document, normalised.

    Attributes:
        lines: In order, each of at most 2,000 characters.
        addressees: Index of the line with the addressees; -1 for none.
        recipients: Addressees, as written; empty for none.
    """

    lines: tuple[str, ...]
    addressees: int
    recipients: str

    @property
    def head(self) -> tuple[str, ...]:
        """The lines with titles, numbers and dates."""
        return self.lines[:HEAD]


def read_lines(text: str) -> DocumentLines:
    r"""Return the lines of a text, and which one names the addressees.

    >>> read_lines("关于节能的通知\n\n各市 人民政府：\n２０２２年").lines
    ('关于节能的通知', '各市人民政府：', '2022年')
    >>> read_lines("关于节能的通知\n各市人民政府：").recipients
    '各市人民政府'
    """
    raw = text.splitlines()[:_LINES]
    raw[:HEAD] = [row for line in raw[:HEAD] for row in label_row(line.strip())]
    told = [line for line in map(narrowed, raw) if line and not _PAGE_MARK.fullmatch(line)]
    _mend_days(told)
    lines = (*with_labels(told[: 2 * HEAD]), *told[2 * HEAD :])
    for number, line in enumerate(lines[:HEAD]):
        if number and line.count("）") > line.count("（"):  # broken within a bracket
            line = lines[number - 1] + line
        match = _ADDRESSEE.search(line)
        if match and not _NO_ADDRESSEE.search(match["who"]) and _WHO.search(match["who"]):
            return DocumentLines(lines, number, match["who"].rpartition("的通知")[2])
    return DocumentLines(lines, -1, "")


def _mend_days(lines: list[str]) -> None:
    """Join dates that were broken at the end of a line, in place."""
    for i in range(len(lines) - 1, 0, -1):
        begun = _DAY_BEGUN.search(lines[i - 1])
        rest = _DAY_REST.match(lines[i]) if begun else None
        if begun and rest and _WHOLE_DAY.fullmatch(begun[0] + rest[0]):
            lines[i - 1] += rest[0]
            lines[i] = lines[i][rest.end() :]
            if not lines[i]:
                del lines[i]


def narrowed(line: str) -> str:
    """Return a line with narrow digits and letters, without blanks between Chinese characters.

    >>> narrowed("云 政 发 〔２０２２〕 ３ 号")
    '云政发〔2022〕3号'
    """
    bare = _MARKDOWN.sub("", line[:_LONGEST].strip()).translate(_NARROW)
    return _HALF.sub(lambda m: m[0].translate(_FULL), _BLANK.sub("", bare))
