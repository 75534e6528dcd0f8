"""Metadata of a policy document: issuers, number, dates, kind, level, regions, status."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, get_args

from kgrag.json_ready import JsonReady

Level = Literal["国家", "部门", "省", "市", "县", ""]

_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")


@dataclass(frozen=True, slots=True)
class Metadata(JsonReady):
    """Metadata that rules extracted or a person stated.

    Dates are ISO 8601, possibly without day or month: `2022-03-05`, `2022-03`, `2022`. Empty means
    unknown.

    Attributes:
        issuers: Full names of the issuing organs (发文机关), in order: 四川省人民政府办公厅, not
            省政府办公厅.
        number: Its number (文号), with 〔〕 and ASCII digits: 云政发〔2022〕3号.
        written: Date of signature (成文日期).
        issued: Date of issue or publication (印发, 发布日期).
        effective: In force from (施行日期).
        expires: In force until (失效日期, 有效期至).
        kind: Last word of its title (文种): 实施方案, 规划, 管理办法.
        level: 国家 (Party centre, People's Congress, State Council), 部门 (a ministry), 省,
            市, 县.
        regions: Full names of the places that it governs, outermost first, each with the places
            around it: (四川省, 成都市). Empty for a national document.
        recipients: Addressees (主送机关), as written.
        status: Limiting words: 试行, 暂行, 征求意见稿, 草案, 废止.
        notice: Title of the covering notice (关于印发《…》的通知), if `Document.title` is that of
            the body.
        inferred: Names of the fields above that are not stated, but inferred: a year from the
            latest year cited, a day from the page's time stamp, a region from the places named.
    """

    issuers: tuple[str, ...] = ()
    number: str = ""
    written: str = ""
    issued: str = ""
    effective: str = ""
    expires: str = ""
    kind: str = ""
    level: Level = ""
    regions: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    notice: str = ""
    inferred: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.level not in get_args(Level):
            levels = "、".join(filter(None, get_args(Level)))
            raise ValueError(f"level is one of {levels}, got {self.level!r}")
        for name in ("written", "issued", "effective", "expires"):
            value = getattr(self, name)
            if value and not _DATE.fullmatch(value):
                raise ValueError(f"{name} is a date as 2022-03-05, 2022-03 or 2022, got {value!r}")

    @property
    def year(self) -> int | None:
        """Return the year of issue; None if unknown."""
        return int(self.issue_date[:4]) if self.issue_date else None

    @property
    def issue_date(self) -> str:
        """Return the date of issue or signature, stated or inferred; empty if unknown."""
        return self.issued or self.written

    @property
    def is_issue_inferred(self) -> bool:
        """Return whether one of these dates is inferred."""
        return bool({"issued", "written"}.intersection(self.inferred))

    @property
    def told_date(self) -> str:
        """Return the stated date of issue; empty if it is unknown or inferred."""
        if self.written and "written" not in self.inferred:
            return self.written
        return self.issued if "issued" not in self.inferred else ""

    @property
    def sure_year(self) -> int | None:
        """Return the year of issue as stated, also by the number; None if inferred."""
        numbered = f"〔{self.year}〕" in self.number
        return self.year if self.told_date or numbered else None

    @property
    def owner(self) -> str:
        """Return what distinguishes documents of one name: the first issuer, else the region."""
        return (*self.issuers[:1], *self.regions[-1:], "")[0]

    def to_record(self) -> dict[str, object]:
        """Return a JSON-ready mapping without empty fields."""
        told = ((f.name, getattr(self, f.name)) for f in fields(self))
        return {k: list(v) if isinstance(v, tuple) else v for k, v in told if v}

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> "Metadata":
        """Parse a record; unknown keys are ignored.

        >>> m = Metadata(issuers=("云岭省人民政府",), issued="2022-03-05")
        >>> Metadata.from_record(m.to_record()) == m
        True
        """
        known = {f.name for f in fields(cls)}
        values = {
            k: tuple(map(str, v)) if isinstance(v, list) else v
            for k, v in record.items()
            if k in known
        }
        return cls(**values)  # type: ignore[arg-type]


SILENT = Metadata()
