"""A real Neo4j Community server, Neo4j Browser included, that ends with the tests at the latest."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from tests.neo4j_server.classpath import classpath

START_SECONDS = 180  # 8 s on a free machine
STOP_SECONDS = 60
HOST = "127.0.0.1"
# As the scripts of Neo4j 5 start it, and, as no server lives long here, with a compiler that
# optimises less and one thread that collects garbage: half the work, for the same answers. All
# that is compiled is kept: of the 48 MB that such a compiler has, it would throw out code and
# compile it again and again, a quarter of the server's whole work.
JAVA_OPTIONS = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:ReservedCodeCacheSize=256m"),
)
# Its standard input ends when the process that holds the other end does, however that came.
WATCH = 'cat; kill -9 "$1"'


class Neo4jServer:
    """A server of its own process group on free ports of this machine.

    The JVM is killed when this process ends, in whatever way.

    Args:
        home: A folder that holds everything of the server; it is made if missing.
        password: Of the user neo4j, at least 8 characters; without one, nobody is asked.
        settings: More lines for neo4j.conf.
        heap: Of the JVM, as Java writes it.
        memory: Of a transaction; 0 for no limit.

    Attributes:
        uri: bolt://…
        http: http://…; Neo4j Browser is at `/browser/` below it.
    """

    def __init__(
        self,
        home: Path,
        *,
        password: str | None = None,
        settings: Sequence[str] = (),
        heap: str = "1g",
        memory: str = "256m",
    ) -> None:
        self.home = home
        self.password = password
        self.settings = tuple(settings)
        self.heap = heap
        self.memory = memory
        self.options = (*JAVA_OPTIONS, f"-Xms{heap}", f"-Xmx{heap}")
        self.bolt_port, self.http_port = free_ports(2)
        self.uri = f"bolt://{HOST}:{self.bolt_port}"
        self.http = f"http://{HOST}:{self.http_port}"
        self._java: subprocess.Popen[bytes] | None = None
        self._watch: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether the JVM lives."""
        return self._java is not None and self._java.poll() is None

    @property
    def pid(self) -> int | None:
        """Of the JVM, if it was started."""
        return None if self._java is None else self._java.pid

    @property
    def log(self) -> Path:
        """What the server writes to its standard output, since its last start."""
        return self.home / "console.log"

    def start(self) -> None:
        """Start, or start again on what the folder holds, and wait until it answers.

        Raises:
            RuntimeError: If Java or the server is not to be had, or does not start.
        """
        if self.running:
            return
        java, path = _java(), classpath()
        self._write_configuration()
        if self.password and not (self.home / "data" / "databases").exists():
            self._set_password(java, path)
        server = ("org.neo4j.server.CommunityEntryPoint", "--console-mode")
        folders = (f"--home-dir={self.home}", f"--config-dir={self.home / 'conf'}")
        with self.log.open("wb") as log:
            self._java = subprocess.Popen(
                [java, *self.options, "-cp", path, *server, *folders],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self._watch = subprocess.Popen(
            ["sh", "-c", WATCH, "sh", str(self._java.pid)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self._wait()

    def stop(self) -> None:
        """End in good order: what is committed is in the store files."""
        if self._java is None:
            return
        self._java.terminate()
        try:
            self._java.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self.kill()

    def kill(self) -> None:
        """End at once, as by a power cut: what is committed is in the transaction log."""
        if self._java is None:
            return
        self._java.kill()
        self._java.wait()
        self._java = None
        if self._watch is not None:
            self._watch.kill()
            self._watch.communicate()
            self._watch = None

    def _write_configuration(self) -> None:
        for name in ("conf", "data", "logs", "plugins", "import", "lib", "run"):
            (self.home / name).mkdir(parents=True, exist_ok=True)
        lines = (
            f"server.default_listen_address={HOST}",
            f"server.bolt.listen_address={HOST}:{self.bolt_port}",
            f"server.bolt.advertised_address={HOST}:{self.bolt_port}",
            f"server.http.listen_address={HOST}:{self.http_port}",
            f"server.http.advertised_address={HOST}:{self.http_port}",
            "server.https.enabled=false",
            f"dbms.security.auth_enabled={'true' if self.password else 'false'}",
            f"server.memory.heap.max_size={self.heap}",
            "server.memory.pagecache.size=256m",
            f"db.memory.transaction.max={self.memory}",
            "dbms.usage_report.enabled=false",
            "db.tx_log.preallocate=false",  # 256 MB for each server
            "dbms.cypher.min_replan_interval=1h",  # what is small and changes all the time
            *self.settings,
        )
        conf = self.home / "conf" / "neo4j.conf"
        conf.write_text("".join(f"{line}\n" for line in lines), "utf-8")

    def _set_password(self, java: str, path: str) -> None:
        """Leave it in a file that the server reads on its first start."""
        done = subprocess.run(
            [java, "-cp", path, "org.neo4j.cli.AdminTool",
             "dbms", "set-initial-password", str(self.password)],
            env={**os.environ, "NEO4J_HOME": str(self.home), "NEO4J_CONF": str(self.home / "conf")},
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=START_SECONDS, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"Neo4j refuses the password: {(done.stdout + done.stderr)[-500:]}")

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while b"Started." not in self.log.read_bytes():
            if not self.running or time.monotonic() > deadline:
                self.kill()
                said = self.log.read_text("utf-8", "replace")[-2000:]
                raise RuntimeError(f"Neo4j does not start in {self.home}:\n{said}")
            time.sleep(0.1)


def free_ports(n: int) -> list[int]:
    """Return ports of this machine that nobody listens on."""
    sockets = [socket.create_server((HOST, 0)) for _ in range(n)]
    ports = [int(s.getsockname()[1]) for s in sockets]
    for s in sockets:
        s.close()
    return ports


def _java() -> str:
    java = shutil.which("java")
    if java is None:
        raise RuntimeError(
            "a Neo4j server for tests needs Java 17 or 21, which is not installed. "
            "Remedy, on Debian and Ubuntu: apt-get install maven default-jdk-headless"
        )
    return java
