"""The public interface: `KnowledgeBase`."""

from collections.abc import Callable
from functools import partial

from kgrag.answering.look_up import Toolbox
from kgrag.answering.search_context import SearchContext
from kgrag.plain_knowledge_base import PlainKnowledgeBase
from kgrag.types import Language


class KnowledgeBase(PlainKnowledgeBase):
    """Documents, their graph and their search, in a folder or on a server.

    Use `KnowledgeBase.open`; close it, or use it as a context manager. A model that answers a
    question has the tools of `kgrag.tools`.
    """

    def _toolbox(self, knowledge: SearchContext) -> Callable[[Language], Toolbox]:
        from kgrag.tools.for_models import ModelTools

        return partial(ModelTools, self, knowledge)
