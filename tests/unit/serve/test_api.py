"""The HTTP API."""

import json
import re
import threading
import time
from io import BytesIO
from typing import Any

import openpyxl
import pytest
from openai.types import chat

from kgrag.answer.address import Address
from kgrag.errors import BusyError
from kgrag.serve.desk import Desk
from kgrag.statements.selection import Selection
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
    told = api.get(f"/api{page}").json()
    assert told["citation"]["quote"] == cited["quote"]
    assert told["url"] == cited["url"]
    assert told["reference"] == cited["reference"]


def test_an_answer_comes_as_events_too(api):
    stream = {"accept": "text/event-stream"}
    answered = api.post("/api/ask", json={"question": QUESTION}, headers=stream)
    assert answered.headers["content-type"].startswith("text/event-stream")
    ((name, data),) = events(answered.text)
    assert name == "answer"
    assert json.loads(data) == api.post("/api/ask", json={"question": QUESTION}).json()


def test_an_error_is_the_last_event(api):
    stream = {"accept": "text/event-stream"}
    body = {"question": QUESTION, "regions": ["火星"]}
    ((name, data),) = events(api.post("/api/ask", json=body, headers=stream).text)
    assert name == "error"
    assert json.loads(data)["type"] == "NotFoundError"


def test_filters_reach_the_search(api):
    everywhere = api.get("/api/search", params={"question": "森林覆盖率"}).json()["results"]
    there = {"question": "森林覆盖率", "regions": "成都"}
    within = api.get("/api/search", params=there).json()["results"]
    assert {hit["title"] for hit in within} == {"成都市绿色发展工作方案"}
    assert len({hit["title"] for hit in everywhere}) > 1


def test_documents_are_listed_with_their_standing(api, policies):
    told = api.get("/api/documents").json()
    assert told["of"] == len(told["documents"]) == policies.counts().documents
    few = api.get("/api/documents", params={"words": "川府发"}).json()
    (card,) = few["documents"]
    assert card["title"] == "四川省绿色发展实施方案"
    assert few["of"] == told["of"]
    outline = api.get(f"/api/documents/{card['doc_id']}").json()["outline"]
    assert [h["text"] for h in outline][:2] == ["一、发展基础", "二、主要目标"]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("targets", {"indicator": "森林覆盖率"}),
        ("compare", {"indicator": "森林覆盖率", "by": "document"}),
        ("duties", {"organ": "林业局"}),
        ("timeline", {}),
        ("conflicts", {}),
        ("cites", {"document": "四川省绿色发展实施方案"}),
        ("cited_by", {"document": "绿色发展行动方案"}),
        ("basis", {"document": "四川省绿色发展实施方案"}),
        ("digest", {"old": "四川省绿色发展实施方案", "new": "成都市绿色发展工作方案"}),
    ],
)
def test_every_table_has_the_rows_that_python_has(api, policies, name, given):
    told = api.get(f"/api/tables/{name}", params=given)
    assert told.status_code == 200, told.text
    names = {"old": "document", "organ": "agency"}
    fields = {names.get(key, key): value for key, value in given.items()}
    made = policies.rows(Selection(kind=name, **fields))
    rows = told.json()["rows"]
    assert len(rows) == len(made.rows)
    addresses = [[s["address"] for s in row["sources"]] for row in rows]
    assert addresses == [[s.address for s in row.sources] for row in made.rows]


def test_a_table_is_saved_as_a_workbook(api):
    asked = {"indicator": "森林覆盖率", "form": "xlsx"}
    saved = api.get("/api/tables/targets", params=asked)
    assert saved.headers["content-disposition"] == 'attachment; filename="kgrag-targets.xlsx"'
    sheet = openpyxl.load_workbook(BytesIO(saved.content))["指标数值"]
    values = [cell.value for row in sheet.iter_rows() for cell in row]
    assert 41 in values


def test_facts_have_where_they_are_stated(api):
    told = api.get("/api/graph", params={"name": "森林覆盖率"}).json()
    assert told["entity"]["name"] == "森林覆盖率"
    assert all(place["url"] for fact in told["facts"] for place in fact["evidence"])


@pytest.mark.parametrize(
    ("method", "path", "given", "status", "says"),
    [
        ("POST", "/api/ask", {}, 400, "question is missing"),
        ("POST", "/api/ask", {"question": "森林", "top": 3}, 400, "top"),
        ("POST", "/api/ask", {"question": "森林", "as_of": "gestern"}, 400, "as_of"),
        ("POST", "/api/ask", {"question": "林" * 5000}, 400, "at most 4000"),
        ("POST", "/api/ask", {"question": "森林", "system": "no"}, 400, "no"),
        ("POST", "/api/ask", {"question": "森林", "writer": "model"}, 400, "model"),
        ("GET", "/api/search", {"question": "森林", "top_k": "0"}, 400, "top_k"),
        ("GET", "/api/search", {"question": "森林", "years": "x"}, 400, "years"),
        ("GET", "/api/documents/none", {}, 400, "DOCUMENT:START-END"),
        ("GET", "/api/documents/none:1-2", {}, 404, "none"),
        ("GET", "/api/tables/none", {}, 404, "targets"),
        ("GET", "/api/tables/compare", {}, 400, "indicator"),
        ("GET", "/api/graph", {"name": "不存在的实体"}, 404, "不存在的实体"),
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
        ("GET", "/api/tables/targets", {"indicatr": "GDP"}, "indicatr"),
        ("GET", "/api/tables/timeline", {"document": "四川省绿色发展实施方案"}, "document"),
        (
            "GET",
            "/api/tables/cites",
            {"document": "四川省绿色发展实施方案", "regions": "四川"},
            "regions",
        ),
        ("GET", "/api/tables/duties", {"organ": "林业局", "as_of": "2020"}, "as_of"),
        ("GET", "/api/documents", {"region": "四川"}, "region"),
        ("GET", "/api/search", {"question": "森林", "topk": "3"}, "topk"),
        ("GET", "/api/graph", {"name": "森林覆盖率", "hop": "2"}, "hop"),
        ("GET", "/api/problems", {"kind": "unread"}, "kind"),
        ("GET", "/api/overview", {"regions": "四川"}, "regions"),
        ("POST", "/api/ask?regions=云南", {"question": QUESTION}, "regions"),
        ("POST", "/v1/chat/completions", {"messages": SAID, "regions": ["云南"]}, "regions"),
        ("POST", "/v1/chat/completions", {"messages": SAID, "kgrg": {}}, "kgrg"),
        ("POST", "/v1/chat/completions", {"messages": SAID, "kgrag": {"region": "云南"}}, "region"),
    ],
)
def test_a_condition_that_there_is_not_is_named(api, method, path, given, name):
    """Ignored, it would give everything."""
    told = api.request(method, path, **{"json" if method == "POST" else "params": given})
    assert told.status_code == 400
    assert name in told.json()["error"]["message"]


@pytest.mark.parametrize(
    "given",
    [
        {"metadata_conditions": {}},
        {"metadata_condition": {"condition": []}},
        {"metadata_condition": {"conditions": [{"name": "title", "operator": "is"}]}},
        {"retrieval_setting": {"topk": 3}},
    ],
)
def test_dify_is_told_of_a_field_that_there_is_not(api, given):
    told = api.post("/retrieval", json={"knowledge_id": "kgrag", "query": "森林", **given})
    assert told.status_code == 400
    assert re.search("there is no field|is missing", told.json()["error_msg"])


def test_every_field_of_openais_protocol_is_accepted(api):
    fields = chat.completion_create_params
    ours = {"model", "messages", "stream"}
    named = {
        *fields.CompletionCreateParamsBase.__annotations__,
        *fields.CompletionCreateParamsStreaming.__annotations__,
    }
    asked = dict.fromkeys(named - ours, 1) | {"messages": SAID}
    assert api.post("/v1/chat/completions", json=asked).status_code == 200


def test_a_link_may_say_which_assistant_showed_it(api):
    assert api.get("/api/documents?utm_source=chatgpt.com").status_code == 200


def test_a_body_that_is_too_long_or_no_json_is_refused(api):
    assert api.post("/api/ask", content=b"x" * 1_000_001).status_code == 400
    assert api.post("/api/ask", content=b"{").status_code == 400
    half = {"question": "\ud800"}
    body = json.dumps(half).encode()
    assert api.post("/api/ask", content=body).status_code == 400


def test_what_is_described_is_what_is_there(api):
    """Every path of the description answers, and its parameters are those that are read."""
    paths = api.get("/openapi.json").json()["paths"]
    assert {"/api/ask", "/api/search", "/api/documents/{address}"} <= set(paths)
    for path, methods in paths.items():
        for method, told in methods.items():
            named = path.replace("{address}", "x").replace("{name}", "x")
            assert api.request(method, named).status_code in (200, 400, 404)
            required = [p["name"] for p in told["parameters"] if p["required"]]
            assert all(name in ("address", "name", "question") for name in required)


class Slow:
    """A knowledge base that waits for a signal."""

    def __init__(self):
        self.go = threading.Event()

    def problems(self):
        """Wait, and fail."""
        assert self.go.wait(30)
        raise BusyError("counted")


def test_what_does_not_fit_is_told_to_come_again():
    slow: Any = Slow()
    desk = Desk(slow, at_once=1, waiting=1)
    with client(desk) as made:
        told = []
        asking = [
            threading.Thread(target=lambda: told.append(made.get("/api/problems").json()))
            for _ in range(2)
        ]
        for thread in asking:
            thread.start()
        until = time.monotonic() + 30
        while desk._limiter.statistics().tasks_waiting < 1 and time.monotonic() < until:
            time.sleep(0.01)
        refused = made.get("/api/problems")
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
        ("/api/ask", {"question": "森林", "top": 3}, "没有 top 这一项"),
        ("/api/ask", {"question": "森林", "as_of": "gestern"}, "as_of：日期应写成 2022、"),
        ("/api/ask", {"question": "林" * 5000}, "question 最多 4000 个字符"),
        ("/api/ask", {"question": "森林", "top_k": 0}, "top_k 最小为 1"),
        ("/api/ask", {"question": "森林", "top_k": 201}, "top_k 最大为 200"),
        ("/api/ask", {"question": "森林", "top_k": "x"}, "top_k 应为整数"),
        ("/api/ask", {"question": "森林", "top_k": 1.5}, "top_k 应为整数"),
        ("/api/ask", {"question": "森林", "in_force": "x"}, "in_force 应为 true 或 false"),
        ("/api/ask", {"question": 3}, "question 应为文字"),
        ("/api/ask", {"question": "森林", "regions": "x"}, "regions 的类型不对"),
        ("/api/ask", {"question": "森林", "regions": ["x"] * 201}, "regions 最多 200 个值"),
        ("/api/ask", {"question": "森林", "history": ["x"]}, "history.0 的类型不对"),
        ("/api/ask", {"question": "森林", "writer": "x"}, "writer 的可选值为 'model' or 'quotes'"),
        ("/api/ask", "{", "请求不是 JSON："),
        ("/api/tables/compare", {}, "对比须给出指标"),
    ],
)
def test_what_is_wrong_with_a_request_is_said_in_its_language(api, path, given, says):
    """Chinese unless `lang` says otherwise, also what pydantic finds."""
    sent = {"content": given} if isinstance(given, str) else {"json": given}
    told = api.get(path) if "tables" in path else api.post(path, **sent)
    assert told.status_code == 400
    assert told.json()["error"]["message"].startswith(says)
