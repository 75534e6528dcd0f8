"""Storing, changing and deleting documents, each call within one transaction of the caller's."""

from collections.abc import Iterable, Mapping, Sequence

from kgrag.errors import NotFoundError, StoreError
from kgrag.store.checks import check_bundle, check_encoder, check_knowledge
from kgrag.store.contents import DocumentBundle, NodeVector
from kgrag.store.neo4j.base import Base, begin, look
from kgrag.store.neo4j.connection import Transaction
from kgrag.store.neo4j.document_knowledge import DocumentKnowledge, read_knowledge
from kgrag.store.neo4j.embeddings import (
    add_embeddings,
    create_embeddings,
    embed_nodes,
    keys_of,
    prune_embeddings,
    unembed,
)
from kgrag.store.neo4j.graph_write import cite, update_entities, write_knowledge
from kgrag.store.neo4j.labels import relabel
from kgrag.store.neo4j.nodes import label_of, layout_of, stored, terms_rows
from kgrag.store.neo4j.typed import delete_typed, redirect_references, write_typed
from kgrag.store.texts import segment_rows, to_json
from kgrag.text.document_nodes import node_id
from kgrag.text.messages import packed
from kgrag.types import Chunk, Document, Fact, Mention, Summary

_CHUNK_ROWS = 500  # in a statement: about 1 MB of text
_REMAINS = 5000  # nodes of such a document that one transaction deletes
_LARGE = 10_000  # chunks above which a document is deleted in several transactions


def set_meta(tx: Transaction, values: Mapping[str, str]) -> None:
    """Record settings."""
    rows = [{"key": key, "value": value} for key, value in sorted(values.items())]
    tx.run_rows("put_settings", rows)


def upsert_document(tx: Transaction, bundle: DocumentBundle, *, source: str) -> str | None:
    """Store a document, replacing its old version, and return the fingerprint of that.

    What a new document has for itself is written before the writers' lock is taken, so that several
    writers proceed at a time. What it shares with others, and all that is replaced, is written
    under the lock. Chunks that stay the same stay untouched: who reads meanwhile goes on seeing
    them.
    """
    check_bundle(bundle)
    _check_chunks(bundle)
    document = bundle.document
    doc_id, layout = document.doc_id, layout_of(document.title, bundle.chunks)
    wanted = DocumentKnowledge()
    wanted.add(bundle.facts, bundle.mentions)
    before = tx.run("claim_document", id=doc_id)[0]
    early = look(tx)  # after the claim: nobody can store the document, or delete it, from here on
    apart = before["is_new"] and doc_id not in early.deleting
    made = _put_own(tx, early, bundle, layout) if apart else set()
    base = begin(tx)
    if not apart:  # another writer may have changed it until now
        before = tx.run("claim_document", id=doc_id)[0]
    held, same = not before["is_new"], before["layout"] == layout
    check_encoder(bundle.embedder, base.embedder)
    if base.begun is not None:
        tx.run("unstage", id=doc_id)
    _release_source(tx, base, source, keep=doc_id, carries=True)
    tx.run("put_source", source=source, id=doc_id)
    known = read_knowledge(tx.run, doc_id) if held else DocumentKnowledge()
    if apart:
        _follow(tx, early, base, bundle)
    else:
        _replace_own(tx, base, bundle, layout, held=held, same=same)
    linked = known.mention_rows() if same else {}
    write_knowledge(tx, base, doc_id, known, wanted, linked)
    base.dimension = add_embeddings(tx, bundle.vectors, base.dimension, made)
    tx.run("show_file", id=doc_id)
    cite(tx, doc_id, replaces=held)
    described = (document.title, document.metadata)
    write_typed(tx, base, doc_id, wanted, described=described, replaces=held)
    if (named := node_id(document.title, document.metadata)) != before["node_id"]:
        redirect_references(tx, [named, before["node_id"]])
    finish(tx, base)
    return str(before["fingerprint"]) if held else None


def _put_own(tx: Transaction, base: Base, bundle: DocumentBundle, layout: str) -> set[str]:
    """Write what a new document has for itself; return the keys of the embeddings made for it."""
    check_encoder(bundle.embedder, base.embedder)
    _put_document(tx, base, bundle, layout)
    _add_chunks(tx, base, bundle)
    _add_summaries(tx, base, bundle.summaries)
    made = create_embeddings(tx, bundle.vectors, base.dimension) if bundle.vectors else set()
    _embed(tx, bundle.document.doc_id, bundle.vectors)
    return made


def _follow(tx: Transaction, early: Base, base: Base, bundle: DocumentBundle) -> None:
    """Give a document what was decided of the knowledge base while it was written."""
    _add_terms(tx, bundle, sorted({*base.sizes} - {*early.sizes}))
    if base.hidden != early.hidden:
        relabel(tx, base.hidden)


def _replace_own(
    tx: Transaction, base: Base, bundle: DocumentBundle, layout: str, *, held: bool, same: bool
) -> None:
    """Replace what a document has for itself, which may be left of a deletion that was cut off."""
    doc_id = bundle.document.doc_id
    keys = keys_of(tx, doc_id)
    if held:
        _delete_summaries(tx, doc_id, keep=[s.summary_id for s in bundle.summaries])
    if not same:
        _delete_chunks(tx, base, doc_id)
    _put_document(tx, base, bundle, layout)
    if not same:
        _add_chunks(tx, base, bundle)
    _add_summaries(tx, base, bundle.summaries)
    unembed(tx, base, doc_id, keys, {v.node_id: v.key for v in bundle.vectors})
    _embed(tx, doc_id, bundle.vectors)


def attach_source(tx: Transaction, source: str, doc_id: str) -> None:
    """Record that a stored document is that of `source`; delete what only `source` had before.

    Raises:
        NotFoundError: If the document is not stored.
    """
    base = begin(tx)
    _check_held(tx, doc_id)
    removed = _release_source(tx, base, source, keep=doc_id)
    tx.run("put_source", source=source, id=doc_id)
    tx.run("show_file", id=doc_id)
    if removed:
        finish(tx, base)


def delete_document(tx: Transaction, doc_id: str) -> bool:
    """Delete a document and what nothing else supports; return whether it was stored.

    Of a large one the chunks are left for `delete_remains`.
    """
    base = begin(tx)
    if tx.run("layout", id=doc_id)[0]["id"] is None:
        return any(tx.earlier)  # it was this call that deleted it, though nobody heard of it
    _remove(tx, base, doc_id)
    finish(tx, base)
    return True


def delete_remains(tx: Transaction) -> None:
    """Delete some of the chunks that deletions of large documents left."""
    base = begin(tx)
    if not base.deleting:
        return
    doc_id = base.deleting[0]
    n = tx.run("delete_some_terms", id=doc_id, limit=_REMAINS)[0]["n"]
    base.dead_terms += n
    if not n:
        rows = tx.run("delete_some_chunks", id=doc_id, limit=_REMAINS)
        n = len(rows)
        base.keys = {row["key"] for row in rows if row["key"] is not None}
    if not n:
        base.deleting = base.deleting[1:]
    finish(tx, base)


def add_knowledge(
    tx: Transaction,
    doc_id: str,
    *,
    facts: Sequence[Fact],
    mentions: Sequence[Mention],
    summaries: Sequence[Summary],
    vectors: Sequence[NodeVector],
    embedder: str = "",
) -> None:
    """Add to a stored document what it does not have yet.

    Raises:
        NotFoundError: If the document is not stored.
        ValueError: If something belongs to another document, or a fact lacks evidence.
        ModelMismatchError: If the vectors are of another encoder than is recorded.
    """
    check_knowledge(doc_id, facts, mentions, summaries)
    base = begin(tx)
    _check_held(tx, doc_id)
    check_encoder(embedder, base.embedder)
    known, wanted = (read_knowledge(tx.run, doc_id) for _ in range(2))
    wanted.add(facts, mentions)
    _check_evidence(tx, doc_id, wanted.chunk_ids() - known.chunk_ids())
    old = {row["id"] for row in tx.run("summaries_of_document", id=doc_id)}
    new_summaries = [s for s in summaries if s.summary_id not in old]
    keys = keys_of(tx, doc_id)
    new_vectors = [v for v in vectors if v.node_id not in keys]
    if wanted == known and not new_summaries and not new_vectors:
        return
    tx.run("unstage", id=doc_id)
    write_knowledge(tx, base, doc_id, known, wanted, known.mention_rows())
    _add_summaries(tx, base, new_summaries)
    _add_vectors(tx, base, doc_id, new_vectors)
    cite(tx, doc_id)
    if wanted != known:
        write_typed(tx, base, doc_id, wanted)
    tx.run("revise_document", id=doc_id)
    finish(tx, base)


def replace_knowledge(
    tx: Transaction, doc_id: str, facts: Sequence[Fact], mentions: Sequence[Mention]
) -> None:
    """Replace the facts and mentions of a stored document.

    Raises:
        NotFoundError: If the document is not stored.
    """
    check_knowledge(doc_id, facts, mentions, ())
    base = begin(tx)
    _check_held(tx, doc_id)
    known, wanted = read_knowledge(tx.run, doc_id), DocumentKnowledge()
    wanted.add(facts, mentions)
    _check_evidence(tx, doc_id, wanted.chunk_ids() - known.chunk_ids())
    keys = keys_of(tx, doc_id)
    kept = {n: key for n, (kind, key) in keys.items() if kind != "fact" or n in wanted.ends}
    if wanted == known and len(kept) == len(keys):
        return
    tx.run("unstage", id=doc_id)
    write_knowledge(tx, base, doc_id, known, wanted, known.mention_rows())
    unembed(tx, base, doc_id, keys, kept)
    cite(tx, doc_id)
    write_typed(tx, base, doc_id, wanted)
    tx.run("revise_document", id=doc_id)
    finish(tx, base)


def finish(tx: Transaction, base: Base) -> None:
    """Update the entities and embeddings that a transaction touched, and count the change."""
    update_entities(tx, base.touched)
    prune_embeddings(tx, sorted(base.keys))
    if base.keys and not tx.run("any_embedding")[0]["held"]:
        base.dimension = None  # with the last vector goes its dimension: the next may differ
    values = {
        "dimension": base.dimension,
        "deleting": base.deleting,
        "dead_terms": base.dead_terms,
    }
    tx.run("count_change", values=values)


def _release_source(
    tx: Transaction, base: Base, source: str, *, keep: str, carries: bool = False
) -> bool:
    """Detach a source from its document; return whether the document was deleted."""
    previous = tx.run("source", source=source)[0]["doc_id"]
    if previous is None or previous == keep:
        return False
    tx.run("delete_source", source=source)
    stays = bool(tx.run("sources_of", id=previous))
    if carries:
        _carry_corrections(tx, previous, keep, stays=stays)
    if stays:
        tx.run("show_file", id=previous)
        return False
    _remove(tx, base, previous)
    return True


def _carry_corrections(tx: Transaction, previous: str, doc_id: str, *, stays: bool) -> None:
    """Let a document have the corrections of another that it replaces, unless it has its own.

    Args:
        tx: The transaction.
        previous: The other document.
        doc_id: The document.
        stays: Whether the other keeps them, because another source has it.
    """
    theirs = {row["field"]: row["value"] for row in tx.run("corrections_of", id=previous)}
    if not theirs or tx.run("corrections_of", id=doc_id):
        return
    tx.run_rows("put_corrections", correction_rows(doc_id, theirs))
    if not stays:
        tx.run("delete_corrections", ids=correction_ids(previous, theirs))


def correction_rows(doc_id: str, fields: Mapping[str, str]) -> list[dict[str, object]]:
    """Return the rows by which corrections of a document are stored."""
    return [
        {"id": to_json([doc_id, field]), "doc_id": doc_id, "field": field, "value": value}
        for field, value in sorted(fields.items())
    ]


def correction_ids(doc_id: str, fields: Iterable[str]) -> list[str]:
    """Return the ids of the nodes of corrections of a document."""
    return [to_json([doc_id, field]) for field in sorted(fields)]


def _remove(tx: Transaction, base: Base, doc_id: str) -> None:
    known = read_knowledge(tx.run, doc_id)
    keys = keys_of(tx, doc_id)
    gone = DocumentKnowledge()
    delete_typed(tx, doc_id)
    write_knowledge(tx, base, doc_id, known, gone, {})
    _delete_summaries(tx, doc_id, keep=[])
    n_chunks = tx.run("count_chunks_of", id=doc_id)[0]["n"]
    if n_chunks > _LARGE:
        base.deleting = [*base.deleting, doc_id]
        keys = {node: value for node, value in keys.items() if value[0] != "chunk"}
    else:
        _delete_chunks(tx, base, doc_id)
    base.keys |= {key for _, key in keys.values()}
    node_id = tx.run("layout", id=doc_id)[0]["node_id"]
    redirect_references(tx, [node_id], without=doc_id)
    for name in ("delete_document", "delete_layout", "delete_fact_vectors", "delete_sources_of"):
        tx.run(name, id=doc_id)
    tx.run("unstage", id=doc_id)


def _check_held(tx: Transaction, doc_id: str) -> None:
    """Raise NotFoundError, with the remedy, for a document that is not stored."""
    if tx.run("layout", id=doc_id)[0]["id"] is None:
        raise NotFoundError(f"document {doc_id!r} is not in the knowledge base: ingest it first")


def _check_chunks(bundle: DocumentBundle) -> None:
    """Refuse a bundle whose parts name chunks that it does not have, or whose text they are not.

    Raises:
        StoreError: If so.
    """
    doc_id, text = bundle.document.doc_id, bundle.document.text
    ids = {c.chunk_id for c in bundle.chunks}
    wanted = DocumentKnowledge()
    wanted.add(bundle.facts, bundle.mentions)
    named = {c.parent_id for c in bundle.chunks if c.parent_id is not None}
    lost = sorted((wanted.chunk_ids() | named) - ids)
    if lost:
        raise _lost(doc_id, lost)
    parents = sorted((c for c in bundle.chunks if c.parent_id is None), key=lambda c: c.position)
    if "".join(c.text for c in parents) != text:
        raise StoreError(f"the parents of {doc_id} do not make up its text: chunk it again")


def _check_evidence(tx: Transaction, doc_id: str, chunk_ids: set[str]) -> None:
    """Refuse evidence in chunks that a document does not have; StoreError names some."""
    rows = tx.run("chunk_ids_held", ids=sorted(chunk_ids), doc_id=doc_id)
    lost = sorted(chunk_ids - {row["id"] for row in rows})
    if lost:
        raise _lost(doc_id, lost)


def _lost(doc_id: str, chunk_ids: Sequence[str]) -> StoreError:
    return StoreError(
        f"{doc_id} has no chunk {', '.join(chunk_ids[:3])}, which something given for it names: "
        "nothing was stored"
    )


def _put_document(tx: Transaction, base: Base, bundle: DocumentBundle, layout: str) -> None:
    """Store the node of a document."""
    document = bundle.document
    properties = {
        **stored(document.title, document.properties, document.metadata),
        "media_type": document.media_type,
        "characters": len(document.text),
        "content_hash": document.content_hash,
        "fingerprint": bundle.fingerprint,
        "layout": layout,
        "warnings": list(map(packed, document.warnings)),
    }
    tx.run(
        "put_document",
        id=document.doc_id,
        labels=base.readable("Document"),
        properties=properties,
        headings=to_json([(h.start, h.end, h.level, h.text) for h in bundle.headings]),
        segments=to_json(segment_rows(document.segments)),
    )


def _add_chunks(tx: Transaction, base: Base, bundle: DocumentBundle) -> None:
    document = bundle.document
    rows = [_chunk_row(c, document) for c in sorted(bundle.chunks, key=lambda c: c.chunk_id)]
    labels = base.readable("Chunk")
    tx.run_rows("create_chunks", rows, size=_CHUNK_ROWS, labels=labels)
    for name in ("label_chunks", "link_children", "link_document", "link_neighbours"):
        tx.run(name, id=document.doc_id)
    _add_terms(tx, bundle, base.sizes)


def _add_terms(tx: Transaction, bundle: DocumentBundle, sizes: Sequence[int]) -> None:
    for size in sizes:
        terms = terms_rows((c for c in bundle.chunks if c.size == size), bundle.document.title)
        tx.run_rows("put_terms", terms, size=_CHUNK_ROWS, label=label_of(size, tx.base))


def _chunk_row(chunk: Chunk, document: Document) -> dict[str, object]:
    return {
        "id": chunk.chunk_id,
        "doc_id": chunk.doc_id,
        "size": chunk.size,
        "index": chunk.position,
        "start": chunk.start,
        "end": chunk.end,
        "text": chunk.text,
        "parent_id": chunk.parent_id,
        "heading_path": list(chunk.heading_path),
        "heading": chunk.heading_path[-1] if chunk.heading_path else document.title,
    }


def _delete_chunks(tx: Transaction, base: Base, doc_id: str) -> None:
    base.dead_terms += tx.run("delete_terms_of", id=doc_id)[0]["n"]
    tx.run("delete_chunks_of", id=doc_id)
    base.deleting = [other for other in base.deleting if other != doc_id]


def _add_summaries(tx: Transaction, base: Base, summaries: Sequence[Summary]) -> None:
    rows = [
        {
            "id": s.summary_id,
            "doc_id": s.doc_id,
            "start": s.start,
            "end": s.end,
            "level": s.level,
            "source": s.source,
            "target_ids": list(s.target_ids),
            "text": s.text,
        }
        for s in sorted(summaries, key=lambda s: s.summary_id)
    ]
    tx.run_rows("put_summaries", rows, labels=base.readable("Summary"))


def _delete_summaries(tx: Transaction, doc_id: str, *, keep: Sequence[str]) -> None:
    held = {row["id"] for row in tx.run("summaries_of_document", id=doc_id)}
    gone = sorted(held - set(keep))
    if gone:
        tx.run("delete_summaries", ids=gone)


def _add_vectors(tx: Transaction, base: Base, doc_id: str, vectors: Sequence[NodeVector]) -> None:
    """Store vectors, and let nodes of a document have them."""
    if not vectors:
        return
    base.dimension = add_embeddings(tx, vectors, base.dimension)
    _embed(tx, doc_id, vectors)


def _embed(tx: Transaction, doc_id: str, vectors: Sequence[NodeVector]) -> None:
    embed_nodes(tx, doc_id, [(v.kind, v.node_id, v.key) for v in vectors])
