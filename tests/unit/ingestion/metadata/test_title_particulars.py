"""What stands around a title in the name of a file: a day, a number."""

import pytest

from kgrag.ingestion.metadata.read import title_particulars


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("节能办法", ("节能办法", "", "")),
        ("（2022年3月5日）节能办法", ("节能办法", "2022-03-05", "")),
        ("节能办法（试行）", ("节能办法（试行）", "", "")),
        ("节能规划（2021—2025年）", ("节能规划（2021—2025年）", "", "")),
        ("2022年节能工作要点", ("2022年节能工作要点", "", "")),
    ],
)
def test_only_days_and_numbers_are_taken_off(title, told):
    """A year, a period and （试行） belong to the title."""
    assert title_particulars(title) == told
