"""Run one system on texts and questions: called by `run.py`, with the Python that has the system.

    python -m benchmarks.peers.worker JOB.json

The job says `peer`, `files` by document id, `questions` by id, `encoder` (a model's folder) and
`out`, the file that what was measured is written to.
"""

import gc
import json
import logging
import resource
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict
from importlib import metadata
from pathlib import Path

from benchmarks.peers.encoder import CountingEncoder
from benchmarks.peers.model import StandIn
from benchmarks.peers.peer import Parts, Search
from benchmarks.peers.peers import PEERS
from benchmarks.peers.texts import Squeezed, located


def main() -> None:
    """Build, ask, and write what was measured."""
    logging.disable(logging.WARNING)
    job = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    files = {doc_id: Path(file) for doc_id, file in job["files"].items()}
    texts = {doc_id: file.read_text("utf-8") for doc_id, file in files.items()}
    encoder = CountingEncoder.of(Path(job["encoder"]))
    model = StandIn()
    with tempfile.TemporaryDirectory() as folder:
        parts = Parts(encoder, model, Path(folder), files)
        peer = PEERS[job["peer"]].make(parts)
        begun, worked = time.perf_counter(), time.process_time()
        peer.build(texts)
        ingest = {
            "seconds": time.perf_counter() - begun,
            "processor_s": time.process_time() - worked,
            **_counts(parts),
        }
        forms = dict(model.tokens_by_form)
        squeezed = {doc_id: Squeezed.of(text) for doc_id, text in texts.items()}
        searches = {
            name: _asked(search, job["questions"], parts, texts, squeezed)
            for name, search in peer.searches().items()
        }
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + peer.server_memory()
        measured = {
            "versions": {name: metadata.version(name) for name in peer.packages},
            "ingest": ingest,
            "tokens_by_form": forms,
            "memory": memory,
            "searches": searches,
        }
        Path(job["out"]).write_text(json.dumps(measured, ensure_ascii=False), "utf-8")
        peer.close()


def _counts(parts: Parts) -> dict[str, float]:
    """Return what was counted so far."""
    return {
        "texts": parts.encoder.n_texts,
        "encoder_s": parts.encoder.seconds,
        "calls": parts.model.calls,
        "prompt_tokens": parts.model.prompt_tokens,
        "completion_tokens": parts.model.completion_tokens,
        "model_s": parts.model.seconds,
    }


def _asked(
    search: Search,
    questions: Mapping[str, str],
    parts: Parts,
    texts: Mapping[str, str],
    squeezed: Mapping[str, Squeezed],
) -> dict[str, object]:
    """Return the results of all questions and their seconds, after one that is not counted."""
    search("绿色低碳发展的目标是什么？")
    gc.collect()
    before = _counts(parts)
    found, seconds, processor = {}, [], []
    for query_id, question in questions.items():
        begun, worked = time.perf_counter(), time.process_time()
        found[query_id] = search(question)
        seconds.append(time.perf_counter() - begun)
        processor.append(time.process_time() - worked)
    placed = {q: [located(f, texts, squeezed) for f in results] for q, results in found.items()}
    flat = [result for results in placed.values() for result in results]
    after = _counts(parts)
    return {
        "results": {q: [asdict(f) for f in results] for q, results in placed.items()},
        "seconds": seconds,
        "processor_s": processor,
        "n_results": len(flat),
        "n_unlocated": sum(result.start is None for result in flat),
        **{name: (after[name] - before[name]) / len(questions) for name in after},
    }


if __name__ == "__main__":
    main()
