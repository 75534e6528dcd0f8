"""The part of a store that keeps vectors of another encoder until they take over."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from kgrag.errors import StoreError
from kgrag.store.contents import NodeVector
from kgrag.vectors.vector import Vector


class StagedVectors(Protocol):
    """Vectors beside those in use, which go on answering until every document has staged ones.

    A document that is written, or to which knowledge is added, is staged no more; its vectors
    stay by key, so that equal texts are not encoded again. Nothing staged is exported or found.
    """

    def meta(self) -> dict[str, str] | None:
        """Return what was given to `begin`; None where nothing is being staged."""
        ...

    def begin(self, meta: Mapping[str, str]) -> None:
        """Make ready for vectors of an encoder; what is staged stays if `is_kept` says so.

        Args:
            meta: What decides them, as it will be recorded: the encoder (`embedder`).
        """
        ...

    def doc_ids(self) -> set[str]:
        """Return the documents that are staged."""
        ...

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return staged vectors by embedding key."""
        ...

    def put(
        self,
        vectors: Mapping[str, Sequence[NodeVector]],
        *,
        meta: Mapping[str, str],
        as_of: int,
    ) -> None:
        """Stage documents, all in one transaction.

        Args:
            vectors: By document all that its nodes will have; each with its numbers.
            meta: As given to `begin`.
            as_of: `Store.change_counter()` from before the documents were read: those that
                changed since are left out, but their vectors are kept by key.

        Raises:
            StoreError: If staging has not begun, or anew for another encoder meanwhile, or if
                the vectors are not all of one dimension.
            ValueError: If one is not finite, or neither of unit length nor zero.
        """
        ...

    def switch(self, meta: Mapping[str, str]) -> bool:
        """Let staged vectors take the place of all others, and record their encoder.

        Killed at any moment, either nothing has changed, or the next one who opens the
        knowledge base finishes it.

        Args:
            meta: What the knowledge base is to record: what was given to `begin`, and whatever
                else there is to tell of the encoder.

        Returns:
            False, and nothing has changed, if a document is not staged.

        Raises:
            StoreError: If staging has not begun, or anew for another encoder meanwhile.
        """
        ...

    def drop(self) -> None:
        """Forget everything that is staged."""
        ...


def all_given(vectors: Mapping[str, Sequence[NodeVector]]) -> dict[str, Vector]:
    """Return the vectors of documents by key.

    Raises:
        ValueError: If one comes without its numbers.
    """
    given: dict[str, Vector] = {}
    for group in vectors.values():
        for v in group:
            if v.vector is None:
                raise ValueError(f"vector {v.key} comes without its numbers: give them")
            given[v.key] = v.vector
    return given


def is_kept(begun: Mapping[str, str] | None, wanted: Mapping[str, str]) -> bool:
    """Return whether staged vectors stay when staging begins.

    Args:
        begun: What decides those that are staged, and maybe more; None where none are.
        wanted: What decides those that are to be staged.

    >>> is_kept({"embedder": "m", "languages": "zh"}, {"embedder": "m"})
    True
    """
    return begun is not None and wanted.items() <= begun.items()


def check_staging(wanted: Mapping[str, str], begun: Mapping[str, str] | None) -> None:
    """Refuse to stage vectors among those of another encoder.

    Args:
        wanted: What decides the caller's, and maybe more.
        begun: What decides those that are staged; None where none are.

    Raises:
        StoreError: If they differ.
    """
    if begun is None:
        raise StoreError("no vectors are being staged: run `kgrag reembed` again")
    if not begun.items() <= wanted.items():
        raise StoreError(
            f"another `kgrag reembed` to {begun.get('embedder')} has begun meanwhile: run one at "
            "a time"
        )
