"""Questions that quote a document: by a title with its place before it, and what it is based on."""

from pathlib import Path

import pytest

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.question.query import analyse
from kgrag.question.question import question_of

BASIS = "关于加强节水工作的意见\n国务院\n2021年3月1日\n一、要求\n各地加强节水。\n"
CLAUSES = "".join(
    f"第{n}条 推进节水工作，按照关于节水的要求落实第{n}项措施，{'加强管理。' * 60}\n"
    for n in "一二三四五六七八九"
)
TEXTS = {
    "basis": BASIS,
    "fujian": "福建省人民政府印发关于做好节水工作的十项措施\n"
    f"为落实《关于加强节水工作的意见》，制定本措施。\n{CLAUSES}",
    "henan": f"河南省人民政府印发关于做好节水工作的十项措施\n{CLAUSES}",
}
CHAIN = "《福建省关于做好节水工作的十项措施》所依据的上位政策是由哪个机构发布的？"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Two provinces' measures of the same name, and what one of them is based on."""
    folder = tmp_path_factory.mktemp("quoted")
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")
    config = Config(embedding=EmbeddingConfig(model="hash"))
    with KnowledgeBase.open(folder / "kb", config=config) as made:
        made.ingest(sorted(folder.glob("*.txt")))
        yield made


def files_of(base, question, **options):
    """Return the files of results in their order, each once."""
    files = {d.doc_id: Path(d.file).stem for d in base.documents()}
    found = base.search(question, **options)
    return list(dict.fromkeys(files[r.chunk.doc_id] for r in found))


def searched(base, question):
    knowledge = base._current.knowledge()
    return knowledge.search(knowledge.query(question))


def test_a_quoted_title_may_have_its_place_before_it(base):
    """It is the document of that place, though two bear the rest of the title."""
    files = {d.doc_id: Path(d.file).stem for d in base.documents()}
    titled = searched(base, "《福建省关于做好节水工作的十项措施》有什么要求").titled
    assert [files[doc_id] for doc_id in titled] == ["fujian"]
    assert searched(base, "《云南省关于做好节水工作的十项措施》有什么要求").titled == {}
    assert searched(base, "《福建省措施》有什么要求").titled == {}  # too little is left


def test_its_node_is_what_the_question_is_about(base):
    """Though the node has another name, its facts are followed."""
    search = searched(base, CHAIN)
    nodes = search.settings.nodes
    assert [nodes.get(anchor.entity.entity_id) for anchor in search.anchors] == list(search.titled)
    assert search.anchors[0].at == 1


def test_what_a_quoted_document_is_based_on_stands_second(base):
    """Else its own clauses would fill the context."""
    assert files_of(base, CHAIN, top_k=2) == ["fujian", "basis"]
    unplanned = base.search(CHAIN, top_k=2, system="grim-no-plan")
    assert not [r for r in unplanned if "asked for cited" in r.via]
    reasons = base.search(CHAIN, top_k=2)[1].via
    assert reasons[0] == "asked for cited"
    assert reasons[1].startswith("cited: ")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (CHAIN, True),
        ("《甲办法》依据的文件是什么时候印发的", True),
        ("《甲办法》的上位文件文号是什么", True),
        ("Who issued what 《甲办法》 is based on?", True),
        ("When was what 《甲办法》 is based on issued, and who issued it?", True),
        ("《甲办法》依据哪些文件", False),
        ("《甲办法》由哪个部门印发", False),
    ],
)
def test_questions_that_go_on_from_a_document(question, expected):
    """To who issued what it cites, or when; not to what that is."""
    assert question_of(analyse(question)).asks_on is expected
