"""What a rule finds in a text, before names are resolved and chunks are known."""

from dataclasses import dataclass

from kgrag.qualifiers import NONE, Qualifiers

SELF = "本文件"  # as subject or object: the document itself


@dataclass(frozen=True, slots=True)
class Finding:
    """A triple as the text words it, and where it stands.

    Attributes:
        subject: As written, blanks and line breaks within it left out; `SELF` for the document.
        predicate: The relation.
        object: As the subject.
        start: First character of the clause that states it.
        end: Offset after the clause.
        qualifiers: Typed values beside the triple; its own `subject` and `object` stay empty here.
        subject_type: Key of the meta-model; empty where the name alone tells.
        object_type: As `subject_type`.
        confidence: In (0, 1]: the precision that was measured for the rule.
    """

    subject: str
    predicate: str
    object: str
    start: int
    end: int
    qualifiers: Qualifiers = NONE
    subject_type: str = ""
    object_type: str = ""
    confidence: float = 1.0
