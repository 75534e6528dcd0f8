import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.statements.finding import SELF
from kgrag.ingestion.statements.references import references


def read(text, *own):
    """Return (role, object) of every place."""
    return [(f.qualifiers.role, f.object) for f in references(text, own_names=own)]


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("为贯彻落实《甲省节能条例》精神，制定本方案。", "落实"),
        ("严格执行《甲省节能条例》，淘汰落后产能。", "落实"),
        ("根据《甲省节能条例》等规定，结合我市实际，制定本办法。", "依据"),
        ("第一条 为加强管理，依据《甲省节能条例》，制定本办法。", "依据"),
        ("本规划根据《甲省节能条例》和国家有关要求提出目标。", "依据"),
        ("到2025年的规划，根据《甲省节能条例》等编制，阐明方向。", "依据"),
        ("其他单位参照《甲省节能条例》执行。", "参照"),
        ("本办法自2022年1月1日起施行。《甲省节能条例》同时废止。", "废止"),
        ("经研究，决定废止《甲省节能条例》。", "废止"),
        ("本意见自发布之日起实施，《甲省节能条例》（甲发〔2008〕5号）不再执行。", "废止"),
        ("本办法有效期五年。《甲省节能条例》（甲发〔2017〕3号）及实施细则同时作废。", "废止"),
        ("根据有关规划，以及《甲省节能条例》，制定本规划。", "依据"),
        ("根据《甲省节能条例》等规定，请做好以下工作：", "依据"),
        ("现决定对《甲省节能条例》作如下修改：", "修订"),
        ("现将《甲省节能条例》修订为《乙条例》。", "修订"),
        ("现将《甲省节能条例》印发给你们，请认真执行。", "印发"),
        ("我局制定了《甲省节能条例》。现印发给你们，请遵照执行。", "印发"),
        ("现将《甲省节能条例》转发给你们，请结合实际落实。", "转发"),
        ("《甲省节能条例》已经省政府同意，现转发给你们。", "转发"),
    ],
)
def test_a_role_is_the_documents_own_act(text, role):
    """Each role where the document itself does it."""
    assert read(text)[0] == (role, "甲省节能条例")


@pytest.mark.parametrize(
    "text",
    [
        "到2025年，修订《甲省节能条例》和地方标准。",
        "按照修订后的《甲省节能条例》管理。",
        "加快出台《甲省节能条例》。",
        "先后印发了《甲省节能条例》等文件。",
        "先后落实了《甲省节能条例》等文件。",
        "各企业应当按照《甲省节能条例》报送数据。",
        "各市要依据《甲省节能条例》，制定本市实施方案。",
        "制定实施《甲省节能条例》。",
        "制定印发并组织实施《甲省节能条例》。",
        "未执行《甲省节能条例》的，予以处罚。",
        "现将《甲省节能条例》落实情况通报如下。",
        "不得擅自决定废止的《甲省节能条例》继续有效。",
        "企业有《甲省节能条例》不再适用的情形的，应当报告。",
        "对及时废止《甲省节能条例》的市予以通报。",
        "二、“十三五”工作成效\n严格落实《甲省节能条例》，能耗下降。\n三、目标\n",
    ],
)
def test_what_others_do_or_did_is_a_mention(text):
    """Tasks, results, negation and words that merely stand near give no role."""
    assert [role for role, title in read(text) if title == "甲省节能条例"] == ["提及"]


def test_who_issued_a_title_does_not_make_it_issued_here():
    """根据 X 印发的《A》《B》: both are the basis."""
    text = "根据国家发展改革委、工业和信息化部联合印发的《甲意见》《乙方案》，制定本方案。"
    assert read(text) == [("依据", "甲意见"), ("依据", "乙方案")]


def test_who_sent_out_the_second_of_two_is_no_verb_of_its_own():
    """《A》和省某厅印发《B》等文件精神: both are the basis."""
    text = "根据《甲意见》和云岭省能源局等5部门印发《乙方案》等文件精神，制定本方案。"
    assert read(text) == [("依据", "甲意见"), ("依据", "乙方案")]
    text = "为落实《甲意见》，省政府印发《乙方案》，各市已全面部署。"
    assert read(text) == [("落实", "甲意见"), ("提及", "乙方案")]


def test_a_list_shares_its_role_and_each_title_has_its_number():
    """Connectors, numbers and other issuers between titles keep the list together."""
    text = (
        "为落实《国务院关于节能的意见》（国发〔2021〕4号）、《节能\n规划》（发改环资[2021] 7号）"
        "和省政府《实施意见稿》（试行）（甲政发【2021】19号），制定本方案。"
    )
    found = references(text, own_names=[])
    assert [(f.qualifiers.role, f.object, f.qualifiers.number) for f in found] == [
        ("落实", "国务院关于节能的意见", "国发〔2021〕4号"),
        ("落实", "节能规划", "发改环资〔2021〕7号"),
        ("落实", "实施意见稿", "甲政发〔2021〕19号"),
    ]


def test_a_new_verb_begins_a_new_list():
    """落实《A》，参照《B》 are two."""
    text = "为落实《甲规划》精神，参照《乙办法》，制定本方案。"
    assert read(text) == [("落实", "甲规划"), ("参照", "乙办法")]


def test_places_are_those_of_the_marks_and_facts_are_the_documents():
    """The span includes both marks and line breaks within."""
    text = "为落实《节能\n规划》，制定本方案。"
    (found,) = references(text, own_names=[])
    assert text[found.start : found.end] == "《节能\n规划》"
    assert (found.subject, found.predicate, found.object_type) == (SELF, "落实", "document")
    assert found.qualifiers.kind == "reference"
    (mention,) = references("详见《节能规划》。", own_names=[])
    assert (mention.predicate, mention.qualifiers.role) == ("引用", "提及")


def test_what_a_notice_issues_shares_its_role_and_number():
    """关于印发〈A〉的通知 is cited, and A with it; 修改〈A〉 leaves A a mention."""
    text = "根据《关于印发〈节能规划〉的通知》（甲发〔2021〕1号），制定本方案。"
    found = references(text, own_names=[])
    assert [(f.qualifiers.role, f.object, f.qualifiers.number) for f in found] == [
        ("依据", "关于印发〈节能规划〉的通知", "甲发〔2021〕1号"),
        ("依据", "节能规划", "甲发〔2021〕1号"),
    ]
    text = "根据《关于修改〈节能规划〉的决定》，制定本方案。"
    assert read(text)[1] == ("提及", "节能规划")


def test_an_organ_before_inner_marks_is_the_titles_issuer():
    """《中共甲省委<关于节能的意见>》: both are one and share the role."""
    text = "根据《中共甲省委甲省人民政府<关于加快节能的意见>》等文件，制定本方案。"
    assert {role for role, _ in read(text)} == {"依据"}


def test_years_behind_the_own_title_make_no_other_title():
    """白岭市节能规划（2021-2025） names itself without them."""
    assert read("编制了《青川市节能规划》。", "青川市节能规划（2021-2025年）") == []


def test_a_notice_about_others_says_so_in_its_title():
    """关于废止《A》的通知 at the head is the document's own act."""
    text = "青川市人民政府关于废止《节能暂行办法》的通知\n各县人民政府：\n"
    assert read(text) == [("废止", "节能暂行办法")]


def test_own_names_are_no_citations_but_others_of_the_same_name_are():
    """The issuer before 关于, or before the marks, tells another's document apart."""
    own = "青川市人民政府关于加快节能工作的实施意见"
    text = (
        "青川市人民政府关于加快节能工作的实施意见\n（青政发〔2022〕3号）\n"
        "为贯彻落实《云岭省人民政府关于加快节能工作的实施意见》和国务院《关于加快节能工作的实施意见》，"
        "结合我市实际，提出本意见。《关于加快节能工作的实施意见》由市发展改革委解释。"
    )
    assert read(text, own, "青政发〔2022〕3号") == [
        ("落实", "云岭省人民政府关于加快节能工作的实施意见"),
        ("落实", "关于加快节能工作的实施意见"),
    ]


def test_an_earlier_edition_that_is_repealed_is_not_the_document_itself():
    """本办法…原《办法》同时废止."""
    text = "本办法自发布之日起施行。《青川市节能管理办法》（市政府令第12号）同时废止。"
    (found,) = references(text, own_names=["青川市节能管理办法"])
    assert (found.predicate, found.qualifiers.number) == ("废止", "市政府令第12号")


def test_short_names_stand_for_what_they_were_given_for():
    """以下简称, 分别简称, names in quotation marks that need no 《》."""
    text = (
        "为落实《关于节能的意见》（国发〔2021〕4号，以下简称“双碳”意见）、《甲规划》《乙方案》"
        "（以下分别简称《规划》《方案》），制定本办法。按照《规划》和“双碳”意见执行。《方案》另行解释。"
    )
    found = references(text, own_names=["丙办法"])
    later = [(f.object, f.qualifiers.object) for f in found if f.qualifiers.object]
    assert later == [
        ("甲规划", "规划"),
        ("关于节能的意见", "“双碳”意见"),
        ("乙方案", "方案"),
    ]
    assert [f.object for f in found][:3] == ["关于节能的意见", "甲规划", "乙方案"]


def test_bare_kinds_are_the_documents_own_or_nothing():
    """《规划》 that nothing explains is left out; the document's own, too."""
    assert read("《规划》实施后，按照《通知》办理。", "青川市节能规划") == []


def test_forms_and_papers_of_firms_are_left_out():
    """What is filled in or held by one firm is no document that others issue."""
    assert read("提交《节能项目申请表（单位）》《企业法人营业执照》和《买卖合同》。") == []


def test_programmes_books_and_columns_run_together_are_left_out():
    """What a station sends, and what a flattened table made of two cells."""
    assert read("央视《焦点访谈》栏目作了报道。经验选入《攻坚克难案例》丛书。") == []
    assert read("发布《甲省节能建甲省节能建筑\n的要求筑技术标准》。") == []
    assert read("发布《甲省节能建筑示范2018年3月\n项目管理办法》。") == []
    assert read("发布《甲省模型设计划分，规定交付的\n基础标准》。") == []
    assert len(read("按《西部产业目录》规定的项目和《甲省先进省份规划-甲省强省规划》办理。")) == 2
    assert len(read("按《关于2022年1月数据\n，核算工作的通知》办理。")) == 1
    assert read("见《甲省人民政府关于印发甲省节能办法的通知》。") != []


def test_titles_without_marks_where_a_number_tells():
    """国务院关于…的意见（国发〔2021〕4号), and a number that stands for a document."""
    text = "为落实国务院关于加快节能工作的指导意见（国发〔2021〕4号）精神，制定本方案。"
    (found,) = references(text, own_names=[])
    assert (found.object, found.qualifiers.number) == (
        "国务院关于加快节能工作的指导意见",
        "国发〔2021〕4号",
    )
    assert text[found.start : found.end] == found.object
    assert read("按照国发〔2022〕2号文件要求办理。") == [("提及", "国发〔2022〕2号")]


def test_other_and_lost_marks():
    """«», ASCII brackets and quotes around 关于…, a 》 that was lost."""
    assert read("落实«节能法»。") == [("落实", "节能法")]
    assert read('根据"关于加快节能工作的意见"，制定本方案。') == [
        ("依据", "关于加快节能工作的意见")
    ]
    text = "根据《甲市节能管理办法（甲发〔2021〕3号）、《乙市规划》，制定本方案。"
    assert read(text) == [("依据", "甲市节能管理办法"), ("依据", "乙市规划")]


def test_titles_in_a_list_below_a_heading_of_bases():
    """编制依据 holds for each line, also below headings of its own."""
    text = "二、编制依据\n（一）法律\n（1）《甲办法》（甲发〔2018〕1号）。\n（2）《乙办法》；"
    text += "《丁规划》\n三、条件\n《丙办法》另定。\n"
    assert read(text) == [
        ("依据", "甲办法"),
        ("依据", "乙办法"),
        ("依据", "丁规划"),
        ("提及", "丙办法"),
    ]


PIECES = "《 》 〈 » « （ ） 根据 关于 印发 的通知 号 〔2021〕4 。 以下简称 同时废止 一、成效 a"


@given(
    st.lists(st.sampled_from([*PIECES.split(), "\n", "\0", " ", "\ud800"]), max_size=60).map(
        "".join
    )
    | st.text(max_size=200)
)
def test_any_text_is_read(text):
    """Half brackets, NULs, nothing at all: spans lie in the text, objects are told."""
    for found in references(text, own_names=["节能规划"]):
        assert 0 <= found.start < found.end <= len(text)
        assert found.object


def test_long_lists_and_loose_brackets_are_read_to_the_end():
    """A hundred thousand characters of one kind: what is read of one piece is read of all."""
    n = 20_000
    assert len(references("《甲规划》、" * n, own_names=[])) == n
    assert references("《" * n, own_names=[]) == []
    assert references("（以下简称《规划》）" * n, own_names=["甲规划"]) == []
