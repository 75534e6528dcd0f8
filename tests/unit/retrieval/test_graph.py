"""The graph route on documents that cite each other."""

import json

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.retrieval.graph import chunks_of_facts, cited_documents

A = "甲方案\n根据《上位规划》《节能法》，制定本方案。\n推进节能。"
B = "乙方案\n落实《甲方案》的要求。\n推进减排。"
C = "某委员会关于印发《上位规划》的通知\n2021年1月1日发布。"


def searched(kb, question):
    """Return the search for a question, as the knowledge base makes it."""
    return kb._knowledge.search(kb._knowledge.query(question))


@pytest.fixture
def kb(tmp_path):
    for name, text in (("a", A), ("b", B), ("c", C)):
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as base:
        base.ingest([tmp_path / f"{name}.txt" for name in "abc"])
        yield base


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
    for name, records in (("texts", lines), ("facts", facts)):
        text = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
        (folder / f"{name}.jsonl").write_text(text, "utf-8")
    with KnowledgeBase.open(folder / "kb", embedder=HashEmbedder()) as base:
        base.ingest([folder / "texts.jsonl"])
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
