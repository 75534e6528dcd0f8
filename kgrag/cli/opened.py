"""The knowledge base that a command opens."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import click

from kgrag.cli.chinese import amount
from kgrag.cli.printing import say
from kgrag.errors import KgragError, StoreError

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase
    from kgrag.config import Config
    from kgrag.llm.chat import ChatModel

# Python's errors for damaged values.
_OF_WRONG_KINDS = (TypeError, ValueError, AttributeError, LookupError)


@contextmanager
def opened(
    kb: str,
    *,
    create: bool = False,
    config: "Config | None" = None,
    model: "ChatModel | None" = None,
) -> Iterator["KnowledgeBase"]:
    """Open the knowledge base of the current command, and close it at the end.

    `config` overrides the command's settings, `model` the model of every stage.
    """
    from kgrag.api import KnowledgeBase

    settings = config or click.get_current_context().obj
    with KnowledgeBase.open(kb, create=create, config=settings, model=model) as knowledge_base:
        if create and not knowledge_base.store.all_meta():  # new
            _print_foreign(knowledge_base.store.count_foreign())
        try:
            yield knowledge_base
        except _OF_WRONG_KINDS as exc:
            if not (isinstance(exc, KgragError) or "://" in kb):
                _raise_if_damaged(knowledge_base, exc)
            raise


def _raise_if_damaged(base: "KnowledgeBase", exc: Exception) -> None:
    """Raise a StoreError in place of a Python error if the data is damaged.

    A bit flip may turn a number or bytes into a text.
    """
    problems = []
    with suppress(KgragError, OSError, ValueError):  # also lack of resources
        problems = base.verify()
    if problems:
        first = problems[0]
        raise StoreError(
            "the knowledge base is damaged ({invariant}: {subject}): run `kgrag verify`, then "
            "`kgrag repair`",
            invariant=first.invariant,
            subject=first.subject,
        ) from exc


def _print_foreign(n: int) -> None:
    """Print a note about nodes of other programs with our labels, if any."""
    if n:
        say(
            "note: {n} of other programs under the same labels are left alone",
            n=amount(n, "node"),
            err=True,
        )
