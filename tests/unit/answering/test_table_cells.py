"""Questions for a cell of a table, from a file to the answer on the command line."""

import json

import pytest
from docx import Document

from tests.fixtures.kit import ingested, knowledge_base, run

HTML = """<html><head><title>青川市充电设施建设计划</title></head><body>
<h1>青川市充电设施建设计划</h1>
<p>青川市发展和改革委员会 2026年4月2日</p><h2>一、目标</h2><p>完善充电网络，方便出行。</p>
<h2>二、建设任务</h2><table>
<tr><th>区县</th><th>公共充电桩（个）</th><th>换电站（座）</th><th>责任部门</th></tr>
<tr><td>东湖区</td><td>1200</td><td>14</td><td>东湖区住房城乡建设局</td></tr>
<tr><td>西岭区</td><td>860</td><td>9</td><td>西岭区发展改革局</td></tr>
</table><p>强化要素保障。</p></body></html>"""
FLAT = """河北省国土绿化通知
一、2022年全省营造林任务600万亩，其中造林300万亩。
附件 营造林任务安排表
单位合计人工造林封山育林
承德市139.2 60.0 21.0 79.2
26.0 16.0 4.0 10.0
唐山市
"""
ROWS = (
    ("行业", "监测企业数（家）", "时限"),
    ("水泥", "41", "2027年底"),
    ("钢铁", "23", "2026年底"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A Word file and a page with a table each."""
    made = tmp_path_factory.mktemp("cells")
    ingested(made, {"b.html": HTML, "c.txt": FLAT})
    document = Document()
    document.add_heading("江南省减污降碳监测工作方案", 0)
    document.add_paragraph("江南省生态环境厅　2026年3月1日")
    document.add_heading("二、重点行业监测安排", 1)
    table = document.add_table(rows=0, cols=3)
    for row in ROWS:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    document.add_paragraph("41.5 23.8 79.2 -11.5 7.85")
    document.save(made / "a.docx")
    run(made, "ingest", made / "a.docx", code=0)
    return made


@pytest.mark.parametrize(
    ("question", "first", "quote"),
    [
        (
            "江南省水泥2027年监测多少家企业",
            "行业：水泥；监测企业数：41家；时限：2027年底[1]",
            "| 水泥 | 41 | 2027年底 |",
        ),
        (
            "西岭区的换电站有几座",
            "区县：西岭区；公共充电桩：860个；换电站：9座；责任部门：西岭区发展改革局[1]",
            "| 西岭区 | 860 | 9 | 西岭区发展改革局 |",
        ),
    ],
)
def test_a_cell_is_found_by_its_row_and_column(folder, question, first, quote):
    """The row is told with its columns, and is cited as it stands."""
    told = json.loads(run(folder, "ask", question, "--json", code=0).stdout)
    assert told["text"].splitlines()[0].endswith(first)  # behind the title, if none is named
    assert told["citations"][0]["quote"] == quote
    assert not any("引文" in note for note in told["notes"])


def test_numbers_and_headers_alone_are_no_quotes(folder):
    """They say nothing by themselves."""
    told = json.loads(run(folder, "ask", "各行业监测企业数和时限", "--json", code=0).stdout)
    quotes = [cited["quote"] for cited in told["citations"]]
    assert "| 水泥 | 41 | 2027年底 |" in quotes
    assert not {"| 行业 | 监测企业数（家） | 时限 |", "41.5 23.8 79.2 -11.5 7.85"} & set(quotes)


def test_a_row_of_a_place_comes_before_what_is_told_of_the_place_around(folder):
    """No document is about the city: the row that names it is quoted, the texts are counted."""
    told = json.loads(run(folder, "ask", "河北承德营造林任务", "--json", code=0).stdout)
    assert told["text"].splitlines()[0] == "承德市139.2 60.0 21.0 79.2[1]"
    assert {"没有以承德为范围的文件", "文中提到承德的有1份"} <= set(told["notes"])


def test_texts_that_only_have_the_characters_of_a_place_do_not_name_it(tmp_path):
    """大东海西侧 is no 海西."""
    texts = {
        "a": "三亚市海滩规划\n治理大东海西侧海滩。\n",
        "b": "青海省能源规划\n建设海西州光伏基地。\n",
    }
    with knowledge_base(tmp_path, texts) as base:
        assert "文中提到海西的有1份" in base.ask("海西的光伏基地怎么建？").notes
