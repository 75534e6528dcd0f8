"""Results with what it takes to cite them."""

import pytest

from kgrag.errors import ConfigError
from kgrag.integrations.passages import check_choice, passages


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
