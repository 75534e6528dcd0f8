"""The shape of the code: layers, cycles, third-party imports, sizes; read from its syntax."""

import ast
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from radon.complexity import cc_visit_ast

ROOT = Path(__file__).parents[2]
PACKAGES = {"kgrag": "kgrag", "ingestion": "kgrag.ingestion", "cypher": "kgrag.cypher"}  # by folder

# A unit is a package or module whose parts may import each other; it may import units of lower
# layers, and in an OPEN layer its neighbours (cycles are refused in any case).
LAYERS: tuple[tuple[str, ...], ...] = (
    ("kgrag.types", "kgrag.results", "kgrag.errors", "kgrag.cypher", "kgrag.json_ready",
     "kgrag.metadata", "kgrag.notebook", "kgrag.qualifiers", "kgrag.status", "kgrag.text.messages"),
    ("kgrag.answer", "kgrag.config", "kgrag.files", "kgrag.drawing", "kgrag.ids", "kgrag.kb_meta",
     "kgrag.limits", "kgrag.plugins", "kgrag.text", "kgrag.vectors"),
    ("kgrag.question",),
    ("kgrag.llm",),
    ("kgrag.embedding", "kgrag.store"),
    ("kgrag.reranking", "kgrag.verification"),
    ("kgrag.ingestion", "kgrag.retrieval"),
    ("kgrag.evaluation", "kgrag.statements"),
    ("kgrag.answering", "kgrag.dataset", "kgrag.maintenance"),
    ("kgrag.plain_knowledge_base",),
    ("kgrag.tools",),
    ("kgrag.api",),
    ("kgrag.extending", "kgrag.integrations", "kgrag.testing"),
    ("kgrag.serve",),
    ("kgrag.cli",),
)  # fmt: skip
OPEN = {0, 1, 14}

# Who may import what is not ours.
THIRD_PARTY = {
    "PIL": ("kgrag.ingestion.load.picture",),
    "click": ("kgrag.cli.*",),
    "anyio": ("kgrag.serve.*",),  # which starlette needs anyway
    "cv2": ("kgrag.ingestion.load.ocr.*",),
    "docx": ("kgrag.answer.word",),
    "faiss": ("kgrag.vectors.codes",),
    "filelock": ("kgrag.embedding.*", "kgrag.serve.desk", "kgrag.store.*"),
    "fsspec": ("kgrag.ingestion.load.remote",),
    "google": ("kgrag.embedding.onnx",),  # protobuf, which comes with onnxruntime
    "jinja2": ("kgrag.serve.rendering",),
    # which jinja2 needs anyway
    "markupsafe": ("kgrag.serve.pages", "kgrag.serve.rendering"),
    "huggingface_hub": ("kgrag.embedding.pull",),
    "ahocorasick_rs": ("kgrag.text.terms",),
    "jieba": ("kgrag.text.words",),
    "json_repair": ("kgrag.llm.structured",),
    "llama_index": ("kgrag.integrations.*",),
    "lxml": ("kgrag.ingestion.load.docx", "kgrag.ingestion.load.word.*",
             "kgrag.ingestion.load.html", "kgrag.ingestion.load.ofd",
             "kgrag.ingestion.load.spreadsheet"),
    "olefile": ("kgrag.ingestion.load.mail",),
    "pptx": ("kgrag.ingestion.load.slides",),
    "mcp": ("kgrag.serve.app", "kgrag.serve.mcp_server"),
    "mcp_types": ("kgrag.serve.mcp_server",),
    "neo4j": ("kgrag.integrations.*", "kgrag.store.neo4j", "kgrag.store.neo4j.*"),
    "neo4j_graphrag": ("kgrag.integrations.*",),
    "networkx": ("kgrag.store.networks", "kgrag.plain_knowledge_base"),
    "nltk": ("kgrag.evaluation.wording",),
    "numpy": ("kgrag.embedding.*", "kgrag.store.*", "kgrag.vectors.*", "kgrag.retrieval.*",
              "kgrag.answering.*",
              "kgrag.verification.*", "kgrag.evaluation.*", "kgrag.ingestion.*"),
    "openpyxl": ("kgrag.ingestion.load.spreadsheet", "kgrag.statements.export"),
    "onnxruntime": ("kgrag.embedding.onnx",),
    "openai": ("kgrag.llm.endpoint", "kgrag.llm.client"),
    "peft": ("kgrag.embedding.transformers_model",),
    "platformdirs": ("kgrag.files.cache_folder",),
    "annotated_types": ("kgrag.config", "kgrag.evaluation.lines", "kgrag.ingestion.meta_model"),
    "pydantic": ("kgrag.config", "kgrag.evaluation.lines", "kgrag.ingestion.load.ocr.page_text",
                 "kgrag.serve.compatible", "kgrag.statements.selection", "kgrag.tools.arguments"),
    "pypdfium2": ("kgrag.ingestion.load.pdf", "kgrag.ingestion.load.unseen",
                  "kgrag.ingestion.load.page_tables.*",
                  "kgrag.serve.originals"),
    "python_multipart": ("kgrag.serve.writing",),  # which starlette's forms need
    "rapidocr": ("kgrag.ingestion.load.ocr.engine",),
    "ray": ("kgrag.ingestion.workers.ray_executor",),
    "rouge_score": ("kgrag.evaluation.wording",),
    "safetensors": ("kgrag.embedding.add",),
    # not third-party, but as much of an adapter's concern
    "sqlite3": ("kgrag.embedding.vector_cache", "kgrag.files.sqlite_file", "kgrag.llm.ledger",
                "kgrag.store.sqlite.*"),
    "starlette": ("kgrag.serve.*",),
    "tantivy": ("kgrag.store.sqlite.*",),
    "tenacity": ("kgrag.llm.endpoint",),
    "tokenizers": ("kgrag.embedding.local",),
    "torch": ("kgrag.embedding.transformers_model",),
    "tqdm": ("kgrag.cli.*",),
    "transformers": ("kgrag.embedding.transformers_model",),
    "watchfiles": ("kgrag.maintenance.sync",),
    "uvicorn": ("kgrag.serve.app",),
}  # fmt: skip
HEAVY = {"PIL", "cv2", "docx", "faiss", "fsspec", "google", "huggingface_hub", "jieba",
         "json_repair", "lxml", "mcp", "networkx", "nltk", "numpy", "onnxruntime", "openai",
         "openpyxl", "peft", "pydantic", "pypdfium2", "rapidocr", "ray", "rouge_score",
         "starlette", "tantivy", "tokenizers", "torch", "transformers"}  # fmt: skip


@dataclass(frozen=True)
class Module:
    """A source file."""

    name: str
    path: Path
    tree: ast.Module


@cache
def modules():
    """Return the modules of the three packages by name."""
    found = {}
    for folder, package in PACKAGES.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            name = ".".join([package, *(parts[:-1] if parts[-1] == "__init__" else parts)])
            found[name] = Module(name, path, ast.parse(path.read_text("utf-8"), str(path)))
    return found


def imports(tree):
    """Return every name imported, at the top or in a function; relative imports are not used."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"relative import in line {node.lineno}"
            # `from kgrag.cli import search` names a module as well
            names |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def ours(names):
    """Return those of the names that are modules of ours."""
    return {name for name in names if name in modules()}


def unit_of(name):
    """Return (layer, unit) of a module."""
    for layer, units in enumerate(LAYERS):
        for unit in units:
            if fnmatchcase(name, unit) or name.startswith(unit + "."):
                return layer, unit
    pytest.fail(f"{name} stands in no layer: place it in LAYERS")


def may_import(importer, name):
    """Say whether the layers let one module import another."""
    (layer, unit), (other_layer, other) = unit_of(importer), unit_of(name)
    if unit == other:
        return True
    if other == "kgrag.cypher":
        return unit == "kgrag.store"
    if other == "kgrag.testing":
        return False  # for those who test what they build on it
    return other_layer < layer or (other_layer == layer and layer in OPEN)


def listed(problems):
    """Fail with one problem a line."""
    found = sorted(problems)
    assert not found, "\n".join(found)


def test_modules_import_lower_layers_only():
    """Arrows point down; siblings of a layer do not know each other."""
    listed(
        f"{module.name} (layer {unit_of(module.name)[0]}) imports {name} (layer {unit_of(name)[0]})"
        for module in modules().values()
        for name in ours(imports(module.tree)) - {"kgrag"}
        if module.name != "kgrag" and not may_import(module.name, name)
    )


@pytest.mark.parametrize(
    ("importer", "name", "allowed"),
    [
        ("kgrag.ids", "kgrag.text.words", True),
        ("kgrag.text.words", "kgrag.types", True),
        ("kgrag.types", "kgrag.text.words", False),
        ("kgrag.store.sqlite.read", "kgrag.cypher", True),
        ("kgrag.retrieval.graph", "kgrag.cypher", False),
        ("kgrag.retrieval.graph", "kgrag.retrieval.search", True),
        ("kgrag.retrieval.graph", "kgrag.answering.quotes", False),
        ("kgrag.ingestion.chunk", "kgrag.retrieval.merge", False),
        ("kgrag.ingestion.chunk", "kgrag.ingestion.load.pdf", True),
        ("kgrag.store.store", "kgrag.embedding.embedder", False),
        ("kgrag.plain_knowledge_base", "kgrag.tools.for_models", False),
        ("kgrag.api", "kgrag.tools.for_models", True),
        ("kgrag.api", "kgrag.ingestion.pipeline", True),
        ("kgrag.evaluation.runs", "kgrag.api", False),
        ("kgrag.cli.main", "kgrag.cli.tools", True),
        ("kgrag.api", "kgrag.cli", False),
        ("kgrag.testing.scripted", "kgrag.llm.chat", True),
        ("kgrag.cli", "kgrag.testing.server", False),
    ],
)
def test_layers_mean_what_they_say(importer, name, allowed):
    """The rule itself: down and within a package yes, up and across no."""
    assert may_import(importer, name) is allowed


def test_modules_do_not_import_each_other_in_circles():
    """Every module can be read after those that it imports, in functions and for types, too."""
    graph = {name: ours(imports(module.tree)) - {name} for name, module in modules().items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("import cycle: " + " -> ".join(error.args[1]))


def test_third_party_imports_stand_in_their_adapter():
    """Each package of others is known in one place; a new one needs a line in THIRD_PARTY."""
    problems = []
    for module in modules().values():
        for top in {name.partition(".")[0] for name in imports(module.tree)}:
            known = top == "kgrag" or top in sys.stdlib_module_names
            if top not in THIRD_PARTY:
                problems += [] if known else [f"{module.name} imports {top}, which is not listed"]
            elif not any(fnmatchcase(module.name, place) for place in THIRD_PARTY[top]):
                problems.append(f"{module.name} imports {top}, which belongs to {THIRD_PARTY[top]}")
    listed(problems)


def functions(tree):
    """Yield every function and method."""
    return (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


def test_functions_have_at_most_60_lines():
    listed(
        f"{module.name}.{node.name} has {node.end_lineno - node.lineno + 1} lines"
        for module in modules().values()
        for node in functions(module.tree)
        if node.end_lineno - node.lineno + 1 > 60
    )


def test_functions_have_a_cyclomatic_complexity_of_at_most_15():
    """As radon counts it: each branch, boolean operator and comprehension is one more."""
    too_complex = {
        f"{module.name}.{block.fullname}"
        for module in modules().values()
        for block in cc_visit_ast(module.tree)
        if block.letter != "C" and block.complexity > 15
    }
    listed(f"{name} is too complex" for name in too_complex)


def test_files_have_at_most_800_lines():
    """A longer one holds two things; a smaller limit makes chapters of one module."""
    listed(
        f"{module.name} has {n} lines"
        for module in modules().values()
        if (n := lines_of(module)) > 800
    )


# Small modules that one other of their package imports, and why they stand apart.
SEAMS = {
    "kgrag.cli.*": "a family of commands each",
    "kgrag.dataset.*": "a kind of question each",
    "kgrag.embedding.hashing": "an encoder",
    "kgrag.answer.render": "how blocks are shown",
    "kgrag.ingestion.load.*": "a format, or a step of reading one, each",
    "kgrag.ingestion.statements.*": "what reads a grammar, or a part of one",
    "kgrag.notebook": "how results are shown in notebooks",
    "kgrag.reranking.*": "a kind of reranker each",
    "kgrag.retrieval.merge": "a postprocessor",
    "kgrag.statements.selection": "what doors, questions and the engine share",
    "kgrag.store.documents": "a role of stores",
    "kgrag.store.neo4j.*": "a file of statements each, in `cypher/`",
    "kgrag.testing.scripted": "a double",
    "kgrag.tools.*": "a family of tools each",
}


def test_a_module_is_no_chapter_of_another():
    """What one module alone of the package uses stands in it, if it is short."""
    users: dict[str, set[str]] = {name: set() for name in modules()}
    for module in modules().values():
        for name in ours(imports(module.tree)) - {module.name}:
            users[name].add(module.name)
    listed(
        f"{name} has {n} lines, and {user} alone imports it"
        for name, (user, *others) in ((name, used) for name, used in users.items() if used)
        if not others and package_of(user) == name.rpartition(".")[0]
        if package_of(name) != name
        if (n := lines_of(modules()[name])) < 150
        if not any(fnmatchcase(name, seam) for seam in SEAMS)
    )


def interface():
    """Return the names that other units import, by unit and module."""
    found: dict[str, dict[str, set[str]]] = {unit: {} for layer in LAYERS for unit in layer}
    for module in modules().values():
        own = unit_of(module.name)[1] if module.name != "kgrag" else ""
        froms = (n for n in ast.walk(module.tree) if isinstance(n, ast.ImportFrom))
        for node in froms:
            name = node.module or ""
            if name != "kgrag" and name in modules() and unit_of(name)[1] != own:
                names = {a.name for a in node.names} - submodules(name)
                found[unit_of(name)[1]].setdefault(name, set()).update(names)
    return found


def submodules(package):
    """Return the modules right in a package, by their short names."""
    return {n.rpartition(".")[2] for n in modules() if n.rpartition(".")[0] == package}


def packages_page():
    """Return the page of what each package is for and gives to others, top layer first."""
    lines = [
        "# Packages",
        "",
        "What each package is for, and the names that other packages import from its modules; the",
        "top layer first. A public name that is missing here is only used within its package.",
        "`KGRAG_UPDATE_PACKAGES=1 pytest -k page_of_packages` writes the page.",
    ]
    used = interface()
    for unit in (unit for layer in reversed(LAYERS) for unit in layer):
        purpose = (ast.get_docstring(modules()[unit].tree) or "").partition("\n")[0]
        lines += ["", f"## {unit}", "", purpose]
        rows = [
            f"- `{name.removeprefix(unit + '.')}`: " + ", ".join(f"`{n}`" for n in sorted(names))
            for name, names in sorted(used[unit].items())
            if names
        ]
        lines += ["", *rows] if rows else []
    return "\n".join(lines) + "\n"


def test_the_page_of_packages_is_true():
    """KGRAG_UPDATE_PACKAGES=1 writes it."""
    page = ROOT / "docs" / "packages.md"
    if os.environ.get("KGRAG_UPDATE_PACKAGES", "") not in ("", "0"):
        page.write_text(packages_page(), "utf-8")
    assert page.read_text("utf-8") == packages_page()


# Modules with more public names than others, and why.
WIDE = {
    "kgrag.cli.chinese": "the language of all that is printed",
    "kgrag.config": "the settings",
    "kgrag.errors": "the errors",
    "kgrag.evaluation.measures": "a measure each",
    "kgrag.llm.middleware": "a wrapper of models each",
    "kgrag.ingestion.statements.*": "what several readers ask of one grammar",
    "kgrag.text.words": "what words and sentences of a text are",
    "kgrag.results": "what is returned",
    "kgrag.store.neo4j.document_knowledge": "what a document says in the graph",
    "kgrag.store.records": "a line of an export each",
    "kgrag.store.sqlite.seals": "checksums of all kinds of rows",
    "kgrag.text.numbering": "a family of marks each",
    "kgrag.tools.*": "a tool each, with its arguments",
    "kgrag.types": "what is stored",
}


def test_modules_have_at_most_12_public_names():
    """Who reads more of them looks for the one that matters."""
    listed(
        f"{module.name} has {len(names)}: {', '.join(names)}"
        for module in modules().values()
        if len(names := public_names(module.tree)) > 12
        if not any(fnmatchcase(module.name, wide) for wide in WIDE)
    )


# Packages of more than 20 modules, and what they are.
LARGE = {
    "kgrag": "the types, the public classes, and what all packages need",
    "kgrag.answering": "a module for each kind of question, the loop around them",
    "kgrag.cli": "a module for each group of commands, and what they share",
    "kgrag.ingestion": "the steps of taking documents in, a module each",
    "kgrag.ingestion.load": "formats of files, a module each, and what they share",
    "kgrag.ingestion.statements": "kinds of statements, two or three modules each",
    "kgrag.text": "the front end: words, numbers, times, places, organs and titles of any text",
    "kgrag.retrieval": "routes, fusions, rerankers and postprocessors, a module each",
    "kgrag.store": "the roles of a store, what is stored, and what both stores share",
    "kgrag.store.neo4j": "the roles of a store, and what a server needs besides",
    "kgrag.store.sqlite": "the roles of a store, and what a folder needs besides",
}


def test_large_packages_explain_themselves():
    """One that is not listed is two, or has chapters of one module."""
    large = {
        package
        for package in map(package_of, modules())
        if sum(package_of(name) == package for name in modules()) > 21  # with the package itself
    }
    assert large <= set(LARGE)


def lines_of(module):
    """Return how many lines a module has."""
    return len(module.path.read_text("utf-8").splitlines())


def package_of(name):
    """Return the package that a module stands in; a package stands in itself."""
    is_package = modules()[name].path.name == "__init__.py"
    return name if is_package else name.rpartition(".")[0]


def public_names(tree):
    """Return what a module defines without a leading underscore, in order."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.append(node.name)
        targets = getattr(node, "targets", [getattr(node, "target", node)])
        found += [n.id for t in targets for n in ast.walk(t)
                  if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(n, ast.Name)
                  and isinstance(n.ctx, ast.Store)]  # fmt: skip
    return [name for name in found if not name.startswith("_")]


def test_modules_print_nothing_but_the_command_line():
    """A library returns, raises or logs."""
    listed(
        f"{module.name}, line {node.lineno}: print"
        for module in modules().values()
        if not fnmatchcase(module.name, "kgrag.cli*")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    )


# Processes of their own whose stdout and stderr are not the user's terminal.
SCRIPTS = {"kgrag.testing.__main__"}


PRINTS = re.compile(r"print|click\.s?echo(?:_via_pager)?|sys\.\w*std(?:out|err)\w*\..*write.*")


def past_the_door(tree):
    """Yield the line of every call that prints, and of every import of what prints."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            by_click = called in ("click.echo", "click.secho", "click.echo_via_pager", "echo.echo")
            if by_click or re.fullmatch(
                r"print|sys\.(?:__)?std(?:out|err)(?:__)?\..*write.*", called
            ):
                yield node.lineno
        elif isinstance(node, ast.Import | ast.ImportFrom):
            named = {alias.name for alias in node.names} | {getattr(node, "module", "")}
            from_click = getattr(node, "module", "") == "click"
            if "tqdm" in named or (from_click and {"echo", "secho", "open_file"} & named):
                yield node.lineno


def test_everything_that_is_printed_passes_one_door():
    """Only there are escape sequences shown, and characters replaced that an encoding lacks."""
    listed(
        f"{module.name}, line {line}: prints past kgrag.cli.printing"
        for module in modules().values()
        if module.name != "kgrag.cli.printing" and module.name not in SCRIPTS
        for line in past_the_door(module.tree)
    )


@pytest.mark.parametrize(
    "code",
    [
        "click.echo(x)", "click.secho(x)", "print(x)", "sys.stdout.write(x)",
        "sys.stderr.buffer.write(x)", "from tqdm import tqdm", "from click import echo",
        "sys.__stdout__.writelines(x)",
    ],
)  # fmt: skip
def test_a_way_past_the_door_is_known(code):
    assert list(past_the_door(ast.parse(code))) == [1]


def docstrings(tree):
    """Return the nodes of docstrings: they may explain a statement."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = (n.body[0] for n in ast.walk(tree) if isinstance(n, owners) and n.body)
    return {id(first.value) for first in bodies if isinstance(first, ast.Expr)}


CLAUSE = re.compile(
    r"\b(?:MATCH|MERGE|UNWIND|CREATE|DELETE|SET|REMOVE|FOREACH|CALL|RETURN|WITH|SHOW|DROP|USE"
    r"|TERMINATE|LOAD\s+CSV)(?:\s*[($\[{`*]|\s+\w)|-\[[^]]*\]-|\([a-z]*:[A-Z]\w*"
)


def test_cypher_stands_in_cypher_only():
    """Statements are files by name; nothing in code is a statement or a piece of one.

    SQL, which has some of the words, is for those who may use sqlite3.
    """
    listed(
        f"{module.name}, line {node.lineno}: {node.value[:60]!r}"
        for module in modules().values()
        if not any(fnmatchcase(module.name, place) for place in THIRD_PARTY["sqlite3"])
        for skipped in [docstrings(module.tree)]
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in skipped and CLAUSE.search(node.value)
    )


@pytest.mark.parametrize(
    ("text", "is_cypher"),
    [
        ("MATCH (n) RETURN n", True),
        ("MATCH p=(a)-[:CITES]->(b)", True),
        ("RETURN 1", True),
        ("DETACH DELETE n", True),
        ("SET n.x = 1", True),
        ("CALL db.labels()", True),
        ("CREATE INDEX x", True),
        ("<-[r:RELATED]-", True),
        ("(d:Document)", True),
        ("DELETE", False),
        ("a match (of words)", False),
        ("call it again: run `kgrag verify`", False),
    ],
)
def test_a_piece_of_cypher_is_known_by_its_form(text, is_cypher):
    """Clauses in capitals with what follows, relationships and labelled nodes."""
    assert bool(CLAUSE.search(text)) is is_cypher


def test_the_server_is_known_to_its_adapter_only():
    """Whoever had the connection could send text around `cypher/` and the gate."""
    adapter = "kgrag.store.neo4j"
    outside = {f"{adapter}.{name}" for name in ("store", "address", "statements", "drop")}
    listed(
        f"{module.name} imports {name}"
        for module in modules().values()
        if not module.name.startswith(adapter)
        for name in ours(imports(module.tree))
        if name.startswith(f"{adapter}.") and name not in outside
    )


def test_the_command_line_starts_without_heavy_packages():
    """`kgrag --help` answers at once: numpy, jieba and the like are imported when needed."""
    code = "import sys, kgrag.cli.main; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert not HEAVY & set(run.stdout.split())


def test_the_api_starts_without_readers_segmenters_and_encoders():
    """They are imported by the document or question that needs them."""
    code = "import sys, kgrag.api; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert not (HEAVY - {"numpy"}) & set(run.stdout.split())
