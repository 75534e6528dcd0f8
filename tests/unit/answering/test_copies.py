"""One text under several names."""

import json

import pytest
from click.testing import CliRunner

from kgrag.api import KnowledgeBase
from kgrag.cli.main import main
from kgrag.embedding.hashing import HashEmbedder

THINGS = ("钢铁", "建材", "石化", "轻工", "纺织", "医药", "食品", "电子")
MEASURES = [
    f"（{number}）{thing}行业。对{thing}企业开展节能诊断，推广先进适用的{thing}节能技术和装备，"
    f"建设{thing}行业能源管理中心，提高{thing}企业余热余压和再生资源的利用水平，"
    f"每年组织{thing}企业交流经验，支持{thing}企业参加国内外展览。"
    for number, thing in zip("一二三四五六七八", THINGS, strict=True)
]
BODY = [
    "云岭省绿色工厂建设实施方案",
    "一、总体目标",
    "到2025年，云岭省创建绿色工厂500家，绿色园区建设取得明显成效。",
    "二、重点任务",
    *MEASURES,
    "三、责任分工",
    "绿色工厂的评价工作由省工业和信息化厅牵头，省财政厅配合落实补助资金，各市按职责做好推荐工作，"
    "评价结果每年向社会公布，接受监督，连续两年不合格的退出名单，三年内不得再次申报。",
    "四、保障措施",
    "各地要把绿色工厂建设纳入年度工作计划，定期报送进展情况，加强宣传引导，总结推广典型经验做法，"
    "对工作推进不力的予以通报，对成效明显的给予表扬，并在项目安排上予以优先支持。",
]
COVER = ["关于转发绿色工厂文件的函", "各有关单位：现将文件转发给你们，请结合实际认真贯彻落实。"]
CITY = [line.replace("云岭省", "青川市").replace("省", "市").replace("500", "50") for line in BODY]
FILES = {
    "e.txt": "\n".join(BODY),
    "b.txt": "\n".join(BODY),
    "f.txt": "\r\n".join(BODY),
    "x.txt": "\n\n".join(["", *BODY]),
    "letter.txt": "\n".join([*COVER, *BODY]),
    "city.txt": "\n".join(CITY),
}
SAME = ("b.txt", "e.txt", "f.txt", "x.txt")
ASKED = "绿色工厂的评价工作由谁牵头"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A knowledge base of a text under five names, and of a city's, which is another's."""
    folder = tmp_path_factory.mktemp("copies")
    for name, text in FILES.items():
        (folder / name).write_bytes(text.encode())
    with KnowledgeBase.open(folder / "kb", embedder=HashEmbedder()) as base:
        base.ingest([folder / name for name in FILES])
    return folder


@pytest.fixture
def kb(folder):
    with KnowledgeBase.open(folder / "kb", embedder=HashEmbedder()) as base:
        yield base


def names(files):
    return {file.rpartition("/")[2] for file in files}


@pytest.mark.parametrize("system", ["grim", "hybrid", "bm25", "vector"])
@pytest.mark.parametrize("top_k", [3, 10])
def test_a_place_is_found_once_and_names_all_files_that_hold_it(kb, system, top_k):
    """By every system; the letter holds it, too, the city's plan says something else."""
    hits = kb.search(ASKED, system=system, top_k=top_k)
    same = [hit for hit in hits if not hit.file.endswith("city.txt")]
    texts = ["".join(hit.chunk.text.split()) for hit in same]
    assert len(set(texts)) == len(texts) > 0
    for hit in same:
        # a letter of another name is compared where both are found
        alone = {"letter.txt"} if len(hits) == 3 else set()
        assert names([hit.file, *hit.also_in]) in (alone, {*SAME}, {*SAME, "letter.txt"})
        assert list(hit.also_in) == hit.to_dict()["also_in"]
    assert all(hit.also_in == () for hit in hits if hit not in same)


def test_of_one_file_the_others_are_neither_searched_nor_named(kb, folder):
    """What a filter leaves out is not told."""
    from kgrag.retrieval.filter import Filter

    hits = kb.search(ASKED, within=Filter(documents=("f.txt",)))
    assert hits
    assert {names([hit.file, *hit.also_in]) == {"f.txt"} for hit in hits} == {True}


@pytest.mark.parametrize(
    "question", [ASKED, "云岭省2025年绿色工厂目标是多少家", "云岭省绿色工厂怎样保障"]
)
def test_an_answer_cites_a_place_once_and_names_the_others(folder, question):
    """Rows of tables as quotes; as JSON and as text."""
    words = ["ask", question, "--writer", "quotes", "--kb", str(folder / "kb")]
    told = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    quotes = ["".join(c["quote"].split()) for c in told["citations"]]
    assert quotes
    assert len(set(quotes)) == len(quotes)
    same = [c for c in told["citations"] if not c["file"].endswith("city.txt")]
    assert same
    for cited in same:
        assert names([cited["file"], *cited["also_in"]]) == {*SAME, "letter.txt"}
    shown = CliRunner().invoke(main, words).stdout
    assert shown.count("同一文字另见：") == len(same)


def test_the_others_are_found_when_one_is_deleted(folder, tmp_path):
    """Nothing is recorded of copies: what is held counts."""
    left = dict.fromkeys(SAME)
    for name in SAME:
        (tmp_path / name).write_bytes(FILES[name].encode())
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as base:
        base.ingest([tmp_path / name for name in SAME])
        while left:
            (hit, *_) = base.search(ASKED)
            assert names([hit.file, *hit.also_in]) == set(left)
            del left[hit.file.rpartition("/")[2]]
            base.delete(hit.file)
        assert base.search(ASKED) == []
