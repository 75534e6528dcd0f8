"""QCG-Rerank: the graph, the updated question, and the critical information."""

import pytest

from kgrag.retrieval.grim import PRESETS
from kgrag.retrieval.qcg import ChunkGraph, graph_weights, with_critical
from kgrag.testing import ScriptedChat
from tests.fixtures.kit import shared_base

TEXTS = {
    "a": "绿色工厂\n到2025年，创建绿色工厂500家，由工业和信息化部门负责。",
    "b": "绿色园区\n到2025年，建成绿色园区32个。",
    "c": "森林覆盖\n到2025年，森林覆盖率达到24.1%。",
}
base = shared_base(TEXTS)


def test_the_weights_are_the_fixed_point_of_equation_5():
    """The question holds half, chunks share the rest by their similarity; none is below 0."""
    assert graph_weights([0.6, 0.3, -0.5], damping=0.85) == pytest.approx([1 / 3, 1 / 6, 0.0])
    assert graph_weights([0.6, 0.3], damping=0.3) == pytest.approx([1 / 3, 1 / 6], abs=1e-6)
    assert graph_weights([0.0], damping=0.5) == pytest.approx([0.0])
    assert graph_weights([], damping=0.5) == []


@pytest.mark.parametrize("damping", [0, 1, -1, float("nan")])
def test_a_damping_that_does_not_converge_is_refused(damping):
    """At 1 all weight goes to and fro."""
    with pytest.raises(ValueError, match="damping must be above 0 and below 1"):
        graph_weights([0.5], damping=damping)


def test_what_is_searched_by_likeness_is_question_and_critical_information(base, monkeypatch):
    """N times; the words that rules find, where no model extracted any."""
    asked = []
    embed = type(base.embedder).embed

    def heard(self, texts, task):
        asked.extend(texts)
        return embed(self, texts, task)

    monkeypatch.setattr(type(base.embedder), "embed", heard)
    (first, *_) = base.search("绿色工厂多少家？", system="qcg", top_k=3)
    assert "500家" in first.chunk.text
    (updated,) = {text for text in asked if text.count("绿色工厂多少家？") == 3}
    assert "critical information by rules: " in first.via[0]
    critical = first.via[0].values["what"]
    assert updated == " ".join(["绿色工厂多少家？", critical] * 3)


def test_a_model_extracts_critical_information_once_and_may_fail(base):
    """Whose it is, is told; pipelines without the graph ask nothing."""
    query = base._knowledge.query("绿色工厂多少家？")
    model = ScriptedChat(["绿色工厂 创建数量"])
    (graph,) = with_critical(PRESETS["qcg"].rerankers, query, lambda: model)
    assert graph == ChunkGraph(critical="绿色工厂 创建数量")
    results = graph(base._knowledge.search(query), base.search("绿色", system="vector", top_k=3))
    assert "by a model: 绿色工厂 创建数量" in results[0].via[0]
    assert "</question" in model.requests[0].messages[1].content

    failing = ScriptedChat(["", ""])
    own = PRESETS["qcg"].rerankers
    assert with_critical(own, query, lambda: failing) == own
    for name in ("grim", "qcg-no-critical", "qcg-no-graph"):
        own = PRESETS[name].rerankers
        assert with_critical(own, query, lambda: ScriptedChat([])) == own


def test_no_more_than_n_candidates_are_kept(base):
    """QCG-Rerank chooses among its N candidates."""
    search = base._knowledge.search(base._knowledge.query("绿色"))
    found = base.search("绿色", system="vector", top_k=3)
    assert len(found) == 3
    assert len(ChunkGraph(most=2)(search, found)) == 2
