"""Replace the names that a document uses for itself, and refuse names that name nothing."""

import re
from dataclasses import dataclass

from kgrag.language.text import normalize, stop_words
from kgrag.language.titles import document_name
from kgrag.types import Document

DOCUMENT_TYPE = "document"

_KINDS = (
    "(?:(?:实施|行动|工作|指导)?(?:方案|意见|计划)|文件|通知|办法|规划|纲要|条例|规定|细则|措施"
    "|标准|规范|指南|公告|决定|目录|通告|清单|政策)"
)
_DOCUMENT = re.compile(
    rf"(?:本{_KINDS}|this (?:document|plan|policy|notice|regulation|guideline|standard|act|law))$"
    r"|本文件|this document(?:'s)?",
    re.IGNORECASE,
)
_REGION = re.compile(
    r"本地区|[我本][省市县](?!场)|[我本全]区(?!域)|全[省市县](?!场)|this region(?:'s)?",
    re.IGNORECASE,
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
_BARE = re.compile(r"[\W_]+")

_SUFFIX = r"(?:壮族|回族|维吾尔|[一-鿿]{2,6}族)?(?:自治[区州县旗]|[省市县区旗盟州]|地区|新区)"
_ISSUER = re.compile(r"(.{2,40}?)(?:关于|印发|发布|公布|转发|颁布|出台)")
_ISSUE_NUMBER = re.compile(r"^.{0,20}\d号")  # 云政发〔2022〕19号, run into the title
_ORGAN = re.compile(r"(?:院|部|委|局|厅|府|办|室|会|党组|中心|银行|公司|部门|机关)$")


@dataclass(frozen=True, slots=True)
class SelfNames:
    """What stands for the words by which a document speaks of itself.

    Attributes:
        document: Its name, as others cite it.
        region: The region that it governs.
        agency: The body that issued it.
    """

    document: str
    region: str
    agency: str

    def resolve(self, name: str) -> str:
        """Return a name with 本文件, 本地区 or 本机关 at its head replaced.

        >>> SelfNames("节能规划", "云岭省", "云岭省人民政府").resolve("全省绿色工厂")
        '云岭省绿色工厂'
        """
        for pattern, own in (
            (_DOCUMENT, self.document),
            (_REGION, self.region),
            (_AGENCY, self.agency),
        ):
            match = pattern.match(name)
            if match:
                return own + name[match.end() :]
        return name


def self_names(document: Document) -> SelfNames:
    """Return what a document's words for itself stand for.

    Its name is the one that others cite it by; its region the innermost place of its title or
    issuer (`places` in the properties), spelled as the text does; its issuer what the title says.
    Where the region or the issuer is not told, the name says so and keeps the document's, so that
    nothing wrong is said: 节能规划的适用地区, 节能规划的发布机关.
    """
    name = document_name(document.title)
    region = _region(document)
    return SelfNames(
        document=name,
        region=region or f"{name}的适用地区",
        agency=_issuer(document.title, region) or f"{name}的发布机关",
    )


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


def _region(document: Document) -> str:
    places = [p for p in document.properties.get("places", "").split("、") if p]
    spelled = sorted(
        ((document.title.find(p), _spelled(p, document)) for p in places),
        key=lambda item: item[0],
    )
    names = [name for _, name in spelled]
    return names[-1] if names and "".join(names) in document.title else "、".join(names)


def _spelled(place: str, document: Document) -> str:
    for text in (document.title, document.text):
        found = re.search(re.escape(place) + _SUFFIX, text)
        if found:
            return found.group()
    return place


def _issuer(title: str, region: str) -> str:
    found = _ISSUER.match(_ISSUE_NUMBER.sub("", title.strip()))
    if not found or "《" in found.group(1) or not _ORGAN.search(found.group(1)):
        return ""
    issuer = found.group(1)
    if issuer[0] not in "省市县区":
        return issuer
    return region + issuer[1:] if region else ""  # 省政府 may be any province's
