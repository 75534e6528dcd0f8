"""Which cross-encoder the settings name."""

import pytest

from kgrag.config import RerankConfig
from kgrag.errors import ConfigError
from kgrag.reranking.cross_encoder import open_cross_encoder


def test_settings_name_none_one_of_this_machine_or_an_endpoint(tmp_path):
    """None by default; nothing is read or sent before a question."""
    assert open_cross_encoder(RerankConfig()) is None
    local = open_cross_encoder(RerankConfig(path=str(tmp_path / "none")))
    assert repr(local) == f"OnnxCrossEncoder({str(tmp_path / 'none')!r})"
    endpoint = open_cross_encoder(RerankConfig(provider="tei"))
    assert repr(endpoint) == "EndpointCrossEncoder(Place('reranker' at 'http://localhost:8080'))"


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (RerankConfig(model="m"), r"names the model 'm' but no endpoint"),
        (RerankConfig(path="m", provider="tei"), "leave one of them out"),
        (RerankConfig(path="m", base_url="http://x"), "leave one of them out"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(config, text):
    with pytest.raises(ConfigError, match=text):
        open_cross_encoder(config)
