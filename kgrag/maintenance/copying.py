"""Copying one knowledge base into another, between stores of any kind."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from urllib.parse import urlsplit

from kgrag.errors import StoreError
from kgrag.json_ready import JsonReady
from kgrag.statements.journal import CHANGES
from kgrag.store.bundles import content_records
from kgrag.store.contents import Counts, DocumentBundle
from kgrag.store.decisions import Correction
from kgrag.store.folders import ARCHIVES, FOLDERS
from kgrag.store.store import Store

_BOLT_PORT = 7687

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class CopyReport(JsonReady):
    """What was copied.

    Attributes:
        written: Number of documents written.
        unchanged: Number of documents that the target already had with the same content.
        source: Counts of the source after copying.
        target: Counts of the target; equal to `source` unless the source changed meanwhile.
    """

    written: int
    unchanged: int
    source: Counts
    target: Counts

    @property
    def documents(self) -> int:
        """Number of documents compared."""
        return self.written + self.unchanged


@dataclass(frozen=True, slots=True)
class Comparison(JsonReady):
    """Result of comparing two exports.

    Attributes:
        records: Number of equal records, from the first on.
        sha256: Hash of these, as `kgrag export` writes them.
        difference: The first two lines that differ (None for an export that has ended), or None
            if all are equal.
    """

    records: int
    sha256: str
    difference: tuple[str | None, str | None] | None


def copy(source: Store, target: Store, *, progress: Progress | None = None) -> CopyReport:
    """Copy settings, decisions and documents with everything extracted from them.

    Each document is written in one transaction, and documents that the target already has are
    skipped, so an interrupted copy is resumed by copying again. Documents are compared by
    content, not by fingerprint (facts and summaries may have been imported since), vectors by
    key.

    Args:
        source: Only read.
        target: Empty, or an earlier copy.
        progress: Called with (file, documents done, documents in all) before each document, and
            at the end.

    Raises:
        StoreError: If the target has documents that the source lacks, or other settings (nothing
            is written); or if a store fails (what was copied remains).
    """
    held = {state.source: state.doc_id for state in target.sources()}
    paths: defaultdict[str, list[str]] = defaultdict(list)
    for state in source.sources():
        paths[state.doc_id].append(state.source)
    _check_settings(source.all_meta(), target.all_meta())
    _check_documents(held, paths)
    target.set_meta({**source.all_meta(), **_folders(source)})
    written = 0
    for done, doc_id in enumerate(sorted(paths)):
        if progress:
            progress(paths[doc_id][0], done, len(paths))
        written += _copy_document(source, target, doc_id, paths[doc_id], held)
    _copy_decisions(source, target)
    if progress:
        progress("", len(paths), len(paths))
    return CopyReport(written, len(paths) - written, source.counts(), target.counts())


def _folders(source: Store) -> dict[str, str]:
    notes = {key: source.get_meta(key) for key in (FOLDERS, ARCHIVES)}
    return source.notes(CHANGES) | {key: note for key, note in notes.items() if note}


def compare(source: Store, target: Store) -> Comparison:
    """Compare the exports of two knowledge bases up to the first difference."""
    digest = hashlib.sha256()
    number = 0
    for ours, theirs in zip_longest(source.export(), target.export()):
        line, other = (None if record is None else export_line(record) for record in (ours, theirs))
        if line is None or line != other:
            return Comparison(number, digest.hexdigest(), (line, other))
        digest.update(line.encode() + b"\n")
        number += 1
    return Comparison(number, digest.hexdigest(), None)


def export_line(record: Mapping[str, object]) -> str:
    """Return a record as one line of JSON, without newline, as `kgrag export` writes it."""
    return json.dumps(record, ensure_ascii=False, sort_keys=True)


def same_place(location: str, other: str) -> bool:
    """Return whether two locations name the same place, judged by their text.

    A folder may be written in several ways, and a server with several schemes.

    >>> same_place("kb", "./kb/"), same_place("bolt://h", "neo4j://h:7687/neo4j")
    (True, True)
    >>> same_place("bolt://h", "bolt://h#energy")
    False
    """
    return _place(location) == _place(other)


def _place(location: str) -> tuple[str | None, int, str, str]:
    if "://" not in location:
        return None, 0, str(Path(location).resolve()), ""
    parts = urlsplit(location)
    database = parts.path.strip("/") or "neo4j"
    return parts.hostname, parts.port or _BOLT_PORT, database, parts.fragment


def _check_settings(ours: Mapping[str, str], theirs: Mapping[str, str]) -> None:
    """Raise for a target with another encoder, chunk size or other setting."""
    for key, value in theirs.items():
        if ours.get(key) != value:
            raise StoreError(
                f"the target was made with {key} = {value}, the source with {key} = "
                f"{ours.get(key)}: copy into a new place"
            )


def _check_documents(held: Mapping[str, str], paths: Mapping[str, Sequence[str]]) -> None:
    """Raise for a target with documents, or files of documents, that the source lacks."""
    known = {path for group in paths.values() for path in group}
    strange = sorted({doc for path, doc in held.items() if doc not in paths or path not in known})
    if strange:
        more = f" and {len(strange) - 3} more" if len(strange) > 3 else ""
        raise StoreError(
            f"the target holds documents that the source does not have ({', '.join(strange[:3])}"
            f"{more}), or from other files: delete them there with `kgrag delete`, or copy into "
            "a new place"
        )


def _copy_document(
    source: Store, target: Store, doc_id: str, paths: Sequence[str], held: Mapping[str, str]
) -> bool:
    """Copy a document unless the target has it; return whether it was written.

    Args:
        source: The source.
        target: The target.
        doc_id: The document.
        paths: All of its files.
        held: Document of each of the target's files before copying. Only files that are not among
            `paths` are detached from a document.
    """
    bundle = source.bundle(doc_id)
    if bundle is None:  # deleted meanwhile
        return False
    # Ask the target itself: a source that moved may have taken its last document with it.
    kept = target.bundle(doc_id)
    attached = {path for path in paths if kept and held.get(path) == doc_id}
    written = kept is None or _content(kept) != _content(bundle)
    if written:
        target.upsert_document(bundle, source=paths[0])
        attached.add(paths[0])
    for path in paths:
        if path not in attached:
            target.attach_source(path, doc_id)
    return written


def _copy_decisions(source: Store, target: Store) -> None:
    """Make the target's decisions those of the source."""
    wanted, held = _corrected(source), _corrected(target)
    changed: list[Correction] = []
    for doc_id, field in sorted(wanted.keys() | held.keys()):
        value = wanted.get((doc_id, field))
        if value != held.get((doc_id, field)):
            changed.append((doc_id, field, value))
    decided, known = source.decisions(), target.decisions()
    target.decide(
        corrections=changed,
        decisions=decided,
        taken_back=[d for d in known if d not in decided],
    )


def _corrected(store: Store) -> dict[tuple[str, str], str]:
    found = store.corrections().items()
    return {(doc_id, field): v for doc_id, fields in found for field, v in fields.items()}


def _content(bundle: DocumentBundle) -> set[str]:
    return {export_line(record) for record in content_records(bundle)}
