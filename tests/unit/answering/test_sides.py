"""A comparison is answered side by side; a side without an answer has what is nearest."""

import pytest

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Missing, Quote
from kgrag.answer.citation import Citation
from kgrag.answering.quotes import answer_by_sides, of_side
from kgrag.metadata import Metadata
from kgrag.question.query import analyse
from kgrag.types import Document
from tests.fixtures.kit import run, shared_folder

QUERY = analyse("福建、河南和广西各要利用多少秸秆？")
SIDES = ("福建", "河南", "广西")


def cited(number, place, quote="原文"):
    return Citation(number, f"d-{place}", place, "a.txt", (), None, 9 * number, 9, quote, "c")


def quote(told, nearest=()):
    """Return what answers a side, and what it was asked."""
    asked = []

    def answer(side, most, sure):
        asked.append((side, most, sure))
        n = told[side] or (side in nearest and sure)
        quotes = tuple(Quote(cited(i, side, f"第{i}句")) for i in range(1, n + 1))
        return Answer(QUERY.text, quotes or (Missing(),), "extractive", notes=("注",) * n)

    return answer, asked


def test_sides_stand_below_each_other_and_citations_count_on():
    """Each led by its name; of a side without an answer nothing is said to be missing."""
    answer, asked = quote({"福建": 2, "河南": 0, "广西": 0}, nearest=["河南"])
    found = answer_by_sides(QUERY, SIDES, answer, max_chars=5)
    assert found.found
    assert found.text == (
        "福建：\n第1句[1]\n第2句[2]\n河南，最相近的：\n第1句[3]\n广西：没有选出可以引用的句子"
    )
    assert [(c.number, c.title) for c in found.citations] == [(1, "福建"), (2, "福建"), (3, "河南")]
    assert found.notes == ("注",)
    assert asked == [
        *((side, 2, False) for side in SIDES), ("河南", 2, True), ("广西", 2, True)
    ]  # fmt: skip


def test_where_no_side_says_anything_nothing_is_found():
    none, _ = quote(dict.fromkeys(SIDES, 0))
    found = answer_by_sides(QUERY, SIDES, none, max_chars=9)
    assert not found.found
    assert found.citations == ()
    assert found.question == QUERY.text


def side(place, sentence):
    return Answer(QUERY.text, (Quote(cited(1, place, sentence)),), "extractive")


def document(title, *regions):
    told = Metadata(regions=regions)
    return Document(f"d-{title}", title, "", "a.txt", "txt", "00", metadata=told)


@pytest.mark.parametrize(
    ("title", "titled", "is_answer"),
    [("乙办法", (), True), ("丙办法", (), False), ("丙办法", ("d-乙办法实施细则",), True)],
)
def test_a_document_is_quoted_for_itself_alone(title, titled, is_answer):
    """By its title, or as one that is held under another."""
    told = of_side(
        analyse(f"《{title}》怎么规定"),
        side("乙办法实施细则", "秸秆利用率达到93%"),
        titled=titled,
        documents={},
    )
    assert told.found == is_answer


def test_a_place_is_quoted_for_itself_alone():
    """A quote that names it is its own, too; numbers count on without the others."""
    titles = ("河南省节能规划", "安徽省节能规划", "全国节能规划")
    found = tuple(
        cited(n, title, text)
        for n, (title, text) in enumerate(
            zip(titles, ("甲句", "乙句", "河南达到40%"), strict=True), 1
        )
    )
    quotes = tuple(map(Quote, found))
    told = Answer(QUERY.text, quotes, "extractive", notes=("注",))
    regions = (("河南省",), ("安徽省",), ())
    held = [document(title, *of) for title, of in zip(titles, regions, strict=True)]
    documents = {d.doc_id: d for d in held}

    asked = analyse("河南的目标", known_places=["河南", "安徽", "广西"])
    own = of_side(asked, told, titled=(), documents=documents)
    assert own.text == "甲句[1]\n河南达到40%[2]"
    assert [c.title for c in own.citations] == ["河南省节能规划", "全国节能规划"]
    country = of_side(analyse("全国的目标"), told, titled=(), documents=documents)
    assert country.text == "河南达到40%[1]"  # a province's figure is none of the country
    other = analyse("广西的目标", known_places=["河南", "安徽", "广西"])
    none = of_side(other, told, titled=(), documents=documents)
    assert not none.found
    assert none.blocks == (Missing(),)


CLAUSES = "第一条 到2025年，秸秆综合利用率达到{}%。\n第二条 加强组织领导，落实各项责任。\n"
# Two provinces with a figure each, a third that says nothing of it.
folder = shared_folder(
    {
        "福建": f"福建省秸秆综合利用方案\n{CLAUSES.format(93)}",
        "河南": f"河南省秸秆综合利用方案\n{CLAUSES.format(94)}",
        "广西": "广西壮族自治区林业规划\n第一条 保护森林。\n",
    }
)


def test_ask_quotes_every_side(folder):
    """From the command line; what is asked of one place is answered as before."""

    def ask(question):
        done = run(folder, "ask", question)
        return done.stdout + done.stderr

    told = ask("福建、河南、广西2025年秸秆利用各要达到多大比例？")
    lines = told.splitlines()
    assert lines[0] == "福建："
    assert "93%" in lines[1]
    assert lines[1].endswith("[1]")
    at = lines.index("河南：")
    assert "94%" in lines[at + 1]
    assert lines[lines.index("广西，最相近的：") + 1].startswith("第一条 保护森林。")
    assert "未找到" not in told
    assert "：" not in ask("福建秸秆利用比例要到多少？").splitlines()[0]
