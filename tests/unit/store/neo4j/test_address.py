"""Addresses of Neo4j servers: what is one, what is refused, and what is never repeated."""

import pytest

from kgrag.errors import StoreUnavailableError
from kgrag.store.neo4j.address import SCHEMES, Address, credentials, parse

SECRET = "s3cret-秘"


@pytest.mark.parametrize(
    ("location", "uri", "database", "base"),
    [
        *((f"{scheme}://graph:7687", f"{scheme}://graph:7687", "neo4j", "") for scheme in SCHEMES),
        ("bolt://localhost", "bolt://localhost", "neo4j", ""),
        ("bolt://localhost/", "bolt://localhost", "neo4j", ""),
        ("bolt://localhost:7687/policies", "bolt://localhost:7687", "policies", ""),
        ("bolt://localhost:7687/policies/", "bolt://localhost:7687", "policies", ""),
        ("bolt://[::1]:7687/policies", "bolt://[::1]:7687", "policies", ""),
        ("bolt://[::1]", "bolt://[::1]", "neo4j", ""),
        ("neo4j://a:7687/kb?policy=eu", "neo4j://a:7687?policy=eu", "kb", ""),
        ("neo4j://a?policy=eu", "neo4j://a?policy=eu", "neo4j", ""),
        ("BOLT://LocalHost:7687", "bolt://LocalHost:7687", "neo4j", ""),
        ("bolt://a:7687#energy", "bolt://a:7687", "neo4j", "energy"),
        ("neo4j://a/kb?policy=eu#E_2025", "neo4j://a?policy=eu", "kb", "E_2025"),
        ("bolt://a#" + "x" * 30, "bolt://a", "neo4j", "x" * 30),
    ],
)
def test_an_address_names_server_database_and_knowledge_base(location, uri, database, base):
    """Host, port and query are the driver's; what it shows reads the same again."""
    assert parse(location) == Address(uri, database, base)
    assert parse(str(parse(location))) == parse(location)


@pytest.mark.parametrize(
    "location",
    ["http://a:7474", "https://a", "file:///kb", "bolt:///kb", "bolt://", "bolt://:7687", "://a",
     "bolt+x://a", "sqlite:///kb", "bolt:a", "kb", "bolt://[::1", "bolt://[x]:7687",
     "bolt://a:port", "bolt://a:99999", "bolt://a:-1"],
)  # fmt: skip
def test_what_is_no_address_of_a_server_is_refused(location):
    """Brackets and ports that are a typo, too; the error shows the forms that there are."""
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
        f"bolt://neo4j#{SECRET}@graph",  # its sign makes it look like a name
        f"neo4j://graph:7687/kb?password={SECRET}",
        f"neo4j://graph:7687/kb?policy=eu&password={SECRET}",
        f"neo4j://graph:7687/kb?{SECRET}",
    ],
)
def test_a_password_in_the_address_is_refused_and_not_repeated(location):
    """Nor what may be one; the remedy names the variables of the environment."""
    with pytest.raises(StoreUnavailableError) as refused:
        parse(location)
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None
    if "graph" in location and not location.startswith("http") and "#" not in location:
        assert "graph" in str(refused.value)
        assert "NEO4J_USERNAME and NEO4J_PASSWORD" in str(refused.value)


@pytest.mark.parametrize(
    "location",
    ["bolt://a:7687", "bolt://a:7687/kb", "neo4j+s://a", "bolt://a:7687#energy", "neo4j://a/kb#x"],
)
def test_an_address_shows_what_the_user_wrote(location):
    """And reads the same again."""
    assert str(parse(location)) == location
    assert parse(str(parse(location))) == parse(location)


@pytest.mark.parametrize(
    "name",
    ["", "2025", "_a", "a-b", "a b", "节能", "a`b", "a'", "x" * 31, "a#b", "é", "a/b", "a}) //"],
)
def test_what_cannot_be_a_name_is_refused(name):
    """It becomes part of statements; the error says what may stand there."""
    with pytest.raises(StoreUnavailableError, match=r"cannot name.*at most 30"):
        parse(f"bolt://a:7687#{name}")


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
