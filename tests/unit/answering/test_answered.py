"""An answer is given only where what is asked for is there; else a note tells what is."""

import numpy as np
import pytest

from kgrag.answer.sentences import Sentence
from kgrag.answering.answered import (
    Scored,
    is_answered,
    is_title_meant,
    names_what_is_counted,
)
from kgrag.embedding.hashing import HashEmbedder
from kgrag.question.query import analyse
from kgrag.results import ScoredChunk
from kgrag.text.answer_text import NOT_FOUND
from kgrag.types import Chunk
from tests.unit.answering.test_extract import ask

SOLAR = (
    "云岭省节能规划\n"
    "一、主要目标\n"
    "到2025年，全省建成光伏项目100个以上，节能20万吨标准煤。\n"
    "二、保障措施\n"
    "省财政厅牵头落实节能专项资金，遴选38家绿色工厂。"
)


@pytest.mark.parametrize(
    ("question", "is_found"),
    [
        ("云岭省到2025年建成光伏项目多少个？", True),
        ("云岭省到2025年光伏项目要装多少万千瓦？", False),
        ("云岭省到2025年节能多少吨标准煤？", True),
        ("云岭省的光伏项目一个补贴多少钱？", False),
        ("《青川市节能规划》到2025年建成光伏项目多少个？", False),
        ("《云岭省节能规划》到2025年建成光伏项目多少个？", True),
        ("云岭省遴选的38家绿色工厂是哪些？", False),
    ],
)
def test_a_question_is_answered_only_with_what_it_asks_for(question, is_found):
    """The unit, the document and the names that are asked for must be there."""
    found = ask(question, text=SOLAR)
    assert found.found == is_found
    assert bool(found.citations) == is_found
    assert (found.text == NOT_FOUND["zh"]) == (not is_found)


def test_a_note_tells_what_was_found_instead():
    """The nearest sentence with its document, and the document that is not there."""
    nearest = ask("云岭省到2025年光伏项目要装多少万千瓦？", text=SOLAR).notes[-1]
    assert nearest.startswith("最相近的是《云岭省节能规划》：“到2025年，全省建成光伏项目100个以上")
    missing, *_ = ask("《青川市节能规划》到2025年建成光伏项目多少个？", text=SOLAR).notes
    assert missing == "所引的《青川市节能规划》不在找到的文件中"


@pytest.mark.parametrize(
    ("quoted", "title", "is_meant"),
    [
        ("节能规划", "云岭省节能规划", True),
        ("云岭省节能减排综合方案", "云岭省“十四五”节能减排综合工作方案", True),
        ("江西省碳达峰实施方案", "青海省碳达峰实施方案", False),
        ("循环经济促进法", "云岭省节能规划", False),
    ],
)
def test_a_quoted_title_is_that_of_another_place_or_subject_or_not(quoted, title, is_meant):
    """A title may be shortened; a place in it says whose document is meant."""
    assert is_title_meant(quoted, title) == is_meant


@pytest.mark.parametrize(
    ("question", "quotes", "listed", "is_named"),
    [
        ("遴选的38家企业有哪些", ["遴选38家企业。"], 0, False),
        ("遴选的38家企业有哪些", ["甲公司、乙公司、丙公司、丁公司等。"], 0, True),
        ("那三个阶段是什么", ["第一阶段是甲。", "第二阶段是乙。", "第三阶段是丙。"], 0, True),
        ("那五个项目是哪些", ["开展五个项目："], 6, True),
        ("有哪些企业入选", ["遴选一批企业。"], 0, True),
        ("遴选的38家企业有哪些", [], 0, True),
    ],
)
def test_things_that_are_counted_are_named_or_not(question, quotes, listed, is_named):
    """Their number alone is no list of them."""
    assert names_what_is_counted(question, quotes, listed=listed) == is_named


class Alike(HashEmbedder):
    """Finds every sentence as like a question as it is told, and is no stand-in."""

    is_stand_in = False

    def __init__(self, cosine):
        super().__init__()
        self.name = "bge-small-zh:00:00"
        self._cosine = cosine

    def embed(self, texts, task):
        """Return vectors of two dimensions."""
        one = (1.0, 0.0) if task == "query" else (self._cosine, (1 - self._cosine**2) ** 0.5)
        return np.array([one] * len(texts))


@pytest.mark.parametrize(
    ("question", "score", "cosine", "answers"),
    [
        ("云岭省的红烧肉怎么做", 0.65, 0.45, False),  # only the place is of the documents
        ("云岭省怎么推进节能", 0.65, 0.6, True),
        ("云岭省怎么推进节能", 0.9, 0.45, True),
        ("云岭省的红烧肉怎么做", 0.5, 0.9, False),
        ("云岭省建成多少个光伏项目", 0.75, 0.5, False),  # of something else, it seems
        ("云岭省建成多少个光伏项目", 0.75, 0.7, True),
        ("云岭省建成多少个光伏项目", 0.85, 0.5, True),
        ("云岭省建成多少吨光伏", 0.95, 0.9, False),
    ],
)
def test_a_sentence_answers_by_its_score_or_by_its_likeness(question, score, cosine, answers):
    """The place in a title raises the score of all its sentences."""
    text = "到2025年，全省建成光伏项目100个以上。"
    chunk = ScoredChunk(Chunk("d:256:0", "d", 256, 0, 0, len(text), text), 10.0)
    scored = [Scored(Sentence("d", 0, len(text), text, chunk, 0), score)]
    query = analyse(question, known_places=["云岭"])
    assert is_answered(scored, query, Alike(cosine)) == answers


def test_another_encoder_has_other_cosines():
    """What was measured with one says nothing of another: its figures are not refused."""
    text = "到2025年，全省建成光伏项目100个以上。"
    chunk = ScoredChunk(Chunk("d:256:0", "d", 256, 0, 0, len(text), text), 10.0)
    scored = [Scored(Sentence("d", 0, len(text), text, chunk, 0), 0.75)]
    query = analyse("云岭省建成多少个光伏项目", known_places=["云岭"])
    other = Alike(0.3)
    assert not is_answered(scored, query, other)
    other.name = "text-embedding-3-small"
    assert is_answered(scored, query, other)
