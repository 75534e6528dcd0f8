"""The pages."""

import ast
import inspect
import json
import re
from importlib import resources
from typing import Any
from urllib.parse import quote, urljoin

import pytest
from lxml import html

from kgrag import errors as errors_module
from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.metadata import Metadata
from kgrag.serve import pages, rendering
from kgrag.serve.pages import paragraphs
from kgrag.text.messages import catalogue
from kgrag.tools import TOOLS
from kgrag.tools.arguments import parameters
from kgrag.types import Heading
from tests.fixtures.kit import knowledge_base, write
from tests.fixtures.served import events, served

QUESTION = "到2025年四川省森林覆盖率达到多少？"
PATHS = (
    "/", "/search", "/documents", "/graph", "/problems", "/api", "/login", "/tables/targets",
    "/tables/compare", "/tables/who", "/tables/timeline", "/tables/conflicts", "/tables/cites",
    "/tables/cited-by", "/tables/basis", "/tables/digest", "/tables/graph-query",
)  # fmt: skip
# Tables with examples of what to ask for on a line each.
ASKING = [p for p in PATHS if p.startswith("/tables/") and p[8:] not in ("conflicts", "digest")]


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
    named |= set(TOOLS) | {name for one in TOOLS.values() for name in parameters(one.arguments)}
    named |= {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    fields = [pages._fields(one.arguments) for one in TOOLS.values()]
    named |= {value for of in fields for choices in of.values() for value in choices}
    named |= {f"by {by}" for by in ("province", "region", "document")}
    missing = {words for words in said if words not in catalogue("kgrag.serve")}
    assert not missing
    kinds = {
        "in_force", "not_yet", "expired", "repealed", "superseded", "over", "amended", "draft",
        "unknown", "unread", "skipped", "illegible", "warning",
        "title", "issuer", "date", "region", "short",
        "headings", "passages", "twin", "edition",
        "agency", "entity", "target", "value", "measure", "project", "technology", "standard",
        "deadline", "industry",
        "added", "replaced", "unchanged", "duplicate", "search index",
    }  # fmt: skip
    errors = {name for name in vars(errors_module) if name.endswith("Error")}
    assert set(catalogue("kgrag.serve")) <= said | named | kinds | errors
    assert kinds <= set(catalogue("kgrag.serve"))


@pytest.mark.parametrize(
    "path",
    ["/", *ASKING],
)
def test_an_empty_page_gives_examples_from_the_archive_that_find_something(site, path):
    tree = html.fromstring(site.get(path).text)
    links = tree.xpath("//main//ul[not(@class)]//a/@href")
    assert links
    for link in links[:3]:
        shown = site.get(urljoin(path, link))
        assert shown.status_code == 200
        found = html.fromstring(shown.text)
        assert found.xpath("//ol[@class='sources']/li | //tbody/tr")
    assert not html.fromstring(site.get(urljoin(path, links[0])).text).xpath("//ul[not(@class)]")


def test_a_question_in_the_address_is_answered(site):
    """Without a script, too; a reload gives the same."""
    shown = site.get("/", params={"question": QUESTION})
    tree = html.fromstring(shown.text)
    (link,) = tree.xpath("//div[@class='body']//a[@class='cite']")
    assert link.text == "[1]"
    assert "41%" in text_of(shown)
    assert "引文无误" in text_of(shown)
    assert site.get("/", params={"question": QUESTION}).text == shown.text


def test_a_follow_up_means_the_document_cited(site):
    turn = {"question": QUESTION, "answer": "41%[1]。", "cited": ["四川省绿色发展实施方案"]}
    asked = {"question": "这个方案还有效吗？", "history": [turn]}
    ((_, data),) = events(site.post("/ask", json=asked).text)
    assert json.loads(data)["question"] == "《四川省绿色发展实施方案》还有效吗？"


def test_the_address_of_a_follow_up_asks_the_same_again(site):
    """Reloaded, sent to others and saved: by the question as it was understood."""
    turn = {"question": "云南省森林覆盖率达到多少？", "answer": "", "cited": ["云南省意见"]}
    asked = {"question": "那四川呢？", "region": ["四川"], "in_force": True, "history": [turn]}
    ((_, data),) = events(site.post("/ask", json=asked).text)
    told = json.loads(data)
    assert told["question"] == "四川森林覆盖率达到多少？"
    reloaded = html.fromstring(site.get(f"/?{told['address']}").text)
    answer = html.fromstring(told["html"])
    assert answer.xpath("//div[@class='body']")
    again, first = (tree.xpath("string(//div[@class='body'])") for tree in (reloaded, answer))
    assert again == first
    assert reloaded.xpath("//input[@name='region']/@value") == ["四川"]
    links = answer.xpath("//p[@class='actions']/a/@href")
    assert len(links) == 3
    for link in links:
        saved = site.get(link)
        assert saved.status_code == 200
        assert "41%" in saved.text or link.endswith("docx")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/tables/targets?places=四川", "没有名为“places”的条件；相近的有：place"),
        ("/documents?regions=四川", "没有名为“regions”的条件；相近的有：region"),
        ("/tables/compare?indicatr=森林", "没有名为“indicatr”的条件；相近的有：indicator"),
        ("/?question=森林&regions=云南", "没有名为“regions”的条件；相近的有：region"),
        ("/search?question=森林&regions=云南", "没有名为“regions”的条件；相近的有：region"),
        ("/graph?entit=森林覆盖率", "没有名为“entit”的条件；相近的有：entity"),
        ("/graph?entity=森林覆盖率&limits=1", "没有名为“limits”的条件；相近的有：limit"),
        ("/overview?years=2022", "没有名为“years”的条件"),
        ("/problems?kind=unread", "没有名为“kind”的条件"),
        ("/tables/targets?place=川四省", "没有名为“川四省”的地区；相近的有：四川省"),
        ("/tables/timeline?place=川四省", "没有名为“川四省”的地区；相近的有：四川省"),
    ],
)
def test_an_unknown_condition_is_refused_with_the_nearest(site, path, said):
    """Ignored, it would show all rows, or none."""
    shown = site.get(path)
    assert shown.status_code in (400, 404)
    assert said in text_of(shown)


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


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/nothing", 404, "没有找到"),
        ("/tables/none", 404, "没有找到"),
        ("/documents/none", 404, "没有找到"),
        ("/documents?region=火星", 404, "没有找到"),
        ("/search?question=林&top_k=0", 400, "不符合要求"),
        ("/?question=" + "林" * 5000, 400, "不符合要求"),
    ],
)
def test_an_error_is_a_page_in_the_language_asked_for(site, path, status, says):
    shown = site.get(path, headers={"accept": "text/html"})
    assert shown.status_code == status
    assert says in text_of(shown)
    assert site.get("/nothing").json()["error"]["type"] == "NotFoundError"


def test_a_name_that_is_not_held_leads_to_the_nearest_one(site):
    """The link asks the same of the name that there is; the API lists the names."""
    for path, name in (
        ("/tables/targets?due=2025&indicator=森林复盖率", "森林覆盖率"),
        ("/tables/cites?document=四川省绿色方案", "四川省绿色发展实施方案"),
        ("/documents/四川省绿色方案", "四川省绿色发展实施方案"),
    ):
        told = site.get(path, headers={"accept": "text/html"})
        assert told.status_code == 404
        (link,) = html.fromstring(told.text).xpath(f"//main//li/a[text()='{name}']/@href")
        shown = site.get(urljoin(path, link))
        assert shown.status_code == 200
        assert name in text_of(shown)
    error = site.get("/api/targets", params={"indicator": "森林复盖率"}).json()["error"]
    assert error["nearest"][0] == "森林覆盖率"


def test_documents_are_filtered_and_counted(site, policies):
    n = policies.counts().documents
    assert f"{n} / {n}" in text_of(site.get("/documents"))
    few = site.get("/documents", params={"region": "成都"})
    assert f"1 / {n}" in text_of(few)
    assert site.get("/documents", params={"region": "火星"}).status_code == 404


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


def test_citations_of_a_document_are_titles_that_lead_there_with_the_quote(site, policies):
    """Its own title and ids of documents stand in none of them; in tables neither."""
    title = "四川省绿色发展实施方案"
    card = policies.find_document(title)
    tree = html.fromstring(site.get(f"/documents/{card.doc_id}").text)
    cites, cited_by = tree.xpath("//ul[@class='stated']")
    for part, other, role in ((cites, "绿色发展行动方案", "落实"), (cited_by, "成都市", "落实")):
        (held,) = (a for a in part.xpath(".//a[not(@class)]") if other in a.text)
        assert html.fromstring(site.get(held.get("href")).text).xpath("string(//h1)") in held.text
        line = held.getparent()
        quote = line.xpath("./a[contains(@class,'quoted')]")[0]
        shown = html.fromstring(site.get(quote.get("href").partition("#")[0]).text)
        assert shown.xpath("string(//mark)") in quote.text
        said = line.text_content()
        assert role in said
        assert not re.search("d-[0-9a-f]{8}", said)
        assert title not in said.replace(quote.text, "")
    listed = html.fromstring(site.get("/tables/cited-by", params={"document": title}).text)
    (row,) = listed.xpath("//tbody/tr")
    assert row.xpath("./td[2]/a/text()") == ["《成都市绿色发展工作方案》"]
    assert "d-" not in row.text_content()


def test_a_national_document_says_so_and_titles_have_room(site):
    """Without a region it is national only if its issuer is."""
    tree = html.fromstring(site.get("/documents").text)
    places = {r.xpath("string(td[1])"): r.xpath("string(td[5])") for r in tree.xpath("//tbody/tr")}
    assert (places["绿色发展行动方案"], places["四川省绿色发展实施方案"]) == ("全国", "四川省")
    assert tree.xpath("//th[@class='long']/text()") == ["标题"]
    module: Any = rendering._environment().get_template("where.html").module
    place = module.where
    assert [place(Metadata(level=level)) for level in ("国家", "部门", "省", "")] == [
        "全国", "全国", "", "",
    ]  # fmt: skip


def test_only_warnings_stand_in_amber(site):
    """How many documents were looked at is none; that a figure is of another year is."""
    tree = html.fromstring(site.get("/", params={"question": "四川省2025年森林覆盖率"}).text)
    assert tree.xpath("//p[@class='note']")
    assert not tree.xpath("//p[@class='warning']")


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
    tree = html.fromstring(site.get("/graph", params={"entity": "森林覆盖率"}).text)
    edges = tree.xpath("//*[contains(@class,'edge')]")
    rows = tree.xpath("//li[starts-with(@id,'fact-')]")
    assert len(edges) == len(rows) > 0
    assert all(row.xpath("./p/a[@class='cite']") for row in rows)
    assert {f"#{row.get('id')}" for row in rows} >= set(tree.xpath("//a[@class='dot r0']/@href"))


def test_the_first_page_of_the_graph_names_no_values(site):
    """They have many facts, but nobody looks for 2020年100%."""
    tree = html.fromstring(site.get("/graph").text)
    assert "森林覆盖率" in tree.xpath("//ul[@class='names']//a/text()")
    assert not [name for name in tree.xpath("//ul[@class='names']//a/text()") if "%" in name]
    assert {"机构", "指标", "文件"} <= set(tree.xpath("//main//h2/text()"))


def test_the_graph_is_grouped_by_relation_in_colours_with_a_list_beside_it(tmp_path):
    """牵头, 负责 and 配合 are told apart; list, legend and drawing have one colour for each."""
    duties = "".join(
        f"（{n}）建设{what}体系。（{role}：省生态环境厅）\n"
        for n, (what, role) in enumerate(
            [
                ("监测", "牵头单位"),
                ("预警", "牵头单位"),
                ("评估", "责任单位"),
                ("执法", "配合单位"),
            ],
            1,
        )
    )
    text = f"云岭省生态保护方案\n一、重点任务\n{duties}"
    with knowledge_base(tmp_path, {"plan": text}, "hash-32") as base, served(base) as one:
        tree = html.fromstring(one.get("/graph", params={"entity": "云岭省生态环境厅"}).text)
    listed = tree.xpath("//div[@class='relations']//summary")
    assert [" ".join(part.text_content().split()) for part in listed] == [
        "牵头 2", "负责 1", "配合 1",
    ]  # fmt: skip
    for n, part in enumerate(listed):
        assert part.xpath("./span/@class") == [f"key r{n}"]
        numbers = {f"#{i}" for i in part.xpath("..//li/@id")}
        assert set(tree.xpath(f"//a[@class='dot r{n}']/@href")) == numbers
    hubs = tree.xpath("//*[starts-with(@class,'hub')]/text()")
    assert {name for hub in hubs for name in ("牵头", "负责", "配合") if name in hub} == {
        "牵头", "负责", "配合",
    }  # fmt: skip
    assert "牵头 2" in " ".join(tree.xpath("string(//p[contains(@class,'legend')])").split())


def test_an_entity_has_its_documents(site):
    """Tables lead to it."""
    listed = html.fromstring(site.get("/tables/targets", params={"indicator": "森林"}).text)
    link = listed.xpath("//td/a[contains(@href,'/graph')]/@href")[0]
    tree = html.fromstring(site.get(link).text)
    assert tree.xpath("normalize-space(//h1)").startswith("森林覆盖率 指标 · ")
    assert "成都市绿色发展工作方案" in tree.xpath("string(//ul[@class='names'])")
    assert site.get("/graph?entity=没有的东西", headers={"accept": "text/html"}).status_code == 404


EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\u202e"
HOSTILE = {
    "a": f"某省{EVIL}绿色发展实施方案\n一、目标{EVIL}\n到2025年，森林覆盖率达到41%{EVIL}。\n"
    f"根据《绿色{EVIL}发展办法》，省林业局负责森林保护{EVIL}工作。\n",
    "b": f"乙省{EVIL}绿色发展实施方案\n一、目标{EVIL}\n到2030年，森林覆盖率达到51%{EVIL}。\n",
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    config = Config(embedding=EmbeddingConfig(model="hash-32"))
    file, other = write(folder, HOSTILE)
    named = file.rename(folder / "<b onclick=alert(3)>&quot;.txt")
    with KnowledgeBase.open(folder / "kb", config=config) as base:
        assert not base.ingest([named, other]).failed
        with served(base) as made:
            yield made, base


def test_markup_and_control_characters_of_documents_are_shown_not_obeyed(hostile):
    site, base = hostile
    card, other = base.documents()
    names = [named.name for named in base.entities(limit=50)]
    paths = [
        *PATHS,
        "/?question=森林覆盖率达到多少",
        f"/?question={quote(EVIL)}",
        "/search?question=森林覆盖率",
        f"/documents/{card.doc_id}",
        f"/documents/{card.doc_id}:0-40?panel=1",
        "/tables/targets?indicator=森林",
        "/tables/compare?indicator=森林",
        f"/tables/compare?indicator={quote(EVIL)}",
        "/tables/timeline?since=2000",
        f"/tables/cites?document={card.doc_id}",
        f"/documents?words={quote(EVIL)}",
        *(f"/graph?entity={quote(name)}" for name in names),
        f"/tables/digest?old={card.doc_id}&new={other.doc_id}",
    ]
    told = 0
    for path in paths:
        shown = site.get(path, headers={"accept": "text/html"})
        assert shown.status_code in (200, 404), path
        for name in ("\x1b", "\u202e"):
            assert name not in shown.text, path
        tree = html.fromstring(shown.text)
        scripts = {script.get("src").partition("?")[0] for script in tree.iter("script")}
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
    card = next(card for card in base.documents() if card.file.endswith("&quot;.txt"))
    given = site.get(f"/original/{card.doc_id}")
    assert given.content == (HOSTILE["a"]).encode()
    assert given.headers["content-disposition"].startswith("attachment")
    assert given.headers["content-type"] == "application/octet-stream"


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
