import hashlib
import json

import pytest

from kgrag.ingestion.chunk import ChunkSizes, chunk
from kgrag.ingestion.meta_model import read_meta_model
from kgrag.ingestion.passages import passages
from kgrag.ingestion.reading import ExtractSettings, former_request, planned_requests, read_passage
from kgrag.ingestion.resolve import name_resolver
from kgrag.llm.chat import Completion
from kgrag.llm.ledger import Calls, predict, request_key
from kgrag.llm.middleware import Cached
from kgrag.testing.scripted import ScriptedChat
from kgrag.types import Document

MODEL = read_meta_model("dual-carbon")
SETTINGS = ExtractSettings("combined", "both", MODEL)
TEXT = "第一章 目标\n" + "到2025年，建成绿色工厂500家。" * 40
ENGLISH = "Chapter 1\n" + "By 2025, 500 green factories stand. " * 40
PARAMETERS = {"temperature": "0.0"}
GOOD = json.dumps(
    {
        "facts": [
            {
                "quote": "建成绿色工厂500家",
                "triples": [
                    {"s": "绿色工厂", "st": "target", "p": "目标值为", "o": "500家", "ot": "value"}
                ],
            }
        ],
        "summaries": [],
    },
    ensure_ascii=False,
)


def document_of(text=TEXT):
    return Document("d", "云岭省节能规划", text, "d.txt", "txt", "00")


def passage_of(text=TEXT):
    return passages(
        chunk(document_of(text), [], ChunkSizes()), sizes=ChunkSizes(), most_chars=4096
    )[0]


def read(model, text=TEXT):
    document = document_of(text)
    leaves = [c for c in chunk(document, [], ChunkSizes()) if c.size == ChunkSizes().leaf]
    return read_passage(
        passage_of(text),
        leaves,
        names=name_resolver(document),
        settings=SETTINGS,
        model_of=lambda _: model,
    )


@pytest.fixture
def calls(tmp_path):
    calls = Calls.open(tmp_path / "calls.db")
    yield calls
    calls.close()


# Hashes of the keys of the requests that were sent for these texts before answers were rows.
SENT = {
    "knowledge, free, zh": "de12154b",
    "facts, free, zh": "a531cbf1",
    "summaries, free, zh": "045dccc4",
    "knowledge, schema, zh": "c8dd7e60",
    "facts, schema, zh": "8f6f6d12",
    "summaries, schema, zh": "045dccc4",
    "knowledge, both, zh": "95cbcf3e",
    "facts, both, zh": "9b236bb0",
    "summaries, both, zh": "045dccc4",
    "knowledge, free, en": "164af4a1",
    "facts, free, en": "13a6868c",
    "summaries, free, en": "2c303021",
    "knowledge, schema, en": "b50ff7f2",
    "facts, schema, en": "bca0c23a",
    "summaries, schema, en": "2c303021",
    "knowledge, both, en": "c005d70f",
    "facts, both, en": "b1d42bc4",
    "summaries, both, en": "2c303021",
}


@pytest.mark.parametrize("text", [TEXT, ENGLISH])
@pytest.mark.parametrize("facts", ["free", "schema", "both"])
@pytest.mark.parametrize("task", ["knowledge", "facts", "summaries"])
def test_former_requests_are_what_the_former_version_sent(task, facts, text):
    """To the letter, or what was paid is not found."""
    made = former_request(task, passage_of(text), facts=facts, meta_model=MODEL)
    key = request_key(made, model="m", parameters=PARAMETERS)
    name = f"{task}, {facts}, {'zh' if text is TEXT else 'en'}"
    assert hashlib.sha256(key.encode()).hexdigest()[:8] == SENT[name]


def test_an_answer_that_a_former_version_paid_is_read_and_not_paid_again(calls):
    """A folder of the former version is read anew for nothing."""
    former = former_request("knowledge", passage_of(), facts="both", meta_model=MODEL)
    key = request_key(former, model="m", parameters=PARAMETERS)
    calls.keep(key, Completion(GOOD, "m"))
    script = ScriptedChat([], name="m")
    known = read(Cached(script, calls=calls, parameters=PARAMETERS))
    assert [f.subject.name for f in known.facts] == ["绿色工厂"]
    assert script.requests == []
    planned = planned_requests(passage_of(), document_of(), settings=SETTINGS)
    told = predict(planned, model="m", parameters=PARAMETERS, calls=calls)
    assert (told.calls, told.cached_calls) == (0, 1)


def test_a_former_answer_of_no_use_is_asked_for_in_the_present_words(calls):
    """It is paid once more, and kept as it is asked for now."""
    former = former_request("knowledge", passage_of(), facts="both", meta_model=MODEL)
    calls.keep(request_key(former, model="m", parameters=PARAMETERS), Completion("{}", "m"))
    script = ScriptedChat([GOOD], name="m")
    model = Cached(script, calls=calls, parameters=PARAMETERS)
    assert len(read(model).facts) == len(read(model).facts) == 1
    (sent,) = script.requests
    assert "写成一行" in sent.messages[0].content
