"""Normalise titles for comparison: without width, punctuation, 的, issuer and enclosing notice."""

import re
import unicodedata

from kgrag.text.leading_region import leading_region
from kgrag.text.numerals import HAN_DIGITS, HAN_SMALL, han_digits
from kgrag.text.organs import is_central_organ
from kgrag.text.vocabulary import ISSUER_ENDS

_HAN_YEAR = re.compile(f"[一二][{HAN_DIGITS}〇○]{{3}}(?=年)")
_NOT_WORD = re.compile(r"[\W_的]+")
ISSUE_NUMBER = (
    r"[一-鿿]{1,14}\s*+[〔﹝\[【［(（]\s*+(?:19|20)\d\d\s*+"
    r"[〕﹞\]】］)）]\s*+(?:第)?\s*+\d{1,5}\s*+号"
)
_NUMBER_AHEAD = re.compile(rf"^\s*+[（(]?\s*+{ISSUE_NUMBER}\s*+[）)]?\s*+(?=[一-鿿《“\"])")
_NUMBER_BEHIND = re.compile(
    rf"(?<!\s)\s*+(?:[（(]\s*+{ISSUE_NUMBER}[^（）()]{{0,20}}[）)]|{ISSUE_NUMBER})\s*+$"
)
_ON_TRIAL = re.compile(
    r"[（(]\s*(?:试\s*行|暂行|[^（）()]{0,8}修[订正]版?本?|征求意见稿|草案|送审稿)\s*[）)]\s*$"
)
# What tells editions of one document apart in their titles.
_EDITION = re.compile(
    r"[（(]\s*+(?:(?:19|20)\d\d\s*+年?\s*+(?:版|本|修[订正]版?)|新版|修[订正][版稿本]?|试行|暂行|公开征求意见稿"
    r"|征求意见稿|送审稿|草案)\s*+[）)]"
)
CENTRE = re.compile("国务院|中共中央|党中央|全国人|国家(?!级)|中国|最高人民|中央(?!企业)")
_SHORT_ORGAN = range(3, 12)  # characters of the name of a central organ, of several in a row
_COUNTRY = re.compile("^中华人民共和国(?=..)")
_LAW = re.compile("^中华人民共和国(?=.+(?:法|法典|条例)(?:[（(]|$))")
_ISSUER = re.compile(r"^([一-鿿、\s]{2,60}?)(?=关于)")
_AHEAD = re.compile(
    r"([一-鿿、\s]{2,60}?)(?:联合|共同)?(?:(?:[印颁]发|[发公颁]布|下发|出台|制定|关于)的?)?$"
)
_LEADS = re.compile(
    "^.*(?:根据|依据|依照|按照|遵照|贯彻|落实|执行|衔接|参照|结合|对照|关于|以及|现将|转发|符合|要求|精神)[和及]?"
)
_ORGAN = re.compile(rf"(?:{ISSUER_ENDS}|党中央|中共中央|等[\d{HAN_SMALL}]*(?:个)?(?:部门|单位))$")

_ISSUES = re.compile(rf"{_ORGAN.pattern}|[省市区州县旗盟]$")
_DOES = re.compile("贯彻|落实|印发|转发|批转|学习|宣传|实施|执行|修[改订]|废止")
# 关于印发云岭省节能规划的通知: what is issued, with marks or without; not what is passed on.
_ISSUED = re.compile(
    r"(?:[印颁]发|[发公颁]布|下发)(.{1,200}?)(?:[（(][^（）()]*[）)])?等?的(?:通知|公告|通告|函|决定)$"
)
_IN_THE_NEWS = re.compile(r"(?:[印颁]发|[发公颁]布|出台)(《[^《》]+》)$")
_TRAILER = re.compile(r"(?:[（(][^（）()]*[）)]|[》」”\"]){1,20}$")
_QUOTED = re.compile(r"[《«〈<＜]([^《》«»〈〉<>＜＞]+)[》»〉>＞]")


def without_number(title: str) -> str:
    """Return a title without a leading or trailing 文号.

    >>> without_number("云政发〔2021〕3号关于节能的意见")
    '关于节能的意见'
    >>> without_number("节能办法（云政发〔2021〕3号）")
    '节能办法'
    """
    return _NUMBER_BEHIND.sub("", _NUMBER_AHEAD.sub("", title)).strip() or title


def issuer_before(title: str) -> str:
    """Return the organs that a title names before 关于; empty for none.

    >>> issuer_before("云岭省人民政府关于加快节能的意见"), issuer_before("关于加快节能的意见")
    ('云岭省人民政府', '')
    """
    if "关于" not in title:
        return ""
    match = _ISSUER.match(without_number(title).strip("《》 "))
    return "".join(match.group(1).split()) if match and _ORGAN.search(match.group(1)) else ""


def issuer_ahead(text: str) -> str:
    """Return the organs that end a text, right before a title; empty for none.

    >>> issuer_ahead("为节能，根据云岭省人民政府办公厅印发的")
    '云岭省人民政府办公厅'
    """
    match = _AHEAD.search(text[-60:])
    name = _LEADS.sub("", "".join(match.group(1).split())).lstrip("和及与") if match else ""
    return name if _ORGAN.search(name) else ""


def title_key(title: str) -> str:
    """Return a title in normal form.

    Width, case, punctuation, blanks, 的, years in characters, （试行） and a leading country are
    ignored.

    >>> title_key("《“十四五” 规划》（试行）") == title_key("十四五规划")
    True
    >>> title_key("《中华人民共和国节约能源法》")
    '节约能源法'
    >>> title_key("二〇三五年远景目标的纲要")
    '2035年远景目标纲要'
    """
    bare = _ON_TRIAL.sub("", without_number(title.strip()).strip("《》«» "))
    narrow = unicodedata.normalize("NFKC", bare).casefold()
    narrow = _HAN_YEAR.sub(lambda m: han_digits(m.group()), narrow)
    return _NOT_WORD.sub("", _COUNTRY.sub("", narrow))


def title_keys(title: str) -> tuple[str, ...]:
    """Return the keys by which a title may be cited: in full, without issuer, what it issues.

    >>> title_keys("云岭省关于印发《节能规划（试行）》的通知")
    ('云岭省关于印发节能规划试行通知', '节能规划', '关于印发节能规划试行通知')
    """
    bare = without_number(title.strip())
    names = [bare.strip("《》«»〈〉 "), *_issued(bare)]
    names += [_ISSUER.sub("", name) for name in names if _is_issuer(_ISSUER.match(name))]
    keys = dict.fromkeys(title_key(name) for name in names)
    return tuple(key for key in keys if key)


def without_country(title: str) -> str:
    """Return a law's title without a leading country.

    >>> without_country("中华人民共和国节约能源法"), without_country("中华人民共和国商务部")
    ('节约能源法', '中华人民共和国商务部')
    """
    return _LAW.sub("", title)


def without_edition(title: str) -> str:
    """Return a title without marks of its edition: （2019年版）, （试行）.

    >>> without_edition("绿色产业指导目录（2019年版）")
    '绿色产业指导目录'
    """
    return _EDITION.sub("", title)


def cited_name(title: str) -> str:
    """Return the canonical name of a document that is cited but not in the knowledge base.

    Laws lose the country, central documents issuer and notice; documents of other organs keep the
    full title, as many share the rest.

    >>> cited_name("中华人民共和国节约能源法"), cited_name("国务院关于印发《节能规划》的通知")
    ('节约能源法', '节能规划')
    >>> cited_name("云岭省人民政府关于节能的意见")
    '云岭省人民政府关于节能的意见'
    """
    bare = without_country(title)
    issuer = issuer_before(bare)
    if not issuer or not _is_central(issuer):
        return bare
    issued = _issued(without_number(bare))
    return issued[0] if len(issued) == 1 else _ISSUER.sub("", bare)


def _is_central(issuer: str) -> bool:
    if CENTRE.match(issuer):
        return True
    is_organ = any(is_central_organ(issuer[:n]) for n in _SHORT_ORGAN)
    return is_organ and not leading_region(issuer)[1]


def same_work(one: str, other: str) -> bool:
    """Return whether two titles may be those of one document, in any edition, by one issuer.

    >>> same_work("绿色产业指导目录", "绿色产业指导目录（2019年版）")
    True
    >>> same_work("云岭省政府关于节能的意见", "南渡省政府关于节能的意见")
    False
    """
    editions = [set(_EDITION.findall(title)) for title in (one, other)]
    if all(editions) and editions[0] != editions[1]:
        return False
    keys = [{*title_keys(without_edition(title))} for title in (one, other)]
    issuers = [issuer_before(title) for title in (one, other)]
    return bool(keys[0] & keys[1]) and (not all(issuers) or same_organ(*issuers))


def _issued(title: str) -> list[str]:
    match = _ISSUED.search(_TRAILER.sub("", title)) or _IN_THE_NEWS.search(title)
    if not match:
        return []
    quoted = _QUOTED.match(match[1]) and _QUOTED.findall(match[1])
    return quoted or [match[1].strip("《》«»〈〉<>＜＞ ")]


def _is_issuer(match: re.Match[str] | None) -> bool:
    name = "".join(match.group(1).split()) if match else ""
    return _ISSUES.search(name) is not None and not _DOES.match(name)


def same_organ(one: str, other: str) -> bool:
    """Return whether two names may be one organ: 省政府 and 云岭省人民政府.

    >>> same_organ("省政府", "云岭省人民政府"), same_organ("国务院", "云岭省人民政府")
    (True, False)
    """
    a, b = _plain_organ(one), _plain_organ(other)
    return bool(a and b) and (a in b or b in a)


def _plain_organ(name: str) -> str:
    plain = _NOT_WORD.sub("", name).replace("人民政府", "政府").replace("委员会", "委")
    return plain.removeprefix("中共").replace("发展和改革", "发展改革")
