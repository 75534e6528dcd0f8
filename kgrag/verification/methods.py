"""Verification methods by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from kgrag.answer.answer import Verdict
from kgrag.answer.notes import note
from kgrag.verification.attempt import Attempt, Verified
from kgrag.verification.chats_grid import CHATS_GRID
from kgrag.verification.cov import COV, COV_PAPER, COV_TWO_STAGE
from kgrag.verification.loop import Method

METHODS: Mapping[str, Method[Any]] = MappingProxyType(
    {method.name: method for method in (COV, COV_PAPER, COV_TWO_STAGE, CHATS_GRID)}
)


def unchecked(first: Attempt) -> Verified:
    """Return an answer with its offline findings only."""
    checks = first.answer.checks
    bad = sum(not check.supported for check in checks)
    told = note("offline", first.answer.language, bad=bad, n=len(checks))
    return Verified(first.answer, Verdict("none", "failed" if bad else "passed", reason=told))
