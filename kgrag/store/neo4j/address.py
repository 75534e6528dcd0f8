"""Where a Neo4j knowledge base is: its address, its database, and who we are there."""

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from kgrag.errors import StoreUnavailableError

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
USERNAME, PASSWORD = "NEO4J_USERNAME", "NEO4J_PASSWORD"  # names of environment variables
_DATABASE = "neo4j"
_QUERY = re.compile(r"(?:policy=\w+)?")


@dataclass(frozen=True, slots=True)
class Address:
    """A database on a server or cluster.

    Attributes:
        uri: As the driver takes it; `neo4j://` asks any member of a cluster for the right one.
        database: Its name.
    """

    uri: str
    database: str

    def __str__(self) -> str:
        """Return what the user would write."""
        if self.database == _DATABASE:
            return self.uri
        parts = urlsplit(self.uri)
        return urlunsplit((parts.scheme, parts.netloc, f"/{self.database}", parts.query, ""))


def is_address(location: str) -> bool:
    """Return whether a place is an address rather than a folder.

    >>> is_address("bolt://localhost:7687"), is_address("./kb")
    (True, False)
    """
    return "://" in location


def parse(location: str) -> Address:
    """Return the address that `SCHEME://HOST[:PORT][/DATABASE]` names.

    >>> parse("neo4j://graph:7687/policies")
    Address(uri='neo4j://graph:7687', database='policies')

    Raises:
        StoreUnavailableError: If it is none, or holds a password.
    """
    try:
        parts = urlsplit(location)
        is_server = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets around what is no IPv6 address; a port that is no number
        is_server = False
    if not is_server:
        raise StoreUnavailableError(
            f"{_without_secret(location)}: not the address of a Neo4j server: write "
            "bolt://HOST:7687, neo4j://HOST:7687 (cluster) or one of the encrypted forms "
            f"{', '.join(s for s in SCHEMES if '+' in s)}; or the folder of a knowledge base"
        )
    if "@" in parts.netloc or not _QUERY.fullmatch(parts.query):
        raise StoreUnavailableError(
            f"{_without_secret(location)}: name and password do not belong into the address, where "
            f"other programs can read them: set {USERNAME} and {PASSWORD}; only ?policy=NAME may "
            "follow it"
        )
    database = parts.path.strip("/") or _DATABASE
    return Address(urlunsplit((parts.scheme, parts.netloc, "", parts.query, "")), database)


def credentials() -> tuple[str, str] | None:
    """Return name and password from the environment; None where there is no password."""
    password = os.environ.get(PASSWORD)
    return (os.environ.get(USERNAME) or "neo4j", password) if password else None


def _without_secret(location: str) -> str:
    scheme, _, rest = location.partition("://")
    return f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}"
