"""What becomes part of a query of Lucene's: nothing in a term is an operator."""

import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.store.neo4j.address import parse
from kgrag.store.neo4j.search import (
    _FACTOR,
    _MOST_DOCUMENTS,
    _MOST_TERMS,
    Search,
    _bm25,
    _weighted,
    any_of,
    quoted,
)
from kgrag.store.terms import terms_version
from tests.fixtures.double import Double

PHRASE = r'"((?:[^"\\]|\\.)*)"'  # of Lucene: a backslash takes the meaning from what follows
OPERATORS = '"\\+-&|!(){}[]^~*?:/ \t\n'
texts = st.text(st.one_of(st.sampled_from(OPERATORS), st.characters()), max_size=20)


def meant(phrase):
    """Return what a phrase stands for."""
    return re.sub(r"\\(.)", r"\1", phrase, flags=re.DOTALL)


def phrases(query):
    """Return the phrases that a query consists of, or fail."""
    assert re.fullmatch(rf"({PHRASE}( {PHRASE})*)?", query, re.DOTALL)
    return [meant(found) for found in re.findall(PHRASE, query, re.DOTALL)]


@given(texts)
def test_a_quoted_text_is_one_phrase(text):
    """It ends where we end it, and stands for the text."""
    assert phrases(quoted(text)) == [text]


@given(st.lists(texts, max_size=5))
def test_any_of_some_terms_is_a_phrase_each(terms):
    """No term reaches into the next."""
    assert phrases(any_of(terms)) == terms


@given(st.lists(st.tuples(texts, st.floats(1e-6, 1e6)), max_size=5))
def test_a_weighted_term_is_a_phrase_in_its_field(terms):
    """With its weight as a plain number; one with blanks is in no text and left out."""
    query = _weighted("words", terms)

    part = rf"words:{PHRASE}\^\d+\.\d{{6}}"
    assert re.fullmatch(rf"({part}( {part})*)?", query, re.DOTALL)
    kept = [(t, w) for t, w in terms if t and not re.search(r"\s", t)]
    found = re.findall(rf"words:{PHRASE}\^([\d.]+)", query, re.DOTALL)
    assert [meant(phrase) for phrase, _ in found] == [t for t, _ in kept]
    assert [float(w) for _, w in found] == pytest.approx([w for _, w in kept], abs=1e-6)


@pytest.mark.parametrize("text", ['a" OR doc_key:x', "a\\", '\\"', '" "', "OR", "碳*", "(节能"])
def test_operators_are_text(text):
    """As an attacker, or a careless document, may write them."""
    assert phrases(quoted(text)) == [text]


def test_a_query_does_not_grow_beyond_what_lucene_takes():
    """1024 clauses, of which the fields take some."""
    assert len(phrases(any_of([str(i) for i in range(5000)]))) == _MOST_TERMS < 1024


@given(st.floats(1e-3, 1e3))
def test_a_score_is_rounded_to_what_float32_holds(score):
    """Five digits, and with the factor k1 + 1 that Lucene leaves out."""
    assert _bm25(score) == pytest.approx(_FACTOR * score, rel=1e-4)
    assert len(re.sub(r"e.*|\.|^0\.0*|-", "", f"{_bm25(score):.15g}").strip("0")) <= 5


class Recorder(Double):
    """A knowledge base whose size 8 is ready, and that notes what it is asked."""

    address = parse("bolt://graph:7687#energy")
    driver = None

    def __init__(self, scores=()):
        self.asked, self.scores = [], list(scores)

    def read(self, name, /, **parameters):
        """Answer the statements that a search runs."""
        if name == "base":
            return [{"terms_version": terms_version(), "ready": [8]}]
        assert (name, parameters["index"]) == ("search_terms", "kgrag_terms_8_energy")
        self.asked.append(parameters)
        rows = [{"id": f"c{i:03}", "score": s} for i, s in enumerate(self.scores)]
        return rows[: parameters["limit"]]


def asked(call, **more):
    """Return what a search asks the server, None for nothing."""
    recorder = Recorder()
    call(Search(recorder), size=8, top_k=5, **more)
    return recorder.asked[0]["query"] if recorder.asked else None


@pytest.mark.parametrize(("field", "indexed"), [("text", "words"), ("path", "path_words")])
def test_words_search_the_field_of_their_name(field, indexed):
    """Heaviest first, so that the most of them are kept."""
    query = asked(Search.search_words, terms={"节能": 1.0, "工厂": 2.0}, field=field)
    assert query == f'{indexed}:"工厂"^2.000000 {indexed}:"节能"^1.000000'


def test_words_within_documents_do_not_score_by_the_document():
    """Its key must match and adds nothing."""
    query = asked(Search.search_words, terms={"节能": 1.0}, field="text", doc_ids=['x" OR words:y'])
    assert re.fullmatch(r'\+doc_key:\("[0-9a-f]{16}"\)\^0 \+\(words:"节能"\^1\.000000\)', query)


@pytest.mark.parametrize("top_k", [1, 5, 9])
def test_of_more_documents_than_a_query_may_name_hits_are_sifted(top_k):
    """More are fetched until there are enough within, or no more at all."""
    recorder = Recorder([9.0 - i / 100 for i in range(400)])  # c000 is chunk and document
    wanted = [f"c{i:03}" for i in range(300, 307)]
    hits = Search(recorder).search_words(
        {"a": 1.0},
        field="text",
        size=8,
        top_k=top_k,
        doc_ids={*wanted, *map(str, range(_MOST_DOCUMENTS))},
    )
    assert [chunk for chunk, _ in hits] == wanted[:top_k]
    assert "doc_key" not in recorder.asked[0]["query"]


@pytest.mark.parametrize(("field", "indexed"), [("text", "pairs"), ("path", "path_pairs")])
def test_a_phrase_is_its_pairs_in_a_row(field, indexed):
    """Marks of the question do not reach Lucene."""
    query = asked(Search.search_phrase, phrase='节能" 办"法', field=field)
    assert query == f'{indexed}:"节能 能办 办法"'


@pytest.mark.parametrize(
    ("call", "given_"),
    [
        (Search.search_words, {"terms": {}}),
        (Search.search_words, {"terms": {"a b": 1.0}}),
        (Search.search_words, {"terms": {"a": 1.0}, "doc_ids": []}),
        (Search.search_phrase, {"phrase": "节能", "doc_ids": []}),
        (Search.search_phrase, {"phrase": ""}),
        (Search.search_phrase, {"phrase": "《 》"}),
    ],
)
def test_what_nothing_can_match_is_not_asked(call, given_):
    """An empty query is an error for Lucene."""
    assert asked(call, field="text", **given_) is None


def test_works_are_under_way_at_once():
    """Each waits for the others: one after the other, none would end."""
    search, all_there = Search(Recorder()), threading.Barrier(4)
    assert sorted(search.side_by_side([lambda: all_there.wait(30)] * 4)) == [0, 1, 2, 3]
    search._threads.shutdown()


@pytest.mark.parametrize("n", [6, 40, 200])
def test_a_tie_is_seen_to_its_end(n):
    """However long it is: more are fetched until a lower score comes, or no more."""
    recorder = Recorder([2.0, *[1.0] * n, 0.5])
    recorder.scores[1:-1] = recorder.scores[1:-1][::-1]
    hits = Search(recorder).search_words({"a": 1.0}, field="text", size=8, top_k=5)

    assert [chunk for chunk, _ in hits] == ["c000", "c001", "c002", "c003", "c004"]
    assert recorder.asked[-1]["limit"] > n or len(recorder.asked) == 1
