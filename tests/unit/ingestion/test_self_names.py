import pytest

from kgrag.ingestion.self_names import names_nothing, self_names
from kgrag.metadata import Metadata
from kgrag.types import Document


def names(title, *, regions=(), issuers=()):
    metadata = Metadata(regions=regions, issuers=issuers)
    return self_names(Document("d", title, "", "d.txt", "txt", "00", metadata=metadata))


@pytest.mark.parametrize(
    ("word", "region"),
    [
        ("全省", "四川省"), ("我市", "成都市"), ("本区", "武侯区"), ("本地区", "武侯区"),
        ("全县", "武侯区"), ("this region", "武侯区"),
    ],
)  # fmt: skip
def test_a_word_for_a_level_is_the_region_of_that_level(word, region):
    """全省 in a city's document is the province around the city."""
    found = names("武侯区节能规划", regions=("四川省", "成都市", "武侯区"))
    assert found.resolve(word) == region


def test_a_word_for_a_level_that_the_document_has_not_stays():
    """全市 in a province's document is any of its cities."""
    assert names("节能规划", regions=("云岭省",)).resolve("全市绿色工厂") == "全市绿色工厂"


def test_what_is_not_told_is_called_the_documents():
    """So that nothing wrong is said, and nothing of two documents is one."""
    found = names("关于节能的意见")
    assert found.resolve("本地区") == "关于节能的意见的适用地区"
    assert found.resolve("我局") == "关于节能的意见的发布机关"


@pytest.mark.parametrize(
    ("name", "resolved"),
    [
        ("本文件", "云岭省节能规划"),
        ("本实施方案", "云岭省节能规划"),
        ("This plan", "云岭省节能规划"),
        ("本地区", "云岭省"),
        ("我省", "云岭省"),
        ("全省工业领域", "云岭省工业领域"),
        ("this region's industry", "云岭省 industry"),
        ("本机关", "云岭省发展和改革委员会"),
        ("全国", "全国"),
        ("全市场", "全市场"),
        ("本标准化技术委员会", "本标准化技术委员会"),
        ("云岭省", "云岭省"),
    ],
)
def test_resolve_replaces_words_for_itself_at_the_head(name, resolved):
    """本文件, 本地区, 本机关 and what texts write for them; other names stay."""
    found = names(
        "云岭省发展改革委关于印发《云岭省节能规划》的通知",
        regions=("云岭省",),
        issuers=("云岭省发展和改革委员会",),
    )
    assert found.resolve(name) == resolved


@pytest.mark.parametrize(
    "name",
    ["其", "该项", "上述措施", "有关部门", "各有关部门", "相关部门和单位", "各部门", "的", "——",
     " ", "it", "The relevant departments", "these measures", "they", "本部门"],
)  # fmt: skip
def test_names_nothing_of_placeholders(name):
    """Pronouns, stop words and placeholders are no entity."""
    assert names_nothing(name)


@pytest.mark.parametrize(
    "name",
    [
        "能源主管部门",
        "2025年",
        "13.5%",
        "相关性分析技术",
        "碳",
        "IT产业",
        "市发展改革委",
        "企业",
        "Departments of Energy",
    ],
)
def test_names_nothing_spares_names(name):
    """What names something stays, short or not."""
    assert not names_nothing(name)
