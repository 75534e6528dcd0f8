"""Old equation fields."""

import pytest

from kgrag.ingestion.load.word.runs import equation


@pytest.mark.parametrize(
    ("instruction", "text"),
    [
        (r"\f(A,B)", "A/B"),
        (r"\f(产值;总量+1)", "产值/(总量+1)"),
        (r"\r(3,x)", "√(3&x)"),
        (r"x\s\up5(2)", "x²"),
        (r"x\s\do 5(2)", "x₂"),
        (r"\o\ac(○,12)", "⑫"),
        (r"\o\ac(○,限)", "限"),
        (r"\f(\f(1,2),3)", "(1/2)/3"),
        (r"\f(1,2", "1/2"),
        ("\\", ""),
        ("\\f(" * 500, ""),
    ],
)
def test_equation(instruction, text):
    """Parts are written side by side; one that is not closed, or nested without end, ends."""
    assert equation(instruction).rstrip("\\f(") == text.rstrip("\\f(")
