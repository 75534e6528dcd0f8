"""Filters, and a store that shows what they leave."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import GarbledTextError, NotFoundError
from kgrag.ids import document_of
from kgrag.metadata import Metadata
from kgrag.retrieval.dense import similar_chunks
from kgrag.retrieval.fact_vectors import chunks_of_figures, chunks_of_similar_facts
from kgrag.retrieval.filter import (
    Filter,
    document_called,
    document_meant,
    documents_within,
    parse_years,
    what_is_left_out,
)
from kgrag.retrieval.filtered_store import FilteredStore
from kgrag.retrieval.graph import chunks_of_facts, cited_documents
from kgrag.retrieval.grim import PRESETS
from kgrag.retrieval.lexical import (
    titles_in_coarse_text,
    titles_in_text,
    words_in_coarse_path,
    words_in_coarse_text,
    words_in_path,
    words_in_text,
)
from kgrag.retrieval.search import Search
from kgrag.retrieval.sections import chunks_of_asked_sections
from kgrag.retrieval.summaries import chunks_and_summaries, summarised_chunks
from kgrag.store.store import SearchedStore
from kgrag.types import Document
from tests.fixtures.kit import knowledge_base


def card(doc_id, title, *, file="", regions=(), **dates):
    metadata = Metadata(regions=regions, **dates)
    path = file or f"/archive/{doc_id}.txt"
    return Document(doc_id, title, "", path, "txt", "0", metadata=metadata)


CARDS = [
    card(
        "a",
        "云岭省人民政府关于印发《云岭省节能实施方案（试行）》的通知",
        regions=("云岭省",),
        issued="2022-03-05",
    ),
    card("b", "青川市节能管理办法", regions=("云岭省", "青川市"), issued="2020"),
    card("c", "国务院关于节能的意见", issued="2021"),
    card("d", "某地节能方案", regions=("南渡省",)),
]
GUESSED = card("e", "云岭省节水方案", regions=("云岭省",), written="2021", inferred=("written",))
OF_CITIES = [
    card("a", "湖北省节能规划", regions=("湖北省",), issued="2022"),
    card("b", "武汉市节能要点", regions=("湖北省", "武汉市")),
    card("c", "湖北省宜昌市节能要点", regions=("湖北省", "宜昌市")),
    card("d", "长沙市节能要点", regions=("湖南省", "长沙市")),
    card("e", "吉林省节能要点", regions=("吉林省",)),
    card("f", "吉林市节能要点", regions=("吉林省", "吉林市")),
]


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        (Filter(documents=("a", "b.txt")), "ab"),
        (Filter(documents=("国务院关于节能的意见",)), "c"),
        (Filter(regions=("云岭",)), "ab"),
        (Filter(regions=("云岭省",)), "ab"),
        (Filter(regions=("青川", "南渡")), "bd"),
        (Filter(regions=("全国",)), "c"),
        (Filter(without=("c", "b.txt")), "ad"),
        (Filter(regions=("云岭",), without=("a",)), "b"),
        (Filter(kinds=("通知",)), "a"),
        (Filter(kinds=("方案",)), "ad"),
        (Filter(kinds=("实施方案", "办法")), "ab"),
        (Filter(years=(2021, 2022)), "ac"),
        (Filter(regions=("云岭",), years=(2020, 2020)), "b"),
    ],
)
def test_documents_within_are_those_that_every_condition_holds_for(wanted, left):
    """Values of one condition are alternatives; what a notice issues is of its kind, too."""
    assert wanted
    assert documents_within(wanted, CARDS) == frozenset(left)


@pytest.mark.parametrize(
    ("regions", "left"),
    [
        (("湖北",), "abc"),
        (("湖北省",), "abc"),
        (("武汉",), "b"),
        (("湖北省武汉市",), "b"),
        (("吉林",), "ef"),
        (("吉林市",), "f"),  # called like its province
        (("湖北", "长沙"), "abcd"),
        (("湖南",), "d"),
    ],
)
def test_a_province_includes_its_cities_and_no_city_its_province(regions, left):
    """A province that only says where a city lies is not asked for itself."""
    assert documents_within(Filter(regions=regions), OF_CITIES) == frozenset(left)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (Filter(documents=("x",)), "no document is called 'x'"),
        (Filter(documents=("a", "x")), "no document is called 'x'"),
        (Filter(regions=("北海",)), "no document is about '北海'; places: 云岭, 南渡, 青川"),
        (Filter(regions=("云岭", "北海")), "no document is about '北海'"),
        (Filter(kinds=("条例",)), "ends in '条例'"),
        (Filter(kinds=(" ",)), "ends in ' '"),
        (Filter(years=(1999, 2001)), "of 1999-2001; years: 2020, 2021, 2022; 1 of unknown year"),
        (Filter(years=(1900, 1900)), "no document is of 1900; years"),
        (
            Filter(documents=("d",), years=(2022, 2022)),
            r"\(documents for document d: 1; year 2022: 1\)",
        ),
        (
            Filter(documents=("d",), regions=("云岭",)),
            r"fits all conditions \(documents for document d: 1; region 云岭: 2\)",
        ),
    ],
)
def test_documents_within_when_there_are_none_says_which_condition(wanted, told):
    """A name that nothing bears is never passed over, and none never means all."""
    with pytest.raises(NotFoundError, match=told):
        documents_within(wanted, CARDS)


def test_years_where_no_document_has_one_say_what_to_do():
    """A knowledge base of an older kgrag has read none."""
    with pytest.raises(NotFoundError, match="kgrag ingest"):
        documents_within(Filter(years=(2022, 2022)), [CARDS[3]])


def test_what_is_left_out_tells_documents_without_a_year():
    """They may be of the years asked for: people should know."""
    assert what_is_left_out(Filter(years=(2022, 2022)), CARDS).startswith("1 of 4 documents")
    assert what_is_left_out(Filter(years=(2022, 2022)), CARDS[:3]) == ""
    assert what_is_left_out(Filter(regions=("云岭",)), CARDS) == ""


def test_a_filter_without_conditions_is_false():
    """It asks for nothing, so that everything is searched."""
    assert not Filter()


def test_a_document_is_called_by_the_most_exact_name_first():
    """An id wins over a file name; a name that several bear names none."""
    twins = [card("x", "甲", file="/one/y.txt"), card("y", "乙", file="/two/y.txt")]
    assert document_called("y", twins).doc_id == "y"
    with pytest.raises(NotFoundError, match="may be any of x"):
        document_called("y.txt", twins)


def test_a_document_is_meant_by_its_number_and_by_words_of_its_title():
    """If they are of one document alone; deleting asks for more than a part of its title."""
    cards = [
        card("x", "云岭省节能办法", number="云政发〔2022〕3号"),
        card("y", "云岭省节水办法", number="云政发〔2022〕4号"),
    ]
    for name in ("云政发[2022]3号", "《云岭省节能办法》", "节能", "云岭 节能"):
        assert document_meant(name, cards).doc_id == "x"
    assert document_called("云政发〔2022〕4号", cards).doc_id == "y"
    with pytest.raises(NotFoundError, match="no document is called '节能'"):
        document_called("节能", cards)
    with pytest.raises(NotFoundError, match="may be any of x 《云岭省节能办法》") as several:
        document_meant("办法", cards)
    assert several.value.nearest == ("云岭省节能办法", "云岭省节水办法")
    with pytest.raises(NotFoundError, match="nearest: 云岭省节能办法") as none:
        document_meant("云岭省节能条例", cards)
    assert (none.value.name, none.value.nearest[0]) == ("云岭省节能条例", "云岭省节能办法")


def test_a_year_that_is_inferred_never_leaves_a_document_out():
    """It may be another one: it is kept, and that is said."""
    for year in (2020, 2021, 2022):
        assert "e" in documents_within(Filter(years=(year, year)), [*CARDS, GUESSED])
    said = what_is_left_out(Filter(years=(2022, 2022)), [*CARDS, GUESSED])
    assert said.endswith("left out; the year of 1 is inferred: kept, whatever it is")


ISSUED = [
    card("a", "节能办法", issuers=("生态环境部", "国家发展和改革委员会")),
    card("b", "节水办法", issuers=("云岭省生态环境厅",)),
    card("c", "节材办法", issuers=("国务院",)),
    card("d", "节地办法", issuers=("国务院国有资产监督管理委员会",)),
    card("e", "无名办法"),
]


@pytest.mark.parametrize(
    ("issuers", "left"),
    [
        (("国务院",), "c"),  # not those whose names begin like it
        (("国家发改委",), "a"),
        (("生态环境",), "ab"),
        (("云岭 生态环境",), "b"),
        (("国有资产", "生态环境厅"), "bd"),
    ],
)
def test_an_issuer_is_an_organ_of_that_name_else_one_with_its_words(issuers, left):
    assert documents_within(Filter(issuers=issuers), ISSUED) == frozenset(left)


@pytest.mark.parametrize("name", ["月球局", " "])
def test_an_issuer_that_there_is_not_is_told_with_those_there_are(name):
    with pytest.raises(NotFoundError, match="issuers: 云岭省生态环境厅, 国务院, 国务院国有"):
        documents_within(Filter(issuers=(name,)), ISSUED)


def test_a_law_is_of_another_kind_than_measures():
    """法 is what 办法 ends in, too."""
    laws = [card("a", "节能法"), card("b", "节能办法"), card("c", "节能管理办法")]
    assert documents_within(Filter(kinds=("法",)), laws) == {"a"}
    assert documents_within(Filter(kinds=("办法",)), laws) == {"b", "c"}


def test_what_is_in_force_is_one_condition_among_others():
    """Who wants it says which documents are; that none is left is told as for all conditions."""
    wanted = Filter(kinds=("办法",), in_force=True)
    assert wanted
    assert documents_within(wanted, ISSUED, in_force=lambda: frozenset("ae")) == frozenset("ae")
    with pytest.raises(NotFoundError, match="issuer 国务院: 1; in force: 2"):
        documents_within(
            Filter(issuers=("国务院",), in_force=True), ISSUED, in_force=lambda: frozenset("ae")
        )


@pytest.mark.parametrize("text", ["", "22", "2023-2020", "2020-", "近年"])
def test_parse_years_when_they_are_none_is_refused(text):
    """Two years of four digits, the first one first."""
    with pytest.raises(ValueError, match="year"):
        parse_years(text)


@pytest.mark.parametrize(
    ("n", "told"), [(12, "p12"), (13, "p12 and 1 more"), (20, "p12 and 8 more")]
)
def test_an_error_lists_twelve_of_what_there_is(n, told):
    cards = [card(f"{i:02}", "方案", regions=(f"p{i:02}",)) for i in range(1, n + 1)]
    with pytest.raises(NotFoundError) as raised:
        documents_within(Filter(regions=("云岭",)), cards)
    assert str(raised.value).endswith(f"p11, {told}")


@pytest.mark.parametrize("given", [{"regions": "四川"}, {"documents": "a"}, {"years": 2022}])
def test_a_filter_of_another_shape_is_refused_at_once(given):
    """A plain text would be taken for its letters."""
    with pytest.raises(ValueError, match=str(*given.values())):
        Filter(**given)


def test_a_name_that_was_damaged_on_its_way_is_told_as_such():
    """Half a character is no document's name."""
    with pytest.raises(GarbledTextError, match="document's name"):
        document_called("\ud800", CARDS)


TEXTS = {
    "a": "云岭省节能规划\n根据《节能法》，落实《青川市节能方案》。\n一、节能目标\n绿色工厂50家。",
    "b": "青川市节能方案\n落实《云岭省节能规划》和《节能法》。\n绿色工厂由市工业和信息化局负责。",
    "c": "某委员会关于印发《节能法》的通知\n2021年1月1日发布。\n绿色工厂节能工作由部门负责。",
    "d": "南渡市节能办法\n根据《云岭省节能规划》，绿色工厂节能目标另定。",
}
QUESTIONS = ("绿色工厂的节能目标", "《云岭省节能规划》依据哪些文件？", "哪些文件引用了《节能法》？")
ROUTES = (
    *(words_in_text, words_in_path, words_in_coarse_text, words_in_coarse_path),
    *(titles_in_text, titles_in_coarse_text, similar_chunks, chunks_and_summaries),
    *(summarised_chunks, chunks_of_facts, chunks_of_similar_facts, cited_documents),
    *(chunks_of_figures, chunks_of_asked_sections),
)


def searched(kb, question):
    """Return the search for a question, as the knowledge base makes it."""
    return kb._knowledge.search(kb._knowledge.query(question))


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    """Four documents with facts, and a summary of each."""
    folder = tmp_path_factory.mktemp("within")
    with knowledge_base(folder, TEXTS) as base:
        lines = [
            f'{{"doc": "{name}", "start": 0, "end": 20, "summary": "绿色工厂节能目标{name}"}}'
            for name in TEXTS
        ]
        (folder / "s.jsonl").write_text("\n".join(lines), "utf-8")
        base.import_summaries(folder / "s.jsonl")
        yield base


@pytest.fixture(scope="module")
def ids(kb):
    """Document ids by name."""
    return {Path(card.file).stem: card.doc_id for card in kb.store.document_cards()}


def held(kb, question, doc_ids=None):
    plain = searched(kb, question)
    return Search(
        plain.query,
        store=kb.store,
        embed=HashEmbedder,
        settings=plain.settings,
        doc_ids=doc_ids,
    )


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("route", ROUTES)
def test_a_route_finds_within_documents_what_it_finds_of_them_anywhere(kb, ids, route, question):
    """The ranking of a part is the part of the ranking: filters come before it, or change it."""
    everywhere = route(held(kb, question)).hits
    for n in (1, 2, 3):
        for names in combinations(TEXTS, n):
            doc_ids = {ids[name] for name in names}
            ranking = route(held(kb, question, doc_ids))
            assert {document_of(c) for c, _ in ranking.hits} <= doc_ids
            if route not in (
                chunks_of_facts,
                cited_documents,
                titles_in_text,
                titles_in_coarse_text,
                chunks_of_figures,
            ):
                own = [hit for hit in everywhere if document_of(hit[0]) in doc_ids]
                assert [c for c, _ in ranking.hits] == [c for c, _ in own]
                assert [s for _, s in ranking.hits] == pytest.approx([s for _, s in own])


@pytest.mark.parametrize("system", PRESETS)
def test_every_preset_gives_as_many_results_as_there_are_within(kb, ids, system):
    """One document of four, whichever is best: its chunk is found, and no other."""
    for doc_id in ids.values():
        found = PRESETS[system].retrieve(held(kb, QUESTIONS[0], {doc_id}), top_k=1)
        assert [r.chunk.doc_id for r in found] == [doc_id]


def test_evidence_elsewhere_is_not_shown(kb, ids):
    """A fact that two documents state has, within one of them, the evidence there."""
    store = FilteredStore(kb.store, {ids["b"]})
    anchors = [a.entity.entity_id for a in held(kb, QUESTIONS[2]).anchors]
    facts = store.facts_around(anchors, limit=9)
    assert facts
    assert {e.doc_id for f in facts for e in f.evidence} == {ids["b"]}
    assert {e.doc_id for f in store.facts([f.fact_id for f in facts]) for e in f.evidence} == {
        ids["b"]
    }


def test_a_view_shows_no_document_but_its_own(kb, ids):
    """Cards, chunks, families, summaries and titles."""
    store: SearchedStore = FilteredStore(kb.store, {ids["b"]})
    parents = [f"{doc_id}:2048:0" for doc_id in ids.values()]
    assert [c.doc_id for c in store.document_cards()] == [ids["b"]]
    assert [c.doc_id for c in store.chunks(parents)] == [ids["b"]]
    assert {c.doc_id for c in store.children(parents, size=256)} == {ids["b"]}
    assert {c.doc_id for c in store.families(parents)} == {ids["b"]}
    assert {s.doc_id for s in store.summaries()} == {ids["b"]}
    assert store.find_documents("节能", top_k=1) == [ids["b"]]


# What a route may ask, each asked for everything. What these return belongs to no document.
READS: dict[str, Callable[[Any, Any], object]] = {
    "document_cards": lambda store, all_: store.document_cards(),
    "chunks": lambda store, all_: store.chunks(all_.parents),
    "chunks_of": lambda store, all_: store.chunks_of(sorted(all_.doc_ids), size=256),
    "headings": lambda store, all_: store.headings(sorted(all_.doc_ids)),
    "children": lambda store, all_: store.children(all_.parents, size=256),
    "families": lambda store, all_: store.families(all_.parents),
    "summaries": lambda store, all_: store.summaries(),
    "find_documents": lambda store, all_: store.find_documents("节能", top_k=99),
    "search_words": lambda store, all_: store.search_words(
        {"节能": 1.0}, field="text", size=256, top_k=99, doc_ids=all_.doc_ids
    ),
    "search_phrase": lambda store, all_: store.search_phrase(
        "绿色工厂", field="text", size=256, top_k=99
    ),
    "search_vectors": lambda store, all_: store.search_vectors(all_.vector, kind="chunk", top_k=99),
    "begin_search_vectors": lambda store, all_: store.begin_search_vectors(
        all_.vector, kind="summary", top_k=99, doc_ids=all_.doc_ids
    )(),
    "similarities": lambda store, all_: store.similarities(all_.vector, all_.nodes),
    "find_entities": lambda store, all_: store.find_entities(["节能法"]),
    "entity_degrees": lambda store, all_: store.entity_degrees(all_.entities),
    "facts_around": lambda store, all_: store.facts_around(all_.entities, limit=99),
    "triples_around": lambda store, all_: store.triples_around(all_.entities, limit=99),
    "stating_chunks": lambda store, all_: store.stating_chunks(all_.facts),
    "stated_triples": lambda store, all_: store.stated_triples(all_.facts),
    "facts": lambda store, all_: store.facts(all_.facts),
    "side_by_side": lambda store, all_: store.side_by_side([lambda: 1]),
}
OF_NO_DOCUMENT = {"find_entities", "entity_degrees", "side_by_side"}


@pytest.fixture(scope="module")
def everything(kb, ids):
    """What reads are asked for, and what tells of documents but `b`."""
    store, others = kb.store, [doc_id for name, doc_id in ids.items() if name != "b"]
    known = {doc_id: store.knowledge_of(doc_id) for doc_id in ids.values()}
    facts = {doc_id: {f.fact_id for f in found[0]} for doc_id, found in known.items()}
    summaries = {s.summary_id: s.doc_id for s in store.summaries()}
    ends = {e for found in known.values() for f in found[0] for e in (f.subject, f.object)}
    return SimpleNamespace(
        doc_ids=list(ids.values()),
        parents=[f"{doc_id}:2048:0" for doc_id in ids.values()],
        nodes=[*(f"{doc_id}:256:0" for doc_id in ids.values()), *summaries],
        vector=HashEmbedder().embed([QUESTIONS[0]], "query")[0],
        entities=[entity.entity_id for entity in ends],
        facts=sorted(set().union(*facts.values())),
        foreign=[
            *others,
            *(summary for summary, doc_id in summaries.items() if doc_id in others),
            *(set().union(*(facts[doc_id] for doc_id in others)) - facts[ids["b"]]),
        ],
    )


def test_every_read_of_a_route_is_declared():
    """A new one is either held to the documents, or said to belong to none; and tried below."""
    asked = {name for name in dir(SearchedStore) if not name.startswith("_")}
    assert asked == {name for name in vars(FilteredStore) if not name.startswith("_")}
    assert asked == READS.keys()


@pytest.mark.parametrize("name", sorted(READS.keys() - OF_NO_DOCUMENT))
def test_no_read_tells_of_other_documents(kb, ids, everything, name):
    """Neither their ids, nor those of their summaries, nor facts that they alone state."""
    read = READS[name]
    told = repr(read(FilteredStore(kb.store, {ids["b"]}), everything))
    assert not [other for other in everything.foreign if other in told]
    assert [other for other in everything.foreign if other in repr(read(kb.store, everything))]


@pytest.mark.parametrize("name", sorted(OF_NO_DOCUMENT))
def test_what_belongs_to_no_document_is_that_of_the_whole(kb, ids, everything, name):
    """The number of facts around an entity, for instance: it says how common it is."""
    filtered = READS[name](FilteredStore(kb.store, {ids["b"]}), everything)
    assert filtered == READS[name](kb.store, everything)
    assert not [other for other in everything.foreign if other in repr(filtered)]


def test_similarities_are_those_of_nodes_of_the_documents(kb, ids):
    """Chunks and summaries of others are left out."""
    summaries = {s.doc_id: s.summary_id for s in kb.store.summaries()}
    nodes = [f"{doc_id}:256:0" for doc_id in ids.values()] + list(summaries.values())
    vector = HashEmbedder().embed([QUESTIONS[0]], "query")[0]
    everywhere = kb.store.similarities(vector, nodes)

    found = FilteredStore(kb.store, {ids["b"]}).similarities(vector, nodes)

    own = (f"{ids['b']}:256:0", summaries[ids["b"]])
    assert found == {node: everywhere[node] for node in own}


def test_similarities_of_facts_that_only_other_documents_state_are_left_out():
    """Their ids name no document: the evidence tells."""
    store = SimpleNamespace(
        stating_chunks=lambda ids: [("f-1", "a:256:0"), ("f-1", "b:256:0"), ("f-2", "b:256:1")],
        summaries=lambda ids: [],
        similarities=lambda vector, ids: dict.fromkeys(ids, 0.5),
    )
    found = FilteredStore(store, {"a"}).similarities(np.zeros(1, np.float32), ["f-1", "f-2", "f-3"])
    assert found == {"f-1": 0.5}


def test_a_knowledge_base_searches_and_answers_within_a_filter(kb, ids):
    """From Python: any condition; the answer quotes no other document."""
    within = Filter(documents=("d",))
    assert {r.chunk.doc_id for r in kb.search(QUESTIONS[0], within=within)} == {ids["d"]}
    answer = kb.ask(QUESTIONS[0], within=within)
    assert {c.doc_id for c in answer.citations} <= {ids["d"]}
    within = Filter(years=(2021, 2021))
    assert {r.chunk.doc_id for r in kb.search(QUESTIONS[0], within=within)} == {ids["c"]}
    assert any("4份文件中有3份" in note for note in kb.ask(QUESTIONS[0], within=within).notes)
