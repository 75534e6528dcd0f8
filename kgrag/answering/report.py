"""Answers to many questions as one file: a Word file, a page, or a workbook."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from html import escape

from kgrag.answer.answer import Answer
from kgrag.answer.render import page
from kgrag.answer.word import WordFile
from kgrag.statements.export import sheets_as_xlsx
from kgrag.statements.table import Cell
from kgrag.text.messages import catalogue
from kgrag.text.visible import visible
from kgrag.types import Language

_SHOWN = 60  # characters of a question that was not answered
_words = catalogue("kgrag.answering", "report.toml")


@dataclass(frozen=True, slots=True)
class Section:
    """A question and its answer.

    Attributes:
        question: As asked.
        answer: None if there is none.
        problem: Why not.
    """

    question: str
    answer: Answer | None = None
    problem: str = ""

    @property
    def shown(self) -> str:
        """The question; its beginning if it was not answered, which may be for its length."""
        cut = self.answer is None and len(self.question) > _SHOWN
        return self.question[:_SHOWN] + "…" if cut else self.question


@dataclass(frozen=True, slots=True)
class Report:
    """Questions with their answers.

    Attributes:
        sections: In order.
        as_of: The day on which documents had to be in force, ISO 8601; empty for today.
        day: Of the report.
    """

    sections: tuple[Section, ...]
    as_of: str = ""
    day: date = field(default_factory=date.today)

    def head(self, language: Language) -> str:
        """Return the line below the title."""
        words = _words[language]
        told = str(words["head"]).format(day=self.day.isoformat(), n=len(self.sections))
        return told + (words["as of"].format(day=self.as_of) if self.as_of else "")


def as_docx(report: Report, language: Language) -> bytes:
    """Return a report as a Word file, with sources as footnotes."""
    title = _words[language]["title"]
    file = WordFile(title, language)
    file.heading(title, level=0)
    file.small(report.head(language))
    for section in report.sections:
        if section.answer is not None:
            section.answer.write_into(file)
        else:
            file.heading(section.shown)
            file.paragraph(_words[language]["failed"].format(section.problem))
    return file.data()


def as_html(report: Report, language: Language) -> bytes:
    """Return a report as a page, in which each [n] links to its quote."""
    title = _words[language]["title"]
    parts = [f"<h1>{title}</h1><p>{report.head(language)}</p>"]
    for section in report.sections:
        if section.answer is not None:
            parts.append(section.answer._repr_html_())
        else:
            problem = _words[language]["failed"].format(section.problem)
            told = (f"<p><b>{escape(section.shown)}</b></p>", f"<p>{escape(problem)}</p>")
            parts.append("".join(told))
    return page(title, visible("\n<hr>\n".join(parts))).encode()


def as_xlsx(report: Report, language: Language) -> bytes:
    """Return a report as a workbook: a sheet of answers, and one with a row for each source."""
    words = _words[language]
    answers, sources = _answers(report, language), _sources(report, language)
    return sheets_as_xlsx(
        {
            words["answers"]: [words["of answers"], *answers],
            words["sources"]: [words["of sources"], *sources],
        }
    )


def _answers(report: Report, language: Language) -> Iterator[list[Cell]]:
    words = _words[language]
    for number, section in enumerate(report.sections, start=1):
        answer = section.answer
        if answer is None:
            told, notes = words["failed"].format(section.problem), ""
        else:
            told, notes = answer.text, "\n".join(answer.notes)
        found = words["yes" if answer is not None and answer.found else "no"]
        yield [number, section.shown, told, found, notes]


def _sources(report: Report, language: Language) -> Iterator[list[Cell]]:
    for number, section in enumerate(report.sections, start=1):
        for cited in section.answer.citations if section.answer is not None else ():
            yield [
                number,
                section.shown,
                f"[{cited.number}]",
                cited.reference,
                cited.status.told(language) if cited.status else "",
                " › ".join(cited.heading_path),
                cited.quote,
                cited.file,
                cited.page,
                cited.address,
            ]


FORMS: Mapping[str, Callable[[Report, Language], bytes]] = {  # by the ending of a file's name
    ".docx": as_docx,
    ".html": as_html,
    ".xlsx": as_xlsx,
}
