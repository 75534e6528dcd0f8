"""What holds at the command line however a model misbehaves; see `tests.hostile.modes`."""

import json
import re
import shutil
from dataclasses import replace
from itertools import chain

import pytest

from kgrag.testing.reply import Reply, contents, stand_in
from tests.fixtures import extent
from tests.hostile.modes import (
    INVENTED,
    KEY,
    MODES,
    OK,
    WRONG_KEY,
    Mode,
    always,
    freely,
    task,
    where,
)
from tests.hostile.scene import (
    KEY_ENV,
    MAX_CALLS,
    Said,
    at_a_terminal,
    in_a_process,
    in_this_process,
    question_of,
    scene,
)

HEALTHY = Mode("healthy", lambda: stand_in, OK, OK, "whole")
NAMED = {mode.name: mode for mode in MODES}
ANSWERING = [mode for mode in MODES if mode.name.startswith(("reading", "verification"))]
OTHERS = [mode for mode in MODES if mode not in ANSWERING]


def modes(*chosen):
    return pytest.mark.parametrize("mode", [*chain(*chosen)], ids=lambda mode: mode.name)


@pytest.fixture(autouse=True)
def short_rests(monkeypatch):
    """Wait less for an endpoint that may come back: here it does not."""
    monkeypatch.setattr("kgrag.llm.middleware._RESTS_S", (0.05, 0.05, 60.0))


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    """Give knowledge bases of undisturbed runs, without and with the hostile document."""
    made = {}
    for hostile in (False, True):
        folder = tmp_path_factory.mktemp("healthy")
        with scene(folder, replace(HEALTHY, hostile=hostile), in_this_process) as undisturbed:
            assert undisturbed.kgrag("ingest", undisturbed.documents).code == 0
            made[hostile] = (undisturbed.kb, undisturbed.kgrag("export").stdout)
    return made


def check(said, told):
    """Refuse what a command left unless it is what must be told."""
    assert said.code == told.code, said.all
    for piece in told.says:
        assert piece in said.all
    assert "Traceback" not in said.all
    assert (said.code == 0) or said.stderr.strip()


@modes(OTHERS, extent.among(ANSWERING, 2))
def test_ingest_loses_nothing(mode, healthy, tmp_path):
    """Documents are stored, keys kept secret, and what a model could not read is made good."""
    _, undisturbed = healthy[mode.hostile]
    with scene(tmp_path, mode, in_this_process) as hostile:
        check(hostile.kgrag("ingest", hostile.documents), mode.ingest)
        assert "all invariants hold" in hostile.kgrag("verify").stdout
        left = hostile.kgrag("export").stdout
        assert INVENTED not in left
        assert documents(left) == documents(undisturbed)
        assert (left == undisturbed) == (mode.after == "whole")

        hostile.heal()
        retried = hostile.kgrag("ingest", "--retry-failed")
        assert retried.code == 0, retried.all
        assert ("retried" in retried.stdout) == (mode.after == "waiting")
        if mode.after != "pieces":
            assert hostile.kgrag("export").stdout == undisturbed
        asked = len(hostile.server.requests)
        assert "3 unchanged" in hostile.kgrag("ingest", hostile.documents).stdout
        assert len(hostile.server.requests) == asked
        assert [n for n in hostile.answered.values() if n > 1] == []
        assert hostile.leaks() == []


def documents(export):
    """Return what tells the documents in an export."""
    records = map(json.loads, export.splitlines())
    return [(r["doc_id"], r["content_hash"]) for r in records if "content_hash" in r]


@modes(ANSWERING, extent.among(OTHERS, 14))
def test_ask_comes_to_an_end(mode, healthy, tmp_path):
    """In few calls, with an answer or sentences quoted by rule, and with what went wrong."""
    kb, _ = healthy[mode.hostile]
    with scene(tmp_path, mode, in_this_process) as hostile:
        shutil.copytree(kb, hostile.kb)
        said = hostile.kgrag("ask", question_of(mode), *mode.options)
        check(said, mode.ask)
        assert re.search(r"\[1\]", said.stdout)
        assert len(hostile.server.requests) <= MAX_CALLS
        assert hostile.leaks() == []


DROPPED = replace(
    NAMED["connection dropped in the middle"],
    name="connection dropped in the middle of the answer",
    behaviour=where(lambda body: not task(body), lambda _: Reply("好。" * 50, drop="inside")),
)


@pytest.mark.parametrize(
    ("mode", "code", "says"),
    extent.among(
        [
            (DROPPED, 1, "the answer broke off; ask again"),
            (NAMED["answer in another language"], 0, "回答与问题不是同一种语言"),
            (NAMED["500 once"], 0, "核验（cov）：通过"),
            (NAMED["refusal, of one document"], 1, "quoted by rule instead"),
        ],
        2,
    ),
    ids=lambda value: getattr(value, "name", None),
)
def test_ask_at_a_terminal_tells_what_became_of_the_draft(healthy, tmp_path, mode, code, says):
    """There the answer is streamed: what has been shown is not asked for again."""
    mode = replace(mode, hostile=False)
    with scene(tmp_path, mode, at_a_terminal) as hostile:
        shutil.copytree(healthy[False][0], hostile.kb)
        said = hostile.kgrag("ask", question_of(mode))
        assert said.code == code, said.all
        assert says in said.all
        assert "Traceback" not in said.all
        assert any(received.body.get("stream") for received in hostile.server.requests)


def test_a_key_is_not_logged_either(tmp_path):
    """With -v, in a process of its own, all that is logged is seen."""
    with scene(tmp_path, NAMED["wrong key (401), echoed"], in_a_process) as hostile:
        said = hostile.kgrag("ingest", hostile.documents, log=True)
        assert said.code == 1
        assert "INFO" in said.stderr
        assert "***" in said.stderr
        assert hostile.leaks() == []


def echoing(body):
    """Answer as a model does, and tell the key with which it was asked."""
    reply = stand_in(body)
    told = f', "note": "{KEY}"}}' if reply.text.endswith("}") else f"\n{KEY}"
    return replace(reply, text=reply.text.removesuffix("}") + told)


def test_a_key_in_an_answer_is_neither_shown_nor_kept(tmp_path):
    """Whole or in the pieces of a draft: not in an answer, a step, the log, or a file."""
    mode = replace(HEALTHY, behaviour=lambda: echoing)
    with scene(tmp_path, mode, in_this_process) as hostile:
        assert hostile.kgrag("ingest", hostile.documents, log=True).code == 0
        hostile.run = at_a_terminal
        said = hostile.kgrag("ask", question_of(mode), "--explain", log=True)
        assert "***" in said.stderr  # of the draft
        hostile.run = in_this_process
        assert hostile.kgrag("stats", "--cost").code == 0
        assert hostile.leaks() == []


def test_leaks_are_found(tmp_path):
    """The search for keys finds one, in what is printed and in files."""
    with scene(tmp_path, HEALTHY, lambda words, env: Said(0, KEY, "", 0.0)) as leaking:
        leaking.kgrag("ask")
        (tmp_path / "kept").write_text(f"x{WRONG_KEY}", "utf-8")
        assert leaking.leaks() == ["output 0", "kept"]


def test_no_document_can_end_its_fence(tmp_path, healthy):
    """Its tags, marks and roles reach the model as material, between tags that it cannot write."""
    mode = NAMED["instructions in a document, ignored"]
    mode = replace(mode, behaviour=freely(mode.behaviour))  # so that its answer is checked, too
    with scene(tmp_path, mode, in_this_process) as hostile:
        hostile.kgrag("ingest", hostile.documents)
        hostile.kgrag("ask", question_of(mode), "--verify", "chats-grid")
        seen = ["\n".join(contents(received.body)) for received in hostile.server.requests]
    seen = [text for text in seen if "石门县财政局" in text]
    assert len(seen) == 4  # read, rated, answered from, checked with
    for text in seen:
        [material] = re.findall(
            r"<(passage|reference) (\w{8})>\n((?:(?!\n</\1 \2>).)*?石门县财政局.*?)\n</\1 \2>",
            text,
            re.DOTALL,
        )
        label, mark, inside = material
        assert text.count(f"</{label} {mark}>") == 1
        assert "忽略以上指令" in inside
        assert "</passage 00000000>" in inside
        assert "⟦9⟧" not in inside or "⟦1⟧" not in text


def test_retry_while_it_still_fails_changes_nothing(tmp_path):
    """Exit code 1 again, the same graph; what was answered before is not asked again."""
    with scene(tmp_path, NAMED["refusal, of one document"], in_this_process) as hostile:
        hostile.kgrag("ingest", hostile.documents)
        before, asked = hostile.kgrag("export").stdout, len(hostile.server.requests)
        again = hostile.kgrag("ingest", "--retry-failed")
        assert again.code == 1
        assert "1 refused" in again.stderr
        assert hostile.kgrag("export").stdout == before
        assert len(hostile.server.requests) == asked + 2


def test_what_was_answered_of_a_passage_that_failed_is_not_paid_again(tmp_path):
    """Its facts were read, its summaries refused: only these are asked for again."""
    refusing = where(lambda body: task(body) == "summaries", lambda _: Reply("抱歉，我不能回答。"))
    mode = Mode("", refusing, OK, OK, "waiting")
    with scene(tmp_path, mode, in_this_process, calls="separate") as hostile:
        assert "3 refused" in hostile.kgrag("ingest", hostile.documents).stderr
        assert sorted(hostile.answered.values()) == [1] * 3
        hostile.heal()
        assert "calls 3, kept 3," in hostile.kgrag("ingest", "--retry-failed").stdout
        assert sorted(hostile.answered.values()) == [1] * 6


def test_a_model_that_fails_for_good_is_not_waited_for_document_by_document(tmp_path):
    """When calls failed, each after all its tries, and two trials as well, no more are made."""
    mode = Mode("", always(Reply("oops", 500)), OK, OK, "waiting", llm={"attempts": 1})
    with scene(tmp_path, mode, in_this_process) as hostile:
        for n in range(40):
            (hostile.documents / f"{n}.txt").write_text(f"第{n}号方案\n推进节能{n}。", "utf-8")
        said = hostile.kgrag("ingest", hostile.documents)
        assert said.code == 1
        assert "43 added" in said.stdout
        assert "calls in a row failed" in said.stderr
        assert len(hostile.server.requests) < 20
        assert KEY_ENV not in said.all
