"""What is asked of all provinces or cities is answered with the sentences of each."""

import pytest

from kgrag.answer.blocks import Row
from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig, VerifyConfig
from kgrag.retrieval.filter import Filter
from kgrag.testing.scripted import ScriptedChat
from tests.fixtures.kit import shared_base, write

TEXTS = {
    "anhui": """安徽省能源发展规划
2022年3月1日
一、能源结构
推动氢能产业发展，支持合肥、六安建设加氢站。
二、节能
严格控制高耗能项目，推进节能改造。
""",
    "hefei": """合肥市能源发展规划
2022年6月1日
一、新兴产业
鼓励氢能企业开展示范应用。
""",
    "shanxi": """山西省能源发展规划
2022年4月1日
一、能源结构
有序发展氢能，探索焦炉煤气制氢。
""",
    "jilin": """吉林省能源发展规划
2022年5月1日
一、能源结构
因地制宜发展生物质能，推进农村清洁供暖。
""",
    "nation": """国家能源发展规划
2021年5月1日
一、能源结构
统筹推进氢能产业发展，完善标准体系。
""",
}
base = shared_base(TEXTS)


def rows(answer):
    assert all(isinstance(block, Row) for block in answer.blocks)
    return [(row.label, row.citation.quote) for row in answer.blocks]


@pytest.mark.parametrize(
    "question", ["各省对氢能发展提出了哪些要求？", "哪些省份提到了氢能？", "各省氢能政策有什么不同"]
)
def test_each_province_has_its_own_sentences(base, question):
    answer = base.ask(question)
    found = rows(answer)
    assert list(dict.fromkeys(place for place, _ in found)) == ["山西省", "安徽省"]
    assert all("氢" in quote for _, quote in found)
    assert getattr(answer.notes[0], "kind", "") == "by-place"
    assert not any("吉林" in note for note in answer.notes)  # where it stands may not be read


def test_places_within_a_filter_alone_are_listed(base):
    answer = base.ask("各省对氢能发展提出了哪些要求？", within=Filter(regions=("山西", "吉林")))
    assert not any(getattr(n, "kind", "") == "by-place" for n in answer.notes)  # one place


@pytest.mark.parametrize("question", ["各省对量子计算有什么要求？", "山西省对氢能有什么要求？"])
def test_what_none_has_or_one_place_is_asked_for_is_no_list(base, question):
    assert not any(getattr(n, "kind", "") == "by-place" for n in base.ask(question).notes)


def test_a_model_reads_the_sentences_of_each_place_first(tmp_path):
    written = "安徽建设加氢站[2]，山西探索制氢[1]。"
    model = ScriptedChat(lambda request: written if request.stage == "answer" else "{}")
    config = Config(embedding=EmbeddingConfig(model="hash"), verify=VerifyConfig(method="none"))
    with KnowledgeBase.open(tmp_path / "kb", config=config, model=model) as kb:
        kb.ingest(write(tmp_path, TEXTS), model="none")
        answer = kb.ask("各省对氢能发展提出了哪些要求？", top_k=1)
    (request,) = [r for r in model.requests if r.stage == "answer"]
    read = "\n".join(message.content for message in request.messages)
    assert "有序发展氢能，探索焦炉煤气制氢。" in read
    assert "鼓励氢能企业开展示范应用。" in read
    assert getattr(answer.notes[0], "kind", "") == "by-place"
