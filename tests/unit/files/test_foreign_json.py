import pytest

from kgrag.files.foreign_json import read_foreign


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff", "not UTF-8"),
        (b"{", "not JSON"),
        (b"[" * 200_000, "nested too deep"),
        (b'{"a": ' * 200_000, "nested too deep"),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "'c' stands twice"),
        (b"9" * 5000, "digits"),
    ],
)
def test_what_is_wrong_with_json_of_others_is_said(data, said):
    """No RecursionError: one line of a file would end a whole import."""
    with pytest.raises(ValueError, match=said):
        read_foreign(data)


def test_numbers_that_are_none_are_read_as_null():
    assert read_foreign('{"a": [NaN, -Infinity, 1.5]}') == {"a": [None, None, 1.5]}
