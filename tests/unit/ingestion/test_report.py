from kgrag.ingestion.report import IngestReport, ModelReport, Outcome
from kgrag.llm.chat import StageUsage


def test_report_counts_files_and_names_those_to_look_at():
    """A document of which a passage failed is one of them, though it is stored."""
    good, bad = Outcome("a", "added"), Outcome("b", "failed", detail="broken")
    partly = Outcome("c", "added", failed_passages=2)
    report = IngestReport((good, bad, partly), 1.0)

    assert report.counts == {"added": 2, "failed": 1}
    assert report.failed == [bad, partly]


def test_model_report_adds_up_its_stages():
    """Nothing spent is nothing, not an error."""
    spent = {"extract": StageUsage(1, 0, 10, 5), "summarize": StageUsage(2, 1, 20, 6)}

    assert ModelReport(spent=spent).total == StageUsage(3, 1, 30, 11)
    assert ModelReport().total == StageUsage()
