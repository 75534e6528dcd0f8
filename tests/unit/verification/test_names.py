import pytest

from kgrag.verification.names import bare, names


def written(sentence, *, latin=False):
    return [name.written for name in names(sentence, source_is_latin=latin)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("落实《节约能源法》的要求", ["《节约能源法》"]),
        ("由省生态环境厅牵头", ["省生态环境厅"]),
        ("省财政厅、市统计部门负责", ["省财政厅", "市统计部门"]),
        ("领导小组办公室设在市林草局", ["领导小组办公室", "市林草局"]),
        ("福州、厦门先行", ["福州", "厦门"]),
        ("苏州市吴中区和泰兴市", ["苏州", "吴中区", "泰兴市"]),
        ("冀湘两省联动", ["河北", "湖南"]),
        ("“十四五”期间", ["十四五"]),
        ("实行CCER和5A级标准，PM2.5下降", ["CCER", "5A", "PM2.5"]),
        ("PUE1.3以下", ["PUE1.3"]),
    ],
)
def test_names_are_titles_agencies_places_plans_and_codes(sentence, expected):
    """In the order of the sentence."""
    assert written(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "全部干部参加，总体布局不变，部署任务",
        "有关部门和各部门按职责分工负责，主管部门备案",
        "成立市长任组长的领导小组",
        "加强上下联动与部门协同",
        "安装100KW设备，部分完成",
        "委托第三方，局面稳定，厅长批准",
        "建成县级示范，城区和矿区，高新区",
        "不存在否决项才签署意见",
    ],
)
def test_names_are_not_found_in_common_words(sentence):
    """A false alarm costs more than a miss."""
    assert written(sentence) == []


def test_names_of_counties_may_be_called_for_short():
    """A document of 泰兴 need not write 市 behind it."""
    (name,) = names("泰兴市先行", source_is_latin=False)
    assert (name.forms, name.is_place) == (("泰兴市", "泰兴"), True)


def test_names_of_agencies_inside_titles_belong_to_the_title():
    """The title is compared as a whole."""
    assert written("《云岭省财政厅管理办法》") == ["《云岭省财政厅管理办法》"]


def test_names_in_english_are_capitalised_words_after_the_first():
    """Months are dates, and plain words nothing."""
    sentence = "The tower in Paris was built by Gustave Eiffel in May 1889"
    assert written(sentence, latin=True) == ["Paris", "Gustave", "Eiffel"]


def test_names_in_english_about_a_chinese_text_are_codes_only():
    """Translated names can be compared with nothing."""
    assert written("In Yunling the CCER target of the Ministry is set") == ["CCER"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("省发展和改革委员会", "省发改委"),
        ("工业和信息化厅", "工信厅"),
        ("省经济和信息厅", "省经信厅"),
        ("住房城乡建设部", "住建部"),
        ("中国人民银行", "人民银行"),
        ("Ｐ Ｍ2.5", "pm2.5"),
    ],
)
def test_bare_is_the_same_for_long_and_short_names(one, other):
    """Both are in use for one agency."""
    assert bare(one) == bare(other)
