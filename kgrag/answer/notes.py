"""Notes for the reader of an answer, typed, and worded in one file."""

from collections.abc import Mapping

from kgrag.status import Status
from kgrag.text.messages import catalogue
from kgrag.types import Language


class Note(str):
    """A note in the reader's language.

    Attributes:
        kind: Its section in `notes.toml`; empty for notes from elsewhere.
        values: Values in its wording.
    """

    kind: str
    values: Mapping[str, object]

    def __new__(cls, text: str, kind: str = "", **values: object) -> "Note":
        """Return a note with its words."""
        made = super().__new__(cls, text)
        made.kind, made.values = kind, values
        return made

    def worded(self, language: Language) -> "Note":
        """Return the note in a language; one without a kind is unchanged."""
        return note(self.kind, language, **self.values) if self.kind else self


def note(kind: str, language: Language = "zh", **values: object) -> Note:
    """Return a note of a kind of `notes.toml`, which `Note.worded` has in the other language, too.

    Raises:
        KeyError: If there is no such kind, or a value that it names is missing.

    >>> note("shortened", "en", shown=3, n=40)
    'the first 3 of 40 quotes'
    >>> note("shortened", "zh", shown=3, n=40).kind
    'shortened'
    """
    shown = {name: _worded(value, language) for name, value in values.items()}
    return Note(
        catalogue("kgrag.answer", "notes.toml")[kind][language].format(**shown), kind, **values
    )


def _worded(value: object, language: Language) -> object:
    if isinstance(value, tuple):
        return {"zh": "、", "en": ", "}[language].join(str(_worded(v, language)) for v in value)
    if isinstance(value, Status):
        return value.told(language)
    return value.worded(language) if isinstance(value, Note) else value
