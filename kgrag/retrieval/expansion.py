"""Have a model word a question in other ways, or make up a passage that might answer it."""

from kgrag.language.text import normalize_name
from kgrag.llm.chat import ChatModel, Request
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import Json, ask, ask_text
from kgrag.types import Language

_LONGEST_QUESTION = 200  # characters; what is longer is no question
_LONGEST_PASSAGE = 200
_SCHEMA = {
    "type": "object",
    "properties": {"questions": {"type": "array", "items": {"type": "string"}}},
    "required": ["questions"],
    "additionalProperties": False,
}


def expand(question: str, *, language: Language, model: ChatModel, n: int = 2) -> list[str]:
    """Return a question in at most `n` other wordings.

    Chats-Grid, section III: all are asked for in one call; 2 are enough (Table V: the third
    adds 0.5 points of recall). `kgrag.retrieval.several` searches with them. Wordings that
    repeat the question or each other are left out, so that there may be fewer, or none.

    Args:
        question: As asked.
        language: Of the question.
        model: Whom to ask.
        n: Wordings at most.

    Raises:
        ValueError: If n < 1.
        ModelError: If the model cannot be asked or gives nothing usable; search without them.
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    messages = prompt("expansions", language).fill(
        question=fence(question, label="question"), n=str(n)
    )
    request = Request(messages, stage="analyse", schema=_SCHEMA, schema_name="expansions")
    kept = {normalize_name(question): question}
    for wording in ask(model, request, _parse):
        kept.setdefault(normalize_name(wording), wording)
    return list(kept.values())[1 : n + 1]


def hypothetical(question: str, *, language: Language, model: ChatModel) -> str:
    """Return a made-up passage that might answer a question, at most 200 characters.

    HyDE, as in EasyRAG, section 1.2.1, where it cost accuracy (92.7 to 89.2 in the semi-final):
    off unless asked for. What it says may be false: give it to `Search(hypothetical=...)`, which
    only compares vectors with it, and to nothing that is shown.

    Args:
        question: As asked.
        language: Of the question.
        model: Whom to ask.

    Raises:
        ModelError: If the model cannot be asked or gives nothing usable; search without it.
    """
    messages = prompt("hyde", language).fill(question=fence(question, label="question"))
    completion = ask_text(model, Request(messages, stage="analyse"))
    return " ".join(completion.text.split())[:_LONGEST_PASSAGE]


def _parse(answer: Json) -> list[str]:
    """Return the wordings.

    Raises:
        ValueError: If the answer has another form, or none of them is a question.
    """
    listed = answer.get("questions") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise ValueError('an object with a list "questions" is needed')
    lines = [" ".join(text.split()) for text in listed if isinstance(text, str)]
    usable = [line for line in lines if line and len(line) <= _LONGEST_QUESTION]
    if not usable:
        raise ValueError('"questions" must hold short texts')
    return usable
