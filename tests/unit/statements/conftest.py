"""Tables of the policies."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from kgrag.api import KnowledgeBase
from kgrag.statements.engine import rows
from kgrag.statements.selection import Kind, Selection
from kgrag.statements.table import Table
from kgrag.store.store import Store


def select(store: Store, kind: Kind, **fields: Any) -> Table:
    """Return the table of a selection."""
    return rows(store, Selection(kind=kind, **fields))


@pytest.fixture
def tables(policies: KnowledgeBase) -> Callable[..., Table]:
    """Return what selects of the policies."""
    return partial(select, policies.store)
