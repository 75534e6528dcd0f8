"""Forms as statements: what a caller writes is a parameter; both languages know all of a form."""

import random
import re
from contextlib import closing
from itertools import product
from typing import Any, get_args

import pytest

from kgrag.errors import GarbledTextError, OutOfRangeError
from kgrag.store.graph_query import FIELDS, RELATIONS, GraphQuery, Op, Step
from kgrag.store.graph_statement import compiled
from kgrag.store.neo4j import statements as cypher
from kgrag.store.sqlite import query as sql
from kgrag.store.sqlite.statements import statements as sql_statements
from kgrag.store.sqlite.store import SQLiteStore
from kgrag.tools.arguments import checked
from kgrag.tools.graph_query import Graphed
from tests.fixtures import extent
from tests.fixtures.forms import HOSTILE, form
from tests.fixtures.typed_documents import cited_document, typed_document

DIALECTS = {"cypher": cypher.DIALECT, "sql": sql.DIALECT}
FORMS = 100_000 if extent.FULL else 3_000
RUN = 50  # one in so many is run, too


def tried(made):
    """Return the form of what was given, or None where it is refused in words."""
    try:
        return checked(Graphed, made)
    except (OutOfRangeError, GarbledTextError) as exc:
        return in_words(exc)


def in_words(exc):
    """Fail where an error says nothing, or all that it was given."""
    if not 0 < len(str(exc)) < 3000:
        pytest.fail(f"{len(str(exc))} characters: {exc!s:.200}")


def test_what_a_caller_writes_is_a_parameter(store_of_forms):
    """The text of a statement is made of our words; all of them are those of a harmless form."""
    dice, counted = random.Random(48), {"refused": 0, "compiled": 0, "run": 0}
    words = known_words()
    for n in range(FORMS):
        query = tried(form(dice))
        made = query and statements_of(query)
        if not made:
            counted["refused"] += 1
            continue
        counted["compiled"] += 1
        for language, one in made.items():
            assert set(re.findall(r"[^\W\d]\w*", one.text)) <= words[language]
            assert {f"${name}" for name in one.parameters} | {"$most"} == set(
                re.findall(r"\$\w+", one.text)
            )
        if n % RUN == 0:
            counted["run"] += 1
            store_of_forms.graph_rows(query, most=9)
    assert min(counted.values()) > FORMS // 200, counted


def statements_of(query):
    """Return the statement in each language; empty where the form is refused in words."""
    try:
        return {
            language: compiled(query, one, most=9, doc_ids=HOSTILE[:9])
            for language, one in DIALECTS.items()
        }
    except (OutOfRangeError, GarbledTextError) as exc:
        return in_words(exc) or {}


def known_words():
    """Return the words that statements may have: of fragments, and names of the closed tables."""
    names = {f"{kind}{n}" for kind in FIELDS for n in ("", 2, 3, 4, 5)}
    names |= {f"{kind}{n}" for kind in RELATIONS for n in ("", 2, 3, 4)}
    names |= {f"{name}_via{n}" for name in names for n in (1, 2, 3)}
    fields = {field for some in FIELDS.values() for field in some}
    names |= {f"{name}_{field}" for name, field in product(names, fields)} | fields
    names |= {f"result_{one}" for one in ("count", "sum", "min", "max", "avg")}
    names |= {*names, "counted", "measured", "AND", "OR", "AS", "NULL", "IS", "DESC", "id", "most"}
    names |= {f"p{n}" for n in range(50)} | {
        "within",
        "UNION",
        "ALL",
        "count",
        "sum",
        "min",
        "max",
        "avg",
    }
    found = {}
    for language, fragments in (("cypher", cypher._statements()), ("sql", sql_statements())):
        parts = [text for name, text in fragments.items() if "form_" in name]
        called = [w for of in DIALECTS[language].names.values() for w in of.values()]
        found[language] = names | set(re.findall(r"[^\W\d]\w*", " ".join((*parts, *called))))
    return found


@pytest.fixture
def store_of_forms(tmp_path, make):
    with closing(SQLiteStore.open(tmp_path / "kb")) as store:
        for bundle in (typed_document(make), cited_document(make)):
            store.upsert_document(bundle, source=f"/{bundle.document.doc_id}.txt")
        yield store


def test_every_field_relation_and_comparison_is_known_to_both_languages(store_of_forms):
    """And every fragment is of use."""
    used: dict[str, set[str]] = {language: set() for language in DIALECTS}

    def watched(language):
        def fragment(name):
            text = DIALECTS[language].fragment(name)
            used[language].add(name)
            return text

        return DIALECTS[language]._replace(fragment=fragment)

    forms: list[dict[str, Any]] = [
        {"start": kind} for kind in ("document", "target", "duty", "organ", "entity")
    ]
    for relation, (start, end) in RELATIONS.items():
        forms += [
            {"start": start, "step": [relation], "where": [f"{relation}.{f} stated"]}
            for f in FIELDS.get(relation, ("",))
            if f
        ] or [{"start": start, "step": [relation]}]
        forms.append({"start": end, "step": [f"in {relation}"]})
    for kind in forms[:5]:
        for field, op in product(FIELDS[kind["start"]], get_args(Op)):
            forms.append({**kind, "where": [f"{field} {op} 1"], "returns": [field], "order": field})
    forms += [
        {"start": "target", "aggregate": one, "of": "value", "by": ["year"]}
        for one in ("count", "min", "max", "sum", "avg")
    ]
    forms.append({"start": "target", "aggregate": "count"})
    n_run, refused = 0, []
    for made in forms:
        try:
            query = checked(Graphed, made)
            store_of_forms.graph_rows(query, most=9)
        except OutOfRangeError as exc:
            refused.append(str(exc))
            continue
        n_run += 1
        for language, doc_ids in product(DIALECTS, (None, ["d"])):
            compiled(query, watched(language), most=9, doc_ids=doc_ids)
    assert n_run > 400
    assert all("is a number" in told for told in refused)
    for language, fragments in (("cypher", cypher._statements()), ("sql", sql_statements())):
        known = {name for name in fragments if re.match(r"form_|table_form_", name)}
        assert known == used[language], known ^ used[language]


def test_fragments_match_nodes_of_ours_only():
    """Their label is one that only we write, or a place for one; places are the known ones."""
    parts = {n: text for n, text in cypher._statements().items() if n.startswith("form_")}
    for text in parts.values():
        assert re.findall(r"\((?:\w+|<\w+>)?:(?!Kgrag|<type>)\w+", text) == []
        assert not re.search(r"\bapoc\b|\bLOAD\b|\bCREATE\b|\bSET\b|\bMERGE\b|\bDELETE\b", text)


def test_a_bare_field_is_that_of_the_first_element_which_has_it():
    query = GraphQuery(start="document", step=(Step(relation="states"),), returns=("value", "year"))
    found = compiled(query, cypher.DIALECT, most=9).columns
    assert [*map(str, found)] == [
        "target.comparator", "target.value", "target.unit", "document.year",
    ]  # fmt: skip
