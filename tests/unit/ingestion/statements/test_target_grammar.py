"""The grammar of targets: its examples, and that nothing in it is dead."""

import re
import tomllib
from importlib import resources
from pathlib import Path

import pytest

import kgrag.ingestion
from kgrag.ingestion.statements.target_grammar import pattern, tagged
from kgrag.text.terms import statement_terms

SOURCE = resources.files("kgrag.ingestion.statements").joinpath("targets.toml").read_text("utf-8")
GRAMMAR = tomllib.loads(SOURCE)
CODE = "".join(p.read_text("utf-8") for p in Path(kgrag.ingestion.__file__).parent.rglob("*.py"))
EXAMPLES = [(name, said) for name, examples in GRAMMAR["examples"].items() for said in examples]


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_a_pattern_finds_what_its_example_says(name, example):
    """Each example tells a text and the words in it that the pattern finds."""
    text, _, wanted = example.partition(" => ")
    read = tagged(text)
    found = pattern(name).search(read.code)
    assert found is not None
    assert read.words(*found.span()) == wanted


def test_every_pattern_is_used_and_has_an_example_or_is_a_piece_of_one():
    """What nothing asks for is no part of a grammar."""
    pieces = GRAMMAR["patterns"]
    within = "".join(pieces.values())
    asked = {name for name in pieces if re.search(rf'"{name}"', CODE)}
    assert set(pieces) == asked | {name for name in pieces if f"<{name}>" in within}
    assert set(GRAMMAR["examples"]) <= set(pieces)


def test_every_list_of_words_is_used():
    """The same of the lists, and of the tags of the lexicon."""
    assert [name for name in GRAMMAR["words"] if f'"{name}"' not in CODE] == []
    named = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"\{([a-z_|]+)\}", SOURCE))))
    tags = frozenset().union(*statement_terms().tag_sets())
    assert [tag for tag in sorted(tags - named) if f'"{tag}"' not in CODE] == []


@pytest.mark.parametrize("name", GRAMMAR["patterns"])
def test_no_pattern_spells_a_word_that_is_a_span(name):
    """A word of the lexicon is one character of tagged text: spelt out it would never match."""
    spelt = re.sub(r"\[[^\]]*\]|\{[^}]*\}|<[a-z_]+>", "|", GRAMMAR["patterns"][name])
    for run in re.findall("[一-鿿]{2,}", spelt):
        assert [t for t in statement_terms().terms(run) if t.end - t.start > 1] == [], run
