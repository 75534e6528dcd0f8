"""How one question is asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self, get_args

from kgrag.answering.generate import TEMPLATES
from kgrag.config import Config, Template, VerifyMethod, Writer
from kgrag.errors import ConfigError
from kgrag.limits import checked_results
from kgrag.verification.methods import METHODS

# A model reads more results than quotes are looked for in, where each sentence is encoded
# (benchmarks/decisions.md).
_TOP_K: Mapping[Writer, int] = MappingProxyType({"model": 30, "quotes": 10})
_GRID_EXPANSIONS = 2  # Chats-Grid, Table V


@dataclass(frozen=True, slots=True)
class AskOptions:
    """How one question is asked; the tables `[search]`, `[answer]` and `[verify]` of settings.

    Attributes:
        writer: `model`, or `quotes` for sentences quoted by rule, without any model.
        system: Name of the retrieval preset.
        top_k: Chunks that the answer may draw from; the context's tokens bound them, too.
        expansions: Further wordings that are searched.
        hyde: Whether a passage that a model made up is searched with.
        graph_query: Whether a model writes a query to the graph.
        template: Prompt of the answer.
        context_tokens: Longest context.
        compress: Share of each passage that is kept, in (0, 1].
        integrate: Whether the answer is completed from the best passage.
        max_sentences: Quoted at most, where `writer` is `quotes`; lists and tables have more.
        most_quotes: Of an answer made of quotes, lists and tables too; None for as many as it has.
        verify: Name of the method.
        max_rounds: Answers at most.
        max_calls: Calls at most.
        timeout_s: Seconds at most.
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
    max_sentences: int
    verify: str
    max_rounds: int
    max_calls: int
    timeout_s: float
    most_quotes: int | None = None

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
        max_sentences: int | None = None,
    ) -> Self:
        """Return the options that settings give, with what is said for one question.

        Args:
            config: Settings.
            writer: Who writes the answer; the model where one is configured for None.
            system: Preset; the configured one for None.
            top_k: Chunks; 30 for a model, 10 for quotes for None.
            template: The configured one for None.
            verify: The configured method for None.
            has_model: Whether there is a model to write; whether settings name one for None.
            max_sentences: Quotes at most, of lists and tables, too; as many as settings say of
                sentences, and all of a list or table, for None.

        Raises:
            ConfigError: If there is no such template or method, a share is out of range, or
                `writer` is `model` and none is configured.
            OutOfRangeError: If top_k makes no sense.
        """
        chosen = verify or config.verify.method
        if chosen not in get_args(VerifyMethod):
            known = ", ".join(get_args(VerifyMethod))
            raise ConfigError(f"no way to verify is called {chosen!r}; there are {known}")
        if not 0 < config.answer.compress <= 1:
            raise ConfigError(f"answer.compress must be in (0, 1], got {config.answer.compress}")
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
            max_sentences=checked_results(max_sentences) or config.answer.max_sentences,
            most_quotes=max_sentences,
            verify=chosen,
            max_rounds=config.verify.max_rounds
            or (METHODS[chosen].max_rounds if chosen in METHODS else 1),
            max_calls=config.verify.max_calls,
            timeout_s=config.verify.timeout_s,
        )


def _writer(wanted: Writer | None, *, has_model: bool) -> Writer:
    """Return who writes; the model where there is one and nobody says otherwise."""
    if wanted == "model" and not has_model:
        raise ConfigError(
            "no chat model is configured: name one in kgrag.toml, for example [llm] with "
            'provider = "glm", and its key in the environment variable ZHIPUAI_API_KEY; '
            "docs/models.md lists providers"
        )
    return wanted or ("model" if has_model else "quotes")


def _template(name: str) -> Template:
    found = next((template for template in TEMPLATES if template == name), None)
    if found is None:
        raise ConfigError(f"no template is called {name!r}; there are {', '.join(TEMPLATES)}")
    return found
