"""What the files for Docker must hold; `.ci/run` has Compose itself read them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPOSE = (ROOT / "docker" / "compose.yaml").read_text("utf-8")
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text("utf-8")
EXAMPLE = (ROOT / "docker" / ".env.example").read_text("utf-8")
VARIABLE = re.compile(r"\$\{(\w+)")


def settings_of(text: str) -> dict[str, str]:
    """Return the assignments of a .env file."""
    lines = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {name: value for name, _, value in lines if not name.startswith("#")}


def test_ports_are_open_to_this_machine_only():
    """Neo4j Community knows no roles: whoever reaches it and has the password may do all."""
    ports = re.findall(r'- "?([\d.:]*\d+:\d+)"?', COMPOSE)
    assert len(ports) == 2
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_password_is_asked_for_and_has_no_default():
    """Compose refuses to start without one."""
    lines = [line.strip() for line in COMPOSE.splitlines() if re.search("AUTH|PASSWORD", line)]
    assert len(lines) == 2
    assert [line for line in lines if "${NEO4J_PASSWORD:?" not in line] == []


def test_example_settings_hold_no_password_and_all_that_compose_reads():
    """A name that nobody reads, or that nobody explains, is a mistake."""
    settings = settings_of(EXAMPLE)
    assert settings["NEO4J_PASSWORD"] == ""
    assert set(settings) == set(VARIABLE.findall(COMPOSE))


def test_example_settings_are_the_defaults_of_compose():
    """Who copies the example changes nothing but the password."""
    defaults = dict(re.findall(r"\$\{(\w+):-([^}]+)\}", COMPOSE))
    assert defaults == {k: v for k, v in settings_of(EXAMPLE).items() if v}


def test_image_copies_what_is_there_and_the_context_holds():
    """The context leaves out everything else: documents, data, secrets."""
    copied = [
        name
        for line in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE)
        for name in line.split()
    ]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    lines = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert {line[1:] for line in lines if line.startswith("!")} == set(copied)
    assert "*" in lines


def test_image_runs_as_a_user_without_rights_and_without_tools_of_developers():
    """Documents come from anywhere; what reads them should be able to do little."""
    last_stage = DOCKERFILE.rpartition("FROM ")[2]
    assert re.search(r"^USER (?!root)\w+$", last_stage, re.MULTILINE)
    assert 'ENTRYPOINT ["kgrag"]' in last_stage
    assert "[dev" not in DOCKERFILE


def test_server_is_held_back_from_files_addresses_and_all_of_its_memory():
    """Should a query pass the gate that must not: the server itself refuses it."""
    for setting in (
        'db_memory_transaction_max: "${NEO4J_TRANSACTION:-512m}"',
        'db_transaction_timeout: "30m"',
        'dbms_security_allow__csv__import__from__file__urls: "false"',
        'internal_dbms_cypher__ip__blocklist: "0.0.0.0/0,::/0"',
        'server_directories_import: "/var/lib/neo4j/import"',
    ):
        assert f"      NEO4J_{setting}\n" in COMPOSE


@pytest.mark.slow
def test_environment_of_compose_makes_settings_that_neo4j_knows(new_neo4j_server):
    """The image turns `NEO4J_a_b__c` into the setting `a.b_c`; a misspelt one stops the server."""
    found = re.findall(r'NEO4J_([a-z]\w+): "(?:\$\{\w+:-)?([^"}]+)\}?"', COMPOSE)
    settings = {
        name.replace("__", "-").replace("_", ".").replace("-", "_"): value for name, value in found
    }
    assert len(settings) == 9
    own = {"server.memory.heap.max_size", "server.memory.pagecache.size",
           "dbms.usage_report.enabled"}  # fmt: skip
    assert own < set(settings), "a server of the tests has these as well, so they are known"
    server = new_neo4j_server(settings=[f"{k}={v}" for k, v in settings.items() if k not in own])
    assert server.running
