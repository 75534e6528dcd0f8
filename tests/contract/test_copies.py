"""Documents of one text are found once, from every store."""

from kgrag.answering.copies import each_once
from kgrag.results import ScoredChunk
from kgrag.retrieval.settings import twins_of

TEXT = (
    "云岭省节能规划\n到2025年，全省绿色工厂达到500家，由省工业和信息化厅牵头。\n"
    "推广热泵和余热利用。\n"
)
OTHER = "青川市节能规划\n到2025年，全市绿色工厂达到50家，由市工业和信息化局牵头。\n推广光伏。\n"


def found(store, size, top_k=10):
    """Return what is found where every chunk is, document by document."""
    cards = store.document_cards()
    ids = [card.doc_id for card in cards]

    def retrieve(n):
        return [ScoredChunk(c, 1.0) for c in store.chunks_of(ids, size=size)][:n]

    return each_once(retrieve, store, ids, twins_of(cards), top_k)


def test_of_one_text_under_several_names_one_is_found_and_all_are_named(store, make):
    """Deleting it leaves the others."""
    for name, text in (("a", TEXT), ("b", TEXT.replace("\n", "\n\n")), ("c", TEXT), ("d", OTHER)):
        bundle = make.bundle(name, text, title=text.split("\n", 1)[0])
        store.upsert_document(bundle, source=f"/{name}.txt")
    size = max(c.size for c in bundle.chunks)

    for gone, others in ((None, ("/b.txt", "/c.txt")), ("d-a", ("/c.txt",)), ("d-b", ())):
        if gone:
            store.delete_document(gone)
        hits = found(store, size)
        kept = next(
            name for name in ("d-a", "d-b", "d-c") if name != gone and store.documents([name])
        )
        assert {hit.chunk.doc_id for hit in hits} == {kept, "d-d"}
        assert {hit.also_in for hit in hits if hit.chunk.doc_id == kept} == {others}
        assert {hit.also_in for hit in hits if hit.chunk.doc_id == "d-d"} == {()}
