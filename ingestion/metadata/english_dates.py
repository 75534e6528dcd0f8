"""Extraction of the dates that an English document says of itself."""

import re
from datetime import date

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = rf"(?P<m>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_DAY = (
    rf"(?:(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:day\s+of\s+)?{_MONTH},?\s+(?P<y>\d{{4}})"
    rf"|{_MONTH.replace('<m>', '<m2>')}\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y2>\d{{4}})"
    r"|(?P<y3>\d{4})-(?P<m3>\d{2})-(?P<d3>\d{2}))\b"
)
# Another document's dates have its name before the verb, its own have This, It or a label.
_ITSELF = r"\b(?:this|it|these)\b[^.;\n]{0,80}?\b"
_FORCE = r"(?:into\s+(?:force|effect|operation)|effect(?:ive)?|commences?|commence)\b"
_SAID = {
    "written": rf"(?:^|\n)[ \t*_]*(?:done|made|signed|dated|given|adopted|assented)\b"
    rf"[^.;:\d]{{0,60}}?{_DAY}",
    "issued": rf"(?:^|\n)[ \t*_]*(?:date\s+of\s+(?:issue|publication)|issued|published|promulgated)"
    rf"(?:\s+on)?\s*:?[ \t*_]*{_DAY}",
    "effective": rf"(?:{_ITSELF}{_FORCE}[^.;]{{0,60}}?|(?:^|\n)[ \t*_]*(?:(?:date\s+of\s+)?"
    rf"(?:commencement|entry\s+into\s+force)|(?:effective|commencement)\s+date|effective(?:\s+from)?)"
    rf"[ \t*_]*:[ \t*_]*){_DAY}",
    "expires": rf"(?:{_ITSELF}(?:expires?|cease|lapses?|in\s+force\s+until)\b[^.;]{{0,60}}?"
    rf"|(?:^|\n)[ \t*_]*(?:date\s+of\s+expiry|expiry\s+date|expires)[ \t*_]*:[ \t*_]*){_DAY}",
}
_PATTERNS = {field: re.compile(pattern, re.IGNORECASE) for field, pattern in _SAID.items()}


def english_dates(text: str) -> dict[str, str]:
    r"""Return the dates, ISO 8601, that an English document says of itself, by field.

    >>> english_dates("Done at Brussels, 3 March 2022.\nIt takes effect on 1 July 2023.")
    {'written': '2022-03-03', 'effective': '2023-07-01'}
    >>> english_dates("Directive 2010/31/EU entered into force on 9 July 2010.")
    {}
    """
    found = {}
    for field, pattern in _PATTERNS.items():
        match = pattern.search(text)
        if match and (day := _iso(match)):
            found[field] = day
    return found


def _iso(match: re.Match[str]) -> str:
    year, day = (next(filter(None, map(match.__getitem__, names))) for names in _GROUPS)
    name = match["m"] or match["m2"]
    month = _MONTHS.index(name.lower()) + 1 if name else int(match["m3"])
    try:
        return date(int(year), month, int(day)).isoformat()
    except ValueError:
        return ""


_GROUPS = (("y", "y2", "y3"), ("d", "d2", "d3"))
