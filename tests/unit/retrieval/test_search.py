"""Searching: systems, settings, questions in two languages."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from click.testing import CliRunner

from kgrag.cli.main import main
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ConfigError
from kgrag.ids import document_of
from kgrag.question.question import analyse, question_of
from kgrag.retrieval.bilingual import read
from kgrag.retrieval.grim import PRESETS, Pipeline
from kgrag.retrieval.search import Reasons, Search
from kgrag.retrieval.settings import Settings, for_language, settings_of
from kgrag.retrieval.systems import checked_systems, preset
from kgrag.retrieval.weighted_fusion import WeightedFusion
from kgrag.types import Document
from tests.fixtures.double import Double
from tests.fixtures.kit import shared_base

TEXTS = {
    "a": "云岭省节能规划\n一、总体要求\n根据《节能法》，制定本规划。\n二、目标\n"
    "到2025年，农村生活污水治理率达到45%。",
    "b": "青川市节能方案\n落实《云岭省节能规划》。\n推进污水处理收费，受益农户合理分担。\n"
    "由市工业和信息化局负责。",
    "c": "某委员会关于印发《节能法》的通知\n2021年1月1日发布。\n各地节能工作由主管部门负责。",
}
# Document, size, position and score of each result before questions were read by models.
BEFORE = {
    "云岭省农村污水治理目标": {
        "grim": "a256.0=19.5885 b256.0=4.4728 c256.0=0.0000",
        "grim-no-coverage": "a256.0=13.5885 b256.0=2.5291 c256.0=0.0000",
        "grim-no-merge": "a256.0=19.5885 b256.0=4.4728 c256.0=0.0000",
        "grim-no-summary": "a256.0=19.5885 b256.0=4.4728 c256.0=0.0000",
        "grim-no-figures": "a256.0=19.5885 b256.0=4.4728 c256.0=0.0000",
        "grim-no-sections": "a256.0=19.5885 b256.0=4.4728 c256.0=0.0000",
        "grim-no-parts": "a256.0=19.5885 b256.0=4.4728 c256.0=0.0000",
        "grim-no-official-terms": "a256.0=19.5885 b256.0=4.4728 c256.0=0.0000",
        "grim-no-plan": "a256.0=19.5885 b256.0=4.4728 c256.0=0.0000",
        "bm25": "a512.0=6.4873 b512.0=1.3937",
        "vector": "a256.0=0.1591 b256.0=0.1458 c256.0=0.1346",
        "hybrid": "a256.0=21.2703 b256.0=5.0318 c256.0=0.0000",
        "recursive": "a256.0=0.3641 b256.0=0.1632 c256.0=0.0000",
        "kg-vector": "a256.0=0.7965 b256.0=0.3570 c256.0=0.0000",
    },
    "《云岭省节能规划》依据哪些文件？": {
        "grim": "a256.0=38.4490 b256.0=31.5435 c256.0=25.4423",
        "grim-no-coverage": "a256.0=36.8249 b256.0=29.9194 c256.0=25.3018",
        "grim-no-merge": "a256.0=38.4490 b256.0=31.5435 c256.0=25.4423",
        "grim-no-summary": "a256.0=38.4490 b256.0=31.5435 c256.0=25.4423",
        "grim-no-figures": "a256.0=38.4490 b256.0=31.5435 c256.0=25.4423",
        "grim-no-sections": "a256.0=38.4490 b256.0=31.5435 c256.0=25.4423",
        "grim-no-parts": "a256.0=38.4490 b256.0=31.5435 c256.0=25.4423",
        "grim-no-official-terms": "a256.0=38.4490 b256.0=31.5435 c256.0=25.4423",
        "grim-no-plan": "a256.0=38.4490 b256.0=31.5435 c256.0=25.4423",
        "bm25": "a512.0=105.1789 b512.0=101.7246 c512.0=0.2975",
        "vector": "a256.0=0.1591 b256.0=0.1458 c256.0=0.1346",
        "hybrid": "a256.0=40.5405 b256.0=36.4147 c256.0=2.1354",
        "recursive": "a256.0=0.4722 b256.0=0.2865 c256.0=0.0889",
        "kg-vector": "a256.0=5.0329 b256.0=1.0268 c256.0=0.1944",
    },
}


def searched(kb, question):
    """Return the search for a question, as the knowledge base makes it."""
    return kb._knowledge.search(kb._knowledge.query(question))


kb = shared_base(TEXTS)


@pytest.fixture
def search(kb):
    """Return a function that makes a search with what a model would add."""

    def make(question, *, keywords=(), critical=""):
        plain = searched(kb, question)
        return Search(
            replace(plain.query, keywords=keywords, critical=critical),
            store=kb.store,
            embed=HashEmbedder,
            settings=plain.settings,
        )

    return make


@pytest.mark.parametrize("question", BEFORE)
@pytest.mark.parametrize("system", [name for name in PRESETS if not name.startswith("qcg")])
def test_without_a_model_results_are_what_they_were(kb, search, system, question):
    """Order and scores of every preset, to four digits."""
    names = {card.doc_id: Path(card.file).stem for card in kb.store.document_cards()}
    found = PRESETS[system].retrieve(search(question), top_k=5)
    assert BEFORE[question][system] == " ".join(
        f"{names[r.chunk.doc_id]}{r.chunk.size}.{r.chunk.position}={r.score:.4f}" for r in found
    )


def test_words_that_only_keywords_have_weigh_half(search):
    """The question's own keep their count, also where a keyword has them."""
    terms = search("节能与节能目标", keywords=("节能补贴", "污水处理")).terms
    assert (terms["节能"], terms["目标"]) == (2.0, 1.0)
    assert (terms["补贴"], terms["污水"]) == (0.5, 0.5)


def test_keywords_find_what_the_question_has_no_word_for(search):
    """`脏水` stands in no document; `污水` does."""
    assert PRESETS["bm25"].retrieve(search("脏水"), top_k=1) == []
    (found,) = PRESETS["bm25"].retrieve(search("脏水", keywords=("污水处理收费",)), top_k=1)
    assert "污水处理收费" in found.chunk.text


def test_keywords_alone_are_enough_to_search_with(search):
    """A question of function words only has none of its own."""
    assert PRESETS["grim"].retrieve(search("怎么"), top_k=1) == []
    assert PRESETS["grim"].retrieve(search("怎么", keywords=("节能",)), top_k=1) != []


def test_critical_information_is_encoded_after_the_question_once(search):
    """QCG-Rerank, eq. 2, with n = 1."""
    vector = search("脏水", critical="污水处理收费").vector
    assert vector.tolist() == HashEmbedder().embed(["脏水 污水处理收费"], "query")[0].tolist()


def test_reasons_are_put_into_words_when_asked():
    """Those of chunks that are not shown never are."""
    worded = []

    def word(score):
        worded.append(score)
        return f"{score:.2f}"

    reasons = Reasons({"a": 0.5, "b": 0.25}, word)

    assert (list(reasons), len(reasons), "c" in reasons) == (["a", "b"], 2, False)
    assert reasons.get("c", "") == ""
    assert worded == []
    assert (reasons["b"], worded) == ("0.25", [0.25])
    assert reasons == {"a": "0.50", "b": "0.25"}


def test_what_was_begun_is_taken_once(search):
    """A second question for the same is answered from it, one for another asks the store."""
    question = "云岭省农村污水治理目标"
    plain = search(question).nearest("chunk", top_k=9)
    asked = search(question)
    asked.begin("chunk", top_k=9)
    begun = asked._begun["chunk", 9]
    calls = []

    def counted():
        calls.append(1)
        return begun()

    asked._begun["chunk", 9] = counted

    assert asked.nearest("chunk", top_k=2) == dict(list(plain.items())[:2])
    assert [asked.nearest("chunk", top_k=9) for _ in range(2)] == [plain, plain]
    assert calls == [1]


def test_nearest_of_some_documents_are_no_others(kb, search):
    """The others' are not looked at, and what was found of all is not given for them."""
    asked = search("云岭省农村污水治理目标")
    every = asked.nearest("chunk", top_k=9)
    own = {d.doc_id for d in kb.documents() if d.title == "青川市节能方案"}
    assert len(own) == 1
    assert asked.nearest("chunk", top_k=9, doc_ids=own) == {
        c: score for c, score in every.items() if document_of(c) in own
    }
    assert asked.nearest("chunk", top_k=9) == every


MINE = replace(PRESETS["bm25"], postprocessors=())


def test_presets_and_what_is_given_are_found_by_name():
    assert preset("grim") is PRESETS["grim"]
    assert preset("mine", {"mine": MINE}) is MINE


def test_what_is_not_there_is_told_with_what_is():
    with pytest.raises(ConfigError, match=r"no system is called 'x'; there are grim, .*, mine$"):
        preset("x", {"mine": MINE})
    with pytest.raises(ConfigError, match="no plugin has a route ''; routes of plugins: none"):
        preset("grim+")


@pytest.mark.parametrize(
    ("name", "pipeline", "told"),
    [
        ("grim", MINE, "kgrag has a system 'grim' itself"),
        ("", MINE, "cannot be called ''"),
        ("a+b", MINE, "cannot be called"),
        ("a,b", MINE, "cannot be called"),
        ("mine", Pipeline, "'mine' is no Pipeline, but the class Pipeline"),
        ("mine", "grim", "is no Pipeline, but str"),
        ("mine", replace(MINE, routes=()), "that are no WeightedRetrievers, or none"),
        (
            "mine",
            replace(MINE, routes=cast("Any", (len,))),
            "that are no WeightedRetrievers, or none",
        ),
        (
            "mine",
            Pipeline(MINE.routes, cast("Any", 5)),
            "postprocessor that cannot be called",
        ),
        (
            "mine",
            Pipeline(MINE.routes, MINE.fuse, cast("Any", ("merge",))),
            "postprocessor that cannot be called",
        ),
        (
            "mine",
            replace(MINE, rerankers=cast("Any", ("cover",))),
            "reranker or postprocessor that cannot be called",
        ),
    ],
)
def test_what_cannot_be_a_system_is_refused(name, pipeline, told):
    with pytest.raises(ConfigError, match=told):
        checked_systems({name: pipeline})


def test_systems_of_a_program_are_taken():
    given = {"mine": MINE, "other": Pipeline(MINE.routes, WeightedFusion())}
    assert checked_systems(given) == given


class Held(Double):
    """A store of documents without text and of vectors."""

    def __init__(self, n_documents, vectors, meta=()):
        self.cards = [Document(f"d{i:03d}", "t", "", "f", "txt", "0") for i in range(n_documents)]
        self.vectors, self.meta, self.asked = vectors, dict(meta), []

    def all_meta(self):
        """Return what it was made with."""
        return self.meta

    def document_cards(self):
        """Return all."""
        return self.cards

    def vectors_of(self, node_ids):
        """Return those that are there."""
        self.asked = list(node_ids)
        return {n: np.float32(self.vectors[n]) for n in node_ids if n in self.vectors}


def test_settings_measure_the_deviation_of_cosines():
    """Half of the chunks point one way, half another: cosines are 0 or 1."""
    vectors = {f"d{i:03d}:10:0": (1.0, 0.0) if i % 2 else (0.0, 1.0) for i in range(16)}
    pairs = [float(i % 2 == j % 2) for i in range(16) for j in range(i)]
    deviation = settings_of(Held(16, vectors), leaf=10, coarse=40).cosine_std
    assert deviation == pytest.approx(np.std(pairs))
    narrow = {n: (np.sqrt(0.9), *(np.sqrt(0.1) * np.array(v))) for n, v in vectors.items()}
    close = settings_of(Held(16, narrow), leaf=10, coarse=40).cosine_std
    assert close == pytest.approx(deviation / 10, rel=1e-4)


@pytest.mark.parametrize("n", [0, 15])
def test_settings_of_few_chunks_take_the_usual_deviation(n):
    """So few cosines say nothing; nor do any number that are all alike."""
    few = {f"d{i:03d}:10:0": (i, 1.0) for i in range(n)}
    assert settings_of(Held(n, few), leaf=10, coarse=40).cosine_std == Settings().cosine_std
    alike = {f"d{i:03d}:10:0": (1.0, 0.0) for i in range(20)}
    assert settings_of(Held(20, alike), leaf=10, coarse=40).cosine_std == Settings().cosine_std
    near = {f"d{i:03d}:10:0": (1.0, 1e-3 * i) for i in range(20)}
    assert settings_of(Held(20, near), leaf=10, coarse=40).cosine_std == Settings().cosine_std


def test_deviation_does_not_depend_on_the_order_of_vectors():
    """Stores give them in any order; scores must be the same to the last bit."""
    rng = np.random.default_rng(1)
    vectors = {f"d{i:03d}:10:0": rng.standard_normal(8) for i in range(40)}
    back = dict(reversed(vectors.items()))

    class Reversed(Held):
        def vectors_of(self, node_ids):
            """Return them in the order that they were given in."""
            return {n: np.float32(v) for n, v in self.vectors.items() if n in set(node_ids)}

    deviations = {
        settings_of(Reversed(40, given), leaf=10, coarse=40).cosine_std for given in (vectors, back)
    }
    assert len(deviations) == 1


def test_settings_sample_all_over_the_knowledge_base():
    """At most 128 chunks, of documents at equal distances; more of each where they are few."""
    many = Held(300, {})
    settings_of(many, leaf=10, coarse=40)
    assert many.asked == [f"d{i:03d}:10:0" for i in range(299, -1, -3)]
    few = Held(2, {})
    settings_of(few, leaf=10, coarse=40)
    assert sorted(few.asked) == sorted(f"d{d:03d}:10:{p}" for d in range(2) for p in range(64))


@pytest.mark.parametrize(
    ("languages", "question", "weak"),
    [
        (("zh",), "Who founded it?", True),
        (("zh",), "谁创办的？", False),
        ((), "Who?", False),
        (("zh", "en"), "Who?", False),
        (("en",), "谁创办的？", True),
        (("en",), "PUE要降到多少？", True),
        (("en",), "Who?", False),
        (("en",), "2025", False),
        (("zh-CN", "EN"), "谁创办的？", False),
        (("zh-CN", "EN"), "Who?", False),
        (("cmn",), "谁创办的？", False),
        (("yue",), "Who?", True),
    ],
)
def test_for_language_distrusts_an_encoder_that_cannot_read_the_question(languages, question, weak):
    """A Chinese encoder is no judge of an English question, nor an English one of a Chinese."""
    assert for_language(Settings(languages=languages), analyse(question)).weak_encoder is weak


ENGLISH = "What is the 2030 target for the share of non-fossil energy in Jiangsu?"
CHINESE = "江苏省能源规划\n一、目标\n到2030年，全省非化石能源消费比重达到35%。\n"
OTHER = "江苏省林业规划\n一、目标\n到2030年，全省森林覆盖率达到24.1%。\n"
LATIN = "Harbour Plan\nThe share of non-fossil energy in the harbour is to reach 60% by 2030.\n"


def test_an_english_question_keeps_its_words_where_documents_are_english():
    """Nothing is read into it."""
    assert read(ENGLISH) == analyse(ENGLISH)
    assert read(ENGLISH, chinese=0.05) == analyse(ENGLISH)


@pytest.mark.parametrize("chinese", [0.0, 0.5, 1.0])
def test_a_chinese_question_is_read_as_ever(chinese):
    for question in ("江苏2030年的目标是多少？", "PUE要降到多少", "2025?"):
        assert read(question, chinese=chinese) == analyse(question)


def test_an_english_question_is_read_in_chinese_words():
    """Its language stays that of the answer."""
    query = read(ENGLISH, chinese=1.0)
    assert query.text == "江苏 到2030年 非化石能源消费比重 目标 多少"
    assert (query.asked, query.question, query.language) == (ENGLISH, ENGLISH, "en")
    assert query.places == {"江苏"}


def test_sides_of_an_english_comparison_are_asked_in_english():
    """A side keeps how the whole was asked."""
    sides = question_of(read("Compare the forest coverage of Fujian and Henan", chinese=1.0)).sides
    assert [side.label for side in sides] == ["福建", "河南"]
    assert {side.query.language for side in sides} == {"en"}
    assert all(side.query.asked for side in sides)


def run(folder, *words):
    """Run a command on a knowledge base."""
    settings = ["--config", str(folder / "kgrag.toml")]
    return CliRunner().invoke(main, [*settings, *words, "--kb", str(folder / "kb")])


def based(folder, **texts):
    """Take in documents with the stand-in encoder."""
    (folder / "kgrag.toml").write_text('[embedding]\nmodel = "hash"\n', "utf-8")
    (folder / "docs").mkdir()
    for name, text in texts.items():
        (folder / "docs" / f"{name}.txt").write_text(text, "utf-8")
    assert run(folder, "ingest", str(folder / "docs")).exit_code == 0
    return folder


def test_an_english_question_finds_and_quotes_chinese_documents(tmp_path):
    """From the command line; the quote is Chinese, what stands around it English."""
    base = based(tmp_path, a=CHINESE, b=OTHER)
    found = run(base, "search", ENGLISH)
    assert found.stdout.startswith("1. 江苏省能源规划")
    said = run(base, "ask", ENGLISH)
    assert "非化石能源消费比重达到35%" in said.stdout
    assert ", characters " in said.stdout
    assert "read in Chinese: 江苏 到2030年 非化石能源消费比重" in said.stderr
    told = json.loads(run(base, "ask", "--json", ENGLISH).stdout)
    assert told["question"] == ENGLISH
    assert told["found"]


def test_an_english_question_of_unknown_words_says_what_to_do(tmp_path):
    """Nothing is found, and why."""
    said = run(based(tmp_path, a=CHINESE), "ask", "Who founded it?")
    assert "ask in Chinese" in said.stderr


def test_among_both_english_documents_stay_first_and_chinese_ones_are_found(tmp_path):
    """Chinese words are looked for besides."""
    base = based(tmp_path, a=CHINESE, b=LATIN, c=OTHER)
    found = run(base, "search", "What share of non-fossil energy is the harbour to reach?").stdout
    assert found.startswith("1. Harbour Plan")
    assert "江苏省能源规划" in found


@pytest.mark.parametrize("system", ["grim", "hybrid", "vector"])
def test_a_question_of_which_half_is_unread_is_asked_of_the_encoder_alone(tmp_path, system):
    """No word, title, figure or table answers it, and a note says which words were left out."""
    asked = "Which swindlers forged the forest coverage maps?"
    base = based(tmp_path, a=CHINESE, b=OTHER)
    searched = run(base, "search", asked, "--system", system, "--json")
    hits = json.loads(searched.stdout)
    assert any("swindlers, forged, maps" in told for told in hits["notes"])
    reasons = {reason.split()[0] for hit in hits["results"] for reason in hit["via"]}
    assert not reasons & {"words", "path", "holds", "section"}
    assert "vector" in reasons
    told = json.loads(run(base, "ask", asked, "--writer", "quotes", "--json").stdout)
    (note,) = (note for note in told["notes"] if "encoder alone" in note)
    assert "swindlers, forged, maps" in note
    assert "森林覆盖率" in note
