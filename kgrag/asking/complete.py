"""Questions that are answered completely, from all that was read of the documents."""

from collections.abc import Callable, Sequence

from kgrag.asking.cited import cited
from kgrag.asking.citing import citing
from kgrag.asking.duties import duties
from kgrag.asking.figures import figures
from kgrag.asking.rows import Complete
from kgrag.asking.search_context import SearchContext
from kgrag.asking.sections import sections
from kgrag.asking.times import times
from kgrag.retrieval.search import Search

_Kind = Callable[[Search, SearchContext], Complete | None]
_KINDS: Sequence[_Kind] = (citing, cited, times, figures, duties, sections)


def complete(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return all that documents state of what a question asks; None where that is not sure.

    Args:
        search: For the question.
        knowledge: Whose documents are listed.
    """
    return next(filter(None, (kind(search, knowledge) for kind in _KINDS)), None)
