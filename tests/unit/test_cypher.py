"""Cypher files, and those of the pack for Neo4j Browser."""

import ast
import re
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from kgrag.cli.browser import saved_queries, style_sheet
from kgrag.store.neo4j.embeddings import _NODES
from kgrag.store.neo4j.statements import statement, statements_of
from kgrag.store.neo4j.verify import _CHECKS
from kgrag.vectors.vector import KINDS
from tests.fixtures.kit import each

ROOT = Path(__file__).parents[2]
FILES = sorted(p.stem for p in (ROOT / "cypher").glob("*.cypher"))
# Of what is asked by a form there are fragments: tests/unit/store/test_graph_statement.py.
NAMES = {name: file for file in FILES if file != "form" for name in statements_of(file)}
NUMBERS = {"size": 8, "dimension": 8}

# What counts nodes of other programs, too.
PUBLIC = {"count_public", "count_foreign"}
# Methods of ours that take the names of statements first.
BY_NAME = {"read", "stream", "run", "run_rows", "define", "statement"}
# Where a name comes from a table, as (module, function); what names there are is checked below.
FROM_TABLES = {
    ("embeddings", "embed_nodes"),  # _NODES
    ("schema", "_make"), ("schema", "indexes_of"),  # statements_of("schema")
    ("verify", "verify"), ("verify", "_checked"),  # _CHECKS
}  # fmt: skip
# By the file of its statements, the modules of a role; what writes looks at what it changes, too.
ROLES = {
    "documents": {"documents"},
    "search": {"search"},
    "graph": {"graph", "document_knowledge"},
    "staged": {"staged"},
    "whole": {"store"},
}
WRITERS = {"write", "graph_write"}
# Calls that send text to the server, and where they may stand: users' text has a gate of its own.
SENDERS = {"execute_query", "execute_read", "execute_write", "begin_transaction", "session"}
SENDING = {"connection": SENDERS, "query": {"session"}}


@cache
def code():
    """Return the syntax of each module that may know the server, by name."""
    folders = ("kgrag/store/neo4j", "kgrag/integrations")
    paths = [p for folder in folders for p in sorted((ROOT / folder).rglob("*.py"))]
    paths = [p for p in paths if p.stem != "__init__"]
    assert len({p.stem for p in paths}) == len(paths)
    return {p.stem: ast.parse(p.read_text("utf-8"), str(p)) for p in paths}


def called(call):
    """Return the name of what is called."""
    return getattr(call.func, "attr", None) or getattr(call.func, "id", None)


def calls(tree, names):
    """Yield (function around it, call) of each call by one of the names."""
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and called(node) in names:
                yield function, node


def expanded(node):
    """Return the names that a literal stands for, with every kind; None if it is no literal."""
    if isinstance(node, ast.Constant):
        return {node.value}
    if isinstance(node, ast.JoinedStr):
        fields = [part for part in node.values if isinstance(part, ast.FormattedValue)]
        assert [ast.unparse(f.value) for f in fields] == ["kind"], ast.unparse(node)
        return {
            "".join(str(p.value) if isinstance(p, ast.Constant) else kind for p in node.values)
            for kind in KINDS
        }
    return None


def literals(node):
    """Return the names in a literal, a list or a choice of them; None for anything else."""
    if isinstance(node, ast.Tuple | ast.List):
        parts = [literals(item) for item in node.elts]
    elif isinstance(node, ast.IfExp):
        parts = [literals(node.body), literals(node.orelse)]
    else:
        return expanded(node)
    return None if None in parts else set().union(*parts)


def held_by(function, name):
    """Return the names that a variable of a function stands for; None if they are not literals."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.For):
            targets, value = [node.target], node.iter
        else:
            continue
        if any(getattr(target, "id", None) == name for target in targets):
            return literals(value)
    return None


def listed(problems):
    """Fail with one problem a line."""
    found = sorted(problems)
    assert not found, "\n".join(found)


def named():
    """Yield (module, function, names, text) of each use; names is None for an unknown variable."""
    for module, tree in code().items():
        for function, call in calls(tree, BY_NAME):
            for argument in call.args if called(call) == "define" else call.args[:1]:
                node = argument.value if isinstance(argument, ast.Starred) else argument
                names = expanded(node)
                if names is None and isinstance(node, ast.Name):
                    names = held_by(function, node.id)
                if names or module != "query":  # which has users' texts
                    yield module, function.name, names, ast.unparse(call)


def test_code_names_statements_that_there_are():
    """A misspelt name would show only when the statement is needed."""
    problems = []
    for module, function, names, text in named():
        if names is None:
            known = module == "connection" or (module, function) in FROM_TABLES
            problems += [] if known else [f"{module}.{function}: which statement is {text}?"]
        else:
            problems += [f"{module}.{function}: no statement {n}" for n in names - NAMES.keys()]
    problems += [f"verify: no statement {name}" for _, name, _ in _CHECKS if name not in NAMES]
    problems += [f"embeddings: no statement {n}" for n in _NODES.values() if n not in NAMES]
    listed(problems)


def tables(module):
    """Yield the texts in the tables of a module."""
    for table in code()[module].body:
        if isinstance(table, ast.Assign | ast.AnnAssign):
            for node in ast.walk(table):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


def test_every_statement_is_used():
    """One that is not is deleted, not kept."""
    used = {n for _, _, names, _ in named() if names for n in names}
    used |= {*tables("verify")} | {*_NODES.values()} | {*statements_of("schema")}
    listed(f"{NAMES[name]}.cypher: {name} is not used" for name in NAMES.keys() - used)


def test_files_hold_what_their_users_look_for():
    """`schema` is run from first to last; `verify` and `integrations` have one user each."""
    users = {n: module for module, _, names, _ in named() for n in names or ()}
    integrations = set(statements_of("integrations"))
    assert {users[n] for n in integrations} == {"neo4j_graphrag"}
    assert integrations == {n for n, module in users.items() if module == "neo4j_graphrag"}


def test_a_role_has_its_statements_in_its_own_file():
    """A new read is a method of a role, and a statement in the file of that name."""
    users = defaultdict(set)
    for module, _, names, _ in named():
        for name in names or ():
            users[name].add(module)
    listed(
        f"{file}.cypher: {name} is run by {', '.join(sorted(users[name]))}"
        for file, modules in ROLES.items()
        for name in statements_of(file)
        if not users[name] & {*modules, *WRITERS}
    )
    listed(
        f"{module}.py: {name} stands in {NAMES[name]}.cypher"
        for name, modules in users.items()
        for module in modules & {"documents", "graph"}
        if NAMES[name] != module
    )


def test_only_the_connection_sends_text_to_the_server():
    """And the gate of users' text; a session elsewhere could run anything."""
    listed(
        f"{module}.{function.name}: {ast.unparse(call.func)}"
        for module, tree in code().items()
        for function, call in calls(tree, SENDERS)
        if call.func.attr not in SENDING.get(module, ())
    )


def test_what_the_connection_sends_is_a_statement():
    """Every text of its calls comes from `statement(...)` and from nowhere else."""
    problems, seen = [], 0
    for function, call in calls(code()["connection"], {"run", "execute_query"}):
        if not isinstance(call.func, ast.Attribute):
            continue  # a function within
        seen += 1
        if not comes_from_statement(function, call.args[0]):
            problems.append(f"{function.name}: {ast.unparse(call)}")
    listed(problems)
    assert seen >= 6


def is_statement(node):
    """Say whether an expression is a call of `statement`."""
    return isinstance(node, ast.Call) and getattr(node.func, "id", None) == "statement"


def comes_from_statement(function, node):
    """Say whether an expression is a statement, or a variable that holds nothing else."""
    if is_statement(node):
        return True
    if isinstance(node, ast.ListComp):
        return is_statement(node.elt)
    if not isinstance(node, ast.Name):
        return False
    sources = []
    for part in ast.walk(function):
        if isinstance(part, ast.Assign):
            for target in part.targets:
                pairs = (
                    zip(target.elts, part.value.elts, strict=True)
                    if isinstance(target, ast.Tuple) and isinstance(part.value, ast.Tuple)
                    else [(target, part.value)]
                )
                sources += [v for t, v in pairs if getattr(t, "id", None) == node.id]
        elif isinstance(part, ast.comprehension) and getattr(part.target, "id", None) == node.id:
            sources.append(part.iter)
    arguments = {a.arg for part in ast.walk(function) if isinstance(part, ast.arguments)
                 for a in (*part.posonlyargs, *part.args, *part.kwonlyargs)}  # fmt: skip
    if node.id in arguments or not sources:
        return False
    return all(comes_from_statement(function, source) for source in sources)


@pytest.mark.parametrize(
    ("code_text", "is_one"),
    [
        ("def f(tx): tx.run(statement('a'))", True),
        ("def f(tx):\n t = statement('a')\n tx.run(t)", True),
        ("def f(tx):\n d, t = 1, statement('a')\n tx.run(t)", True),
        ("def f(tx, ns):\n ts = [statement(n) for n in ns]\n return [tx.run(t) for t in ts]", True),
        ("def f(tx, t): tx.run(t)", False),
        ("def f(tx, n): tx.run(f'MATCH {n}')", False),
        ("def f(tx, n): tx.run(statement('a') + n)", False),
        ("def f(tx, t):\n t = statement('a')\n tx.run(t)", False),
        ("def f(tx):\n t = statement('a')\n t = 'x' + t\n tx.run(t)", False),
        ("def f(tx, ts): [tx.run(t) for t in ts]", False),
    ],
)
def test_a_text_is_traced_to_its_statement(code_text, is_one):
    """The rule itself, as the test above applies it."""
    ((function, call),) = calls(ast.parse(code_text), {"run"})
    assert comes_from_statement(function, call.args[0]) is is_one


@pytest.mark.parametrize("file", FILES)
def test_a_file_is_comments_and_named_statements(file):
    """Each statement has a name, ends with a semicolon and holds no other."""
    text = (ROOT / "cypher" / f"{file}.cypher").read_text("utf-8")
    head, *parts = re.split(r"^// name: (.*)$", text, flags=re.MULTILINE)
    assert all(line.startswith("//") or not line.strip() for line in head.splitlines())
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name), name
        lines = [line for line in body.splitlines() if not line.strip().startswith("//")]
        bare = "\n".join(lines).strip()
        assert bare.endswith(";"), f"{name} does not end with a semicolon"
        assert bare.count(";") == 1, f"{name} is more than one statement"
        assert not re.search(r"//|/\*", bare), f"{name}: a comment takes a line of its own"
    assert len(parts[::2]) == len(set(parts[::2])), "two statements of one name"


def is_a_text(name):
    text = statement(name, **NUMBERS)
    if NAMES[name] != "indexes":
        raw = (ROOT / "cypher" / f"{NAMES[name]}.cypher").read_text("utf-8")
        assert not re.search(r"<\w+>", raw)
    assert not re.search(r"<\w+>|%[sd(]|\{\d*\}|\{[a-z_]+\}|\$\{|\{\{", text), "a placeholder"
    assert not re.search(r"\bapoc\b|\b(?:id|elementId)\s*\(", text, re.IGNORECASE)
    assert not re.search(r"\bLOAD\s+CSV\b|\bIN\s+TRANSACTIONS\b|\bdbms\.", text, re.IGNORECASE)


def test_a_statement_is_a_text_as_it_stands():
    """Only numbers are put in, and only where an index is defined; the rest are parameters."""
    each(is_a_text, sorted(NAMES))


def test_a_statement_matches_nodes_of_ours_only():
    """Their first label is one that only we write; other programs have Document, Chunk, Entity."""
    for name in NAMES.keys() - PUBLIC:
        text = statement(name, **NUMBERS)
        assert re.findall(r"\(\w*:(?!Kgrag)\w+", text) == [], name
        assert re.findall(r"(?:INDEX|CONSTRAINT) (?!kgrag_|IF |ON |SEEK )\w+", text) == [], name


def test_numbers_of_index_statements_are_the_known_ones():
    """`<size>` and `<dimension>`."""
    raw = (ROOT / "cypher" / "indexes.cypher").read_text("utf-8")
    bare = "\n".join(line for line in raw.splitlines() if not line.startswith("//"))
    assert set(re.findall(r"<(\w+)>", bare)) == NUMBERS.keys()


def test_procedures_are_those_that_every_server_has():
    called = {
        name
        for name in NAMES
        for name in re.findall(r"CALL\s+([\w.]+)\(", statement(name, **NUMBERS))
    }
    assert called == {
        "db.awaitIndex", "db.labels", "db.create.setNodeVectorProperty",
        "db.index.fulltext.awaitEventuallyConsistentIndexRefresh",
        "db.index.fulltext.queryNodes", "db.index.vector.queryNodes",
    }  # fmt: skip


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


def test_titles_are_unique():
    """Two queries of one name could not be told apart."""
    assert len({q.title for q in QUERIES}) == len({q.english for q in QUERIES}) == len(QUERIES)


def opens_with_its_titles(query):
    """The Browser lists a query by its first line, so that begins with the number."""
    lines = query.text.splitlines()
    assert re.fullmatch(r"// \d\d [\u4e00-\u9fff]+", lines[0])
    assert lines[0][3:5] == query.file[:2]
    assert re.fullmatch(r"// [A-Z][ -~]+", lines[1])
    assert re.fullmatch(r"// .*[\u4e00-\u9fff].*。", lines[2])
    assert re.fullmatch(r"// [A-Z][ -~]+\.", lines[3])
    assert not lines[4].startswith("//")
    assert body(query).strip()


def is_bounded(query):
    """Whatever the size of the knowledge base, the answer has an end below 501 rows."""
    limits = [int(n) for n in re.findall(r"\bLIMIT (\d+)", body(query))]
    assert limits
    assert max(limits) <= 500


def only_reads(query):
    """An analyst who runs a saved query changes nothing."""
    assert not re.search(rf"\b(?:{WRITES})\b", body(query))
    calls = re.findall(r"\bCALL ([\w.]+)\(", body(query))
    assert set(calls) <= {"db.index.fulltext.queryNodes"}


def shows_documents_and_knowledge_only(query):
    """Labels and types are those of the graph; vectors and bookkeeping stay out of sight."""
    assert not re.search(rf"\b(?:{BOOKKEEPING})\b", body(query))
    assert set(re.findall(r"\(\w*:(\w+)", body(query))) <= LABELS | OURS
    assert set(re.findall(r"\[\w*:(\w+)", body(query))) <= TYPES


def has_its_values_in_the_first_line(query):
    """Nothing has to be set beforehand, and there is one line to change."""
    assert "$" not in body(query)
    assert ":param" not in query.text
    says = query.text.splitlines()[2]
    assert ("改" in says.replace("无需改动", "")) == query.text.splitlines()[4].startswith("WITH ")


@pytest.mark.parametrize(
    "check",
    [
        *(opens_with_its_titles, is_bounded, only_reads, shows_documents_and_knowledge_only),
        has_its_values_in_the_first_line,
    ],
)
def test_each_query(check):
    each(check, QUERIES)


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
