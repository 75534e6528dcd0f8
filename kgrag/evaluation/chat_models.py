"""Chat models of an evaluation: cost per question, recording and replay."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from kgrag.config import Config, ModelConfig, Writer
from kgrag.errors import ConfigError, EvaluationError
from kgrag.llm.chat import ChatModel, Completion, OnText, Request
from kgrag.llm.ledger import Calls
from kgrag.llm.middleware import Counted
from kgrag.llm.models import Models, calls_file
from kgrag.llm.replay import Player, Recorder


class Routed:
    """The chat models of all stages as one; a request goes to that of its stage."""

    def __init__(self, open_models: Callable[[], Models]) -> None:
        """Defer opening the models to the first request."""
        self._models = cache(open_models)

    @property
    def name(self) -> str:
        """Return the name of the answering model."""
        return self._models().model_name("answer")

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the response of the stage's model; see `ChatModel.complete`."""
        models = self._models()
        stage = request.stage if models.is_configured(request.stage) else "answer"
        return models.of(stage).complete(request, on_text=on_text)


class Tape:
    """File to which model responses are recorded, or from which they are replayed, if any.

    Attributes:
        unrecorded: Failed calls of a recorded run; a replay lacks them.
    """

    def __init__(self, *, record: Path | None = None, replay: Path | None = None) -> None:
        """Open the file.

        Args:
            record: A new file for responses.
            replay: A recorded file.

        Raises:
            EvaluationError: If both are given, the new file exists, or the other cannot be read.
        """
        if record and replay:
            raise EvaluationError("a run is either recorded or played: give --record or --replay")
        if record and record.exists():
            raise EvaluationError(
                f"{record}: is there already. Remedy: name another file, or delete it; --replay "
                "plays it"
            )
        self._record = record
        self.unrecorded = 0
        self._lock: AbstractContextManager[object] = threading.Lock()
        self.player = Player.read(replay) if replay else None

    def around(self, model: ChatModel) -> ChatModel:
        """Return the player, or the model with a recorder where the run is recorded."""
        if self.player is not None:
            return self.player
        if self._record is not None:
            return Recorder(model, self._record, lock=self._lock)
        return model

    def check(self, place: str, *models: Counted | None) -> None:
        """Raise for requests that a replay lacks, or count unrecorded calls, since the last one.

        Args:
            place: The question, for the error.
            models: Players or recorded models.

        Raises:
            EvaluationError: If a request has no recorded response.
        """
        lacking = [exc for model in models if model for exc in model.failed]
        if self.player is not None and lacking:
            raise EvaluationError(f"{place}: {lacking[0]}")
        if self._record is not None:
            self.unrecorded += len(lacking)

    def notes(self) -> list[str]:
        """Return notes for users of the recording."""
        if not self.unrecorded:
            return []
        return [
            f"{self.unrecorded} calls failed and were not recorded: the recording cannot be played "
            "to its end"
        ]

    @property
    def has_answers(self) -> bool:
        """Return whether the replayed file has answers to questions."""
        return self.player is not None and any(r.stage == "answer" for r in self.player.unplayed)


@dataclass(frozen=True, slots=True)
class RunModels:
    """The chat models of a run.

    Attributes:
        config: Settings for the knowledge base, with a cache of this run only, so that recording
            and replay count the same calls.
        writer: Who writes answers.
        model: Writes them; None for extractive answers.
        judge: Judges them; None for no judge.
        tape: Recorder or player.
    """

    config: Config
    writer: Writer
    model: Counted | None
    judge: Counted | None
    tape: Tape


@contextmanager
def run_models(
    config: Config,
    location: str,
    *,
    writer: Writer | None = None,
    model: str = "",
    judge: str = "",
    tape: Tape,
) -> Iterator[RunModels]:
    """Provide the models of a run, and close them afterwards.

    Args:
        config: Settings.
        location: Of the knowledge base, for its log of calls.
        writer: Who writes answers; for None the model if one is configured, named or recorded.
        model: Name of the writing model at the configured endpoint; empty for the configured one.
        judge: Name of the judge at the endpoint of the stage `verify`; empty for none.
        tape: Recorder or player.

    Raises:
        ConfigError: If a model is named and no endpoint is configured.
    """
    asked = _named(config, model) if model else config
    judging = replace(config.model_of("verify"), model=judge or config.model_of("verify").model)
    if not tape.player:
        _check(model, asked.model_of("answer"))
        _check(judge, judging)
    written = tape.has_answers if tape.player else asked.model_of("answer").is_configured
    chosen: Writer = writer or ("model" if written else "quotes")
    with ExitStack() as stack:
        own = stack.enter_context(TemporaryDirectory(prefix="kgrag-eval-"))
        kept = replace(asked, llm=replace(asked.llm, calls=str(Path(own, "calls.db"))))

        def opened(config_of: Callable[[str], ModelConfig]) -> Models:
            calls = stack.enter_context(closing(Calls.open(calls_file(location, config))))
            return stack.enter_context(closing(Models(config_of, calls=calls)))

        answers = Routed(lambda: opened(asked.model_of))
        judges = Routed(lambda: opened(lambda _: judging))
        yield RunModels(
            kept,
            chosen,
            Counted(tape.around(answers)) if chosen == "model" else None,
            Counted(tape.around(judges)) if judge else None,
            tape,
        )


def _named(config: Config, model: str) -> Config:
    """Return settings in which the writing model has this name; other stages are unchanged."""
    answer = replace(config.model_of("answer"), model=model)
    return replace(config, stages={**config.stages, "answer": answer})


def _check(model: str, config: ModelConfig) -> None:
    """Raise ConfigError if a model is named without an endpoint."""
    if model and not config.is_configured:
        raise ConfigError(
            f"no endpoint is configured where a model {model!r} could be asked: set llm.provider "
            "or llm.base_url in kgrag.toml, or play a recording with --replay"
        )
