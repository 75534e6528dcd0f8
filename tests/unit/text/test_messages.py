"""Messages to users: no English template without Chinese, and none that nobody says."""

import ast
import copy
import pickle
import re
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

from kgrag.errors import IngestionError
from kgrag.text.messages import (
    Message,
    catalogue,
    in_language,
    message,
    packed,
    replaced,
    unpacked,
    without_start,
)

ROOT = Path(__file__).parents[3]
FILE = "messages.toml"
SAYING = {"message", "Message", "told", "say"}
# Where what users are told is still an English text: commands that analysts hardly use, plugins,
# settings, stores, and the API's inputs.
LEFT = {
    "kgrag/cli": {"browser", "dataset", "eval", "models"},
    "kgrag/serve": {"api", "compatible", "guard", "inputs", "mcp_server", "writing"},
    "kgrag/statements": set(),
    "kgrag/files": {"cache_folder", "encoding", "foreign_json"},
    "ingestion/load": {"formats"},
    "ingestion/workers": set(),
}
SAID_BY = ("kgrag.text.messages", "kgrag.cli.chinese", "kgrag.cli.printing", "kgrag.errors")
TELLS = {"echo", "Failure", "UsageError", "BadParameter"}


@cache
def modules():
    """Return every module of the product with its tree."""
    return [
        (file, ast.parse(file.read_text("utf-8")))
        for package in ("kgrag", "ingestion")
        for file in sorted((ROOT / package).rglob("*.py"))
    ]


def saying():
    """Yield the modules that make messages, with the names that they make them by."""
    for file, tree in modules():
        names = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module in SAID_BY
            for alias in node.names
        }
        errors = {name for name in names if name.endswith("Error")}
        if said := (names & SAYING) | errors:
            yield file, tree, said


def key(template):
    """Return the catalogue's key of a template: without `{file}: ` at its beginning."""
    return re.sub(r"^\{\w+\}: ", "", template)


def called(node):
    return getattr(node.func, "id", None) or getattr(node.func, "attr", None)


def says(call):
    """Return whether a call makes a message: by name, or an error of a template and its values."""
    text = str(getattr(call.args[0], "value", "")) if call.args else ""
    by_values = any(f"{{{value.arg}" in text for value in call.keywords)
    return by_values or bool(call.args and called(call) in SAYING)


@cache
def templates():
    """Return (key, file) of the templates that are written where messages are made."""
    return list(_templates())


def _templates():
    for file, tree, names in saying():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and called(node) in names and says(node):
                first = node.args[0]
                for part in (first.body, first.orelse) if isinstance(first, ast.IfExp) else [first]:
                    if isinstance(part, ast.Constant):
                        yield key(str(part.value)), file.relative_to(ROOT)


def has_words(template):
    return re.search("[A-Za-z]{2,}", re.sub(r"\{[^{}]*\}", "", template))


def places(template):
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def test_every_message_is_there_in_chinese():
    """Where a template is written, its Chinese is in the catalogue."""
    known = catalogue("kgrag.text", FILE)
    missing = {f"{file}: {t}" for t, file in templates() if has_words(t) and t not in known}
    assert not missing, "\n".join(sorted(missing))


def test_no_chinese_is_stale_and_all_have_the_same_places():
    """Every key stands in a module, and nothing that a message says is lost in Chinese."""
    written = {
        key(node.value)
        for _, tree, _ in saying()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    known = catalogue("kgrag.text", FILE)
    assert set(known) <= written, "\n".join(sorted(set(known) - written))
    for english, chinese in known.items():
        assert places(english) == places(chinese), english
        assert re.search("[一-鿿：；]", chinese) or not has_words(chinese), english


def is_bare(node):
    """Return whether an expression is an English text, and no message."""
    if isinstance(node, ast.JoinedStr):
        text = "".join(str(p.value) for p in node.values if isinstance(p, ast.Constant))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    else:
        return False
    return len(re.findall(r"[a-z]{3,}", text.replace("kgrag", ""))) > 1


def test_what_users_are_told_is_a_message():
    """Errors, failures and printed lines of covered packages have no bare English text."""
    bare = []
    for package, left in LEFT.items():
        for file in sorted((ROOT / package).glob("**/*.py")):
            if file.stem in left:
                continue
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                call = node.exc if isinstance(node, ast.Raise) else node
                is_raised = (
                    isinstance(node, ast.Raise) and called(call) != "TypeError"
                    if isinstance(call, ast.Call)
                    else False
                )
                if not isinstance(call, ast.Call) or says(call):
                    continue
                if is_raised or called(call) in TELLS:
                    bare += [
                        f"{file.relative_to(ROOT)}:{a.lineno}" for a in call.args[:2] if is_bare(a)
                    ]
    assert not bare, "\n".join(bare)


def test_no_message_of_a_line_has_a_line_break():
    """A line break is shown as an escape, so that no name can forge a line."""
    broken = []
    for file, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (
                str(called(node)).endswith("Error") or called(node) in {*SAYING, "echo", "note"}
            ):
                texts = (t for t in ast.walk(node) if isinstance(t, ast.Constant))
                broken += [f"{file}:{t.lineno}" for t in texts if "\n" in str(t.value)]
    assert not broken, "\n".join(broken)


def test_a_message_inside_another_is_worded_too():
    """Its values, and what an error says."""
    inner = message("no loader for {suffix} files; {remedy}", suffix=".caj",
                    remedy=message("export it as PDF"))  # fmt: skip
    outer = message("{file}: {what}", file="a.caj", what=IngestionError(inner))
    assert outer == "a.caj: no loader for .caj files; export it as PDF"
    assert in_language(outer, "zh") == "a.caj：不能读取 .caj 文件；请导出为 PDF"
    assert in_language(outer, "en") == str(outer)
    assert in_language(ValueError("plain"), "zh") == "plain"


@pytest.mark.parametrize("value", ["{evil} {0} {", "\x1e[1]", "a: b", "“引号”"])
def test_values_are_never_templates(value):
    """File names may hold braces, and what separates a stored message."""
    said = message("{file}: {what}", file=value, what=message("page {n}: no text found", n=3))
    assert said == f"{value}: page 3: no text found"
    assert in_language(said, "zh") == f"{value}：第 3 页没有找到文字"


@pytest.mark.parametrize("way", [pickle.loads, copy.deepcopy, unpacked])
def test_messages_survive_processes_and_stores(way):
    """With their template and values, to be worded when they are read."""
    said = message(
        "pages {pages}: {what}",
        pages="2",
        what=message("its answer is another text, or no Markdown"),
    )
    kept = way(pickle.dumps(said) if way is pickle.loads else packed(said) if way is unpacked
               else said)  # fmt: skip
    assert isinstance(kept, Message)
    assert kept == said
    assert in_language(kept, "zh") == "第 2 页：回答是另外的文字，或不是 Markdown"


@pytest.mark.parametrize(
    "stored",
    ["plain", "\x1e", "a\x1e[", "a\x1e7", "a\x1e[1,2,3]", 'a\x1e["{x:>99999999}", {"x": 1}]'],
)
def test_what_no_message_of_ours_was_is_a_text(stored):
    """An older kgrag's, a damaged one, and a file name that pretends to be one."""
    assert unpacked(stored) == stored
    assert not isinstance(unpacked(stored), Message)


def test_a_message_can_lose_its_file_and_its_folder():
    """As reports name the file apart, and pages no folder of the server."""
    said = message("{file}: is empty (0 bytes); check that it was copied whole", file="/k/a.txt")
    assert without_start(IngestionError(said), "/k/a.txt").startswith("is empty")
    assert in_language(without_start(IngestionError(said), "/k/a.txt"), "zh")[:3] == "是空文"
    assert without_start(IngestionError("a.txt: x"), "a.txt") == "x"
    assert in_language(replaced(said, "/k/", ""), "zh").startswith("a.txt：是空文件")
    assert replaced("/k/a", "/k/", "") == "a"
