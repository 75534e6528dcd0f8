import pytest

from kgrag.text.numbering import FAMILIES, item_end, numbering_at, without_numbering


@pytest.mark.parametrize(
    ("line", "family", "number"),
    [
        ("第三章 项目管理", "chapter", (3,)),
        ("第四章项目申报和审核", "chapter", (4,)),
        ("第二节　目标", "section", (2,)),
        ("第一百二十条 本办法自公布之日起施行", "article", (120,)),
        ("Article 5 Everybody may complain.", "article", (5,)),
        ("Rule 4.1.2 Records", "article", (4, 1, 2)),
        ("Regulation 12A Appeals", "article", (12,)),
        ("SCHEDULE 1 FEES", "annex", (1,)),
        ("Appendix", "annex", (0,)),
        ("Chapter IV", "chapter", (4,)),
        ("十二、保障", "chinese", (12,)),
        ("(三)工业", "bracketed chinese", (3,)),
        ("IV. Method", "roman", (4,)),
        ("3.2.1 边界", "decimal 3", (3, 2, 1)),
        ("1．钢铁", "digit", (1,)),
        ("（2）水泥", "bracketed digit", (2,)),
        ("2）水泥", "half bracket", (2,)),
        ("⑫其他", "circle", (12,)),
        ("5方法", "bare digit", (5,)),
        ("附件2：清单", "attachment", (2,)),
        ("附录A 术语", "annex", (1,)),
        ("专栏4-3 工程", "box", (4,)),
        ("前言", "opening", (0,)),
    ],
)
def test_a_mark_at_the_head_of_a_line_is_read(line, family, number):
    """Every family; a mark that another holds is not taken for it."""
    mark = numbering_at(line)
    assert mark is not None
    assert (mark.family, mark.number) == (family, number)
    assert numbering_at("见" + line, 1) is not None
    assert family in (*FAMILIES, "attachment", "annex", "box")


@pytest.mark.parametrize(
    "line",
    [
        "第五条规定的情形",
        "第三条、第四条",
        "第一条例外情形",
        "Article 5(2) and others",
        "2025年目标",
        "专栏目录",
        "一二线城市",
        "",
    ],
)
def test_what_only_looks_like_a_mark_is_none(line):
    """Words that speak of an article, years."""
    assert numbering_at(line) is None


def test_marks_of_items_are_taken_off():
    """Also those without a number; a value at the head of a line is no mark."""
    assert without_numbering("1．（一）推进节能") == "推进节能"
    assert without_numbering("——一是要坚持节约") == "坚持节约"
    assert item_end("1.5万吨标准煤") == 0
    assert item_end("30家企业") == 0
