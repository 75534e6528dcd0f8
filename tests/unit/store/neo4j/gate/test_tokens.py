import pytest

from kgrag.store.neo4j.gate.tokens import tokens


def values(text):
    return [token.value for token in tokens(text)]


def test_comments_and_spaces_are_left_out():
    """Neither takes part in what a statement does; a lone carriage return ends a line too."""
    assert values("RETURN/*'*/1 // \"\n, // `\r2 /* // */ ,\u30003") == [
        *("RETURN", "1", ",", "2", ",", "3")
    ]


def test_a_text_or_name_is_one_token_whatever_it_holds():
    """Quotes of other kinds, escapes and comment signs within it are its own."""
    assert values(r"""'a"\'//' "b'\\" `c``'/*`""") == ["a\"'//", "b'\\", "c`'/*"]


def test_a_backslash_before_a_quote_keeps_the_text_open_and_two_do_not():
    """As in Neo4j: what follows a closed text is code."""
    assert values(r"'\\' DELETE") == ["\\", "DELETE"]
    assert values(r"'\' DELETE'") == ["' DELETE"]
    assert values(r"'\q' DELETE //'") == [r"\q", "DELETE"]


def test_block_comments_do_not_nest():
    """The first `*/` ends it, so that what follows is code."""
    assert values("/* /* */ DELETE /* */ */")[:1] == ["DELETE"]


def test_a_dot_after_a_number_is_a_dot_and_two_are_a_range():
    """Slices and property reads keep their names apart from numbers."""
    assert values("a[1..2] 1.5 n.x") == ["a", "[", "1", "..", "2", "]", "1.5", "n", ".", "x"]


def test_only_bare_words_are_keywords():
    """A name in backticks or a text never is one, a word in any case is, ſ reads as S."""
    read = tokens("set `set` 'set' ſet .")
    assert [token.keyword for token in read] == ["SET", "", "", "SET", "."]
    assert [token.name for token in read] == ["set", "set", "", "ſet", ""]


@pytest.mark.parametrize(
    "text",
    [
        *(r"\u0043REATE", r"'\u0027'", r"\uu0043", r"\U0043", r"'\\u0041'"),
        *("RETURN 'a", 'RETURN "a\\"', "RETURN `a", "RETURN `a``", "RETURN 1 /* x", "/*/"),
        *("RETURN 1\x00", "RETURN '\x00'", "RETURN\x1c1", "// a\x0bb", "RETURN\x851", "\ud800"),
        *("RE\u200bTURN 1", "\ufeffRETURN 1", "RETURN\u20601", "RETURN \ue000"),
    ],
)
def test_what_two_readers_may_read_differently_is_refused(text):
    """Escapes of characters, open quotes and comments, invisible characters in code."""
    with pytest.raises(ValueError, match=r"escape|never closed|control character|invisible"):
        tokens(text)


def test_invisible_characters_within_a_text_are_allowed():
    """Texts of documents hold them."""
    assert values("RETURN 'a\u200bb'") == ["RETURN", "a\u200bb"]
