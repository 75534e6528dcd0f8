"""Calls and tokens of a question to a model, by stage, with a local double of a model.

python benchmarks/question_cost.py --kb KB --questions labels/analyst.jsonl --n 25

The double answers as real models do, in form and length: the two sentences of the passages that
share most characters with the question, reworded a little, each with its [n]; where the set says
that nothing is held, it searches once, if it has functions, and then says so. It finds every answer
true. Tokens are its own counts. No measure of what answers are worth.
"""

import argparse
import json
import re
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from kgrag.api import KnowledgeBase
from kgrag.config import Config, ModelConfig
from kgrag.testing.reply import Body, Reply, contents, stand_in
from kgrag.testing.server import FakeServer
from kgrag.text.answer_text import NOT_FOUND
from kgrag.text.words import sentence_spans

_PASSAGE = re.compile(r"\[(\d+)\]\s*<passage ([0-9a-f]{8,})>\n(.*?)\n</passage \2>", re.DOTALL)
_USED = re.compile(r"(\d+) calls.*?; (\d+) tokens in, (\d+) out")
_QUESTION = re.compile(r"<question ([0-9a-f]{8,})>\n(.*?)\n</question \1>", re.DOTALL)


def double(body: Body, held: dict[str, bool]) -> Reply:
    """Return what the double says."""
    said = "\n".join(contents(body))
    asked = _QUESTION.findall(said)
    if body.get("response_format") or not asked:
        return stand_in(body)
    question = asked[0][1]
    if not held.get(question, True):
        has_looked = '"tool"' in json.dumps([m["role"] for m in body["messages"]])
        if body.get("tools") and not has_looked:
            words = json.dumps({"question": question}, ensure_ascii=False)
            return Reply("", calls=(("search", words),))
        return Reply(NOT_FOUND["zh"])
    found = []
    for number, _, text in _PASSAGE.findall(said):
        for start, end in sentence_spans(text):
            sentence = " ".join(text[start:end].split())
            if 10 <= len(sentence) <= 150:
                shared = len({*question} & {*sentence}) / len(sentence) ** 0.5
                found.append((shared, sentence.rstrip("。；"), number))
    best = sorted(found, reverse=True)[:2]
    told = "".join(f"按照规定，{sentence}[{n}]。" for _, sentence, n in best)
    return Reply(told or NOT_FOUND["zh"])


def main() -> None:
    """Print calls and tokens."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kb", required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--n", type=int, default=25)
    given = parser.parse_args()
    lines = map(json.loads, given.questions.read_text("utf-8").splitlines())
    asked = {line["question"]: line.get("held", True) for line in lines}
    asked = dict(list(asked.items())[: given.n])
    calls, tokens = [], []
    with FakeServer(lambda body: double(body, asked)) as server, TemporaryDirectory() as folder:
        kept = str(Path(folder) / "calls.db")
        config = Config(llm=ModelConfig(base_url=server.base_url, model="double", calls=kept))
        with KnowledgeBase.open(given.kb, create=False, config=config) as base:
            for question in asked:
                used = _USED.search(base.ask(question).steps[-1].detail)
                calls.append(int(used[1]))
                tokens.append(int(used[2]) + int(used[3]))
            totals, n = base.calls.totals(), len(asked)
    print(f"{n} questions of {given.questions.name}")
    for one in totals:
        prompt, answered = one.usage.prompt / n, one.usage.completion / n
        print(f"  {one.stage:8} {one.sent / n:5.2f} calls {prompt:8.0f} in {answered:6.0f} out")
    print(f"  median {median(calls):g} calls, {median(tokens):g} tokens; ", end="")
    print(f"most {max(calls)}, {max(tokens)}")


if __name__ == "__main__":
    main()
