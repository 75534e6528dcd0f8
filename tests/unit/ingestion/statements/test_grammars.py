"""Every grammar: its examples, and that nothing in it is dead."""

import re
from pathlib import Path

import pytest

import kgrag.ingestion
from kgrag.ingestion.statements import (
    citation_roles,
    definitions,
    duty_sentences,
    provisions,
    target_grammar,
)
from kgrag.ingestion.statements.finding import Finding
from kgrag.ingestion.statements.unwrapped import unwrapped
from kgrag.qualifiers import Qualifiers
from kgrag.text.terms import statement_terms
from tests.fixtures.kit import each

CODE = "".join(p.read_text("utf-8") for p in Path(kgrag.ingestion.__file__).parent.rglob("*.py"))
MODULES = {
    "targets.toml": target_grammar,
    "definitions.toml": definitions,
    "duties.toml": duty_sentences,
    "references.toml": citation_roles,
    "provisions.toml": provisions,
}
GRAMMARS = {file: module.grammar() for file, module in MODULES.items()}
SOURCES = {
    file: Path(kgrag.ingestion.__file__).parent.joinpath("statements", file).read_text("utf-8")
    for file in GRAMMARS
}


def patterns(file):
    """Yield (name, pattern) of those by name and of those in rows."""
    told = GRAMMARS[file].told
    yield from told["patterns"].items()
    for row in told.get("rows", ()):
        fields = ("object", "subject", "unless", "elsewhere", "items", "carries", "condition")
        for field in fields:
            pieces = row.get(field, ())
            for piece in [pieces] if isinstance(pieces, str) else pieces:
                yield f"{row['id']} {field}", piece


EXAMPLES = [
    (file, name, example)
    for file, grammar in GRAMMARS.items()
    for name, examples in grammar.told.get("examples", {}).items()
    for example in examples
]


def test_a_pattern_finds_what_its_example_says():
    """Each example tells a text and the words in it that the pattern finds."""

    def check(file, name, example):
        text, _, wanted = example.partition(" => ")
        read = MODULES[file].tagged(text)
        found = GRAMMARS[file].pattern(name).search(read.code)
        assert found is not None
        assert read.words(*found.span()) == wanted

    each(check, EXAMPLES)


@pytest.mark.parametrize("file", GRAMMARS)
def test_every_pattern_is_used_and_examples_are_of_patterns(file):
    """What nothing asks for is no part of a grammar."""
    told = GRAMMARS[file].told
    within = "".join(piece for _, piece in patterns(file))
    asked = {name for name in told["patterns"] if f'"{name}"' in CODE}
    assert set(told["patterns"]) == asked | {n for n in told["patterns"] if f"<{n}>" in within}
    assert set(told.get("examples", ())) <= set(told["patterns"])


@pytest.mark.parametrize("file", GRAMMARS)
def test_every_list_of_words_is_used(file):
    """The same of the lists, and of the tags of the lexicon."""
    grammar = GRAMMARS[file]
    assert [name for name in grammar.told.get("words", ()) if f'"{name}"' not in CODE] == []
    named = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"\{([a-z_|]+)\}", SOURCES[file]))))
    tags = frozenset().union(*grammar.lexicon.tag_sets())
    assert [tag for tag in sorted(tags - named) if f'"{tag}"' not in CODE] == []


@pytest.mark.parametrize("file", GRAMMARS)
def test_no_pattern_spells_a_word_that_is_a_span(file):
    """A word of the lexicon is one character of tagged text: spelt out it would never match."""
    for name, pattern in patterns(file):
        spelt = re.sub(r"\[[^\]]*\]|\{[^}]*\}|<[a-z_]+>", "|", pattern)
        for run in re.findall("[一-鿿]{2,}", spelt):
            terms = GRAMMARS[file].lexicon.terms(run)
            assert [run[t.start : t.end] for t in terms if t.end - t.start > 1] == [], name


def shown(finding):
    """Return a finding as the examples of rows show it."""
    q = finding.qualifiers
    amount = f"{q.value}..{q.value_to}" if q.value_to else q.value
    sign = "" if q.comparator in ("=", "range", "") else q.comparator
    value = f"{sign}{amount} {q.unit}".strip()
    told = (finding.subject, finding.predicate, finding.object, value, q.condition)
    return " | ".join(filter(None, told))


ROWS = [
    (file, row["id"], example)
    for file, grammar in GRAMMARS.items()
    for row in grammar.told.get("rows", ())
    for example in row["examples"]
]


def test_a_row_finds_what_its_examples_say():
    """Each example tells a text and all that is found in it; nothing where it tells no more."""

    def check(file, row, example):
        text, *wanted = example
        found = getattr(MODULES[file], file.removesuffix(".toml"))(unwrapped(text))
        assert [shown(finding) for finding in found] == wanted

    each(check, ROWS)


def test_examples_are_compared_whole():
    """A value, a range and a condition all show."""
    finding = Finding(
        "甲", "处罚", "罚款", 0, 1, Qualifiers("condition", value="1", value_to="2", unit="元",
        comparator="range", condition="情节严重"),
    )  # fmt: skip
    assert shown(finding) == "甲 | 处罚 | 罚款 | 1..2 元 | 情节严重"


def test_the_lexicon_of_statements_has_tags():
    """Words without a tag protect others; the rest say something."""
    assert statement_terms().tag_sets()
