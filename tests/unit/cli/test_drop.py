"""Deleting a whole knowledge base from the command line, without a server."""

from click.testing import CliRunner

from kgrag.cli.main import main


def test_a_folder_is_left_alone(tmp_path):
    """Who deletes a folder needs no kgrag for it."""
    (tmp_path / "kb").mkdir()
    done = CliRunner().invoke(main, ["drop", "--kb", str(tmp_path / "kb"), "--yes"])
    assert done.exit_code == 2
    assert "is a folder: delete it as any other" in done.stderr
    assert (tmp_path / "kb").is_dir()
