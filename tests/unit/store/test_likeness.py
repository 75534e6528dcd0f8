import pytest

from kgrag.store.likeness import likeness


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("碳达峰", "碳达峰", 1.0),
        ("碳", "碳", 1.0),
        ("碳达峰", "碳达标", 0.5),  # 1 of 2 pairs each: 2 * 1 / 4
        ("工厂", "绿色工厂", 0.5),  # half of it; Dice is 2 * 1 / 4, too
        ("碳", "碳达峰目标", 0.2),  # no pair in common: its share of the name
        ("节能", "降碳", 0.0),
    ],
)
def test_likeness_is_dice_or_the_share_contained(a, b, expected):
    """Whichever is more, and the same both ways."""
    assert likeness(a, b) == likeness(b, a) == pytest.approx(expected)
