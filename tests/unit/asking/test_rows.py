import pytest

from kgrag.asking.rows import Complete, without_rows
from kgrag.generation.citation import citation
from kgrag.results import Answer
from kgrag.retrieval.query import analyse
from kgrag.types import Document


@pytest.mark.parametrize(
    ("quote", "is_found"),
    [
        ("森林覆盖率达到41%。", False),
        ("森林蓄积量达到2亿立方米。", True),
        ("森林蓄积达到2亿立方米。", True),
    ],
)
def test_quotes_answer_for_a_figure_only_where_they_name_it(quote, is_found):
    """No row was read of it; a sentence on another figure of the place is left out."""
    document = Document("d", "节能规划", quote, "d.txt", "txt", "00")
    cited = citation(1, document=document, headings=(), span=(0, len(quote)), chunk_id="d:256:0")
    found = Complete((), ("读出的有0份",), "targets", ("丙市",), "森林蓄积量")
    query = analyse("丙市森林蓄积量目标是多少？")
    answer = without_rows(Answer(query.text, quote, (cited,), True, "extractive"), found, query)
    assert answer.found == bool(answer.citations) == is_found
    assert answer.notes == ("读出的有0份",)
