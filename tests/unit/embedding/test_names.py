"""Names of models: what may be one, and what becomes of a file's name."""

import pytest

from kgrag.embedding.names import checked_name, is_name, name_from
from kgrag.errors import ModelError

REFUSED = ["", "hash", "hash-64", "../x", "A", "a b", "-a", "a" * 65, "BAAI/bge-m3", ".staging-7"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_name_is_refused(name):
    """A name becomes a folder's name; `hash` is the stand-in."""
    assert not is_name(name)
    with pytest.raises(ModelError, match="cannot be called"):
        checked_name(name)


@pytest.mark.parametrize("text", [*REFUSED, "模型", "a-", "My Model v1.5"])
def test_a_name_from_any_text_is_one(text):
    """So that a command that proposes it is not refused."""
    assert is_name(name_from(text))


@pytest.mark.parametrize("name", ["bge-small-zh", "a-", "m.1_2"])
def test_a_name_is_itself(name):
    """Nothing of it is taken away."""
    assert checked_name(name) == name_from(name) == name
