"""Texts to token ids, windows over long texts, and the tokens of spans."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from kgrag.embedding.model_folder import TOKENIZER_FILE
from kgrag.embedding.tokens import (
    Piece,
    TextTokenizer,
    lowered,
    pieces,
    tokens_of_spans,
    windows,
)
from kgrag.errors import ModelError


def test_encode_gives_ids_and_places_without_special_tokens(tiny_files):
    """Limits and padding in the file are not heeded: the caller cuts."""
    tokenizer = Tokenizer.from_file(str(tiny_files / TOKENIZER_FILE))
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=9)
    first, second = TextTokenizer(tokenizer, max_tokens=8).encode(["ab绿色", "c"])

    assert (first.ids, first.offsets) == ([4, 5, 7, 8], [(0, 1), (1, 2), (2, 3), (3, 4)])
    assert second.ids == [6]


def test_framed_puts_the_special_tokens_around(tiny_files):
    """[CLS] before and [SEP] behind, so that two tokens less of the text are read."""
    tokenizer = TextTokenizer.from_folder(tiny_files, max_tokens=8)

    assert tokenizer.framed([4, 5]) == [2, 4, 5, 3]
    assert (tokenizer.limit, tokenizer.n_before) == (6, 1)


def test_encode_keeps_places_where_a_text_is_not_valid_unicode(tiny_files):
    """Half a surrogate pair is one unknown character."""
    (tokens,) = TextTokenizer.from_folder(tiny_files, max_tokens=8).encode(["\ud800a"])

    assert (tokens.ids, tokens.offsets) == ([1, 4], [(0, 1), (1, 2)])


def test_from_folder_refuses_what_is_no_tokenizer(tmp_path, tiny_files):
    """A file that is none, one without tokens, a limit that leaves no room for text."""
    (tmp_path / TOKENIZER_FILE).write_text("<html>")
    with pytest.raises(ModelError, match="cannot load the tokenizer"):
        TextTokenizer.from_folder(tmp_path, max_tokens=8)

    silent = Tokenizer(models.WordLevel({}, "x"))
    silent.pre_tokenizer = pre_tokenizers.Split("a", "removed")
    with pytest.raises(ModelError, match="no tokens for the letter a"):
        TextTokenizer(silent, max_tokens=8)

    with pytest.raises(ModelError, match=r"special tokens alone are 2.*Remedy"):
        TextTokenizer.from_folder(tiny_files, max_tokens=2)


@pytest.fixture
def tokenizer(tiny_files):
    """[CLS] letters [SEP], eight tokens at most; a, b, c are 4, 5, 6."""
    assert (tiny_files / TOKENIZER_FILE).is_file()
    return TextTokenizer.from_folder(tiny_files, max_tokens=8)


def test_pieces_hold_the_instruction_and_skip_it(tokenizer):
    """It is read before the window and is in no span."""
    (piece,) = pieces(tokenizer, ["ab"], [[(0, 1), (0, 2)]], instruction="c")

    assert piece.feed == [2, 6, 4, 5, 3]
    assert piece.kept.tolist() == [[2, 3], [2, 4]]


def test_pieces_of_a_long_text_keep_every_token_once(tokenizer):
    """Each window has its instruction; sums over all pieces count each token once."""
    text = "ab" * 15
    sums = np.zeros((2, 1), np.float32)
    for piece in pieces(tokenizer, ["", text], [[], [(0, 30), (7, 9)]], instruction="c"):
        assert piece.text == 1
        assert piece.feed[:2] == [2, 6]
        assert len(piece.feed) <= 8
        sums += piece.sums(np.ones((len(piece.feed), 1), np.float32))

    assert sums.tolist() == [[30], [2]]


def test_pieces_of_blanks_are_in_no_span(tokenizer):
    """A span without words has no tokens, even where the tokenizer gives some."""
    (piece,) = pieces(tokenizer, ["a  b"], [[(1, 3)]], instruction="")

    assert piece.kept[0][0] == piece.kept[0][1]


def test_pieces_need_room_beside_the_instruction(tokenizer):
    """An instruction as long as the limit leaves nothing to read."""
    with pytest.raises(ModelError, match="has 6 tokens, as many as the model reads"):
        list(pieces(tokenizer, ["a"], [[(0, 1)]], instruction="c" * 6))


def test_lowered_keeps_every_character_in_its_place():
    """One capital in Unicode has two small letters."""
    assert lowered("PUE 绿") == "pue 绿"
    assert lowered("İAB") == "İab"


@given(n_tokens=st.integers(0, 400), size=st.integers(1, 90))
def test_windows_keep_each_token_once_and_read_what_they_keep(n_tokens, size):
    """No token is lost or counted twice; no window is longer than the model reads."""
    found = windows(n_tokens, size)
    kept = [token for window in found for token in range(window.keep_from, window.keep_to)]

    assert kept == list(range(n_tokens))
    for window in found:
        assert window.start <= window.keep_from <= window.keep_to <= window.end
        assert window.end - window.start == min(size, n_tokens)


def test_windows_give_context_on_both_sides_of_a_cut():
    """In the middle of a text each kept token has a sixteenth of a window before and behind it."""
    found = windows(1000, 160)

    for window in found[:-1]:
        assert window.end - window.keep_to >= 10
    for window in found[1:]:
        assert window.keep_from - window.start >= 10


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ((0, 2), (0, 1)),
        ((2, 5), (1, 2)),  # the blank at 2 belongs to no token
        ((3, 6), (1, 3)),
        ((4, 4), (1, 1)),  # no characters
        ((2, 3), (1, 1)),  # no tokens
        ((0, 99), (0, 4)),
        ((6, 9), (2, 4)),  # a token that a span cuts belongs to it
        ((9, 12), (4, 4)),
    ],
)
def test_tokens_of_spans_are_those_that_a_span_touches(span, expected):
    """Tokens at (0, 2), (3, 5), (5, 7) and (7, 8)."""
    found = tokens_of_spans([(0, 2), (3, 5), (5, 7), (7, 8)], [span])

    assert found.shape == (1, 2)
    first, behind = found[0]
    if expected[0] == expected[1]:
        assert first == behind
    else:
        assert (first, behind) == expected


def test_tokens_of_spans_takes_texts_and_spans_that_are_empty():
    """No tokens, or no spans: shapes hold."""
    assert tokens_of_spans([], [(0, 3)]).tolist() == [[0, 0]]
    assert tokens_of_spans([(0, 1)], []).shape == (0, 2)


def test_sums_are_of_the_kept_states_of_each_span():
    """A span without any has zeros."""
    states = np.arange(10, dtype=np.float32).reshape(5, 2)
    piece = Piece(0, [], np.array([[2, 3], [2, 4], [4, 4]]))

    assert piece.sums(states).tolist() == [[4, 5], [10, 12], [0, 0]]
