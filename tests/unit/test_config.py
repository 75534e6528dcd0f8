"""Settings: tables, names that are allowed, switches."""

import json
import subprocess
import sys
from dataclasses import asdict, fields
from pathlib import Path
from typing import get_args

import pytest

from kgrag import config as settings
from kgrag.answering.options import METHODS
from kgrag.config import (
    Config,
    ModelConfig,
    read_config,
)
from kgrag.embedding.endpoint import PROVIDERS as EMBEDDING_PROVIDERS
from kgrag.errors import ConfigError
from kgrag.ingestion.reading import _BEYOND, _TASKS
from kgrag.llm.client import JSON_MODES
from kgrag.llm.providers import PROVIDERS
from kgrag.reranking.endpoint import PROVIDERS as RERANK_PROVIDERS
from kgrag.text.messages import in_language


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
        ("[vision]\nmodel = 'x'\n", "vision names the model 'x' but no endpoint"),
        ("[vision]\ncalls = 'x'\n", "vision.calls: one file is for all models"),
        ("[llm.think]\nmodel = 'x'\n", "unknown table .llm.think.; known are .llm.extract.*verify"),
        ("[llm]\nprovider = 'acme'\n", 'must be one of "glm", '),
        ("[llm]\ntemperature = -1\n", "number of 0 or more"),
        ("[llm]\nconcurrency = 0\n", "positive whole number"),
        ("[llm]\nconcurrency = 1001\n", "llm.concurrency must be at most 1000"),
        ("[llm.verify]\ntemperature = 2.1\n", "llm.verify.temperature must be at most 2"),
        ("[llm]\ntemperature = nan\n", "number of 0 or more"),
        ("[llm]\ntemperature = true\n", "must be a number"),
        ("[llm]\nprice_in = inf\n", "number of 0 or more"),
        (f"[llm]\nprice_in = 1{'0' * 400}\n", "number of 0 or more"),
        ("[llm]\nmodel = 'x'\n", "llm names the model 'x' but no endpoint"),
        ("[llm.answer]\nmodel = 'x'\n", "llm.answer names the model 'x' but no endpoint"),
        ("[llm]\nprovider = 'glm'\n[llm.answer]\ncalls = 'x.db'\n", "llm.answer.calls: one file"),
        ("[extract]\ncalls = 'many'\n", 'must be one of "combined", '),
        ("[verify]\nmethod = 'hope'\n", 'must be one of "cov", '),
        ("[search]\nlocal_copy = true\n", 'must be one of "auto", "on", "off", got True'),
        ("[search]\ntop_k = true\n", "search.top_k must be a positive whole number, got True"),
        ("[search]\ntop_k = 3.0\n", "search.top_k must be a positive whole number, got 3.0"),
        ("[search]\ntop_k = '3'\n", "search.top_k must be a positive whole number, got '3'"),
        ("[search]\nsystem = 3\n", "search.system must be a text, got 3"),
        ("[chunks]\nchildren = [9, 0]\n", r"a list of positive whole numbers, got \[9, 0\]"),
        ("[chunks]\nchildren = 9\n", "must be a list of positive whole numbers, got 9"),
        ("[embedding]\nprovider = ['jina']\n", r"must be one of \"jina\", .*, got \['jina'\]"),
        ("[embedding]\nprovider = 1\n", 'must be one of "jina", '),
        ("[embedding]\nthreads = -1\n", "must be a whole number of 0 or more, got -1"),
        ("[answer]\ntool_rounds = -1\n", "whole number of 0 or more"),
        ("[rerank]\nprovider = 'nobody'\n", "rerank.provider must be one of"),
        ("[rerank]\ncandidates = 101\n", "rerank.candidates must be at most 100"),
        ("[rerank]\ntop_n = 3\n", "unknown key rerank.top_n"),
        ("llm = 3\n", "must be a table"),
        ("[llm\n", "cannot be read as TOML"),
    ],
)
def test_what_is_not_known_or_out_of_range_is_named(tmp_path, text, says):
    """The message names key and file, so that it can be mended."""
    with pytest.raises(ConfigError, match=says) as error:
        config(tmp_path, text)
    assert "kgrag.toml" in str(error.value)


def test_a_number_with_decimals_may_be_written_as_a_whole_one(tmp_path):
    """A price of 5 is one of 5.0."""
    found = config(tmp_path, "[llm]\nprice_in = 5\n")
    assert found.llm.price_in == 5.0
    assert isinstance(found.llm.price_in, float)


def test_defaults_are_what_a_file_might_say(tmp_path):
    """But for prices, whose default is that of the provider."""
    lines = []
    for table in fields(Config):
        if table.name in ("stages", "llm", "vision"):
            continue
        values = asdict(getattr(Config(), table.name))
        lines += [f"[{table.name}]", *(f"{k} = {json.dumps(v)}" for k, v in values.items() if v)]
    assert config(tmp_path, "\n".join(lines)) == Config()


def test_pydantic_is_imported_only_where_a_file_is_read(tmp_path):
    """Its import takes longer than many a command."""
    (tmp_path / "kgrag.toml").write_text("[search]\ntop_k = 3\n")
    code = (
        "import sys; from pathlib import Path; import kgrag.cli.main; import kgrag.api;"
        " from kgrag.config import read_config; read_config();"
        " assert 'pydantic' not in sys.modules; read_config(Path(sys.argv[1]));"
        " assert 'pydantic' in sys.modules"
    )
    file = str(tmp_path / "kgrag.toml")
    subprocess.run([sys.executable, "-c", code, file], check=True, cwd=tmp_path.parent)


def test_zero_means_no_limit_and_no_tools(tmp_path):
    """Zero is a value where it means something."""
    found = config(tmp_path, "[llm]\nrequests_per_minute = 0\n[answer]\ntool_rounds = 0\n")
    assert (found.llm.requests_per_minute, found.answer.tool_rounds) == (0, 0)


def test_a_stage_with_another_model_takes_no_price_from_the_first(tmp_path):
    """It costs what the provider's list says, or what the stage says."""
    found = config(
        tmp_path,
        '[llm]\nprovider = "glm"\nmodel = "glm-4-plus"\nprice_in = 5\nprice_out = 6\n'
        'currency = "CNY"\nrequests_per_minute = 9\n'
        '[llm.analyse]\nmodel = "glm-4-flash"\n[llm.answer]\nmodel = "glm-4-air"\nprice_in = 1\n'
        '[llm.verify]\nmodel = "glm-4-plus"\n',
    )
    prices = {s: (m.price_in, m.price_out) for s, m in found.stages.items()}
    assert prices == {"analyse": (-1, -1), "answer": (1, -1), "verify": (5, 6)}
    assert {m.currency for m in found.stages.values()} == {"CNY"}
    assert {m.requests_per_minute for m in found.stages.values()} == {9}


def test_a_stage_with_another_endpoint_takes_no_limit_per_minute_from_the_first(tmp_path):
    """They are those of the first one's account; calls at a time are one's own choice."""
    found = config(
        tmp_path,
        '[llm]\nprovider = "glm"\nrequests_per_minute = 9\ntokens_per_minute = 99\n'
        'concurrency = 3\n[llm.verify]\nprovider = "deepseek"\n',
    )
    own = found.model_of("verify")
    assert (own.requests_per_minute, own.tokens_per_minute, own.concurrency) == (0, 0, 3)


@pytest.mark.parametrize("encoding", ["gbk", "utf-16", "utf-8-sig", "utf-16-be"])
def test_a_file_that_notepad_saved_is_read(tmp_path, encoding):
    """In the code page of Chinese Windows, in Unicode with a mark or without, lines with CRLF."""
    file = tmp_path / "kgrag.toml"
    file.write_bytes('# 设置\r\n[llm]\r\nmodel = "模型"\r\nprovider = "glm"\r\n'.encode(encoding))
    assert read_config(file).llm.model == "模型"


def test_a_file_that_cannot_be_read_says_what_it_seems_to_be(tmp_path):
    """Encoding and remedy; no byte is guessed at."""
    file = tmp_path / "kgrag.toml"
    file.write_bytes('[llm]\n# 设置的说明文字\nmodel = "模'.encode("gbk") + b'\xff"\n')
    with pytest.raises(ConfigError, match=r"kgrag\.toml: seems to be gb18030, .*save it as UTF-8"):
        read_config(file)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_what_has_no_end_is_no_file_of_settings(tmp_path):
    """A link to a device is read no further than any settings reach."""
    link = tmp_path / "kgrag.toml"
    link.symlink_to("/dev/zero")

    with pytest.raises(ConfigError, match="no file of settings"):
        read_config(link)


def test_every_name_that_settings_allow_is_one_that_the_code_knows():
    """And the other way round: a preset that no file may name is none."""
    assert set(get_args(settings.ChatProvider)) == set(PROVIDERS)
    assert set(get_args(settings.EmbeddingProvider)) == set(EMBEDDING_PROVIDERS)
    assert set(get_args(settings.RerankProvider)) == set(RERANK_PROVIDERS)
    assert set(get_args(settings.VerifyMethod)) == {*METHODS, "none"}
    assert set(get_args(settings.ExtractCalls)) == set(_TASKS)
    assert set(get_args(settings.ExtractFacts)) == set(_BEYOND)
    assert get_args(settings.JsonMode) == JSON_MODES == ("schema", "object", "none")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[chunk]\n", "没有表 [chunk]；可用的有 answer, chunks, "),
        ("[chunks]\nsize = 3\n", "没有设置 chunks.size；可用的有 children, parent"),
        ("[chunks]\nparent = 0\n", "chunks.parent 应为正整数，而不是 0"),
        ("[chunks]\nchildren = [0]\n", "chunks.children 应为正整数的列表，而不是 [0]"),
        ("[ingest]\nworkers = -1\n", "ingest.workers 应为不小于 0 的整数，而不是 -1"),
        ("[ingest]\nworkers = 2000\n", "ingest.workers 应为不大于 1000 的数，而不是 2000"),
        (
            "[ingest]\nparse_memory_mb = 1\n",
            "ingest.parse_memory_mb 应为不小于 128 的整数，而不是 1",
        ),
        ("[llm]\ntemperature = -1\n", "llm.temperature 应为不小于 0 的数，而不是 -1"),
        ("[llm]\nmodel = 3\n", "llm.model 应为文字，而不是 3"),
        ('[verify]\nmethod = "x"\n', 'verify.method 应为下列之一："cov", "cov-paper", '),
    ],
)
def test_what_is_wrong_with_settings_is_said_in_chinese(tmp_path, text, says):
    """File, key and remedy, in the words of the catalogue."""
    file = tmp_path / "kgrag.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as told:
        read_config(file)
    assert says in in_language(told.value, "zh").removeprefix(str(file))
