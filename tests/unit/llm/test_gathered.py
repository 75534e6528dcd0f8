import itertools

import pytest

from kgrag.errors import BrokenOffError
from kgrag.llm.chat import Usage
from kgrag.llm.gathered import gathered
from kgrag.llm.protocol import Piece


def gather(pieces, on_text=len, *, most_chars=10**9):
    return gathered(pieces, on_text, most_chars=most_chars)


def test_gathered_puts_pieces_together_and_shows_what_is_no_thought():
    """Text as it came, thoughts apart, the last end and count that were told."""
    seen = []
    pieces = [
        Piece(thought="嗯"), Piece("<think>甲"), Piece("</think>是"), Piece("。", finish="stop"),
        Piece(usage=Usage(3, 2)),
    ]  # fmt: skip
    whole = gather(pieces, seen.append)
    assert whole == Piece("<think>甲</think>是。", "嗯", "stop", Usage(3, 2))
    assert "".join(seen) == "是。"


def test_gathered_refuses_pieces_that_end_before_the_answer():
    """A part of an answer is none."""
    with pytest.raises(BrokenOffError, match="ended before the answer did: 半"):
        gather([Piece("半")])


@pytest.mark.parametrize(
    "piece",
    [Piece("一是推进节能降碳，"), Piece(thought="等等，再想一想。")],
    ids=["text", "thought"],
)
def test_gathered_ends_an_answer_that_runs_in_circles(piece):
    """It counts as cut; so does a thought, of which some models never come back."""
    taken = []
    pieces = (taken.append(1) or piece for _ in itertools.count())
    assert gather(pieces).finish == "length"
    assert len(taken) * 9 < 10_000


def test_gathered_goes_on_after_a_rule_of_dashes():
    """A look may fall on a row that repeats; the next one finds that it went on."""
    numbers = (Piece(f"第{n}项目标为{n}万吨。") for n in range(1000))
    pieces = itertools.chain([Piece("-" * 2000)], numbers, [Piece("完", finish="stop")])
    assert gather(pieces).text.endswith("完")


def test_gathered_ends_an_answer_that_does_not_keep_to_its_limit():
    """At the first piece beyond it."""
    whole = gather((Piece(f"{n},") for n in itertools.count(1000)), most_chars=50)
    assert (len(whole.text), whole.finish) == (55, "length")


def test_gathered_leaves_the_end_that_was_told():
    """An answer that came whole in one piece is no cut one, however long."""
    assert gather([Piece("x" * 99, finish="stop")], most_chars=9).finish == "stop"


def test_gathered_takes_an_answer_whose_line_stays_open():
    """Some endpoints do not hang up after the end; before it, silence is an error."""

    def silent_after(*pieces):
        yield from pieces
        raise BrokenOffError("late")

    assert gather(silent_after(Piece("好", finish="stop"))).text == "好"
    with pytest.raises(BrokenOffError, match="late"):
        gather(silent_after(Piece("好")))
