"""Search along facts: entities, facts like the question, chunks of facts, written queries."""

import json
import unicodedata
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ids import embedding_key, entity_id, fact_id
from kgrag.question.question import analyse
from kgrag.retrieval.entities import question_entities
from kgrag.retrieval.fact_vectors import chunks_of_similar_facts
from kgrag.retrieval.graph import chunks_of_facts, cited_documents
from kgrag.retrieval.search import Search
from kgrag.retrieval.settings import Settings
from kgrag.store.contents import NodeVector
from kgrag.types import Entity, Evidence, Fact
from tests.fixtures.kit import knowledge_base, shared_base

A = "甲方案\n根据《上位规划》《节能法》，制定本方案。\n推进节能。"
B = "乙方案\n落实《甲方案》的要求。\n推进减排。"
C = "某委员会关于印发《上位规划》的通知\n2021年1月1日发布。"


def searched(kb, question):
    """Return the search for a question, as the knowledge base makes it."""
    return kb._knowledge.search(kb._knowledge.query(question))


kb = shared_base({"a": A, "b": B, "c": C})


def found(kb, ranking):
    texts = {c.chunk_id: c.text for c in kb.store.chunks([c for c, _ in ranking.hits])}
    return [(texts[c].split("\n")[0], round(score, 2)) for c, score in ranking.hits]


def test_chunks_of_facts_follow_the_direction_of_the_question(kb):
    """《甲》引用了… is answered where 甲 cites, …引用了《甲》 where it is cited."""
    out = found(kb, chunks_of_facts(searched(kb, "《甲方案》引用或依据了哪些文件？")))
    into = found(kb, chunks_of_facts(searched(kb, "哪些文件引用了《甲方案》？")))
    assert out[0] == ("甲方案", 1.0)
    assert into[0] == ("乙方案", 1.0)


def test_cited_documents_lead_on_to_the_basis_that_is_held(kb):
    """The document that 甲 is based on is reached by its name; one that is not held is not."""
    ranking = cited_documents(searched(kb, "《甲方案》所依据的上位政策由谁发布？"))
    assert found(kb, ranking) == [("某委员会关于印发《上位规划》的通知", 1.0)]
    assert "依据" in next(iter(ranking.reasons.values()))


@pytest.mark.parametrize(
    "question", ["《甲方案》的主要目标是什么？", "哪些文件引用了《甲方案》？", "节能"]
)
def test_cited_documents_are_only_for_questions_that_ask_on(kb, question):
    """Goals of 甲, or who cites 甲, do not lead to what 甲 cites."""
    assert cited_documents(searched(kb, question)).hits == ()


def test_facts_of_citation_say_nothing_to_other_questions(kb):
    """Titles of one field share words: that 甲 cites a plan does not tell what 甲 plans."""
    assert chunks_of_facts(searched(kb, "《甲方案》的上位规划目标是什么？")).hits != ()
    assert chunks_of_facts(searched(kb, "《甲方案》的节能规划目标是什么？")).hits == ()


def test_chunks_of_facts_without_an_entity_are_none(kb):
    """A question that names nothing in the graph gets nothing from it."""
    assert chunks_of_facts(searched(kb, "完全无关的事情")).hits == ()


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Many documents that say the same of two things, and one that says more."""
    folder = tmp_path_factory.mktemp("many")
    lines = [{"id": f"d{i:03}", "title": f"第{i}号", "text": "甲厂使用乙炉。"} for i in range(300)]
    lines.append({"id": "e", "title": "另", "text": "乙炉节约电力。"})
    facts = [{"passage_id": x["id"], "triples": [["甲厂", "使用", "乙炉"]]} for x in lines[:-1]]
    facts.append({"passage_id": "e", "triples": [["乙炉", "节约", "电力"]]})
    texts, given = ("\n".join(map(json.dumps, records)) for records in (lines, facts))
    (folder / "facts.jsonl").write_text(given, "utf-8")
    with knowledge_base(folder, {"texts.jsonl": texts}) as base:
        base.import_facts(folder / "facts.jsonl")
        yield base


def test_chunks_of_facts_stop_at_the_depth_and_not_within_equal_scores(many):
    """Of 300 chunks with the same fact come the first by id, after the one with a better one."""
    ranking = chunks_of_facts(searched(many, "乙炉节约多少电力？"))
    ids = [chunk_id for chunk_id, _ in ranking.hits]
    assert len(ids) == 100
    assert ids[0] == "e:256:0"
    assert ids[1:] == [f"d{i:03}:256:0" for i in range(99)]
    assert ranking.reasons["d000:256:0"].endswith("甲厂 —使用→ 乙炉")


def test_evidence_is_read_for_no_more_facts_than_count(many, monkeypatch):
    """The best fact's evidence fills the ranking: that of the others is not asked for."""
    asked = []
    original = type(many.store).stating_chunks

    def stating_chunks(store, fact_ids):
        asked.extend(fact_ids)
        return original(store, fact_ids)

    monkeypatch.setattr(type(many.store), "stating_chunks", stating_chunks)
    monkeypatch.setattr("kgrag.retrieval.graph._EVIDENCE", 1)
    chunks_of_facts(searched(many, "甲厂使用什么？"))
    assert len(asked) == 1


def test_facts_of_the_second_hop_are_chosen_by_the_question(tmp_path):
    """Around a hub with more facts than are read come those first that speak of it."""
    asked = ["水泥", "玻璃", "陶瓷", "造纸", "纺织", "化肥"]
    made = [*(f"{name}生产线" for name in asked), *(f"第{i}号设备" for i in range(54))]
    lines = [{"id": "a", "title": "甲", "text": "启明公司属于青山集团。"}]
    lines.append({"id": "b", "title": "乙", "text": "青山集团生产" + "、".join(made)})
    triples = [["青山集团", "生产", name] for name in made]
    facts = [
        {"passage_id": "a", "triples": [["启明公司", "属于", "青山集团"]]},
        {"passage_id": "b", "triples": triples},
    ]
    for name, records in (("texts", lines), ("facts", facts)):
        text = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
        (tmp_path / f"{name}.jsonl").write_text(text, "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as base:
        base.ingest([tmp_path / "texts.jsonl"])
        base.import_facts(tmp_path / "facts.jsonl")
        for name in asked:
            ranking = chunks_of_facts(searched(base, f"启明公司属于的公司做{name}吗"))
            assert ranking.reasons["b:256:0"].endswith(f"青山集团 —生产→ {name}生产线"), name


GOOD = "SELECT f.subject, e.doc_id, e.chunk_id FROM kg_facts f JOIN kg_evidence e USING (fact_id)"
FOREVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"


basis = shared_base({"a": "甲方案\n根据《节能法》，制定本方案。\n推进节能。"})


class Names:
    """A store that knows entities by name, each with one fact around it."""

    def __init__(self, *names):
        self.held = [Entity(f"e-{name}", name) for name in names]

    def find_entities(self, names):
        """Return those with exactly such a name."""
        return [e for e in self.held if e.name in names]

    def entity_degrees(self, entity_ids):
        """Return two for each: a weight of one half."""
        return dict.fromkeys(entity_ids, 2)


def named(store, question, *keywords):
    query = replace(analyse(question), keywords=keywords)
    return [(a.entity.name, a.weight, a.at) for a in question_entities(query, store)]


def test_an_entity_that_a_keyword_names_weighs_half():
    """It stands nowhere in the question, so that its place says nothing."""
    store = Names("工信部", "工业和信息化部")
    assert named(store, "请问工信部的职责", "工业和信息化部") == [
        ("工信部", 0.5, 2),
        ("工业和信息化部", 0.25, -1),
    ]


@pytest.mark.parametrize("keywords", [(), ("节能",), ("《节能》",)])
def test_a_keyword_that_the_question_names_changes_nothing(keywords):
    """Its own weight and place stay."""
    assert named(Names("节能"), "推进节能", *keywords) == [("节能", 0.5, 2)]


def test_a_longer_keyword_does_not_push_out_what_the_question_names():
    """Of names inside each other the longest counts, but a model's guess is no such name."""
    store = Names("节能", "节能减排", "减排")
    assert named(store, "节能", "节能减排", "减排") == [
        ("节能", 0.5, 0),
        ("节能减排", 0.25, -1),
    ]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_name_with_accents_is_found_however_they_are_written(form):
    """As one character or two, in a question that is mostly Chinese."""
    question = unicodedata.normalize(form, "关于poincaré的规定有哪些内容和要求？")
    assert named(Names("poincaré"), question) == [("poincaré", 0.5, 2)]


def test_an_indicator_is_found_by_its_other_names():
    """The graph knows one of them; the question's own words tell where it stands."""
    store = Names("非化石能源消费比重")
    assert named(store, "到2025年非化石能源占能源消费比重多少") == [("非化石能源消费比重", 0.5, 6)]


QUESTION = np.array([1.0, 0.0], dtype=np.float32)


def at(cosine):
    """Return the unit vector with this cosine to the question."""
    return np.array([cosine, (1 - cosine**2) ** 0.5], dtype=np.float32)


def stated(predicate, *leaves, doc_id="a"):
    """Return a fact that leaves of a document state."""
    s, o = (Entity(entity_id(name), name) for name in ("甲", "乙"))
    spots = tuple(
        Evidence(doc_id, 10 * leaf, 10 * leaf + 5, f"{doc_id}:10:{leaf}") for leaf in leaves
    )
    return Fact(fact_id(s.entity_id, predicate, o.entity_id), s, predicate, o, spots)


@pytest.fixture
def find(store):
    """Store facts of documents with their cosine to the question, and search them."""

    def ranking(*facts, depth=100):
        for fact, cosine in facts:
            doc_id = fact.evidence[0].doc_id
            vectors = []
            if cosine is not None:
                key = embedding_key("t", f"{fact.fact_id} {cosine}")
                vectors = [NodeVector(fact.fact_id, "fact", key, at(cosine))]
            store.add_knowledge(doc_id, facts=[fact], vectors=vectors)
        embedder = SimpleNamespace(embed=lambda texts, task: np.stack([QUESTION] * len(texts)))
        settings = Settings(leaf=10, coarse=40, depth=depth)
        search = Search(analyse("内容"), store=store, embed=lambda: embedder, settings=settings)
        return chunks_of_similar_facts(search)

    return ranking


def test_a_chunk_counts_by_the_most_similar_fact_that_it_states(find):
    """The reason shows that fact; ties go by chunk id."""
    ranking = find((stated("含", 2, 1), 0.75), (stated("管", 1, 3), 0.5))

    assert ranking.hits == (("a:10:1", 0.75), ("a:10:2", 0.75), ("a:10:3", 0.5))
    assert ranking.reasons["a:10:1"] == "fact 0.75: 甲 —含→ 乙"
    assert ranking.reasons["a:10:3"] == "fact 0.50: 甲 —管→ 乙"


def test_a_fact_leads_to_every_document_that_states_it(find):
    """With the cosine of the wording that is nearest."""
    ranking = find((stated("含", 0), 0.25), (stated("含", 5, doc_id="b"), 0.75))

    assert ranking.hits == (("a:10:0", 0.75), ("b:10:5", 0.75))


def test_facts_that_say_nothing_of_the_question_lead_nowhere(find):
    assert find((stated("含", 0), 0.0), (stated("管", 1), -0.5), (stated("属", 2), None)).hits == ()


def test_citations_are_left_to_the_route_that_heeds_their_direction(find):
    assert [c for c, _ in find((stated("引用", 0), 0.75), (stated("含", 1), 0.5)).hits] == [
        "a:10:1"
    ]


def test_without_facts_nothing_is_found(find):
    """As in knowledge bases made before facts had vectors."""
    ranking = find()
    assert (ranking.hits, ranking.reasons) == ((), {})
