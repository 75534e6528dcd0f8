"""Complete an answer from the passage that was ranked first."""

from dataclasses import replace

from kgrag.errors import ModelError
from kgrag.generation.draft import Draft
from kgrag.generation.marks import cited_passages
from kgrag.generation.render import passage_block
from kgrag.llm.chat import ChatModel, Request
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import ask_text
from kgrag.results import Context
from kgrag.text.answer_text import says_not_found
from kgrag.text.words import character_pairs
from kgrag.types import Query

_KEPT = 0.9  # of the first answer's character pairs, at least

_REFUSED = {
    "zh": "答案整合丢失了原有的内容或引用，保留原答案。",
    "en": "Answer integration lost content or citations; the first answer stands.",
}
_FAILED = {
    "zh": "答案整合未成功，保留原答案：{}",
    "en": "Answer integration failed; the first answer stands: {}",
}


def integrate(query: Query, draft: Draft, context: Context, *, model: ChatModel) -> Draft:
    """Return a draft completed from the best passage alone, in a second call.

    EasyRAG, section 1.2.7 and appendix B: a model attends to every passage and may leave out
    what the first one tells. The result is refused where it loses a citation or more than a
    tenth of what stood there (the appendix wants every character kept); the first draft then
    stands, as it does where the call fails: it is paid for.

    Args:
        query: The question.
        draft: The first answer; one that says "not found" comes back as it is.
        context: What it was drawn from.
        model: Of the stage `answer`.
    """
    best = next((p for p in context.passages if p.number == context.best), None)
    if best is None or says_not_found(draft.text):
        return draft
    request = Request(
        prompt("integrate", query.language).fill(
            question=fence(query.question, label="question"),
            answer=fence(draft.text, label="answer"),
            passage=passage_block(best),
            best=str(best.number),
        ),
        stage="answer",
    )
    try:
        completion = ask_text(model, request)
    except ModelError as exc:
        return replace(draft, notes=(*draft.notes, _FAILED[query.language].format(exc)))
    if not _keeps(draft.text, completion.text, context):
        return replace(draft, notes=(*draft.notes, _REFUSED[query.language]))
    return replace(draft, text=completion.text.strip(), model=completion.model)


def _keeps(first: str, second: str, context: Context) -> bool:
    """Return whether a text still cites and says what the first one does."""
    if not cited_passages(first, context) <= cited_passages(second, context):
        return False
    before, after = set(character_pairs(first)), set(character_pairs(second))
    return len(before & after) >= _KEPT * len(before)
