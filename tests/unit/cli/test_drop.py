"""Deleting a whole knowledge base from the command line, without a server."""

import pytest
from click.testing import CliRunner, Result

from kgrag.cli.main import main

KB = "bolt://localhost:7687#policies"


@pytest.fixture
def dropped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was dropped of a server that holds three documents."""
    gone: list[str] = []
    monkeypatch.setattr("kgrag.store.neo4j.drop.documents_held", lambda kb: 3)
    monkeypatch.setattr("kgrag.store.neo4j.drop.drop", gone.append)
    return gone


def drop(*options: str, answer: str = "") -> Result:
    return CliRunner().invoke(main, ["drop", "--kb", KB, *options], input=answer)


def test_yes_drops_without_asking(dropped: list[str]) -> None:
    """How many documents went is said."""
    done = drop("--yes")
    assert (done.exit_code, done.stdout) == (0, f"dropped {KB}: 3 documents\n")
    assert dropped == [KB]


@pytest.mark.parametrize(
    ("answer", "gone", "told"),
    [("y\n", [KB], f"dropped {KB}: 3 documents\n"), ("n\n", [], "nothing was deleted\n")],
)
def test_who_is_there_is_asked(
    dropped: list[str], monkeypatch: pytest.MonkeyPatch, answer: str, gone: list[str], told: str
) -> None:
    """The question says how much would go, and not where programs read."""
    monkeypatch.setattr("kgrag.cli.manage._at_a_terminal", lambda: True)
    done = drop(answer=answer)
    assert done.exit_code == 0
    assert done.stdout.endswith(told)
    assert f"{KB}: 3 documents. Delete all of it?" in done.stderr
    assert dropped == gone


def test_where_nobody_is_nothing_is_dropped(dropped: list[str]) -> None:
    """A script says --yes."""
    done = drop()
    assert done.exit_code == 2
    assert "nobody is there to ask: --yes drops it" in done.stderr
    assert dropped == []


def test_a_folder_is_left_alone(tmp_path):
    """Who deletes a folder needs no kgrag for it."""
    (tmp_path / "kb").mkdir()
    done = CliRunner().invoke(main, ["drop", "--kb", str(tmp_path / "kb"), "--yes"])
    assert done.exit_code == 2
    assert "is a folder: delete it as any other" in done.stderr
    assert (tmp_path / "kb").is_dir()
