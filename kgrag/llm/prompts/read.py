"""Read prompts by name and fill them in."""

import functools
import re
from dataclasses import dataclass
from importlib import resources
from string import Template
from typing import get_args

from kgrag.llm.chat import Message
from kgrag.types import Language

LANGUAGES: tuple[Language, ...] = get_args(Language)

_PARTS = re.compile(r"^\[(system|user)\]\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with places to fill in.

    Attributes:
        name: What it is called.
        language: Of its words.
        about: What it is for, and its source.
        system: The system message.
        user: The user's message.
    """

    name: str
    language: Language
    about: str
    system: str
    user: str

    @property
    def fields(self) -> frozenset[str]:
        """Return the names of the places to fill in."""
        return frozenset(
            name for part in (self.system, self.user) for name in Template(part).get_identifiers()
        )

    def fill(self, **values: str) -> tuple[Message, ...]:
        """Return the system and the user's message with every place filled in.

        Args:
            values: A text for each place; texts are not read for places of their own.

        Raises:
            ValueError: If a place is left, or a value belongs to none.
        """
        if values.keys() != self.fields:
            wanted, got = sorted(self.fields), sorted(values)
            raise ValueError(f"prompt {self.name} has the places {wanted}, got {got}")
        return (
            Message("system", Template(self.system).substitute(values)),
            Message("user", Template(self.user).substitute(values)),
        )


@functools.cache
def prompt(name: str, language: Language) -> Prompt:
    """Return a prompt.

    Args:
        name: As `prompt_names` gives it; with `former/` before it, as it was before.
        language: `zh` or `en`.

    Raises:
        ValueError: If there is none, or its file is malformed.
    """
    folder, _, stem = name.rpartition("/")
    file = resources.files("kgrag.llm.prompts").joinpath(folder, language, f"{stem}.txt")
    if not file.is_file():
        raise ValueError(f"no prompt is called {name!r} in {language!r}")
    about, *parts = _PARTS.split(file.read_text(encoding="utf-8"))
    if parts[::2] != ["system", "user"]:
        raise ValueError(f"prompt {name!r} in {language!r} needs [system], then [user]")
    lines = (line.removeprefix("#").strip() for line in about.splitlines())
    return Prompt(
        name, language, "\n".join(filter(None, lines)), parts[1].strip(), parts[3].strip()
    )


def prompt_names() -> list[str]:
    """Return the names of all prompts, in alphabetical order."""
    folder = resources.files("kgrag.llm.prompts").joinpath("zh")
    return sorted(f.name.removesuffix(".txt") for f in folder.iterdir() if f.name.endswith(".txt"))
