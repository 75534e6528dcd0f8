from kgrag.answering.cite import Backing, Held


def held(quoted="", above="", anywhere=None):
    features = frozenset(quoted.split()), frozenset(above.split())
    everywhere = features[0] | features[1] if anywhere is None else frozenset(anywhere.split())
    return Held(*features, everywhere)


def backing(said, passages, asked=""):
    return Backing(frozenset(said.split()), frozenset(asked.split()), dict(enumerate(passages, 1)))


def test_share_counts_numbers_three_times_and_headings_half():
    """Both passages hold everything somewhere, so that all features weigh alike but for kind."""
    everywhere = "a b #0"
    passages = [held("#0", "a", everywhere), held("a b #0", "", everywhere)]
    found = backing("a b #0", passages)
    assert round(found.share([1]), 6) == (3 + 0.5) / 5
    assert found.share([2]) == found.share([1, 2]) == 1


def test_share_counts_what_few_passages_hold_more():
    """`a` stands in one of two passages, `b` in both: ln 3 and ln 2."""
    found = backing("a b", [held("a", "", "a b"), held("b", "", "b")])
    assert found.share([1]) > 0.6 > 0.4 > found.share([2])


def test_share_counts_the_question_a_third():
    """What was asked tells which of many passages is meant."""
    everywhere = "a q"
    found = backing("a", [held("a", "", everywhere), held("a q", "", everywhere)], asked="q")
    assert round(found.share([1]), 6) == round(1 / 1.3, 6)
    assert found.share([2]) == 1


def test_led_back_needs_much_more_for_few_words_that_the_cited_passage_holds_too():
    """A heading or an organ stands in many passages; a part of the question is no reason."""
    passages = [held("a b", "", "a b q r s t"), held("a b q", "", "a b q r s t")]
    assert backing("a b", passages, asked="q r s t").led_back([1]) == [1]
    passages[1] = held("a b q r s t")
    assert backing("a b", passages, asked="q r s t").led_back([1]) == [2]


def test_share_of_nothing_said_is_nothing():
    """A sentence of one character has no pairs."""
    assert backing("", [held("a")]).share([1]) == 0


def test_led_back_replaces_the_citation_that_adds_least():
    """The others stay in their places."""
    found = backing("a b c d", [held("a b"), held("x"), held("c d")])
    assert found.led_back([1, 2]) == [1, 3]
    assert found.led_back([2, 1]) == [3, 1]
    assert found.led_back([1, 3]) == [1, 3]


def test_led_back_leaves_what_is_copied_from_the_cited_passage():
    """Whatever another passage holds of the question."""
    said = "a b c d e f g h"
    passages = [held(said), held(f"{said} p q r s t u v w")]
    assert backing(said, passages, asked="p q r s t u v w").led_back([1]) == [1]
    assert backing("a b", passages, asked="p q r s t u v w").led_back([1]) == [2]


def test_led_back_leaves_a_citation_where_no_passage_holds_much():
    """A little more of a sentence that none supports is chance."""
    found = backing("a b c d e f g h i j", [held("x"), held("a b")])
    assert found.led_back([1]) == [1]
