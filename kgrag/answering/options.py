"""Options of one question, and the methods of verification by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self, get_args

from kgrag.answer.answer import Verdict
from kgrag.answer.notes import note
from kgrag.answering.generate import TEMPLATES
from kgrag.config import Config, Template, VerifyMethod, Writer
from kgrag.errors import ConfigError
from kgrag.limits import MOST_CHARS, checked_count, checked_results
from kgrag.text.messages import message
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


# A model reads more results than are shown without one.
_TOP_K: Mapping[Writer, int] = MappingProxyType({"model": 30, "quotes": 10})
_GRID_EXPANSIONS = 2  # Chats-Grid, Table V


@dataclass(frozen=True, slots=True)
class AskOptions:
    """Options of one question, from the tables `[search]`, `[answer]` and `[verify]`.

    Attributes:
        writer: `model`, or `quotes` for clauses quoted by rule.
        system: Name of the retrieval preset.
        top_k: Number of chunks; the context's tokens limit them, too.
        expansions: Number of rewordings to search.
        hyde: Whether a model's made-up passage is searched with.
        graph_query: Whether a model writes a query to the graph.
        template: Prompt of the answer.
        context_tokens: Maximum length of the context.
        compress: Share of each passage that is kept, in (0, 1].
        integrate: Whether the answer is completed from the best passage.
        max_chars: Maximum characters of the clauses if `writer` is `quotes`.
        verify: Method of verification.
        max_rounds: Maximum number of answers.
        max_calls: Maximum number of calls.
        timeout_s: Maximum seconds.
    """

    writer: Writer
    system: str
    top_k: int
    expansions: int
    hyde: bool
    graph_query: bool
    template: Template
    context_tokens: int
    compress: float
    integrate: bool
    max_chars: int
    verify: str
    max_rounds: int
    max_calls: int
    timeout_s: float

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
        has_model: bool | None = None,
        max_chars: int | None = None,
    ) -> Self:
        """Return the settings' options, with those of one question.

        Args:
            config: Settings.
            writer: For None the model if one is configured.
            system: Preset; the configured one for None.
            top_k: Number of chunks; for None 30 for a model, 10 for quotes.
            template: The configured one for None.
            verify: The configured method for None.
            has_model: Whether there is a model; for None whether the settings name one.
            max_chars: Maximum characters of the clauses; the configured one for None.

        Raises:
            ConfigError: If there is no such template or method, a share is out of range, or
                `writer` is `model` and none is configured.
            OutOfRangeError: If top_k is out of range.
        """
        chosen = verify or config.verify.method
        if chosen not in get_args(VerifyMethod):
            known = ", ".join(get_args(VerifyMethod))
            said = "no way to verify is called {name!r}; there are {known}"
            raise ConfigError(said, name=chosen, known=known)
        if not 0 < (n := config.answer.compress) <= 1:
            raise ConfigError("answer.compress must be in (0, 1], got {n}", n=n)
        if has_model is None:
            has_model = config.model_of("answer").is_configured
        writer = _writer(writer, has_model=has_model)
        grid = chosen == "chats-grid" and not config.search.expansions
        return cls(
            writer=writer,
            system=system or config.search.system,
            top_k=checked_results(top_k) or _TOP_K[writer],
            expansions=_GRID_EXPANSIONS if grid else config.search.expansions,
            hyde=config.search.hyde,
            graph_query=config.search.graph_query,
            template=_template(template or config.answer.template),
            context_tokens=config.answer.context_tokens,
            compress=config.answer.compress,
            integrate=config.answer.integrate,
            max_chars=checked_count(
                "max_chars", max_chars or config.answer.max_chars, most=MOST_CHARS
            ),
            verify=chosen,
            max_rounds=config.verify.max_rounds
            or (METHODS[chosen].max_rounds if chosen in METHODS else 1),
            max_calls=config.verify.max_calls,
            timeout_s=config.verify.timeout_s,
        )


def _writer(wanted: Writer | None, *, has_model: bool) -> Writer:
    """Return the writer: by default the model if there is one."""
    if wanted == "model" and not has_model:
        raise ConfigError(
            message(
                "no chat model is configured: name one in kgrag.toml, for example [llm] with "
                'provider = "glm", and its key in the environment variable ZHIPUAI_API_KEY; '
                "docs/models.md lists providers"
            )
        )
    return wanted or ("model" if has_model else "quotes")


def _template(name: str) -> Template:
    found = next((template for template in TEMPLATES if template == name), None)
    if found is None:
        raise ConfigError(
            "no template is called {name!r}; there are {templates}",
            name=name,
            templates=", ".join(TEMPLATES),
        )
    return found
