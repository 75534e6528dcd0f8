"""Files by URL: the same documents as from a folder, copied once, each error with its remedy."""

from urllib.request import Request, urlopen

import pytest

from kgrag import KnowledgeBase
from kgrag.config import Config, IngestConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import IngestionError
from kgrag.ingestion.load.remote import _why
from tests.fixtures.kit import exported, write

fsspec = pytest.importorskip("fsspec")

TEXTS = {f"p{n % 3}/{n:02}.txt": f"到20{n + 20}年，建成{n + 1}个绿色园区。" for n in range(30)}
SIDECAR = "file,title\n00.txt,园区建设方案\n"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Put copies into a folder of this test."""
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "remote"


@pytest.fixture(scope="module")
def endpoint():
    """An S3 server in this process."""
    pytest.importorskip("s3fs", reason="kgrag[s3] is not installed")
    server = pytest.importorskip("moto.server", reason="moto[server] is not installed")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    yield "http://{}:{}".format(*running.get_host_and_port())
    running.stop()


@pytest.fixture
def bucket(endpoint, monkeypatch):
    """The client of an S3 with the bucket `policies`."""
    import boto3

    urlopen(Request(f"{endpoint}/moto-api/reset", method="POST"))  # what the last test left
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-to-be-stored")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    client = boto3.client("s3")
    client.create_bucket(Bucket="policies")
    fsspec.filesystem("s3").clear_instance_cache()
    return client


def put(client, texts):
    for name, text in texts.items():
        client.put_object(Bucket="policies", Key=f"a/{name}", Body=text.encode())


def ingested(folder, *paths):
    with KnowledgeBase.open(folder, embedder=HashEmbedder()) as base:
        return base.ingest(paths)


def outcomes(report):
    return {o.source.rpartition("/")[2]: (o.status, o.detail) for o in report.outcomes}


def test_a_bucket_gives_what_the_folder_gives(bucket, cache, tmp_path):
    """The export of 30 documents is the same, and the sources are URLs."""
    put(bucket, TEXTS | {"p0/metadata.csv": SIDECAR})
    for n in range(3):
        (tmp_path / "a" / f"p{n}").mkdir(parents=True)
    write(tmp_path / "a", TEXTS | {"p0/metadata.csv": SIDECAR})

    far = ingested(tmp_path / "far", "s3://policies/a")
    near = ingested(tmp_path / "near", tmp_path / "a")

    assert far.counts == near.counts == {"added": 30}
    assert exported(tmp_path / "far") == exported(tmp_path / "near")
    with KnowledgeBase.open(tmp_path / "far") as base:
        assert base.store.sources()[0].source == "s3://policies/a/p0/00.txt"
        assert base.delete("s3://policies/a/p0/00.txt")
    stored = b"".join(file.read_bytes() for file in (tmp_path / "far").glob("*.db"))
    assert b"not-to-be-stored" not in stored


def test_an_unchanged_file_is_copied_once(bucket, cache, tmp_path):
    """A second run copies what has changed, and replaces that."""
    put(bucket, {"1.txt": "一", "2.txt": "二"})
    ingested(tmp_path / "kb", "s3://policies/a/1.txt", "s3://policies/a/2.txt")
    copies = {file.name for file in cache.iterdir()}
    put(bucket, {"2.txt": "双"})

    again = ingested(tmp_path / "kb", "s3://policies/a/1.txt", "s3://policies/a/2.txt")

    assert again.counts == {"unchanged": 1, "replaced": 1}
    assert len(copies) == 2
    assert len({file.name for file in cache.iterdir()} - copies) == 1


def test_a_bucket_is_followed_and_an_outage_withdraws_nothing(bucket, cache, tmp_path, monkeypatch):
    """An object that is gone is withdrawn; where nothing answers nothing is."""
    put(bucket, {f"{n}.txt": f"第{n}份" for n in range(3)})
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as base:
        sync = base.sync("s3://policies/a")
        sync.run(sync.plan())
        bucket.delete_object(Bucket="policies", Key="a/0.txt")
        put(bucket, {"1.txt": "改了"})

        plan = sync.plan()
        sync.run(plan)

        assert plan.counts == {"changed": 1, "withdrawn": 1}
        assert base.sync("s3://policies/a").plan().counts == {}
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        fsspec.filesystem("s3").clear_instance_cache()
        with pytest.raises(IngestionError, match="cannot be reached"):
            sync.plan()
        assert len(base.documents()) == 2


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(bucket, cache, tmp_path, monkeypatch):
    """Odd keys, large files and what is not there fail alone; no key leaves the cache folder."""
    texts = {"../../x.txt": "外", "b//c.txt": "空", "big.txt": "大" * 400_000, "d.txt": "好"}
    put(bucket, texts)
    config = Config(ingest=IngestConfig(max_file_mb=1))

    with KnowledgeBase.open(tmp_path / "kb", config=config, embedder=HashEmbedder()) as base:
        report = base.ingest(["s3://policies/a", "s3://nowhere/a", "s3://policies/none"])

    found = outcomes(report)
    assert found["d.txt"][0] == "added"
    assert "rename the object" in found["x.txt"][1]
    assert "rename the object" in found["c.txt"][1]
    assert "max_file_mb" in found["big.txt"][1]
    assert "no such file, folder or bucket" in found["a"][1]
    assert "no such file, folder or bucket" in found["none"][1]
    assert not list(tmp_path.rglob("x.txt"))
    assert len(list(cache.iterdir())) == 1

    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setattr(type(fsspec.filesystem("s3")), "retries", 1)
    fsspec.filesystem("s3").clear_instance_cache()
    (failed,) = ingested(tmp_path / "kb", "s3://policies/a").outcomes
    assert "cannot be reached (EndpointConnectionError); check AWS_ENDPOINT_URL" in failed.detail


def test_a_file_that_vanishes_after_it_was_listed_fails_alone(cache, tmp_path, monkeypatch):
    """What is listed may be gone when it is read."""
    files = fsspec.filesystem("memory")
    files.pipe({"/gone/1.txt": "一".encode(), "/gone/2.txt": "二".encode()})
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as base:
        report = base.ingest(
            ["memory://gone"],
            progress=lambda file, *_: files.rm("/gone/1.txt") if file.endswith("1.txt") else None,
        )

    assert outcomes(report)["1.txt"] == ("failed", "no such file, folder or bucket; check the URL")
    assert outcomes(report)["2.txt"][0] == "added"


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (ImportError("Install s3fs"), "pip install 'kgrag[s3]'"),
        (PermissionError("Forbidden"), "AWS_PROFILE"),
        (ValueError("bad header: Credential=AKIA/secret"), "cannot be reached (ValueError)"),
    ],
)
def test_errors_have_a_remedy_and_do_not_quote(error, remedy):
    """What a client says may quote what it signed with, and is left out."""
    assert remedy in _why(error)
    assert "secret" not in _why(error)
