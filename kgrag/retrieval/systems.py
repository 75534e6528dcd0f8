"""Retrieval pipelines by name: built in, registered by a program, or of a plugin; `NAME+ROUTE`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite
from types import MappingProxyType
from typing import TypeVar, cast

from kgrag.errors import ConfigError
from kgrag.plugins import Plugin, by_name, find
from kgrag.retrieval.grim import PRESETS, Pipeline, Postprocessor, Reranker
from kgrag.retrieval.search import Ranking, Search
from kgrag.retrieval.weighted_fusion import WeightedRetriever
from kgrag.vectors.vector import Hit

Systems = Mapping[str, Pipeline]
Step = TypeVar("Step", Reranker, Postprocessor)

NO_SYSTEMS: Systems = MappingProxyType({})


def preset(name: str, given: Systems = NO_SYSTEMS) -> Pipeline:
    """Return a pipeline by name.

    Args:
        name: Of a preset, of a registered pipeline or of a plugin; `NAME+ROUTE` adds a plugin's
            retriever to it, `NAME+ROUTE+ROUTE` two.
        given: Pipelines registered by the program, by name.

    Raises:
        ConfigError: If there is no such pipeline or retriever; lists them.
        PluginError: If the plugin is invalid.
    """
    system, *routes = name.split("+")
    pipeline = _system(system, given)
    if not routes:
        return pipeline
    return replace(pipeline, routes=(*pipeline.routes, *map(_route, routes)))


def checked_systems(given: Mapping[str, object]) -> dict[str, Pipeline]:
    """Validate the pipelines registered by a program.

    Raises:
        ConfigError: If a name is taken or invalid, or a value is no pipeline.
    """
    for name, pipeline in given.items():
        if name in PRESETS:
            raise ConfigError(f"kgrag has a system {name!r} itself: give yours another name")
        if not name or "+" in name or "," in name:
            raise ConfigError(f"a system cannot be called {name!r}: + and , join names")
        wrong = _wrong_with(pipeline)
        if wrong:
            raise ConfigError(f"the system {name!r} {wrong}")
    return cast("dict[str, Pipeline]", dict(given))


def _system(name: str, given: Systems) -> Pipeline:
    if name in given:
        return given[name]
    if name in PRESETS:
        return PRESETS[name]
    plugin = find("kgrag.systems", name, taken=PRESETS)
    if plugin is None:
        names = dict.fromkeys((*PRESETS, *given, *by_name("kgrag.systems", taken=PRESETS)))
        hint = f" ({name} is a route: grim+{name})" if name in by_name("kgrag.routes") else ""
        raise ConfigError(f"no system is called {name!r}{hint}; there are {', '.join(names)}")
    pipeline = plugin.load()
    if not isinstance(pipeline, Pipeline) or _wrong_with(pipeline):
        raise plugin.error(_wrong_with(pipeline))
    return replace(
        pipeline,
        routes=tuple(_guarded(r, plugin) for r in pipeline.routes),
        rerankers=tuple(_guarded_step(r, plugin) for r in pipeline.rerankers),
        postprocessors=tuple(_guarded_step(p, plugin) for p in pipeline.postprocessors),
    )


def _route(name: str) -> WeightedRetriever:
    plugin = find("kgrag.routes", name)
    if plugin is None:
        names = ", ".join(by_name("kgrag.routes")) or "none"
        raise ConfigError(f"no plugin has a route {name!r}; routes of plugins: {names}")
    route = plugin.load()
    if not isinstance(route, WeightedRetriever) or not callable(route.retrieve):
        raise plugin.error(f"is no WeightedRetriever, but {_kind(route)}")
    return _guarded(route, plugin)


def _guarded(route: WeightedRetriever, plugin: Plugin) -> WeightedRetriever:
    if _is_own(route.retrieve):
        return route
    retrieve: Callable[..., Ranking] = plugin.guarded(route.retrieve, Ranking)

    def checked(search: Search) -> Ranking:
        ranking = retrieve(search)
        wrong = _wrong_with_hits(ranking.hits)
        if wrong:
            raise plugin.error(f"gave {wrong}")
        return ranking

    checked.__name__ = retrieve.__name__
    return replace(route, retrieve=checked)


def _guarded_step(step: Step, plugin: Plugin) -> Step:
    return step if _is_own(step) else plugin.guarded(step, list)


def _is_own(function: object) -> bool:
    return getattr(function, "__module__", "").startswith("kgrag.")


def _wrong_with_hits(hits: Sequence[Hit]) -> str:
    scores = [score for _, score in hits]
    if not all(isfinite(score) for score in scores):
        return "a score that is no finite number"
    if len(dict(hits)) < len(hits):
        return "a chunk twice"
    if any(one < other for one, other in pairwise(scores)):
        return "hits that do not stand best first"
    return ""


def _wrong_with(pipeline: object) -> str:
    if not isinstance(pipeline, Pipeline):
        return f"is no Pipeline, but {_kind(pipeline)}"
    if not pipeline.routes or not all(isinstance(r, WeightedRetriever) for r in pipeline.routes):
        return "has routes that are no WeightedRetrievers, or none"
    steps = (pipeline.fuse, *pipeline.rerankers, *pipeline.postprocessors)
    if not all(map(callable, steps)):
        return "has a fusion, reranker or postprocessor that cannot be called"
    return ""


def _kind(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
