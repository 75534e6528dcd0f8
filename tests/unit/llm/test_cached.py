import threading
from dataclasses import replace

import pytest

from kgrag.errors import ModelOutputError, TransientModelError
from kgrag.llm.cached import Cached, request_key
from kgrag.llm.calls import Calls
from kgrag.llm.chat import Message, Request
from kgrag.llm.fake import ScriptedChat

REQUEST = Request((Message("system", "读"), Message("user", "问")), "extract", doc_id="d-1")
PARAMETERS = {"base_url": "http://a/v1", "temperature": "0.0"}


@pytest.fixture
def calls(tmp_path):
    opened = Calls.open(tmp_path / "calls.db")
    yield opened
    opened.close()


def cached(script, calls, **parameters):
    model = ScriptedChat(script)
    return Cached(model, calls=calls, parameters=PARAMETERS | parameters), model


def only(text):
    """Return a check that lets one answer pass."""

    def accept(completion):
        if completion.text != text:
            raise ModelOutputError(f"not {text}", kind="invalid")

    return accept


def key(request=REQUEST, model="m", **parameters):
    return request_key(request, model=model, parameters=PARAMETERS | parameters)


def test_the_same_request_is_paid_once(calls):
    """Over models, too, that share the file; the hit says that it is one."""
    model, scripted = cached(["答"], calls)
    first = model.complete(REQUEST)
    again, other = cached([], calls)
    second = again.complete(REQUEST)
    assert (len(scripted.requests), len(other.requests)) == (1, 0)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert replace(second, from_cache=False) == first


@pytest.mark.parametrize(
    "other",
    [
        {"messages": (Message("system", "读"), Message("user", "问？"))},
        {"messages": (Message("user", "读"), Message("user", "问"))},
        {"messages": (Message("system", "读问"), Message("user", ""))},
        {"schema": {"type": "object"}},
        {"schema_name": "facts"},
        {"max_tokens": 10},
    ],
)
def test_whatever_decides_the_answer_is_in_the_key(other):
    """Messages with their roles, schema, length."""
    assert key(replace(REQUEST, **other)) != key()


def test_model_and_parameters_are_in_the_key():
    """Another model or endpoint answers otherwise; the order of parameters does not matter."""
    keys = [key(), key(model="n"), key(base_url="http://b/v1"), key(json="object")]
    assert len(set(keys)) == 4
    turned = dict(reversed(PARAMETERS.items()))
    assert request_key(REQUEST, model="m", parameters=turned) == key()


def test_document_and_stage_are_not_in_the_key():
    """Equal text is paid once across documents."""
    assert key(replace(REQUEST, doc_id="d-2", stage="summarize")) == key()


def test_a_corrected_answer_is_kept_for_the_question_itself():
    """What was added after a bad answer is no part of the key."""
    added = (Message("assistant", "坏"), Message("user", "再答"))
    longer = replace(REQUEST, messages=(*REQUEST.messages, *added))
    assert key(replace(longer, added=2)) == key()
    assert key(longer) != key()


def test_an_answer_that_is_refused_is_not_kept(calls):
    """The error goes on, and the next one asks anew."""
    model, scripted = cached(["坏", "好"], calls)
    with pytest.raises(ModelOutputError):
        model.complete(REQUEST, accept=only("好"))
    assert not calls.has_answer(model.key(REQUEST))
    assert model.complete(REQUEST, accept=only("好")).text == "好"
    assert len(scripted.requests) == 2


def test_a_kept_answer_that_is_refused_now_is_replaced(calls):
    """What reads it has changed."""
    model, _ = cached(["旧", "新"], calls)
    model.complete(REQUEST)
    assert model.complete(REQUEST, accept=only("新")).text == "新"
    assert calls.answer(model.key(REQUEST)).text == "新"


def test_a_hit_is_in_the_ledger_and_handed_on_whole(calls):
    """For the document that asked now."""
    model, _ = cached(["答案"], calls)
    model.complete(REQUEST)
    pieces = []
    model.complete(replace(REQUEST, doc_id="d-2"), on_text=pieces.append)
    assert pieces == ["答案"]
    (total,) = calls.totals("doc_id")
    assert (total.group, total.sent, total.from_cache, total.usage.prompt) == ("d-2", 0, 1, 0)


def test_equal_requests_under_way_are_sent_once(calls):
    """The others wait, and get the kept answer."""
    entered, leave = threading.Event(), threading.Event()

    def slow(_):
        entered.set()
        assert leave.wait(5)
        return "答"

    model, scripted = cached(slow, calls)
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(model.complete(REQUEST))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    assert entered.wait(5)
    leave.set()
    for thread in threads:
        thread.join()
    assert len(scripted.requests) == 1
    assert sorted(a.from_cache for a in answers) == [False] + [True] * 7


def test_who_waits_tries_for_itself_when_the_first_fails(calls):
    """Nobody gets another's error, and nobody waits for ever."""
    entered, leave = threading.Event(), threading.Event()

    def script(_):
        if entered.is_set():
            return "答"
        entered.set()
        assert leave.wait(5)
        raise TransientModelError("reset")

    model, scripted = cached(script, calls)
    outcomes = []

    def ask():
        try:
            outcomes.append(model.complete(REQUEST).text)
        except TransientModelError:
            outcomes.append("failed")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    threads[0].start()
    assert entered.wait(5)
    for thread in threads[1:]:
        thread.start()
    leave.set()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["failed", "答", "答", "答"]
    assert len(scripted.requests) == 2


def test_different_requests_do_not_wait_for_each_other(calls):
    """Only equal ones are held back."""
    both = threading.Barrier(2, timeout=5)

    def script(_):
        both.wait()
        return "答"

    model, scripted = cached(script, calls)
    other = replace(REQUEST, max_tokens=5)
    thread = threading.Thread(target=model.complete, args=(other,))
    thread.start()
    model.complete(REQUEST)
    thread.join()
    assert len(scripted.requests) == 2
