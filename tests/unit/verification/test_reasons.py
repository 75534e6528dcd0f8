from typing import get_args

import pytest

from kgrag.verification.reasons import Reason, judged, reason


@pytest.mark.parametrize("name", get_args(Reason))
def test_each_reason_is_told_in_both_languages(name):
    """Alike in what it tells, and not in the same words."""
    values = (0.5, 2)
    chinese, english = reason(name, "zh", *values), reason(name, "en", *values)
    assert english.isascii()
    assert any("一" <= c <= "鿿" for c in chinese)
    assert ("2" in chinese) == ("2" in english)


def test_a_judgement_is_a_reason():
    """In the language of the question."""
    assert [judged(j, "zh") for j in ("true", "false", "unclear")] == [
        "判为正确", "判为错误", "判为不清楚"
    ]  # fmt: skip
