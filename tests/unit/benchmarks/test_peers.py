"""What comparisons with other systems rest on: places of passages, the stand-in, the table."""

from pathlib import Path

import pytest

from benchmarks.peers.facts import facts, keywords
from benchmarks.peers.model import StandIn
from benchmarks.peers.peer import Found
from benchmarks.peers.pieces import Pieces
from benchmarks.peers.run import chosen
from benchmarks.peers.table import Row, markdown
from benchmarks.peers.texts import Squeezed, locate, located
from kgrag.evaluation.queries import GoldQuery

TEXT = "第一条 推进\n节能。\n第二条 推进节能。"
SENTENCE = "工业园区推广《绿色节能办法》。"


def test_a_passage_is_found_whatever_its_whitespace() -> None:
    """The first place counts, and ends with the passage's last character."""
    assert locate(Squeezed.of(TEXT), " 推进节 能。") == (4, 10)
    assert locate(Squeezed.of(TEXT), "第三条") is None
    assert locate(Squeezed.of(TEXT), " \n") is None


def test_a_right_place_is_kept_and_a_wrong_one_replaced() -> None:
    """The second sentence is told apart by the place that the system gave."""
    texts, squeezed = {"d": TEXT}, {"d": Squeezed.of(TEXT)}
    right = Found("d", "推进节能。", 15, 20)

    assert located(right, texts, squeezed) == right
    assert located(Found("d", "推进节能。", 0, 5), texts, squeezed) == Found(
        "d", "推进\n节能。", 4, 10
    )
    assert located(Found("d", "没有"), texts, squeezed) == Found("d", "没有")


def test_facts_are_neighbouring_terms_with_a_verb() -> None:
    """A title is one term; a question's keywords are its terms, or itself."""
    assert [fact[:3] for fact in facts(SENTENCE)] == [("工业园区", "推广", "绿色节能办法")]
    assert keywords("工业园区怎么了") == ["工业园区"]
    assert keywords("啊") == ["啊"]


def test_every_system_is_told_the_same_facts() -> None:
    """In LightRAG's rows, in Zilliz's triplets and in kgrag's: and each call is counted."""
    model = StandIn()
    lightrag = model.answer(
        [
            "You are a Knowledge Graph Specialist responsible for extracting",
            f"---Input Text---\n```\n{SENTENCE}\n```\n\n---Output---\n",
        ]
    )
    zilliz = model.answer(
        ["You are an expert knowledge graph builder. Your task is to extract", f"Text: {SENTENCE}"]
    )
    kgrag = model.answer(
        [
            "你从文件的一段中提取知识三元组",
            f"<passage 0123abcd>\n⟦1⟧{SENTENCE}\n</passage 0123abcd>\n\n要写的 part：1",
        ]
    )

    assert lightrag.splitlines()[2].split("<|#|>")[:4] == [
        *("relation", "工业园区", "绿色节能办法", "推广")
    ]
    assert zilliz == '{"triplets":[["工业园区","推广","绿色节能办法"]]}'
    assert '["工业园区","measure","推广","绿色节能办法","measure"]' in kgrag
    assert model.calls == 3
    assert set(model.tokens_by_form) == {"lightrag_facts", "zilliz_facts", "kgrag_facts"}
    assert sum(model.tokens_by_form.values()) == model.prompt_tokens + model.completion_tokens


def test_a_prompt_that_nobody_knows_is_refused() -> None:
    """A system must not go on with a wrong answer."""
    with pytest.raises(ValueError, match="no form is known"):
        StandIn().answer(["Write a poem."])


def test_pieces_give_the_text_back() -> None:
    """Whole characters, also outside the basic plane."""
    text = "节能 2025年\n\n  Green Factory：𠮷"

    assert Pieces().decode(Pieces().encode(text)) == text


def test_documents_with_gold_are_taken_first(tmp_path: Path) -> None:
    """Then others by name until there are enough; one without its file ends the run."""
    for name in "abcd":
        (tmp_path / f"{name}.txt").write_text(name, "utf-8")
    queries = [GoldQuery("q", "?", ("d",))]

    assert [*chosen(tmp_path, queries, 2)] == ["a", "d"]
    assert [*chosen(tmp_path, queries, 0)] == ["d"]
    with pytest.raises(SystemExit, match="has no text of e"):
        chosen(tmp_path, [GoldQuery("q", "?", ("e",))], 2)


def row(system: str, score: float, ms: float) -> Row:
    """Return what was measured of two questions, one of which finds nothing."""
    ingest = dict.fromkeys(("seconds", "processor_s", "encoder_s", "calls", "texts"), 2.0)
    tokens = {"prompt_tokens": 30.0, "completion_tokens": 10.0}
    return Row(
        system,
        [{"R@5": score}, {"R@5": 0.0}],
        {"R@5": score / 2},
        {"R@5": (0.0, score)},
        2000,
        ingest | tokens,
        tokens | {"calls": 1.0},
        *(ms, 2 * ms, 3 * ms),
        *(4_000_000, 20, 1),
    )


def test_a_table_has_a_row_a_search() -> None:
    """Shares with their interval, tokens for 1,000 characters."""
    quality, cost = markdown([row("a", 1.0, 1.0)]).split("\n\n")

    assert quality.splitlines()[-1] == "| a | 50.0 [0.0, 100.0] |"
    assert cost.splitlines()[-1] == (
        "| a | 2.0 | 2.0 | 2.0 | 2 | 40 | 20 | 2 | 1.00 | 40 | 1.0 | 2.0 | 3.0 | 4 | 1 of 20 |"
    )


def test_others_stand_beside_ours() -> None:
    """Better by half a question of two, and five times as fast."""
    beside = markdown([row("a", 0.0, 5.0), row("kgrag grim", 1.0, 1.0)]).split("\n\n")[2]

    assert beside.splitlines()[-1] == "| a | +50.0 [+0.0, +100.0] | 5.00 x | 5.00 x |"
