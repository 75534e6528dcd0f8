"""What cases call by a short name: functions that need more than the text of a case."""

from collections.abc import Callable
from typing import Any

VIEWS: dict[str, Callable[..., Any]] = {}
