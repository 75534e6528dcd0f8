"""The faults in their small form."""

from importlib import import_module

import pytest

from tests.faults import NAMES

pytestmark = [pytest.mark.faults, pytest.mark.slow]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_lost_unnoticed_torn_or_hanging(name, tmp_path):
    """What each count says was wrong is shown where it is not 0."""
    module = import_module(f"tests.faults.{name}")
    tally = module.run(module.SMALL, 1, tmp_path)
    for why in tally.skipped:
        print(f"skipped: {why}")
    assert tally.runs, tally.skipped
    assert tally.is_clean, tally.found
