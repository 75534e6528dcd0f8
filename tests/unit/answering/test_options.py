import pytest

from kgrag.answering.options import AskOptions
from kgrag.config import AnswerConfig, Config, ModelConfig, SearchConfig, VerifyConfig
from kgrag.errors import ConfigError

MODEL = ModelConfig(base_url="http://127.0.0.1:1/v1", model="m")


def test_a_model_writes_where_one_is_configured():
    """Otherwise sentences are quoted."""
    assert AskOptions.from_config(Config()).writer == "quotes"
    assert AskOptions.from_config(Config(llm=MODEL)).writer == "model"
    assert AskOptions.from_config(Config(llm=MODEL), writer="quotes").writer == "quotes"


def test_a_model_that_is_wanted_must_be_configured():
    """The error says how."""
    with pytest.raises(ConfigError, match=r"kgrag\.toml"):
        AskOptions.from_config(Config(), writer="model")


def test_each_method_has_its_own_rounds_unless_settings_say():
    """CoV-RAG asks once more, Chats-Grid four times."""
    rounds = {
        name: AskOptions.from_config(Config(), verify=name).max_rounds
        for name in ("cov", "cov-paper", "cov-two-stage", "chats-grid", "none")
    }
    assert rounds == {"cov": 2, "cov-paper": 2, "cov-two-stage": 2, "chats-grid": 5, "none": 1}
    config = Config(verify=VerifyConfig(max_rounds=3))
    assert AskOptions.from_config(config, verify="cov").max_rounds == 3


def test_two_further_wordings_are_searched_unless_settings_say():
    """Chats-Grid, Table V: more bring nothing; the method itself needs them."""
    none = Config(search=SearchConfig(expansions=0))
    assert AskOptions.from_config(Config()).expansions == 2
    assert AskOptions.from_config(none, verify="cov").expansions == 0
    assert AskOptions.from_config(none, verify="chats-grid").expansions == 2


@pytest.mark.parametrize(
    ("config", "said", "says"),
    [
        (Config(), {"verify": "hope"}, "there are cov"),
        (Config(), {"template": "poem"}, "there are normal"),
        (Config(answer=AnswerConfig(compress=0.0)), {}, "answer.compress"),
        (Config(answer=AnswerConfig(compress=1.5)), {}, "answer.compress"),
    ],
)
def test_what_is_not_known_is_named(config, said, says):
    """With what there is."""
    with pytest.raises(ConfigError, match=says):
        AskOptions.from_config(config, **said)
