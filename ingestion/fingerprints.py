"""Fingerprints of stored documents: content, rules, model, and passages that failed."""

from dataclasses import dataclass
from typing import Self

from kgrag.ids import digest
from kgrag.ingestion.load.formats import plugin_version


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The inputs that a stored document was made from.

    Written `OFFLINE`, `OFFLINE+MODEL` or `OFFLINE+MODEL!2,5`; `OFFLINE~SEEN` for `OFFLINE`.
    """

    offline: str  # hash of the content and of all settings that need no model
    model: str = ""  # hash of the settings and names of models that read it; empty for none
    failed: tuple[int, ...] = ()  # positions of passages that the model could not read, ascending
    seen: str = ""  # hash of the vision model that was shown pages; empty for none

    @classmethod
    def parse(cls, text: str) -> "Fingerprint":
        """Parse a fingerprint; malformed parts are left out.

        >>> Fingerprint.parse("ab+cd!2,5")
        Fingerprint(offline='ab', model='cd', failed=(2, 5), seen='')
        """
        offline, _, rest = text.partition("+")
        model, _, marks = rest.partition("!")
        offline, _, seen = offline.partition("~")
        failed = tuple(int(mark) for mark in marks.split(",") if mark.isdigit())
        return cls(offline, model, failed, seen)

    def __str__(self) -> str:
        """Return the stored form."""
        model = f"+{self.model}" if self.model else ""
        marks = "!" + ",".join(map(str, self.failed)) if self.model and self.failed else ""
        seen = f"~{self.seen}" if self.seen else ""
        return f"{self.offline}{seen}{model}{marks}"

    @classmethod
    def of(
        cls, content_hash: str, media_type: str, *, settings: str, model: str = "", stated: str = ""
    ) -> Self:
        """Compute the fingerprint that a document should have; it includes a plugin's version.

        `settings` is the hash of all settings that need no model, `stated` that of the metadata
        stated beside the document (`kgrag.ingestion.load.statement.stated_digest`), empty for none.
        """
        further = filter(None, (plugin_version(media_type), stated))
        return cls(digest(content_hash, settings, *further), model)

    def covers(self, wanted: "Fingerprint") -> bool:
        """Return whether a document with this fingerprint is up to date with `wanted`.

        A run without a model wants none, so that model results are kept. Failed passages do not
        count: they are retried separately.
        """
        is_seen = wanted.seen in ("", self.seen)
        return self.offline == wanted.offline and is_seen and wanted.model in ("", self.model)
