"""Metadata that a person states of a document: field names, values in normal form, properties."""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from types import MappingProxyType

from kgrag.ids import digest
from kgrag.metadata import Metadata
from kgrag.text.facets import NATIONAL
from kgrag.text.leading_region import leading_region
from kgrag.text.messages import message
from kgrag.text.numerals import han_digits
from kgrag.text.quantities import narrow
from kgrag.text.regions import level_of, listed_regions, path, region_of, regions_named

LISTED = ("issuers", "regions", "recipients", "status")  # fields of several values
_BETWEEN = "；"  # between these in a property

_LONGEST = 2000  # characters of a value
_LONGEST_NAME = 80  # characters of a column's name
_UNREADABLE = re.compile("[\x00\ud800-\udfff\ufffd]")
_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("file", "filename", "文件", "文件名", "文件名称"), "file"),
        **dict.fromkeys(("title", "标题", "题名", "名称"), "title"),
        **dict.fromkeys(("issuer", "issuers", "发文机关", "发文单位", "发布机构"), "issuers"),
        **dict.fromkeys(("number", "文号", "发文字号"), "number"),
        **dict.fromkeys(("written", "成文日期", "签发日期"), "written"),
        **dict.fromkeys(("date", "issued", "日期", "印发日期", "发布日期", "发文日期"), "issued"),
        **dict.fromkeys(("effective", "施行日期", "实施日期", "生效日期"), "effective"),
        **dict.fromkeys(("expires", "失效日期", "有效期至", "废止日期"), "expires"),
        **dict.fromkeys(("region", "regions", "地区", "区域"), "regions"),
        **dict.fromkeys(("kind", "文种"), "kind"),
        **dict.fromkeys(("level", "级别", "层级"), "level"),
        **dict.fromkeys(("status", "状态"), "status"),
        **dict.fromkeys(("recipients", "recipient", "主送机关", "主送"), "recipients"),
        **dict.fromkeys(("notice", "通知标题"), "notice"),
    }
)
_LEVELS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("国家", "中央", "全国"), "国家"),
        **dict.fromkeys(("部门", "部", "部委"), "部门"),
        **dict.fromkeys(("省", "自治区", "直辖市"), "省"),
        **dict.fromkeys(("市", "地市", "地", "州", "盟", "自治州"), "市"),
        **dict.fromkeys(("县", "区", "区县", "县区", "旗"), "县"),
    }
)
METADATA_FIELDS = frozenset(_NAMES.values()) - {"file", "title"}
_SEPARATOR = re.compile(r"[、;；|\n]")
_BETWEEN_RECIPIENTS = re.compile(r"[;；|\n]")  # 各市、县人民政府 is one
_NUMBER_YEAR = re.compile(r"[\[【(〔﹝](\d{4})[\]】)〕﹞]")
_TEN = re.compile(r"(\d?)十(\d?)")
_DATES = (
    re.compile(r"(?P<y>\d{4})年?(?:(?P<m>\d{1,2})月(?:(?P<d>\d{1,2})日?)?)?", re.ASCII),
    re.compile(r"(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?:(?P=s)(?P<d>\d{1,2}))?", re.ASCII),
    re.compile(r"(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)?", re.ASCII),
)
_TIME = re.compile(r"[T ]\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?Z?$")  # of a sheet's cell
PREFIX = "stated."  # of the properties of a document that hold a statement


def field_of(name: str) -> str:
    """Return the field that a column or key means (of `Metadata`, `title`, `file`), or itself.

    >>> field_of("Issuer"), field_of("发文机关"), field_of("备注")
    ('issuers', 'issuers', '备注')
    """
    bare = "".join(name.split())
    return _NAMES.get(bare.casefold(), bare)


def stated_value(field: str, text: str) -> str:
    """Return the normal form of a field's value, "" for none.

    Dates are ISO 8601; the values of `LISTED` fields are joined by ；; regions are full names, the
    outermost first, each with those around it (全国 for a national document).

    Args:
        field: As returned by `field_of`.
        text: As written.

    Raises:
        ValueError: If it cannot be read; names the remedy.

    >>> stated_value("issued", "二〇二二年三月五日"), stated_value("level", "省级")
    ('2022-03-05', '省')
    >>> stated_value("regions", "四川成都"), stated_value("number", "云政发[2022]3号")
    ('四川省；成都市', '云政发〔2022〕3号')
    """
    if len(field) > _LONGEST_NAME or _UNREADABLE.search(field):
        raise ValueError(message("is no name that a column may have; take it out, or rename it"))
    if len(text) > _LONGEST:
        raise ValueError(
            message("has {n:,} characters; at most {longest:,}", n=len(text), longest=_LONGEST)
        )
    if _UNREADABLE.search(text):
        raise ValueError(
            message(
                "{text} has characters that cannot be read; save it as UTF-8", text=shortened(text)
            )
        )
    text = text.strip()
    return _FORMS.get(field, _one_line)(text) if text else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _date(text: str) -> str:
    bare = han_digits(_TIME.sub("", narrow(text)))
    bare = _TEN.sub(lambda m: f"{m[1] or 1}{m[2] or 0}", "".join(bare.split()))
    match = next(filter(None, (form.fullmatch(bare) for form in _DATES)), None)
    parts = [match[name] for name in "ymd" if match[name]] if match else []
    if not _is_date(*map(int, parts)):
        raise ValueError(
            message("{text} is no date; write 2022-03-05, 2022-03 or 2022", text=shortened(text))
        )
    return "-".join(part.zfill(2) for part in parts)


def _is_date(year: int = 0, month: int = 1, day: int = 1) -> bool:
    return 1800 <= year <= 2199 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]


def _level(text: str) -> str:
    level = _LEVELS.get(text.removesuffix("级"))
    if level is None:
        raise ValueError(
            message("{text} is no level; write 国家, 部门, 省, 市 or 县", text=shortened(text))
        )
    return level


def _regions(text: str) -> str:
    if text in (NATIONAL, "国家", "中央"):
        return NATIONAL
    around: tuple[str, ...] = ()
    for name in filter(None, map(str.strip, _SEPARATOR.split(text))):
        around = tuple(dict.fromkeys((*around, *_places(name, around))))
    return _BETWEEN.join(around)


def _places(name: str, around: tuple[str, ...]) -> tuple[str, ...]:
    places, end = leading_region(name, within=around)
    if end == len(name):
        return places
    region = region_of(name, within=around)
    if region is not None:
        return path(region)
    several = regions_named(name)
    if len(several) > 1:
        like = " or ".join("".join(path(region)) for region in several[:2])
        raise ValueError(
            message("{name} is several places; write {like}", name=shortened(name), like=like)
        )
    raise ValueError(
        message(
            "{name} is no place that is known; write it in full, 四川省成都市", name=shortened(name)
        )
    )


def check_regions(text: str) -> None:
    """Refuse a province or city that is not listed; a smaller place may be a new district.

    Args:
        text: Regions as returned by `stated_value`.

    Raises:
        ValueError: If it names one; suggests the nearest.
    """
    around = tuple(filter(None, text.split(_BETWEEN)))
    for place in around:
        if place != NATIONAL and (place == around[0] or level_of(place) != "县"):
            _check_known(place, around)


def _check_known(place: str, around: tuple[str, ...]) -> None:
    if regions_named(place):
        return
    inner = [r for r in listed_regions() if r.parent and r.parent.name in around]
    by_name = {name: r for r in inner or listed_regions() for name in (r.name, r.short)}
    nearest = "".join(path(by_name[get_close_matches(place, by_name, n=1, cutoff=0.0)[0]]))
    raise ValueError(
        message(
            "{place} is no place that is known; the nearest is {nearest}",
            place=shortened(place),
            nearest=nearest,
        )
    )


def _several(separator: re.Pattern[str]) -> Callable[[str], str]:
    def joined(text: str) -> str:
        return _BETWEEN.join(dict.fromkeys(filter(None, map(_one_line, separator.split(text)))))

    return joined


def shortened(text: str) -> str:
    """Return a value for messages."""
    return repr(text if len(text) <= 40 else text[:39] + "…")


_FORMS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        **dict.fromkeys(("written", "issued", "effective", "expires"), _date),
        **dict.fromkeys(("issuers", "status"), _several(_SEPARATOR)),
        "recipients": _several(_BETWEEN_RECIPIENTS),
        "number": lambda text: _NUMBER_YEAR.sub(r"〔\1〕", "".join(narrow(text).split())),
        "level": _level,
        "regions": _regions,
    }
)


def statement(values: Iterable[tuple[str, object]]) -> tuple[dict[str, str], list[str]]:
    """Return a row as properties of a document, their names with `PREFIX`, and its problems.

    Args:
        values: Columns or keys with their values: text, a number, a list of these. Of two for the
            same field the first that is not empty counts.

    >>> statement([("标题", "节能规划"), ("日期", "2022年3月5日"), ("备注", "")])
    ({'stated.title': '节能规划', 'stated.issued': '2022-03-05'}, [])
    """
    found: dict[str, str] = {}
    problems: list[str] = []
    for name, value in values:
        field = field_of(name)
        if not field or field == "file" or PREFIX + field in found:
            continue
        try:
            text = stated_value(field, _text(value))
        except ValueError as exc:
            problems.append(f"{shortened(name.strip())}: {exc}")
            continue
        if text:
            found[PREFIX + field] = text
    return found, problems


def stated_fields(properties: Mapping[str, str]) -> dict[str, str | tuple[str, ...]]:
    """Return the stated fields of `Metadata` among a document's properties, for `replace`.

    Invalid values, as a `.jsonl` record may have them, are left out.

    >>> stated_fields({"stated.issuers": "甲厅；乙局", "stated.title": "丙", "encoding": "gbk"})
    {'issuers': ('甲厅', '乙局')}
    >>> stated_fields({"stated.regions": "全国"})
    {'regions': ()}
    """
    found: dict[str, str | tuple[str, ...]] = {}
    for name, written in properties.items():
        field = field_of(name.removeprefix(PREFIX))
        if not name.startswith(PREFIX) or field not in METADATA_FIELDS:
            continue
        try:
            text = stated_value(field, written)
        except ValueError:
            continue
        if field == "regions" and text == NATIONAL:
            found[field] = ()
        elif text:
            found[field] = tuple(text.split(_BETWEEN)) if field in LISTED else text
    return found


def with_stated(metadata: Metadata, properties: Mapping[str, str]) -> Metadata:
    """Return metadata with the document's stated properties in place of what was read.

    Without a stated level, the level is that of the stated region. What is stated is not inferred.

    >>> read = Metadata(issuers=("甲厅",), level="省", regions=("云岭省",))
    >>> told = with_stated(read, {"stated.regions": "云岭省；青川市"})
    >>> told.issuers, told.level, told.regions
    (('甲厅',), '市', ('云岭省', '青川市'))
    """
    fields = stated_fields(properties)
    regions = fields.get("regions")
    if regions is not None and "level" not in fields:
        national = metadata.level if metadata.level in ("国家", "部门") else "国家"
        fields["level"] = level_of(regions[-1]) if regions else national
    suggested = tuple(name for name in metadata.inferred if name not in fields)
    return replace(metadata, **fields, inferred=suggested)  # type: ignore[arg-type]


def stated_title(properties: Mapping[str, str]) -> str:
    """Return a document's stated title, or ""."""
    return properties.get(f"{PREFIX}title", "")


def stated_digest(properties: Mapping[str, str]) -> str:
    """Return a hash of a document's stated properties; "" without any."""
    stated = sorted((k, v) for k, v in properties.items() if k.startswith(PREFIX))
    return digest("stated", *(part for pair in stated for part in pair)) if stated else ""


def _text(value: object) -> str:
    if isinstance(value, list):
        return _BETWEEN.join(map(_text, value))
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        raise ValueError(
            message("{value} is no text, number or list of these", value=shortened(str(value)))
        )
    return "" if value is None else str(value)
