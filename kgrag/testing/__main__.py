"""Run a local server: a stand-in for a model, whose answers are made by rules.

python -m kgrag.testing --port 8099 --latency 1.0
"""

import argparse
import contextlib
import sys
import threading

from kgrag.testing.server import FakeServer


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m kgrag.testing", description=__doc__)
    parser.add_argument("--port", type=int, default=8099)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds for each answer")
    options = parser.parse_args()
    with FakeServer(latency_s=options.latency, port=options.port) as server:
        sys.stderr.write(f"A stand-in for a model listens at {server.base_url}. Ctrl-C ends it.\n")
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
