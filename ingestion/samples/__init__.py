"""Sample documents of an invented province, to try the system on without any of one's own."""

from importlib import resources
from pathlib import Path

__all__ = ["questions_file", "sample_folder"]


def sample_folder() -> Path:
    """Return the folder of the ten sample documents (.docx, .pdf, .html, .txt, .md)."""
    return Path(str(resources.files("kgrag.ingestion.samples"))) / "documents"


def questions_file() -> Path:
    """Return the file of questions on the samples.

    One a line: {id, question, answers[], gold_docs[] (file stems), kind}; `unanswerable` ones
    have neither answers nor gold_docs.
    """
    return Path(str(resources.files("kgrag.ingestion.samples"))) / "questions.jsonl"
