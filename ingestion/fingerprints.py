"""What a stored document was made with: content and rules, the model that read it, what failed."""

from dataclasses import dataclass
from typing import Self

from kgrag.ids import digest
from kgrag.ingestion.load.formats import plugin_version


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """How a document came to be as it is stored.

    Written `OFFLINE`, `OFFLINE+MODEL` or `OFFLINE+MODEL!2,5`.

    Attributes:
        offline: Hash of the content and of all settings that need no model.
        model: Hash of the settings and names of the models that read it; empty where none did.
        failed: Positions of the passages that the model could not read, ascending.
    """

    offline: str
    model: str = ""
    failed: tuple[int, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Fingerprint":
        """Return the fingerprint that a text writes; malformed parts are left out.

        >>> Fingerprint.parse("ab+cd!2,5")
        Fingerprint(offline='ab', model='cd', failed=(2, 5))
        """
        offline, _, rest = text.partition("+")
        model, _, marks = rest.partition("!")
        return cls(offline, model, tuple(int(mark) for mark in marks.split(",") if mark.isdigit()))

    def __str__(self) -> str:
        """Return the text that a store keeps."""
        model = f"+{self.model}" if self.model else ""
        marks = "!" + ",".join(map(str, self.failed)) if self.model and self.failed else ""
        return f"{self.offline}{model}{marks}"

    @classmethod
    def of(
        cls,
        content_hash: str,
        media_type: str,
        *,
        settings: str,
        model: str = "",
        stated: str = "",
    ) -> Self:
        """Return the fingerprint that a document is to have.

        Args:
            content_hash: Of the document.
            media_type: Of the document; where a plugin reads it, another version of that plugin
                may read it otherwise.
            settings: Hash of all settings that need no model.
            model: As the attribute.
            stated: Hash of what is stated of it beside it
                (`kgrag.ingestion.load.statement.stated_digest`); empty for nothing.
        """
        further = filter(None, (plugin_version(media_type), stated))
        return cls(digest(content_hash, settings, *further), model)

    def covers(self, wanted: "Fingerprint") -> bool:
        """Return whether a document that is held so needs no more work to be as wanted.

        A run without a model wants none, so that what a model has read stays as it is. Passages
        that failed do not count: they are asked for again by themselves.
        """
        return self.offline == wanted.offline and wanted.model in ("", self.model)
