from typing import Any, cast

import pytest

from kgrag.config import AnswerConfig, EmbeddingConfig, SearchConfig
from kgrag.errors import ConfigError


def test_programs_may_say_on_and_off():
    """As they had to; a text that is not empty would be true."""
    off: Any = "off"
    said = SearchConfig(hyde=off, graph_query=cast("Any", "on"))
    assert said == SearchConfig(hyde=False, graph_query=True)
    assert EmbeddingConfig(facts=off).facts is False
    assert AnswerConfig(integrate=off).integrate is False


@pytest.mark.parametrize("wrong", ["yes", 1, None])
def test_what_is_neither_true_nor_false_is_refused(wrong):
    """The message names the setting."""
    with pytest.raises(ConfigError, match="hyde must be true or false, got"):
        SearchConfig(hyde=wrong)
