"""Figures are read by the names that a question may mean: none is missed, few others are read."""

import pytest

from kgrag.answering.figures import named_figures
from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.store.decisions import Decision

PLAN = """# 云岭省能源发展规划

到2025年，森林覆盖率达到41%，城市森林覆盖率达到30%。光伏发电达到500万千瓦。
单位地区生产总值能耗下降13%。新建绿色工厂300家，绿色工厂产值达到100亿元。
国有林场达到50个，国有林场面积达到20万亩。
"""


@pytest.fixture
def store(tmp_path):
    (tmp_path / "plan.md").write_text(PLAN, encoding="utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as base:
        base.ingest([tmp_path / "plan.md"])
        yield base.store


def named(store, text, *pieces):
    return {s.fact.subject.name for s in named_figures(store, text, pieces)}


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        ("森林覆盖率", {"森林覆盖率", "城市森林覆盖率"}),
        ("光伏发电", {"光伏装机容量"}),  # as the unit tells
        ("单位GDP能源消耗", {"单位GDP能耗"}),
        ("公园绿地面积", set()),
    ],
)
def test_an_indicator_is_found_by_all_its_names(store, piece, expected):
    """Its own, other names, and those of longer ones; others are not read."""
    assert named(store, f"目标{piece}是多少", piece) == expected


def test_words_of_asking_may_be_in_a_name(store):
    """国有林场, cut at 有, is found whole."""
    found = named(store, " 国有林场目标", "国", "林场")
    assert {"国有林场", "国有林场面积"} <= found
    assert "森林覆盖率" not in found


def test_a_name_that_a_person_merged_is_found_by_both(store):
    """What is asked may be called as it was before."""
    assert named(store, "林地占比", "林地占比") == set()
    store.decide(decisions=[Decision("merge", "林地占比", "森林覆盖率")])
    assert "森林覆盖率" in named(store, "林地占比", "林地占比")
