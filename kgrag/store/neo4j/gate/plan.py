"""The second look at Cypher that others wrote: the plan that Neo4j makes of it."""

import re
from collections.abc import Collection, Iterator, Mapping

from kgrag.store.neo4j.gate.vocabulary import FUNCTIONS, PROCEDURES

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
# A join puts rows together in memory. What went on for minutes after its time was taken to be one;
# that was not seen again, and no source says when a join looks at the clock.
_JOINS = frozenset(
    {"NodeHashJoin", "NodeLeftOuterHashJoin", "NodeRightOuterHashJoin", "ValueHashJoin"}
)
_MOST_JOINED = 10_000_000  # rows, as the server estimates them; it makes 2 to 5 million a second
_PROCEDURE = re.compile(r"[\w.]+(?=\()")  # in "db.labels() :: (label :: STRING)"
_TEXT = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_QUOTED = re.compile(r"`((?:[^`]|``)+)`")
_WORD = re.compile(r"[^\W\d]\w*")
_MADE = re.compile(r"anon_\d+|auto(?:int|string|list|double|bool)_\d+|UNNAMED\d+", re.IGNORECASE)
# The words of Details beside names of the statement: keywords of clauses that read, and what the
# server calls its own. LOAD, CSV, CREATE, SET, ... can only be names there.
_WORDS = frozenset(
    {
        *("match", "optional", "unwind", "with", "return", "call", "where", "order", "by", "skip"),
        *("limit", "union", "yield", "as", "distinct", "and", "or", "xor", "not", "in", "is"),
        *("null", "true", "false", "case", "when", "then", "else", "end", "starts", "ends"),
        *(
            "contains",
            "asc",
            "ascending",
            "desc",
            "descending",
            "exists",
            "count",
            "collect",
            "any",
            "all",
            "none",
            "single",
        ),
        *("reduce", "shortestpath", "allshortestpaths", "shortest", "groups", "nan", "infinity"),
        # of indexes and counts
        *("index", "range", "text", "point", "lookup", "unique", "fulltext", "vector", "label"),
        *("cache", "cached", "getdegree", "type", "types", "node", "rel", "relationship"),
        "percentiles",
        # of repeated patterns and of what is computed once
        *("isrepeattrailunique", "runtimeconstant", "expanding", "from", "inlined", "predicates"),
        # of procedures: what they yield, and its types
        *("list", "map", "string", "integer", "float", "boolean", "path", "score", "propertykey"),
        *("relationshiptype", "nodes", "relationships"),
    }
)


def check_plan(
    query_type: str | None, plan: Mapping[str, object] | None, names: Collection[str] = ()
) -> None:
    """Refuse a plan that does more than read the graph.

    Args:
        query_type: Of the summary of EXPLAIN: r, w, rw or s.
        plan: Of the same.
        names: That the statement uses.

    Raises:
        ValueError: If it is refused; says why.
    """
    if query_type != "r" or plan is None:
        raise ValueError("it does more than read the graph: only reading is allowed")
    for operator, details, n_rows in _operators(plan):
        if operator in _JOINS and n_rows > _MOST_JOINED:
            raise ValueError(
                f"its plan joins about {n_rows:,.0f} rows: name labels, types or a property of "
                "what it looks for, or look for fewer steps at once"
            )
        if operator not in OPERATORS:
            raise ValueError(f"its plan holds {operator}, which is not known to only read")
        if operator == "ProcedureCall":
            name = _PROCEDURE.match(details)
            if name is None or name[0] not in PROCEDURES:
                raise ValueError(f"its plan calls {details.partition('(')[0]}, which is refused")
            details = details.removeprefix(name[0])
        for word in _words(details):
            if word not in names and not _is_known(word):
                raise ValueError(
                    f"its plan holds {word} ({operator}), which is not known to only read"
                )


def _words(details: str) -> Iterator[str]:
    """Yield the words of an operator's details, without those within texts and backticks.

    Subqueries in an expression show here only.
    """
    yield from _WORD.findall(_QUOTED.sub(" ", _TEXT.sub(" ", details)))


def _is_known(word: str) -> bool:
    return word.lower() in _KNOWN or _MADE.fullmatch(word) is not None


_KNOWN = _WORDS | {part for name in FUNCTIONS for part in name.split(".")}


def _operators(plan: Mapping[str, object]) -> Iterator[tuple[str, str, float]]:
    """Yield the name and details of each operator, and how many rows the server expects of it."""
    name = str(plan.get("operatorType", "")).partition("@")[0]  # "Filter@neo4j"
    arguments = plan.get("args")
    known = arguments if isinstance(arguments, Mapping) else {}
    yield name, str(known.get("Details", "")), float(known.get("EstimatedRows", 0))
    children = plan.get("children")
    for child in children if isinstance(children, list) else ():
        yield from _operators(child)
