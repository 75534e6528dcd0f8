"""Where a Neo4j knowledge base is: its address, its database, and who we are there."""

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from kgrag.errors import StoreUnavailableError
from kgrag.store.neo4j.statements import is_base_name

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
USERNAME, PASSWORD = "NEO4J_USERNAME", "NEO4J_PASSWORD"  # names of environment variables
_DATABASE = "neo4j"
_QUERY = re.compile(r"(?:policy=\w+)?")


@dataclass(frozen=True, slots=True)
class Address:
    """A knowledge base in a database on a server or cluster.

    Attributes:
        uri: As the driver takes it; `neo4j://` asks any member of a cluster for the right one.
        database: Its name.
        base: Name of the knowledge base, where it is not the only one in the database.
    """

    uri: str
    database: str
    base: str = ""

    def __str__(self) -> str:
        """Return what the user would write."""
        parts = urlsplit(self.uri)
        path = "" if self.database == _DATABASE else f"/{self.database}"
        return urlunsplit((parts.scheme, parts.netloc, path, parts.query, self.base))


def parse(location: str) -> Address:
    """Return the address that `SCHEME://HOST[:PORT][/DATABASE][#NAME]` names.

    >>> parse("neo4j://graph:7687/policies#energy")
    Address(uri='neo4j://graph:7687', database='policies', base='energy')

    Raises:
        StoreUnavailableError: If it is invalid, contains a password, or an impossible name.
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
    if "#" in location and not is_base_name(parts.fragment):
        raise StoreUnavailableError(
            f"{_without_secret(location)}: what follows # cannot name a knowledge base: take "
            "letters (a-z, A-Z), digits and _, a letter first, at most 30, as in "
            "bolt://HOST:7687#energy"
        )
    database = parts.path.strip("/") or _DATABASE
    uri = urlunsplit((parts.scheme, parts.netloc, "", parts.query, ""))
    return Address(uri, database, parts.fragment)


def credentials() -> tuple[str, str] | None:
    """Return name and password from the environment; None where there is no password."""
    password = os.environ.get(PASSWORD)
    return (os.environ.get(USERNAME) or "neo4j", password) if password else None


def _without_secret(location: str) -> str:
    scheme, _, rest = location.partition("://")
    return f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}"
