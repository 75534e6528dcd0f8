"""The pages."""

import ast
import inspect
import json
import re
from importlib import resources
from urllib.parse import quote

import pytest
from lxml import html

from kgrag import errors as errors_module
from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.ingestion.samples import sample_folder
from kgrag.serve import pages, rendering
from kgrag.serve.pages import paragraphs
from kgrag.text.messages import catalogue
from kgrag.types import Heading
from tests.fixtures.kit import write
from tests.fixtures.served import events, served

QUESTION = "到2025年四川省森林覆盖率达到多少？"
PATHS = (
    "/", "/search", "/documents", "/graph", "/problems", "/api", "/login", "/tables/targets",
    "/tables/compare", "/tables/duties", "/tables/timeline", "/tables/conflicts", "/tables/cites",
    "/tables/cited_by", "/tables/basis", "/tables/digest",
)  # fmt: skip


@pytest.fixture(scope="module")
def site(policies):
    with served(policies) as made:
        yield made


def text_of(response):
    return html.fromstring(response.text).text_content()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_page_is_in_the_language_asked_for(site, path, lang):
    """It has one first heading, and words of the other language only where documents say them."""
    shown = site.get(path, params={"lang": lang})
    assert shown.status_code == 200
    tree = html.fromstring(shown.text)
    assert tree.get("lang") == ("zh-Hans" if lang == "zh" else "en")
    assert len(tree.findall(".//h1")) == 1
    words = {text.strip() for text in tree.xpath("//main//text()[not(ancestor::*[@lang])]")}
    chinese = {w for w in words if re.search("[一-鿿]", w)} - {"牵头", "负责", "配合"}
    english = {w for w in words if w in catalogue("kgrag.serve")}
    assert not (chinese if lang == "en" else english)
    assert f"kgrag-lang={lang}" in shown.headers["set-cookie"]
    site.cookies.clear()


def test_the_catalogue_has_what_pages_say_and_nothing_else():
    folder = resources.files("kgrag.serve").joinpath("templates")
    said, named = set(), set()
    for file in folder.iterdir():
        text = file.read_text("utf-8")
        said |= {m[2] for m in re.finditer(r"""_\((["'])((?:(?!\1).)+)\1(?! \+)""", text)}
        named |= set(re.findall(r'"([a-z_]+)"', text))
    # Statuses, problems, tables and fields have their names in Python.
    tree = ast.parse(inspect.getsource(pages))
    named |= {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    named |= {f"by {by}" for by in ("province", "region", "document", "year")}
    missing = {words for words in said if words not in catalogue("kgrag.serve")}
    assert not missing
    kinds = {
        "in_force", "not_yet", "expired", "repealed", "superseded", "over", "amended", "draft",
        "unknown", "unread", "skipped", "illegible", "warning",
        "title", "issuer", "date", "region", "short",
        "headings", "passages", "twin", "edition",
        "added", "replaced", "unchanged", "duplicate", "search index",
    }  # fmt: skip
    errors = {name for name in vars(errors_module) if name.endswith("Error")}
    assert set(catalogue("kgrag.serve")) <= said | named | kinds | errors
    assert kinds <= set(catalogue("kgrag.serve"))


def test_a_question_in_the_address_is_answered(site):
    """Without a script, too; a reload gives the same."""
    shown = site.get("/", params={"question": QUESTION})
    tree = html.fromstring(shown.text)
    (link,) = tree.xpath("//div[@class='body']//a[@class='cite']")
    assert link.text == "[1]"
    assert "41%" in text_of(shown)
    assert "引文无误" in text_of(shown)
    assert site.get("/", params={"question": QUESTION}).text == shown.text


def test_the_script_gets_the_same_answer_as_an_event(site):
    ((name, data),) = events(site.post("/ask", data={"question": QUESTION}).text)
    assert name == "answer"
    whole = site.get("/", params={"question": QUESTION}).text
    shown = html.fromstring(json.loads(data)["html"])
    assert shown.text_content() in html.fromstring(whole).text_content()


def test_an_error_in_the_stream_is_told_in_the_language_asked_for(site):
    asked = {"question": QUESTION, "regions": ["火星"]}
    ((name, data),) = events(site.post("/ask", json=asked).text)
    assert name == "error"
    assert json.loads(data)["message"].startswith("没有找到")


def test_the_panel_of_a_citation_has_what_it_is_checked_by(site):
    tree = html.fromstring(site.get("/", params={"question": QUESTION}).text)
    url = tree.xpath("//ol[@class='sources']//a[contains(@class,'reference')]/@href")[0]
    panel = html.fromstring(site.get(url, params={"panel": "1"}).text)
    assert "41%" in panel.xpath("string(.//mark)")
    said = panel.text_content()
    for word in ("四川省绿色发展实施方案", "川府发〔2022〕3号", "四川省人民政府", "现行"):
        assert word in said
    assert "二、主要目标" in said
    copied = panel.xpath(".//button[contains(@class,'copy')]/@data-copy")
    reference = "《四川省绿色发展实施方案》（川府发〔2022〕3号）二"
    assert copied[0] == reference
    assert copied[1].startswith(f"{reference}：“到2025年")


def test_what_is_not_found_is_said(site):
    said = text_of(site.get("/", params={"question": "四川省2030年森林覆盖率达到多少？"}))
    assert "未找到" in said


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/nothing", 404, "没有找到"),
        ("/tables/none", 404, "没有找到"),
        ("/documents/none", 404, "没有找到"),
        ("/documents?regions=火星", 404, "没有找到"),
        ("/search?question=林&top_k=0", 400, "不符合要求"),
        ("/?question=" + "林" * 5000, 400, "不符合要求"),
    ],
)
def test_an_error_is_a_page_in_the_language_asked_for(site, path, status, says):
    shown = site.get(path, headers={"accept": "text/html"})
    assert shown.status_code == status
    assert says in text_of(shown)
    assert site.get("/nothing").json()["error"]["type"] == "NotFoundError"


def test_documents_are_filtered_and_counted(site, policies):
    n = policies.counts().documents
    assert f"{n} / {n}" in text_of(site.get("/documents"))
    few = site.get("/documents", params={"regions": "成都"})
    assert f"1 / {n}" in text_of(few)
    assert site.get("/documents", params={"regions": "火星"}).status_code == 404


def test_a_document_shows_outline_citations_and_standing(site, policies):
    card = policies.find_document("四川省绿色发展实施方案")
    tree = html.fromstring(site.get(f"/documents/{card.doc_id}").text)
    targets = tree.xpath("//nav[@class='outline']//a/@href")
    ids = set(tree.xpath("//@id"))
    assert targets
    assert {t.removeprefix("#") for t in targets} <= ids
    assert "引用了" in tree.text_content()
    whole = "".join(tree.xpath("//div[@class='text']//text()"))
    (document,) = policies.store.documents([card.doc_id])
    assert "".join(whole.split()) == "".join(document.text.split())


def test_tables_lead_to_clauses_and_files(site):
    asked = {"indicator": "森林覆盖率"}
    tree = html.fromstring(site.get("/tables/compare", params=asked).text)
    links = tree.xpath("//td[@class='clauses']/a/@href")
    assert links
    assert all(site.get(link.partition("#")[0]).status_code == 200 for link in links)
    saved = tree.xpath("//p[@class='actions']/a/@href")
    kinds = [site.get("/tables/compare" + link).headers["content-type"] for link in saved]
    assert [kind.partition(";")[0].rpartition(".")[2] for kind in kinds] == [
        "sheet", "document", "text/csv", "text/html",
    ]  # fmt: skip


def test_the_graph_shows_the_sentence_of_every_fact(site):
    tree = html.fromstring(site.get("/graph", params={"name": "森林覆盖率"}).text)
    edges = tree.xpath("//*[contains(@class,'edge')]/a/@href")
    rows = tree.xpath("//tr[starts-with(@id,'fact-')]")
    assert len(edges) == len(rows) > 0
    assert all(row.xpath("./td[5]/p") for row in rows)
    assert "森林覆盖率" in text_of(site.get("/graph"))


EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\u202e"
HOSTILE = {
    "a": f"某省{EVIL}绿色发展实施方案\n一、目标{EVIL}\n到2025年，森林覆盖率达到41%{EVIL}。\n"
    f"根据《绿色{EVIL}发展办法》，省林业局负责森林保护{EVIL}工作。\n",
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    config = Config(embedding=EmbeddingConfig(model="hash-32"))
    (file,) = write(folder, HOSTILE)
    named = file.rename(folder / "<b onclick=alert(3)>&quot;.txt")
    with KnowledgeBase.open(folder / "kb", config=config) as base:
        assert not base.ingest([named]).failed
        with served(base) as made:
            yield made, base


def test_markup_and_control_characters_of_documents_are_shown_not_obeyed(hostile):
    site, base = hostile
    (card,) = base.documents()
    names = [named.name for named in base.entities(limit=50)]
    paths = [
        *PATHS,
        "/?question=森林覆盖率达到多少",
        f"/?question={quote(EVIL)}",
        "/search?question=森林覆盖率",
        f"/documents/{card.doc_id}",
        f"/documents/{card.doc_id}:0-40?panel=1",
        "/tables/targets?indicator=森林",
        f"/tables/cites?document={card.doc_id}",
        f"/documents?words={quote(EVIL)}",
        *(f"/graph?name={quote(name)}" for name in names),
    ]
    told = 0
    for path in paths:
        shown = site.get(path)
        assert shown.status_code in (200, 404), path
        for name in ("\x1b", "\u202e"):
            assert name not in shown.text, path
        tree = html.fromstring(shown.text)
        scripts = {script.get("src") for script in tree.iter("script")}
        assert scripts <= {"/static/page.js", "/static/graph.js"}, path
        for element in tree.iter():
            assert element.tag not in ("img", "iframe", "object", "embed", "base"), path
            assert not any(name.startswith("on") for name in element.attrib), path
            assert "style" not in element.attrib, path
        told += "<script>alert(1)" in tree.text_content()
    assert told > 4
    ((_, data),) = events(site.post("/ask", data={"question": "森林覆盖率达到多少"}).text)
    assert "<script" not in json.loads(data)["html"]
    assert "\x1b" not in data


def test_the_file_is_given_as_it_is_and_not_as_a_page(hostile):
    site, base = hostile
    (card,) = base.documents()
    given = site.get(f"/original/{card.doc_id}")
    assert given.content == (HOSTILE["a"]).encode()
    assert given.headers["content-disposition"].startswith("attachment")
    assert given.headers["content-type"] == "application/octet-stream"


def test_a_page_of_a_pdf_is_a_picture_with_the_quote_marked(tmp_path):
    config = Config(embedding=EmbeddingConfig(model="hash-32"))
    with KnowledgeBase.open(tmp_path / "kb", config=config) as base, served(base) as site:
        assert not base.ingest([sample_folder() / "energy-saving-plan.pdf"]).failed
        (card,) = base.documents()
        (document,) = base.store.documents([card.doc_id])
        at = document.text.index("到2025年")
        place = f"{card.doc_id}:{at}-{at + 40}"
        assert site.get(f"/original/{card.doc_id}").headers["content-type"] == "application/pdf"
        assert site.get(f"/picture/{place}").content.startswith(b"\x89PNG")
        shown = html.fromstring(site.get(f"/page/{place}").text)
        width, height = map(float, shown.xpath("//*[name()='svg']/@viewbox")[0].split()[2:])
        boxes = shown.xpath("//*[name()='rect']")
        assert boxes
        for box in boxes:
            x, y, w, h = (float(box.get(name)) for name in ("x", "y", "width", "height"))
            assert 0 < x < x + w < width
            assert 0 < y < y + h < height
        assert site.get(f"/page/{card.doc_id}:0-99999").status_code == 400


def test_lines_hold_the_whole_text_with_quote_and_headings():
    text = "标题\n\n  一、目标。到2025年\n完成。\n"
    at = text.index("一、")
    headings = [Heading(at, at + 4, 2, "一、目标")]
    cited = (text.index("到2025"), text.index("完成") + 2)
    made = list(paragraphs(text, headings, cited))
    assert "".join(t for p in made for t, *_ in p.pieces) == text.replace("\n\n", "\n")
    assert [(p.level, p.pieces) for p in made] == [
        (0, (("标题\n", False, False),)),
        (2, (("  一、目标", True, False), ("。", False, False), ("到2025年\n", False, True))),
        (0, (("完成", False, True), ("。\n", False, False))),
    ]


def test_words_without_a_translation_stay():
    assert rendering.said("no such words", "zh") == "no such words"
