"""What is selected of all that documents state: the one question that tables answer."""

from dataclasses import replace
from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from kgrag.qualifiers import Standing
from kgrag.retrieval.filter import Filter
from kgrag.text.as_of import parse_as_of

Kind = Literal[
    "targets",
    "compare",
    "duties",
    "cites",
    "cited_by",
    "basis",
    "timeline",
    "conflicts",
    "digest",
    "documents",
]
By = Literal["province", "region", "document"]
Event = Literal["written", "issued", "effective", "expires", "due", "target"]
Part = Literal["targets", "duties", "references", "clauses"]

_OF_ONE = ("cites", "cited_by", "basis", "digest")  # kinds whose document is none that is searched


class Selection(BaseModel):
    """A selection of statements; fields that are empty select everything.

    Attributes:
        kind: What is stated, which is what the rows are.
        indicator: Words of its name, separated by blanks, or any of its names. Where no indicator
            is called so, several separated by 、.
        places: Full or short names; a province includes its cities, 全国 is the whole country.
        level: Of the places that rows are about: provinces, or cities.
        years: First and last year of the figures, or of issue of documents.
        standing: Planned or achieved.
        agency: Words of its name, or how documents of its place call it; of documents the issuer.
        role: 牵头, 负责 or 配合.
        document: Id, file, number, title or words of it; of a digest the old one.
        new: Of a digest the new document, named in the same way.
        topic: Words of titles, numbers, issuers or files of documents.
        status: Of documents at the day; see `kgrag.status.StatusKind`.
        by: What the rows of a comparison are.
        hops: Greatest length of a chain of bases.
        since: First day of a timeline: 2022, 2022-06 or 2022-06-30.
        until: Its last day.
        events: Of a timeline.
        parts: Of a digest.
        order: Of listed figures from the largest or the smallest on; only those of the usual unit.
        as_of: Day at which documents are in force, 2022, 2022-06 or 2022-06-30; today if empty.
        within: Which documents are looked at.
        offset: Rows left out before; sources are read of the others only.
        limit: Rows at most; 0 for all.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    indicator: str = ""
    places: tuple[str, ...] = ()
    level: Literal["", "省", "市"] = ""
    years: tuple[int, int] | None = None
    standing: Standing = ""
    agency: str = ""
    role: Literal["", "牵头", "负责", "配合"] = ""
    document: str = ""
    new: str = ""
    topic: str = ""
    status: str = ""
    by: By = "province"
    hops: int = 3
    since: str = ""
    until: str = ""
    events: tuple[Event, ...] = ()
    parts: tuple[Part, ...] = ()
    order: Literal["", "most", "least"] = ""
    as_of: str = ""
    within: Filter | None = None
    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=0, ge=0)

    @property
    def day(self) -> str:
        """The day at which documents are in force, ISO 8601.

        Raises:
            ValueError: If `as_of` is not a date.
        """
        return parse_as_of(self.as_of) if self.as_of else date.today().isoformat()

    @property
    def searched(self) -> Filter | None:
        """Which documents are searched; None for all."""
        if not self.document or self.kind in _OF_ONE:
            return self.within
        return replace(self.within or Filter(), documents=(self.document,))
