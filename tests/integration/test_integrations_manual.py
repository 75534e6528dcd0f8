"""Every example of docs/integrations.md runs."""

import os
import re
import shutil
from pathlib import Path

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.samples import sample_folder

MANUAL = Path(__file__).parents[2] / "docs" / "integrations.md"
LOCAL = "bolt://localhost:7687"


def examples():
    """Return the Python code below each heading of the manual."""
    _, *parts = re.split(r"^## (.+)$", MANUAL.read_text("utf-8"), flags=re.MULTILINE)
    found = zip(parts[::2], parts[1::2], strict=True)
    blocks = {
        name: re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S) for name, text in found
    }
    return {name: "\n".join(code) for name, code in blocks.items()}


def need(package):
    """Skip where a library is missing, unless this run must have all."""
    if os.environ.get("KGRAG_TEST_NEO4J", "") in ("", "0"):
        pytest.importorskip(package, reason=f"{package} is not installed")


def echo():
    """Return a model that answers with what it is asked."""
    from neo4j_graphrag.llm.base import LLMInterfaceV2
    from neo4j_graphrag.llm.types import LLMResponse

    class Echo(LLMInterfaceV2):
        def invoke(self, input, *, response_format=None, **kwargs):
            return LLMResponse(content=input[-1]["content"])

        async def ainvoke(self, input, *, response_format=None, **kwargs):
            return self.invoke(input)

    return Echo("echo")


@pytest.fixture
def folder(sample_kb, tmp_path, monkeypatch):
    """A working folder with the knowledge base `kb` of the samples."""
    shutil.copytree(sample_kb, tmp_path / "kb")
    monkeypatch.chdir(tmp_path)


def run(name, uri=LOCAL, **names):
    """Run a section's code as a user would."""
    code = examples()[name]
    exec(compile(code.replace(LOCAL, uri), f"{MANUAL.name}: {name}", "exec"), names)


def test_manual_has_no_example_that_is_not_run_here():
    """A new section needs a test below."""
    assert list(examples()) == [
        "LlamaIndex",
        "neo4j-graphrag",
        "The library's own retrievers on kgrag's database",
    ]
    assert all(examples().values())


@pytest.mark.usefixtures("folder")
def test_example_of_llama_index_runs(capsys):
    """It shows titles, and a source that holds the number."""
    need("llama_index.core")
    run("LlamaIndex")
    out = capsys.readouterr().out
    assert "《云岭省碳达峰实施方案》" in out
    assert "38%" in out


@pytest.mark.usefixtures("folder")
def test_example_of_neo4j_graphrag_runs(capsys):
    """It shows a cited text, an answer from it, and how a tool found its own."""
    need("neo4j_graphrag")
    run("neo4j-graphrag", llm=echo())
    out = capsys.readouterr().out
    assert "(energy-conservation-regulation.txt, characters " in out
    assert "云岭省节能管理规定" in out


@pytest.mark.filterwarnings("ignore:The default returned 'id' field:DeprecationWarning")
def test_example_of_the_librarys_own_retrievers_runs(empty_neo4j, capsys):
    """It shows cited places with facts, found by vectors and by both."""
    need("neo4j_graphrag")
    with KnowledgeBase.open(empty_neo4j, embedder=HashEmbedder()) as kb:
        kb.ingest([sample_folder()])
    run("The library's own retrievers on kgrag's database", empty_neo4j)
    out = capsys.readouterr().out
    assert ", characters 0-" in out
    assert "—依据→" in out
    assert int(out.split()[-1]) > 0
