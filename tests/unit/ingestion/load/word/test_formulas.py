"""Formulas of Word as a line of text."""

import pytest
from lxml import etree

from kgrag.ingestion.load.word.formulas import formula
from tests.fixtures.word_files import NS


def m(text: str) -> str:
    """Return a run of a formula."""
    return f"<m:r><m:t>{text}</m:t></m:r>"


def e(text: str, tag: str = "e") -> str:
    """Return a part of a form."""
    return f"<m:{tag}>{text if text.startswith('<') else m(text)}</m:{tag}>"


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        (f"<m:f>{e('A', 'num')}{e('B', 'den')}</m:f>", "A/B"),
        (f"<m:f>{e('3.5', 'num')}{e('a+b', 'den')}</m:f>", "3.5/(a+b)"),
        (f"<m:f><m:fPr><m:type m:val='noBar'/></m:fPr>{e('n', 'num')}{e('k', 'den')}</m:f>",
         "(n ¦ k)"),
        (f"<m:sSup>{e('10')}{e('-4', 'sup')}</m:sSup>", "10⁻⁴"),
        (f"<m:sSup>{e('x')}{e('t', 'sup')}</m:sSup>", "x^t"),
        (f"<m:sSub>{e('E')}{e('2030年', 'sub')}</m:sSub>", "E_2030年"),
        (f"<m:sSubSup>{e('x')}{e('i', 'sub')}{e('2', 'sup')}</m:sSubSup>", "x_i²"),
        (f"<m:rad><m:radPr><m:degHide m:val='1'/></m:radPr><m:deg/>{e('x+1')}</m:rad>", "√(x+1)"),
        (f"<m:rad>{e('3', 'deg')}{e('x')}</m:rad>", "∛(x)"),
        ("<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr>"
         f"{e('i=1', 'sub')}{e('n', 'sup')}{e('x')}</m:nary>", "∑_(i=1)^(n) x"),
        (f"<m:d>{e('a')}{e('b')}</m:d>", "(a|b)"),
        (f"<m:d><m:dPr><m:begChr m:val='['/><m:endChr m:val=']'/></m:dPr>{e('a')}</m:d>", "[a]"),
        (f"<m:m><m:mr>{e('1')}{e('2')}</m:mr><m:mr>{e('3')}{e('4')}</m:mr></m:m>", "[1, 2; 3, 4]"),
        (f"<m:func>{e('log', 'fName')}{e('x')}</m:func>", "log x"),
        (f"<m:limLow>{e('max')}{e('t', 'lim')}</m:limLow>", "max_(t)"),
        (f"<m:eqArr>{e('x=1')}{e('&amp;y=2')}</m:eqArr>", "x=1; y=2"),
        (f"<m:bar>{e('x')}</m:bar>", "x\u0305"),
        (f"<m:box>{e('x')}</m:box>", "x"),
        (f"<m:phant><m:phantPr><m:show m:val='0'/></m:phantPr>{e('x')}</m:phant>", ""),
        (f"{m('x')}<w:del><m:r><m:t>y</m:t></m:r></w:del>", "x"),
    ],
)  # fmt: skip
def test_formula(xml, text):
    """Each form of Office's markup has its line, with brackets where parts would run together."""
    assert formula(etree.fromstring(f"<m:oMath {NS}>{xml}</m:oMath>")) == text


def test_formula_when_forms_are_nested():
    """A rate as a report states it: the numbers stand apart and are found as they are written."""
    above = f"{m('E')}<m:sSub>{e('x')}{e('2025', 'sub')}</m:sSub>{m('-1200')}"
    xml = f"{m('η=')}<m:f>{e(above, 'num')}{e('3500', 'den')}</m:f>{m('×100%')}"

    assert formula(etree.fromstring(f"<m:oMath {NS}>{xml}</m:oMath>")) == (
        "η=(Ex_2025-1200)/3500×100%"
    )
