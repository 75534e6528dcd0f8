"""The year in which a document that has no date was probably issued."""

import re

from kgrag.ingestion.rules.document_lines import DocumentLines
from kgrag.ingestion.rules.document_numbers import numbers_in

_DASH = r"[—－−‐‑–~～至到-]"
_TITLE_YEAR = re.compile(rf"(?<!\d)((?:19|20)\d\d)(?:年度?(?!前|底|远景)|年?(?={_DASH}))")
# From when on a text can speak of these.
_SINCE = {
    "党的十八大": 2012, "十三五": 2016, "党的十九大": 2017, "十九届四中全会": 2019,
    "十九届五中全会": 2020, "十四五": 2021, "十九届六中全会": 2021, "党的二十大": 2022,
    "二十届三中全会": 2024, "二十届四中全会": 2025,
}  # fmt: skip
# Plans are made in the first year of five: 到2025年 was said from 2021 on.
_TARGET = re.compile(r"到(20\d[05])年")
_EDITION = re.compile(r"[（(]((?:19|20)\d\d)(?:年版|年修订|年本|版|年第)")
# What is told with a month or as of a year's end has happened, unless it is a time limit.
_PAST = re.compile(
    r"截[至止]((?:19|20)\d\d)年|(?<![到至自前于])((?:19|20)\d\d)年(?:\d{1,2}月(?!底|末|中|上|下|前|起)(?:\d{1,2}日)?(?!前|起|底|之前|以前|后)"
    r"|[^，。；]{0,16}?已)"
)


def suggested_year(title: str, number: str, document: DocumentLines, *, effective: str) -> str:
    r"""Return the year in which a document that has no date was probably issued.

    That of its number or of the day from which it is in force; else the latest of the first year
    in its title (2022年工作要点, 2021—2025年), those in the numbers of documents that it cites, of
    plans and congresses that it speaks of, and of what has happened. Empty where there is none.

    Args:
        title: Of the document.
        number: Its own.
        document: Its lines.
        effective: From when it is in force; may be empty.

    >>> from kgrag.ingestion.rules.document_lines import read_lines
    >>> lines = read_lines("根据《办法》（云政发〔2020〕1号）")
    >>> suggested_year("2022年节能工作要点", "", lines, effective="")
    '2022'
    """
    own = [year for _, year in numbers_in(number)]
    if own or effective:
        return str(own[0]) if own else effective[:4]
    named = [int(year) for year in _TITLE_YEAR.findall(title)]
    text = "\n".join(document.lines)
    since = [year for words, year in _SINCE.items() if words in text or words in title]
    targets = [int(year) - 4 for year in _TARGET.findall(text)]
    since += sorted(targets)[:1]
    cited = [*(year for _, year in numbers_in(text)), *map(int, _EDITION.findall(text))]
    past = [int(a or b) for a, b in _PAST.findall(text)]
    # A year that nothing else comes near is a target.
    latest = max([*cited, *named[:1], *since], default=0)
    done = [year for year in past if not latest or year <= latest + 1]
    years = [*named[:1], *since, *cited, *done]
    return str(max(years)) if years else ""
