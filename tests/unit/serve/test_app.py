"""The server as a whole: what is kept, compressed, cut off, and answered beside slow work."""

import re
import signal
import subprocess
import sys
import threading

import anyio
import pytest
from starlette.requests import Request

from kgrag.api import KnowledgeBase
from kgrag.errors import OutOfRangeError
from kgrag.serve import inputs
from tests.fixtures.policies import POLICIES
from tests.fixtures.served import served, writable

TIMELINE = "/tables/timeline?since=2000"


@pytest.fixture(scope="module")
def site(policies):
    with served(policies) as made:
        yield made


@pytest.fixture
def counted(monkeypatch):
    """Return the calls of the timeline."""
    calls = []
    plain = KnowledgeBase.rows

    def counting(tables, *given, **named):
        calls.append(named)
        return plain(tables, *given, **named)

    monkeypatch.setattr(KnowledgeBase, "rows", counting)
    return calls


def test_a_table_is_made_once_for_a_state(tmp_path, counted):
    """As a page and in the API; another language is another page, a change makes it anew."""
    with writable(tmp_path, POLICIES) as (site, desk):
        for path in (TIMELINE, "/api/timeline?since=2000"):
            first = site.get(path)
            assert site.get(path).content == first.content
            assert first.headers["cache-control"] == "private, no-cache"
        assert len(counted) == 2
        site.cookies.set("kgrag-lang", "en")
        assert 'lang="en"' in site.get(TIMELINE).text
        assert len(counted) == 3
        site.cookies.clear()
        before = site.get(TIMELINE)
        card = next(card for card in desk.base.documents() if "成都" in card.title)
        desk.base.curator().correct(card.doc_id, {"issued": "2022-06-30"})
        after = site.get(TIMELINE, headers={"if-none-match": before.headers["etag"]})
        assert after.status_code == 200
        assert "2022-06-30" in after.text
        assert "2022-06-30" not in before.text


def test_a_browser_that_has_the_page_is_told_so(site, counted):
    first = site.get(TIMELINE)
    again = site.get(TIMELINE, headers={"if-none-match": f'"x", {first.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert "default-src 'none'" in again.headers["content-security-policy"]
    assert site.get(TIMELINE, headers={"if-none-match": '"x"'}).content == first.content


def test_responses_are_compressed_where_that_is_accepted(site):
    """A stream is not: its events would be held back."""
    for path in (TIMELINE, "/documents", "/api/documents", "/static/page.css"):
        packed = site.get(path, headers={"accept-encoding": "gzip"})
        plain = site.get(path, headers={"accept-encoding": "identity"})
        assert packed.headers["content-encoding"] == "gzip"
        assert int(packed.headers["content-length"]) < len(plain.content) / 2
        assert packed.content == plain.content
    stream = {"accept": "text/event-stream", "accept-encoding": "gzip"}
    told = site.post("/api/ask", json={"question": "森林覆盖率"}, headers=stream)
    assert "content-encoding" not in told.headers


def test_static_files_are_kept_by_their_version(site):
    """The address in a page changes with the files; without a version nothing is kept."""
    page = site.get("/").text
    found = re.findall(r'"(/static/[a-z.]+)\?([0-9a-f]{16})"', page)
    assert {path for path, _ in found} == {"/static/page.css", "/static/page.js"}
    assert page.count("/static/") == len(found)
    for path, version in found:
        kept = site.get(f"{path}?{version}")
        assert kept.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert site.get(path).headers["cache-control"] == "no-store"
    assert site.get("/static/none.js?1").headers["cache-control"] == "no-store"


def test_other_pages_do_not_wait_for_slow_tables(policies, monkeypatch):
    """However many tables are asked for; questions are answered, too."""
    go, begun, ended = threading.Event(), threading.Semaphore(0), []

    def slow(_tables, *_given, **_named):
        begun.release()
        ended.append(go.wait(20))
        raise OutOfRangeError("slow")

    monkeypatch.setattr(KnowledgeBase, "rows", slow)
    with served(policies) as site:
        asking = [
            threading.Thread(target=site.get, args=(f"/tables/timeline?since={year}",))
            for year in range(1990, 1996)
        ]
        for thread in asking:
            thread.start()
        try:
            assert begun.acquire(timeout=30)
            for path in (
                "/",
                "/static/page.css",
                "/api/search?question=森林",
                "/?question=森林覆盖率",
            ):
                assert site.get(path).status_code == 200
            assert not ended
        finally:
            go.set()
            for thread in asking:
                thread.join()


def test_a_body_that_does_not_end_is_given_up(monkeypatch):
    """Whether its client is silent or has gone."""
    monkeypatch.setattr(inputs, "_BODY_S", 0.05)

    async def silent():
        await anyio.sleep_forever()

    async def gone():
        return {"type": "http.disconnect"}

    for receive in (silent, gone):
        request = Request({"type": "http", "method": "POST", "headers": []}, receive)
        with pytest.raises(OutOfRangeError, match="whole"):
            anyio.run(inputs.body_of, request)


def test_mcp_offers_no_stream_that_would_stay_open(site):
    for method in ("GET", "DELETE"):
        told = site.request(method, "/mcp", headers={"accept": "text/event-stream"})
        assert told.status_code == 405
        assert told.headers["allow"] == "POST"
    assert site.post("/mcp", content=b"x" * 1_000_001).status_code == 400


SLOW = """
import os, time
import kgrag.serve.app as served
from kgrag.serve.desk import Desk
from starlette.applications import Starlette
from starlette.routing import Route

async def slow(_request):
    print("begun", flush=True)
    return await Desk(None).run(lambda: time.sleep(300))

served._GRACE_S = 0
with served.listen("127.0.0.1", 0, has_keys=False) as (listening, address):
    ready = lambda: print(address, flush=True)
    try:
        served.serve(Starlette(routes=[Route("/", slow)]), listening, ready=ready)
    except KeyboardInterrupt:
        os._exit(130)  # as the command does
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_it_ends_while_a_page_is_made():
    """Without a word of errors; the page's client is told that it did not come."""
    with subprocess.Popen(
        [sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout
            assert process.stderr
            port = int(process.stdout.readline().decode().strip().strip("/").rpartition(":")[2])
            asking = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    f"import http.client as h; c = h.HTTPConnection('127.0.0.1', {port});"
                    "c.request('GET', '/'); print(c.getresponse().status)",
                ],
                stdout=subprocess.PIPE,
            )
            assert process.stdout.readline() == b"begun\n"
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 130
            assert process.stderr.read() == b""
            assert asking.communicate(timeout=60)[0] == b"500\n"
        finally:
            process.kill()
