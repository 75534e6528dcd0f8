"""A store in a folder, with a few documents; and one with vectors alone."""

import sqlite3
from contextlib import closing

import pytest

from kgrag.store.sqlite.store import SQLiteStore
from tests.fixtures.dense_vectors import Dense

WORDS = ("绿色", "工厂", "节能", "降碳", "标准", "体系", "建设", "目标")


def sample(make, i):
    """Return a document that differs from its neighbours in its words."""
    text = "，".join(WORDS[(i + j) % len(WORDS)] for j in range(12)) + f"第{i}号"
    return make.bundle(
        f"{i:02}",
        text,
        title=f"第{i}号方案",
        headings=["第"] if i else (),
        facts=[("绿色", "修饰", "工厂"), ("节能", "属于", f"第{i}号")],
        mentions=["标准"],
        summaries=[f"摘要{i}"],
    )


@pytest.fixture
def folder(tmp_path):
    """Where the store is."""
    return tmp_path / "kb"


@pytest.fixture
def put(make):
    """Store the i-th sample document."""

    def put_sample(store, i):
        store.upsert_document(sample(make, i), source=f"/archive/{i}.txt")

    return put_sample


@pytest.fixture
def store(folder, put):
    """A store with four documents and built caches."""
    with closing(SQLiteStore.open(folder)) as opened:
        for i in range(4):
            put(opened, i)
        opened.refresh(sizes=[24])
        yield opened


@pytest.fixture
def damage(folder):
    """Run SQL on the database behind the store's back, without foreign keys."""

    def run(*statements):
        with closing(sqlite3.connect(folder / "kgrag.db", isolation_level=None)) as connection:
            for statement in statements:
                connection.execute(statement)

    return run


@pytest.fixture
def dense(tmp_path):
    """Return a maker of documents of vectors in one folder."""
    opened = []

    def make_dense(**options):
        opened.append(Dense(tmp_path / "dense", **options))
        return opened[-1]

    yield make_dense
    for one in opened:
        one.database.close()
