import json

import pytest
import tantivy

from kgrag.store.terms import padded, pair_terms, word_terms


def test_padded_lengths_are_those_that_tantivy_keeps_exactly():
    """Up to 3,000 terms: the length that a score is explained with is the one that was added."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("t", tokenizer_name="whitespace", index_option="freq")
    schema = builder.build()
    index = tantivy.Index(schema)
    lengths = sorted({len(padded(["a"] * n)) for n in range(1, 3000)})
    writer = index.writer(15_000_000, 1)
    for n in lengths:
        writer.add_document(tantivy.Document(t=" ".join([f"only{n}", *["a"] * (n - 1)])))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()

    searcher = index.searcher()
    for n in lengths:
        query = tantivy.Query.term_query(schema, "t", f"only{n}", "freq")
        ((_, address),) = searcher.search(query, 1).hits
        assert length_in(json.loads(query.explain(searcher, address).to_json())) == n


def length_in(explanation):
    """Return the field length that an explanation of tantivy's names."""
    if explanation["description"].startswith("dl"):
        return explanation["value"]
    inner = (length_in(detail) for detail in explanation.get("details", ()))
    return next((n for n in inner if n is not None), None)


@pytest.mark.parametrize("n", [0, 1, 24, 39, 40, 41, 100, 255, 1000, 5000])
def test_padding_adds_less_than_an_eighth(n):
    """Short lists stay as they are; the terms come first."""
    terms = [str(i) for i in range(n)]
    out = padded(terms)

    assert out[:n] == terms
    assert len(out) - n <= max(0, n - 24) / 8
    assert n > 40 or len(out) == n


def test_terms_hold_words_and_pairs():
    """Stop words and marks are left out of words; pairs run over marks."""
    assert word_terms("建设的《工厂》") == ["建设", "工厂"]
    assert pair_terms("建设\n《工厂》") == ["建设", "设工", "工厂"]
