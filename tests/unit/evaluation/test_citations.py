"""What an answer cites of the gold, and whether it backs the answer."""

import pytest

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Missing
from kgrag.answer.citation import Citation
from kgrag.evaluation.citations import (
    QUOTED,
    backing_scores,
    number_scores,
    quoted_scores,
)
from tests.fixtures.answers import answer_of


def answer(text, *quotes, question="绿色工厂有多少家？", found=True):
    citations = tuple(
        Citation(n, "d", "云岭省方案", "a.txt", (), None, 99 * n, 99 * n + len(quote), quote, "c")
        for n, quote in enumerate(quotes, 1)
    )
    if not found:
        return Answer(question, (Missing(),), "extractive")
    return answer_of(question, text, citations, "extractive")


RIGHT = "到2025年创建绿色工厂500家。"
OTHER = "鼓励农户采用节水灌溉技术。"


def test_a_sentence_is_backed_by_what_holds_its_words_and_numbers():
    told = answer("到2025年，创建绿色工厂五百家。[1]", RIGHT)
    assert backing_scores(told) == {"back-P": 1.0, "back-R": 1.0}


@pytest.mark.parametrize("quote", ["到2025年创建绿色工厂600家。", OTHER])
def test_another_number_or_other_words_do_not_back_it(quote):
    assert backing_scores(answer(RIGHT + "[1]", quote)) == {"back-P": 0.0, "back-R": 0.0}


def test_halves_that_two_quotes_hold_are_both_of_use():
    text = "福建森林覆盖率达到65%，江西森林覆盖率达到63%。[1][2]"
    scores = backing_scores(answer(text, "福建森林覆盖率达到65%", "江西森林覆盖率达到63%"))
    assert scores == {"back-P": 1.0, "back-R": 1.0}


def test_sentences_without_citation_count_and_nothing_found_has_0():
    scores = backing_scores(answer(f"{RIGHT}[1]\n\n全省还将建设零碳园区80个。", RIGHT))
    assert scores["back-R"] == 0.5
    assert backing_scores(answer("没有找到。", found=False)) == {"back-P": 0.0, "back-R": 0.0}


def test_numbers_are_compared_in_whatever_writing():
    told = answer("创建1,000家绿色工厂，投资3万元。[1]", "创建绿色工厂一千家，投资30000元。")
    scores = number_scores(told, references=["一千家，3万元"], spans=[])
    assert scores == {"num-cited": 1.0, "num-P": 1.0, "num-R": 1.0}


def test_wrong_and_missing_numbers_cost_precision_and_recall():
    told = answer("2025年500家，投资7亿元。[1]", RIGHT, question="2025年绿色工厂多少家？")
    scores = number_scores(told, references=["500家，其中市级120家"], spans=[RIGHT])
    assert scores == {
        "num-cited": pytest.approx(2 / 3),  # the year of the question is no claim
        "num-P": pytest.approx(2 / 3),
        "num-R": 0.5,
    }


def test_a_refusal_has_no_numbers_right_and_answers_without_any_are_not_asked_for_them():
    silent = answer("没有找到。", found=False)
    assert number_scores(silent, references=["500家"], spans=[]) == {
        "num-cited": 0.0,
        "num-P": 0.0,
        "num-R": 0.0,
    }
    assert number_scores(silent, references=["省工信厅"], spans=[]) == {"num-cited": 0.0}


def test_numbers_of_items_are_no_claims():
    """A quote by rule puts the lines of a list into one."""
    told = answer("应当满足：1.符合国家标准；[1]", "应当满足：\n1.符合国家标准；")
    assert backing_scores(told) == {"back-P": 1.0, "back-R": 1.0}
    assert number_scores(told, references=[], spans=[]) == {"num-cited": 1.0}


def test_the_count_of_items_that_a_gold_answer_lists_is_not_asked_for():
    told = answer("培育园区，推广技术。[1]", "培育园区，推广技术。")
    assert "num-R" not in number_scores(told, references=["两项措施：培育园区；推广技术"], spans=[])
    assert number_scores(told, references=["一共八家企业"], spans=[])["num-R"] == 0
    assert number_scores(told, references=["16个行业：炼化等"], spans=[])["num-R"] == 0


GOLD = {"a": ((0, 10), (20, 30)), "b": ((5, 15),)}


def cited(file, start, end):
    return Citation(1, f"d-{file}", "题", f"/p/{file}.txt", (), None, start, end, "文", "c")


def test_shares_of_characters_documents_citations_and_spans():
    """One citation of four touches a span, half of it; one of them is of another document."""
    several = [cited("a", 5, 12), cited("a", 12, 18), cited("b", 20, 30), cited("c", 0, 9)]
    scores = quoted_scores(several, GOLD, ("a", "b"))
    assert scores == {
        "any-gold": 1.0,
        "gold-quoted": pytest.approx(5 / 30),
        "gold-docs": 1.0,
        "cite-P": 0.25,
        "cite-R": pytest.approx(1 / 3),
    }
    assert list(scores) == list(QUOTED)


def test_a_gold_document_may_be_named_by_its_id():
    assert quoted_scores([cited("a", 0, 5)], {}, ("d-a",)) == {"gold-docs": 1.0}
