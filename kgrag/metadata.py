"""What a policy document says of itself: issuers, number, dates, kind, level, regions, status."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, get_args

from kgrag.json_ready import JsonReady

Level = Literal["国家", "部门", "省", "市", "县", ""]

_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")


@dataclass(frozen=True, slots=True)
class Metadata(JsonReady):
    """What a document says of itself, as rules read it or a person stated it.

    Dates are ISO 8601 as far as they are told: `2022-03-05`, `2022-03`, `2022`. Empty means that
    the document does not say.

    Attributes:
        issuers: Full names of the organs that issued it (发文机关), the first named first:
            四川省人民政府办公厅, not 省政府办公厅.
        number: Its number (文号), brackets as 〔〕 and digits narrow: 云政发〔2022〕3号.
        written: When it was signed (成文日期).
        issued: When it was sent out or published (印发, 发布日期).
        effective: From when it is in force (施行日期).
        expires: Until when (失效日期, 有效期至).
        kind: What its title ends in (文种): 实施方案, 规划, 管理办法.
        level: Whose it is: 国家 (Party centre, National People's Congress, State Council), 部门 (a
            ministry), 省, 市, 县.
        regions: Full names of the places that it governs, the outermost first, each with what
            lies around it: (四川省, 成都市). Empty for a national document.
        recipients: To whom it is addressed (主送机关), as written.
        status: Words that limit it: 试行, 暂行, 征求意见稿, 草案, 废止.
        notice: Title of the notice that covers it (关于印发《…》的通知), where `Document.title` is
            that of the body.
        inferred: Names of the fields above that the document does not state, but suggests: a year
            by the latest that it cites, a day by the time of its page alone, a region by the
            places that it speaks of.
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
        """Return the year of issue; None where the document does not say."""
        date = self.issued or self.written
        return int(date[:4]) if date else None

    @property
    def told_date(self) -> str:
        """Return when it was issued, as it says itself; empty where it is only suggested."""
        if self.written and "written" not in self.inferred:
            return self.written
        return self.issued if "issued" not in self.inferred else ""

    @property
    def sure_year(self) -> int | None:
        """Return the year of issue if the document, or its number, says it; None if inferred."""
        numbered = f"〔{self.year}〕" in self.number
        return self.year if self.told_date or numbered else None

    @property
    def owner(self) -> str:
        """Return what tells documents of one name apart: the first issuer, else the region."""
        return (*self.issuers[:1], *self.regions[-1:], "")[0]

    def to_record(self) -> dict[str, object]:
        """Return what is told, as JSON: empty fields are left out, tuples are lists."""
        told = ((f.name, getattr(self, f.name)) for f in fields(self))
        return {k: list(v) if isinstance(v, tuple) else v for k, v in told if v}

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> "Metadata":
        """Return the metadata of a record; what is unknown in it is left out.

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
