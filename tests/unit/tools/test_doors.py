"""Every tool is found at every door, with the same arguments, and gives what it promises."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
from mcp import Client

from kgrag.api import KnowledgeBase
from kgrag.cli.main import main
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import NotFoundError, OutOfRangeError
from kgrag.serve.desk import Desk
from kgrag.serve.mcp_server import mcp_server
from kgrag.tools import TOOLS, schemas
from kgrag.tools.arguments import parameters
from tests.fixtures.kit import kgrag
from tests.fixtures.served import served, writable

PLAN = "云岭省碳达峰实施方案"
ASKED: dict[str, dict[str, Any]] = {
    "ask": {"question": "到2025年非化石能源消费比重达到多少"},
    "search": {"question": "非化石能源消费比重", "top_k": 3},
    "read": {"document": PLAN, "characters": 200},
    "fetch": {"id": PLAN},
    "grep": {"text": "非化石能源"},
    "documents": {"words": "云岭", "limit": 2},
    "entities": {"type": "agency", "limit": 3},
    "problems": {"limit": 3},
    "overview": {},
    "graph": {"entity": PLAN, "limit": 2},
    "targets": {"indicator": "非化石能源消费比重"},
    "compare": {"indicator": ["非化石能源消费比重"], "by": "document"},
    "who": {"agency": "省发展改革委"},
    "graph-query": {
        "start": "document",
        "step": ["based_on"],
        "where": ["document2.title contains 条例", "level = 省"],
        "limit": 2,
    },
    "cites": {"document": PLAN},
    "cited-by": {"document": PLAN},
    "basis": {"document": PLAN, "hops": 2},
    "timeline": {"events": ["written"], "limit": 3},
    "conflicts": {},
    "digest": {"old": "云岭省碳达峰实施方案", "new": "青川市碳达峰行动计划"},
}

CURATES: dict[str, dict[str, Any]] = {  # one after the other, of another knowledge base
    "duplicates": {},
    "merge": {"into": "云岭省工业厅", "names": lambda name: [name]},
    "split": {"name": str, "entity": "云岭省工业厅"},
    "correct": {"document": "甲", "title": "乙", "kind": ""},
    "delete": {"document": "乙"},
}


@pytest.fixture(scope="module")
def base(sample_kb):
    with KnowledgeBase.open(sample_kb, create=False, embedder=HashEmbedder()) as opened:
        yield opened


@pytest.fixture(scope="module")
def api(base):
    with served(base) as made:
        yield made


@pytest.fixture(scope="module")
def assistant(base):
    """What an assistant is told of the tools, and what each returns."""

    async def asked():
        async with Client(mcp_server(Desk(base), url="http://127.0.0.1:8080")) as client:
            listed = (await client.list_tools()).tools
            called = {name: await client.call_tool(name, given) for name, given in ASKED.items()}
            return {one.name: one for one in listed}, called

    return asyncio.run(asked())


def words_of(name):
    """Return the words of the command line that ask for what `ASKED` has."""
    of = {one.name: one for one in main.commands[name].params}
    for key, value in ASKED[name].items():
        for one in value if isinstance(value, list) else [value]:
            named = isinstance(of[key], click.Option)
            yield from (f"--{key.replace('_', '-')}", one) if named else (one,)


def test_every_tool_is_asked_here():
    assert {name for name, one in TOOLS.items() if not one.curates} == {*ASKED}
    assert {name for name, one in TOOLS.items() if one.curates} == {*CURATES}


def test_what_curates_is_at_the_doors_of_those_who_keep_the_base(base, api, assistant, tmp_path):
    """The command line, and a server where readers may change something."""
    text = "云岭省工业厅方案\n到2025年创建绿色工厂500家。\n"
    with writable(tmp_path, {"甲": text}) as (site, desk):
        desk.base.curator().correct("甲.txt", {"title": "甲"})
        described = site.get("/openapi.json").json()["paths"]
        name_of_one = desk.base.entities()[0].name
        for name, asked in CURATES.items():
            given = asked | {k: v(name_of_one) for k, v in asked.items() if callable(v)}
            one, known = TOOLS[name], set(parameters(TOOLS[name].arguments))
            told = site.post(f"/api/{name}", json=given)
            assert told.status_code == 200, told.text
            jsonschema.validate(told.json(), dict(one.gives))
            assert described[f"/api/{name}"].keys() == {"post"}
            assert site.get(f"/api/{name}").status_code in (404, 405)
            assert known <= {parameter.name for parameter in main.commands[name].params}
            assert one.chinese[:8] in "".join(kgrag(name, "--help", language="zh").output.split())
            assert api.post(f"/api/{name}", json=given).status_code == 403
            assert name not in assistant[0]
            assert name not in [function["function"]["name"] for function in schemas()]
        assert not desk.base.documents()


@pytest.mark.parametrize("name", ASKED)
def test_a_tool_is_the_same_at_every_door(base, api, assistant, sample_kb, name):
    one, given = TOOLS[name], ASKED[name]
    known = set(parameters(one.arguments))

    made = json.loads(json.dumps(one(base, **given).to_dict()))
    jsonschema.validate(made, dict(one.gives))

    of_command = {parameter.name for parameter in main.commands[name].params}
    assert known - {"history"} <= of_command
    assert one.summary[:40] in " ".join(kgrag(name, "--help", code=0).output.split())
    assert one.chinese[:10] in "".join(kgrag(name, "--help", language="zh").output.split())
    done = kgrag(name, *words_of(name), "--kb", sample_kb, "--json")
    printed = json.loads(done.stdout)
    shown = kgrag(name, *words_of(name), "--kb", sample_kb)
    assert shown.exit_code == done.exit_code == 0
    assert shown.output.strip()

    answers = (api.get(f"/api/{name}", params=given), api.post(f"/api/{name}", json=given))
    described = api.get("/openapi.json").json()["paths"][f"/api/{name}"]
    for method, answer in zip(("get", "post"), answers, strict=True):
        content = described[method]["responses"]["200"]["content"]["application/json"]
        jsonschema.validate(answer.json(), content["schema"])
    assert known - {"history"} <= {p["name"] for p in described["get"]["parameters"]}
    assert described["get"]["summary"] == one.summary
    assert answers[0].json() == answers[1].json()

    tools, called = assistant
    assert set(tools[name].input_schema["properties"]) == known
    assert not called[name].is_error, called[name].content
    assert called[name].structured_content == json.loads(called[name].content[0].text)
    (function,) = [f["function"] for f in schemas() if f["function"]["name"] == name]
    assert function["parameters"] == one.schema()
    for found in (printed, answers[0].json()):  # the doors add numbers and addresses only
        for key, value in made.items():
            if isinstance(value, str | int):
                assert found[key] == value


@pytest.mark.parametrize(
    ("name", "given", "error"),
    [
        ("compare", {"indicator": "x", "plce": "四川"}, "plce"),
        ("compare", {}, "indicator is missing"),
        ("who", {"agency": "局", "role": "旁观"}, "role is one of"),
        ("basis", {"document": PLAN, "hops": 21}, "hops is at most 20"),
        ("targets", {"due": "明年"}, "years are given as"),
        ("search", {"question": "x" * 5000}, "5,000 characters"),
        ("grep", {"text": " 的 "}, "two characters"),
        ("documents", {"limit": "many"}, "whole number"),
    ],
)
def test_what_is_not_allowed_is_refused_with_the_same_words(base, api, name, given, error):
    with pytest.raises(OutOfRangeError, match=error):
        TOOLS[name](base, **given)
    refused = api.post(f"/api/{name}?", json=given, headers={"cookie": "kgrag-lang=en"})
    assert refused.status_code == 400
    assert error in refused.json()["error"]["message"]


def test_what_is_not_held_is_not_found_with_near_names(base, api):
    with pytest.raises(NotFoundError) as raised:
        TOOLS["cites"](base, document="云岭省碳达峰方案")
    assert PLAN in raised.value.nearest
    told = api.get("/api/cites", params={"document": "云岭省碳达峰方案"})
    assert (told.status_code, PLAN in told.json()["error"]["nearest"]) == (404, True)


def test_names_may_come_in_one_text_and_a_year_as_a_number(base):
    """As models write them."""
    one = TOOLS["documents"](base, region="云岭省、青川市", year=2022, kind=None, words="")
    other = TOOLS["documents"](base, region=["云岭省", "青川市"], year="2022")
    assert one == other
    assert one.rows


def test_what_is_in_force_may_be_looked_for_in_texts_and_in_the_graph(base):
    """A plan whose years are over is in neither."""
    statuses = base.statuses()
    counting = {card.title for card in base.documents() if statuses[card.doc_id].counts}
    asked = TOOLS["graph-query"](base, start="document", returns=["title"], in_force=True)
    assert {row.cells[0] for row in asked.rows} == counting
    for words, is_there in (("碳排放", True), ("绿色建筑发展专项规划", False)):
        seen = TOOLS["grep"](base, text=words, in_force=True).rows
        assert bool(seen) == is_there
        assert {source.title for row in seen for source in row.sources} <= counting


def test_pages_of_rows_are_the_whole_table(base):
    whole, offset, rows = TOOLS["documents"](base), 0, []
    while offset is not None:
        page = TOOLS["documents"](base, limit=3, offset=offset)
        assert page.total == whole.total == len(whole.rows)
        rows += page.rows
        offset = page.to_dict().get("next_offset")
    assert tuple(rows) == whole.rows


PASTED = """
import runpy, sys
import kgrag.tools
runpy.run_path(sys.argv.pop(1))
from kgrag.cli.main import main
from kgrag.serve.api import ENDPOINTS
assert "/api/titled" in [end.path for end in ENDPOINTS]
assert "titled" in [one["function"]["name"] for one in kgrag.tools.schemas()]
main()
"""


def test_the_tool_of_the_docs_is_added_by_its_file(sample_kb, tmp_path):
    """As it is pasted: the command line, the API and the functions of a model have it."""
    page = Path(__file__).parents[3].joinpath("docs", "architecture.md").read_text("utf-8")
    (code,) = re.findall(r'```python\n("""Tools that count.*?)```', page, re.DOTALL)
    (tmp_path / "count.py").write_text(code, "utf-8")
    words = (tmp_path / "count.py", "titled", "方案", "--kb", sample_kb, "--json")
    done = subprocess.run(
        [sys.executable, "-c", PASTED, *words], capture_output=True, text=True, check=True
    )
    assert PLAN in [row["title"] for row in json.loads(done.stdout)["rows"]]
