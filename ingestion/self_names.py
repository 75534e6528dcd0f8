"""Replace the names that a document uses for itself, and refuse names that name nothing."""

import re
from dataclasses import dataclass

from kgrag.text.regions import own_region
from kgrag.text.titles import document_name
from kgrag.text.vocabulary import DOCUMENT_KINDS
from kgrag.text.words import normalize, stop_words
from kgrag.types import Document

DOCUMENT_TYPE = "document"

_KINDS = f"(?:(?:实施|行动|工作|指导)?(?:{DOCUMENT_KINDS})|文件)"
_DOCUMENT = re.compile(
    rf"(?:本{_KINDS}|this (?:document|plan|policy|notice|regulation|guideline|standard|act|law))$"
    r"|本文件|this document(?:'s)?",
    re.IGNORECASE,
)
_REGION = re.compile(
    r"本地区|[我本全](?:[省市县州旗盟](?!场)|区(?!域)|自治区)|this region(?:'s)?", re.IGNORECASE
)
_AGENCY = re.compile(r"本机关|[我本][局厅委](?!员|办)|this agency(?:'s)?", re.IGNORECASE)

# Names that would be one node for a thousand different things.
_NOBODY = re.compile(
    r"(?:本|各|其|该|此|这|那|上述|前述|以上|以下|下列|相关|有关|其他|其它|所属)+"
    r"(?:项|个|些|类|等|方|者|款|条|地方|机构|企业|行业|领域|政策|规定|工作|任务|项目|人员"
    r"|地区|(?:地区和)?(?:部门|单位)(?:和单位)?|方面|要求|措施|内容|事项|情况|问题)?"
    r"|部门|单位|方面|要求|措施|内容|事项|情况|问题"
)
_EMPTY_EN = re.compile(
    r"(?:(?:the|this|these|that|those|other|all|such|its|their|relevant|competent|above|following"
    r"|respective) )*(?:it|they|them|he|she|him|her|this|these|those|one|department|departments"
    r"|authority|authorities|agency|agencies|unit|units|measure|measures|requirements)"
)
_LEGEND = re.compile(r"(?:为|是)(?:第一)?(?:牵头|主办|主责)(?:责任)?(?:单位|部门)")
_ORDER = re.compile(r"[号位]之?前|第一|[首前末]位|在[前首]|居首|首个|[加标带][粗*★△○]|打[*★√]")
_REACH = 60  # characters on either side
_BREAK, _END = re.compile(r"[（）()〔〕【】。；;：:\n]"), re.compile(r"[（）()〔〕【】。\n]")
_BARE = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class SelfNames:
    """What stands for the words by which a document speaks of itself.

    Attributes:
        document: Its name, as others cite it.
        regions: Full names of the places that it governs, the outermost first.
        agency: The body that issued it; empty where it does not say.
        legend: What it says once of how its lists of organs are read (逗号前为牵头单位), which
            holds for the rest of it; empty for nothing.
    """

    document: str
    regions: tuple[str, ...]
    agency: str
    legend: str = ""

    def resolve(self, name: str) -> str:
        """Return a name with 本文件, 本地区 or 本机关 at its head replaced.

        Where the region or the issuer is not told, the name says so and keeps the document's, so
        that nothing wrong is said: 节能规划的适用地区, 节能规划的发布机关. 全市 in a province's
        document is any city, and stays.

        >>> SelfNames("节能规划", ("云岭省",), "云岭省人民政府").resolve("全省绿色工厂")
        '云岭省绿色工厂'
        """
        if match := _DOCUMENT.match(name):
            return self.document + name[match.end() :]
        if match := _REGION.match(name):
            region = self._region(match.group())
            return region + name[match.end() :] if region else name
        if match := _AGENCY.match(name):
            return (self.agency or f"{self.document}的发布机关") + name[match.end() :]
        return name

    def _region(self, word: str) -> str:
        if not self.regions:
            return f"{self.document}的适用地区"
        if word == "本地区" or word.isascii():
            return self.regions[-1]
        return "".join(own_region(word, self.regions)[-1:])


def self_names(document: Document) -> SelfNames:
    """Return what a document's words for itself stand for, by its title and metadata."""
    metadata = document.metadata
    return SelfNames(
        document=document_name(document.title),
        regions=metadata.regions,
        agency=next(iter(metadata.issuers), ""),
        legend=_legend(document.text),
    )


def _legend(text: str) -> str:
    """Return what a text says of how its lists of organs are read.

    >>> _legend("责任单位：市水务局、市气象局（排在第一的为牵头单位，下同）")
    '排在第一的为牵头单位，下同'
    """
    for match in _LEGEND.finditer(text):
        before = _BREAK.split(text[max(0, match.start() - _REACH) : match.start()])[-1]
        behind = _END.split(text[match.start() : match.end() + _REACH])[0]
        if _ORDER.search(before + behind):
            return (before + behind).strip()
    return ""


def names_nothing(name: str) -> bool:
    """Return whether a name is only a stop word, a pronoun, or a placeholder such as 有关部门.

    >>> names_nothing("该项"), names_nothing("有关部门"), names_nothing("能源主管部门")
    (True, True, False)
    """
    bare = normalize(name).strip()
    letters = _BARE.sub("", bare)
    return (
        not letters
        or bare in stop_words()
        or _NOBODY.fullmatch(letters) is not None
        or _EMPTY_EN.fullmatch(bare) is not None
    )
