"""A stand-in for a chat model: it answers every system's prompts from the same rules, at once.

What is asked is known by words of each system's own prompts; what is stated is always what
`benchmarks.peers.facts` finds in the passage or question, in the form that is wanted. No answer is
ever made of anything else. A prompt that it does not know is an error: a system must not go on with
a wrong answer.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from benchmarks.peers import facts
from kgrag.llm.chat import Completion, OnText, Request, Usage
from kgrag.testing.reply import Reply, count_tokens

TOKENS = "0.6 a Chinese character, 0.25 any other character"
_SUMMARY = 60  # characters of a summary, as kgrag's prompt allows for a section
_SUMMARY_OF_SEVERAL = 120
_DESCRIPTION = 60  # of an entity or relation: the sentence, cut
_LIMITS = re.compile(r"at most (\d+) total rows and at most (\d+) entity rows")
_LIGHTRAG_TEXT = re.compile(r"---Input Text---\n```\n(.*?)\n```\n\n---Output---", re.DOTALL)
_KGRAG_PASSAGE = re.compile(r"<passage ([0-9a-f]{8,})>\n(.*)\n</passage \1>", re.DOTALL)
_KGRAG_PARTS = re.compile(r"(?:要写的 part：|Parts to write: )(.*)$")
_KGRAG_FENCED = re.compile(r"<([\w-]+) ([0-9a-f]{8,})>\n(.*?)\n</\1 \2>", re.DOTALL)
_KGRAG_MARK = re.compile(r"⟦\d+⟧")


class StandIn:
    """A model that counts its calls.

    Attributes:
        name: Of the model.
        calls: Answered so far.
        prompt_tokens: Of their prompts, by the rule of `TOKENS`.
        completion_tokens: Of their answers.
        tokens_by_form: Of prompts and answers together, by what was asked for.
        seconds: That the answers took.
    """

    name = "stand-in"

    def __init__(self) -> None:
        self.calls = self.prompt_tokens = self.completion_tokens = 0
        self.tokens_by_form: dict[str, int] = {}
        self.seconds = 0.0
        self._guard = threading.Lock()

    def answer(self, messages: Sequence[str]) -> str:
        """Return the answer to a conversation, the contents of its messages.

        Raises:
            ValueError: If the prompt is none that it knows.
        """
        begun = time.perf_counter()
        said = "\n".join(messages)
        form = next((form for mark, form in FORMS.items() if mark in said), None)
        if form is None:
            raise ValueError(f"no form is known for this prompt: {said[:500]!r}")
        text = form(said, messages)
        taken, given = count_tokens(said), count_tokens(text)
        name = form.__name__.strip("_")
        with self._guard:
            self.calls += 1
            self.prompt_tokens += taken
            self.completion_tokens += given
            self.tokens_by_form[name] = self.tokens_by_form.get(name, 0) + taken + given
            self.seconds += time.perf_counter() - begun
        return text

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Answer as kgrag's own seam to models wants."""
        contents = [message.content for message in request.messages]
        text = self.answer(contents)
        usage = Usage(count_tokens("\n".join(contents)), count_tokens(text))
        if on_text is not None:
            on_text(text)
        return Completion(text, self.name, usage=usage)

    def reply(self, body: Mapping[str, object]) -> Reply:
        """Answer as `kgrag.testing.FakeServer` wants, for systems that only know an address."""
        sent = body["messages"]
        assert isinstance(sent, list)
        return Reply(self.answer([str(message["content"]) for message in sent]))


def _lightrag_facts(said: str, messages: Sequence[str]) -> str:
    text = _LIGHTRAG_TEXT.findall(said)[-1]
    limits = _LIMITS.findall(messages[-1])
    rows, entities = map(int, limits[-1]) if limits else (100, 40)
    going_on = "Based on the last extraction task" in messages[-1]
    described: dict[str, str] = {}
    found = facts.facts(text)
    for fact in found:
        for name in (fact.subject, fact.object):
            described.setdefault(name, fact.sentence[:_DESCRIPTION])
    names = [*described][entities:] if going_on else [*described]
    told = set(names[:entities])
    known = set([*described][:entities]) | told
    lines = [f"entity<|#|>{n}<|#|>Concept<|#|>{described[n]}" for n in names[:entities]]
    pairs: dict[frozenset[str], str] = {}
    for a, verb, b, sentence in found:
        if {a, b} <= known and {a, b} & told:
            line = f"relation<|#|>{a}<|#|>{b}<|#|>{verb}<|#|>{sentence[:_DESCRIPTION]}"
            pairs.setdefault(frozenset((a, b)), line)
    return "\n".join([*[*lines, *pairs.values()][:rows], "<|COMPLETE|>"])


def _lightrag_summary(said: str, _: Sequence[str]) -> str:
    told = re.findall(r'"Description": "(.*?)"', said) or [said[-_SUMMARY_OF_SEVERAL:]]
    return "".join(told)[:_SUMMARY_OF_SEVERAL]


def _lightrag_keywords(said: str, _: Sequence[str]) -> str:
    asked = re.findall(r"User Query: (.*)", said)[-1]
    words = facts.keywords(asked)
    return _json({"high_level_keywords": words, "low_level_keywords": words})


def _zilliz_facts(_: str, messages: Sequence[str]) -> str:
    text = messages[-1].removeprefix("Text: ")
    return _json({"triplets": [fact[:3] for fact in facts.facts(text)]})


def _zilliz_entities(_: str, messages: Sequence[str]) -> str:
    asked = messages[-1].partition("Question: ")[2].strip()
    return _json({"named_entities": facts.keywords(asked)})


def _zilliz_reranked(_: str, messages: Sequence[str]) -> str:
    asked, _, relations = messages[-1].partition("Relationship descriptions:")
    words = facts.keywords(asked.partition("Question:")[2])
    lines = [line for line in relations.splitlines() if line.startswith("[")]
    lines.sort(key=lambda line: -sum(word in line for word in words))
    return _json({"thought_process": "", "useful_relations": lines[:5]})


def _kgrag_facts(said: str, messages: Sequence[str]) -> str:
    passage = _KGRAG_PASSAGE.search(messages[-1])
    assert passage is not None
    text = _KGRAG_MARK.sub("", passage[2])
    by_quote: dict[str, list[list[str]]] = {}
    for a, verb, b, sentence in facts.facts(text):
        by_quote.setdefault(sentence, []).append([a, "measure", verb, b, "measure"])
    named = _KGRAG_PARTS.search(messages[-1])
    parts = [part for part in re.split(r",\s*", named[1]) if part] if named else []
    lengths = [_SUMMARY_OF_SEVERAL if "-" in part else _SUMMARY for part in parts]
    told = text.replace("\n", "")
    summaries = [
        {"part": part, "summary": told[:length]}
        for part, length in zip(parts, lengths, strict=True)
    ]
    rows = [{"quote": quote, "triples": triples} for quote, triples in by_quote.items()]
    return _json({"facts": rows, "summaries": summaries})


def _kgrag_question(_: str, messages: Sequence[str]) -> str:
    fenced = _KGRAG_FENCED.search(messages[-1])
    asked = fenced[3] if fenced else messages[-1]
    words = [{"name": word, "synonyms": []} for word in facts.keywords(asked)[:8]]
    nothing: list[str] = []
    return _json(
        {
            "keywords": words,
            "critical": asked[:40],
            "wordings": nothing,
            "passage": "",
            "sub_questions": nothing,
        }
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# Words of a prompt, and who answers it; the first that stands in it counts.
FORMS: Mapping[str, Callable[[str, Sequence[str]], str]] = {
    "expert keyword extractor, specializing in analyzing user queries": _lightrag_keywords,
    "synthesize a list of descriptions of a given entity or relation": _lightrag_summary,
    "You are a Knowledge Graph Specialist responsible for extracting": _lightrag_facts,
    "You are an expert knowledge graph builder. Your task is to extract": _zilliz_facts,
    "You're a very effective entity extraction system": _zilliz_entities,
    'Return JSON with "thought_process" and "useful_relations"': _zilliz_reranked,
    "你从文件的一段中提取知识三元组": _kgrag_facts,
    "你为政策文件检索解读用户的问题": _kgrag_question,
}
