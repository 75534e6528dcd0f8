"""The class path of a Neo4j server, as Maven resolves it, kept from one run to the next."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from filelock import FileLock

from kgrag.files.cache_folder import cache_folder

VERSION = "5.26.28"  # the one that pom.xml names
POM = Path(__file__).with_name("pom.xml")
MAVEN_SECONDS = 900  # 154 MB the first time


def classpath() -> str:
    """Return the class path of a server; the first call downloads it.

    Raises:
        RuntimeError: If Maven is missing or fails.
    """
    pom = POM.read_bytes()
    folder = cache_folder() / "neo4j-test" / VERSION / hashlib.sha256(pom).hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):
        kept = folder / "classpath.txt"
        if not _is_whole(kept):
            _resolve(kept)
        return kept.read_text("utf-8")


def _is_whole(kept: Path) -> bool:
    """Say whether everything named is still there: Maven's own folder may have been cleaned."""
    if not kept.is_file():
        return False
    return all(Path(jar).is_file() for jar in kept.read_text("utf-8").split(os.pathsep))


def _resolve(kept: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise RuntimeError(
            "a Neo4j server for tests comes with Maven, which is not installed. "
            "Remedy, on Debian and Ubuntu: apt-get install maven default-jdk-headless"
        )
    fresh = kept.with_suffix(".new")
    done = subprocess.run(
        [maven, "-q", "-B", "-f", POM, "dependency:build-classpath", f"-Dmdep.outputFile={fresh}"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=MAVEN_SECONDS, check=False,
    )  # fmt: skip
    if done.returncode or not fresh.is_file():
        raise RuntimeError(f"Maven cannot bring Neo4j: {(done.stdout + done.stderr)[-2000:]}")
    fresh.replace(kept)
