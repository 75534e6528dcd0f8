"""Who may send a request: hosts, origins, keys."""

import pytest

from kgrag.errors import StoreUnavailableError
from kgrag.serve import guard
from kgrag.serve.desk import Desk
from kgrag.store.sqlite.store import SQLiteStore
from tests.fixtures.served import client

KEYS = ("一把钥匙", "second")
ASKED = {"question": "到2025年森林覆盖率达到多少？"}


@pytest.fixture(scope="module")
def open_desk(policies):
    with client(Desk(policies)) as made:
        yield made


@pytest.fixture
def locked(policies):
    with client(Desk(policies), keys=KEYS) as made:
        yield made


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8080", 200),
        ("localhost", 200),
        ("LOCALHOST:1", 200),
        ("[::1]:8080", 200),
        ("office", 200),
        ("evil.example", 421),  # which its owner has point to 127.0.0.1
        ("127.0.0.1.evil.example", 421),
        ("evil.example:8080@127.0.0.1", 200),  # no browser sends it; the name is 127.0.0.1
        ("[::1", 421),
        ("", 421),
    ],
)
def test_a_request_for_another_name_is_refused(open_desk, host, status):
    assert open_desk.get("/api/overview", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://127.0.0.1:8080", 200),
        ("http://127.0.0.1:9999", 403),
        ("https://evil.example", 403),
        ("null", 403),
        ("http://[", 403),
    ],
)
@pytest.mark.parametrize("path", ["/api/ask", "/v1/chat/completions", "/retrieval", "/ask"])
def test_another_sites_post_is_refused(open_desk, path, origin, status):
    body = {
        "/api/ask": ASKED,
        "/v1/chat/completions": {"messages": [{"role": "user", "content": "森林覆盖率？"}]},
        "/retrieval": {"knowledge_id": "kgrag", "query": "森林"},
        "/ask": ASKED,
    }[path]
    assert open_desk.post(path, json=body, headers={"origin": origin}).status_code == status


@pytest.mark.parametrize(
    ("site", "mode", "method", "status"),
    [
        ("same-origin", "cors", "GET", 200),
        ("none", "navigate", "GET", 200),
        ("cross-site", "navigate", "GET", 200),  # a link to a page
        ("cross-site", "no-cors", "GET", 403),  # a picture or script of another site's page
        ("same-site", "cors", "GET", 403),
        ("cross-site", "navigate", "POST", 403),  # a form
    ],
)
def test_what_another_site_causes_is_refused(open_desk, site, mode, method, status):
    headers = {"sec-fetch-site": site, "sec-fetch-mode": mode}
    path = "/api/overview" if method == "GET" else "/api/ask"
    body = ASKED if method == "POST" else None
    assert open_desk.request(method, path, json=body, headers=headers).status_code == status


@pytest.mark.parametrize(
    "path", ["/", "/documents", "/api/overview", "/openapi.json", "/v1/models", "/no/such"]
)
def test_nothing_is_answered_without_a_key(locked, path):
    assert locked.get(path).status_code == 401
    wrong = {"authorization": "Bearer wrong"}
    assert locked.get(path, headers=wrong).status_code == 401
    right = {"authorization": "bearer second"}
    assert locked.get(path, headers=right).status_code == (404 if path == "/no/such" else 200)


def test_a_browser_is_led_to_the_form_for_the_key_and_back(locked):
    asked = locked.get("/documents?words=森林", headers={"accept": "text/html"})
    assert asked.status_code == 303
    form = asked.headers["location"]
    assert form.startswith("/login?next=%2Fdocuments")
    assert locked.get(form).status_code == 200
    back = locked.post("/login", data={"key": "一把钥匙", "next": "/documents?words=森林"})
    assert back.headers["location"].startswith("/documents")
    cookie = back.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "钥匙" not in cookie
    assert locked.get("/documents").status_code == 200


def bearer(key):
    return {"authorization": f"Bearer {key}"}


def test_a_wrong_key_is_answered_after_a_while(locked, monkeypatch):
    """One after the other, from however many clients; a right key does not wait."""
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    monkeypatch.setattr("anyio.sleep", sleep)
    assert locked.get("/api/overview", headers=bearer("wrong")).status_code == 401
    assert locked.post("/login", data={"key": "wrong"}).headers["location"] == "/login?wrong=1"
    assert waited == [guard._WRONG_S] * 2
    assert locked.get("/api/overview", headers=bearer("second")).status_code == 200
    assert locked.post("/login", data={"key": "second"}).status_code == 303
    assert len(waited) == 2


@pytest.mark.parametrize(
    "wanted", ["https://evil.example/", "//evil.example/", "/\\evil.example", "evil", ""]
)
def test_the_form_leads_to_no_other_site(locked, wanted):
    back = locked.post("/login", data={"key": "second", "next": wanted})
    assert back.headers["location"] == "/"


def test_every_response_forbids_scripts_of_others(open_desk):
    for path in ("/", "/documents", "/no/such", "/static/page.js", "/api/overview"):
        policy = open_desk.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2f..%2fapi.py",
        "/original/..%2f..%2fetc%2fpasswd",
        "/original//etc/passwd",
    ],
)
def test_no_path_leads_out(open_desk, path):
    answered = open_desk.get(path)
    assert answered.status_code in (400, 404)
    assert "root:" not in answered.text
    assert "import" not in answered.text


def test_probes_need_no_key_and_no_name_and_tell_nothing(locked, monkeypatch):
    """A process that lives is not ready while its store cannot be read."""
    for path in ("/healthz", "/readyz"):
        told = locked.get(path, headers={"host": "10.1.2.3:8080"})
        assert (told.status_code, {*told.json()}) == (200, {"status", "process"})

    def broken(_store):
        raise StoreUnavailableError("the disk is gone")

    monkeypatch.setattr(SQLiteStore, "change_counter", broken)
    assert [locked.get(path).status_code for path in ("/healthz", "/readyz")] == [200, 503]
