"""What people decide holds at once, outlives ingests and deletions, and can be taken back."""

import json

import pytest

from kgrag import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import NotFoundError, OutOfRangeError, StoreError
from kgrag.ingestion import renew
from kgrag.maintenance.copying import copy

PLAN = (
    "云岭省青川市节能规划\n青政发〔2022〕3号\n各县人民政府：\n"
    "一、主要目标\n到2025年，全市绿色工厂达到50家。\n"
    "二、保障措施\n由市经信局牵头制定实施细则，市发改委配合。\n"
    "青川市人民政府\n2022年3月5日\n"
)
MEASURES = (
    "云岭省青川市节能措施\n青政发〔2022〕9号\n各县人民政府：\n"
    "为落实《云岭省青川市节能规划》，制定本措施。\n"
    "一、加强监管\n由市经济和信息化局牵头开展节能监察。\n青川市人民政府\n2022年6月5日\n"
)

DECIDE = {
    "corrected": lambda curator: curator.correct("plan.txt", {"region": "四川省", "title": "甲"}),
    "taken back": lambda curator: curator.reset("plan.txt"),
    "merged": lambda curator: curator.merge(["青川市经济和信息化局", "青川市工业局"], "工信局"),
    "merger taken back": lambda curator: curator.split("绿色工厂", "绿色制造工厂"),
    "kept apart": lambda curator: curator.split("市经信局", "青川市经济和信息化局"),
}


@pytest.fixture
def folder(tmp_path):
    """A folder of two policies."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "plan.txt").write_text(PLAN, "utf-8")
    (docs / "measures.txt").write_text(MEASURES, "utf-8")
    return docs


@pytest.fixture
def kb(tmp_path, folder):
    """A knowledge base that has taken them in."""
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(64)) as kb:
        kb.ingest(folder)
        yield kb


def names(kb):
    return {named.name for named in kb.entities(limit=1000)}


def facts(kb):
    return {
        (f.subject.name, f.predicate, f.object.name)
        for card in kb.documents()
        for f in kb.store.knowledge_of(card.doc_id)[0]
    }


def test_a_correction_holds_at_once_and_through_a_new_ingest(kb, folder):
    card = kb.curator().correct("plan.txt", {"region": "四川省、成都市", "date": "2021年5月"})
    assert (card.metadata.regions, card.metadata.issued) == (("四川省", "成都市"), "2021-05")
    kb.delete("plan.txt")
    kb.ingest(folder)
    assert kb.find_document("plan.txt").metadata.regions == ("四川省", "成都市")
    assert "成都市经济和信息化局" in names(kb)
    assert kb.verify() == []


def test_a_correction_is_taken_back(kb):
    """One field, or all."""
    before = kb.find_document("plan.txt").metadata
    curator = kb.curator()
    curator.correct("plan.txt", {"number": "甲〔2020〕1号", "status": "试行"})
    kept = curator.reset("plan.txt", ["number"]).metadata
    assert (kept.number, kept.status) == (before.number, ("试行",))
    assert curator.reset("plan.txt").metadata == before


def test_a_correction_goes_with_a_file_that_changes(kb, folder):
    """The document has another id, the person meant the file."""
    kb.curator().correct("plan.txt", {"title": "节能总规划"})
    (folder / "plan.txt").write_text(PLAN + "附件：名单\n", "utf-8")
    kb.ingest(folder)
    assert kb.find_document("plan.txt").title == "节能总规划"


def test_that_there_is_none_is_a_correction_too(kb):
    """An empty value."""
    card = kb.curator().correct("plan.txt", {"number": ""})
    assert card.metadata.number == ""


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"colour": "red"}, "no field 'colour'"),
        ({"date": "去年"}, "date"),
        ({"level": "乡"}, "level"),
        ({"title": ""}, "title is not empty"),
        ({"region": "湖南胡省"}, "nearest is 湖南省"),
        ({"region": "湖南省长砂市"}, "nearest is 湖南省长沙市"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_kept(kb, told, said):
    """The message says what may be."""
    with pytest.raises(OutOfRangeError, match=said):
        kb.curator().correct("plan.txt", told)
    assert kb.store.corrections() == {}


def test_a_reference_follows_a_corrected_title(kb):
    """What cites the document by its own title leads to it, whatever it is called here."""
    curator = kb.curator()
    assert [c.qualifiers.match for c in kb.store.statements("reference")] == ["exact"]
    curator.correct("plan.txt", {"title": "水利规划"})
    assert [c.qualifiers.match for c in kb.store.statements("reference")] == [""]
    curator.reset("plan.txt")
    assert [c.qualifiers.match for c in kb.store.statements("reference")] == ["exact"]


def test_names_are_merged_in_what_is_held_and_in_what_comes(kb, folder):
    """And it can be seen what was merged."""
    assert {"青川市经信局", "青川市经济和信息化局"} & names(kb) == {"青川市经济和信息化局"}
    n = kb.curator().merge(["青川市经济和信息化局"], "青川市工业局")
    assert n == 2
    (folder / "more.txt").write_text(MEASURES.replace("节能监察", "清洁生产"), "utf-8")
    kb.ingest(folder)
    assert "青川市经济和信息化局" not in names(kb)
    assert ("青川市工业局", "牵头") in {row[:2] for row in facts(kb)}
    (named,) = [e for e in kb.entities(merged=True) if e.name == "青川市工业局"]
    assert set(named.written) == {"市经信局", "市经济和信息化局"}
    assert kb.verify() == []


def test_a_merger_is_taken_back(kb):
    before = list(kb.export())
    curator = kb.curator()
    curator.merge(["青川市经济和信息化局"], "青川市工业局")
    assert list(kb.export()) != before
    curator.split("青川市经济和信息化局", "青川市工业局")
    assert list(kb.export()) == before


def test_what_the_rules_make_one_is_kept_apart(kb):
    """市经信局 may be another's."""
    kb.curator().split("市经信局", "青川市经济和信息化局")
    assert {"市经信局（青川市）", "青川市经济和信息化局"} <= names(kb)


def test_figures_of_an_import_go_with_a_corrected_region(kb, tmp_path):
    """Those that tell no place of their own."""
    file = tmp_path / "facts.jsonl"
    rows = [["森林覆盖率", "2025年目标为", "40%"], ["四川省森林覆盖率", "2025年目标为", "41%"]]
    file.write_text(
        json.dumps({"doc": "plan", "start": 0, "end": 30, "triples": rows}), encoding="utf-8"
    )
    assert kb.import_facts(file).errors == ()

    def regions():
        (card,) = [c for c in kb.documents() if c.title.endswith("规划")]
        told = [f for f in kb.store.knowledge_of(card.doc_id)[0] if f.subject.name == "森林覆盖率"]
        return {(e.qualifiers.value, e.qualifiers.region) for f in told for e in f.evidence}

    assert regions() == {("40", "青川市"), ("41", "四川省")}
    kb.curator().correct("plan.txt", {"region": "四川省、成都市"})
    assert regions() == {("40", "成都市"), ("41", "四川省")}


def test_names_of_an_indicator_that_are_one_are_kept_apart(kb, tmp_path):
    """Through a deletion and a new ingest; what is merged by a person is called as it says."""
    file = tmp_path / "more.txt"
    file.write_text("云岭省青川市节电规划\n到2025年，万元国内生产总值能耗下降13.5%。\n", "utf-8")
    kb.ingest([file])
    assert "单位GDP能耗" in names(kb)
    kb.curator().split("万元国内生产总值能耗", "单位GDP能耗")
    kb.delete("more.txt")
    kb.ingest([file])
    assert "万元国内生产总值能耗" in names(kb)
    assert "单位GDP能耗" not in names(kb)
    kb.curator().merge(["万元国内生产总值能耗"], "能耗强度")
    kb.delete("more.txt")
    kb.ingest([file])
    assert {"能耗强度", "单位GDP能耗", "万元国内生产总值能耗"} & names(kb) == {"能耗强度"}
    assert kb.verify() == []


def test_unknown_names_and_circles_are_refused(kb):
    curator = kb.curator()
    with pytest.raises(NotFoundError, match="no entity is called 甲"):
        curator.merge(["甲"], "乙")
    curator.merge(["青川市经济和信息化局"], "青川市工业局")
    with pytest.raises(OutOfRangeError, match="already"):
        curator.merge(["青川市工业局"], "青川市经济和信息化局")
    assert len(kb.store.decisions()) == 1


def test_duplicates_are_proposed_and_those_kept_apart_are_not(kb):
    """A proposal is for people."""
    for proposal in kb.duplicates():
        assert proposal.name != proposal.into


@pytest.mark.parametrize("decided", DECIDE)
def test_a_decision_is_stored_with_all_that_follows_or_not_at_all(kb, folder, monkeypatch, decided):
    """Where something fails before the first document is made anew, or after the last."""
    curator, decide = kb.curator(), DECIDE[decided]
    curator.correct("plan.txt", {"number": "甲〔2020〕1号"})
    curator.merge(["绿色工厂"], "绿色制造工厂")
    (folder / "third.txt").write_text(MEASURES.replace("经济和信息化局", "工业局"), "utf-8")
    kb.ingest(folder)
    before = list(kb.export())
    with KnowledgeBase.open(folder.parent / "other", embedder=HashEmbedder(64)) as other:
        copy(kb.store, other.store)
        decide(other.curator())
        wanted = list(other.export())

    def fail(*_args, **_more):
        raise StoreError("the disk is full")

    for step in ("prepare", "connect"):
        with monkeypatch.context() as patch:
            patch.setattr(renew, step, fail)
            with pytest.raises(StoreError, match=r"^the disk is full$"):
                decide(curator)
        assert list(kb.export()) == before
        assert kb.verify() == []
    decide(curator)
    assert kb.verify() == []
    assert list(kb.export()) == wanted
