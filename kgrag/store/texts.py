"""Segments, metadata and qualifiers as the texts that both stores keep."""

import json
from collections.abc import Iterable
from functools import lru_cache

from kgrag.metadata import SILENT, Metadata
from kgrag.qualifiers import NONE, Qualifiers
from kgrag.types import Segment

NOTHING = "{}"  # of metadata or qualifiers that say nothing


def to_json(value: object) -> str:
    """Return compact JSON with sorted keys: the same value gives the same text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def segment_rows(segments: Iterable[Segment]) -> list[list[str | int]]:
    """Return segments as `Segment(*row)` takes them, without level and label where none is stated.

    >>> segment_rows([Segment(0, 2, "paragraph", 1, 2), Segment(3, 9, "paragraph", 2)])
    [[0, 2, 'paragraph', 1, 2], [3, 9, 'paragraph', 2]]
    """
    return [
        [s.start, s.end, s.kind, s.number, *((s.level, s.label)[: 2 if s.label else bool(s.level)])]
        for s in segments
    ]


def metadata_text(metadata: Metadata) -> str:
    """Return metadata as text."""
    return to_json(metadata.to_record())


def metadata_of(text: str) -> Metadata:
    """Return the metadata of a text; ValueError if it is of no use."""
    return SILENT if text == NOTHING else Metadata.from_record(json.loads(text))


def qualifiers_text(qualifiers: Qualifiers) -> str:
    """Return qualifiers as text."""
    return NOTHING if qualifiers is NONE else to_json(qualifiers.to_record())


@lru_cache(maxsize=1 << 14)  # what 300 documents state is read again for each table
def qualifiers_of(text: str) -> Qualifiers:
    """Return the qualifiers of a text; ValueError if it is of no use."""
    return NONE if text == NOTHING else Qualifiers.from_record(json.loads(text))
