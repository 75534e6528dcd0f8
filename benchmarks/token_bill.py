"""What reading documents takes of a thorough model: predicted, and counted.

The model is a local server that answers as long as a thorough one does. Of a passage it states so
many facts that they took 1,638 tokens for 1,000 characters in the form of objects, with their
quotes and summaries, as measured of a large language model on four documents; the share of clauses
that it takes is set on other documents than are counted. A question's reading is one that a
model wrote, where there is one; an answer has six cited sentences. Tokens are the server's own
count, not the estimate that predictions rest on.

usage: python benchmarks/token_bill.py --files FOLDER [--tuning 20] [--documents 20]
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from kgrag.api import KnowledgeBase
from kgrag.config import Config, ModelConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.reading import SCHEMA_NAMES
from kgrag.llm.chat import Message
from kgrag.testing import FakeServer, Reply, stand_in
from kgrag.testing.reply import count_tokens

MEASURED = 1638.0  # tokens answered for 1,000 characters, as objects
_PASSAGE = re.compile(r"<passage ([0-9a-f]{8,})>\n(.*)\n</passage \1>", re.DOTALL)
_PARTS = re.compile(r"(?:要写的 part：|Parts to write: )(.*)$")
_NUMBERED = re.compile(r"\[(\d+)\]\s*<(\w[\w-]*) ([0-9a-f]{8,})>\n(.*?)\n</\2 \3>", re.DOTALL)
_CITED = 6  # sentences of an answer
_MARK = re.compile(r"⟦\d+⟧")
_SENTENCE = re.compile(r"[^。；;\n]{6,}[。；;]?")
_PIECE = re.compile(r"[^，、,：:。；;]+")
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)(%|万?亿?[\u4e00-\u9fff])?")
_CUT = 3500  # characters of a passage, when the share is set
_NAME = 14  # characters of what a triple names
_SUMMARY, _SUMMARY_OF_SEVERAL = 60, 120

Triple = tuple[str, str, str, tuple[str, ...]]  # subject, relation, object, value and unit
Item = tuple[str, list[Triple]]  # quote, triples


def items(text: str, share: float) -> Iterator[Item]:
    """Yield what is stated: of a share of the clauses of every sentence a triple each."""
    due = 0.0
    for sentence in _SENTENCE.findall(text):
        triples: list[Triple] = []
        for piece in _PIECE.findall(sentence):
            due += share
            if due >= 1:
                due -= 1
                number = _NUMBER.search(piece)
                value = (number[1], number[2] or "") if number else ()
                triples.append((sentence[:_NAME], "实施", piece[:_NAME], value))
        if triples:
            yield sentence, triples


def as_rows(stated: Sequence[Item]) -> list[object]:
    """Return facts as they are asked for: rows, on one line."""
    rows = [
        (quote, [[s, "industry", p, o, "measure", *value] for s, p, o, value in triples])
        for quote, triples in stated
    ]
    return [{"quote": quote, "triples": triples} for quote, triples in rows]


def as_objects(stated: Sequence[Item]) -> list[object]:
    """Return facts as they were asked for before: objects, without values."""
    keys = ("s", "st", "p", "o", "ot")
    rows = [
        (quote, [(s, "industry", p, o, "measure") for s, p, o, _ in triples])
        for quote, triples in stated
    ]
    return [
        {"quote": quote, "triples": [dict(zip(keys, t, strict=True)) for t in triples]}
        for quote, triples in rows
    ]


def answer(text: str, parts: Sequence[str], share: float, form: Callable[..., list[object]]) -> str:
    """Return the whole answer for a passage."""
    lengths = [_SUMMARY_OF_SEVERAL if "-" in part else _SUMMARY for part in parts]
    summaries = [
        {"part": part, "summary": text[i * 50 :][:length].replace("\n", "")}
        for i, (part, length) in enumerate(zip(parts, lengths, strict=True))
    ]
    facts = form(list(items(text, share)))
    whole = {"facts": facts, "summaries": summaries}
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))


def share_for(texts: Sequence[str], tokens: float) -> float:
    """Return the share of clauses that gives so many tokens for 1,000 characters, as objects."""
    cut = [text[i : i + _CUT] for text in texts for i in range(0, len(text), _CUT)]
    parts = ["1-2", "1", "2", "3-4", "3", "4"]
    low, high = 0.0, 4.0
    for _ in range(20):
        share = (low + high) / 2
        took = sum(count_tokens(answer(text, parts, share, as_objects)) for text in cut)
        low, high = (share, high) if took < tokens * sum(map(len, cut)) / 1000 else (low, share)
    return share


def server(
    share: float,
    note: Callable[[Mapping[str, object], Reply], object] = lambda *_: None,
) -> FakeServer:
    """Return a server that reads as thoroughly.

    Args:
        share: Of the clauses that are stated.
        note: Gets every request's body with its reply.
    """

    def reply(body: Mapping[str, object]) -> Reply:
        made = replied(body)
        note(body, made)
        return made

    def replied(body: Mapping[str, object]) -> Reply:
        said = "\n".join(message.content for message in messages(body))
        passage = _PASSAGE.search(said)
        if passage and name_of(body) in SCHEMA_NAMES.values():
            text, parts = _MARK.sub("", passage[2]), _PARTS.search(said)
            asked = re.split(r",\s*", parts[1]) if parts else []
            return Reply(answer(text, asked, share, as_rows))
        cited = [] if name_of(body) else _NUMBERED.findall(said)[:_CITED]
        return Reply("".join(map(sentence, cited))) if cited else stand_in(body)

    return FakeServer(reply)


def sentence(numbered: Sequence[str]) -> str:
    """Return the first sentence of a numbered passage, cited: (number, label, mark, text)."""
    number, _, _, text = numbered
    found = _SENTENCE.search(text)
    return f"{(found[0] if found else text)[:80].rstrip('。；;')}[{number}]。"


def messages(body: Mapping[str, object]) -> tuple[Message, ...]:
    """Return the messages of a request that came."""
    sent = body["messages"]
    assert isinstance(sent, list)
    return tuple(Message(m["role"], m["content"]) for m in sent)


def name_of(body: Mapping[str, object]) -> str:
    """Return the name of the schema of a request that came; empty for plain text."""
    match body.get("response_format"):
        case {"json_schema": {"name": str(name)}}:
            return name
    return ""


def row(*cells: object) -> None:
    """Print a row of a table."""
    shown = (f"{cell:,.0f}" if isinstance(cell, float) else str(cell) for cell in cells)
    print("| " + " | ".join(shown) + " |", flush=True)


def documents(files: Sequence[Path], share: float) -> None:
    """Print what reading documents takes, for 1,000 characters."""
    with server(share) as place, tempfile.TemporaryDirectory() as folder:
        llm = ModelConfig(base_url=place.base_url, model="thorough")
        config = Config(llm=llm)
        with KnowledgeBase.open(folder, config=config, embedder=HashEmbedder()) as base:
            told = [base.plan(files, sample=n).predictions["extract"] for n in (0, 8)]
            report = base.ingest(files)
            (total,) = base.calls.totals()
            per_1000 = 1000 / base.counts().characters
        if report.failed:
            sys.exit(f"{len(report.failed)} documents failed: {report.failed[0]}")
    counted = total.usage
    lengths = [count_tokens_of(r.body) for r in place.requests]
    row("documents", "calls", "tokens in / 1,000 characters", "tokens out / 1,000 characters")
    row("---", "---", "---", "---")
    for name, p in zip(("predicted", "predicted, after 8 calls"), told, strict=True):
        # what was sampled is kept, and no part of what is predicted
        sampled = total.sent - p.calls if name != "predicted" else 0
        scale = total.sent / p.calls if sampled else 1.0
        row(name, p.calls, *(per_1000 * scale * n for n in (p.prompt_tokens, p.completion_tokens)))
    row("counted", total.sent, per_1000 * counted.prompt, per_1000 * counted.completion)
    dropped = report.model.dropped if report.model else {}
    print(f"\nlongest prompt {max(lengths):,}; dropped: {dict(dropped)}")


def count_tokens_of(body: Mapping[str, object]) -> int:
    """Return the server's count of a request."""
    return count_tokens("".join(message.content for message in messages(body)))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=Path, required=True)
    parser.add_argument("--tuning", type=int, default=20)
    parser.add_argument("--documents", type=int, default=20)
    given = parser.parse_args()
    files = sorted(path for path in given.files.iterdir() if path.is_file())
    tuning, counted = files[:: max(1, len(files) // given.tuning)], files[1::3][: given.documents]
    counted = [file for file in counted if file not in tuning]
    share = share_for([file.read_text("utf-8") for file in tuning], MEASURED)
    print(f"{share:.2f} facts a clause: {MEASURED:,.0f} tokens for 1,000 characters as objects\n")
    documents(counted, share)


if __name__ == "__main__":
    main()
