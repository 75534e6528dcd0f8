"""A recorded model behind a local endpoint: what questions and reading take of it.

python benchmarks/replayed.py

Recordings (tests/cassettes, made by scripts/record.py) are found by stage, question and round, not
by the whole prompt, which every change of retrieval alters: each [n] of an answer is led to where
its evidence stands in the present prompt, and the request fails where it stands nowhere. Tokens are
the endpoint's own count.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from kgrag.answer.answer import Answer
from kgrag.api import KnowledgeBase
from kgrag.config import Config, ModelConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.reading import SCHEMA_NAMES
from kgrag.ingestion.samples import sample_folder
from kgrag.llm.chat import Message
from kgrag.llm.prompts import fence
from kgrag.llm.replay import Recording
from kgrag.testing import FakeServer, Reply
from kgrag.testing.reply import Body, contents
from kgrag.text.answer_text import marks
from kgrag.text.words import character_pairs, sentence_spans

CASSETTES = Path(__file__).parents[1] / "tests" / "cassettes"
READ = [
    "energy-conservation-regulation.txt",
    "shiqiao-forest-carbon-opinions.md",
    "charging-action-plan.html",
    "qingchuan-peak-plan.docx",
]
_FENCED = r"<{0} ([0-9a-f]{{8,}})>\n(.*?)\n</{0} \1>"
_PASSAGE = re.compile(r"\[(\d+)\]\s*<passage ([0-9a-f]{8,})>\n(.*?)\n</passage \2>", re.DOTALL)
_ROW = re.compile(r"^((?:\[\d+\])+) (.+)$", re.MULTILINE)
_PART = re.compile(r"⟦\d+⟧")
Key = tuple[str, str, str]
_USED = re.compile(r"(\d+) calls.*?; (\d+) tokens in, (\d+) out")


def fenced(text: str, label: str) -> list[str]:
    """Return the texts between tags of a name."""
    found = re.findall(_FENCED.format(label), text, re.DOTALL)
    return [inner for _, inner in found]


def shown(text: str) -> dict[int, str]:
    """Return the passages, without title, and the rows of a prompt by their [n], first ones.

    A row of several [n] is followed by the place of the one, from the second on.
    """
    found = {int(n): inner.partition("\n")[2] for n, _, inner in _PASSAGE.findall(text)}
    for rows in fenced(text, "rows"):
        for n, row in _rows(rows):
            found.setdefault(n, row)
    return found


def _rows(text: str) -> Iterator[tuple[int, str]]:
    for numbers, row in _ROW.findall(text):
        for place, number in enumerate(re.findall(r"\d+", numbers), 1):
            yield int(number), row if place == 1 else f"{row} ({place})"


def key_of(messages: Sequence[Message], schema: str) -> Key:
    """Return by what an answer is found: stage, question or document, and round or answer."""
    said = "\n".join(m.content for m in messages)
    if schema in SCHEMA_NAMES.values():
        return "extract", fenced(said, "document")[0].partition("；")[0], schema
    question = fenced(said, "question")[0]
    if schema:
        return schema, question, _compact(_unmarked(fenced(said, "answer")[0]))
    rounds = sum(m.role == "assistant" for m in messages)
    return "answer", question, "mended" if fenced(said, "problem") else str(rounds)


def slim(recording: Recording) -> Recording:
    """Return a recording with what `key_of` and `Recorded` read of its messages alone."""
    used = re.findall(r'"id":"(r\d+)"', recording.text)
    claims = [(n, recording.text[:at]) for at, _, n in marks(recording.text)]

    def kept(text: str) -> Iterator[str]:
        for label in ("document", "question", "answer", "problem"):
            yield from (fence(inner, label=label) for inner in fenced(text, label))
        rows = dict[str, None]()
        for number, whole in shown(text).items():
            found = [_evidence(whole, claim) for n, claim in claims if n == number]
            rows.update(dict.fromkeys(f"[{number}] {piece}" for piece in found))
        known = [k for k in "".join(fenced(text, "known")).split("\n") if k.split(":")[0] in used]
        for lines, label in (([*rows], "rows"), (known, "known")):
            yield from [fence("\n".join(lines), label=label)] * bool(lines)

    told = (replace(m, content="\n".join(kept(m.content))) for m in recording.messages)
    return replace(recording, messages=tuple(m for m in told if m.content or m.calls))


def _evidence(passage: str, claim: str) -> str:
    """Return the sentence of a passage, or its row, that shares most with the end of a text."""
    said = {*character_pairs(claim.rpartition("\n")[2])}
    spans = sentence_spans(passage)
    pieces = [line for a, b in spans for line in passage[a:b].split("\n") if line.strip()]
    whole = [passage] if "\n" not in passage else pieces
    return max(whole, key=lambda p: len(said & {*character_pairs(p)}) / len(p) ** 0.5).strip()


class Recorded:
    """Answers of recordings, for `FakeServer`.

    Attributes:
        lacking: What was asked and is not recorded, or cites what is not shown any more.
        given: What was read in documents, as sent.
    """

    def __init__(self, recordings: Iterable[Recording]) -> None:
        """Take recordings, slim or whole."""
        self._kept = {key_of(r.messages, r.schema): r for r in recordings}
        self.lacking: list[str] = []
        self.given: list[str] = []

    @classmethod
    def read(cls, *names: str) -> "Recorded":
        """Read files of the folder of recordings."""
        texts = ((CASSETTES / name).read_text("utf-8") for name in names)
        return cls(Recording.from_line(line) for text in texts for line in text.split("\n") if line)

    def calls(self, question: str) -> bool:
        """Return whether the model called tools to answer a question."""
        return bool(self._kept["answer", question, "0"].calls)

    def __call__(self, body: Body) -> Reply:
        """Return the recorded answer; an error where there is none."""
        sent, form = body["messages"], body.get("response_format")
        messages = [
            Message(m["role"], text)
            for m, text in zip(sent, contents(body), strict=True)  # type: ignore[call-overload]
        ]
        schema = form["json_schema"]["name"] if isinstance(form, Mapping) else ""
        key, said = key_of(messages, schema), "\n".join(m.content for m in messages)
        try:
            recording = self._kept[key]
            if key[0] == "extract":
                self.given.append(_extracted(recording, said))
                return Reply(self.given[-1])
            calls = tuple((call.name, call.arguments) for call in recording.calls)
            return Reply(recording.text if schema else _led(recording, said), calls=calls)
        except LookupError as exc:
            self.lacking.append(f"{' / '.join(key)}: {exc}; record it anew: scripts/record.py")
            return Reply(self.lacking[-1], status=400)


def used_by(answer: Answer) -> tuple[int, ...]:
    """Return the calls of an answer, and its tokens in and out."""
    return tuple(map(int, _USED.findall(answer.steps[-1].detail)[0]))


def _compact(text: str) -> str:
    return "".join(text.split())


def _unmarked(text: str) -> str:
    for start, end, _ in reversed([*marks(text)]):
        text = text[:start] + text[end:]
    return text


def _led(recording: Recording, said: str) -> str:
    """Return an answer with each [n] led to where its evidence is shown; else LookupError."""
    text, there = recording.text, shown(said)
    held = "\n".join(row for m in recording.messages for row in fenced(m.content, "rows"))
    rows = [*_rows(held)]
    for start, end, number in reversed([*marks(text)]):
        evidence = _evidence("\n".join(["", *(r for n, r in rows if n == number)]), text[:start])
        where = [n for n, t in there.items() if _compact(evidence) in _compact(t)]
        if not where:
            raise LookupError(f"[{number}] rests on {evidence!r}, which is not shown")
        text = f"{text[:start]}[{where[0]}]{text[end:]}"
    return text


def _extracted(recording: Recording, said: str) -> str:
    """Return what was read in a passage; LookupError for summaries that were not asked for."""
    given, passage = json.loads(recording.text), _compact(_PART.sub("", fenced(said, "passage")[0]))
    known = ("\n".join(m.content for m in recording.messages), said)
    then, now = (
        dict(line.split(": ", 1) for line in "".join(fenced(text, "known")).split("\n") if line)
        for text in known
    )
    ids = {line: number for number, line in now.items()}
    given["facts"] = [f for f in given["facts"] if _compact(f["quote"]) in passage]
    given["corrections"] = [
        c | {"id": ids[then[c["id"]]]} for c in given["corrections"] if then[c["id"]] in ids
    ]
    told = {s["part"]: s for s in given["summaries"]}
    asked = re.findall(r"(?:part：|write: )(.*)$", said, re.MULTILINE)
    given["summaries"] = [told[part] for part in re.split(r",\s*", asked[0])] if asked else []
    return json.dumps(given, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    """Print calls and tokens of the recorded questions and documents."""
    lines = (CASSETTES / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines]
    model = Recorded.read("answers.jsonl", "extraction.jsonl")
    files = [sample_folder() / name for name in READ]
    with FakeServer(model) as server, TemporaryDirectory() as folder:
        config = Config(llm=ModelConfig(base_url=server.base_url, model="recorded"))
        for name, samples, settings in (
            ("asked", [sample_folder()], Config()),
            ("read", files, config),
        ):
            with KnowledgeBase.open(
                Path(folder, name), config=settings, embedder=HashEmbedder()
            ) as base:
                print(base.ingest(samples).model)
        with KnowledgeBase.open(
            Path(folder, "asked"), config=config, embedder=HashEmbedder()
        ) as base:
            used = [used_by(base.ask(q)) for q in questions]
            for one in base.calls.totals():
                print(f"  {one.stage:8} {one.sent} calls, {one.usage}")
    calls, tokens = median(u[0] for u in used), median(sum(u[1:]) for u in used)
    print(f"{len(used)} questions: median {calls:g} calls, {tokens:g} tokens")
    print("\n".join(model.lacking))


if __name__ == "__main__":
    main()
