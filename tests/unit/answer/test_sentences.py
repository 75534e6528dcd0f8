import pytest

from kgrag.answer.sentences import joined_spans, sentence_around


@pytest.mark.parametrize("heading", ["## 检修", "第三章 检修", "三、检修", "（三）检修"])
def test_a_heading_ends_a_long_line_that_has_no_mark(heading):
    row = "检测项目与限值要求一览 | 接地电阻四欧姆以下 | 绝缘电阻十兆欧以上\n"
    text = f"{row}{heading}\n检修单位每45日检修一次。"
    assert joined_spans(text)[0] == (0, len(row))


def test_a_reference_to_an_item_begins_no_line_of_its_own():
    """A line of a scan may break before it."""
    text = "符合条件的企业和事业单位可以按照本办法第十二条规定的程序和期限依照前款\n（二）项申请。"
    assert joined_spans(text) == [(0, len(text))]


def test_joined_spans_keep_a_decimal_that_a_scan_broke():
    """0. 75亿吨 is one number; a sentence may end in 10."""
    text = "总量为0. 75亿吨。共10. 另有规定。"
    assert [text[start:end] for start, end in joined_spans(text)] == [
        "总量为0. 75亿吨。",
        "共10.",
        " 另有规定。",
    ]


def test_points_end_sentences_where_no_other_mark_does():
    """Some scans have points for 。; numbers and abbreviations stay whole."""
    text = "一是提升发展的品质和水平.二是推动生态价值实现,占比达到3.5个百分点.三是加强组织领导."
    pieces = [text[start:end] for start, end in joined_spans(text)]
    assert pieces[0] == "一是提升发展的品质和水平."
    assert len(pieces) == 3
    assert len(joined_spans(f"{text}。")) == 1


def test_a_remark_in_brackets_is_not_cut_where_it_parts_its_organs():
    """（牵头：…；配合：…） is one remark; a bracket that is never closed joins nothing."""
    text = (
        "推广综合智慧能源服务。（牵头单位：省发展改革委；配合单位：省能源局）\n开展试点示范工作。"
    )
    assert [text[a:b] for a, b in joined_spans(text)] == [
        "推广综合智慧能源服务。（牵头单位：省发展改革委；配合单位：省能源局）\n",
        "开展试点示范工作。",
    ]
    open_bracket = "加强能源管理（其中重点单位全部建档；开展能源审计工作；落实节能措施。"
    assert len(joined_spans(open_bracket)) == 3


def test_a_row_of_a_table_is_one_sentence():
    """Marks in its cells cut it not, and the next row is another."""
    rows = [
        "| 重点任务 | 责任单位 |",
        "| --- | --- |",
        "| 推进节能改造；推广绿色建筑。 | 市工信局 |",
    ]
    rows.append("| 推进大宗固体废弃物综合利用，建设基地 | 市发展改革委、市生态环境局 |")

    text = "\n".join(rows)
    assert [text[start:end].strip() for start, end in joined_spans(text)] == rows


@pytest.mark.parametrize(
    "pieces",
    [
        ("计划已编制。", "现印发给你们，请认真组织落\n实。", "有关事项如下："),
        ("各部门及相关单位集中力量，拿出抓铁有痕的劲\n头，推动工作。",),
        ("推进节能。", "责任单位：市统计局\n", "完成时限：2月底前\n"),
        ("2.", " 加大监管力度，提升监管能力\n", "开展监测。"),
        ("十、坚持统筹协调发展，提升治理水平和能力\n", "开展监测。"),
        ("建立健全覆盖全省各级各类重点用能单位和公共机构的监测体系\n", "3.开展评估"),
    ],
)
def test_joined_spans_tell_a_broken_line_from_a_heading(pieces):
    """A sentence goes on in the next line; a heading, a label and an item do not."""
    text = "".join(pieces)
    assert [text[start:end] for start, end in joined_spans(text)] == [*pieces]


def test_a_span_far_behind_every_mark_of_a_long_sentence_stands_alone():
    """A row never quotes nothing."""
    text = "甲乙丙丁戊己庚辛壬癸，子丑。"
    assert sentence_around(text, 7, 9, longest=6) == (7, 9)
