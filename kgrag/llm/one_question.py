"""Read the one question that a model was asked to word."""

import re

_LONGEST = 300  # characters: real questions have up to 90, and rewritten ones grow
_LABEL = re.compile(r"^(?:改写|补充)?后?的?问题[:：]\s*|^(?:\w+ )?question:\s*", re.IGNORECASE)
# Marks around all of it; “双碳” at its beginning keeps its own.
_QUOTED = re.compile(r"[\"'“‘「`*]+([^\"'“”‘’「」`*]+)[\"'”’」`*]+")


def one_question(text: str) -> str:
    r"""Return a question on one line, without a label before it or quotation marks around it.

    Raises:
        ValueError: If it has no word, has several lines, or is too long for a question.

    >>> one_question("改写后的问题：“氢能的目标是什么？”\n")
    '氢能的目标是什么？'
    """
    question = _LABEL.sub("", text.strip()).strip()
    quoted = _QUOTED.fullmatch(question)
    question = quoted.group(1).strip() if quoted else question
    if not re.search(r"\w", question):
        raise ValueError("a question is wanted, got no word")
    if len(question.splitlines()) > 1:
        raise ValueError("one question on one line is wanted, got several lines")
    if len(question) > _LONGEST:
        raise ValueError(f"at most {_LONGEST} characters are wanted, got {len(question)}")
    return question


def check_question(text: str) -> None:
    """Refuse a text that `one_question` cannot read.

    Raises:
        ValueError: As there.
    """
    one_question(text)
