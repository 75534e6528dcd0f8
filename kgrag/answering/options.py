"""Options of one question: the settings, with what is said of the question."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Self

from kgrag.config import (
    AnswerConfig,
    Config,
    SearchConfig,
    Template,
    VerifyConfig,
    VerifyMethod,
    Writer,
    checked_value,
)
from kgrag.errors import ConfigError
from kgrag.limits import MOST_CHARS, checked_count, checked_results
from kgrag.text.messages import message
from kgrag.verification.chats_grid import CHATS_GRID
from kgrag.verification.cov import COV, COV_PAPER
from kgrag.verification.loop import Method

METHODS: Mapping[str, Method[Any]] = MappingProxyType(
    {method.name: method for method in (COV, COV_PAPER, CHATS_GRID)}
)
# A model reads more results than are shown without one.
_TOP_K: Mapping[Writer, int] = MappingProxyType({"model": 30, "quotes": 10})


@dataclass(frozen=True, slots=True)
class AskOptions:
    """Options of one question.

    Attributes:
        writer: `model`, or `quotes` for clauses quoted by rule.
        top_k: Number of chunks; the context's tokens limit them, too.
        search: Preset, and what a model reads in the question.
        answer: Form and length.
        verify: Method and limits; `max_rounds` is at least 1.
    """

    writer: Writer
    top_k: int
    search: SearchConfig
    answer: AnswerConfig
    verify: VerifyConfig

    @classmethod
    def from_config(
        cls,
        config: Config,
        *,
        writer: Writer | None = None,
        system: str | None = None,
        top_k: int | None = None,
        template: str | None = None,
        verify: str | None = None,
        has_model: bool,
        max_chars: int | None = None,
    ) -> Self:
        """Return the settings' options, with those of one question; None is as configured.

        Args:
            config: Settings.
            writer: For None the model if one is configured.
            system: Preset.
            top_k: Number of chunks; for None 30 for a model, 10 for quotes.
            template: Form of a model's answer.
            verify: Method of verification.
            has_model: Whether there is a model.
            max_chars: Maximum characters of the clauses.

        Raises:
            ConfigError: If there is no such template or method, or `writer` is `model` and none is
                configured.
            OutOfRangeError: If top_k or max_chars is out of range.
        """
        search, answer, checking = config.search, config.answer, config.verify
        method = checked_value("verify.method", verify or checking.method, VerifyMethod)
        form = checked_value("answer.template", template or answer.template, Template)
        if writer == "model" and not has_model:
            raise ConfigError(_NO_MODEL)
        writer = writer or ("model" if has_model else "quotes")
        rounds = METHODS[method].max_rounds if method in METHODS else 1
        most = checked_count("max_chars", max_chars or answer.max_chars, most=MOST_CHARS)
        return cls(
            writer,
            checked_results(top_k) or _TOP_K[writer],
            replace(search, system=system or search.system),
            replace(answer, template=form, max_chars=most),
            replace(checking, method=method, max_rounds=checking.max_rounds or rounds),
        )


_NO_MODEL = message(
    "no chat model is configured: name one in kgrag.toml, for example [llm] with "
    'provider = "glm", and its key in the environment variable ZHIPUAI_API_KEY; '
    "docs/models.md lists providers"
)
