"""A document that is deleted while a question is answered, at any moment of it."""

import pytest

from tests.fixtures.kit import knowledge_base
from tests.fixtures.policies import POLICIES

READS = (
    "documents", "document_cards", "headings", "chunks", "chunks_of", "children", "families",
    "statements", "facts",
)  # fmt: skip
QUESTIONS = (
    "到2025年四川省森林覆盖率达到多少？",
    "各地的绿色工厂目标是多少？",
    "怎样推动企业节能改造？",
    "《四川省绿色发展实施方案》还有效吗？",
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_does_without_it(tmp_path, monkeypatch, question):
    """After each read of the store it is gone from all reads that follow."""
    with knowledge_base(tmp_path, POLICIES, "hash-32") as base:
        gone = base.find_document("四川省绿色发展实施方案").doc_id
        calls = {"made": 0, "until": 0}

        def losing(read):
            def reading(*args, **options):
                calls["made"] += 1
                found = read(*args, **options)
                if calls["made"] <= calls["until"]:
                    return found
                if isinstance(found, dict):
                    return {k: v for k, v in found.items() if k != gone}
                return [one for one in found if getattr(one, "doc_id", "") != gone]

            return reading

        for name in READS:
            monkeypatch.setattr(base.store, name, losing(getattr(base.store, name)))
        calls["until"] = 10_000
        base.ask(question)
        for until in range(calls["made"]):
            calls.update(made=0, until=until)
            base.ask(question)
