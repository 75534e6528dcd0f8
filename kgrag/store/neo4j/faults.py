"""Turn what the driver reports into kgrag's errors, with a remedy."""

from neo4j.exceptions import (
    AuthConfigurationError,
    AuthError,
    ClientError,
    ConfigurationError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
    WriteServiceUnavailable,
)

from kgrag.errors import StoreError, StoreUnavailableError
from kgrag.store.neo4j.address import PASSWORD, USERNAME, Address


class ConstraintError(StoreError):
    """A constraint does not let something be stored."""


# By the beginning of Neo4j's code of the error: our class, and what the user can do.
_REMEDIES: dict[str, tuple[type[StoreError], str]] = {
    "Neo.ClientError.Security.AuthenticationRateLimit": (
        StoreUnavailableError,
        "too many wrong passwords: wait a few seconds, then try again",
    ),
    "Neo.ClientError.Security": (
        StoreUnavailableError,
        f"set {USERNAME} and {PASSWORD} to a user who may read and write the database",
    ),
    "Neo.ClientError.Database.DatabaseNotFound": (
        StoreUnavailableError,
        "there is no such database: name another after the address, as in bolt://HOST:7687/NAME",
    ),
    "Neo.ClientError.Statement.AccessMode": (StoreError, "the database may only be read"),
    "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase": (
        StoreError,
        "the database may only be read: write to its primary copy",
    ),
    "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase": (
        StoreError,
        "the database may only be read: write to its primary copy",
    ),
    "Neo.ClientError.Cluster.NotALeader": (
        StoreUnavailableError,
        "this member of a cluster takes no writes: use neo4j:// in place of bolt://",
    ),
    "Neo.ClientError.Schema.ConstraintValidationFailed": (
        ConstraintError,
        "what was given contradicts what is held; nothing was stored. Where the label does not "
        "begin with Kgrag, it is a constraint of another program: drop it, or use another database",
    ),
    "Neo.TransientError.General.MemoryPoolOutOfMemoryError": (
        StoreError,
        "raise db.memory.transaction.max or server.memory.heap.max_size of the server",
    ),
    "Neo.TransientError.General.OutOfMemoryError": (
        StoreError,
        "raise server.memory.heap.max_size of the server",
    ),
}


def store_error(address: Address, exc: Exception) -> StoreError:
    """Return the error to raise for one of the driver's, or for a text that cannot be sent."""
    if isinstance(exc, UnicodeEncodeError):
        return StoreError(
            f"{address}: a text holds half a character ({exc.reason}, offset {exc.start}): "
            "save its file as UTF-8 and try again"
        )
    said = exc.message if isinstance(exc, Neo4jError) else None  # a DriverError's is a general one
    message = " ".join((said or str(exc)).split())
    code = str(getattr(exc, "code", None) or "")
    for beginning, (kind, remedy) in _REMEDIES.items():
        if code.startswith(beginning):
            return kind(f"{address}: {message}: {remedy}")
    if isinstance(exc, WriteServiceUnavailable):
        return StoreUnavailableError(
            f"{address}: takes no writes ({message}): it may only be read, or a cluster chooses "
            "its leader: use neo4j:// for a cluster, and try again later"
        )
    if isinstance(exc, ServiceUnavailable | SessionExpired | OSError):
        return StoreUnavailableError(
            f"{address}: cannot be reached ({message}): check the address and that the server "
            "runs, then try again; nothing was half written"
        )
    if isinstance(exc, AuthError | AuthConfigurationError):
        return StoreUnavailableError(f"{address}: {message}: set {USERNAME} and {PASSWORD}")
    if isinstance(exc, ConfigurationError | ValueError):
        return StoreUnavailableError(
            f"{address}: {message}: check the address, and that the server is Neo4j 5.26 or newer"
        )
    if isinstance(exc, TransientError):
        return StoreUnavailableError(f"{address}: {message}: the server is busy: try again later")
    return StoreError(f"{address}: {message}: run `kgrag verify` on the knowledge base")


FAULTS = (Neo4jError, DriverError, UnicodeEncodeError, OSError)
__all__ = ["FAULTS", "ClientError", "ConstraintError", "store_error"]
