"""Downloads arrive whole and in time, or are refused with the reason."""

import dataclasses
import time

import pytest

from kgrag.embedding.pull import Limits, download
from kgrag.errors import ModelError

LIMITS = Limits(wait_s=20, max_bytes=1_000_000)
NEVER = float("inf")


def test_download_writes_the_file_and_tells_progress(hub, tmp_path):
    """The last report is the whole size; reports only grow."""
    hub.files["/f"] = bytes(range(256)) * 1000
    seen: list[tuple[int, int]] = []
    download(
        f"{hub.url}/f",
        tmp_path / "f",
        limits=LIMITS,
        deadline=NEVER,
        progress=lambda done, total: seen.append((done, total)),
    )

    assert (tmp_path / "f").read_bytes() == hub.files["/f"]
    assert seen[-1] == (256_000, 256_000)
    assert seen == sorted(seen)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (404, "/f: .*404"),
        (503, "/f: .*503"),
        ("hang", "/f: .*timed out"),
        ("stall", "/f: .*timed out"),
        ("cut", "/f: .*50 bytes.* 100"),
        ("endless", "/f: more than 1000000 bytes"),
        ("other", "/f: the hub states sha256 [0-9a-f]{64}, the file has [0-9a-f]{64}"),
    ],
)
def test_download_says_what_went_wrong(hub, tmp_path, fault, message):
    """The address stands in every complaint."""
    hub.files["/f"] = bytes(100)
    hub.faults["/f"] = fault
    limits = dataclasses.replace(LIMITS, wait_s=0.2) if fault in ("hang", "stall") else LIMITS

    with pytest.raises(ModelError, match=message):
        download(f"{hub.url}/f", tmp_path / "f", limits=limits, deadline=NEVER)


def test_download_sees_a_body_cut_short_that_says_nothing_of_its_length(hub, tmp_path):
    """The hub has stated before how long it is."""
    hub.files["/f"] = bytes(100)
    hub.faults["/f"] = "cut"
    hub.states_size = False

    with pytest.raises(ModelError, match="broke off after 50 of 100 bytes"):
        download(f"{hub.url}/f", tmp_path / "f", limits=LIMITS, deadline=NEVER)


def test_download_does_not_ask_for_a_file_that_is_too_long(hub, tmp_path):
    """What the hub states is enough to know."""
    hub.files["/f"] = bytes(100)
    limits = dataclasses.replace(LIMITS, max_bytes=99)

    with pytest.raises(ModelError, match="/f: 100 bytes, more than 99"):
        download(f"{hub.url}/f", tmp_path / "f", limits=limits, deadline=NEVER)
    assert hub.asked == []


def test_download_gives_up_at_the_deadline(hub, tmp_path):
    """A server that keeps sending does not keep us for ever."""
    hub.files["/f"] = bytes(100)
    hub.faults["/f"] = "endless"

    with pytest.raises(ModelError, match="too slow"):
        download(f"{hub.url}/f", tmp_path / "f", limits=LIMITS, deadline=time.monotonic())


def test_download_says_when_nobody_listens(hub, tmp_path):
    """A refused connection is an error of ours."""
    with pytest.raises(ModelError, match="refused"):
        download("http://127.0.0.1:9/f", tmp_path / "f", limits=LIMITS, deadline=NEVER)


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/f", "hub.example/f"])
def test_download_refuses_other_addresses(tmp_path, url):
    """An endpoint in the environment must not make us read local files."""
    with pytest.raises(ModelError, match="not a web address"):
        download(url, tmp_path / "f", limits=LIMITS, deadline=NEVER)
