"""Pipelines by name."""

from dataclasses import replace
from typing import Any, cast

import pytest

from kgrag.errors import ConfigError
from kgrag.retrieval.grim import PRESETS, Pipeline
from kgrag.retrieval.systems import checked_systems, preset
from kgrag.retrieval.weighted_fusion import WeightedFusion

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
