import pytest

from kgrag.question.question import analyse


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("PUE要降到多少？", "zh"),
        ("What is the target of 《碳达峰方案》?", "zh"),
        ("What is the target?", "en"),
        ("2025?", "zh"),
        ("", "zh"),
    ],
)
def test_a_query_knows_the_language_that_it_is_answered_in(question, language):
    """Chinese where Chinese characters stand in it, or no letters at all."""
    assert analyse(question).language == language
