import pytest

from kgrag.ingestion.self_names import names_nothing, self_names
from kgrag.types import Document


def names(title, text="", **metadata):
    return self_names(Document("d", title, text, "d.txt", "txt", "00", properties=metadata))


def test_self_names_come_from_the_title_and_the_places():
    """Name, region and issuer as the title has them."""
    found = names("云岭省人民政府办公厅关于印发《云岭省节能规划》的通知", places="云岭")
    assert (found.document, found.region, found.agency) == (
        "云岭省节能规划",
        "云岭省",
        "云岭省人民政府办公厅",
    )


@pytest.mark.parametrize(
    ("title", "text", "places", "region"),
    [
        ("上海市徐汇区专项资金管理办法", "", "上海、徐汇", "徐汇区"),
        ("广东、海南合作方案", "", "广东、海南", "广东、海南"),
        ("工业领域碳达峰方案", "云岭省人民政府", "云岭", "云岭省"),
        ("内蒙古自治区规划", "", "内蒙古", "内蒙古自治区"),
        ("广西壮族自治区规划", "", "广西", "广西壮族自治区"),
        ("云岭规划", "", "云岭", "云岭"),
        ("国家节能规划", "", "", "国家节能规划的适用地区"),
    ],
)
def test_region_is_the_innermost_place_as_the_text_spells_it(title, text, places, region):
    """A district within its city is the district; without a place the name says so."""
    assert names(title, text, places=places).region == region


@pytest.mark.parametrize(
    ("title", "agency"),
    [
        ("国务院关于印发节能方案的通知", "国务院"),
        ("省政府关于节能的意见", "云岭省政府"),
        ("云政发〔2022〕19号云岭省人民政府关于节能的意见", "云岭省人民政府"),
        ("云岭省关于节能的意见", "关于节能的意见的发布机关"),
        ("节能规划", "节能规划的发布机关"),
        ("问答实录：《关于节能的意见》", "问答实录：《关于节能的意见》的发布机关"),
    ],
)
def test_agency_is_told_by_the_title_only(title, agency):
    """What is no organ before 关于 is no issuer: the name then keeps the document's."""
    found = names(title, "云岭省", places="云岭")
    assert found.agency == agency.replace("问答实录：《关于节能的意见》", found.document)


def test_agency_without_its_place_is_no_name():
    """省政府 could be that of any province."""
    assert names("省政府关于节能的意见").agency == "关于节能的意见的发布机关"


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
        ("本机关", "云岭省发展改革委"),
        ("全国", "全国"),
        ("全市场", "全市场"),
        ("本标准化技术委员会", "本标准化技术委员会"),
        ("云岭省", "云岭省"),
    ],
)
def test_resolve_replaces_words_for_itself_at_the_head(name, resolved):
    """本文件, 本地区, 本机关 and what texts write for them; other names stay."""
    found = names("云岭省发展改革委关于印发《云岭省节能规划》的通知", places="云岭")
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
