"""Events along an axis of years."""

from datetime import date

from kgrag.drawing.axis import STEP, axis


def test_events_stand_in_their_time_and_never_upon_each_other():
    """A day and a month in the column of the month, a year's events spread over it."""
    events = [("2022-06-30", "a"), ("2022-06", "a"), *[("2025", "a")] * 30, ("2025-01", "b")]
    made = axis(events, day=date(2025, 7, 1))
    first, gap, _, last = made.years
    assert [y.year for y in made.years] == [2022, 2023, 2024, 2025]
    assert gap.width < first.width <= last.width
    assert made.width == last.x + last.width
    assert 0 < made.today - (last.x + 0.5 * last.width) < last.width / 31
    assert [(m.number, m.precision, m.y) for m in made.lanes["a"][:2]] == [
        (0, "day", STEP / 2),
        (1, "month", STEP * 1.5),
    ]
    assert 5 / 12 < made.lanes["a"][0].x / first.width < 6 / 12
    (january,) = made.lanes["b"]
    assert 0 < january.x - last.x < last.width / 12
    spots = [(m.x, m.y) for m in made.lanes["a"]]
    assert len(set(spots)) == len(spots) == 32
    assert all(last.x < m.x < last.x + last.width for m in made.lanes["a"][2:])


def test_a_crowded_year_is_wider_and_an_axis_of_nothing_is_empty():
    crowded = axis([("2025", "a")] * 400, day=date(2026, 1, 1))
    assert crowded.width > axis([("2025", "a")], day=date(2026, 1, 1)).width
    assert max(m.y for m in crowded.lanes["a"]) < 20 * STEP
    assert crowded.today < 0
    assert axis([], day=date(2026, 1, 1)).years == []
