"""Citations of an answer: which text supports which sentence."""

from dataclasses import replace

import pytest

from kgrag.answer.citation import Citation
from kgrag.answer.support import Numbers, Searched, wording
from kgrag.answering.cite import cited_texts, resolve
from kgrag.answering.generate import Draft
from kgrag.metadata import Metadata
from kgrag.question.question import analyse
from kgrag.results import Context, Passage, ScoredChunk
from kgrag.statements.table import worded
from kgrag.text.answer_text import NOT_FOUND
from kgrag.types import Chunk, Document, Heading, Segment

A = (
    "甲规划\n一、目标\n到2025年，创建绿色工厂500家。\n到2030年，创建绿色工厂800家。\n"
    "其他工作稳步推进。"
)
B = "乙办法\n省财政厅安排资金3000万元。\n[7]见附件。"
DOCUMENTS = {
    "a": Document("a", "甲规划", A, "a.txt", "txt", "0", metadata=Metadata(regions=("云岭省",))),
    "b": Document("b", "乙办法", B, "b.txt", "txt", "0"),
    "c": Document("c", "丙通知", "丙通知\n请各县按时报送材料。", "c.txt", "txt", "0"),
}
HEADINGS = {"a": [Heading(4, 8, 1, "一、目标")]}


def passage(number, doc_id, start=0, end=None, text=None):
    whole = DOCUMENTS[doc_id].text
    end = len(whole) if end is None else end
    shown = whole[start:end] if text is None else text
    return Passage(
        number, doc_id, DOCUMENTS[doc_id].title, (), start, end, shown, f"{doc_id}:2048:0"
    )


CONTEXT = Context((passage(1, "a"), passage(2, "b")), best=1)

THREE = Context((*CONTEXT.passages, passage(3, "c")), best=1)


def resolved(text, context=CONTEXT, question="绿色工厂多少家？", results=()):
    return resolve(
        analyse(question),
        Draft(text, "m"),
        context,
        documents=DOCUMENTS,
        headings=HEADINGS,
        results=results,
    )


def quotes(answer):
    return [c.quote for c in answer.citations]


def test_resolve_quotes_the_sentence_that_supports_each_sentence():
    """Verbatim from the document, with its section."""
    answer = resolved("2030年创建800家[1]。")
    (citation,) = answer.citations
    assert citation.quote == "到2030年，创建绿色工厂800家。" == A[citation.start : citation.end]
    assert (citation.title, citation.heading_path) == ("甲规划", ("一、目标",))
    assert (answer.method, answer.found, answer.notes) == ("m", True, ())


def test_resolve_numbers_citations_in_order_of_appearance():
    """The reader sees [1], [2], [3], whatever the passages were called."""
    answer = resolved("省财政厅安排3000万元[2]。\n创建绿色工厂500家[1]。")
    assert answer.text == "省财政厅安排3000万元[1]。\n创建绿色工厂500家[2]。"
    assert [(c.number, c.doc_id) for c in answer.citations] == [(1, "b"), (2, "a")]


def test_resolve_gives_one_passage_two_citations_where_two_places_support():
    """And the same place one citation, however often it is cited."""
    answer = resolved("2025年创建500家[1]。2030年创建800家[1]。2025年为500家[1]。")
    assert answer.text == "2025年创建500家[1]。2030年创建800家[2]。2025年为500家[1]。"
    assert quotes(answer) == ["到2025年，创建绿色工厂500家。", "到2030年，创建绿色工厂800家。"]


def test_resolve_reads_what_stands_before_a_mark_inside_a_sentence():
    """Each half of a comparison has its own support."""
    answer = resolved("2025年创建绿色工厂500家[1]，省财政厅安排资金3000万元[2]。")
    assert quotes(answer) == ["到2025年，创建绿色工厂500家。", "省财政厅安排资金3000万元。"]


@pytest.mark.parametrize(
    "mark",
    ["[1]", "【1】", "［１］", "[^1]", "[文档1]", "[1,1]", "[Passage 1]"],
)
def test_resolve_knows_every_form_of_a_citation(mark):
    """The answer shows [n] only."""
    assert resolved(f"2025年创建500家{mark}。").text == "2025年创建500家[1]。"


def test_resolve_removes_and_notes_what_leads_to_no_passage():
    """Numbers of passages that were never shown."""
    answer = resolved("2025年创建500家[1][9]。省里也有[12]。")
    assert answer.text == "2025年创建500家[1]。省里也有。"
    assert answer.notes == ("去掉了不指向任何文段的引用：[9] [12]。",)


def test_resolve_gives_sentences_without_a_mark_what_their_neighbours_passage_holds():
    """Every sentence that is supported carries its number."""
    answer = resolved("2025年创建绿色工厂500家。2030年创建绿色工厂800家[1]。")
    assert answer.text == "2025年创建绿色工厂500家。[1]2030年创建绿色工厂800家[2]。"
    assert answer.notes == ("有 1 句模型没有标出依据；它们的引用是按文字比对补上的：[1]。",)


def test_resolve_gives_a_sentence_the_passage_that_holds_most_of_it_where_no_neighbour_does():
    """The note names what was added by rule."""
    answer = resolved("2025年创建绿色工厂500家[1]。省财政厅安排资金3000万元。")
    assert answer.text == "2025年创建绿色工厂500家[1]。省财政厅安排资金3000万元。[2]"
    assert answer.notes == ("有 1 句模型没有标出依据；它们的引用是按文字比对补上的：[2]。",)


def test_resolve_leaves_sentences_unmarked_that_their_neighbours_passage_does_not_hold():
    """A number behind them would say more than is known; so do headings and lead-ins."""
    text = "## 结论\n目标如下：\n海洋牧场建设得很好。\n2030年创建绿色工厂800家[1]。"
    assert resolved(text).text == text


def test_resolve_of_an_answer_that_cites_nothing_compares_texts():
    """With a note; what no passage holds stays unmarked."""
    answer = resolved("省财政厅安排资金3000万元。\n\n海洋牧场建设得很好。")
    assert answer.text == "省财政厅安排资金3000万元。[1]\n\n海洋牧场建设得很好。"
    assert quotes(answer) == ["省财政厅安排资金3000万元。"]
    assert answer.notes == ("模型没有标出依据；引用是按文字比对找到的。",)


@pytest.mark.parametrize(
    "text", ["", " \n", NOT_FOUND["zh"], "文件没有规定奖励[1]。", "不确定。", "[9]"]
)
def test_resolve_of_no_answer_is_the_not_found_sentence(text):
    """However it is said; nothing is cited."""
    answer = resolved(text)
    assert (answer.text, answer.found, answer.citations) == (NOT_FOUND["zh"], False, ())


def test_resolve_keeps_markdown():
    """Tables and lists stay as the template asked for them."""
    text = "## 目标\n| 年份 | 数量 |\n|---|---|\n| 2025年 | 500家[1] |\n| 2030年 | 800家[1] |"
    assert resolved(text).text == text[:-5] + "[2] |"


def test_resolve_is_at_home_in_english():
    """Notes follow the question."""
    answer = resolved("There are 500 by 2025 [1][8].", question="How many?")
    assert answer.text == "There are 500 by 2025 [1]."
    assert worded(answer.notes, "en") == ["Citations that lead to no passage were removed: [8]."]


def test_cited_texts_are_the_quotes_under_title_place_and_sections():
    """The passage is kept apart: what stands only there is no support."""
    answer = resolved("2025年创建500家[1]。")
    (text,) = cited_texts(answer.citations, documents=DOCUMENTS, passages=CONTEXT.passages).values()
    assert text.own == "到2025年，创建绿色工厂500家。"
    assert all(part in text.above for part in ("甲规划", "云岭", "一、目标"))
    assert "800家" in text.passage
    marked = [replace(p, mark="【已失效，有效期至2025-12-31】") for p in CONTEXT.passages]
    (text,) = cited_texts(answer.citations, documents=DOCUMENTS, passages=marked).values()
    assert "2025-12-31" in text.above
    cut = A.index("到2030")
    halves = (passage(1, "a", 0, cut), passage(2, "a", cut), passage(3, "b"))
    (half,) = cited_texts(answer.citations, documents=DOCUMENTS, passages=halves).values()
    assert "800家" not in half.passage


def test_resolve_drops_citations_that_another_of_the_sentence_makes_idle():
    """Models add [1][2][3][4] to be safe; a note tells how many went."""
    answer = resolved("到2030年，创建绿色工厂800家[1][2]。")
    assert answer.text == "到2030年，创建绿色工厂800家[1]。"
    assert quotes(answer) == ["到2030年，创建绿色工厂800家。"]
    assert answer.notes == ("去掉了 1 处不支持所在句子的引用；同一句的其他引用支持它。",)


def test_resolve_keeps_citations_that_hold_a_part_each():
    """A sentence of two halves needs both."""
    answer = resolved("2025年创建绿色工厂500家，省财政厅安排资金3000万元[1][2]。")
    assert [c.doc_id for c in answer.citations] == ["a", "b"]
    (claim,) = answer.blocks
    assert [len(run.citations) for run in claim.runs] == [2, 0]
    assert answer.notes == ()


def test_resolve_leaves_a_closing_paragraph_as_it_is():
    """It repeats what is cited above."""
    text = "创建绿色工厂500家[1]。\n\n综上，创建绿色工厂500家。"
    assert resolved(text).text == text


def test_resolve_reads_six_characters_before_a_mark_inside_a_sentence():
    """Fewer say too little: the whole sentence counts."""
    answer = resolved("创建800家[1]，到2025年500家[1]。")
    assert answer.text == "创建800家[1]，到2025年500家[2]。"


def test_resolve_names_a_result_that_holds_all_of_the_quote():
    start = A.index("到2030")
    chunks = [
        Chunk(f"a:{size}:0", "a", size, 0, at, len(A), A[at:])
        for size, at in ((256, start + 1), (512, start))
    ]
    answer = resolved("2030年创建800家[1]。", results=[ScoredChunk(c, 1.0) for c in chunks])
    assert answer.citations[0].chunk_id == "a:512:0"
    ends = {256: A.index("800"), 512: len(A)}
    chunks = [Chunk(f"a:{n}:0", "a", n, 0, start, end, A[start:end]) for n, end in ends.items()]
    answer = resolved("2030年创建800家[1]。", results=[ScoredChunk(c, 1.0) for c in chunks])
    assert answer.citations[0].chunk_id == "a:512:0"


def test_resolve_leads_a_citation_to_the_passage_that_supports_the_sentence():
    """The model named another one; the answer says so in a field and in a note."""
    answer = resolved("省财政厅安排资金3000万元[1]。")
    assert answer.text == "省财政厅安排资金3000万元[1]。"
    assert quotes(answer) == ["省财政厅安排资金3000万元。"]
    assert answer.repointed == (1,)
    assert answer.notes == ("模型所标的文段不如另一文段支持该句，引用已改指后者：[1]。",)


def test_resolve_leaves_a_sentence_the_document_that_it_names():
    """A passage that speaks of the title seems to hold more."""
    answer = resolved("《丙通知》：县财政厅3000万元[3]。", context=THREE)
    assert [c.doc_id for c in answer.citations] == ["c"]


def test_resolve_leaves_a_row_its_own_clause():
    """A row has more words than its clause, which another passage may seem to hold better."""
    row = replace(passage(3, "c", 5, text="省财政厅 | 3000万元"), is_row=True)
    answer = resolved("省财政厅安排资金3000万元[3]。", Context((*CONTEXT.passages, row)))
    assert [c.doc_id for c in answer.citations] == ["c"]


def test_resolve_replaces_the_one_of_two_citations_that_supports_nothing():
    """The other one keeps its place."""
    answer = resolved("绿色工厂500家，省财政厅安排3000万元[1][3]。", context=THREE)
    assert quotes(answer) == ["到2025年，创建绿色工厂500家。", "省财政厅安排资金3000万元。"]
    assert answer.repointed == (2,)


@pytest.mark.parametrize(
    "text",
    ["省财政厅安排资金3000万元[2]。", "省里的办法安排资金[2]。", "文件未说明500家之外的补贴[2]。"],
)
def test_resolve_leaves_a_citation_that_no_passage_supports_clearly_better(text):
    """Nor is a sentence led anywhere that says that nothing is said."""
    assert resolved(text).repointed == ()


RULES = (
    "丁办法\n企业可以免于现场核查，但不能免除年度报告。\n不能提供台账的单位，由市能源局责令改正。\n"
    "主要措施包括：开展节能诊断；推广高效电机。\n新建项目不得享受免征政策。\n单位能耗下降13.5%。"
)


def added(text):
    """Return what an answer becomes that is drawn from the rules above."""
    document = Document("d", "丁办法", RULES, "d.txt", "txt", "0")
    drawn = Context((Passage(1, "d", "丁办法", (), 0, len(RULES), RULES, "d:512:0"),), best=1)
    asked = analyse("企业可以免于核查吗？")
    return resolve(asked, Draft(text, "m"), drawn, documents={"d": document}, headings={})


@pytest.mark.parametrize(
    "text",
    [
        *(
            "可以免。",
            "不能。",
            "可以。",
            "不可以免除。",
            "是的。",
            "能耗降。",
        ),  # nothing that could be compared
        "单位能耗下降15%。",
        "新建项目可以享受免征政策。",
        "企业不得免于现场核查。",
        "新建项目由市财政局责令改正。",
    ],
)
def test_resolve_adds_no_citation_to_what_the_quote_does_not_say(text):
    """Likeness of letters is not enough: words, figures, names and modality must stand there."""
    answer = added(text)
    assert (answer.text, answer.citations) == (text, ())
    assert answer.notes == ("模型没有标出依据；按文字比对也没有找到。",)


@pytest.mark.parametrize(
    "text",
    ["企业可以免于现场核查。", "不能免除年度报告。", "单位能耗下降13.5%。"],
)
def test_resolve_adds_a_citation_to_what_the_quote_says(text):
    """In the same words; a figure alone where the words of the question stand there."""
    assert len(added(text).citations) == 1
    assert quotes(resolved("500家。", question="2025年创建绿色工厂多少家？")) == [
        "到2025年，创建绿色工厂500家。"
    ]


@pytest.mark.parametrize("lead", ["主要措施包括：", "主要措施包括[1]：", "主要措施有以下两项。"])
def test_resolve_gives_a_lead_in_no_citation_of_its_own(lead):
    """It says what the sentences behind it say."""
    answer = added(f"{lead}\n- 开展节能诊断[1]\n- 推广高效电机[1]")
    assert answer.text.split("\n")[0] == lead.replace("[1]", "")
    assert quotes(answer) == ["主要措施包括：开展节能诊断；", "推广高效电机。"]


def test_resolve_leaves_a_lead_in_with_a_figure_its_citation():
    """It says something itself."""
    text = added("能耗下降13.5%，措施包括[1]：\n- 推广高效电机[1]").text
    assert text.startswith("能耗下降13.5%，措施包括[1]")


TEXT = "总体要求。\n到2025年，创建绿色工厂500家。\n。\n2022年3月9日印发。"


def test_searched_places_are_those_of_the_document():
    """Bare marks are none."""
    searched = Searched.of(TEXT, offset=100)
    assert [TEXT[start - 100 : end - 100] for start, end in searched.places] == [
        "总体要求。",
        "到2025年，创建绿色工厂500家。",
        "2022年3月9日印发。",
    ]


def test_numbers_of_a_date_are_the_date():
    """3月9日 is neither 3 months nor 9 days; its year counts."""
    numbers = Numbers.of("2022年3月9日印发，统一领导，补贴3年")
    assert [(q.unit, int(min(q.values))) for q in numbers.quantities] == [("年", 2022), ("年", 3)]
    assert [(d.month, d.day) for d in numbers.dates] == [(3, 9)]


def test_numbers_held_by_another_text_in_other_writing():
    """两年 is 2年; 2个 is not."""
    said = Numbers.of("2年，1,200元")
    assert said.held_by(Numbers.of("两年，1200元")) == said.held_by(said)
    assert said.held_by(Numbers.of("2个，1200户")) == frozenset()


def test_wording_leaves_numbers_out():
    """They are compared with their units."""
    assert wording("创建500家工厂") == {"创建", "家工", "工厂"}
    assert wording("The 500 towers") == {"tower"}


def test_citation_holds_quote_section_and_page_of_its_span():
    """Everything that a reader needs to find it."""
    text = "规划\n一、目标\n创建500家。"
    document = Document(
        "d",
        "规划",
        text,
        "d.pdf",
        "pdf",
        "0",
        (Segment(0, 9, "page", 1), Segment(9, 15, "page", 2)),
    )
    made = Citation.of(
        document=document,
        headings=[Heading(3, 7, 1, "一、目标")],
        span=(8, 15),
        chunk_id="d:256:0",
    )
    assert (made.quote, made.heading_path) == ("创建500家。", ("一、目标",))
    assert (made.page, made.chunk_id, made.file) == (1, "d:256:0", "d.pdf")
