"""Commands as a user types them, in a folder with settings and a knowledge base."""

from click.testing import CliRunner

from kgrag.cli.main import main


def kgrag(folder, *words, typed=None, language="en"):
    """Run a command with the folder's settings."""
    told = map(str, ("--config", folder / "kgrag.toml", *words))
    return CliRunner().invoke(main, [*told], input=typed, env={"KGRAG_LANG": language})


def run(folder, *words, **more):
    """Run a command on the folder's knowledge base."""
    return kgrag(folder, *words, "--kb", folder / "kb", **more)


def ingested(folder, texts, model="hash"):
    """Ingest texts, by the names of their files; return the folder."""
    (folder / "kgrag.toml").write_text(f'[embedding]\nmodel = "{model}"\n', "utf-8")
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")
    done = run(folder, "ingest", *(folder / f"{name}.txt" for name in texts))
    assert done.exit_code == 0, done.output
    return folder
