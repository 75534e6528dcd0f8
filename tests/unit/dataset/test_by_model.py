"""Questions by a model: what is kept, and why others are dropped."""

import json

import pytest

from kgrag.dataset.by_model import agree, by_model
from kgrag.errors import ModelUnavailableError
from kgrag.testing import ScriptedChat

DRAFT = {
    "question": "北川的林木覆盖率到2025年定在多少？",
    "answer": "24%",
    "evidence": "到2025年，全省森林覆盖率达到24%",
}


def chat(draft, answer):
    """Return a model that makes one question, and answers it."""

    def reply(request):
        said = draft if request.schema_name == "dataset_question" else {"answer": answer}
        return json.dumps(said, ensure_ascii=False)

    return ScriptedChat(reply)


def made_by(base, model, *, n=5, search=None):
    found = by_model(
        base.store,
        parent_size=2048,
        n=n,
        writer=model,
        checker=model,
        search=search or base.search,
    )
    return found.questions, found.dropped


def test_a_question_that_comes_back_is_kept_with_its_evidence(base):
    """Only the parent with the evidence gives one; of the others the quote is made up."""
    (question,), dropped = made_by(base, chat(DRAFT, "24%"))
    (document,) = base.store.documents(list(question.gold.gold_docs))
    ((start, end),) = question.gold.gold_spans[document.doc_id]
    assert document.title == "北川省节能方案"
    assert document.text[start:end] == DRAFT["evidence"]
    assert question.gold.query_id == "lookup-001"
    assert question.gold.answers == ("24%",)
    assert dropped == {}


def test_the_prompt_names_the_document(base):
    """Table 1 of GRIM: the question names the subject of the file name."""
    model = chat(DRAFT, "24%")
    made_by(base, model)
    asked = next(r for r in model.requests if "北川省节能方案" in r.messages[1].content)
    assert asked.schema_name == "dataset_question"


@pytest.mark.parametrize(
    ("draft", "answer", "reason"),
    [
        (DRAFT, "26%", "answered otherwise from the passage"),
        (DRAFT, "", "answered otherwise from the passage"),
        (
            {**DRAFT, "evidence": "到2035年，全省森林覆盖率达到99%"},
            "24%",
            "the evidence does not stand in the passage",
        ),
        (dict.fromkeys(DRAFT, ""), "", "nothing to ask"),
        ({"question": "？"}, "", "no answer of the model could be used"),
    ],
)
def test_what_does_not_come_back_is_dropped_and_counted(base, draft, answer, reason):
    questions, dropped = made_by(base, chat(draft, answer))
    assert questions == ()
    assert dropped[reason] >= 1


def test_a_parent_that_a_search_does_not_find_is_dropped(base):
    _, dropped = made_by(base, chat(DRAFT, "24%"), search=lambda _: [])
    assert dropped["its parent is not among the first 20 results"] == 1


def test_a_model_that_is_out_of_reach_ends_it(base):
    """It would fail for each parent in the same way."""
    with pytest.raises(ModelUnavailableError):
        made_by(base, ScriptedChat(lambda _: ModelUnavailableError("gone")))


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("24%", "达到24%。", True),
        ("24%", "26%", False),
        ("省能源局", "北川省能源局", True),
        ("省能源局", "省财政厅", False),
        ("2025年", "", False),
    ],
)
def test_answers_agree_in_figures_and_words(one, other, is_one):
    assert agree(one, other) is is_one
