"""Show a context to a model: numbered, fenced passages and the facts that bear on the question."""

from kgrag.llm.prompts import fence
from kgrag.results import Context, Passage
from kgrag.text.answer_text import without_marks


def passage_block(passage: Passage) -> str:
    """Return a passage as a model reads it: its [n], then title, sections and text, fenced.

    Title and sections are a document's words, too, so they stand inside the fence; what looks
    like a citation in them (a footnote's [7]) is shown as 〔7〕, so that no document can give
    itself another's number. Documents and quotes keep their [7].
    """
    path = " > ".join((f"《{passage.title}》{passage.mark}", *passage.heading_path))
    return f"[{passage.number}]\n" + fence(
        without_marks(f"{path}\n{passage.text}"), label="passage"
    )


def passages_block(context: Context) -> str:
    """Return all passages in their order; empty where there is none."""
    return "\n\n".join(passage_block(passage) for passage in context.passages)


def facts_block(facts: tuple[str, ...]) -> str:
    """Return the lines of facts, fenced; empty where there is none."""
    return fence("\n".join(facts), label="facts") if facts else ""
