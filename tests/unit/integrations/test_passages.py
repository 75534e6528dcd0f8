"""Results with what it takes to cite them."""

import pytest

from kgrag.errors import ConfigError
from kgrag.integrations.passages import check_choice, passages


def test_passages_are_the_results_of_a_search_in_its_order(kb):
    """Nothing is added, dropped or reordered."""
    found = passages(kb, "节能减排目标", system="bm25", top_k=5)
    assert [p.result for p in found] == kb.search("节能减排目标", system="bm25", top_k=5)
    assert len(found) == 5


def test_passages_name_the_page_where_the_file_has_pages(kb):
    """The page is the one that the chunk begins on; a text file has none."""
    found = passages(kb, "节能减排目标 林业碳汇", system="grim", top_k=20)
    documents = {d.doc_id: d for d in kb.store.documents()}
    pages = set()
    for passage in found:
        document = documents[passage.result.chunk.doc_id]
        assert (passage.title, passage.file) == (document.title, document.file)
        if document.media_type == "pdf":
            begun = [s for s in document.segments if s.start <= passage.result.chunk.start]
            assert passage.page == begun[-1].number
        pages.add(passage.page)
    assert {None, 1, 2} <= pages


def test_passages_when_a_document_went_since_the_search_leave_it_out(kb, monkeypatch):
    """Another process may delete while this one reads."""
    monkeypatch.setattr(kb.store, "documents", lambda doc_ids: [])
    assert passages(kb, "节能减排目标", system="grim", top_k=5) == []


def test_check_choice_refuses_what_no_search_takes(kb):
    """A typo is told when the retriever is made, not when it is asked."""
    with pytest.raises(ConfigError, match="grim"):
        check_choice(kb, "gram", 5)
    with pytest.raises(ValueError, match="got 0"):
        check_choice(kb, "grim", 0)
