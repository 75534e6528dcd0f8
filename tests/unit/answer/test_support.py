import pytest

from kgrag.answer.support import Searched, find_support

TEXT = (
    "总体要求很明确。\n"
    "到2025年，全省创建绿色工厂500家。\n"
    "到2030年，全省创建绿色工厂800家。\n"
    "省财政厅每年安排专项资金3000万元。"
)


def quotes(sentence, text=TEXT, *, question="", near=None, **options):
    found = find_support(sentence, Searched.of(text, **options), question=question, near=near)
    return [text[start:end] for start, end in found.spans]


def test_find_support_goes_by_numbers_where_the_words_are_the_same():
    """Two targets in the same words differ by their numbers."""
    assert quotes("绿色工厂到2030年达到800家") == ["到2030年，全省创建绿色工厂800家。"]


def test_find_support_joins_neighbours_that_each_bring_something():
    """A sentence that sums up two is quoted with both."""
    assert quotes("绿色工厂2025年500家，2030年800家") == [
        "到2025年，全省创建绿色工厂500家。\n到2030年，全省创建绿色工厂800家。"
    ]


def test_find_support_of_few_words_asks_the_question():
    """省里 stands everywhere; the question tells which."""
    text = "省厅负责检查。\n其他事项另行规定。\n省厅负责资金安排。"
    assert quotes("省厅。", text, question="资金由谁安排？") == ["省厅负责资金安排。"]


def test_find_support_without_anything_in_common_is_the_first_sentence():
    """A share of 0 tells that it is no support."""
    found = find_support("QXZ", Searched.of(TEXT, offset=10))
    assert found.share == 0
    assert found.spans == ((10, 18),)


def test_find_support_works_on_english():
    """Words count instead of pairs of characters."""
    text = "It was founded in 1901. The tower is 300 metres high."
    assert quotes("The height of the tower is 300 metres", text) == [
        "The tower is 300 metres high."
    ]


def test_find_support_of_blank_text_is_all_of_it():
    """There is always a span."""
    assert find_support("甲", Searched.of(" \n")).spans == ((0, 2),)


POLICY = (
    "第一章 总则\n2.能源利用。\n建设期不应超过两年。\n企业按每吨标准煤1200元给予扶持。\n"
    "1 适用范围见附件，200 页。\n以上扶持最高不超过300万元。\n对光伏发电连续补贴2年。\n"
    "本办法于2022年3月9日印发，有效期3年。\n"
    "力争建成近零碳园区不少于30个；建成近零碳社区不少于30个。"
)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("建设期最长2年", ["建设期不应超过两年。"]),
        ("每吨标准煤扶持1,200元", ["企业按每吨标准煤1200元给予扶持。"]),
        (
            "每吨标准煤扶持1,200元，最高不超过300万元",
            ["企业按每吨标准煤1200元给予扶持。", "以上扶持最高不超过300万元。"],
        ),
        ("光伏发电连续补贴3年", ["对光伏发电连续补贴2年。"]),
        ("建成近零碳社区≥30个", ["建成近零碳社区不少于30个。"]),
        ("3月9日印发", ["本办法于2022年3月9日印发，有效期3年。"]),
    ],
)
def test_find_support_reads_numbers_with_their_units(sentence, expected):
    """两年 is 2年; neither the number of a line nor a number about something else is."""
    assert quotes(sentence, POLICY) == expected


def test_find_support_goes_by_headings_where_sentences_are_the_same():
    """Each industry has its own section, and the same words in it."""
    text = "控排系数为0.98。\n其他规定。\n控排系数为0.98。"
    names = {0: ["一、水泥行业"], text.rindex("控排"): ["二、钢铁行业"]}

    def headings(start, _end):
        return names.get(start, [])

    found = find_support("钢铁行业控排系数为0.98", Searched.of(text, headings=headings))
    assert found.spans == ((text.rindex("控排"), len(text)),)


def test_find_support_takes_the_nearest_of_equals():
    """What an answer says next stands near what it said last."""
    text = "奖励10万元。\n甲项目的申报条件。\n其他规定。\n乙项目的申报条件。\n奖励10万元。"
    assert find_support("奖励10万元", Searched.of(text)).spans[0][0] == 0
    near = text.index("乙项目")
    (span,) = find_support("奖励10万元", Searched.of(text), near=near).spans
    assert span[0] == text.rindex("奖励")


def test_find_support_quotes_the_place_of_each_number_of_a_dense_sentence():
    """A sentence that sums up four targets rests on four places."""
    lines = [
        "森林覆盖率达到20%。",
        "城镇污水处理率达到95%。",
        "绿色建筑占比达到80%。",
        "秸秆利用率达到86%。",
    ]
    text = "\n另有说明。\n".join(lines)
    sentence = "森林覆盖率20%、城镇污水处理率95%、绿色建筑占比80%、秸秆利用率86%"
    assert quotes(sentence, text) == lines
    assert lines[3] not in quotes(sentence.replace("秸秆利用率86%", "秸秆利用率95%"), text)


def test_find_support_does_not_add_a_neighbour_for_its_number_alone():
    """50万元 is what another one gets, in the same words."""
    text = "对绿色工厂，给予一次性补贴50万元。\n对能效领跑者企业，给予一次性补贴30万元。"
    assert quotes("能效领跑者企业给予一次性补贴50万元", text) == [
        "对能效领跑者企业，给予一次性补贴30万元。"
    ]
