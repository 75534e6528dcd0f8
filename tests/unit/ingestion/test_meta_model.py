import pytest

from kgrag.errors import ConfigError
from kgrag.ingestion.meta_model import TypedTriple, read_meta_model

MODEL = """
name = "tiny"
[[types]]
key = "agency"
zh = "机构"
en = "body"
[[types]]
key = "policy"
zh = "文件"
en = "policy"
[[relations]]
zh = "发布"
en = "issues"
subject = ["agency"]
object = ["policy"]
aliases = ["印发"]
[[relations]]
zh = "撤回"
en = "withdraws"
subject = ["agency"]
object = ["policy"]
[[relations]]
zh = "包括"
en = "includes"
subject = ["*"]
object = ["*"]
"""


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(MODEL, encoding="utf-8")
    return read_meta_model(str(path))


@pytest.mark.parametrize(
    ("subject_type", "predicate", "object_type", "reason"),
    [
        ("agency", "发布", "policy", None),
        ("机构", "印发", "文件", None),
        ("Body", "ISSUES", "policy", None),
        ("policy", "发布", "agency", "type not allowed"),
        ("agency", "发布", "", "type not allowed"),
        ("city", "包括", "policy", "type not allowed"),
        ("policy", "包括", "agency", None),
        ("agency", "参观", "policy", "relation not allowed"),
    ],
)
def test_check_says_what_speaks_against_a_triple(
    tiny, subject_type, predicate, object_type, reason
):
    """Relations by any of their names, types in their place; * takes every known type."""
    assert tiny.check(TypedTriple("甲", subject_type, predicate, "乙", object_type)) == reason


def test_listing_puts_relations_between_the_same_types_on_one_line(tiny):
    """Types first, with their name where it says more than the key."""
    assert tiny.listing("zh") == (
        "agency：机构、policy：文件\n发布、撤回：agency → policy\n包括：* → *"
    )
    assert tiny.listing("en") == (
        "agency: body, policy\nissues, withdraws: agency → policy\nincludes: * → *"
    )


def test_identity_changes_with_the_content(tiny, tmp_path):
    """Whoever edits the file reads documents anew."""
    path = tmp_path / "other.toml"
    path.write_text(MODEL.replace("印发", "公布"), encoding="utf-8")
    assert read_meta_model(str(path)).identity != tiny.identity
    path.write_text("# a comment\n" + MODEL, encoding="utf-8")
    assert read_meta_model(str(path)).identity == tiny.identity


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "tiny"', "name = ", ["cannot be read as TOML"]),
        ('name = "tiny"', 'title = "tiny"', ["unknown key 'title'"]),
        ('name = "tiny"', "name = 3", ["name must be a text", "3"]),
        ('key = "policy"', 'key = "agency"', ["'agency' stands twice"]),
        ('key = "policy"', 'kye = "policy"', ["types[1]", "'kye'"]),
        ('zh = "机构"', 'zh = " "', ["types[0].zh", "not blank"]),
        ('subject = ["agency"]', 'subject = ["agencies"]', ["relations[0].subject", "agencies"]),
        ('subject = ["agency"]', 'subject = "agency"', ["relations[0].subject", "list of texts"]),
        ('subject = ["agency"]', "subject = []", ["relations[0].subject"]),
        ('aliases = ["印发"]', 'aliases = ["撤 回"]', ["'撤回'", "'发布'"]),
        ('aliases = ["印发"]', 'other = ["印发"]', ["relations[0]", "'other'"]),
    ],
)
def test_a_malformed_file_is_refused_with_file_and_key(tmp_path, old, new, words):
    """Whoever edits a meta-model is told where the mistake is."""
    path = tmp_path / "mine.toml"
    path.write_text(MODEL.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        read_meta_model(str(path))
    for word in ["mine.toml", *words]:
        assert word in str(error.value)


@pytest.mark.parametrize(
    "text", ['name = "empty"', "types = []", "types = 3", MODEL.split("[[relations]]")[0]]
)
def test_a_file_without_types_or_relations_is_refused(tmp_path, text):
    """An empty meta-model would drop every fact."""
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="must be one or more tables"):
        read_meta_model(str(path))


def test_an_unknown_name_is_refused_with_the_names_there_are():
    """The remedy is in the error."""
    with pytest.raises(ConfigError, match="dual-carbon"):
        read_meta_model("dual-carbons")


def test_the_shipped_meta_model_covers_the_field():
    """The types of the order, some thirty relations, each with types that are its own."""
    model = read_meta_model("dual-carbon")
    keys = {t.key for t in model.types}
    assert keys >= {"policy", "region", "agency", "industry", "target", "measure", "project",
                    "technology", "standard", "deadline"}  # fmt: skip
    assert 20 <= len(model.relations) <= 40
    for subject, predicate, object_ in [
        ("agency", "印发", "policy"),
        ("policy", "适用于", "region"),
        ("policy", "根据", "policy"),
        ("region", "设定目标", "target"),
        ("target", "目标值为", "value"),
        ("project", "完成时间", "deadline"),
        ("agency", "牵头", "measure"),
        ("agency", "参与", "project"),
        ("policy", "鼓励", "technology"),
        ("policy", "严禁", "project"),
        ("industry", "推广", "technology"),
        ("project", "位于", "region"),
        ("industry", "符合", "standard"),
    ]:
        triple = TypedTriple("甲", subject, predicate, "乙", object_)
        assert model.check(triple) is None, predicate
    assert model.check(TypedTriple("甲", "value", "发布", "乙", "policy")) == "type not allowed"
