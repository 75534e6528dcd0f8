"""Record and replay the answers of a model, to repeat an evaluation without it.

A file of recordings has a line of JSON for each answer:

    {"prompt": HASH, "answer": HASH, "model": NAME, "stage": …, "schema": NAME, "finish": …,
     "prompt_tokens": N, "completion_tokens": N, "tools": HASH, "calls": [{"name", …}],
     "messages": [{"role", "content", …}], "text": …}

The first hash is of the messages, with their calls, in order, and of the tools, the second of the
answer: a line that was edited is refused. Nothing else of a request selects the answer, so that a
recording works for another address, limit or JSON mode.
"""

import json
import os
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kgrag.errors import EvaluationError, ModelError
from kgrag.ids import digest
from kgrag.llm.chat import Completion, Finish, Message, OnText, Request, Usage
from kgrag.llm.middleware import Wrapper
from kgrag.llm.tools import Function, ToolCall
from kgrag.text.visible import shortened

_HASH = 32  # hex characters
_SHOWN = 60  # characters of a prompt in an error


@dataclass(frozen=True, slots=True)
class Recording:
    """One answer of a model, with its request.

    The schema is the name of the answer's, empty for plain text; tools are a hash (`tools_hash`);
    tokens are as counted by the model or its endpoint.
    """

    messages: tuple[Message, ...]
    text: str
    model: str
    stage: str = ""
    schema: str = ""
    finish: Finish = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tools: str = ""
    calls: tuple[ToolCall, ...] = ()

    def to_line(self) -> str:
        """Return the line of a file of recordings, with its line break."""
        own = asdict(self)
        hashes = dict(zip(("prompt", "answer"), self._hashes, strict=True))
        messages, text = own.pop("messages"), own.pop("text")
        messages = [{k: v for k, v in m.items() if v or k == "content"} for m in messages]
        record = {**hashes, **own, "messages": messages, "text": text}
        line = json.dumps(record, ensure_ascii=False)
        if not line.isascii() and any("\ud800" <= c <= "\udfff" for c in line):
            line = json.dumps(record)  # lone surrogates cannot be encoded in UTF-8
        return f"{line}\n"

    @classmethod
    def from_line(cls, line: str) -> "Recording":
        """Parse a line; ValueError if it is malformed, or a hash does not match."""
        record = json.loads(line)
        if not isinstance(record, dict):
            raise ValueError("not a JSON object")
        try:
            hashes = record.pop("prompt"), record.pop("answer")
            record["messages"] = tuple(
                Message(
                    **m
                    | {"calls": _calls(m.get("calls", ())), "images": tuple(m.get("images", ()))}
                )
                for m in record["messages"]
            )
            found = cls(**record | {"calls": _calls(record.get("calls", ()))})
        except (KeyError, TypeError) as exc:
            raise ValueError(f"not a recording: {exc}") from exc
        if hashes != found._hashes:
            raise ValueError("was changed after it was recorded: its hashes are of other words")
        return found

    @property
    def completion(self) -> Completion:
        """Return the answer as a completion."""
        usage = Usage(self.prompt_tokens, self.completion_tokens)
        return Completion(self.text, self.model, self.finish, usage, calls=self.calls)

    @property
    def prompt(self) -> str:
        """The hash by which it is found."""
        return prompt_hash(self.messages, self.tools)

    @property
    def _hashes(self) -> tuple[str, str]:
        answer = Message("assistant", self.text, self.calls).parts[1:]
        return self.prompt, digest("answer", *answer, length=_HASH)


def _calls(found: Iterable[Mapping[str, str]]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(**call) for call in found)


def tools_hash(tools: Sequence[Function]) -> str:
    """Return the hash of the functions that a model may call; empty for none."""
    told = json.dumps(tools, ensure_ascii=False, sort_keys=True)
    return digest("tools", told, length=_HASH) if tools else ""


def prompt_hash(messages: Iterable[Message], tools: str = "") -> str:
    """Return the hash by which an answer is found; `tools` is `tools_hash`."""
    parts = [part for m in messages for part in m.parts]
    return digest("prompt", *parts, *filter(None, (tools,)), length=_HASH)


@dataclass(eq=False, repr=False)
class Recorder(Wrapper):
    """A chat model that records another one's answers in a file.

    Failed calls are not recorded; an existing file is continued. Only its owner may read it, since
    prompts contain text of documents. Recorders of one file share a lock.
    """

    path: str | Path
    lock: AbstractContextManager[object] = field(default_factory=threading.Lock)

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Record and return the model's answer; EvaluationError if the file cannot be written."""
        completion = self.model.complete(request, on_text=on_text)
        recording = Recording(
            request.messages,
            completion.text,
            self.name,
            request.stage,
            request.schema_name,
            completion.finish,
            completion.usage.prompt,
            completion.usage.completion,
            tools_hash(request.tools),
            completion.calls,
        )
        path = Path(self.path)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        try:
            with self.lock:
                path.parent.mkdir(parents=True, exist_ok=True)
                with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
                    file.write(recording.to_line().encode("utf-8"))
        except OSError as exc:
            told = f"{path}: cannot be written: {exc.strerror}: name another file"
            raise EvaluationError(told) from exc
        return completion


class Player:
    """A chat model that replays recorded answers.

    A prompt with several answers gets them in order, then the last one repeatedly.
    """

    def __init__(self, recordings: Iterable[Recording]) -> None:
        """Take recordings in order; the name is that of the first one's model."""
        self.name = ""
        self._by_prompt: defaultdict[str, list[Recording]] = defaultdict(list)
        for recording in recordings:
            self._by_prompt[recording.prompt].append(recording)
            self.name = self.name or recording.model
        self.name = self.name or "player"
        self._played: defaultdict[str, int] = defaultdict(int)
        self._lock = threading.Lock()

    @classmethod
    def read(cls, path: str | Path) -> "Player":
        """Load a file of `Recorder`.

        Raises:
            EvaluationError: If it cannot be read, or a line is no recording; names the line.
        """
        try:
            lines = Path(path).read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as exc:
            raise EvaluationError(f"{path}: cannot be read: {exc}") from exc
        found = []
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    found.append(Recording.from_line(line))
                except ValueError as exc:
                    raise EvaluationError(f"{path}: line {number}: {exc}; record it anew") from exc
        return cls(found)

    @property
    def unplayed(self) -> list[Recording]:
        """Return the recordings not replayed so far."""
        with self._lock:
            played = dict(self._played)
        return [r for key, rows in self._by_prompt.items() for r in rows[played.get(key, 0) :]]

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the recorded answer.

        Raises:
            ModelError: If there is none for these messages.
        """
        key = prompt_hash(request.messages, tools_hash(request.tools))
        rows = self._by_prompt.get(key)
        if not rows:
            asked = shortened(request.messages[-1].content, _SHOWN)
            told = f"no answer was recorded for the prompt {key} ({request.stage}), which ends with"
            raise ModelError(f"{told} {asked!r}; record it anew")
        with self._lock:
            turn = self._played[key]
            self._played[key] += 1
        completion = rows[min(turn, len(rows) - 1)].completion
        if on_text is not None and completion.text:
            on_text(completion.text)
        return completion
