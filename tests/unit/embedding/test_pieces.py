"""What a model reads for late chunking."""

import numpy as np
import pytest

from kgrag.embedding.installed import TOKENIZER_FILE
from kgrag.embedding.pieces import lowered, pieces
from kgrag.embedding.tokens import TextTokenizer
from kgrag.errors import ModelError


@pytest.fixture
def tokenizer(tiny_files):
    """[CLS] letters [SEP], eight tokens at most; a, b, c are 4, 5, 6."""
    assert (tiny_files / TOKENIZER_FILE).is_file()
    return TextTokenizer.from_folder(tiny_files, max_tokens=8)


def test_pieces_hold_the_instruction_and_skip_it(tokenizer):
    """It is read before the window and is in no span."""
    (piece,) = pieces(tokenizer, ["ab"], [[(0, 1), (0, 2)]], instruction="c")

    assert piece.feed == [2, 6, 4, 5, 3]
    assert piece.skip == 2
    assert piece.spans.tolist() == [[0, 1], [0, 2]]


def test_pieces_of_a_long_text_keep_every_token_once(tokenizer):
    """Each window has its instruction; sums over all pieces count each token once."""
    text = "ab" * 15
    sums = np.zeros((2, 1), np.float32)
    for piece in pieces(tokenizer, ["", text], [[], [(0, 30), (7, 9)]], instruction="c"):
        assert piece.text == 1
        assert piece.feed[:2] == [2, 6]
        assert len(piece.feed) <= 8
        piece.add_to(sums, np.ones((len(piece.feed), 1), np.float32))

    assert sums.tolist() == [[30], [2]]


def test_pieces_of_blanks_are_in_no_span(tokenizer):
    """A span without words has no tokens, even where the tokenizer gives some."""
    (piece,) = pieces(tokenizer, ["a  b"], [[(1, 3)]], instruction="")

    assert piece.spans[0][0] == piece.spans[0][1]


def test_pieces_need_room_beside_the_instruction(tokenizer):
    """An instruction as long as the limit leaves nothing to read."""
    with pytest.raises(ModelError, match="has 6 tokens, as many as the model reads"):
        list(pieces(tokenizer, ["a"], [[(0, 1)]], instruction="c" * 6))


def test_lowered_keeps_every_character_in_its_place():
    """One capital in Unicode has two small letters."""
    assert lowered("PUE 绿") == "pue 绿"
    assert lowered("İAB") == "İab"
