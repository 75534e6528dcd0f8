"""The HTTP API."""

import json
import threading
import time
from io import BytesIO
from typing import Any

import openpyxl
import pytest

from kgrag.answer.address import Address
from kgrag.errors import BusyError
from kgrag.serve.desk import Desk
from tests.fixtures.served import client, events, served

QUESTION = "到2025年四川省森林覆盖率达到多少？"
SAID = [{"role": "user", "content": QUESTION}]


@pytest.fixture(scope="module")
def api(policies):
    with served(policies) as made:
        yield made


def test_an_answer_has_its_citations_checked_and_addressed(api, policies):
    told = api.post("/api/ask", json={"question": QUESTION}).json()
    assert "41%" in told["text"]
    (cited,) = told["citations"]
    assert cited["exact"] is True
    assert cited["reference"].startswith("《四川省绿色发展实施方案》（川府发〔2022〕3号）")
    assert cited["issuers"] == ["四川省人民政府"]
    at = Address.parse(cited["address"])
    (document,) = policies.store.documents([at.document])
    assert document.text[at.start : at.end] == cited["quote"]


def test_the_address_of_a_citation_leads_to_it_in_api_and_page(api):
    (cited,) = api.post("/api/ask", json={"question": QUESTION}).json()["citations"]
    page = cited["url"].removeprefix("http://127.0.0.1:8080")
    shown = api.get(page)
    assert f'<mark class="quote" id="quote">{cited["quote"][:9]}' in shown.text
    told = api.get("/api/read", params={"document": cited["address"]}).json()
    assert told["text"] == cited["quote"]
    assert told["url"] == cited["url"]
    assert told["reference"] == cited["reference"]


def test_an_answer_comes_as_events_too(api):
    stream = {"accept": "text/event-stream"}
    answered = api.post("/api/ask", json={"question": QUESTION}, headers=stream)
    assert answered.headers["content-type"].startswith("text/event-stream")
    ((name, data),) = events(answered.text)
    assert name == "answer"
    assert json.loads(data) == api.post("/api/ask", json={"question": QUESTION}).json()


def test_a_table_is_saved_as_a_workbook(api):
    asked = {"indicator": "森林覆盖率", "form": "xlsx"}
    saved = api.get("/api/targets", params=asked)
    assert saved.headers["content-disposition"] == 'attachment; filename="kgrag-targets.xlsx"'
    sheet = openpyxl.load_workbook(BytesIO(saved.content))["指标数值"]
    values = [cell.value for row in sheet.iter_rows() for cell in row]
    assert 41 in values


@pytest.mark.parametrize(
    ("method", "path", "given", "status", "says"),
    [
        ("POST", "/api/ask", {}, 400, "question is missing"),
        ("POST", "/api/ask", {"question": "森林", "top": 3}, 400, "top"),
        ("POST", "/api/ask", {"question": "森林", "as_of": "gestern"}, 400, "a date is given as"),
        ("POST", "/api/ask", {"question": "林" * 5000}, 400, "at most 4,000"),
        ("POST", "/api/ask", {"question": "森林", "system": "no"}, 400, "no"),
        ("POST", "/api/ask", {"question": "森林", "writer": "model"}, 400, "model"),
        ("GET", "/api/search", {"question": "森林", "top_k": "0"}, 400, "top_k"),
        ("GET", "/api/search", {"question": "森林", "year": "x"}, 400, "years are given"),
        ("GET", "/api/read", {"document": "none"}, 404, "none"),
        ("GET", "/api/read", {"document": "none:1-2"}, 404, "none"),
        ("GET", "/api/none", {}, 404, "nothing at"),
        ("GET", "/api/compare", {}, 400, "indicator"),
        ("GET", "/api/graph", {"entity": "不存在的实体"}, 404, "不存在的实体"),
    ],
)
def test_what_cannot_be_answered_says_why(api, method, path, given, status, says):
    body = {"json": given} if method == "POST" else {}
    lang = {"lang": "en"} | ({} if body else given)
    told = api.request(method, path, params=lang, **body)
    assert told.status_code == status, told.text
    assert says in told.json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "given", "name"),
    [
        ("GET", "/api/targets", {"indicatr": "GDP"}, "indicatr"),
        ("GET", "/api/cites", {"document": "四川省绿色发展实施方案", "region": "四川"}, "region"),
        ("GET", "/api/who", {"agency": "林业局", "as_of": "2020"}, "as_of"),
        ("GET", "/api/documents", {"regions": "四川"}, "regions"),
        ("GET", "/api/search", {"question": "森林", "topk": "3"}, "topk"),
        ("GET", "/api/graph", {"entity": "森林覆盖率", "hop": "2"}, "hop"),
        ("GET", "/api/problems", {"kind": "unread"}, "kind"),
        ("GET", "/api/overview", {"regions": "四川"}, "regions"),
        ("POST", "/api/ask?regions=云南", {"question": QUESTION}, "regions"),
        (
            "POST",
            "/v1/chat/completions",
            {"messages": SAID, "kgrag": {"regions": "云南"}},
            "regions",
        ),
    ],
)
def test_a_condition_that_there_is_not_is_named(api, method, path, given, name):
    """Ignored, it would give everything."""
    told = api.request(method, path, **{"json" if method == "POST" else "params": given})
    assert told.status_code == 400
    assert name in told.json()["error"]["message"]


def test_a_link_may_say_which_assistant_showed_it(api):
    assert api.get("/api/documents?utm_source=chatgpt.com").status_code == 200


def test_a_body_that_is_too_long_or_no_json_is_refused(api):
    assert api.post("/api/ask", content=b"x" * 1_000_001).status_code == 400
    assert api.post("/api/ask", content=b"{").status_code == 400
    half = {"question": "\ud800"}
    body = json.dumps(half).encode()
    assert api.post("/api/ask", content=body).status_code == 400


SLOW = "/api/search?question=森林"


class Slow:
    """A knowledge base that waits for a signal."""

    def __init__(self):
        self.go = threading.Event()

    def search(self, *_, **__):
        """Wait, and fail."""
        assert self.go.wait(30)
        raise BusyError("counted")


def test_what_does_not_fit_is_told_to_come_again():
    slow: Any = Slow()
    desk = Desk(slow, at_once=1, waiting=1)
    with client(desk) as made:
        told = []
        asking = [
            threading.Thread(target=lambda: told.append(made.get(SLOW).json())) for _ in range(2)
        ]
        for thread in asking:
            thread.start()
        until = time.monotonic() + 30
        while desk._limiter.statistics().tasks_waiting < 1 and time.monotonic() < until:
            time.sleep(0.01)
        refused = made.get(SLOW)
        streamed = made.post("/ask", data={"question": "森林"})
        slow.go.set()
        for thread in asking:
            thread.join()
    assert refused.status_code == streamed.status_code == 503
    assert refused.headers["retry-after"] == "2"
    assert [one["error"]["message"] for one in told] == ["counted", "counted"]


@pytest.mark.parametrize(
    ("path", "given", "says"),
    [
        ("/api/ask", {}, "缺少 question"),
        ("/api/ask", {"question": "森林", "top": 3}, "没有名为“top”的条件"),
        ("/api/ask", {"question": "森林", "as_of": "gestern"}, "日期应写成 2022、"),
        ("/api/ask", {"question": "林" * 5000}, "问题有 5,000 个字符"),
        ("/api/ask", {"question": "森林", "top_k": 0}, "top_k 最小为 1"),
        ("/api/ask", {"question": "森林", "top_k": 201}, "top_k 最大为 200"),
        ("/api/ask", {"question": "森林", "top_k": "x"}, "top_k 应为整数"),
        ("/api/ask", {"question": "森林", "top_k": 1.5}, "top_k 应为整数"),
        ("/api/ask", {"question": "森林", "in_force": "x"}, "in_force 应为 true 或 false"),
        ("/api/ask", {"question": ["x"]}, "question 应为文字"),
        ("/api/ask", {"question": "森林", "region": 3}, "region 的类型不对"),
        ("/api/ask", {"question": "森林", "region": ["x"] * 201}, "region 最多 200 个值"),
        ("/api/ask", {"question": "森林", "history": ["x"]}, "history.0 的类型不对"),
        (
            "/api/ask",
            {"question": "森林", "writer": "x"},
            "writer 的可选值为 '', 'model' or 'quotes'",
        ),
        ("/api/ask", "{", "请求不是 JSON："),
        ("/api/compare", {}, "缺少 indicator"),
    ],
)
def test_what_is_wrong_with_a_request_is_said_in_its_language(api, path, given, says):
    """Chinese unless `lang` says otherwise, also what pydantic finds."""
    sent = {"content": given} if isinstance(given, str) else {"json": given}
    told = api.post(path, **sent)
    assert told.status_code == 400
    assert told.json()["error"]["message"].startswith(says)
