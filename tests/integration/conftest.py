import pytest

from tests.neo4j_server import plugin


@pytest.fixture
def session(empty_neo4j):
    """A session of an administrator."""
    with plugin.driver_of(empty_neo4j) as driver, driver.session() as session:
        yield session
