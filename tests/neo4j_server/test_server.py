"""The server that tests start: it ends with them, and is wiped between them."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.neo4j_server.plugin import driver_of, refuse_to_wipe_what_is_not_ours, wipe

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]

START = """
import sys, time
from pathlib import Path
from tests.neo4j_server.server import Neo4jServer
server = Neo4jServer(Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
time.sleep(600)
"""


def test_server_ends_with_the_process_that_started_it_even_when_killed(tmp_path, neo4j_server):
    """Nothing stays behind an interrupted test run."""
    if neo4j_server is None:
        pytest.skip("tests start no server beside KGRAG_TEST_NEO4J_URI")
    command = [sys.executable, "-c", START, str(tmp_path / "neo4j")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        java = int(parent.stdout.readline())
        os.kill(java, 0)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert ended(java)


def ended(pid: int) -> bool:
    """Wait until a process is gone, or is nothing but a line in its adopter's table."""
    for _ in range(100):
        stat = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
        ).stdout
        if not stat.strip() or stat.startswith("Z"):
            return True
        time.sleep(0.1)
    return False


def test_wipe_leaves_nothing_but_lookup_indexes(empty_neo4j):
    """Nodes, constraints and indexes of every kind go."""
    with driver_of(empty_neo4j) as driver, driver.session() as session:
        for statement in (
            "CREATE CONSTRAINT FOR (n:Trial) REQUIRE n.id IS UNIQUE",
            "CREATE CONSTRAINT FOR ()-[r:TRIED]-() REQUIRE r.id IS UNIQUE",
            "CREATE FULLTEXT INDEX `odd name` FOR (n:Trial) ON EACH [n.text]",
            "CREATE (:KgragKnowledgeBase)-[:TRIED {id: 1}]->(:Trial {id: 1})",
        ):
            session.run(statement).consume()
        wipe(session)
        assert session.run("MATCH (n) RETURN n").values() == []
        assert session.run("SHOW CONSTRAINTS YIELD name").values() == []
        assert session.run("SHOW INDEXES YIELD type").value() == ["LOOKUP", "LOOKUP"]


def test_wipe_of_a_users_server_asks_for_a_knowledge_base(empty_neo4j):
    """Whatever else is on a server is somebody's work."""
    with driver_of(empty_neo4j) as driver, driver.session() as session:
        refuse_to_wipe_what_is_not_ours(session)
        session.run("CREATE (:Work)").consume()
        with pytest.raises(pytest.fail.Exception, match="1 nodes and no knowledge base"):
            refuse_to_wipe_what_is_not_ours(session)
        session.run("CREATE (:KgragKnowledgeBase)").consume()
        refuse_to_wipe_what_is_not_ours(session)
