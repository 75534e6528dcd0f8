"""Run a local server: a stand-in, recordings, or a recording proxy of a model.

python -m kgrag.testing --port 8099 --latency 1.0
python -m kgrag.testing --replay answers.jsonl
python -m kgrag.testing --record answers.jsonl --model-url https://… --key-env OPENAI_API_KEY
"""

import argparse
import contextlib
import os
import sys
import threading
from collections.abc import Callable

from kgrag.errors import KgragError
from kgrag.testing.forwarding import playing, recording
from kgrag.testing.reply import Body, Reply
from kgrag.testing.server import FakeServer


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m kgrag.testing", description=__doc__)
    parser.add_argument("--port", type=int, default=8099)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds for each answer")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--replay", metavar="FILE", help="give the answers of this file")
    kind.add_argument("--record", metavar="FILE", help="ask a model, and record it in this file")
    parser.add_argument("--model-url", default="", help="of the model that is recorded")
    parser.add_argument("--key-env", default="", help="environment variable with its key")
    options = parser.parse_args()
    if options.record and not options.model_url:
        parser.error("--record needs --model-url: the endpoint that is asked")
    try:
        reply, what = _reply(options)
    except KgragError as exc:
        parser.exit(1, f"{exc}\n")
    with FakeServer(reply, latency_s=options.latency, port=options.port) as server:
        sys.stderr.write(f"{what} listens at {server.base_url}. Ctrl-C ends it.\n")
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


def _reply(options: argparse.Namespace) -> tuple[Callable[[Body], Reply] | None, str]:
    """Return the reply function, None for answers by rules, and a description."""
    if options.replay:
        return playing(options.replay), f"A player of {options.replay}, which asks no model,"
    if options.record:
        key = os.environ.get(options.key_env, "")
        asked = recording(options.record, base_url=options.model_url, api_key=key)
        return asked, f"A recorder of {options.model_url} in {options.record}"
    return None, "A stand-in for a model, whose answers are made by rules,"


if __name__ == "__main__":
    main()
