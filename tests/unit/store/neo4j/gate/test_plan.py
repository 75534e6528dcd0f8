import pytest

from kgrag.store.neo4j.gate.plan import OPERATORS, check_plan


def plan(*operators, details=""):
    """Return a plan of operators, each the child of the one before."""
    first, *rest = operators
    children = [plan(*rest, details=details)] if rest else []
    return {"operatorType": f"{first}@neo4j", "args": {"Details": details}, "children": children}


def test_a_plan_of_reading_operators_passes():
    """At any depth."""
    check_plan("r", plan("ProduceResults", "Projection", "Expand(All)", "NodeByLabelScan"))


@pytest.mark.parametrize("query_type", ["w", "rw", "s", None])
def test_a_plan_of_another_type_is_refused(query_type):
    """Whatever its operators."""
    with pytest.raises(ValueError, match="only reading"):
        check_plan(query_type, plan("ProduceResults"))


def test_a_missing_plan_is_refused():
    """What cannot be seen is not run."""
    with pytest.raises(ValueError, match="only reading"):
        check_plan("r", None)


@pytest.mark.parametrize(
    "operator",
    ["LoadCSV", "ShowIndexes", "TerminateTransactions", "TransactionApply", "Create", ""],
)
def test_an_unknown_operator_is_refused_by_name(operator):
    """An operator of a later version waits until it is known."""
    assert operator not in OPERATORS
    with pytest.raises(ValueError, match=f"holds {operator}"):
        check_plan("r", plan("ProduceResults", "Apply", operator))


def test_a_procedure_in_the_plan_must_be_allowed():
    """By the name that the plan shows."""
    check_plan("r", plan("ProcedureCall", details="db.labels() :: (label :: STRING)"), {"label"})
    for details in ("dbms.x() :: ()", "db.labelsX() :: ()", "", "`db.labels`()"):
        with pytest.raises(ValueError, match="plan calls"):
            check_plan("r", plan("ProcedureCall", details=details))


def test_every_word_of_the_details_is_a_name_of_the_statement_or_known():
    """A subquery within an expression shows there only, whatever its operators."""
    hidden = "[x IN $autolist_1 | COLLECT { UNWIND [1] AS l LOAD CSV FROM 'u' AS l RETURN l }] AS y"
    with pytest.raises(ValueError, match=r"holds LOAD \(Projection\)"):
        check_plan("r", plan("Projection", details=hidden), {"x", "y", "l"})
    for word in ("CREATE", "MERGE", "SET", "DELETE", "CSV", "USE", "SHOW", "apoc", "file"):
        with pytest.raises(ValueError, match=f"holds {word}"):
            check_plan("r", plan("Projection", details=f"x.{word} AS y"), {"x", "y"})


def test_names_texts_and_what_the_server_makes_may_stand_in_the_details():
    """As long as the statement itself holds the name."""
    details = "cache[n.load], 'CREATE' AS `SET x`, getDegree((n)-[:`A B`]-()) > $autoint_0, anon_3"
    check_plan("r", plan("Projection", details=details), {"n", "load", "SET x", "A B"})


@pytest.mark.parametrize("operator", ["NodeHashJoin", "NodeLeftOuterHashJoin", "ValueHashJoin"])
def test_a_join_of_too_many_rows_is_refused(operator):
    """The server looks at no clock in it; other operators end between two rows."""
    join = plan("Filter", operator)
    join["children"][0]["args"]["EstimatedRows"] = 1.12e9
    with pytest.raises(ValueError, match=r"joins about 1,120,000,000 rows: name labels"):
        check_plan("r", join)
    join["children"][0]["args"]["EstimatedRows"] = 9e6
    check_plan("r", join)
    wide = plan("Expand(All)")
    wide["args"]["EstimatedRows"] = 1.12e9
    check_plan("r", wide)
