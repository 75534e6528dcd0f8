"""Targets by rule, on sentences in the form that policies have."""

from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.ingestion.statements.targets import targets


@given(
    st.lists(
        st.sampled_from(
            [
                "到2025年",
                "，",
                "。",
                "\n",
                "；",
                "率",
                "达到",
                "分别",
                "10%",
                "5万吨",
                "、",
                "和",
                "（",
                "）",
                "《",
                "由",
                "提高到",
                "比2020年",
                "建成",
                "20个",
                "以上",
                "森林",
                "约束性",
                "2020年",
                "指标",
                "\x00",
                "“十四五”期间",
                "１２",
                " | ",
            ]
        ),
        max_size=40,
    ).map("".join)
)
@settings(max_examples=300)
def test_any_text_is_read(text):
    """Never an error; spans lie within, values are numbers."""
    for found in targets(text):
        assert 0 <= found.start < found.end <= len(text)
        assert found.subject
        assert float(found.qualifiers.value) >= 0
