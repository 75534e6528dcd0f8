"""A model's error that ends the asking, with the steps that were done before it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kgrag.answer.answer import Step
from kgrag.errors import ModelError


class StoppedError(ModelError):
    """A model failed at what an answer cannot be had without.

    Attributes:
        steps: What was done before it, and at it, in order.
    """

    def __init__(self, error: ModelError, steps: Sequence[Step]) -> None:
        super().__init__(str(error))
        self.steps = tuple(steps)


@contextmanager
def stopped_after(steps: Sequence[Step]) -> Iterator[None]:
    """Have a model's error tell the steps before it.

    Raises:
        StoppedError: For every error of a model; its steps come after those given.
    """
    try:
        yield
    except ModelError as exc:
        further = exc.steps if isinstance(exc, StoppedError) else ()
        raise StoppedError(exc, (*steps, *further)) from exc
