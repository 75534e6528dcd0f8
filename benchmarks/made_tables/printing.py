"""PDF files of written documents, by LibreOffice and by chromium."""

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

_TIMEOUT_S = 600


def print_word(files: Sequence[Path], folder: Path) -> None:
    """Print Word files into a folder by LibreOffice, all in one run.

    Raises:
        FileNotFoundError: LibreOffice is not installed.
    """
    program = _found(("soffice",), "apt-get install libreoffice-writer-nogui")
    if files:
        with tempfile.TemporaryDirectory() as profile:
            command = [program, f"-env:UserInstallation=file://{profile}", "--headless"]
            command += ["--convert-to", "pdf", "--outdir", str(folder), *map(str, files)]
            subprocess.run(command, check=True, capture_output=True, timeout=_TIMEOUT_S)


def print_html(files: Sequence[Path], folder: Path) -> None:
    """Print web pages into a folder by chromium, without its head and foot lines.

    Raises:
        FileNotFoundError: chromium is not installed.
    """
    program = _found(("chromium", "google-chrome"), "apt-get install chromium")
    for file in files:
        with tempfile.TemporaryDirectory() as profile:
            command = [program, "--headless", "--no-sandbox", f"--user-data-dir={profile}"]
            command += ["--disable-gpu", "--no-pdf-header-footer"]
            command += [f"--print-to-pdf={folder / file.stem}.pdf", file.resolve().as_uri()]
            subprocess.run(command, check=True, capture_output=True, timeout=_TIMEOUT_S)


def _found(names: Sequence[str], remedy: str) -> str:
    for name in names:
        if program := shutil.which(name):
            return program
    raise FileNotFoundError(f"{names[0]} is not installed; {remedy}")
