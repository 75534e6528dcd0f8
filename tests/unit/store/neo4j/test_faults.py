"""What the driver reports, as errors of ours with a remedy."""

import re

import pytest
from neo4j.exceptions import (
    AuthConfigurationError,
    AuthError,
    ClientError,
    ConfigurationError,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from kgrag.errors import StoreError, StoreUnavailableError
from kgrag.store.neo4j.address import parse
from kgrag.store.neo4j.faults import _REMEDIES, FAULTS, ConstraintError, store_error

ADDRESS = parse("bolt://graph:7687/kb")
SECRET = "s3cret-秘"


def server_error(code, message="it said so"):
    """Return the error that the driver makes of a server's."""
    return Neo4jError._hydrate_neo4j(code=code, message=message)


CODES = [
    ("Neo.ClientError.Security.AuthenticationRateLimit", StoreUnavailableError, "wait a few"),
    ("Neo.ClientError.Security.Unauthorized", StoreUnavailableError, "NEO4J_PASSWORD"),
    ("Neo.ClientError.Security.Forbidden", StoreUnavailableError, "may read and write"),
    ("Neo.ClientError.Security.CredentialsExpired", StoreUnavailableError, "NEO4J_USERNAME"),
    ("Neo.ClientError.Database.DatabaseNotFound", StoreUnavailableError, "HOST:7687/NAME"),
    ("Neo.ClientError.Cluster.NotALeader", StoreUnavailableError, "use neo4j://"),
    ("Neo.ClientError.Statement.AccessMode", StoreError, "may only be read"),
    ("Neo.ClientError.General.ForbiddenOnReadOnlyDatabase", StoreError, "primary copy"),
    ("Neo.ClientError.General.WriteOnReadOnlyAccessDatabase", StoreError, "primary copy"),
    ("Neo.ClientError.Schema.ConstraintValidationFailed", ConstraintError, "nothing was stored"),
    (
        "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
        StoreError,
        "db.memory.transaction.max",
    ),
    ("Neo.TransientError.General.OutOfMemoryError", StoreError, "heap.max_size"),
    ("Neo.TransientError.Transaction.DeadlockDetected", StoreUnavailableError, "try again later"),
    ("Neo.TransientError.Transaction.LockAcquisitionTimeout", StoreUnavailableError, "busy"),
    ("Neo.ClientError.Statement.SyntaxError", StoreError, "kgrag verify"),
    ("Neo.DatabaseError.General.UnknownError", StoreError, "kgrag verify"),
    ("Neo.ClientError.Procedure.ProcedureCallFailed", StoreError, "kgrag verify"),
]


@pytest.mark.parametrize(("code", "kind", "remedy"), CODES)
def test_a_code_of_the_server_has_its_class_and_remedy(code, kind, remedy):
    """With the address, and the server's own words on one line."""
    error = store_error(ADDRESS, server_error(code, "it\n  said\nso"))

    assert type(error) is kind
    assert str(error).startswith("bolt://graph:7687/kb: it said so")
    assert remedy in str(error)


def test_every_remedy_is_tried():
    """A new one comes with a code that it is for."""
    tried = {next((b for b in _REMEDIES if code.startswith(b)), None) for code, _, _ in CODES} - {
        None
    }
    assert tried == set(_REMEDIES)


def test_a_longer_code_goes_before_a_shorter():
    """Otherwise the first that fits would hide the second."""
    beginnings = list(_REMEDIES)
    for i, beginning in enumerate(beginnings):
        assert not any(later.startswith(beginning) for later in beginnings[i + 1 :])


REACHED = "cannot be reached .*check the address.*try again"


@pytest.mark.parametrize(
    ("exc", "kind", "told"),
    [
        (ServiceUnavailable("Couldn't connect"), StoreUnavailableError, REACHED),
        (SessionExpired("the leader changed"), StoreUnavailableError, REACHED),
        (ConnectionRefusedError(111, "Connection refused"), StoreUnavailableError, REACHED),
        (TimeoutError("timed out"), StoreUnavailableError, REACHED),
        # It may be done again: every write leaves the same when it is done twice.
        (IncompleteCommit("cut off"), StoreUnavailableError, REACHED),
        (AuthError("no"), StoreUnavailableError, "NEO4J_USERNAME and NEO4J_PASSWORD"),
        (AuthConfigurationError("no"), StoreUnavailableError, "NEO4J_USERNAME and NEO4J_PASSWORD"),
        (ConfigurationError("no routing"), StoreUnavailableError, "no routing: check the address"),
        (ValueError("no such host"), StoreUnavailableError, "no such host: check the address"),
        (ClientError("?"), StoreError, "graph:7687/kb: .*verify"),
        (TransientError("?"), StoreUnavailableError, "graph:7687/kb: .*try again"),
    ],
)
def test_an_error_without_a_code_has_its_class_and_remedy(exc, kind, told):
    """Of the driver, or of a server that it does not know."""
    error = store_error(ADDRESS, exc)
    assert type(error) is kind
    assert re.search(told, str(error))


def test_half_a_character_is_told_with_its_place():
    """A text that is no Unicode cannot be sent."""
    with pytest.raises(UnicodeEncodeError) as caught:
        "节\ud800能".encode()
    error = store_error(ADDRESS, caught.value)

    assert type(error) is StoreError
    assert re.search("half a character.*offset 1.*UTF-8", str(error))
    assert str(error).isprintable()


@pytest.mark.parametrize(
    "exc",
    [
        server_error("Neo.ClientError.Security.Unauthorized", "wrong password"),
        AuthError("wrong password"),
        ServiceUnavailable("graph:7687"),
    ],
)
def test_passwords_are_not_repeated(monkeypatch, exc):
    """Only the variable that holds it is named."""
    monkeypatch.setenv("NEO4J_PASSWORD", SECRET)
    assert SECRET not in str(store_error(ADDRESS, exc))


def test_all_faults_of_the_driver_are_caught():
    """What `with` a connection raises is one of these, or a mistake of ours."""
    for kind in (Neo4jError, ServiceUnavailable, SessionExpired, IncompleteCommit, AuthError,
                 ConfigurationError, UnicodeEncodeError, ConnectionResetError):  # fmt: skip
        assert issubclass(kind, FAULTS)
    assert not issubclass(KeyError, FAULTS)
    assert not issubclass(ValueError, FAULTS)
