"""What every command shares: its options, the knowledge base that it opens, amounts in words."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from kgrag.cli.printing import echo
from kgrag.errors import KgragError, StoreError

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase
    from kgrag.config import Config
    from kgrag.llm.chat import ChatModel
    from kgrag.retrieval.filter import Filter

# What Python raises where it meets a value of another kind than was stored.
_OF_WRONG_KINDS = (TypeError, ValueError, AttributeError, LookupError)
_F = TypeVar("_F", bound=Callable[..., object])
EXISTING = click.Path(exists=True, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
_OPTIONS = (
    click.option(
        "--doc",
        "documents",
        multiple=True,
        metavar="NAME",
        help="Only this document: id, file, file name or title.",
    ),
    click.option(
        "--region",
        "regions",
        multiple=True,
        metavar="PLACE",
        help="Only documents about this place, a province with its cities; 全国 for those about "
        "none.",
    ),
    click.option(
        "--kind",
        "kinds",
        multiple=True,
        metavar="WORD",
        help="Only documents whose title ends so: 通知, 意见, 实施方案.",
    ),
    click.option(
        "--year",
        "years",
        metavar="YEARS",
        help="Only issued in 2022, or 2020-2023, or in a year that is only inferred.",
    ),
)


def kb_option(command: _F) -> _F:
    """Add `--kb` to a command."""
    return click.option(
        "--kb",
        default="kb",
        envvar="KGRAG_KB",
        show_default=True,
        show_envvar=True,
        help="Folder of the knowledge base, or its address: bolt://HOST:7687[#NAME], neo4j://….",
    )(command)


def json_option(command: _F) -> _F:
    """Add `--json` to a command."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def as_of_option(told: str) -> Callable[[_F], _F]:
    """Return what adds `--as-of` to a command, which gets its day as ISO 8601.

    Args:
        told: Its help.
    """
    return click.option("--as-of", "as_of", metavar="DATE", callback=_day, help=told)


def _day(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    from kgrag.text.as_of import parse_as_of

    try:
        return None if text is None else parse_as_of(text)
    except ValueError as exc:
        raise click.BadParameter(str(exc)) from exc


AS_OF_QUESTION = (
    "As of 2022, 2022-03 or 2022-03-05 (of a year or month its last day): documents that were "
    "issued later are left out; those repealed, expired, replaced or drafts then come last, "
    "marked, unless the question quotes their title. Without it all are marked as of today."
)


@contextmanager
def opened(
    ctx: click.Context,
    kb: str,
    *,
    create: bool = False,
    config: "Config | None" = None,
    model: "ChatModel | None" = None,
) -> Iterator["KnowledgeBase"]:
    """Open the knowledge base of a command and close it after.

    Args:
        ctx: Of the command.
        kb: What `--kb` names.
        create: Make a new one where there is none.
        config: Settings; the command's for None.
        model: Of every stage, in the place of those of the settings.
    """
    from kgrag.api import KnowledgeBase

    settings = config or ctx.obj
    with KnowledgeBase.open(kb, create=create, config=settings, model=model) as knowledge_base:
        if create and not knowledge_base.store.all_meta():  # it is new
            print_foreign(knowledge_base.store.count_foreign())
        try:
            yield knowledge_base
        except _OF_WRONG_KINDS as exc:
            if not (isinstance(exc, KgragError) or "://" in kb):
                _tell_of_damage(knowledge_base, exc)
            raise


def _tell_of_damage(base: "KnowledgeBase", exc: Exception) -> None:
    """Raise a StoreError in place of an error of Python's, if what is stored can be to blame.

    A flipped bit may make a text of a number, or of bytes; `verify` sees it.
    """
    problems = []
    with suppress(KgragError, OSError, ValueError):  # of a machine that runs short, too
        problems = base.verify()
    if problems:
        first = problems[0]
        raise StoreError(
            f"the knowledge base is damaged ({first.invariant}: {first.subject}): run "
            "`kgrag verify`, then `kgrag repair`"
        ) from exc


def print_foreign(n: int) -> None:
    """Say that nodes of other programs stand beside ours in a database, where there are any."""
    if n:
        echo(
            f"note: {amount(n, 'node')} of other programs under the same labels "
            f"{'is' if n == 1 else 'are'} left alone",
            err=True,
        )


def index_share(seconds: float) -> str:
    """Return what the search indexes took of a time, in brackets; nothing for less than a second.

    >>> index_share(405.2), index_share(0.3)
    (' (405 s of it for the search indexes)', '')
    """
    return f" ({seconds:.0f} s of it for the search indexes)" if seconds >= 1 else ""


def amount(n: int, one: str, more: str = "") -> str:
    """Return a number of things in words; `more` is the plural where an s does not make it.

    >>> amount(1, "file"), amount(0, "file"), amount(2, "summary", "summaries")
    ('1 file', '0 files', '2 summaries')
    """
    return f"{n} {one if n == 1 else more or one + 's'}"


def filter_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add `--doc`, `--region`, `--kind` and `--year`; the command gets them as `within`.

    Each except the years may be repeated; any value of one will do, and all options must hold.
    """

    @functools.wraps(command)
    def with_filter(
        *args: object,
        documents: tuple[str, ...],
        regions: tuple[str, ...],
        kinds: tuple[str, ...],
        years: str | None,
        **options: object,
    ) -> object:
        within = _filter(documents, regions, kinds, years)
        return command(*args, within=within, **options)

    decorated: Callable[..., object] = with_filter
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def _filter(
    documents: tuple[str, ...], regions: tuple[str, ...], kinds: tuple[str, ...], years: str | None
) -> "Filter | None":
    """Return the filter that options give; None where there are none.

    Raises:
        click.BadParameter: If the years are malformed.
    """
    if not (documents or regions or kinds or years):
        return None
    from kgrag.retrieval.filter import Filter, parse_years

    try:
        return Filter(documents, regions, kinds, parse_years(years) if years else None)
    except ValueError as exc:
        raise click.BadParameter(str(exc), param_hint="--year") from exc
