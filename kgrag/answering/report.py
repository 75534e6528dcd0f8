"""Answers to many questions as one file: a Word file, a page, or a workbook."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from html import escape

from kgrag.answer.answer import Answer
from kgrag.answer.render import page
from kgrag.answer.word import WordFile
from kgrag.statements.export import sheets_as_xlsx
from kgrag.statements.table import Cell, Column
from kgrag.text.visible import visible
from kgrag.types import Language

_SHOWN = 60  # characters of a question that was not answered
_WORDS: Mapping[Language, Mapping[str, str]] = {
    "zh": {
        "title": "问答报告",
        "head": "{day}，共{n}个问题",
        "as of": "，效力以{day}为准",
        "failed": "未能作答：{}",
        "answers": "回答",
        "sources": "出处",
        "yes": "是",
        "no": "否",
    },
    "en": {
        "title": "Questions and answers",
        "head": "{day}, questions: {n}",
        "as of": ", in force as of {day}",
        "failed": "not answered: {}",
        "answers": "answers",
        "sources": "sources",
        "yes": "yes",
        "no": "no",
    },
}
_NUMBER, _QUESTION = Column("n", "序号", "no."), Column("question", "问题", "question")
_ANSWERS = (
    _NUMBER,
    _QUESTION,
    Column("answer", "回答", "answer"),
    Column("found", "是否找到", "found"),
    Column("notes", "说明", "notes"),
)
_SOURCES = (
    _NUMBER,
    _QUESTION,
    Column("citation", "引文", "citation"),
    Column("reference", "规范引用", "reference"),
    Column("status", "效力", "status"),
    Column("clause", "条款", "clause"),
    Column("quote", "原文", "quote"),
    Column("file", "文件路径", "file"),
    Column("page", "页", "page"),
    Column("place", "位置", "place"),
)


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
        words = _WORDS[language]
        told = words["head"].format(day=self.day.isoformat(), n=len(self.sections))
        return told + (words["as of"].format(day=self.as_of) if self.as_of else "")


def as_docx(report: Report, language: Language) -> bytes:
    """Return a report as a Word file, with sources as footnotes."""
    title = _WORDS[language]["title"]
    file = WordFile(title, language)
    file.heading(title, level=0)
    file.small(report.head(language))
    for section in report.sections:
        if section.answer is not None:
            section.answer.write_into(file)
        else:
            file.heading(section.shown)
            file.paragraph(_WORDS[language]["failed"].format(section.problem))
    return file.data()


def as_html(report: Report, language: Language) -> bytes:
    """Return a report as a page, in which each [n] links to its quote."""
    title = _WORDS[language]["title"]
    parts = [f"<h1>{title}</h1><p>{report.head(language)}</p>"]
    for section in report.sections:
        if section.answer is not None:
            parts.append(section.answer._repr_html_())
        else:
            problem = _WORDS[language]["failed"].format(section.problem)
            told = (f"<p><b>{escape(section.shown)}</b></p>", f"<p>{escape(problem)}</p>")
            parts.append("".join(told))
    return page(title, visible("\n<hr>\n".join(parts))).encode()


def as_xlsx(report: Report, language: Language) -> bytes:
    """Return a report as a workbook: a sheet of answers, and one with a row for each source."""
    words = _WORDS[language]
    sheets = ((words["answers"], _ANSWERS, _answers), (words["sources"], _SOURCES, _sources))
    return sheets_as_xlsx(
        {
            name: [[column.heading(language) for column in columns], *lines(report, language)]
            for name, columns, lines in sheets
        }
    )


def _answers(report: Report, language: Language) -> Iterator[list[Cell]]:
    words = _WORDS[language]
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
