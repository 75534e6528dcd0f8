import pytest

from kgrag.answering.carry_over_en import complete

PLAN = "How many green factories does Jilin Province plan to build by 2025?"
ISSUED = 'When was the "Jilin Carbon Peak Plan" issued?'
NAMELESS = "What is the capacity of storage?"


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        (PLAN, "What about Zhejiang?", PLAN.replace("Jilin Province", "Zhejiang")),
        (PLAN, "And Zhejiang?", PLAN.replace("Jilin Province", "Zhejiang")),
        (PLAN, "And by 2030?", PLAN.replace("2025", "2030")),
        (
            "What does article 1 of the Energy Law say?",
            "And article 2?",
            "What does article 2 of the Energy Law say?",
        ),
        (ISSUED, "And article 2?", 'What about article 2 (regarding: "Jilin Carbon Peak Plan")?'),
        (
            ISSUED,
            "What about the deadline?",
            'What about the deadline (regarding: "Jilin Carbon Peak Plan")?',
        ),
    ],
)
def test_something_else_of_the_same_kind_takes_its_place(before, question, expected):
    """Name, year or article of the question before, the rest of it kept."""
    assert complete(question, before, "") == expected


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        (ISSUED, "What is its target?", 'What is "Jilin Carbon Peak Plan"\'s target?'),
        (ISSUED, "Who leads this plan?", 'Who leads "Jilin Carbon Peak Plan"?'),
        (
            ISSUED,
            "Which agency leads?",
            'Which agency leads (regarding: "Jilin Carbon Peak Plan")?',
        ),
        (NAMELESS, "Who sets it?", "Who sets it (regarding: What is the capacity of storage)?"),
    ],
)
def test_what_is_meant_is_filled_in(before, question, expected):
    """The title, the only name, or all of the question before."""
    assert complete(question, before, "") == expected


@pytest.mark.parametrize(
    "question",
    [
        "How long does it take to get a permit?",
        "Which agencies does the Ministry of Finance lead?",
        "And what is the target for steel?",
        "Which fund pays farmers for their straw?",
        'What is the target of the "Energy Law"?',
    ],
)
def test_a_question_that_stands_by_itself_is_unchanged(question):
    """It names a subject, or its pronoun means nothing or something in it."""
    assert complete(question, PLAN, "") == question


def test_the_only_title_of_the_answer_is_the_subject():
    """Where the question before names nothing."""
    assert complete("Who issued it?", NAMELESS, 'See "Storage Plan" [1].') == (
        'Who issued "Storage Plan"?'
    )
