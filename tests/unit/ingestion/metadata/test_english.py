"""English documents: their title, their dates, their headings, and quotes of them."""

import pytest

from kgrag import KnowledgeBase
from kgrag.ingestion.metadata.dates import english_dates
from kgrag.text.numbering import item_end

REGULATION = """REPUBLIC OF VELDANIA
DATA PROTECTION REGULATION 2022

PART I
GENERAL PROVISIONS

Article 5. Records
Whoever decides on processing is a “controller”
and shall keep records for five years, as the
Regulation 2022 on archives tells.

This Regulation shall enter into force on 1 July 2023.
Done at Port Velda, 3 March 2022.
"""


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("Done at Brussels, 3 March 2022", {"written": "2022-03-03"}),
        ("Assented to on the 3rd day of June, 2021", {"written": "2021-06-03"}),
        ("Date of commencement: August 15, 2021", {"effective": "2021-08-15"}),
        ("**Effective date:** 2021-08-15", {"effective": "2021-08-15"}),
        ("This Act takes effect on\nJan. 2nd, 2020.", {"effective": "2020-01-02"}),
        ("It shall cease to apply on 31 December 2030.", {"expires": "2030-12-31"}),
        ("Published: 1 May 2020", {"issued": "2020-05-01"}),
        ("Directive 2010/31/EU entered into force on 9 July 2010.", {}),
        ("This Act is in force. Made goods of 3 March 2022 are exempt.", {}),
        ("Done at Brussels, 31 February 2022", {}),
    ],
)
def test_english_dates(text, dates):
    """Of labels, of the place where it is done, of sentences about itself; not those of others."""
    assert english_dates(text) == dates


def test_a_year_is_no_number_of_a_rule():
    """A line that a page's width broke before Regulation 2022 begins no article."""
    assert item_end("Regulation 2022 on archives tells.") == 0
    assert item_end("Regulation 22 Archives")


def test_ask_an_english_regulation(tmp_path):
    """It has its title, dates and headings, and a quote keeps the blanks of wrapped lines."""
    (tmp_path / "a.txt").write_text(REGULATION, encoding="utf-8")
    (tmp_path / "b.md").write_text(
        "# REPUBLIC OF VELDANIA\n## ENERGY ACT\n\n### Article 1\nSave it.\n", encoding="utf-8"
    )

    with KnowledgeBase.open(tmp_path / "kb") as base:
        base.ingest([tmp_path / "a.txt", tmp_path / "b.md"])
        first, second = sorted(base.documents(), key=lambda document: document.file)
        answer = base.ask("for how many years shall a controller keep records")

    assert first.title == "REPUBLIC OF VELDANIA DATA PROTECTION REGULATION 2022"
    assert second.title == "REPUBLIC OF VELDANIA ENERGY ACT"
    assert (first.metadata.written, first.metadata.effective) == ("2022-03-03", "2023-07-01")
    assert "a “controller” and shall keep records for five years, as the Regulation 2022" in (
        answer.text.replace("**", "")
    )
    assert "PART I GENERAL PROVISIONS › Article 5. Records" in answer.text
