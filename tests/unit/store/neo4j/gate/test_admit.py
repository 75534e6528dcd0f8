"""What passes the gate and what does not; the lists of whole statements are in tests/fixtures."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.store.neo4j.gate.admit import admit
from kgrag.store.neo4j.gate.vocabulary import FIRST, FUNCTIONS, PROCEDURES, RESERVED
from tests.fixtures.cypher_statements import DOORS, ENDLESS, HONEST
from tests.fixtures.hostile_cypher import HOSTILE
from tests.fixtures.kit import each


def refused(text, match):
    with pytest.raises(ValueError, match=match):
        admit(text)


def sent(text):
    return admit(text).text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("optional match (n) return n;", "OPTIONAL MATCH ( `n` ) RETURN `n`"),
        ("// a\nUNWIND [1] AS x RETURN x /* b */ ; // c", "UNWIND [ 1 ] AS `x` RETURN `x`"),
        ("RETURN 'it\\'s' + \"\\n\\d\"", r"RETURN 'it\'s' + '\n\\d'"),
        ("MATCH (n:Set) RETURN n.type", "MATCH ( `n` : `Set` ) RETURN `n` . `type`"),
        ("RETURN {set: 1}.`a``b`", "RETURN { `set` : 1 } . `a``b`"),
        ("RETURN toUpper(`count`(*))", "RETURN toupper ( count ( * ) )"),
        ("CALL `db` . labels", "CALL db.labels ( )"),
    ],
)
def test_what_is_sent_is_what_was_understood(text, written):
    """Names in backticks, keywords in capitals, no comments."""
    assert sent(text) == written


def test_an_unnamed_column_keeps_what_it_was_called():
    """The server calls it as it was sent."""
    admitted = admit("MATCH (n) RETURN n.id,  count( n ) AS m, 1+ 2")
    assert admitted.columns == {"`n` . `id`": "n.id", "1 + 2": "1+ 2"}


@settings(max_examples=300)
@given(st.text(max_size=40))
def test_whatever_is_sent_holds_keywords_of_the_gate_only(text):
    """Outside of texts and backticks; whatever was written where a name or text may stand."""
    for whole in (f"RETURN 1 AS {text}", f"RETURN '{text}' AS x", f"RETURN `{text}`", text):
        try:
            written = sent(whole)
        except ValueError:
            continue
        bare = re.sub(r"'(?:[^'\\]|\\.)*'|`(?:[^`]|``)*`", " ", written)
        words = set(re.findall(r"[A-Za-z_]\w*", bare))
        assert not words & {"LOAD", "CSV", "CREATE", "SET", "DELETE", "MERGE", "USE", "SHOW"}


def test_a_keyword_is_a_name_in_backticks_only():
    """Bare it may follow a dot or a colon, where nothing but a name can stand."""
    for word in RESERVED:
        assert sent(f"MATCH (n:{word}) RETURN n.{word}, {{{word}: 1}} AS `{word}`")
        refused(f"RETURN 1 AS {word}", re.escape(f"a name is written `{word}`"))
        refused(f"UNWIND [1] AS {word} RETURN 1", re.escape(f"`{word}`"))


def test_hostile_statements_are_refused_for_the_right_reason():
    """All of them, and there are 300."""
    each(refused, [(text, re.escape(reason)) for text, reason in HOSTILE])
    each(refused, [(text, r"\w") for _, text in DOORS])
    assert len({text for text, _ in HOSTILE}) >= 300


def test_honest_statements_pass():
    """And what the gate leaves to the limits of time and memory."""
    for text in [*(text for text, _ in HONEST), *ENDLESS]:
        assert sent(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", ";", " // x", "SHOW INDEXES", "EXPLAIN RETURN 1", "PROFILE RETURN 1", "START x"),
        *("CYPHER runtime=slotted RETURN 1", "USE system RETURN 1", "'RETURN 1'", "`RETURN` 1"),
        *("{ RETURN 1 }", "(RETURN 1)", ":param x => 1", "ENABLE SERVER 'a'", "STOP DATABASE x"),
        *("ＲＥＴＵＲＮ 1", "RЕTURN 1"),
    ],
)
def test_only_reading_clauses_may_begin(text):
    """Prefixes and commands stand first; so does what only looks like a keyword."""
    refused(text, f"must begin with one of {FIRST[0]}")


@pytest.mark.parametrize("text", ["RETURN 1; RETURN 2", "RETURN 1;;", "RETURN 1; // ;\n RETURN 2"])
def test_more_than_one_statement_is_refused(text):
    """Only a last `;` may stand."""
    refused(text, "one statement at a time")


@pytest.mark.parametrize("name", sorted(PROCEDURES))
def test_an_allowed_procedure_may_be_called_however_it_is_written(name):
    """With spaces, comments and backticks."""
    spaced = " . ".join(f"`{part}`" for part in name.split("."))
    given = {"db.index.fulltext.queryNodes": "('i', 'x')"}
    given["db.index.vector.queryNodes"] = "('i', 5, [1.0])"
    assert sent(f"OPTIONAL CALL /* x */ {spaced}{given.get(name, '()')} YIELD *")


def test_a_procedure_whose_name_breaks_off_is_named_as_far_as_it_goes():
    refused("CALL db.()", "the procedure db is refused")


def test_an_allowed_function_is_sent_in_small_letters():
    """However it is written."""
    for name in FUNCTIONS - {"range", "exists"}:
        assert f"{name} ( " in sent(f"RETURN {name.upper()}(a.x)")


def test_subqueries_may_stand_outside_of_list_expressions():
    """Of every kind; within one they are hidden from the plan's operators."""
    for text in ("COUNT { (n)--() }", "EXISTS { MATCH (n)--() }", "COLLECT { RETURN 1 AS x }"):
        assert sent(f"MATCH (n) RETURN {text} AS x, CASE WHEN true THEN {text} END AS y")
        for around in (
            *("[x IN [1] | {}]", "[x IN [1] WHERE {} | x]", "any(x IN [1] WHERE {})"),
            *("reduce(s = 0, x IN [1] | {})", "[x IN {} | x]", "[(n)--(m) | {}]"),
            "[x IN [1] | CASE WHEN true THEN {} END]",
        ):
            refused(f"MATCH (n) RETURN {around.format(text)}", r"within a list expression")


def test_patterns_are_matched_outside_of_list_expressions():
    """They too are subqueries to the server."""
    assert sent("MATCH (n) WHERE NOT (n)-->(:A) OR exists((n)<-[:B]-()) RETURN [(n)--(m) | m.x]")
    refused("MATCH (n) RETURN [x IN [n] WHERE (x)-->(:A) | x]", "pattern within a list expression")
    refused("MATCH (n) RETURN any(x IN [1] WHERE exists((n)--()))", "pattern within a list")
    refused("MATCH (n) RETURN [x IN [n] | size([(x)--(m) | m])]", "pattern within a list")


@pytest.mark.parametrize(
    "inner",
    [
        "[y IN a | y]",
        "reduce(s = 0, y IN a | s + y)",
        "any(y IN a WHERE y = x)",
        "none(y IN a WHERE y)",
    ],
)
def test_a_list_expression_within_another_is_refused(inner):
    """Each multiplies the work of the other, and no timeout ends it."""
    for outer in ("[x IN a | {}]", "reduce(t = 0, x IN a | t + {})", "all(x IN {} WHERE x)"):
        refused(f"WITH [1] AS a RETURN {outer.format(inner)}", "list expression within another")


def test_a_range_takes_literals_and_sizes():
    """No timeout ends a loop over a large one."""
    assert sent("UNWIND range(2016, 2025, 2) AS y RETURN y, range(-5, 5), range(0, length(p) - 1)")
    assert sent("RETURN [i IN range(0, size(r.doc_ids) - 1) | r.doc_ids[i]]")
    for end in ("n", "10 * 10", "toInteger('9')", "0xFFFF", "10^9", "1e9", "size(a) * 9", "1.5"):
        refused(f"WITH 1 AS n RETURN range(0, {end})", r"range\(...\)|expected here|number")
    refused("RETURN range(1, 1000000000)", "1000000000: give it 0 to 100000")


def test_lists_of_unknown_length_are_guarded_where_they_run():
    """The server itself stops there with an error."""
    written = sent("MATCH (n) WITH collect(n) AS a RETURN [x IN a | x.name] AS y")
    assert "IN CASE WHEN size ( `a` ) > 1000 THEN [ date ( 'kgrag:" in written
    assert "CASE WHEN size ( `a` . `l` ) > 1000" in sent("MATCH (a) RETURN [y IN a.l | y]")
    assert "CASE" not in sent("MATCH p = (a)--(b) RETURN [x IN nodes(p) | x.name]")
    assert "CASE" in sent("MATCH p = (a)-[*]-(b) RETURN [x IN nodes(p) | x.name]")


@pytest.mark.parametrize(
    "made",
    [
        *("collect(n.x)", "collect(DISTINCT n)", "[(n)--(m) | m.x]", "COLLECT { RETURN 1 AS x }"),
        *("collect(n)[1..]", "collect(n.x) + [1]"),
    ],
)
def test_a_list_of_rows_is_guarded_where_it_is_made(made):
    """Once: what is put together of it is as long as that, and what is measured is not sent."""
    assert sent(f"MATCH (n) RETURN {made} AS a").count("CASE WHEN size (") == 1
    for measured in ("size({})", "head({})", "{}[0]", "isEmpty({})"):
        bare = made.removesuffix(" + [1]").removesuffix("[1..]")
        assert "CASE" not in sent(f"MATCH (n) RETURN {measured.format(bare)} AS a")


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (c) WITH collect(c.text) AS a WITH collect(a) AS b RETURN b",
        "MATCH (c) WITH collect(c.text) AS a " + "WITH [a, a] AS a " * 4 + "RETURN a",
        "MATCH (c) WITH collect(c.text) AS a " + "WITH {x: a, y: a} AS a " * 4 + "RETURN a",
        "MATCH (c) RETURN COLLECT { MATCH (d) RETURN collect(d.text) AS x } AS x",
        "MATCH (c) RETURN collect([(c)--(d) | d.text]) AS x",
        "MATCH p = (c)-[:NEXT_CHUNK*]->(d) RETURN collect(p)",
        "MATCH (c)-[r:NEXT_CHUNK*]->(d) RETURN collect(r)",
        "MATCH p = (c)((x)-[:NEXT_CHUNK]->(y))+(d) RETURN collect(x)",
        "MATCH (c) RETURN collect(split(c.text, ''))",
        "MATCH (c) RETURN reduce(s = '', x IN collect(c.text) "
        "| s + x + x + x + x + x + x + x) AS s",
    ],
)
def test_lists_of_lists_of_rows_are_refused(text):
    """Of 35,000 chunks they took 4.5 GB and more than ten minutes; a row for each list is sent."""
    refused(text, "a row for each list")


def test_reduce_goes_through_fewer_items():
    """Each step copies what there is of a text, and looks at no clock."""
    summed = sent("MATCH (n) WITH collect(n.x) AS a RETURN reduce(s = 0, x IN a | s + x) AS s")
    assert "IN CASE WHEN size ( `a` ) > 100 THEN" in summed
    direct = sent("MATCH (n) RETURN reduce(s = 0, x IN collect(n.x) | s + x) AS s")
    assert "> 100 THEN" in direct


def test_few_lists_of_a_known_length_may_be_collected():
    """A path of a few steps, what is read of it, a map of some properties."""
    assert sent("MATCH p = (a)-[:R*1..3]->(b) RETURN collect(p), collect([n IN nodes(p) | n.name])")
    assert sent("MATCH (n) RETURN collect({a: n.a, b: n.b, c: n.c, d: n.d})")


@pytest.mark.parametrize(
    "text",
    [
        "WITH 'a' AS s " + "WITH s + s AS s " * 40 + "RETURN s",
        "WITH [1] AS s " + "WITH [s, s] AS s " * 40 + "RETURN s",
        "WITH 'a' AS s " + "WITH {a: s, b: s} AS s " * 40 + "RETURN s",
        "WITH 'a' AS s " + "WITH s || s AS t WITH t || t AS s " * 20 + "RETURN s",
        "WITH 'a' AS s " + "WITH replace(s, 'a', 'aaaaaaaaaa') AS s " * 9 + "RETURN s",
        "WITH 'a' AS s " + "WITH reduce(t = '', x IN range(1, 9) | t + s) AS s " * 3 + "RETURN s",
        "WITH 'a' AS s "
        + "WITH COLLECT { RETURN s + s + s AS x } AS l WITH l[0] AS s " * 10
        + "RETURN s",
        "UNWIND [1] AS a " + "WITH collect(a) AS a " * 3 + "RETURN a",
        "UNWIND [1] AS i WITH collect(range(1, 100000)) AS a RETURN a",
        "RETURN reduce(s = 'a', i IN range(1, 40) | s + s)",
        "RETURN reduce(s = [], i IN range(1, 2000) | [s])",
        "RETURN reduce(s = [], i IN range(1, 2000) | s + [s])",
        "RETURN reduce(s = 'a', i IN range(1, 40) | replace(s, 'a', 'aa'))",
        "WITH 'a' AS s RETURN replace(s, 'a', s)",
        "MATCH (n) WITH collect(n) AS a RETURN [x IN range(1, 9) | a]",
        "MATCH (n) WITH collect(n) AS a RETURN [x IN range(1, 9) | a[1..]]",
        "MATCH (n) RETURN [x IN range(1, 2000) | split(n.text, '')]",
        "RETURN [x IN range(1, 2000) | range(1, 100000)]",
    ],
)
def test_values_that_grow_without_end_are_refused(text):
    """Texts joined with themselves, lists of lists, lists within reduce."""
    refused(text, "too large|with itself|own result|one text|taken|for each item")


def test_not_stands_before_a_condition():
    """After a sign or a comparison the server takes it for the name of a function."""
    assert sent("RETURN NOT NOT true AND NOT (false), NOT 1 = 2")
    for text in ("RETURN - NOT (true)", "RETURN 1 + NOT (true)", "RETURN 1 = NOT (true)"):
        refused(text, "NOT is refused|function NOT")


def test_reduce_may_add_and_compare():
    """The honest uses of it."""
    for body in ("s + x", "CASE WHEN x > s THEN x ELSE s END", "s + ', ' + x.name", "s * x"):
        assert sent(f"MATCH (n) WITH collect(n) AS a RETURN reduce(s = 0, x IN a | {body})")


def test_what_indexes_are_asked_for_is_bounded():
    """The server keeps as many as it is asked for in memory."""
    vector = "CALL db.index.vector.queryNodes('i', {}, [1.0]) YIELD node RETURN node"
    assert sent(vector.format(1000))
    for k in ("1000000000", "0", "1001"):
        refused(vector.format(k), "give it 1 to 1000")
    for k in ("n.k", "-1", "10 * 10", "toInteger('9')", "1.5"):
        refused(vector.format(k), "must be a whole number|expected")
    words = "CALL db.index.fulltext.queryNodes({}) YIELD node RETURN node"
    assert sent(words.format("'i', 'x', {limit: 10, skip: 0, analyzer: 'cjk'}"))
    refused(words.format("'i', 'x', {limit: 1000000}"), "limit is 1000000")
    refused(words.format("'i', 'x', {other: 1}"), "option other is refused")
    refused(words.format("n.index, 'x'"), "index's name in quotes")
    refused("MATCH (n) RETURN n LIMIT 100000000", "LIMIT is 100000000: give it 0 to 1000000")
    refused("MATCH (n) RETURN n LIMIT 10 * 10", "expected|refused")


@pytest.mark.parametrize(
    "pattern",
    ["'.*节能.*'", "'(?i).*(减排|节能).*'", r"'\\d{4}年.*'", "'a'", r"'^[0-9]+(\\.[0-9])?%$'"],
)
def test_a_plain_regular_expression_is_allowed(pattern):
    """A few repeats, no repeated group, over texts of bounded length."""
    written = sent(f"MATCH (n) WHERE n.a = 1 AND n.text =~ {pattern} RETURN n")
    assert "AND CASE WHEN size ( toStringOrNull ( `n` . `text` ) ) > 2100" in written


@pytest.mark.parametrize(
    "pattern",
    [
        *("'(a+)+$'", "'(a|aa)*b'", "'(.*a){25}'", "'.*.*.*.*'", "'.{0,9}.{0,9}.{0,9}.{0,9}'"),
        *(f"'{'a?' * 32}'", "'(?x)(a+) +'", "n.name", "('a')", "'(a' + '+)+'", "'a' || n.x", ""),
    ],
)
def test_a_regular_expression_that_may_take_for_ever_is_refused(pattern):
    """Repeated groups, many repeats, and those that are not written out."""
    refused(f"MATCH (n) WHERE n.text =~ {pattern} RETURN n", "regular expression|CONTAINS")


def test_regular_expressions_of_a_statement_are_counted_together():
    """The server looks at the clock between rows, not between the conditions of one."""
    often = " OR ".join(["n.text =~ '.*a.*'"] * 30)
    assert sent(f"MATCH (n) WHERE {often} RETURN n")
    assert sent("MATCH (n) WHERE n.a =~ '.*a.*b.*' OR n.b =~ '.*a.*b.*' RETURN n")
    slow = " OR ".join(["n.text =~ '.*a.*b.*'"] * 20)
    written = sent("MATCH (n) WHERE n.text =~ '.*a.*b.*' RETURN n")
    assert "size ( toStringOrNull ( `n` . `text` ) ) > 1100 THEN" in written
    refused(f"MATCH (n) WHERE {slow} RETURN n", "all =~ together")


def test_a_regular_expression_within_a_list_expression_is_refused():
    """The server does not look at the clock there at all."""
    refused("MATCH (n) RETURN [x IN n.l WHERE x =~ 'a' | x]", "within a list expression")


def test_size_is_limited():
    """Length, nesting and whatever makes plans grow without end."""
    refused("RETURN 1" + " " * 4000, "4008 characters: at most 4000")
    refused("RETURN [" + "1," * 1900 + "1]", "words and signs: at most 1200")
    refused("RETURN [" + "1," * 599 + "1]", "it has 1202 words and signs: at most 1200")
    assert sent("RETURN [" + "1," * 598 + "1]")
    refused("RETURN " + "(" * 13 + "1" + ")" * 13, "nested more than 12 deep")
    refused("RETURN " + "NOT " * 51 + "true", "NOT more than 50 times")
    refused("RETURN " + " xor ".join(["true"] * 10), "XOR more than 8 times")
    refused("RETURN " + "CASE WHEN 1 THEN " * 41, "CASE more than 40 times")
    refused("RETURN 1" + " + 1" * 200, "operators more than 120 times")
    refused("RETURN a" + "[0..]" * 9, "more than 8 reads follow each other")
    refused("MATCH " + "-[:T]-".join(["()"] * 20) + " RETURN 1", "RELATIONSHIP more than 16 times")
    refused("MATCH " + ",".join(["()"] * 30) + " RETURN 1", "NODE more than 24 times")
    deep = "COUNT { MATCH (n) WHERE " * 5 + "true" + " } > 0" * 5
    refused(f"RETURN {deep}", "subqueries are nested more than 4 deep")
    refused("MATCH (n:A" + "&(A|B)" * 9 + ") RETURN 1", "& and ! of labels more than 8 times")
    refused("MATCH (n:" + "!" * 9 + "A) RETURN 1", "& and ! of labels more than 8 times")
    often = "of labels and labels in conditions more than 12 times"
    refused("MATCH (n:A" + "|A" * 13 + ") RETURN 1", often)
    refused("MATCH (n) WHERE " + " AND ".join(["(n:A OR n:B)"] * 7) + " RETURN 1", often)
    assert sent("MATCH ()-[r:A" + "|A" * 20 + "]->() RETURN r")
    refused("MATCH (a)-[*1000000]->(b) RETURN 1", "number of steps is 1000000")


def test_a_list_that_is_unwound_may_be_collected_again():
    """Its items are one list less deep."""
    assert sent("UNWIND [1] AS a " + "WITH collect(a) AS b UNWIND b AS a " * 5 + "RETURN a")


def test_the_head_of_a_list_may_be_collected():
    """It is no longer than what was collected."""
    assert sent("MATCH (n) WITH collect(n) AS a RETURN collect(head(a)), collect(a[0])")
    refused("MATCH (n) WITH collect(n) AS a RETURN collect(tail(a))", "a row for each list")


@pytest.mark.parametrize("word", ["PATHS", "PATH", "PATHS GROUPS", "GROUP", ""])
def test_shortest_paths_in_every_form(word):
    assert sent(f"MATCH p = SHORTEST 2 {word} (a)-[:T]-(b) RETURN p")


def test_what_a_subquery_gives_is_as_large_as_its_largest_part():
    """Whichever part of a UNION it is in."""
    assert sent("MATCH (n) WHERE EXISTS { MATCH (n)--() UNION MATCH (n)-->() } RETURN n")
    plain, list_ = "RETURN 1 AS x", "MATCH (n) RETURN collect(n) AS x"
    assert sent(f"RETURN COLLECT {{ {plain} UNION {plain} }} AS a")
    for parts in (f"{plain} UNION {list_}", f"{list_} UNION {plain}"):
        refused(f"RETURN COLLECT {{ {parts} }} AS a", "a row for each list")


def test_subqueries_are_counted_and_their_depth_ends_with_them():
    """One after the other may be more than may stand within each other."""
    count = "COUNT { MATCH (n) WHERE "
    many = ", ".join(f"{count}true }} AS x{i}" for i in range(12))
    assert sent(f"RETURN {many}")
    refused(f"RETURN {many}, {count}true }} AS y", "more than 12 times")
    refused(f"RETURN {count}true }}, {count * 5}true{' } > 0' * 5}", "more than 4 deep")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("RETURN CASE end WHEN 1 THEN end END", "CASE `end` WHEN 1 THEN `end` END"),
        ("RETURN trim(BOTH 'a' FROM n.x)", "trim ( BOTH 'a' FROM `n` . `x` )"),
        ("RETURN (n.a - n.b) - 1", "( `n` . `a` - `n` . `b` ) - 1"),
        ("MATCH (n) RETURN n {.id, x, y: 1, .*}", "`n` { . `id` , `x` , `y` : 1 , . * }"),
        ("MATCH p = ALL SHORTEST (a)-[:R]-+(b) RETURN p", "`p` = ALL SHORTEST ( `a` )"),
        # what is no Cypher is for the server to refuse
        ("MATCH (d) CALL (d d) { RETURN 1 AS x } RETURN x", "CALL ( `d` `d` )"),
        ("RETURN CASE WHEN true ELSE 1 END", "CASE WHEN TRUE ELSE 1 END"),
        ("RETURN any(x IN [1])", "ANY ( `x` IN [ 1 ] )"),
        ("RETURN {1, 2}, (1, 2)", "{ 1 , 2 } , ( 1 , 2 )"),
    ],
)
def test_a_statement_is_read_loosely(text, written):
    """As far as its words and its cost need it."""
    assert written in sent(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("RETURN CASE WHEN true THEN 1", "END is expected here, but the statement ends"),
        ("RETURN [(a {x: [y IN [1] | y]})--(b) | b]", "list expression within another"),
        ("RETURN [x IN [1] WHERE (x)--() | x]", "pattern within a list expression"),
        ("RETURN (n) - [x IN range(1, 9) | x]", "] is expected here"),
        ("RETURN toUpper('a' 'b')", ") is expected here"),
        ("RETURN NOT ( )", "a value is expected here"),
        ("RETURN trim(NULL (n))", ") is expected here"),
        ("RETURN f(1)", "the function f is refused"),
        ("CALL db.labels('x')", ") is expected here"),
        ("RETURN 1 OPTIONAL LOAD CSV FROM 'x' AS l RETURN l", "LOAD is refused"),
        ("RETURN 1 UNION LOAD CSV FROM 'x' AS l RETURN l", "LOAD is refused"),
        ("RETURN reduce(s = 'a', i IN [1] | CASE WHEN true THEN s + s END)", "with itself"),
        ("RETURN reduce(s = 'a', i IN [1] | {a: s})", "own result"),
        ("MATCH (n) WITH collect(n) AS a RETURN any(x IN [1] WHERE tail(a) = x)", "taken whole"),
    ],
)
def test_what_costs_or_does_too_much_is_refused(text, reason):
    """However loosely it is read."""
    refused(text, re.escape(reason))


def test_variables_of_a_subquery_are_names():
    """Or a star."""
    assert sent("MATCH (a)--(b) CALL (a, b) { RETURN 1 AS x } RETURN x")
    assert sent("MATCH (a) CALL (*) { RETURN 1 AS x } RETURN x")
    refused("MATCH (a)--(b) CALL (a + b) { RETURN 1 AS x } RETURN x", "expected here")
    refused("CALL (x) LOAD CSV FROM 'x' AS l RETURN l", "{ is expected here")


@pytest.mark.parametrize(
    ("hop", "most"),
    [("--", 4), ("-->", 4), ("-[r]-", 4), ("-[:%]->", 4), ("-[*1..2]-", 4), ("-[:CITES]-", 16)],
)
def test_relationships_without_a_type_are_few(hop, most):
    """Each multiplies by all that hangs at a node, wherever in the statement it stands."""
    hops = [hop.replace("r", f"r{i}") for i in range(most + 1)]
    nodes = [f"(n{i})" for i in range(most + 2)]
    path = "".join(f"{node}{hop}" for node, hop in zip(nodes, hops, strict=False))
    admit(f"MATCH {path.removesuffix(hops[-1])} RETURN count(*)")
    told = f"more than {most} times: ask for less"
    refused(f"MATCH {path}{nodes[-1]} RETURN count(*)", told)
    parts = " ".join(f"MATCH (n0){hop}()" for hop in hops[: most + 1])
    refused(f"{parts} RETURN count(*)", told if most < 16 else "more than")
