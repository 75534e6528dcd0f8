"""What a person decided is made whole again from its seals, or told to be lost."""

from contextlib import closing

import pytest

from kgrag.maintenance.repairing import repair
from kgrag.store.decisions import Decision
from kgrag.store.sqlite.store import SQLiteStore

MERGE = Decision("merge", "省林业局", "云岭省林业局")
WHOLE = {"d-01": {"region": "云岭省", "title": "方案"}}


@pytest.fixture
def decided(store, damage, folder):
    """Decide, damage what was decided, and repair it; return the report."""
    store.decide(corrections=[("d-01", "region", "云岭省")])
    store.decide(corrections=[("d-01", "title", "方案")])
    store.decide(decisions=[MERGE])
    store.close()

    def repaired(*statements):
        damage(*statements)
        return repair(folder)

    return repaired


def held(folder):
    with closing(SQLiteStore.open(folder)) as store:
        assert store.verify() == []
        return store.corrections(), store.decisions()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM decisions",
        "UPDATE decisions SET kind = 'split'",
        "DELETE FROM seals WHERE subject = 'corrections'",
    ],
)
def test_what_can_be_known_is_set_right(decided, folder, statement):
    """A decision that is gone or another, a seal."""
    report = decided(statement)

    assert report.left == ()
    assert report.done
    assert held(folder) == (WHOLE, [MERGE])


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM corrections WHERE field = 'title'",
        "UPDATE corrections SET value = '完全不同' WHERE field = 'title'",
        "UPDATE corrections SET field = 'titlf' WHERE field = 'title'",
    ],
)
def test_what_is_lost_is_named(decided, folder, statement):
    """The rest stays."""
    report = decided(statement)

    assert report.left == ("the correction of title of d-01 is lost: give it again",)
    assert held(folder) == ({"d-01": {"region": "云岭省"}}, [MERGE])
