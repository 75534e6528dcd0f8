"""Record answers that are written by hand, as a chat model would, for tests/cassettes.

python -m scripts.record DESK TAPE ask QUESTIONS.jsonl [--kb KB]
python -m scripts.record DESK TAPE ingest FILE...

An endpoint of the OpenAI protocol on this machine writes each request to DESK/KEY.json, and waits
for its answer in DESK/answers.txt: a line `=== KEY`, then the answer's text, or a line
`CALL NAME ARGUMENTS` for each function that is called instead. The same request has the same key,
so that a recording goes on where it was stopped. TAPE is a file of `kgrag.testing.Recorder`, of
whose prompts only what `benchmarks/replayed.py` reads is left. The knowledge base is that of the
samples, where none is named.
"""

import argparse
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.replayed import slim
from kgrag.api import KnowledgeBase
from kgrag.config import Config, ModelConfig, VerifyConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ids import digest
from kgrag.ingestion.samples import sample_folder
from kgrag.llm.client import OpenAIChat
from kgrag.llm.providers import settings_for
from kgrag.testing import FakeServer, Recorder, Recording, Reply
from kgrag.testing.reply import Body

_ANSWER = re.compile(r"^=== (\w+)\n(.*?)(?=^=== |\Z)", re.MULTILINE | re.DOTALL)
_CALL = re.compile(r"^CALL (\S+) (.*)$", re.MULTILINE)
_AT_ONCE = 32
_PATIENCE = 36_000  # seconds


def by_hand(desk: Path, body: Body) -> Reply:
    """Return what is written for a request, once it is written."""
    sent = {name: body.get(name) for name in ("messages", "tools", "response_format")}
    text = json.dumps(sent, ensure_ascii=False, indent=1)
    key = digest("request", text, length=6)
    (desk / f"{key}.json").write_text(text, "utf-8")
    answers = desk / "answers.txt"
    while True:
        written = dict(_ANSWER.findall(answers.read_text("utf-8"))) if answers.exists() else {}
        if key in written:
            calls = tuple(_CALL.findall(written[key]))
            return Reply("" if calls else written[key].strip(), calls=calls)
        time.sleep(0.5)


def ask(base: KnowledgeBase, file: Path) -> None:
    """Ask the questions of a file, at once, and print the answers with what they took."""
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = pool.map(base.ask, [line["question"] for line in lines])
        for line, answer in zip(lines, answers, strict=True):
            told = [f"## {line['question']}", answer.written(), *answer.notes]
            told += [f"MARKED {c}" for c in answer.checks if not c.supported]
            told.append(f"{answer.verdict}; {answer.steps[-1].detail}")
            print("\n".join(map(str, told)), "\n", flush=True)


def main() -> None:
    """Record answers to questions, or what is extracted from documents."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("desk", type=Path)
    parser.add_argument("tape", type=Path)
    parser.add_argument("what", choices=["ask", "ingest"])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--kb")
    given = parser.parse_args()
    given.desk.mkdir(parents=True, exist_ok=True)
    given.tape.unlink(missing_ok=True)
    with (
        FakeServer(lambda body: by_hand(given.desk, body)) as server,
        TemporaryDirectory() as folder,
    ):
        llm = ModelConfig(base_url=server.base_url, model="by-hand", concurrency=_AT_ONCE)
        config = Config(llm=llm, verify=VerifyConfig(timeout_s=_PATIENCE))
        endpoint = settings_for(llm)
        client = OpenAIChat(
            endpoint.place, timeout_s=_PATIENCE, max_tokens=endpoint.max_tokens, json_mode="schema"
        )
        with KnowledgeBase.open(
            given.kb or Path(folder, "kb"),
            config=config,
            embedder=None if given.kb else HashEmbedder(),
            model=Recorder(client, given.tape),
        ) as base:
            if given.what == "ingest":
                print(base.ingest(given.files))
            else:
                if not given.kb:
                    with KnowledgeBase.open(Path(folder, "kb"), embedder=HashEmbedder()) as plain:
                        plain.ingest([sample_folder()])
                ask(base, given.files[0])
    lines = given.tape.read_text("utf-8").split("\n")
    told = sorted(slim(Recording.from_line(line)).to_line() for line in lines if line)
    given.tape.write_text("".join(told), "utf-8")


if __name__ == "__main__":
    main()
