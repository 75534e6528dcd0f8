from kgrag.answering.search_context import ResultsWithDocuments, facts_in
from kgrag.results import ScoredChunk


def test_facts_of_a_merged_chunk_are_those_of_its_leaves(kb):
    """Evidence hangs on leaves; a parent's facts are theirs."""
    (doc,) = [d for d in kb.documents() if "A省" in d.file]
    store = kb.store
    leaf = kb.sizes.leaf
    leaves = store.chunks_of([doc.doc_id], size=leaf)
    (parent,) = store.chunks_of([doc.doc_id], size=kb.sizes.parent)
    assert facts_in([ScoredChunk(parent, 1.0)], store, leaf=leaf) == store.facts_of_chunks(
        [chunk.chunk_id for chunk in leaves]
    )


def test_results_of_documents_that_are_gone_are_left_out(kb):
    """Somebody may have deleted one since it was found."""
    from dataclasses import replace

    (doc, _) = kb.documents()
    chunk = kb.store.chunks_of([doc.doc_id], size=kb.sizes.leaf)[0]
    gone = replace(chunk, doc_id="d-gone", chunk_id="d-gone:256:0")
    held = ResultsWithDocuments.of([ScoredChunk(gone, 2.0), ScoredChunk(chunk, 1.0)], kb.store)
    assert [r.chunk for r in held.results] == [chunk]
    assert held.documents[doc.doc_id].text
