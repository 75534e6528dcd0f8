"""A national figure and a local one of the same thing, side by side."""

import pytest

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Quote
from kgrag.answer.citation import Citation
from kgrag.answering.levels import national_beside_local
from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder

NATIONAL = (
    "国务院关于加快节能降碳的意见\n国发〔2021〕3号\n各省人民政府：\n"
    "一、目标\n到2025年，非化石能源消费比重达到20%左右。\n"
    "到2025年，森林覆盖率达到24%。\n到2025年，新增造林面积500万亩。\n"
    "到2025年，城镇绿色建筑占比达到70%。\n国务院\n2021年5月6日\n"
)
LOCAL = (
    "云南省节能降碳实施方案\n云政发〔2021〕8号\n"
    "根据《国务院关于加快节能降碳的意见》（国发〔2021〕3号），制定本方案。\n"
    "一、目标\n到2025年，非化石能源消费比重达到45%左右。\n"
    "到2025年，森林覆盖率达到24%。\n到2025年，新增造林面积20万亩。\n"
    "到2030年，城镇绿色建筑占比达到80%。\n云南省人民政府\n2021年8月6日\n"
)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("levels")
    for name, text in (("national", NATIONAL), ("local", LOCAL)):
        (folder / f"{name}.txt").write_text(text, "utf-8")
    with KnowledgeBase.open(folder / "kb", embedder=HashEmbedder()) as opened:
        assert not opened.ingest([folder / "national.txt", folder / "local.txt"]).failed
        yield opened


@pytest.fixture(scope="module")
def answer(base):
    """Return a function that makes an answer out of sentences of documents, by file."""
    documents = {d.file.rpartition("/")[2]: d for d in base.store.documents()}

    def make(*quotes, question="国家和云南各是多少？"):
        cited = []
        for number, (file, words) in enumerate(quotes, 1):
            document = documents[file]
            at = document.text.index(words)
            end = document.text.index("。", at) + 1
            cited.append(
                Citation(number, document.doc_id, document.title, file, (), None, at, end,
                         document.text[at:end], "c")
            )  # fmt: skip
        return Answer(question, tuple(map(Quote, cited)), "m")

    return make


def pair(words, other=""):
    return ("national.txt", words), ("local.txt", other or words)


SHARE = "到2025年，非化石能源"


def test_unlike_figures_of_both_levels_are_shown_with_their_relation(base, answer):
    """What differs, by whom, and that the local document rests on the national one."""
    assert national_beside_local(answer(*pair(SHARE)), base.store) == [
        "国家与地方不同：非化石能源消费比重（2025年），国家约20%[1]，云南省约45%[2]，地方文件依据前者"
    ]
    (told,) = national_beside_local(answer(*pair(SHARE), question="How much is each?"), base.store)
    assert told == (
        "national and local differ: 非化石能源消费比重 (2025), nationally 约20%[1], 云南省 约45%[2]"
        "; the local document names the other as its 依据"
    )


def test_each_difference_is_told_once(base, answer):
    """However often it is quoted."""
    national, local = pair(SHARE)
    assert len(national_beside_local(answer(national, local, national), base.store)) == 1


@pytest.mark.parametrize(
    "quotes",
    [
        pair("到2025年，森林覆盖率"),
        pair("到2025年，新增造林面积"),
        pair("到2025年，城镇绿色建筑", "到2030年，城镇绿色建筑"),
        pair(SHARE, "到2025年，森林覆盖率"),
        (("local.txt", SHARE),),
        (("national.txt", SHARE),),
        (),
    ],
    ids=["equal", "an amount", "another year", "another thing", "one", "the other", "none"],
)
def test_what_does_not_surely_differ_is_left_out(base, answer, quotes):
    assert national_beside_local(answer(*quotes), base.store) == []


def test_an_answer_has_it_among_its_notes(base):
    found = base.ask("到2025年，全国和云南的非化石能源消费比重分别达到多少？")
    assert any(note.startswith("国家与地方不同：非化石能源消费比重") for note in found.notes)
