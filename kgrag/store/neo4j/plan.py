"""The second look at Cypher that others wrote: the plan that Neo4j makes of it."""

import re
from collections.abc import Iterator, Mapping

from kgrag.store.neo4j.gate import PROCEDURES

_SCANS = ("AllRelationshipsScan", "RelationshipTypeScan", "UnionRelationshipTypesScan")
_SEEKS = (
    *("RelationshipByElementIdSeek", "RelationshipByIdSeek", "RelationshipIndexContainsScan"),
    *("RelationshipIndexEndsWithScan", "RelationshipIndexScan", "RelationshipIndexSeek"),
    *("RelationshipIndexSeekByRange", "RelationshipUniqueIndexSeek"),
    "RelationshipUniqueIndexSeekByRange",
)
# The operators of Neo4j 5.26 that read the graph or combine rows; the rest write, load files, show
# settings or open transactions. One of a later version is refused until it is listed here.
OPERATORS = frozenset(
    {
        *(f"{way}{kind}" for way in ("Directed", "Undirected") for kind in (*_SCANS, *_SEEKS)),
        *(f"Partitioned{way}{k}" for way in ("Directed", "Undirected") for k in _SCANS),
        *("AllNodesScan", "IntersectionNodeByLabelsScan", "MultiNodeIndexSeek"),
        *("NodeByElementIdSeek", "NodeByIdSeek", "NodeByLabelScan", "NodeCountFromCountStore"),
        *("NodeIndexContainsScan", "NodeIndexEndsWithScan", "NodeIndexScan", "NodeIndexSeek"),
        *("NodeIndexSeekByRange", "NodeUniqueIndexSeek", "NodeUniqueIndexSeekByRange"),
        *("PartitionedAllNodesScan", "PartitionedIntersectionNodeByLabelsScan"),
        *("PartitionedNodeByLabelScan", "PartitionedNodeIndexScan", "PartitionedNodeIndexSeek"),
        *("PartitionedNodeIndexSeekByRange", "PartitionedSubtractionNodeByLabelsScan"),
        *("PartitionedUnionNodeByLabelsScan", "PartitionedUnwind"),
        *("RelationshipCountFromCountStore", "SubtractionNodeByLabelsScan"),
        *("UnionNodeByLabelsScan", "Expand(All)", "Expand(Into)", "OptionalExpand(All)"),
        *("OptionalExpand(Into)", "VarLengthExpand(All)", "VarLengthExpand(Into)"),
        *("VarLengthExpand(Pruning)", "VarLengthExpand(Pruning,BFS)"),
        *("VarLengthExpand(Pruning,BFS,All)", "VarLengthExpand(Pruning,BFS,Into)"),
        *("PathPropagatingBFS", "ProjectEndpoints", "Repeat(Trail)", "Repeat(Walk)"),
        *("BidirectionalRepeat(Trail)", "BidirectionalRepeat(Walk)", "RepeatOptions"),
        *("ShortestPath", "StatefulShortestPath(All)", "StatefulShortestPath(Into)"),
        *("TriadicBuild", "TriadicFilter", "TriadicSelection"),
        *("Anti", "AntiConditionalApply", "AntiSemiApply", "Apply", "Argument"),
        *("ArgumentTracker", "AssertSameNode", "AssertSameRelationship", "CacheProperties"),
        *("CartesianProduct", "ConditionalApply", "Distinct", "Eager", "EagerAggregation"),
        *("EmptyResult", "EmptyRow", "ExhaustiveLimit", "Filter", "LetAntiSemiApply"),
        *("LetSelectOrAntiSemiApply", "LetSelectOrSemiApply", "LetSemiApply", "Limit"),
        *("NodeHashJoin", "NodeLeftOuterHashJoin", "NodeRightOuterHashJoin", "NonFuseable"),
        *("NullifyMetadata", "Optional", "OrderedAggregation", "OrderedDistinct"),
        *("OrderedUnion", "PartialSort", "PartialTop", "PreserveOrder", "ProcedureCall"),
        *("ProduceResults", "Projection", "RemoteBatchProperties", "RollUpApply"),
        *("SelectOrAntiSemiApply", "SelectOrSemiApply", "SemiApply", "Skip", "Sort", "Top"),
        *("Top1WithTies", "Union", "Unwind", "ValueHashJoin"),
    }
)
_PROCEDURE = re.compile(r"[\w.]+(?=\()")  # in "db.labels() :: (label :: STRING)"


def check_plan(query_type: str | None, plan: Mapping[str, object] | None) -> None:
    """Refuse a plan that does more than read the graph.

    Args:
        query_type: Of the summary of EXPLAIN: r, w, rw or s.
        plan: Of the same.

    Raises:
        ValueError: If it is refused; says why.
    """
    if query_type != "r" or plan is None:
        raise ValueError("it does more than read the graph: only reading is allowed")
    for operator, details in _operators(plan):
        if operator not in OPERATORS:
            raise ValueError(f"its plan holds {operator}, which is not known to only read")
        if operator == "ProcedureCall":
            name = _PROCEDURE.match(details)
            if name is None or name[0] not in PROCEDURES:
                raise ValueError(f"its plan calls {details.partition('(')[0]}, which is refused")


def _operators(plan: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the name and details of each operator."""
    name = str(plan.get("operatorType", "")).partition("@")[0]  # "Filter@neo4j"
    arguments = plan.get("args")
    details = arguments.get("Details", "") if isinstance(arguments, Mapping) else ""
    yield name, str(details)
    children = plan.get("children")
    for child in children if isinstance(children, list) else ():
        yield from _operators(child)
