import numpy as np
import pytest

from kgrag.question.query import analyse
from kgrag.retrieval.settings import Settings, for_language, settings_of
from kgrag.types import Document
from tests.fixtures.double import Double


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


def test_settings_sample_a_size_that_carries_vectors():
    """The smallest of them."""
    store = Held(1, {}, {"embedded_sizes": "40,20"})
    settings_of(store, leaf=10, coarse=40)
    assert store.asked[0] == "d000:20:0"


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
