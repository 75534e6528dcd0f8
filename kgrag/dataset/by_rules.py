"""Questions made by rules from extracted statements."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import zip_longest
from random import Random
from typing import get_args

from kgrag.config import QuestionKind
from kgrag.dataset.citations import Citations
from kgrag.dataset.figures import Figures
from kgrag.dataset.library import Library
from kgrag.dataset.questions import Made, Question, taken
from kgrag.dataset.sections import Sections
from kgrag.store.store import Store

KINDS: tuple[QuestionKind, ...] = get_args(QuestionKind)


def by_rules(
    store: Store,
    *,
    parent_size: int,
    n: int,
    kinds: Sequence[QuestionKind] = KINDS,
    seed: int = 0,
    left_out: Collection[str] = (),
) -> Made:
    """Return questions on extracted statements; reproducible by seed.

    Each names what identifies its documents: a place, or a title. A question with different
    answers in the documents is dropped and counted; if several agree, all are gold.

    Args:
        store: The knowledge base.
        parent_size: Of its parent chunks.
        n: Maximum number.
        kinds: Kinds of questions, in equal shares as far as possible.
        seed: Of all random choices.
        left_out: Ids of documents whose figures become unanswerable questions.
    """
    library = Library(store, parent_size, left_out=frozenset(left_out))
    dropped: Counter[str] = Counter()

    def draw(name: str) -> Random:
        return Random(f"{seed} {name}")

    figures = Figures(library, draw("figures"), dropped)
    citations = Citations(library, draw("citations"), dropped)
    sections = Sections(library, draw("sections"), dropped)
    makers: dict[QuestionKind, Callable[[], Iterator[Question]]] = {
        "number": figures.number,
        "responsible": sections.responsible,
        "reference": citations.reference,
        "list": sections.items,
        "compare": figures.compare,
        "time": lambda: _in_turn(figures.years(), citations.effective(), figures.as_of()),
        "several": citations.several,
        "unanswerable": figures.unanswerable,
    }
    questions = taken({kind: makers[kind]() for kind in kinds}, n)
    return Made(tuple(questions), dict(dropped))


def _in_turn(*several: Iterator[Question]) -> Iterator[Question]:
    for of_a_rank in zip_longest(*several):
        yield from filter(None, of_a_rank)
