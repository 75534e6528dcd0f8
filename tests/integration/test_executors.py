"""What is stored does not depend on where files are read and texts encoded."""

import signal
import sys
from dataclasses import replace
from importlib.util import find_spec

import pytest

from kgrag.api import KnowledgeBase
from kgrag.config import IngestConfig, read_config
from kgrag.errors import IngestionError, ModelNotFoundError
from kgrag.testing.server import FakeServer
from tests.faults.corpus import write_corpus
from tests.fixtures.executors import (
    ACTOR,
    READER,
    asked,
    contents,
    killed,
    left_by,
    reached,
    started,
    written,
)
from tests.fixtures.processes import descendants, is_alive

MOST = 4  # calls of the model at the same time
needs_ray = pytest.mark.skipif(
    find_spec("ray") is None or sys.platform != "linux", reason="kgrag[ray] is not installed"
)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Thirty documents, in files and as records."""
    return write_corpus(tmp_path_factory.mktemp("made") / "docs", n=27)


@pytest.fixture(scope="module")
def server():
    """A model of which every call is counted."""
    with FakeServer(latency_s=0.02) as server:
        yield server


def taken_in(kb, paths, server, executor):
    """Ingest in this process; return the report."""
    config = replace(
        read_config(written(kb, server.base_url, most=MOST)),
        ingest=IngestConfig(executor=executor, workers=2),
    )
    with KnowledgeBase.open(kb, config=config) as base:
        return base.ingest(paths)


@pytest.fixture(scope="module")
def local(tmp_path_factory, paths, server):
    """What this process alone makes of them, and the prompts that it sends, each once."""
    kb = tmp_path_factory.mktemp("local") / "kb"
    assert taken_in(kb, paths, server, "local").counts == {"added": 30}
    sent = asked(server)
    assert set(sent.values()) == {1}
    return contents(kb), sent


def test_processes_store_the_same(tmp_path, paths, server, local):
    assert taken_in(tmp_path / "kb", paths, server, "processes").counts == {"added": 30}
    assert contents(tmp_path / "kb") == local[0]


@needs_ray
def test_ray_stores_and_pays_the_same_though_an_encoder_and_a_reader_are_killed(
    tmp_path, paths, server, local
):
    """Both are started anew, what they were doing is done again, and nothing is left running.

    The main process alone calls the model, so that its cache and limits are those of the cluster.
    """
    n_before = len(server.requests)
    written(tmp_path / "kb", server.base_url, most=MOST)
    run = started(tmp_path / "kb", paths, "--executor", "ray", "--workers", "2")
    assert killed(run, ACTOR) == killed(run, READER) == 1
    born = descendants(run.pid)
    assert run.wait() == 0
    assert (contents(tmp_path / "kb"), asked(server, n_before)) == local
    assert server.most <= MOST
    assert not list(filter(is_alive, born))


@needs_ray
def test_a_run_on_ray_that_is_stopped_leaves_nothing_running_and_goes_on(
    tmp_path, paths, server, local
):
    n_before = len(server.requests)
    written(tmp_path / "kb", server.base_url, most=MOST)
    run = started(tmp_path / "kb", paths, "--executor", "ray", "--workers", "2")
    assert reached(run, READER, run.pid)  # it is under way
    assert not left_by(run, signal.SIGINT)
    assert run.returncode == 128 + signal.SIGINT
    assert not taken_in(tmp_path / "kb", paths, server, "local").failed
    assert (contents(tmp_path / "kb"), asked(server, n_before)) == local


@needs_ray
def test_a_machine_with_another_kgrag_or_without_the_encoder_is_named_with_the_remedy():
    """What its tasks and its actor do first; `benchmarks/executors.py` has them do it there."""
    from kgrag.ingestion.workers import ray_executor

    said = r"^[\d.]+ of the Ray cluster has kgrag .*, this machine kgrag 0, .* install the same"
    with pytest.raises(IngestionError, match=said):
        ray_executor._check_identity("kgrag 0, rules 0")
    encoder = ray_executor._Encoder("absent", 1, ray_executor._identity())
    with pytest.raises(ModelNotFoundError, match=r"Remedy: .* \(on [\d.]+ of the Ray cluster\)$"):
        encoder.embed(["目标"])
