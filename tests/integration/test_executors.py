"""What is stored does not depend on where files are read and texts encoded."""

import signal
import sys
from importlib.util import find_spec

import pytest

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig, IngestConfig
from kgrag.ingestion.samples import sample_folder
from tests.faults.corpus import write_corpus
from tests.fixtures.executors import ACTOR, READER, contents, killed, left_by, started
from tests.fixtures.processes import descendants, is_alive

LOCAL = Config(ingest=IngestConfig(executor="local"), embedding=EmbeddingConfig(model="hash"))
needs_ray = pytest.mark.skipif(
    find_spec("ray") is None or sys.platform != "linux", reason="kgrag[ray] is not installed"
)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Thirty documents, in files and as records."""
    return [*write_corpus(tmp_path_factory.mktemp("made") / "docs", n=20), sample_folder()]


@pytest.fixture(scope="module")
def local(tmp_path_factory, paths):
    """What this process alone makes of them."""
    kb = tmp_path_factory.mktemp("local") / "kb"
    with KnowledgeBase.open(kb, config=LOCAL) as base:
        assert base.ingest(paths).counts == {"added": 30}
    return contents(kb)


def test_processes_store_the_same(tmp_path, paths, local):
    run = started(tmp_path / "kb", paths, "--executor", "processes", "--workers", "2")
    assert run.wait() == 0
    assert contents(tmp_path / "kb") == local


@needs_ray
def test_ray_stores_the_same_though_an_encoder_and_a_reader_are_killed(tmp_path, paths, local):
    """Both are started anew, what they were doing is done again, and nothing is left running."""
    run = started(tmp_path / "kb", paths, "--executor", "ray", "--workers", "2")
    assert killed(run, ACTOR) == killed(run, READER) == 1
    born = descendants(run.pid)
    assert run.wait() == 0
    assert contents(tmp_path / "kb") == local
    assert not list(filter(is_alive, born))


@needs_ray
def test_a_run_on_ray_that_is_stopped_leaves_nothing_running_and_goes_on(tmp_path, paths, local):
    run = started(tmp_path / "kb", paths, "--executor", "ray", "--workers", "2")
    assert killed(run, READER) == 1  # it is under way
    assert not left_by(run, signal.SIGINT)
    assert run.returncode == 128 + signal.SIGINT
    with KnowledgeBase.open(tmp_path / "kb", config=LOCAL) as base:
        assert not base.ingest(paths).failed
    assert contents(tmp_path / "kb") == local
