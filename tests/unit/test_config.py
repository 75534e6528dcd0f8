import pytest

from kgrag.config import Config, ModelConfig, read_config
from kgrag.errors import ConfigError


def config(tmp_path, text):
    file = tmp_path / "kgrag.toml"
    file.write_text(text, encoding="utf-8")
    return read_config(file)


def test_defaults_where_there_is_no_file(tmp_path, monkeypatch):
    """No file, no model: everything works offline."""
    monkeypatch.chdir(tmp_path)
    assert read_config() == Config()
    assert not Config().llm.is_configured


def test_a_stage_has_what_the_model_table_says_and_its_own(tmp_path):
    """What a stage leaves out, `[llm]` fills in."""
    found = config(
        tmp_path,
        '[llm]\nprovider = "glm"\nconcurrency = 4\n[llm.extract]\nmodel = "glm-4-flash"\n',
    )
    assert found.model_of("answer") == ModelConfig(provider="glm", concurrency=4)
    assert found.model_of("extract") == ModelConfig(
        provider="glm", model="glm-4-flash", concurrency=4
    )


def test_a_stage_with_another_endpoint_takes_no_key_or_model_from_the_first(tmp_path):
    """The key of one company must not be sent to another."""
    found = config(
        tmp_path,
        '[llm]\nprovider = "glm"\nmodel = "glm-4-plus"\napi_key_env = "MY_KEY"\nprice_in = 5\n'
        'timeout_s = 30\n[llm.verify]\nprovider = "ollama"\nmodel = "qwen3"\n',
    )
    own = found.model_of("verify")
    assert (own.provider, own.model, own.api_key_env, own.price_in) == ("ollama", "qwen3", "", -1.0)
    assert own.timeout_s == 30


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[lmm]\n", r"unknown table \[lmm\]"),
        ("[llm]\nkey = 'x'\n", "unknown key llm.key"),
        ("[llm.extract]\nkey = 'x'\n", "unknown key llm.extract.key"),
        ("[llm.think]\nmodel = 'x'\n", "unknown key llm.think"),
        ("[llm]\nprovider = 'acme'\n", "must be one of glm"),
        ("[llm]\ntemperature = -1\n", "number of 0 or more"),
        ("[llm]\nconcurrency = 0\n", "positive whole number"),
        ("[extract]\ncalls = 'many'\n", "must be one of combined"),
        ("[verify]\nmethod = 'hope'\n", "must be one of cov"),
        ("[search]\nexpansions = -1\n", "positive whole number"),
        ("llm = 3\n", "must be a table"),
        ("[llm\n", "cannot be read as TOML"),
    ],
)
def test_what_is_not_known_or_out_of_range_is_named(tmp_path, text, says):
    """The message names key and file, so that it can be mended."""
    with pytest.raises(ConfigError, match=says) as error:
        config(tmp_path, text)
    assert "kgrag.toml" in str(error.value)


def test_zero_means_no_limit_and_no_expansions(tmp_path):
    """Zero is a value where it means something."""
    found = config(tmp_path, "[llm]\nrequests_per_minute = 0\n[search]\nexpansions = 0\n")
    assert (found.llm.requests_per_minute, found.search.expansions) == (0, 0)
