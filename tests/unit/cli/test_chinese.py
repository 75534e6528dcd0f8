"""Help and names in Chinese: when, of what, and that no text lacks."""

import ast
import inspect
import re
from dataclasses import fields
from pathlib import Path

import click
import pytest

from kgrag.cli.chinese import catalogue, language, width
from kgrag.cli.main import main
from kgrag.metadata import Metadata
from kgrag.store.contents import Counts
from tests.fixtures.kit import kgrag

SOURCES = Path(__file__).parents[3] / "kgrag" / "cli"


def contexts(command=main, parent=None, name="kgrag"):
    """Yield every command, groups, too, in a context of its own."""
    names = main.context_settings["help_option_names"]
    context = command.context_class(command, parent, name, help_option_names=names)
    yield context
    for below, one in getattr(command, "commands", {}).items():
        yield from contexts(one, context, below)


def help_texts():
    """Yield what commands and options say of themselves."""
    for context in contexts():
        yield inspect.cleandoc(context.command.help)
        options = context.command.get_params(context)
        yield from (o.help for o in options if isinstance(o, click.Option) and o.help)


def names():
    """Yield what stands for values in how commands and options are called, and click's words."""
    yield from ("Usage:", "Options", "Commands", "env var", "default", "required")
    for context in contexts():
        called = context.command.collect_usage_pieces(context)
        for option in context.command.get_params(context):
            called += option.get_help_record(context)[:1] if option.get_help_record(context) else []
        yield from re.findall("[A-Z]{2,}(?: RANGE)?", " ".join(called))


def written(*files):
    """Yield the texts that files of the command line hold."""
    for file in files:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_every_help_text_is_there_in_chinese_and_no_other():
    assert set(catalogue()["help"]) == set(help_texts())
    assert set(catalogue()["names"]) == set(names())


def test_no_other_text_of_the_catalogue_is_stale():
    fields_shown = {field.name for kind in (Counts, Metadata) for field in fields(kind)}
    assert fields_shown <= set(catalogue()["words"])
    assert set(catalogue()["words"]) <= fields_shown | set(written(*SOURCES.glob("*.py")))
    assert set(catalogue()["next"]) <= set(written(SOURCES / "overview.py"))


def test_texts_are_chinese_and_end_as_theirs():
    for kind, texts in catalogue().items():
        for english, chinese in texts.items():
            assert re.search("[一-鿿；（]|JSON", chinese), english
            assert english.endswith(".") <= chinese.endswith("。"), english
            places = re.findall(r"\{\w*\}", english)
            assert kind == "help" or sorted(re.findall(r"\{\w*\}", chinese)) == sorted(places)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LC_MESSAGES": "zh_TW.UTF-8", "LANG": "C"}, "zh"),
        ({"LC_ALL": "C.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_ALL": "", "LANG": "zh_CN.UTF-8"}, "zh"),
        ({"KGRAG_LANG": "zh", "LC_ALL": "en_US.UTF-8"}, "zh"),
        ({"KGRAG_LANG": "en", "LANG": "zh_CN.UTF-8"}, "en"),
    ],
)
def test_the_first_variable_that_is_set_tells_the_language(monkeypatch, told, expected):
    """What the user wants of us, then of all programs; English where nothing says."""
    for name in ("KGRAG_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    assert language() == expected


def chinese_help(*words):
    done = kgrag(*words, "--help", language="zh")
    assert done.exit_code == 0
    return done.stdout


def test_help_is_in_chinese_with_what_click_says():
    said = chinese_help("search")
    assert said.startswith(
        "用法：main search [选项] [问题]\n\n  检索最能回答问题的片段。\n\n选项：\n"
    )
    assert "\n  --top-k 整数    [默认：10；1<=x<=1000]\n" in said
    assert "neo4j://…。  [环境变量：KGRAG_KB；默认：kb]\n" in said
    assert said.endswith("\n  -h, --help      显示本帮助。\n")
    assert "\n  who               列出某单位承担的任务，" in chinese_help()
    assert "  --from 地点  从哪里复制。  [必填]\n" in chinese_help("copy")


def test_help_in_chinese_leaves_the_commands_as_they_are():
    before = kgrag("search", "--help").stdout
    chinese_help("search")
    assert kgrag("search", "--help").stdout == before
    assert before.startswith("Usage: main search [OPTIONS] [QUESTION]\n")


@pytest.mark.parametrize("context", list(contexts()), ids=lambda c: c.command_path)
def test_lines_of_help_fit_a_terminal_and_words_stay_whole(monkeypatch, context):
    """Chinese characters are two columns wide; no line begins with a closing mark."""
    monkeypatch.setenv("KGRAG_LANG", "zh")
    lines = context.get_help().splitlines()
    assert max(map(width, lines)) <= 80
    assert not [line for line in lines if line.strip()[:1] in set("，。；：、）》”")]
    words = set(re.findall(r"[a-z.]{4,}", " ".join(catalogue()["help"].values())))
    assert set(re.findall(r"(?<= )[a-z]{4,}(?=[ 。，、])", "\n".join(lines))) <= words | {
        *context.command_path.split(), *getattr(context.command, "commands", {})
    }  # fmt: skip


def test_an_error_of_usage_stays_in_english():
    done = kgrag("search", "--no", language="zh")
    assert done.exit_code == 2
    assert done.stderr.startswith("Usage: ")


@pytest.mark.parametrize(
    ("words", "environment", "begins"),
    [
        (("--lang", "zh", "ask", "--help"), "en", "用法："),
        (("--lang", "en", "ask", "--help"), "zh", "Usage:"),
        (("ask", "--help"), "zh", "用法："),
    ],
)
def test_lang_wins_over_the_environment(words, environment, begins):
    assert kgrag(*words, language=environment, code=0).stdout.startswith(begins)


def test_a_language_that_there_is_not_is_refused():
    assert "'zh', 'en'" in kgrag("--lang", "fr", "--help", code=2).stderr
