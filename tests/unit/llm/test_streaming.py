"""Answers as they come."""

import itertools
import threading
import time
from contextlib import closing
from typing import Any

import pytest

from kgrag.endpoint.address import Place
from kgrag.errors import BrokenOffError
from kgrag.llm.chat import Usage
from kgrag.llm.protocol import Piece
from kgrag.llm.streaming import KeyFilter, ThoughtFilter, gather, in_time, without_thoughts

KEY = "k-0123456789abcdef"
PLACE = Place("http://x/v1", "m", KEY, "SOME_KEY")
LONG = 20.0  # seconds that no test takes


def gathered(pieces, on_text=len, *, most_chars=10**9):
    return gather(pieces, on_text, most_chars=most_chars)


def test_gather_puts_pieces_together_and_shows_what_is_no_thought():
    """Text as it came, thoughts apart, the last end and count that were told."""
    seen: list[Any] = []
    pieces = [
        Piece(thought="嗯"), Piece("<think>甲"), Piece("</think>是"), Piece("。", finish="stop"),
        Piece(usage=Usage(3, 2)),
    ]  # fmt: skip
    whole = gathered(pieces, seen.append)
    assert whole == Piece("<think>甲</think>是。", "嗯", "stop", Usage(3, 2))
    assert "".join(seen) == "是。"


def test_gather_refuses_pieces_that_end_before_the_answer():
    """A part of an answer is none."""
    with pytest.raises(BrokenOffError, match="ended before the answer did: 半"):
        gathered([Piece("半")])


@pytest.mark.parametrize(
    "piece",
    [Piece("一是推进节能降碳，"), Piece(thought="等等，再想一想。")],
    ids=["text", "thought"],
)
def test_gather_ends_an_answer_that_runs_in_circles(piece):
    """It counts as cut; so does a thought, of which some models never come back."""
    taken = itertools.count()
    assert gathered(piece for _ in taken).finish == "length"
    assert next(taken) * 9 < 10_000


def test_gather_goes_on_after_a_rule_of_dashes():
    """A look may fall on a row that repeats; the next one finds that it went on."""
    numbers = (Piece(f"第{n}项目标为{n}万吨。") for n in range(1000))
    pieces = itertools.chain([Piece("-" * 2000)], numbers, [Piece("完", finish="stop")])
    assert gathered(pieces).text.endswith("完")


def test_gather_ends_an_answer_that_does_not_keep_to_its_limit():
    """At the first piece beyond it."""
    whole = gathered((Piece(f"{n},") for n in itertools.count(1000)), most_chars=50)
    assert (len(whole.text), whole.finish) == (55, "length")


def test_gather_leaves_the_end_that_was_told():
    """An answer that came whole in one piece is no cut one, however long."""
    assert gathered([Piece("x" * 99, finish="stop")], most_chars=9).finish == "stop"


def test_gather_takes_an_answer_whose_line_stays_open():
    """Some endpoints do not hang up after the end; before it, silence is an error."""

    def silent_after(*pieces):
        yield from pieces
        raise BrokenOffError("late")

    assert gathered(silent_after(Piece("好", finish="stop"))).text == "好"
    with pytest.raises(BrokenOffError, match="late"):
        gathered(silent_after(Piece("好")))


def taken(produce, *, wait_s=LONG, left_s=LONG):
    return in_time(produce, wait_s=wait_s, deadline=time.monotonic() + left_s, late="late")


def dripping(item, ended=None):
    """Return what gives an item again and again, and sets an event in the end."""

    def produce():
        try:
            while True:
                yield item
                time.sleep(0.002)
        finally:
            if ended is not None:
                ended.set()

    return produce


def test_in_time_yields_all_in_order_without_nothings():
    """None is handed to nobody."""

    def produce():
        yield from (1, None, 2, None)

    assert list(taken(produce)) == [1, 2]


def test_in_time_raises_what_the_producer_raises():
    """After what came before."""

    def produce():
        yield 1
        raise KeyError("x")

    items = taken(produce)
    assert next(items) == 1
    with pytest.raises(KeyError):
        next(items)


def test_in_time_gives_up_when_nothing_comes():
    """Although the producer is stuck where nothing can interrupt it."""
    stuck = threading.Event()

    def produce():
        stuck.wait(LONG)
        yield 1

    with pytest.raises(BrokenOffError, match="late"):
        list(taken(produce, wait_s=0.05))
    stuck.set()


@pytest.mark.parametrize(("item", "limits"), [(1, {"left_s": 0.05}), (None, {"wait_s": 0.05})])
def test_in_time_gives_up_on_what_drips_for_ever(item, limits):
    """Items go on until the deadline; nothings are no sign of life. The thread ends, too."""
    ended = threading.Event()
    with pytest.raises(BrokenOffError):
        list(taken(dripping(item, ended), **limits))
    assert ended.wait(LONG)


def test_in_time_lets_the_producer_end_when_nobody_takes_more():
    """What it holds open is closed where it was opened."""
    ended = threading.Event()
    with closing(taken(dripping(1, ended))) as items:
        next(items)
    assert ended.wait(LONG)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("是。[1]", "是。[1]"),
        ("<think>嗯</think>\n\n是。", "是。"),
        (" \n<think></think>是。", "是。"),
        ("<think>没有说完", ""),
        ("先说<think>不是开头</think>", "先说<think>不是开头</think>"),
        ("<thinking>别的标签", "<thinking>别的标签"),
        ("<thi", "<thi"),
        ("  \n", "  \n"),
        ("", ""),
        ("<think>a</think><think>b</think>c", "<think>b</think>c"),
    ],
)
def test_thoughts_are_left_out_whatever_the_pieces_when_they_come_first(answer, shown):
    """Only a `<think>` at the very start goes, and cutting the answer up changes nothing."""
    assert without_thoughts(answer) == shown
    for size in (1, 2, 3, 7):
        thoughts = ThoughtFilter()
        pieces = [thoughts.feed(answer[i : i + size]) for i in range(0, len(answer), size)]
        assert "".join(pieces) + thoughts.end() == shown


def test_feed_gives_words_at_once_when_no_thought_can_come():
    """Nothing is held back longer than it must be."""
    thoughts = ThoughtFilter()
    assert thoughts.feed("<t") == ""
    assert thoughts.feed("able>") == "<table>"
    assert thoughts.feed("<think>") == "<think>"


@pytest.mark.parametrize("at", range(1, len(KEY)))
def test_key_filter_hides_a_key_that_comes_in_two_pieces(at):
    """Wherever it is split; what only begins like it comes at once, or at the end."""
    key_filter = KeyFilter(PLACE)
    shown = [
        key_filter.feed(piece) for piece in ("is k", "-0", f", {KEY[:at]}", f"{KEY[at:]}!", "k")
    ]
    assert "".join(shown) == "is k-0, ***!"
    assert (key_filter.end(), key_filter.end()) == ("k", "")


def test_key_filter_hides_the_parts_of_a_key_that_has_dots():
    """Split within a part, and within the key."""
    key_filter = KeyFilter(Place("", "", "0123456789.abcdefghij"))
    pieces = ("id 01234", "56789.abc", "defghij secret ", "abcdefg", "hij", "!")
    assert "".join(map(key_filter.feed, pieces)) + key_filter.end() == "id ***.*** secret ***!"


def test_key_filter_gives_all_on_where_there_is_no_secret():
    """A key of a letter holds nothing back."""
    key_filter = KeyFilter(Place("", "", "x"))
    assert [key_filter.feed("x"), key_filter.feed("xx")] == ["x", "xx"]
