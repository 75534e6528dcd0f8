"""Lexical and dense search, and that it follows every change."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kgrag.errors import StoreError
from kgrag.vectors.vector import KINDS
from tests.fixtures import extent

FIELDS = ("text", "path")
WORDS = [
    *("绿色", "工厂", "节能", "降碳", "标准", "体系", "建设", "目标"),
    *("清洁", "能源", "钢铁", "水泥", "监测", "考核", "责任", "资金"),
]


def put(store, bundle):
    store.upsert_document(bundle, source=f"/archive/{bundle.document.file}")
    return bundle


def words(store, *terms, field="text", size=8, top_k=10, **more):
    return store.search_words(
        dict.fromkeys(terms, 1.0), field=field, size=size, top_k=top_k, **more
    )


def phrase(store, text, *, field="text", size=8, top_k=10, **more):
    hits = store.search_phrase(text, field=field, size=size, top_k=top_k, **more)
    return [c for c, _ in hits]


def found(hits):
    return [node_id for node_id, _ in hits]


def test_words_rank_by_how_many_and_how_rare(store, make):
    """Two words beat one, a rare word beats a common one; absent words do no harm."""
    put(store, make.bundle("a", "节能，推进，，，节能，工厂，，，"))
    put(store, make.bundle("b", "降碳，推进，，，节能，推进，，，"))

    assert found(words(store, "节能", "工厂"))[0] == "d-a:8:1"
    assert found(words(store, "降碳", "节能", "不在"))[0] == "d-b:8:0"
    assert words(store, "不在") == []
    assert store.search_words({}, field="text", size=8, top_k=5) == []


def test_words_weigh_as_told(store, make):
    """A weight multiplies a word's score."""
    put(store, make.bundle("a", "绿色，，，，，，节能，，，，，，"))

    def best(green):
        terms = {"绿色": green, "节能": 1.0}
        return store.search_words(terms, field="text", size=8, top_k=1)[0]

    assert best(2.0)[0] == "d-a:8:0"
    assert best(0.5)[0] == "d-a:8:1"
    assert best(2.0)[1] == pytest.approx(2 * best(0.5)[1], rel=1e-3)


def test_words_search_one_group_and_one_route(store, make):
    """Sizes do not mix; the path is title and headings, not the text."""
    put(
        store, make.bundle("a", "钢铁行业，节能目标。" * 3, title="水泥方案", headings=["钢铁行业"])
    )

    assert sorted(found(words(store, "节能", size=24))) == ["d-a:24:0", "d-a:24:1"]
    assert all(c.startswith("d-a:8:") for c in found(words(store, "节能")))
    assert words(store, "水泥") == []
    assert len(words(store, "水泥", field="path")) == 4
    assert len(words(store, "钢铁", field="path")) == 4
    assert words(store, "节能", field="path") == []
    assert words(store, "节能", size=7) == []


def test_words_within_documents(store, make):
    """`doc_ids` leaves the others out and does not change a score; an empty list finds nothing."""
    for name in "abc":
        put(store, make.bundle(name, "绿色工厂，节能。" + name))
    everywhere = dict(words(store, "节能"))

    within = words(store, "节能", doc_ids={"d-b", "d-x", "d-c"})
    assert within == [(c, everywhere[c]) for c in ("d-b:8:0", "d-c:8:0")]
    assert words(store, "节能", doc_ids=[]) == []


def test_phrases_within_documents(store, make):
    """As words: what the others hold takes no place, also for a phrase of one character."""
    for name in "abc":
        put(store, make.bundle(name, "绿色工厂，节能。碳" + name))

    for text in ("绿色工厂", "节能", "碳"):
        for field in FIELDS:
            everywhere = phrase(store, text, field=field, top_k=99)
            wanted = [c for c in everywhere if not c.startswith("d-a")]
            within = {"doc_ids": {"d-b", "d-x", "d-c"}}
            assert phrase(store, text, field=field, top_k=99, **within) == wanted
            assert phrase(store, text, field=field, top_k=1, **within) == wanted[:1]
            assert phrase(store, text, field=field, doc_ids=[]) == []
    assert len(phrase(store, "绿色工厂", doc_ids={"d-b", "d-c"})) == 2


def test_words_and_phrases_within_very_many_documents(store, make):
    """More than one statement can name: none is forgotten."""
    for i in range(3):
        put(store, make.bundle(f"z{i}", "绿色工厂" * (i + 1)))
    many = {f"d-{i:04}" for i in range(3000)} | {"d-z0"}

    assert found(words(store, "工厂", top_k=1, doc_ids=many)) == ["d-z0:8:0"]
    assert phrase(store, "绿色工厂", top_k=1, doc_ids=many) == ["d-z0:8:0"]


def test_ties_go_by_chunk_id(store, make):
    """Many chunks of one score: the smallest ids, however few are asked for."""
    for i in range(30, 0, -1):
        put(store, make.bundle(f"{i:02}", "绿色工厂"))

    for top_k in (1, 7, 29, 99):
        expected = [f"d-{i:02}:8:0" for i in range(1, 31)][:top_k]
        assert found(words(store, "工厂", top_k=top_k)) == expected
        assert phrase(store, "绿色工厂", top_k=top_k) == expected
    assert words(store, "工厂", top_k=0) == []


@pytest.mark.parametrize(
    "text",
    [
        "印发节能\n办法的通知",
        "印发《节能》办法",
        "印发“节 能”办法",
        "（节能、办法）",
        "节能办法",
    ],
)
def test_a_phrase_is_found_whatever_stands_between(store, make, text):
    """Line breaks, quotes, blanks and marks do not part a phrase; nor do they in the question."""
    put(store, make.bundle("a", text, title="甲"))
    put(store, make.bundle("b", "节省能源的办法", title="乙"))

    assert phrase(store, "节能办法", size=24) == ["d-a:24:0"]
    assert phrase(store, "《节能\n办法》", size=24) == ["d-a:24:0"]


def test_a_phrase_is_blind_to_width_and_case(store, make):
    """As everywhere, names are compared normalised."""
    put(store, make.bundle("a", "ＰＵＥ值，降至１．３。"))

    assert phrase(store, "pue值降至13", size=24) == ["d-a:24:0"]


def test_a_phrase_is_one_and_in_order(store, make):
    """All its characters elsewhere do not make it; nor does a part of it."""
    put(store, make.bundle("a", "办法节能，节能与办法"))

    assert phrase(store, "节能办法", size=24) == []
    assert phrase(store, "办法节能", size=24) == ["d-a:24:0"]


def test_a_phrase_in_the_path_does_not_run_from_title_to_heading(store, make):
    """Title and headings are separate texts."""
    put(store, make.bundle("a", "办法细则，正文内容。", title="关于节能", headings=["办法细则"]))

    assert len(phrase(store, "关于节能", field="path")) == 2
    assert len(phrase(store, "办法细则", field="path")) == 2
    assert phrase(store, "节能办法", field="path") == []


def test_short_phrases(store, make):
    """Two characters are a phrase; one is searched as a word; marks alone find nothing."""
    put(store, make.bundle("a", "推进节能。碳，排放"))

    assert phrase(store, "节能") == ["d-a:8:0"]
    assert phrase(store, "碳") == ["d-a:8:0"]
    assert phrase(store, "《》") == []
    assert phrase(store, "") == []


@pytest.mark.parametrize(
    "text", ['a" OR 1=1 --', "text:(", "* ? ~ ^ \\", "\x00", "x" * 5000, "\x1f"]
)
def test_nothing_in_a_question_is_syntax(store, make, text):
    """Hostile questions are only texts that are not there."""
    put(store, make.bundle("a", "绿色工厂"))

    assert words(store, text) == []
    assert phrase(store, text) == []
    assert store.search_entities(text, top_k=3) == []
    assert store.find_documents(text, top_k=3) == []
    assert store.find_entities([text]) == []


def test_documents_are_found_by_title(store, make):
    """Titles that contain the name, shortest first; a single character names none."""
    for name, title in (
        ("a", "省节能办法（试行）"),
        ("b", "《节能办法》"),
        ("c", "节能"),
        ("d", "节能办法"),
    ):
        put(store, make.bundle(name, "文", title=title))

    assert store.find_documents("节能 办法", top_k=9) == ["d-b", "d-d", "d-a"]
    assert store.find_documents("节能办法", top_k=2) == ["d-b", "d-d"]
    assert store.find_documents("节", top_k=9) == []
    assert store.find_documents("无此题", top_k=9) == []


def test_vectors_come_back_by_key(store, make):
    """Unknown keys are left out; the numbers are those given."""
    bundle = put(store, make.bundle("a", "绿色工厂，节能降碳。"))
    given = {v.key: v.vector for v in bundle.vectors}

    found = store.vectors([*given, "x"])
    assert found.keys() == given.keys()
    assert all(np.array_equal(found[k], given[k]) for k in given)


def test_vectors_come_back_by_node(store, make):
    """Nodes without one are left out."""
    bundle = put(store, make.bundle("a", "绿色工厂，节能降碳。"))
    given = {v.node_id: v.vector for v in bundle.vectors}

    found = store.vectors_of([*given, "d-a:24:0", "x"])
    assert found.keys() == given.keys()
    assert all(np.array_equal(found[n], given[n]) for n in given)
    assert store.vectors_of([]) == {}


def test_vector_search_is_exact(store, make):
    """The order and the cosines are those of a plain product; kinds are apart."""
    bundles = [
        put(store, make.bundle(str(i), w * 9, summaries=[w], facts=[(w, "归", "国家")]))
        for i, w in enumerate(WORDS)
    ]
    query = make.unit_vector("问题")
    for kind in KINDS:
        nodes = [v for b in bundles for v in b.vectors if v.kind == kind]
        expected = sorted(((round(float(v.vector @ query), 6), v.node_id) for v in nodes),
                          key=lambda item: (-item[0], item[1]))  # fmt: skip
        hits = store.search_vectors(query, kind=kind, top_k=5)
        assert found(hits) == [node_id for _, node_id in expected[:5]]
        assert [s for _, s in hits] == pytest.approx([s for s, _ in expected[:5]], abs=2e-6)
    assert len(store.search_vectors(query, kind="summary", top_k=999)) == len(WORDS)
    assert store.search_vectors(query, kind="chunk", top_k=0) == []


def test_equal_vectors_tie_by_node_id(store, make):
    """Equal texts have equal vectors: the smallest ids, however few are asked for."""
    for i in range(9, 0, -1):
        put(store, make.bundle(str(i), "绿色工厂"))

    hits = store.search_vectors(make.unit_vector("绿色工厂"), kind="chunk", top_k=4)
    assert hits == [(f"d-{i}:8:0", 1.0) for i in (1, 2, 3, 4)]


def test_vector_search_within_documents(store, make):
    """`doc_ids` leaves the others out."""
    for name in "abc":
        put(store, make.bundle(name, "绿色工厂" + name))
    query = make.unit_vector("问题")
    everywhere = store.search_vectors(query, kind="chunk", top_k=9)

    within = store.search_vectors(query, kind="chunk", top_k=9, doc_ids=["d-c", "d-a", "d-x"])
    assert within == [hit for hit in everywhere if not hit[0].startswith("d-b")]
    assert store.search_vectors(query, kind="chunk", top_k=9, doc_ids=[]) == []


def test_a_search_that_was_begun_gives_what_a_search_gives(store, make):
    """Filtered or not; where something was stored meanwhile, with it or without."""
    for name in "ab":
        put(store, make.bundle(name, "绿色工厂" + name))
    query = make.unit_vector("绿色工厂")
    for options in ({"top_k": 4}, {"top_k": 9, "doc_ids": ["d-a", "d-x"]}, {"top_k": 0}):
        end = store.begin_search_vectors(query, kind="chunk", **options)
        assert end() == store.search_vectors(query, kind="chunk", **options)
    end = store.begin_search_vectors(query, kind="chunk", top_k=99)
    put(store, make.bundle("c", "绿色工厂"))
    now = store.search_vectors(query, kind="chunk", top_k=99)
    assert end() in (now, [hit for hit in now if not hit[0].startswith("d-c")])


def test_similarities_are_cosines_of_the_nodes_asked(store, make):
    """The same numbers as the search gives; nodes without a vector are left out."""
    put(store, make.bundle("a", "绿色工厂，节能降碳。推进。"))
    query = make.unit_vector("问题")
    hits = dict(store.search_vectors(query, kind="chunk", top_k=9))

    assert store.similarities(query, [*hits, "d-a:24:0", "x"]) == pytest.approx(hits)
    assert store.similarities(query, []) == {}


def test_a_vector_that_is_stored_need_not_be_given(store, make):
    """Nor must the text of the old self be encoded again; what is not stored is refused."""
    put(store, make.bundle("a", "绿色工厂"))
    bundle = make.bundle("a", "绿色工厂")
    without = [make.node_vector(v.node_id, v.kind, "绿色工厂", given=False) for v in bundle.vectors]
    missing = make.node_vector("d-a:8:0", "chunk", "别的", given=False)
    put(store, replace(bundle, vectors=without))
    assert store.search_vectors(make.unit_vector("绿色工厂"), kind="chunk", top_k=1)
    with pytest.raises(StoreError, match=missing.key):
        put(store, replace(bundle, vectors=[missing]))
    assert store.verify() == []


def test_a_vector_of_another_dimension_is_refused(store, make):
    """Written or asked for: the remedy is named, nothing is stored."""
    assert store.search_vectors(make.unit_vector("x", 5), kind="chunk", top_k=1) == []
    put(store, make.bundle("a", "绿色工厂"))
    before = list(store.export())

    with pytest.raises(StoreError, match="model"):
        put(store, make.bundle("b", "节能", dimension=5))
    with pytest.raises(StoreError, match="model"):
        store.search_vectors(make.unit_vector("x", 5), kind="chunk", top_k=1)
    with pytest.raises(StoreError, match="model"):
        store.similarities(make.unit_vector("x", 5), ["d-a:8:0"])
    assert list(store.export()) == before


def test_when_all_vectors_are_gone_another_dimension_is_welcome(store, make):
    """An emptied knowledge base may be filled with another model."""
    put(store, make.bundle("a", "绿色工厂"))
    assert store.search_vectors(make.unit_vector("x"), kind="chunk", top_k=1)
    store.delete_document("d-a")
    put(store, make.bundle("b", "节能", dimension=5))

    assert found(store.search_vectors(make.unit_vector("x", 5), kind="chunk", top_k=9)) == [
        "d-b:8:0"
    ]
    assert store.verify() == []


def test_a_vector_that_is_no_unit_vector_is_refused(store, make):
    """Zero stands for an empty text; NaN, infinity and other lengths are mistakes."""
    bundle = make.bundle("a", "绿色工厂")
    for vector in (np.full(8, np.nan), np.full(8, np.inf), np.ones(8), np.ones((1, 8))):
        bad = replace(bundle.vectors[0], vector=vector.astype(np.float32))
        with pytest.raises(ValueError, match=bad.key):
            put(store, replace(bundle, vectors=[bad]))
    zero = replace(bundle.vectors[0], vector=np.zeros(8, np.float32))
    put(store, replace(bundle, vectors=[zero]))
    assert store.search_vectors(make.unit_vector("x"), kind="chunk", top_k=1) == [("d-a:8:0", 0.0)]
    assert store.verify() == []


def sample(make, i):
    rng = np.random.default_rng(i)
    text = "".join(rng.choice(WORDS, size=40))
    pairs = rng.choice(WORDS, size=(3, 2), replace=False)
    return make.bundle(
        f"{i:03}",
        text,
        title="".join(rng.choice(WORDS, size=3)),
        summaries=[text[:9]],
        facts=[(a, "带动", b) for a, b in pairs if a in text],
    )


def searches(store, make):
    """Return many hits of each kind of search, with what was asked."""
    out: dict[Any, Any] = {}
    for size in (make.LEAF, make.PARENT):
        for field in FIELDS:
            for word in WORDS:
                out[size, field, word] = words(
                    store, word, "工厂", field=field, size=size, top_k=99
                )
                out[size, field, word, "phrase"] = store.search_phrase(
                    word, field=field, size=size, top_k=99
                )
    for kind in KINDS:
        out[kind] = store.search_vectors(make.unit_vector("问"), kind=kind, top_k=50)
    return out


def test_search_after_changes_is_that_of_a_fresh_store(new_store, make):
    """After a refresh, changes leave no trace in order, and next to none in scores."""
    store = new_store()
    n = extent.of(60, 20)
    for i in range(n):
        put(store, sample(make, i))
    searches(store, make)
    for i in (3, 7):
        store.delete_document(f"d-{i:03}")
        searches(store, make)
    for i in (n, n + 1, 5):
        put(store, sample(make, i))
        searches(store, make)
    store.refresh(sizes=(make.LEAF, make.PARENT))
    changed = searches(store, make)
    fresh = new_store()
    for i in [i for i in range(n + 2) if i not in (3, 7)]:
        put(fresh, sample(make, i))

    for asked, hits in searches(fresh, make).items():
        assert dict(changed[asked]) == pytest.approx(dict(hits), rel=3e-3, abs=2e-6), asked


def test_search_does_not_depend_on_the_order_of_ingestion(new_store, make):
    """Not even in the last digit."""
    forth, back = list(range(30)), list(range(29, -1, -1))
    results = []
    for order in (forth, back):
        store = new_store()
        for i in order:
            put(store, sample(make, i))
        results.append(searches(store, make))

    assert results[0] == results[1]


def test_search_follows_each_change(store, make):
    """What was just added is found, what was just deleted is not."""
    for i in range(5):
        put(store, make.bundle(str(i), f"绿色工厂第{i}号"))
        assert len(words(store, "工厂", size=24)) == i + 1
        assert len(store.search_vectors(make.unit_vector("x"), kind="document", top_k=9)) == i + 1
    for i in range(5):
        store.delete_document(f"d-{i}")
        assert len(words(store, "工厂", size=24)) == 4 - i
        assert len(store.search_vectors(make.unit_vector("x"), kind="document", top_k=9)) == 4 - i


def test_an_empty_store_finds_nothing(store, make):
    """Nor is it an error."""
    assert words(store, "工厂") == []
    assert phrase(store, "工厂") == []
    assert store.search_vectors(make.unit_vector("x"), kind="chunk", top_k=3) == []
    assert store.search_entities("工厂", top_k=3) == []
    assert store.similarities(make.unit_vector("x"), ["d-a:8:0"]) == {}


def test_works_side_by_side_come_back_in_order(store):
    """Also works within works, and more of them than there are threads."""
    numbers = [lambda i=i: i for i in range(20)]
    nested = [lambda: store.side_by_side(numbers) for _ in range(20)]
    assert store.side_by_side(nested) == [list(range(20))] * 20
    assert store.side_by_side([]) == []

    def fails():
        raise KeyError("said")

    with pytest.raises(KeyError, match="said"):
        store.side_by_side([lambda: 1, fails, lambda: 3])
