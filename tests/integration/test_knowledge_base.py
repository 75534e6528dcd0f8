"""The whole way on the sample documents, with the stand-in encoder."""

import json

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ModelMismatchError, NotFoundError
from kgrag.ingestion.samples import sample_folder
from kgrag.retrieval.grim import PRESETS


@pytest.fixture(scope="module")
def kb(sample_kb):
    with KnowledgeBase.open(sample_kb, embedder=HashEmbedder()) as base:
        yield base


def questions():
    path = sample_folder().parent / "questions.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


@pytest.mark.parametrize("system", sorted(PRESETS))
def test_search_finds_the_document_that_a_question_quotes(kb, system):
    """Every preset gives results that are slices of their document, best first, none nested."""
    quoted = next(q for q in questions() if "《" in q["question"] and len(q["gold_docs"]) == 1)
    results = kb.search(quoted["question"], system=system, top_k=10)
    assert 0 < len(results) <= 10
    assert [r.score for r in results] == sorted((r.score for r in results), reverse=True)
    texts = {d.doc_id: d.text for d in kb.store.documents()}
    for r in results:
        assert r.via
        assert r.chunk.text == texts[r.chunk.doc_id][r.chunk.start : r.chunk.end]
        inside = [
            o
            for o in results
            if o is not r
            and o.chunk.doc_id == r.chunk.doc_id
            and o.chunk.start <= r.chunk.start
            and r.chunk.end <= o.chunk.end
        ]
        assert not inside
    stems = {
        kb.find_document(r.chunk.doc_id).file.rsplit("/", 1)[-1].split(".")[0] for r in results
    }
    assert quoted["gold_docs"][0] in stems


@pytest.mark.parametrize("question", ["", "   ", "？！", "的"])
def test_search_when_a_question_says_nothing_finds_nothing(kb, question):
    """No word, no result; no error either."""
    assert kb.search(question) == []
    assert not kb.ask(question).found


@pytest.mark.parametrize(
    "question",
    [
        'a" OR 1=1 --',
        "text:(",
        "《",
        "》《",
        "* ? ~ ^ \\",
        "x" * 4000,
        "\x00",
        "工业/能源 AND NOT (",
    ],
)
def test_search_takes_hostile_questions_as_text(kb, question):
    """Nothing in a question is syntax."""
    for system in PRESETS:
        kb.search(question, system=system, top_k=3)


def test_ask_quotes_the_documents_word_for_word(kb):
    """Each citation's quote is its span; each sentence of the answer carries its number."""
    found = kb.ask(next(q for q in questions() if q["gold_docs"])["question"])
    assert found.found
    texts = {d.doc_id: d.text for d in kb.store.documents()}
    for n, citation in enumerate(found.citations, 1):
        assert citation.number == n
        assert f"[{n}]" in found.text
        assert citation.quote == texts[citation.doc_id][citation.start : citation.end]
    assert any("向量模型" in note for note in found.notes)


def test_ingest_again_changes_nothing(kb):
    """A second run finds everything unchanged and does not move the change counter."""
    before = kb.store.change_counter()
    report = kb.ingest([sample_folder()])
    assert set(report.counts) == {"unchanged"}
    assert kb.store.change_counter() == before


def test_a_changed_file_replaces_its_old_self(tmp_path):
    """What only the old text said is gone; the other document stays."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text(
        "甲方案\n根据《旧办法》，到2025年建成10家工厂。", "utf-8"
    )
    (tmp_path / "docs" / "b.txt").write_text("乙方案\n根据《旧办法》，推进节能。", "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as base:
        assert base.ingest([tmp_path / "docs"]).counts == {"added": 2}
        (tmp_path / "docs" / "a.txt").write_text(
            "甲方案\n根据《新办法》，到2030年建成20家工厂。", "utf-8"
        )
        assert base.ingest([tmp_path / "docs"]).counts == {"replaced": 1, "unchanged": 1}
        names = {c.title for c in base.documents()}
        assert len(base.documents()) == 2
        assert names == {"甲方案", "乙方案"}
        assert base.graph("新办法")[1]
        assert [f.subject.name for f in base.graph("旧办法")[1]] == ["乙方案"]
        assert base.verify() == []
        base.delete("b.txt")
        with pytest.raises(NotFoundError):
            base.graph("旧办法")
        assert base.verify() == []


def test_a_copy_in_another_folder_is_the_same_document(tmp_path):
    """Same name and bytes: one document with two sources; it goes when both are replaced."""
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text("甲方案\n推进节能。", "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as base:
        assert base.ingest([tmp_path / "x", tmp_path / "y"]).counts == {"added": 1, "duplicate": 1}
        assert len(base.documents()) == 1
        (tmp_path / "x" / "a.txt").write_text("甲方案\n推进减排。", "utf-8")
        base.ingest([tmp_path / "x", tmp_path / "y"])
        assert len(base.documents()) == 2
        assert base.verify() == []


def test_records_with_one_id_are_told_apart(tmp_path):
    """An id that stands twice, or belongs to another file, is a failure; the rest goes on."""
    rows = [
        {"id": "a", "title": "甲", "text": "一"},
        {"id": "a", "title": "乙", "text": "二"},
        {"id": "b", "title": "丙", "text": "三"},
    ]
    (tmp_path / "one.jsonl").write_text("\n".join(json.dumps(r) for r in rows), "utf-8")
    (tmp_path / "two.jsonl").write_text(
        json.dumps({"id": "b", "title": "丁", "text": "四"}), "utf-8"
    )
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as base:
        report = base.ingest([tmp_path / "one.jsonl", tmp_path / "two.jsonl"])
        assert report.counts == {"added": 2, "failed": 2}
        again = base.ingest([tmp_path / "one.jsonl"])
        assert again.counts == {"unchanged": 2, "failed": 1}


def test_imported_knowledge_is_idempotent_and_found(tmp_path):
    """Facts by passage and by span, and summaries, lead to their chunks; twice adds nothing."""
    text = "甲方案\n" + "推进节能工作。" * 60 + "由王五担任联络人。" + "加强监管。" * 60
    (tmp_path / "a.txt").write_text(text, "utf-8")
    at = text.index("由王五")
    fact = {"doc": "a", "start": at, "end": at + 9, "triples": [["王五", "担任", "联络人"]]}
    passage = {"passage_id": "a", "triples": [["甲方案", "涉及", "监管"]], "entities": ["节能"]}
    bad = [
        {"doc": "a", "start": 5, "end": 99999, "triples": [["x", "y", "z"]]},
        {"doc": "q", "start": 0, "end": 1, "triples": []},
    ]
    (tmp_path / "f.jsonl").write_text(
        "\n".join(map(json.dumps, [fact, passage, *bad])) + "\n{", "utf-8"
    )
    summary = {
        "doc": "a",
        "start": 0,
        "end": len(text),
        "summary": "某方案的联络安排",
        "level": "document",
    }
    (tmp_path / "s.jsonl").write_text(json.dumps(summary), "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as base:
        base.ingest([tmp_path / "a.txt"])
        report = base.import_facts(tmp_path / "f.jsonl")
        assert report.facts == 2
        assert [e.split(":")[0] for e in report.errors] == ["line 3", "line 4", "line 5"]
        assert base.import_summaries(tmp_path / "s.jsonl").summaries == 1
        counts, counter = base.counts(), base.store.change_counter()
        base.import_facts(tmp_path / "f.jsonl")
        base.import_summaries(tmp_path / "s.jsonl")
        assert base.counts() == counts
        assert base.store.change_counter() == counter
        assert base.verify() == []
        best = base.search("王五是什么", system="kg-vector", top_k=1)[0]
        assert "王五" in best.chunk.text
        assert any("fact" in reason for reason in best.via)
        found = base.search("联络安排", system="recursive", top_k=3)
        assert any("summary" in reason for r in found for reason in r.via)
        stated = base.embedder.embed(["王五 担任 联络人"], "passage")[0]
        ((fact_id, cosine),) = base.store.search_vectors(stated, kind="fact", top_k=1)
        assert base.store.facts([fact_id])[0].object.name == "联络人"
        assert cosine == pytest.approx(1.0)


def test_another_encoder_is_refused_with_the_remedy(tmp_path):
    """Vectors of two models must not meet; lexical search goes on."""
    (tmp_path / "a.txt").write_text("甲方案\n推进节能工作。", "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(512)) as base:
        base.ingest([tmp_path / "a.txt"])
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(256)) as base:
        with pytest.raises(ModelMismatchError, match="kgrag reembed"):
            base.search("节能")
        assert base.search("节能", system="bm25")
