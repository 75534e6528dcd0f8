import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.ingestion.statements.duties import duties
from kgrag.types import Heading


def read(text):
    return [(f.predicate, f.subject, f.object) for f in duties(text)]


def test_duties_of_a_bracket_that_closes_an_item():
    """The item's heading is the task, each organ has the role that its words give."""
    text = "1．推进工业节能。实施改造。（省工信厅牵头，省财政厅、省水利厅等按职责分工负责）"
    assert read(text) == [
        ("牵头", "省工信厅", "推进工业节能"),
        ("负责", "省财政厅", "推进工业节能"),
        ("负责", "省水利厅", "推进工业节能"),
    ]
    found = duties(text)[0]
    assert text[found.start : found.end].startswith("（省工信厅牵头")
    assert text[found.start : found.end].endswith("负责）")
    assert (found.qualifiers.kind, found.qualifiers.role) == ("duty", "牵头")


@pytest.mark.parametrize(
    ("bracket", "held"),
    [
        ("（责任单位：市工信局、市财政局）", [("负责", "市工信局"), ("负责", "市财政局")]),
        ("〔牵头单位：市工信局；责任单位：各区政府〕",
         [("牵头", "市工信局"), ("负责", "各区政府")]),
        ("（责任单位:市工信局，配合单位:市财政局等)", [("负责", "市工信局"), ("配合", "市财政局")]),
        ("（牵头部门：市工信局、\n市能源局；配合部门：市财政局）",
         [("牵头", "市工信局"), ("牵头", "市能源局"), ("配合", "市财政局")]),
        ("（市工信局负责。以下均需各区县政府落实，不再列出）", [("负责", "市工信局")]),
        ("（市工信局牵头，市财政局配合）", [("牵头", "市工信局"), ("配合", "市财政局")]),
        ("（牵头：市工信局；配合：市财政局）", [("牵头", "市工信局"), ("配合", "市财政局")]),
        ("（市工信局为牵头单位，市财政局为配合单位）",
         [("牵头", "市工信局"), ("配合", "市财政局")]),
        ("（市工信局负责牵头，市财政局负责配合）", [("牵头", "市工信局"), ("配合", "市财政局")]),
        ("（市工信局牵头，市财政局配合执行）", [("牵头", "市工信局"), ("配合", "市财政局")]),
        ("（监测处牵头，财审处、气候处配合；完成时限：2022年）",
         [("牵头", "监测处"), ("配合", "财审处"), ("配合", "气候处")]),
        ("（责任单位：市工信局（牵头）、市财政局）", [("牵头", "市工信局"), ("负责", "市财政局")]),
        ("（责任单位：市工信局，各市（含青川市，下同）政府）",
         [("负责", "市工信局"), ("负责", "各市政府")]),
        ("［责任单位：市工信局，各区政府〈以下均需各区政府落实，不再列出〉］",
         [("负责", "市工信局"), ("负责", "各区政府")]),
        ("（市工信局、市财政局等）", [("负责", "市工信局"), ("负责", "市财政局")]),
        ("（市工信局、\n—7—\n市财政局按职责分工负责）",
         [("负责", "市工信局"), ("负责", "市财政局")]),
        ("（市工信局、市财政局按职责分工负责，各区（县、市）人民政府负责落实）",
         [("负责", "市工信局"), ("负责", "市财政局"), ("负责", "各区（县、市）人民政府")]),
    ],
)  # fmt: skip
def test_duties_of_every_form_of_bracket(bracket, held):
    """Labels, words behind lists, mixed widths, breaks and page marks within."""
    assert read(f"（一）加强监测。建设监测站点。{bracket}") == [(*h, "加强监测") for h in held]


@pytest.mark.parametrize(
    ("words", "deadline"),
    [
        ("，完成时限：2025年底", "2025年底"),
        ("；完成期限：持续推进", "持续推进"),
        ("；2025年底前完成", "2025年底前完成"),
        ("，长期坚持", "长期坚持"),
        ("", ""),
    ],
)
def test_duties_say_until_when(words, deadline):
    """As written, and it is no organ."""
    (found,) = duties(f"（一）加强监测。建设站点。（责任单位：市水利局{words}）")
    assert (found.subject, found.qualifiers.deadline) == ("市水利局", deadline)


def test_duties_of_lines_belong_to_the_item_above_each():
    """牵头单位： and 配合单位： lines that repeat; the deadline's line is of the same item."""
    text = (
        "一、推进节能\n1.实施改造。完成一批项目。\n牵头单位：市工信局\n配合单位：市财政局\n完成时限：2025年底\n"
        "2.加强监察。开展检查。\n牵头单位：市生态环境局\n"
    )
    assert read(text) == [
        ("牵头", "市工信局", "实施改造"),
        ("配合", "市财政局", "实施改造"),
        ("牵头", "市生态环境局", "加强监察"),
    ]
    assert [f.qualifiers.deadline for f in duties(text)] == ["2025年底", "2025年底", ""]


def test_duties_of_a_second_bracket_are_of_what_stands_between():
    """The first closes the item's head, the next the sentence behind the first."""
    text = (
        "（一）绿色交通。推广新能源车。（责任单位：市交通局）"
        "提高铁路运量，建设专用线。（责任单位：市发改委）"
    )
    assert read(text) == [
        ("负责", "市交通局", "绿色交通"),
        ("负责", "市发改委", "提高铁路运量，建设专用线"),
    ]


@pytest.mark.parametrize(
    ("item", "task"),
    [
        ("（五）推动节能。制定节能方案。\n健全统计体系，完善考核。\n", "推动节能"),
        ("（五）制定节能方案，推动改造；\n健全统计体系，完善考核。\n", "制定节能方案，推动改造"),
        ("（五）节能改造任务：\n（1）制定方案；\n（2）健全统计体系，完善考核。\n", "节能改造任务"),
        ("三、产业\n1．制定节能方案，推动改造。\n健全统计体系。\n", "制定节能方案，推动改造"),
        ("（五）推动节能。支持购买\n的产品。健全统计。", "推动节能"),  # a line that the page broke
        ("第四条 给予补贴：\n（一）支持节能，推动改造。\n", "支持节能，推动改造"),  # one point
        # points that nothing leads in are of the heading; without a number a paragraph is its own
        ("（一）工业节能\n1．制定方案，推动；\n2．健全统计体系，完善考核。\n", "工业节能"),
        (
            "推动改造。（省工信厅负责）\n制定方案，推动。\n健全统计，完善考核。\n",
            "健全统计，完善考核",
        ),
    ],
)
def test_duties_are_of_the_item_up_to_its_number(item, task):
    """Not of its last paragraph."""
    assert duties(f"{item}（责任单位：省能源局、省统计局）\n")[-1].object == task


def test_duties_of_a_paragraph_with_a_title_are_of_that():
    """The section's heading stands further off than the paragraph's own title."""
    text = (
        "第二节 土壤安全\n防范新增污染。严格准入。（责任单位：市水利局）\n"
        "推进修复。管控风险。（责任单位：市住建局）"
    )
    assert [o for *_, o in read(text)] == ["防范新增污染", "推进修复"]


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("由市发展改革委会同市工信局制定实施细则。",
         [("牵头", "市发展改革委", "制定实施细则"), ("配合", "市工信局", "制定实施细则")]),
        ("由市发改委牵头，市工信局、市财政局配合，制定实施细则。",
         [("牵头", "市发改委", "制定实施细则"), ("配合", "市工信局", "制定实施细则"),
          ("配合", "市财政局", "制定实施细则")]),
        ("建立联席会议制度，由市发改委牵头。", [("牵头", "市发改委", "建立联席会议制度")]),
        ("第四条省能源局负责电力的监督管理。", [("负责", "省能源局", "电力的监督管理")]),
        ("省发展改革委要加强统筹，及时报告。", [("负责", "省发展改革委", "加强统筹，及时报告")]),
        ("省发展改革委要会同有关部门和单位加强督导。", [("牵头", "省发展改革委", "加强督导")]),
        ("市林业局要发挥牵头抓总作用。", [("牵头", "市林业局", "发挥牵头抓总作用")]),
        ("水环境处配合开展碳排放调查。", [("配合", "水环境处", "开展碳排放调查")]),
        ("第九条本办法由云岭省水利厅负责解释。", [("负责", "云岭省水利厅", "本办法的解释")]),
        ("省水利厅作为主管部门，负责监督核查工作。", [("负责", "省水利厅", "监督核查工作")]),
        ("省水利厅委托省节水中心负责平台运行。", [("负责", "省节水中心", "平台运行")]),
        ("区发改委会同财政、统计等部门，编制申报指南。",
         [("牵头", "区发改委", "编制申报指南"), ("配合", "财政部门", "编制申报指南"),
          ("配合", "统计部门", "编制申报指南")]),
        ("生态环境部会同国务院国资委、证监会，组织评审。",
         [("牵头", "生态环境部", "组织评审"), ("配合", "国务院国资委", "组织评审"),
          ("配合", "证监会", "组织评审")]),
        ("市发改委会同市规划局（双城办）、市水务局统筹推进。",
         [("牵头", "市发改委", "统筹推进"), ("配合", "市规划局", "统筹推进"),
          ("配合", "市水务局", "统筹推进")]),
        ("经济信息部门负责落实披露要求。", [("负责", "经济信息部门", "落实披露要求")]),
        ("设区的市级水行政部门负责配合省水利厅落实普查工作。",
         [("配合", "设区的市级水行政部门", "省水利厅落实普查工作")]),
        ("各区住建委负责牵头组织成效评价。", [("牵头", "各区住建委", "组织成效评价")]),
        ("各区人民政府是实施的责任主体，对本辖区的环境质量负责。",
         [("负责", "各区人民政府", "本辖区的环境质量")]),
        ("将方案审查职能移交辖区住建部门负责。",
         [("负责", "辖区住建部门", "将方案审查职能")]),
        ("林草、水利等部门按照责任分工研究制定措施。",
         [("负责", "林草部门", "研究制定措施"), ("负责", "水利部门", "研究制定措施")]),
        ("省水利厅将会同省财政厅，依据规划实施的需要，适时修订目录。",
         [("牵头", "省水利厅", "适时修订目录"), ("配合", "省财政厅", "适时修订目录")]),
        ("本政策由省财政厅和省水利厅共同组织实施，省水利厅负责提供考核结果，省财政厅负责统筹资金。",
         [("负责", "省财政厅", "本政策的实施"), ("负责", "省水利厅", "本政策的实施"),
          ("负责", "省水利厅", "提供考核结果"), ("负责", "省财政厅", "统筹资金")]),
        ("教育、科技等部门按照职责分工，做好碳达峰工作。",
         [("负责", "教育部门", "做好碳达峰工作"), ("负责", "科技部门", "做好碳达峰工作")]),
        ("各市人民政府对本区域节能工作负总责，要加强部署。",
         [("负责", "各市人民政府", "本区域节能工作")]),
        ("第三条省水利厅统筹全省节水工作，具体负责名录确定。",
         [("负责", "省水利厅", "名录确定")]),
        ("本指南由云岭省水利厅提出，并负责解释。", [("负责", "云岭省水利厅", "本指南的解释")]),
        ("市发改委定期组织总结，会同有关方面开展检查。", [("牵头", "市发改委", "开展检查")]),
        ("领导小组办公室设在省水利厅，负责日常工作。",
         [("负责", "领导小组办公室", "日常工作")]),
        ("各设区市、县（市）区林业主管部门负责审核。",
         [("负责", "各设区市、县（市）区林业主管部门", "审核")]),
        ("第六条省水利厅负责制定技术规范。", [("负责", "省水利厅", "制定技术规范")]),
        ("区政府会同国家金融管理部门在青机构、市统计局等，实施标准。",
         [("牵头", "区政府", "实施标准"), ("配合", "国家金融管理部门在青机构", "实施标准"),
          ("配合", "市统计局", "实施标准")]),
        ("第六条【管理部门】市林业局应当于每年3月底前公布名单。",
         [("负责", "市林业局", "于每年3月底前公布名单")]),
    ],
)  # fmt: skip
def test_duties_of_sentences(sentence, found):
    """会同, 牵头, 负责, 配合, and 要 of a named organ."""
    assert read(sentence) == found


@pytest.mark.parametrize(
    "sentence",
    [
        "支持企业牵头组建创新联合体。",
        "各级河长的负责人要签字。",
        "健全部门配合机制。",
        "完善党委领导、政府负责、部门联动的格局。",
        "各牵头部门要及时报送情况。",
        "各有关部门要加强协调配合。",
        "第三方机构应对报告的真实性负责。",
        "考核结果交由干部主管部门作为综合评价的重要依据。",
        "优化工业布局应充分考虑环境容量。",
        "积极配合自治区生态环境厅做好核查。",
        "按照谁主管、谁负责的原则推进。",
        "加大水电等项目（含抽水蓄能、风电）支持力度。",
        "有关部门（发展改革委、财政部）。",
        "重点用能单位设置能源管理负责人。",
        "国家发展改革委会同国家能源局制定了《实施方案》，现印发你们。",
        "发挥省林业局的重要作用。",
        "成员：办公室、规划处、评估中心主要负责同志领导小组负责贯彻落实。",
        "支持世界银行、青川银行等提供融资，发挥总部效应，推动项目落地。",
        "监测方案由第三方组织编制。",
        "健全省负总责、市县抓落实的机制。",
        "企业对数据的真实性负总责。",
        "省政府成立专项小组，牵头推动改革。",
        "省委、省政府成立专项小组，牵头推动改革。",
        "完善行政首长负责制。",
    ],
)
def test_duties_are_not_seen_where_nobody_is_named(sentence):
    """The same words as nouns, of enterprises, in principles, of nobody in particular."""
    assert read(sentence) == []


def test_duties_of_a_table_follow_its_columns():
    """A row's task is its innermost column; an empty cell keeps the task above."""
    text = (
        "附件 任务分工表\n序号 | 重点任务 | 具体内容 | 牵头部门 | 配合单位 | 完成时限\n"
        "1 | 工业 | 实施节能改造 | 市工信局 | 市财政局、市水利局 | 2025年底\n"
        "2 | 建筑 | 推广绿色建筑 | 市住建局 |  | 持续推进\n"
        "其他文字。\n3 | 交通 | 推广新能源车 | 市交通局 | | 2024年\n"
    )
    assert read(text) == [
        ("牵头", "市工信局", "实施节能改造"),
        ("配合", "市财政局", "实施节能改造"),
        ("配合", "市水利局", "实施节能改造"),
        ("牵头", "市住建局", "推广绿色建筑"),
    ]
    assert [f.qualifiers.deadline for f in duties(text)] == ["2025年底"] * 3 + ["持续推进"]


def test_duties_lead_for_the_first_where_a_note_says_so():
    """说明：排第一位的为牵头单位 makes the first organ of every list the leader."""
    rows = "任务 | 责任单位\n节能改造 | 市工信局、市财政局\n"
    note = "说明：责任单位中排第一位的为牵头单位。"
    assert read(rows + note) == [
        ("牵头", "市工信局", "节能改造"),
        ("负责", "市财政局", "节能改造"),
    ]
    assert {p for p, *_ in read(rows)} == {"负责"}


def test_duties_take_the_headings_that_are_given():
    """A heading that no marker shows is known to who gives it."""
    text = "绿色交通\n推广新能源车，建设充电桩，到2025年建成。（责任单位：市交通局）"
    assert read(text)[0][2] == "推广新能源车，建设充电桩，到2025年建成"
    (found,) = duties(text, headings=[Heading(0, 4, 1, "绿色交通")])
    assert found.object == "绿色交通"


def test_duties_name_a_task_in_60_characters():
    """A longer lead is cut at a comma."""
    lead = "推进" + "甲" * 30 + "，" + "乙" * 40
    assert read(f"（责任单位：市水利局）{lead}（责任单位：市水利局）")[-1][2] == "推进" + "甲" * 30


ALPHABET = "市工信局委部、，。；：（）()〔〕牵头负责配合单位责任会同由要等各|\n\x00 1一—"


@settings(max_examples=200)
@given(st.text(alphabet=ALPHABET, max_size=150))
def test_duties_never_raise_and_stand_in_the_text(text):
    """Half brackets, labels without organs, NULs."""
    for found in duties(text):
        assert 0 <= found.start < found.end <= len(text)
        assert found.subject
        assert 1 < len(found.object) <= 60


def test_a_body_within_an_organ_is_left_out():
    """省交通厅〔铁建办〕 is 省交通厅; the counties of a list stay."""
    text = "提升能效。（省交通厅〔铁建办〕、省发改委（能源局），各县（市、区）按职责分工负责）"
    assert [organ for _, organ, _ in read(text)] == ["省交通厅", "省发改委", "各县（市、区）"]


def test_the_competent_bodies_of_places_are_somebody():
    """各市相关主管部门, but not 各有关部门."""
    text = "建立台账。（责任单位：省工信厅，各市相关主管部门，各有关部门）"
    assert [organ for _, organ, _ in read(text)] == ["省工信厅", "各市相关主管部门"]


TASKS = (
    "| 序号 | 重点任务 | 责任单位 牵头单位 | 责任单位 配合单位 | 完成时限 |\n"
    "| --- | --- | --- | --- | --- |\n"
    "| 1 | 工业节能改造 | 市工信局 | 市财政局 市水利局 | 2025年底 |\n"
    "| 2 | 推广绿色建筑 | 市住建局 |  | 持续推进 |\n"
)


def test_duties_of_a_table_in_markdown():
    """Bars at the ends shift no column, the delimiter is no row, a blank parts two organs."""
    assert read(TASKS) == [
        ("牵头", "市工信局", "工业节能改造"),
        ("配合", "市财政局", "工业节能改造"),
        ("配合", "市水利局", "工业节能改造"),
        ("牵头", "市住建局", "推广绿色建筑"),
    ]
    found = duties(TASKS)
    assert [f.qualifiers.deadline for f in found] == ["2025年底"] * 3 + ["持续推进"]
    assert TASKS[found[0].start : found[0].end].startswith("| 1 | 工业节能改造 |")


def test_duties_of_a_table_whose_first_cells_are_empty():
    """An empty first cell keeps its place, the task is that of the row above."""
    text = "| 任务 | 责任单位 | 时限 |\n| --- | --- | --- |\n| 节能 | 市工信局 | 2025年 |\n"
    assert read(text + "|  | 市财政局 | 2026年 |\n") == [
        ("负责", "市工信局", "节能"),
        ("负责", "市财政局", "节能"),
    ]


@pytest.mark.parametrize(
    ("sentence", "task"),
    [
        ("对登记未完成的，由省林业厅牵头、省财政厅配合组织实施。", "对登记未完成的，组织实施"),
        ("实际配额多于预分配额的，省生态环境厅应当予以补发。", "实际配额多于预分配额的，予以补发"),
        ("2025年底前，省生态环境厅应当组织实施。", "组织实施"),
        ("省林业厅负责形式审核，省财政厅负责实质审核。", "实质审核"),
    ],
)
def test_a_task_of_a_verb_alone_is_told_with_what_it_is_done_to(sentence, task):
    """What the sentence says before its organs, but for a time or another organ's task."""
    assert duties(sentence)[-1].object == task
