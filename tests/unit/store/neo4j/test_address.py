"""Addresses of Neo4j servers: what is one, what is refused, and what is never repeated."""

import pytest

from kgrag.errors import StoreUnavailableError
from kgrag.store.neo4j.address import SCHEMES, Address, credentials, parse

SECRET = "s3cret-秘"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_of_the_driver_is_taken(scheme):
    """With the database `neo4j`, where none is named."""
    assert parse(f"{scheme}://graph:7687") == Address(f"{scheme}://graph:7687", "neo4j")


@pytest.mark.parametrize(
    ("location", "uri", "database"),
    [
        ("bolt://localhost", "bolt://localhost", "neo4j"),
        ("bolt://localhost/", "bolt://localhost", "neo4j"),
        ("bolt://localhost:7687/policies", "bolt://localhost:7687", "policies"),
        ("bolt://localhost:7687/policies/", "bolt://localhost:7687", "policies"),
        ("bolt://[::1]:7687/policies", "bolt://[::1]:7687", "policies"),
        ("bolt://[::1]", "bolt://[::1]", "neo4j"),
        ("neo4j://a:7687/kb?policy=eu", "neo4j://a:7687?policy=eu", "kb"),
        ("neo4j://a?policy=eu", "neo4j://a?policy=eu", "neo4j"),
        ("BOLT://LocalHost:7687", "bolt://LocalHost:7687", "neo4j"),
    ],
)
def test_the_path_names_the_database(location, uri, database):
    """Host, port and query are the driver's."""
    assert parse(location) == Address(uri, database)


@pytest.mark.parametrize(
    "location",
    ["http://a:7474", "https://a", "file:///kb", "bolt:///kb", "bolt://", "bolt://:7687", "://a",
     "bolt+x://a", "sqlite:///kb", "bolt:a", "kb"],
)  # fmt: skip
def test_what_is_no_address_of_a_server_is_refused(location):
    """The error shows the forms that there are."""
    with pytest.raises(StoreUnavailableError, match=r"bolt://HOST:7687.*neo4j\+ssc.*folder"):
        parse(location)


@pytest.mark.parametrize(
    "location",
    [
        f"bolt://neo4j:{SECRET}@graph:7687",
        f"bolt://:{SECRET}@graph:7687/kb",
        f"neo4j+s://user@{SECRET}@graph",
        f"neo4j://{SECRET}@graph",
        f"http://neo4j:{SECRET}@graph:7687",
        f"bolt://neo4j:{SECRET}@",
        f"bolt://neo4j:{SECRET}@/kb",
        f"bolt://neo4j:a@{SECRET}@[::1]:7687",
    ],
)
def test_a_password_in_the_address_is_refused_and_not_repeated(location):
    """The remedy names the variables of the environment."""
    with pytest.raises(StoreUnavailableError) as refused:
        parse(location)
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None
    if "graph" in location and not location.startswith("http"):
        assert "graph" in str(refused.value)
        assert "NEO4J_USERNAME and NEO4J_PASSWORD" in str(refused.value)


@pytest.mark.parametrize("location", ["bolt://[::1", "bolt://[x]:7687"])
def test_an_address_that_cannot_be_parted_is_refused(location):
    """Brackets that hold no IPv6 address are a typo, not a traceback."""
    with pytest.raises(StoreUnavailableError, match="not the address"):
        parse(location)


@pytest.mark.parametrize("location", ["bolt://a:port", "bolt://a:99999", "bolt://a:-1"])
def test_an_impossible_port_is_refused(location):
    """As a typo in the address."""
    with pytest.raises(StoreUnavailableError, match="not the address"):
        parse(location)


@pytest.mark.parametrize(
    "location",
    ["bolt://a:7687", "bolt://a:7687/kb", "neo4j+s://a", "bolt://a:7687#energy", "neo4j://a/kb#x"],
)
def test_an_address_shows_what_the_user_wrote(location):
    """And reads the same again."""
    assert str(parse(location)) == location
    assert parse(str(parse(location))) == parse(location)


@pytest.mark.parametrize(
    ("location", "base"),
    [("bolt://a:7687#energy", "energy"), ("neo4j://a/kb?policy=eu#E_2025", "E_2025"),
     ("bolt://a#" + "x" * 30, "x" * 30)],
)  # fmt: skip
def test_a_name_tells_knowledge_bases_of_a_database_apart(location, base):
    """Beside the one without a name."""
    assert parse(location).base == base
    assert parse(location.partition("#")[0]).base == ""


@pytest.mark.parametrize(
    "name",
    ["", "2025", "_a", "a-b", "a b", "节能", "a`b", "a'", "x" * 31, "a#b", "é", "a/b", "a}) //"],
)
def test_what_cannot_be_a_name_is_refused(name):
    """It becomes part of statements; the error says what may stand there."""
    with pytest.raises(StoreUnavailableError, match=r"cannot name.*at most 30"):
        parse(f"bolt://a:7687#{name}")


def test_what_may_be_a_password_is_not_repeated():
    """Its sign may make it look like a name."""
    with pytest.raises(StoreUnavailableError, match="cannot name") as refused:
        parse(f"bolt://neo4j#{SECRET}@graph")
    assert SECRET not in str(refused.value)


def test_an_address_with_a_query_shows_what_the_user_wrote():
    """The database stands before the question mark."""
    location = "neo4j://a:7687/kb?policy=eu"
    assert parse(str(parse(location))) == parse(location)


@pytest.mark.parametrize(
    ("user", "password", "expected"),
    [
        (None, None, None),
        ("ann", None, None),
        ("ann", "", None),
        (None, SECRET, ("neo4j", SECRET)),
        ("", SECRET, ("neo4j", SECRET)),
        ("ann", SECRET, ("ann", SECRET)),
    ],
)
def test_credentials_come_from_the_environment(monkeypatch, user, password, expected):
    """Without a password there are none; the user is `neo4j` unless named."""
    for name, value in (("NEO4J_USERNAME", user), ("NEO4J_PASSWORD", password)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    assert credentials() == expected


@pytest.mark.parametrize("query", ["password=secret", "policy=eu&password=secret", "secret"])
def test_only_a_routing_policy_may_follow_an_address(query):
    """A password after the question mark is refused as one before the host is, and not echoed."""
    with pytest.raises(StoreUnavailableError, match="NEO4J_PASSWORD") as caught:
        parse(f"neo4j://graph:7687/kb?{query}")

    assert "secret" not in str(caught.value)
