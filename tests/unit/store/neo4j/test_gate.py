import pytest

from kgrag.store.neo4j.gate import PROCEDURES, check_words


def refused(text, match):
    with pytest.raises(ValueError, match=match):
        check_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (n) RETURN n",
        "optional match (n) return n;",
        "// what\nUNWIND [1] AS x RETURN x /* end */ ; // bye",
        "MATCH (n:Set) WHERE n.delete = 1 RETURN n.set AS create, {merge: 1, drop: 2} AS m",
        "MATCH (`create`:`Delete` {`set`: 1})-[:MERGE]->() RETURN `create`.`remove`",
        "RETURN '删除 DELETE' + \"; DROP\" + '$x' AS t",
        "MATCH (c) WITH c.start AS start, c.end AS end RETURN start, end",
    ],
)
def test_names_texts_and_comments_may_hold_keywords(text):
    """Only a keyword where a clause can begin is one."""
    check_words(text)


@pytest.mark.parametrize(
    "word",
    [
        *("CREATE", "insert", "Merge", "SET", "DELETE", "DETACH", "NODETACH", "REMOVE", "FOREACH"),
        *("DROP", "ALTER", "RENAME", "GRANT", "DENY", "REVOKE", "LOAD", "SHOW", "TERMINATE"),
        *("USE", "USING", "TRANSACTIONS", "CYPHER", "EXPLAIN", "PROFILE"),
    ],
)
def test_a_word_that_does_more_than_read_is_refused_anywhere(word):
    """After a clause, within a subquery, between comments, as a label of several."""
    refused(f"MATCH (n) {word} (n)", word)
    refused(f"CALL {{ MATCH (n)/**/{word}/**/n }} RETURN 1", word)
    refused(f"RETURN COLLECT {{ {word} (n) RETURN n }}", word)
    refused(f"MATCH (n:A|{word}) RETURN n", f"`{word}`")


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
    refused(text, "must begin with one of MATCH")


@pytest.mark.parametrize("text", ["RETURN 1; RETURN 2", "RETURN 1;;", "RETURN 1; // ;\n RETURN 2"])
def test_more_than_one_statement_is_refused(text):
    """Only a last `;` may stand."""
    refused(text, "one statement at a time")


def test_a_name_that_is_a_semicolon_is_not_taken_for_the_end():
    """What is in backticks is checked like every name."""
    check_words("RETURN 1 AS `;`")


def test_parameters_and_dynamic_names_are_refused():
    """None are given, and what is not written cannot be read."""
    refused("RETURN $x", "parameter")
    refused("RETURN $`x`", "parameter")
    refused("MATCH (n:$('A'+'B')) RETURN n", r"\$\(\.\.\.\)")


@pytest.mark.parametrize("name", sorted(PROCEDURES))
def test_an_allowed_procedure_may_be_called_however_it_is_written(name):
    """With spaces, comments, backticks and without brackets."""
    spaced = " . ".join(f"`{part}`" for part in name.split("."))
    check_words(f"CALL {name}")
    check_words(f"OPTIONAL CALL /* x */ {spaced}() YIELD *")


@pytest.mark.parametrize(
    "call",
    [
        *("dbms.listConfig()", "db.createLabel('X')", "`db`.`createLabel`('X')", "db . ping"),
        *("DB.LABELS()", "`db.labels`()", "db.labels.more()", "labels()", "apoc.load.json('u')"),
        *("", "'db.labels'()", "db.`lab els`()", "/**/tx.setMetaData({})"),
    ],
)
def test_other_procedures_are_refused(call):
    """Names are compared as the server compares them."""
    refused(f"CALL {call}", "procedure .* is refused")
    refused(f"RETURN [x IN [1] | COLLECT {{ CALL {call} }}]", "procedure .* is refused")


@pytest.mark.parametrize("text", ["CALL { RETURN 1 AS x } RETURN x", "CALL (*) { RETURN 1 AS x }"])
def test_subqueries_may_be_called(text):
    """They are read by the same rules."""
    check_words(text)


@pytest.mark.parametrize(
    "call",
    [
        *("apoc.text.join([], '')", "genai.vector.encode('a', 'b')", "a.b(1)", "file()"),
        *("`linenumber`()", "graph.names()", "date . `other` ()", "`apoc.x`.y()"),
    ],
)
def test_functions_of_others_are_refused(call):
    """Those with a dot that are not known, and those of loaded files."""
    refused(f"RETURN {call}", "function .* is refused")


def test_own_functions_are_allowed():
    """Without a dot, or with one of the known names, in any case."""
    check_words("RETURN Date.Truncate('month', date()), duration.between(a.b, c.d), toUpper(n.x)")
    check_words("MATCH (n) WHERE n.name IN (['a']) AND (n.x = 1) RETURN n")


def test_a_range_serves_lists():
    """Its ends are small numbers, names and sizes: no timeout ends a loop over a large one."""
    check_words("RETURN [i IN range(0, size(r.doc_ids) - 1) | r.doc_ids[i]], range(1, 100000)")
    refused("RETURN any(x IN range(1, 1000000000) WHERE x < 0)", "1000000000")
    refused("RETURN range(0, 10 * 10)", r"'\*'")
    refused("RETURN `range`(0, 0xFFFFFFFF)", "0xFFFFFFFF")
    refused("RETURN range(0, toInteger('9'))", "toInteger")
    refused("RETURN range(0, size(toString(1)) - 1, 1e9)", "toString")
    refused("RETURN range (0 /**/, 10^9)", r"\^")


@pytest.mark.parametrize(
    "pattern",
    ["'.*节能.*'", "'(?i).*(减排|节能).*'", r"'\\d{4}年.*'", "'a'", r"'^[0-9]+(\\.[0-9])?%$'"],
)
def test_a_plain_regular_expression_is_allowed(pattern):
    """A few repeats, no repeated group."""
    check_words(f"MATCH (n) WHERE n.text =~ {pattern} RETURN [x IN [1] WHERE 'a' =~ {pattern} | x]")


@pytest.mark.parametrize(
    "pattern",
    [
        *("'(a+)+$'", "'(a|aa)*b'", "'(.*a){25}'", "'.*.*.*.*'", "'.{0,9}.{0,9}.{0,9}.{0,9}'"),
        *(f"'{'a?' * 11}'", "'(?x)(a+) +'", "n.name", "('a')", "'(a' + '+)+'", "'a' || n.x", ""),
    ],
)
def test_a_regular_expression_that_may_take_for_ever_is_refused(pattern):
    """Repeated groups, many repeats, and those that are not written out."""
    refused(f"MATCH (n) WHERE n.text =~ {pattern} RETURN n", "regular expression|CONTAINS")


def test_size_is_limited():
    """Length, nesting and words that make plans grow without end."""
    refused("RETURN 1" + " " * 4000, "4008 characters: at most 4000")
    refused("RETURN " + "(" * 13 + "1" + ")" * 13, "nested more than 12 deep")
    check_words("RETURN " + "([{" * 4)
    refused("RETURN " + "NOT " * 51 + "true", "NOT 51 times")
    refused("RETURN " + " xor ".join(["true"] * 10), "XOR 9 times")
    refused("RETURN " + "CASE WHEN 1 THEN " * 41, "CASE 41 times")
