"""Lines of runs and qrels as trec_eval and its kin read them: fields with blanks between."""

from collections.abc import Iterator
from pathlib import Path

from kgrag.errors import EvaluationError
from kgrag.evaluation.lines import read_lines

ENDINGS = (".trec", ".run", ".qrels")


def is_trec(path: Path) -> bool:
    """Say whether a file is in TREC's form, by its ending; any other is JSON lines."""
    return path.suffix.lower() in ENDINGS


def trec_line(*fields: object) -> str:
    """Return the line of some fields.

    Raises:
        EvaluationError: If one is empty or has a blank.

    >>> trec_line("q1", 0, "d1", 1)
    'q1 0 d1 1'
    """
    texts = [str(field) for field in fields]
    for text in texts:
        if text.split() != [text]:
            raise EvaluationError(
                f"{text!r} cannot be written in TREC's form, where blanks divide fields. Remedy: "
                "write .jsonl, or name questions and files without blanks"
            )
    return " ".join(texts)


def trec_rows(path: Path, form: str) -> Iterator[tuple[str, list[str]]]:
    """Yield (place, fields) of every line that is not blank; the place is `file:line`.

    Args:
        path: The file.
        form: Names of the fields, with blanks between.

    Raises:
        EvaluationError: If the file cannot be read or a line has more or fewer fields.
    """
    for place, line in read_lines(path):
        fields = line.decode(errors="replace").split()
        if len(fields) != len(form.split()):
            raise EvaluationError(
                f"{place}: expected `{form}`, got {' '.join(fields)[:60]!r}. Remedy: correct the "
                "line, or end the file's name in .jsonl if it is JSON lines"
            )
        yield place, fields


def trec_number(text: str, place: str) -> float:
    """Return a number that orders results.

    Raises:
        EvaluationError: If it is none.
    """
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if number != number:
        raise EvaluationError(f"{place}: expected a number, got {text!r}. Remedy: correct the line")
    return number
