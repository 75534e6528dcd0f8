"""What every store refuses before it writes."""

from collections.abc import Sequence

from kgrag.errors import ModelMismatchError
from kgrag.store.store import DocumentBundle
from kgrag.types import Fact, Mention, Summary


def check_bundle(bundle: DocumentBundle) -> None:
    """Refuse a bundle with parts of another document.

    Raises:
        ValueError: If there is one, or a fact lacks evidence.
    """
    doc_id = bundle.document.doc_id
    for chunk in bundle.chunks:
        if chunk.doc_id != doc_id:
            raise ValueError(f"chunk {chunk.chunk_id} is of {chunk.doc_id}, not of {doc_id}")
    check_knowledge(doc_id, bundle.facts, bundle.mentions, bundle.summaries)


def check_knowledge(
    doc_id: str, facts: Sequence[Fact], mentions: Sequence[Mention], summaries: Sequence[Summary]
) -> None:
    """Refuse knowledge of another document.

    Raises:
        ValueError: If there is some, or a fact lacks evidence.
    """
    for fact in facts:
        if not fact.evidence:
            raise ValueError(f"fact {fact.fact_id} has no evidence")
    spots = [(f.fact_id, e.doc_id) for f in facts for e in f.evidence]
    spots += [(m.entity.entity_id, m.evidence.doc_id) for m in mentions]
    spots += [(s.summary_id, s.doc_id) for s in summaries]
    for subject, other in spots:
        if other != doc_id:
            raise ValueError(f"{subject} is known from {other}, not from {doc_id}")


def check_encoder(given: str, recorded: str | None) -> None:
    """Refuse vectors of another encoder than those that are held.

    Args:
        given: Identity of the encoder that made them; empty where it is not known.
        recorded: By the knowledge base; None in a new one.

    Raises:
        ModelMismatchError: If they differ, because `kgrag reembed` was run meanwhile.
    """
    if given and recorded and given != recorded:
        raise ModelMismatchError(
            f"vectors of the encoder {given} were made, but the knowledge base has been changed "
            f"to {recorded} meanwhile: run it again"
        )
