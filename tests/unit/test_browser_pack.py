"""The pack for Neo4j Browser: what every saved query and the style sheet must and must not be."""

import re
import tomllib
from pathlib import Path

import pytest

from kgrag.cli.browser import saved_queries, style_sheet

ROOT = Path(__file__).parents[2]
QUERIES = saved_queries()
WRITES = r"CREATE|MERGE|SET|DELETE|REMOVE|FOREACH|LOAD|DROP|ALTER|GRANT|IN\s+TRANSACTIONS"
BOOKKEEPING = (
    r"KnowledgeBase|Setting|Source|DocumentLayout|\w*Embedding|FactVector|Terms\d*|"
    r"embedding_key|vector"
)
LABELS = {"Document", "Chunk", "ParentChunk", "ChildChunk", "Summary", "Entity", "Target", "Duty",
          "Organ", "Region"}  # fmt: skip
# Our own label of each, beside the readable one; what is both has the look of the readable one.
OURS = {f"Kgrag{label}" for label in LABELS - {"ParentChunk", "ChildChunk"}}
TYPES = {"RELATED", "CITES", "PART_OF", "FIRST_CHUNK", "NEXT_CHUNK", "HAS_CHILD", "SUMMARIZES",
         "MENTIONS", "NAMES", "STATES", "OF", "ASSIGNS", "ASSIGNED_TO", "ISSUED_BY", "APPLIES_TO",
         "BASED_ON", "IMPLEMENTS", "AMENDS", "REPEALS", "FORWARDS", "ISSUES",
         "REFERS_TO"}  # fmt: skip

each_query = pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.file)


def body(query):
    """Return a query without its comments."""
    return re.sub(r"//.*", "", query.text)


def rules():
    """Return the selectors of the style sheet, in order, with their properties."""
    found = re.findall(r"([\w.]+) \{\n((?:  [\w-]+: [^\n]+;\n)+)\}\n", style_sheet())
    return {name: dict(re.findall(r"  ([\w-]+): (.+);", text)) for name, text in found}


def test_pack_has_a_dozen_queries_and_more():
    """They are numbered without a gap."""
    assert len(QUERIES) >= 12
    assert [q.file[:3] for q in QUERIES] == [f"{n:02}-" for n in range(1, len(QUERIES) + 1)]


@each_query
def test_query_opens_with_a_chinese_an_english_title_and_what_it_shows(query):
    """The Browser lists a query by its first line, so that begins with the number."""
    lines = query.text.splitlines()
    assert re.fullmatch(r"// \d\d [\u4e00-\u9fff]+", lines[0])
    assert lines[0][3:5] == query.file[:2]
    assert re.fullmatch(r"// [A-Z][ -~]+", lines[1])
    assert re.fullmatch(r"// .*[\u4e00-\u9fff].*。", lines[2])
    assert re.fullmatch(r"// [A-Z][ -~]+\.", lines[3])
    assert not lines[4].startswith("//")
    assert body(query).strip()


def test_titles_are_unique():
    """Two queries of one name could not be told apart."""
    assert len({q.title for q in QUERIES}) == len({q.english for q in QUERIES}) == len(QUERIES)


@each_query
def test_query_is_bounded(query):
    """Whatever the size of the knowledge base, the answer has an end below 501 rows."""
    limits = [int(n) for n in re.findall(r"\bLIMIT (\d+)", body(query))]
    assert limits
    assert max(limits) <= 500


@each_query
def test_query_only_reads(query):
    """An analyst who runs a saved query changes nothing."""
    assert not re.search(rf"\b(?:{WRITES})\b", body(query))
    calls = re.findall(r"\bCALL ([\w.]+)\(", body(query))
    assert set(calls) <= {"db.index.fulltext.queryNodes"}


@each_query
def test_query_shows_documents_and_knowledge_only(query):
    """Labels and types are those of the graph; vectors and bookkeeping stay out of sight."""
    assert not re.search(rf"\b(?:{BOOKKEEPING})\b", body(query))
    assert set(re.findall(r"\(\w*:(\w+)", body(query))) <= LABELS | OURS
    assert set(re.findall(r"\[\w*:(\w+)", body(query))) <= TYPES


@each_query
def test_query_has_its_values_in_the_first_line(query):
    """Nothing has to be set beforehand, and there is one line to change."""
    assert "$" not in body(query)
    assert ":param" not in query.text
    says = query.text.splitlines()[2]
    assert ("改" in says.replace("无需改动", "")) == query.text.splitlines()[4].startswith("WITH ")


def test_every_label_and_type_has_a_rule_in_the_style_sheet():
    """The Browser gives a label without a colour one of its own, over that of other labels."""
    assert {f"node.{label}" for label in LABELS} <= rules().keys()
    assert all(rules()[f"node.{own}"] == rules()[f"node.{own[5:]}"] for own in OURS)
    assert {f"relationship.{type_}" for type_ in TYPES} <= rules().keys()
    assert all("color" in rules()[f"node.{label}"] for label in LABELS)
    assert all("caption" in rules()[f"node.{label}"] for label in LABELS)


def test_specific_labels_come_after_chunk():
    """Of the rules that fit a node the last wins."""
    order = list(rules())
    assert order.index("node.Chunk") < order.index("node.ParentChunk")
    assert order.index("node.Chunk") < order.index("node.ChildChunk")


def test_style_sheet_is_what_the_browser_can_read():
    """Its parser knows no comments, and no colon or semicolon in a value."""
    lines = style_sheet().splitlines()
    assert sum(len(properties) + 2 for properties in rules().values()) == len(lines)
    assert not [p for r in rules().values() for value in r.values() for p in ":;" if p in value]


def test_pack_is_in_the_wheel():
    """The build takes the package `cypher` whole, and the files lie below it."""
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    assert wheel["targets"]["wheel"]["packages"] == ["kgrag"]
    assert (ROOT / "kgrag" / "cypher" / "browser" / "kgrag.grass").is_file()


def test_guide_lists_every_query():
    """`docs/browser.md` has a row for each, with both titles."""
    guide = (ROOT / "docs" / "browser.md").read_text("utf-8")
    for query in QUERIES:
        number, title = query.title.split(" ", 1)
        assert f"| {number} | {title} | {query.english} |" in guide
