"""A model at work: pooled vectors and states of padded batches, threads, failures."""

import numpy as np
import pytest

from kgrag.embedding.card import ModelCard
from kgrag.embedding.transformers_network import Network
from kgrag.errors import ModelError

pytestmark = [pytest.mark.jina, pytest.mark.filterwarnings("ignore")]

CARD = ModelCard(name="tiny", dimension=32, format="transformers")
BATCH = [[0, 5, 6, 7, 2], [0, 9, 2]]


@pytest.mark.parametrize("pooling", ["cls", "mean", "last"])
def test_pooled_leaves_the_padding_out(hub_folder, pooling):
    """The vector is made of the states that `states` gives, one for each token of a text."""
    card = ModelCard(name="tiny", dimension=32, pooling=pooling)
    network = Network.from_folder(hub_folder("bert"), card, threads=None)
    vectors = network.pooled(BATCH, "query")
    states = network.states(BATCH, "query")

    assert [rows.shape for rows in states] == [(5, 32), (3, 32)]
    for vector, rows in zip(vectors, states, strict=True):
        expected = {"cls": rows[0], "mean": rows.mean(axis=0), "last": rows[-1]}[pooling]
        assert np.abs(vector - expected).max() < 1e-5
    alone = network.states([BATCH[1]], "query")[0]
    assert np.abs(alone - states[1]).max() < 1e-5


def test_from_folder_sets_the_threads_of_torch_only_when_asked(hub_folder):
    """They are of the whole process: what another part has set stays."""
    folder = hub_folder("bert")
    import torch

    before = torch.get_num_threads()
    Network.from_folder(folder, CARD, threads=None)
    assert torch.get_num_threads() == before
    Network.from_folder(folder, CARD, threads=before + 1)
    assert torch.get_num_threads() == before + 1
    torch.set_num_threads(before)


def test_pooled_maps_what_the_model_raises(hub_folder):
    """A token that the model has no state for fails as our error, with a remedy."""
    network = Network.from_folder(hub_folder("bert"), CARD, threads=None)

    with pytest.raises(ModelError, match=r"failed on 1 texts of up to 2 tokens.*Remedy"):
        network.pooled([[0, 9999]], "query")
