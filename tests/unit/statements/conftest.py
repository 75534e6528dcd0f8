"""Tables of the policies."""

import pytest

from kgrag.api import KnowledgeBase
from kgrag.statements.tables import Tables


@pytest.fixture
def tables(policies: KnowledgeBase) -> Tables:
    """Return the tables of the policies."""
    return policies.tables()
