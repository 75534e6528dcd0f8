"""Notes beside an answer."""

import pickle
import re
import tomllib
from pathlib import Path
from string import Formatter

import pytest

import kgrag.answer
from kgrag.answer.notes import note

FILE = Path(kgrag.answer.__file__).with_name("notes.toml")
NOTES = tomllib.loads(FILE.read_text("utf-8"))


@pytest.mark.parametrize("kind", NOTES)
def test_a_note_tells_the_same_in_both_languages(kind):
    """The same values, and not in the same words, but for what is quoted of a Chinese table."""
    wordings = NOTES[kind]
    assert wordings.keys() == {"zh", "en"}
    named = {
        language: {name for _, name, _, _ in Formatter().parse(text) if name}
        for language, text in wordings.items()
    }
    assert named["zh"] == named["en"]
    assert any("一" <= c <= "鿿" for c in wordings["zh"])
    quoted = re.findall("[一-鿿]+", wordings["en"])
    assert all(words in wordings["zh"] for words in quoted)


def test_a_note_is_its_words_and_knows_its_kind():
    """Programs need not read the words."""
    told = note("shortened", "zh", shown=3, n=40)
    assert told == "列出前3条，共40条"
    assert (told.kind, dict(told.values)) == ("shortened", {"shown": 3, "n": 40})
    again = pickle.loads(pickle.dumps(told))
    assert (again, again.kind) == (told, "shortened")
    with pytest.raises(KeyError):
        note("shortened", "zh", shown=3)
