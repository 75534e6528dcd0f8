"""What is punished how, answered from the provisions that were read."""

import pytest

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig

RULES = """甲市节能管理办法
第一条 为了节约能源，制定本办法。
第八条 重点用能单位未按照规定报送能源利用状况报告的，由市发展改革部门责令限期改正；\
逾期不改正的，处一万元以上五万元以下的罚款。
第九条 检测机构伪造检测数据的，由市市场监管部门处十万元罚款；情节严重的，吊销资质证书。
第十条 市发展改革部门负责节能监察。
"""


@pytest.fixture(scope="module")
def laws(tmp_path_factory):
    """Return a knowledge base of one rule with two penalties."""
    folder = tmp_path_factory.mktemp("laws")
    (folder / "rules.txt").write_text(RULES, "utf-8")
    config = Config(embedding=EmbeddingConfig(model="hash"))
    with KnowledgeBase.open(folder / "kb", config=config) as base:
        base.ingest([folder / "rules.txt"])
        yield base


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("未按规定报送能源利用状况报告会受到什么处罚？", "重点用能单位未按照规定报送"),
        ("伪造检测数据怎么处罚？", "检测机构伪造检测数据"),
        (
            "什么情形会被吊销资质证书？",
            "检测机构伪造检测数据（情节严重）：吊销资质证书，",
        ),
    ],
)
def test_what_is_punished_is_answered_with_who_and_how(laws, question, begins):
    """By what is done, or by the penalty; each row with its sentence."""
    answer = laws.ask(question)
    assert answer.text.startswith(begins)
    assert answer.notes[0].kind == "penalties"
    assert all(check.supported for check in answer.checks)


def test_all_penalties_of_a_document_are_listed(laws):
    """Where it is named, and nothing else is asked for."""
    answer = laws.ask("《甲市节能管理办法》规定了哪些处罚？")
    assert answer.notes[0] == "共1份文件，其中读出有关处罚的有1份，共3条"
    assert len(answer.blocks) == 3


@pytest.mark.parametrize(
    "question",
    [
        "违反本办法有哪些处罚？",
        "偷排污水会受到什么处罚？",
        "深圳伪造检测数据怎么处罚？",  # the rule is another place's
        "深圳和广州伪造检测数据怎么处罚？",
    ],
)
def test_a_penalty_of_nothing_that_was_read_is_no_row(laws, question):
    """The text answers as for any other question, or nothing does."""
    assert not any(getattr(note, "kind", "") == "penalties" for note in laws.ask(question).notes)
