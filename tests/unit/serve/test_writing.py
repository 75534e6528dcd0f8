"""Changes by readers: documents added, corrected and deleted, entities merged."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from lxml import html

from kgrag.config import Config, EmbeddingConfig, IngestConfig
from kgrag.ingestion.samples import sample_folder
from kgrag.serve import writing
from kgrag.serve.desk import Desk
from kgrag.serve.writing import ENDPOINTS, safe_name
from kgrag.text.messages import catalogue
from tests.fixtures.policies import POLICIES
from tests.fixtures.served import client, served, writable

NEW = (
    "甘南州湿地保护实施方案\n甘政发〔2023〕7号\n一、目标\n到2025年，甘南州湿地保护率达到63%。\n"
    "甘南州人民政府\n2023年4月1日\n"
)
QUESTION = "到2025年甘南州湿地保护率达到多少？"
TITLE = "四川省绿色发展实施方案"
ELSEWHERE = {"origin": "https://evil.example"}


@pytest.fixture
def site(tmp_path):
    with writable(tmp_path, POLICIES) as made:
        yield made


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A server whose content no test changes."""
    with writable(tmp_path_factory.mktemp("shared"), POLICIES) as made:
        yield made


def sent(*files):
    return [
        ("files", (name, data.encode() if isinstance(data, str) else data)) for name, data in files
    ]


def add(client_, desk, *files):
    """Upload files, wait for the end of their ingest, and return its state."""
    told = client_.post("/api/ingest", files=sent(*files))
    assert told.status_code == 202, told.text
    desk.ingesting.wait()
    return client_.get("/api/ingest").json()


def kept(desk):
    return sorted(path.name for path in desk.uploads.glob("[!.]*"))


def answer(client_, question=QUESTION):
    return client_.post("/api/ask", json={"question": question}).json()["text"]


def id_of(desk, name=TITLE):
    return desk.base.find_document(name).doc_id


@contextmanager
def held_back(monkeypatch, base):
    """Have an ingest wait, until the event that is yielded is set."""
    began, go_on, ingest = threading.Event(), threading.Event(), base.ingest

    def waiting(files, *, progress):
        def told(file, done, n):
            progress(file, done, n)
            began.set()
            assert go_on.wait(20)
            progress(file, done, n)

        return ingest(files, progress=told)

    monkeypatch.setattr(base, "ingest", waiting)
    yield began, go_on
    go_on.set()


# Adding


def test_what_is_uploaded_is_cited_by_the_next_answer(site):
    asked, desk = site
    assert "63%" not in answer(asked)
    state = add(asked, desk, ("湿地.txt", NEW), ("again.md", "# 另一份\n\n到2026年完成。\n"))
    assert (state["state"], state["done"], state["of"]) == ("done", 2, 2)
    assert [(one["file"], one["status"]) for one in state["files"]] == [
        ("湿地.txt", "added"),
        ("again.md", "added"),
    ]
    told = asked.post("/api/ask", json={"question": QUESTION}).json()
    assert "63%" in told["text"]
    (cited,) = told["citations"]
    assert cited["exact"]
    doc_id = state["files"][0]["doc_id"]
    assert cited["doc_id"] == doc_id
    assert asked.get(f"/original/{doc_id}").content == NEW.encode()
    assert "甘南州湿地保护实施方案" in asked.get("/documents").text


def test_the_page_leads_to_the_outcome(site):
    asked, desk = site
    form = html.fromstring(asked.get("/upload").text).get_element_by_id("upload")
    assert form.get("enctype") == "multipart/form-data"
    sent_on = asked.post(form.get("action"), files=sent(("湿地.txt", NEW)))
    assert (sent_on.status_code, sent_on.headers["location"]) == (303, "/upload")
    desk.ingesting.wait()
    shown = html.fromstring(asked.get("/upload", params={"panel": 1}).text)
    assert "共1个文件，已加入1个" in shown.text_content()
    (link,) = shown.xpath("//td/a/@href")
    assert asked.get(link).status_code == 200


def test_a_broken_file_is_named_and_the_rest_goes_on(site):
    asked, desk = site
    broken = (sample_folder() / "carbon-peak-plan.docx").read_bytes()[:3000]
    state = add(
        asked, desk, ("坏.docx", broken), ("湿地.txt", NEW), ("run.exe", b"MZ"), ("空.txt", b"")
    )
    outcome = {one["file"]: one for one in state["files"]}
    assert outcome["湿地.txt"]["status"] == "added"
    for name, why in (
        ("坏.docx", ""),
        ("run.exe", "no loader for .exe files"),
        ("空.txt", "empty"),
    ):
        assert outcome[name]["status"] == "failed"
        assert outcome[name]["detail"]
        assert why in outcome[name]["detail"]
    shown = html.fromstring(asked.get("/upload").text).text_content()
    assert "共4个文件，已加入1个" in shown
    assert "已损坏或不是 Word 文件（File is not a zip file）；请用 Word 打开后重新保存" in shown
    assert str(desk.uploads) not in asked.get("/api/ingest").text
    assert "run.exe" not in kept(desk)
    assert "63%" in answer(asked)


def test_a_name_of_another_document_is_not_overwritten(site):
    asked, desk = site
    add(asked, desk, ("湿地.txt", NEW))
    other = NEW.replace("63%", "64%").replace("湿地", "草地")
    state = add(asked, desk, ("湿地.txt", other), ("湿地.txt", NEW))
    outcomes = {one["file"]: one["status"] for one in state["files"]}
    assert outcomes == {"湿地 (2).txt": "added", "湿地.txt": "unchanged"}
    assert kept(desk) == ["湿地 (2).txt", "湿地.txt"]
    assert (desk.uploads / "湿地.txt").read_text("utf-8") == NEW
    assert "63%" in answer(asked)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../x.txt", "x.txt"),
        ("/etc/x.txt", "x.txt"),
        ("C:\\windows\\x.txt", "x.txt"),
        (".hidden.txt", "hidden.txt"),
        ("~$lock.txt", "lock.txt"),
        ("a\x00b\x1b[2J\u202e.txt", "ab[2J.txt"),
        ("NUL.txt", "_NUL.txt"),
        ("com1.tar.txt", "_com1.tar.txt"),
        ("a.txt. .", "a.txt"),
        ('a<b>:"|?*.txt', "ab.txt"),
        ("…/..", "document"),
        ("=cmd|'/c calc'!A0.txt", "c calc'!A0.txt"),
        ("长" * 300 + ".txt", "长" * 60 + ".txt"),
        ("e\u0301.txt", "\u00e9.txt"),
        ("<img src=x onerror=alert(1)>.txt", "img src=x onerror=alert(1).txt"),
    ],
)
def test_a_name_is_made_safe(name, safe):
    assert safe_name(name) == safe
    assert safe_name(safe) == safe


def test_one_is_added_at_a_time_and_questions_are_answered_meanwhile(site, monkeypatch):
    asked, desk = site
    with held_back(monkeypatch, desk.base) as (began, go_on):
        assert asked.post("/api/ingest", files=sent(("a.txt", NEW))).status_code == 202
        assert began.wait(20)
        state = asked.get("/api/ingest").json()
        assert (state["state"], state["file"], state["of"]) == ("running", "a.txt", 1)
        assert "a.txt" in asked.get("/upload").text
        assert "<progress" in asked.get("/upload?panel=1").text
        second = asked.post("/api/ingest", files=sent(("b.txt", NEW)))
        assert (second.status_code, second.headers["retry-after"]) == (503, "2")
        by_page = asked.post("/upload", files=sent(("b.txt", NEW)))
        assert by_page.status_code == 503
        assert "正在加入文件" in by_page.text
        assert "41%" in answer(asked, "到2025年四川省森林覆盖率达到多少？")
        assert kept(desk) == ["a.txt"]
        go_on.set()
        desk.ingesting.wait()
    assert add(asked, desk, ("b.txt", NEW))["state"] == "done"


def test_an_upload_waits_for_one_that_is_received(site):
    """Of several at the same moment one is taken in; a refusal leaves no file."""
    asked, desk = site
    with desk.ingesting.reserved():
        assert asked.post("/api/ingest", files=sent(("a.txt", NEW))).status_code == 503
        assert asked.get("/api/ingest").json()["state"] == "receiving"
        assert "正在接收文件" in asked.get("/upload").text
    assert asked.get("/api/ingest").json()["state"] == "none"
    with ThreadPoolExecutor(6) as threads:
        told = list(
            threads.map(
                lambda n: asked.post("/api/ingest", files=sent((f"{n}.txt", f"{NEW}{n}"))),
                range(6),
            )
        )
    desk.ingesting.wait()
    codes = [one.status_code for one in told]
    assert set(codes) <= {202, 503}
    assert codes.count(202) == len(kept(desk)) == len(desk.base.documents()) - len(POLICIES) > 0


def test_processes_of_one_folder_know_of_each_others_ingest(tmp_path, monkeypatch):
    """Each tells how far it is, and none begins another; one that was killed is no ingest."""
    with writable(tmp_path, POLICIES) as (one, desk):
        other_desk = Desk(desk.base, uploads=desk.uploads)
        with client(other_desk) as other, held_back(monkeypatch, desk.base) as (began, go_on):
            one.post("/api/ingest", files=sent(("a.txt", NEW)))
            assert began.wait(20)
            state = other.get("/api/ingest").json()
            assert (state["state"], state["file"]) == ("running", "a.txt")
            assert other.post("/api/ingest", files=sent(("b.txt", NEW))).status_code == 503
            go_on.set()
            desk.ingesting.wait()
            told = one.get("/api/ingest").json()
            assert told["state"] == "done"
            assert other.get("/api/ingest").json() == told
            assert other.get("/upload?panel=1").text == one.get("/upload?panel=1").text
            state_file = tmp_path / "uploads/.ingest.json"
            with desk.ingesting.reserved():
                left = state_file.read_bytes()
            state_file.write_bytes(left)  # as by kill -9
            assert other.get("/api/ingest").json()["state"] == "failed"
            assert "服务已停止" in other.get("/upload").text
            assert add(other, other_desk, ("b.txt", NEW))["state"] == "done"


def test_a_server_that_ends_stops_the_ingest(tmp_path, monkeypatch):
    """What was not taken in is taken in when it is uploaded again."""
    with writable(tmp_path, POLICIES) as (asked, desk):
        with held_back(monkeypatch, desk.base) as (began, go_on):
            asked.post("/api/ingest", files=sent(("a.txt", NEW)))
            assert began.wait(20)
            ending = threading.Thread(target=desk.ingesting.end)
            ending.start()
            while not desk.ingesting._ending.is_set():
                pass
            go_on.set()
            ending.join()
        assert asked.get("/api/ingest").json()["state"] == "failed"
        assert "63%" not in answer(asked)
        assert desk.base.verify() == []
        monkeypatch.undo()
        with client(Desk(desk.base, uploads=desk.uploads)) as again:
            again_desk = Desk(desk.base, uploads=desk.uploads)
            with client(again_desk) as again:
                add(again, again_desk, ("a.txt", NEW))
                assert "63%" in answer(again)
        assert kept(desk) == ["a.txt"]


def chunks(n):
    """Yield a body of parts, without a length."""
    yield b'--x\r\ncontent-disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
    for _ in range(n):
        yield bytes(100_000)
    yield b"\r\n--x--\r\n"


FIELD = b'--x\r\ncontent-disposition: form-data; name="a"'
MULTIPART = {"content-type": "multipart/form-data; boundary=x"}


def test_too_much_ends_early_and_leaves_nothing(site, monkeypatch):
    asked, desk = site
    monkeypatch.setattr(writing, "_MOST_BYTES", 1_000_000)
    limits = Config(ingest=IngestConfig(max_file_mb=1), embedding=EmbeddingConfig(model="hash-32"))
    monkeypatch.setattr(desk.base, "config", limits)
    for body in (chunks(50), b"".join(chunks(50))):
        told = asked.post("/api/ingest", content=body, headers=MULTIPART)
        assert told.status_code == 400
        assert "at most 1 MB" in told.json()["error"]["message"]
    assert kept(desk) == []
    assert asked.get("/api/ingest").json()["state"] == "none"
    monkeypatch.setattr(writing, "_MOST_BYTES", 9_000_000)
    state = add(asked, desk, ("big.txt", NEW * 20_000), ("a.txt", NEW))
    assert [(one["file"], one["status"]) for one in state["files"]] == [
        ("big.txt", "failed"),
        ("a.txt", "added"),
    ]
    assert "more than 1,000,000" in state["files"][0]["detail"]
    assert kept(desk) == ["a.txt"]


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"", MULTIPART),
        (b"{}", {"content-type": "application/json"}),
        (b"no boundary", MULTIPART),
        (b"--x\r\n", {"content-type": "multipart/form-data"}),
        (FIELD + b"\r\n\r\n" + bytes(20_000), MULTIPART),
        (FIELD + b"\r\n\r\nb\r\n--x--\r\n", MULTIPART),
        (FIELD + b'; filename=""\r\n\r\n\r\n--x--\r\n', MULTIPART),
    ],
)  # fmt: skip
def test_what_is_no_upload_is_refused(shared, body, headers):
    asked, desk = shared
    for path in ("/api/ingest", "/upload"):
        told = asked.post(path, content=body, headers=headers)
        assert told.status_code == 400, told.text
    assert not desk.ingesting.state.is_busy
    assert kept(desk) == []


def test_other_requests_are_as_small_as_before(shared):
    asked, _ = shared
    much = {"title": "长" * 400_000}
    assert asked.post("/api/correct", json=much).status_code == 400
    assert asked.post("/change/correct", data=much).status_code == 400


@pytest.mark.parametrize("back", ["//evil.example", "/\\\\evil.example", "https://evil.example"])
def test_a_form_leads_to_no_other_site(shared, back):
    asked, desk = shared
    done = asked.post("/change/correct", data={"document": id_of(desk), "back": back})
    where = done.headers["location"]
    assert where.startswith("/")
    assert where[1] not in "/\\"
    assert asked.post("/change/ask", data={"question": "x"}).status_code == 404


# Correcting


def test_a_correction_is_in_page_list_and_filter(site):
    asked, desk = site
    doc_id = id_of(desk)
    path = f"/documents/{doc_id}"
    form = html.fromstring(asked.get(path).text).xpath("//form[@class='correct']")[0]
    typed = dict(form.form_values())
    assert typed["issuer"] == "四川省人民政府"
    assert typed["title"] == TITLE
    typed |= {
        "region": "贵州贵阳",
        "date": "2021年5月6日",
        "issuer": "贵州省林业局、贵州省水利厅",
    }
    done = asked.post(form.get("action"), data=typed)
    assert (done.status_code, done.headers["location"]) == (303, path)
    told = desk.base.find_document(doc_id).metadata
    assert told.regions == ("贵州省", "贵阳市")
    assert told.issued == "2021-05-06"
    assert told.issuers == ("贵州省林业局", "贵州省水利厅")
    assert set(desk.base.store.corrections()[doc_id]) == {"regions", "issued", "issuers"}
    assert (
        "贵州省林业局"
        in html.fromstring(asked.get(path).text).xpath("//p[@class='facts']")[0].text_content()
    )
    there = asked.get("/api/documents", params={"region": "贵阳"}).json()["rows"]
    assert [card["doc_id"] for card in there] == [doc_id]
    # The same form again changes nothing; an empty field says that there is none.
    form = html.fromstring(asked.get(path).text).xpath("//form[@class='correct']")[0]
    typed = dict(form.form_values())
    asked.post(form.get("action"), data=typed)
    assert len(desk.base.store.corrections()[doc_id]) == 3
    asked.post(form.get("action"), data=typed | {"number": ""})
    assert desk.base.find_document(doc_id).metadata.number == ""


def test_a_form_that_was_not_changed_corrects_nothing(tmp_path):
    title = "某省<b>绿色</b>\u202e发展\x1b[31m实施方案"
    record = json.dumps({"id": "r", "title": title, "text": "到2025年完成。"})
    with writable(tmp_path, {"a.jsonl": record}) as (asked, desk):
        (card,) = desk.base.documents()
        page = html.fromstring(asked.get(f"/documents/{card.doc_id}").text)
        (form,) = page.xpath("//form[@class='correct']")
        asked.post(form.get("action"), data=dict(form.form_values()))
        assert desk.base.store.corrections() == {}
        assert desk.base.documents()[0].title == title


def test_a_correction_is_taken_back(site):
    asked, desk = site
    doc_id = id_of(desk)
    asked.post("/api/correct", json={"document": doc_id, "title": "别的题目"})
    page = html.fromstring(asked.get(f"/documents/{doc_id}").text)
    (button,) = page.xpath("//button[@form='reset']")
    form = page.get_element_by_id("reset")
    typed = dict(form.form_values()) | {button.get("name"): button.get("value")}
    assert asked.post(form.get("action"), data=typed).headers["location"] == f"/documents/{doc_id}"
    assert desk.base.find_document(doc_id).title == TITLE
    assert not desk.base.store.corrections().get(doc_id)


def test_corrections_by_program(site):
    asked, desk = site
    one = {"document": id_of(desk)}
    told = asked.post("/api/correct", json=one | {"number": "川府发[2022]9号", "kind": ""}).json()
    assert desk.base.find_document(TITLE).metadata.number == "川府发〔2022〕9号"
    assert "川府发〔2022〕9号" in [row["value"] for row in told["rows"]]
    assert asked.post("/api/correct", json=one | {"reset": ["number", "kind"]}).status_code == 200
    assert desk.base.find_document(TITLE).metadata.number == "川府发〔2022〕3号"
    for wrong in ({}, {"date": "昨天"}, {"colour": "red"}, {"reset": ["colour"]}, {"title": ""}):
        assert asked.post("/api/correct", json=one | wrong).status_code == 400
    assert asked.post("/api/correct", json={"document": "x", "kind": "x"}).status_code == 404


# Deleting


def test_a_document_is_deleted_after_a_question(site):
    asked, desk = site
    doc_id = add(asked, desk, ("湿地.txt", NEW))["files"][0]["doc_id"]
    page = html.fromstring(asked.get(f"/documents/{doc_id}").text)
    (link,) = page.xpath("//a[starts-with(@href, '/delete/')]/@href")
    assert "甘南州湿地保护实施方案" in asked.get(link).text
    assert "63%" in answer(asked)
    (form,) = html.fromstring(asked.get(link).text).xpath("//main//form[@method='post']")
    done = asked.post(form.action, data=dict(form.form_values()))
    assert done.headers["location"] == "/documents"
    assert "63%" not in answer(asked)
    assert asked.get(f"/documents/{doc_id}").status_code == 404
    assert asked.get(link).status_code == 404
    assert kept(desk) == []
    assert desk.base.verify() == []


def test_a_document_is_deleted_by_program_and_the_files_of_others_stay(site, tmp_path):
    asked, desk = site
    records = "".join(
        f'{{"id": "{name}", "title": "{name}", "text": "{name}文。"}}\n' for name in ("甲", "乙")
    )
    first, second = (one["doc_id"] for one in add(asked, desk, ("r.jsonl", records))["files"])
    own = list(tmp_path.glob("*.txt"))
    assert own
    deleted = asked.post("/api/delete", json={"document": id_of(desk)}).json()
    assert deleted["rows"][0]["title"] == TITLE
    assert all(path.exists() for path in own)
    assert asked.post("/api/delete", json={"document": first}).status_code == 200
    assert kept(desk) == ["r.jsonl"]
    assert asked.post("/api/delete", json={"document": second}).status_code == 200
    assert kept(desk) == []
    assert asked.post("/api/delete", json={"document": first}).status_code == 404


# Entities


def test_entities_are_merged_and_parted(site):
    asked, desk = site
    name, into = (named.name for named in desk.base.entities(type_="agency", limit=2))
    page = html.fromstring(asked.get("/graph", params={"entity": name}).text)
    form = next(f for f in page.forms if f.action == "/change/merge")
    done = asked.post(form.action, data=dict(form.form_values()) | {"into": into})
    assert done.status_code == 303
    assert asked.get(done.headers["location"]).status_code == 200
    assert name not in [named.name for named in desk.base.entities(limit=500)]
    decided = html.fromstring(asked.get("/duplicates").text)
    form = next(f for f in decided.xpath("//ul//form"))
    asked.post(form.action, data=dict(form.form_values()))
    assert name in [named.name for named in desk.base.entities(limit=500)]
    merged = asked.post("/api/merge", json={"names": [name], "into": into})
    assert merged.json()["rows"][0]["documents"] >= 1
    assert f"{name} is {into}" in asked.post("/api/duplicates", json={"lang": "en"}).text
    parted = asked.post("/api/split", json={"name": name, "entity": into})
    assert parted.json()["rows"][0]["documents"] >= 1
    for path, wrong, status in (
        ("merge", {"names": ["无此实体"], "into": into}, 404),
        ("merge", {"names": [], "into": into}, 400),
        ("merge", {"names": [into], "into": into}, 400),
        ("split", {"name": "x", "entity": "无此实体"}, 404),
    ):
        assert asked.post(f"/api/{path}", json=wrong).status_code == status


# Who may


ACTIONS = tuple(
    ("POST", path)
    for path in (
        *("/api/ingest", "/api/correct", "/api/delete", "/api/merge", "/api/split"),
        *("/upload", "/change/correct", "/change/delete", "/change/merge"),
    )
)
LOOKS = tuple(("GET", path) for path in ("/upload", "/delete/x", "/duplicates", "/api/ingest"))


@pytest.mark.parametrize(("method", "path"), [*ACTIONS, *LOOKS])
def test_a_server_that_only_reads_refuses(policies, method, path):
    n = policies.counts().documents
    with served(policies) as site:
        path = path.replace("/x", f"/{policies.documents()[0].doc_id}")
        told = site.request(method, path)
        assert told.status_code == 403
        assert "--allow-ingest" in told.json()["error"]["message"]
    assert policies.counts().documents == n


def test_a_server_that_only_reads_shows_nothing_of_it(policies):
    with served(policies) as site:
        described = site.get("/openapi.json").json()["paths"]
        assert not {"/api/ingest", "/api/correct"} & {*described}
        card = policies.documents()[0]
        for path in (
            "/",
            "/documents",
            "/graph",
            f"/graph?entity={card.title}",
            f"/documents/{card.doc_id}",
            "/api",
        ):
            shown = site.get(path).text
            for word in ("/upload", "/change", "/delete", "/duplicates", "/api/ingest"):
                assert word not in shown, path


@pytest.mark.parametrize(("method", "path"), ACTIONS)
@pytest.mark.parametrize(
    "headers", [ELSEWHERE, {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}]
)
def test_another_sites_page_can_change_nothing(shared, method, path, headers):
    asked, desk = shared
    path = path.replace("/x", f"/{id_of(desk)}")
    before = list(desk.base.export())
    told = asked.request(method, path, headers=headers, files=sent(("a.txt", NEW)))
    assert told.status_code == 403
    assert list(desk.base.export()) == before
    assert desk.ingesting.state.state == "none"


def test_the_description_tells_of_changes(shared):
    asked, _ = shared
    described = asked.get("/openapi.json").json()["paths"]
    for end in ENDPOINTS:
        assert not end.summary or end.method.lower() in described[end.path]
    body = described["/api/ingest"]["post"]["requestBody"]["content"]["multipart/form-data"]
    assert body["schema"]["properties"]["files"]["items"]["format"] == "binary"
    assert "/api/ingest" in asked.get("/api").text


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("path", ["/upload", "/duplicates", "/delete/{}", "/documents/{}"])
def test_pages_are_in_the_language_asked_for(shared, path, lang):
    asked, desk = shared
    shown = asked.get(path.format(id_of(desk)), params={"lang": lang})
    assert shown.status_code == 200
    tree = html.fromstring(shown.text)
    assert len(tree.findall(".//h1")) == 1
    words = {text.strip() for text in tree.xpath("//main//text()[not(ancestor::*[@lang])]")}
    catalogued = (
        set(catalogue("kgrag.serve"))
        if lang == "zh"
        else set(catalogue("kgrag.serve").values()) - {"数"}
    )
    assert not words & catalogued
    asked.cookies.clear()
