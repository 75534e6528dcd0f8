"""Lay out dated events in lanes along an axis of years."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Literal, NamedTuple

Precision = Literal["day", "month", "year"]

# Lengths in the drawing's units, which are pixels.
STEP = 11.0  # between events
_YEAR, _EMPTY = 12 * STEP, 6.0  # least width of a year, with events and without
_DEEP = 14  # events above one another, from which on a year is wider


class Mark(NamedTuple):
    """An event's place in its lane.

    Attributes:
        number: Index of the event.
        x: Of its middle.
        y: Of its middle, from the bottom of the lane upwards.
        precision: How exact its date is; the less exact ones stand where there is room.
    """

    number: int
    x: float
    y: float
    precision: Precision


class Year(NamedTuple):
    """A year on the axis.

    Attributes:
        year: It.
        x: Of its beginning.
        width: Less where nothing happens.
        events: How many are in it.
    """

    year: int
    x: float
    width: float
    events: int


class Axis(NamedTuple):
    """A drawing of events.

    Attributes:
        years: In order, those without events, too.
        lanes: Marks by lane, in the order of the first event of each.
        width: Of all years.
        today: x of today; negative if it is on none of the years.
    """

    years: Sequence[Year]
    lanes: dict[str, list[Mark]]
    width: float
    today: float


def axis(events: Sequence[tuple[str, str]], *, day: date) -> Axis:
    """Return the places of events, which stand in columns: at least one for each month.

    Args:
        events: Date (`2022`, `2022-06`, `2022-06-30`) and lane of each.
        day: Today.
    """
    spans = [_span(when) for when, _ in events]
    years = _years(spans, Counter((s[0], lane) for s, (_, lane) in zip(spans, events, strict=True)))
    lanes: dict[str, list[Mark]] = {lane: [] for _, lane in events}
    heights: defaultdict[tuple[str, int, int], int] = defaultdict(int)
    exact_first = sorted(range(len(events)), key=lambda n: (spans[n][2] - spans[n][1], spans[n]))
    for n in exact_first:
        (year, begin, end), lane = spans[n], events[n][1]
        room = round(years[year].width / STEP)
        first = int(begin * room + 1e-9)
        slots = range(first, max(first + 1, int(end * room + 1e-9)))
        slot = min(slots, key=lambda s: heights[lane, year, s])
        level = heights[lane, year, slot] = heights[lane, year, slot] + 1
        precision: Precision = "day" if begin == end else "year" if end - begin == 1 else "month"
        x = years[year].x + (slot + 0.5) * STEP
        lanes[lane].append(Mark(n, x, (level - 0.5) * STEP, precision))
    year, begin, _ = _span(day.isoformat())
    now = years[year].x + begin * years[year].width if year in years else -1.0
    return Axis(list(years.values()), lanes, sum(y.width for y in years.values()), now)


def _years(
    spans: Sequence[tuple[int, float, float]], crowds: Mapping[tuple[int, str], int]
) -> dict[int, Year]:
    totals = Counter(year for year, _, _ in spans)
    most: dict[int, int] = {}
    for (year, _), n in crowds.items():
        most[year] = max(most.get(year, 0), n)
    years: dict[int, Year] = {}
    x = 0.0
    for year in range(min(totals), max(totals) + 1) if totals else ():
        wanted = -(-most.get(year, 0) // _DEEP) * STEP
        width = max(_YEAR, wanted) if year in most else _EMPTY
        years[year] = Year(year, x, width, totals[year])
        x += width
    return years


def _span(when: str) -> tuple[int, float, float]:
    """Return year, begin and end of a date, the latter as shares of the year.

    >>> _span("2022"), _span("2022-06-30")[0], _span("2022-07")[1]
    ((2022, 0.0, 1.0), 2022, 0.5)
    """
    year, *rest = map(int, when.split("-"))
    if not rest:
        return year, 0.0, 1.0
    begin = (rest[0] - 1) / 12
    if len(rest) == 1:
        return year, begin, begin + 1 / 12
    at = begin + (rest[1] - 0.5) / 31 / 12
    return year, at, at
