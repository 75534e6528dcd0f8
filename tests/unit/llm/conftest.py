"""What tests of models share."""

import pytest

from kgrag.llm.ledger import Calls


@pytest.fixture
def calls(tmp_path):
    """Return a file of calls, which is closed afterwards."""
    opened = Calls.open(tmp_path / "calls.db")
    yield opened
    opened.close()
