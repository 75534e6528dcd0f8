import pytest

from kgrag.cli.ingest import print_plan, print_report
from kgrag.ingestion.report import IngestReport, ModelReport, Outcome, Plan
from kgrag.llm.chat import StageUsage
from kgrag.llm.ledger import Prediction

ADDED = Outcome("a.txt", "added", "d-1")


@pytest.mark.parametrize(("n", "files"), [(1, "1 file in"), (2, "2 files in")])
def test_one_of_a_thing_is_told_as_one(capsys, n, files):
    """Files, passages, facts, summaries, calls."""
    model = ModelReport(passages=n, facts=n, summaries=n, spent={"extract": StageUsage(n, 0, 9, 9)})
    print_report(IngestReport((ADDED,) * n, 0.1, model=model, waiting=n), as_json=False)
    out, err = capsys.readouterr()

    assert files in out
    gave = "1 passage gave 1 fact and 1 summary" if n == 1 else "2 passages gave 2 facts and 2 sum"
    assert gave in out
    assert ("1 call, 9 tokens in" if n == 1 else "2 calls, 9 tokens in") in out
    assert ("1 passage of" if n == 1 else "2 passages of") in err


def test_a_report_says_what_the_indexes_took(capsys):
    """Where it is a second or more; JSON has it always."""
    print_report(IngestReport((ADDED,), 754.0, index_seconds=405.2), as_json=False)
    print_report(IngestReport((ADDED,), 1.0, index_seconds=0.4), as_json=False)
    print_report(IngestReport((ADDED,), 1.0, index_seconds=0.4), as_json=True)
    shown, short, record = capsys.readouterr().out.splitlines()

    assert "1 file in 754.0 s (405 s of it for the search indexes), 0.0 a second" in shown
    assert short == "1 file in 1.0 s: 1 added"
    assert '"seconds": 1.0, "index_seconds": 0.4' in record


def test_what_passages_gave_is_not_told_where_none_could_be_read(capsys):
    """The reason is; nothing was asked that could have given facts."""
    model = ModelReport(failed={"unavailable": 3}, unavailable="no server")
    print_report(IngestReport((ADDED,), 0.1, model=model), as_json=False)
    out, err = capsys.readouterr()

    assert "gave" not in out
    assert "the model could not be asked: no server" in err
    assert "3 passages could not be read (3 unavailable)" in err


def test_a_plan_says_what_its_sample_took(capsys):
    """It has been paid, whether the run follows or not."""
    plan = Plan(
        (ADDED,),
        5,
        passages=4,
        predictions={"extract": Prediction(3, 1, 3000, 0, 900, 1)},
        cost={"CNY": 0.5},
        sampled={"extract": StageUsage(1, 0, 1000, 300)},
        sample_cost={"CNY": 0.125},
    )
    print_plan(plan, as_json=False)

    assert capsys.readouterr().out.splitlines()[1:] == [
        "the sample took 1 call, 1,000 tokens in, 300 out; cost 0.1250 CNY",
        "extract: 3 calls, 1 more kept; about 3,000 tokens in, 900 out; by what 1 call took before",
        "4 passages would be read; cost 0.5000 CNY",
    ]


def test_a_plan_without_a_sample_tells_of_none(capsys):
    """Nothing was asked."""
    predictions = {"extract": Prediction(3, 0, 3000, 0, 900, 0)}
    print_plan(Plan((ADDED,), 5, passages=3, predictions=predictions), as_json=False)
    out = capsys.readouterr().out

    assert "the sample" not in out
    assert "by rule of thumb" in out
