"""How long ingestion with a model takes, and how well a dry run predicts what it takes.

The model is a local server that answers by rules after a given time; it says nothing about the
quality of a model, only about how calls are made. The figure is the time over what calls at full
concurrency and the work without a model would take one after the other.

usage: python benchmarks/model_ingest.py --files FOLDER [--documents 100] [--latency 1.0]
           [--concurrency 1,8,32] [--predicted 40] [--sample 10]

At concurrency 1 a tenth of the documents is taken.
"""

import argparse
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kgrag.api import KnowledgeBase
from kgrag.config import Config, ModelConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.report import IngestReport

PORT = 8199


@dataclass(frozen=True, slots=True)
class Timing:
    """One run.

    Attributes:
        documents: Taken in.
        calls: Sent.
        concurrency: At the same time, at most.
        seconds: Of the whole run.
        offline: Seconds that the same documents took without a model, just before.
    """

    documents: int
    calls: int
    concurrency: int
    seconds: float
    offline: float

    def ratio(self, latency: float) -> float:
        """Return the time of the calls over what they take at full concurrency."""
        return (self.seconds - self.offline) / (self.calls * latency / self.concurrency)


@contextmanager
def server(latency: float) -> Iterator[str]:
    """Give the address of a stand-in in a process of its own."""
    command = [sys.executable, "-m", "kgrag.testing", "--port", str(PORT)]
    process = subprocess.Popen([*command, "--latency", str(latency)], stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{PORT}/v1"
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(url, timeout=1)
            except urllib.error.HTTPError:
                break  # it is there, and wants another path
            except OSError:
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


def take_in(files: Sequence[Path], folder: Path, config: Config) -> tuple[IngestReport, float]:
    """Return the report of taking files into a new knowledge base, and its seconds."""
    with KnowledgeBase.open(folder, config=config, embedder=HashEmbedder()) as base:
        began = time.perf_counter()
        report = base.ingest(files)
        seconds = time.perf_counter() - began
    if report.failed:
        sys.exit(f"{len(report.failed)} documents failed: {report.failed[0]}")
    return report, seconds


def measure(files: Sequence[Path], url: str, concurrency: int) -> Timing:
    """Take files in without and with the model."""
    llm = ModelConfig(base_url=url, model="stand-in", concurrency=concurrency)
    with tempfile.TemporaryDirectory() as folder:
        _, offline = take_in(files, Path(folder, "offline"), Config())
        report, seconds = take_in(files, Path(folder, "model"), Config(llm=llm))
    assert report.model is not None
    return Timing(len(files), report.model.total.calls, concurrency, seconds, offline)


def predict(files: Sequence[Path], url: str, sample: int) -> None:
    """Print what a dry run says, without and with a sample, and what the ledger says after."""
    llm = ModelConfig(base_url=url, model="stand-in", concurrency=32)
    print(f"\n{len(files)} documents | calls | tokens in | tokens out\n---|---|---|---")
    with (
        tempfile.TemporaryDirectory() as folder,
        KnowledgeBase.open(folder, config=Config(llm=llm), embedder=HashEmbedder()) as base,
    ):
        for name, n in (("dry run", 0), (f"dry run, --sample {sample}", sample)):
            for stage, p in base.plan(files, sample=n).predictions.items():
                row = (f"{name} ({stage})", p.calls, p.prompt_tokens, p.completion_tokens)
                print(" | ".join(map(str, row)))
        before = {t.stage: t for t in base.calls.totals()}
        base.ingest(files)
        for total in base.calls.totals():
            sampled = before[total.stage]
            sent, usage = total.sent - sampled.sent, total.usage
            tokens_in = usage.prompt - sampled.usage.prompt
            tokens_out = usage.completion - sampled.usage.completion
            print(f"ledger after the run ({total.stage}) | {sent} | {tokens_in} | {tokens_out}")
            counts = base.counts()
            per_1000 = 1000 / counts.characters
            print(
                f"in all, per 1,000 characters | {total.sent * per_1000:.3f}"
                f" | {usage.prompt * per_1000:.0f} | {usage.completion * per_1000:.0f}"
            )


def main() -> None:
    """Measure and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--concurrency", default="1,8,32")
    parser.add_argument("--predicted", type=int, default=40)
    parser.add_argument("--sample", type=int, default=10)
    args = parser.parse_args()
    files = sorted(path for path in args.files.iterdir() if path.is_file())
    with server(args.latency) as url:
        print("documents | calls | concurrency | seconds | calls/concurrency | offline s | ratio")
        print("---|---|---|---|---|---|---")
        for concurrency in map(int, args.concurrency.split(",")):
            n = args.documents if concurrency > 1 else max(1, args.documents // 10)
            t = measure(files[:n], url, concurrency)
            least = t.calls * args.latency / concurrency
            print(
                f"{t.documents} | {t.calls} | {concurrency} | {t.seconds:.1f} | {least:.1f}"
                f" | {t.offline:.1f} | {t.ratio(args.latency):.2f}",
                flush=True,
            )
        predict(files[: args.predicted], url, args.sample)


if __name__ == "__main__":
    main()
