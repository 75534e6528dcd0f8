"""Token ids without cutting and padding, and their places."""

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from kgrag.embedding.installed import TOKENIZER_FILE
from kgrag.embedding.tokens import TextTokenizer
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
