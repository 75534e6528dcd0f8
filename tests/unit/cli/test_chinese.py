"""Help and names in Chinese: when, of what, and that no text lacks."""

import ast
import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import click
import pytest

from kgrag.cli.chinese import _OF_TOOLS, language, width
from kgrag.cli.main import main
from kgrag.metadata import Metadata
from kgrag.store.contents import Counts
from kgrag.text.messages import catalogue
from kgrag.tools import TOOLS
from kgrag.tools.arguments import parameters
from tests.fixtures.kit import kgrag, write

TABLES = catalogue("kgrag.cli")
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
    """Those of tools stand beside them."""
    of_tools = {tool.text for tool in TOOLS.values()} - {TOOLS["ask"].text}
    of_tools |= {
        field.metadata["description"]
        for tool in TOOLS.values()
        for field, _ in parameters(tool.arguments).values()
    }
    assert set(TABLES["help"]) == set(help_texts()) - of_tools
    assert set(TABLES["names"]) == set(names())


def test_no_other_text_of_the_catalogue_is_stale():
    fields_shown = {field.name for kind in (Counts, Metadata) for field in fields(kind)}
    assert fields_shown <= set(TABLES["words"])
    assert set(TABLES["words"]) <= fields_shown | set(written(*SOURCES.glob("*.py")))


def test_texts_are_chinese_and_end_as_theirs():
    for kind, texts in TABLES.items():
        for english, told in texts.items():
            assert re.search("[一-鿿；（]|JSON", told), english
            assert english.endswith(".") <= told.endswith("。"), english
            places = re.findall(r"\{\w*\}", english)
            assert kind in ("help", "click", "amounts") or sorted(
                re.findall(r"\{\w*\}", told)
            ) == sorted(places)


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
    begins = "用法：main search [选项] 问题", "  检索最能回答问题的片段，附标题、章节和位置。"
    assert said.startswith("\n\n".join((*begins, "选项：\n")))
    assert re.search(r"\n  --top-k 整数 +最多几个片段。  \[默认：10；1<=x<=1000\]\n", said)
    assert "neo4j://…。  [环境变量：KGRAG_KB；默认：kb]\n" in said
    assert re.search(r"\n  -h, --help +显示本帮助。\n$", said)
    assert "\n  who               列出某单位承担的任务：" in chinese_help()
    assert "  --from 地点  从哪里复制。  [必填]\n" in chinese_help("copy")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_summaries_of_commands_are_whole(language):
    """None is cut off with three dots."""
    for context in contexts():
        words = context.command_path.split()[1:]
        bare = re.sub(r"\s", "", kgrag(*words, "--help", language=language).stdout)
        for below in getattr(context.command, "commands", {}).values():
            text = inspect.cleandoc(below.help)
            told = (TABLES["help"] | _OF_TOOLS)[text] if language == "zh" else text
            assert re.sub(r"\s", "", told.partition("\n\n")[0]) in bare


def test_help_in_chinese_leaves_the_commands_as_they_are():
    before = kgrag("search", "--help").stdout
    chinese_help("search")
    assert kgrag("search", "--help").stdout == before
    assert before.startswith("Usage: main search [OPTIONS] QUESTION\n")


@pytest.mark.parametrize("context", list(contexts()), ids=lambda c: c.command_path)
def test_lines_of_help_fit_a_terminal_and_words_stay_whole(monkeypatch, context):
    """Chinese characters are two columns wide; no line begins with a closing mark."""
    monkeypatch.setenv("KGRAG_LANG", "zh")
    lines = context.get_help().splitlines()
    assert max(map(width, lines)) <= 80
    assert not [line for line in lines if line.strip()[:1] in set("，。；：、）》”")]
    told = [*TABLES["help"].values(), *_OF_TOOLS.values()]
    words = set(re.findall(r"[a-z.]{4,}", " ".join(told)))
    assert set(re.findall(r"(?<= )[a-z]{4,}(?=[ 。，、])", "\n".join(lines))) <= words | {
        *context.command_path.split(), *getattr(context.command, "commands", {})
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("search", "--no"), "没有选项 --no。"),
        (("ask",), "缺少参数 '问题'."),
        (("ingest",), "缺少参数 '路径...'."),
        (("aks",), "没有命令 aks。"),
        (("search", "x", "--top-k", "a"), "'--top-k' 的值不正确：“a”不是数字"),
        (("search", "x", "--top-k", "0"), "0 不在范围 1<=x<=1000 之内。"),
        (("ask", "x", "--writer", "y"), "“y”不在可选值之中："),
        (("ask", "x", "--year", "y"), "年份应写成 2022 或 2020-2023，所给的是“y”"),
        (("ask", "x", "--as-of", "y"), "日期应写成 2022"),
        (("convert", "nowhere"), "nowhere 不存在。"),
        (("search",), "缺少参数 '问题'."),
    ],
)
def test_an_error_of_usage_is_in_chinese(words, told):
    done = kgrag(*words, language="zh", code=2)
    assert done.stderr.startswith("用法：main")
    assert told in done.stderr.splitlines()[-1]
    assert kgrag(*words, language="en", code=2).stderr.startswith("Usage: ")


@pytest.mark.parametrize(
    "words",
    [
        ("aks",),
        ("ask", "x", "--topk", "3"),
        ("ask",),
        ("ask", "x", "--top-k", "a"),
        ("ask", "x", "--top-k", "0"),
        ("documents", "--problem"),
        ("search", "--region"),
        ("compare",),
    ],
)
def test_an_error_of_usage_is_in_the_language_that_is_chosen(words):
    """Also what click asks (Did you mean), and by --lang alone."""
    done = kgrag("--lang", "zh", *words, language="en", code=2)
    said = re.sub("main[ a-z]*|'[^']*'|“[^”]*”|--?[a-z-]+|[a-z]+。|<=|x", "", done.stderr)
    assert not re.findall("[A-Za-z]{2,}", said), said


def clicks():
    """Yield the messages of click that an error of usage may have."""
    for module in (click.core, click.exceptions, click.parser, click.types):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("_", "ngettext"):
                yield from (a.value for a in node.args if isinstance(a, ast.Constant))


def test_clicks_messages_are_those_of_the_catalogue():
    """A new version with other words must not go back to English unseen."""
    assert set(TABLES["click"]) <= set(clicks())
    ours = {
        text for text in clicks() if re.match("Missing (arg|opt|comm)|No such|Invalid v|Got", text)
    }
    assert ours <= set(TABLES["click"])


def test_amounts_and_outcomes_have_all_that_is_counted():
    from kgrag.ingestion.report import Status

    counted = {
        node.args[1].value
        for file in SOURCES.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "amount"
        if isinstance(node.args[1], ast.Constant)
    }
    assert set(TABLES["amounts"]) == counted
    assert set(TABLES["outcomes"]) == {*get_args(Status), "in part", "warning"}


@pytest.fixture
def hostile(tmp_path):
    """A folder with files that cannot be read, or not well."""
    texts = {
        "a.pdf": "x",
        "空.docx": "",
        "文.caj": "x",
        "图.txt": "%PDF-1.4",
        "好.txt": "第一条 略。",
    }
    folder = tmp_path / "in"
    folder.mkdir()
    write(folder, texts)
    return folder


def test_what_ingest_prints_is_chinese_and_json_is_english(hostile, tmp_path):
    """Summary, outcomes, remedies, problems: nothing but names and values is English."""
    done = kgrag("ingest", hostile, "--kb", tmp_path / "kb", language="zh", code=1)
    assert "5 个文件，用时" in done.stdout
    assert "新增 1，失败 3，略过 1" in done.stdout
    for told in (
        "失败：{}/空.docx：是空文件（0 字节）；请检查是否复制完整",
        "失败：{}/图.txt：内容是 PDF，不是文字；请改名为 .pdf",
        "略过：{}/文.caj：不能读取 .caj 文件；请导出为 PDF",
    ):
        assert told.format(hostile) in done.stderr
    problems = ("problems", "--json", "--kb", tmp_path / "kb")
    shown = kgrag(*problems, code=0).stdout
    assert (
        '"未能读取", "file": "in/空.docx", "detail": "是空文件（0 字节）；请检查是否复制完整"'
        in shown
    )
    assert "kgrag correct d-" in shown
    assert "\\u001e" not in shown
    in_english = kgrag(*problems, "--english", code=0).stdout
    assert "is empty (0 bytes); check that it was copied whole" in in_english
    assert "空文件" not in in_english


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("ask", "x", "--region", "火星"), "kgrag: 没有关于“火星”的文件；现有地区："),
        (
            ("ask", "x", "--document", "无此"),
            "kgrag: 没有名为“无此”的文件；`kgrag documents` 可列出",
        ),
        (("ask", "x" * 5000), "kgrag: 问题有 5,000 个字符（“xxx"),
        (("read", "a.txt:1-2"), "kgrag: 没有名为“a.txt”的文件"),
        (("graph", "无此"), "kgrag: 没有名为“无此”的实体"),
        (("cites", "无此文件"), "kgrag: 没有名为“无此文件”的文件"),
        (("delete", "无此"), "kgrag: 没有名为“无此”的文件"),
        (("correct", "无此", "--title", "x"), "kgrag: 没有名为“无此”的文件"),
        (("ask", "x", "--kb", "nowhere"), "kgrag: nowhere 中没有知识库（缺少 kgrag.db）"),
    ],
)
def test_errors_of_commands_are_chinese(sample_kb, monkeypatch, tmp_path, words, told):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KGRAG_KB", str(sample_kb))
    assert kgrag(*words, language="zh", code=1).stderr.startswith(told)


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
