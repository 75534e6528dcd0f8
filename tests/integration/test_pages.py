"""The pages of `kgrag serve` in a real browser, as an analyst uses them.

KGRAG_UPDATE_GUIDE=1 writes the pictures to `docs/`.
"""

import os
import re
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

import openpyxl
import pypdfium2
import pytest

from tests.fixtures import extent
from tests.fixtures.chromium import chromium, missing
from tests.fixtures.kit import knowledge_base
from tests.fixtures.served import serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
UPDATE = os.environ.get("KGRAG_UPDATE_GUIDE", "") not in ("", "0")
ASKED = "到2025年，各省、市的非化石能源消费比重、绿色工厂目标分别是多少？"
FIGURE = "到2025年，云岭省非化石能源消费比重要达到多少？"
EDGE = 5  # pixels of the edge around a caption, which boxes include
IN_VIEW = """() => {
  const box = document.querySelector("mark.quote").getBoundingClientRect();
  return box.bottom > 0 && box.top < 860;
}"""
PATHS = (
    "",
    f"?question={quote(FIGURE)}",
    "documents",
    f"search?question={quote('绿色工厂')}",
    f"tables/compare?indicator={quote('绿色工厂')}",
    "tables/timeline?since=2000",
    f"graph?entity={quote('云岭省碳达峰实施方案')}&hops=2",
    "graph",
    "overview",
    "problems",
    "api",
    "login",
)


@pytest.fixture(scope="module")
def site(sample_kb):
    with serving(sample_kb) as (address, _):
        yield address


@pytest.fixture(scope="module")
def browser():
    with chromium() as made:
        yield made


@pytest.fixture
def page(browser, site, request):
    """A page whose requests all go to the server, and that has no error of a script."""
    options = getattr(request, "param", {"viewport": {"width": 1280, "height": 860}})
    context = browser.new_context(locale="zh-CN", accept_downloads=True, **options)
    page = context.new_page()
    elsewhere: list[str] = []
    errors: list[str] = []
    messages: list[tuple[str, str]] = []
    page.on("request", lambda request: elsewhere.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda told: messages.append((told.type, told.text)))
    yield page
    context.close()
    assert not [url for url in elsewhere if not url.startswith((site, "data:"))]
    assert not errors
    assert not [told for told in messages if told[0] in ("error", "warning")]


def picture(page, name):
    """Write a picture for the docs, where it is asked for."""
    if UPDATE:
        from PIL import Image

        with Image.open(BytesIO(page.screenshot())) as shot:
            shot.quantize(64).save(PICTURES / name, optimize=True)


def ask(page, site, question):
    """Type a question, and wait for its answer."""
    page.goto(site)
    page.fill("#question", question)
    page.keyboard.press("Enter")
    page.wait_for_selector(".answer .sources")


def test_a_figure_is_asked_for_and_checked_in_its_source(page, site):
    """Question, [1], source beside it with the quote in view; back by keyboard."""
    ask(page, site, FIGURE)
    assert "38%" in page.inner_text(".answer .body")
    assert "question=" in page.url
    page.click(".answer .body .cite")
    page.wait_for_selector("#panel mark")
    assert "38%" in page.inner_text("#panel mark")
    assert "云岭省碳达峰实施方案" in page.inner_text("#panel")
    assert page.locator("#panel mark").bounding_box()["y"] < 860
    picture(page, "serve-answer.png")
    page.keyboard.press("Escape")
    assert page.locator("#panel").is_hidden()
    page.reload()
    assert "38%" in page.inner_text(".answer .body")


def test_a_question_may_lean_on_the_one_before(page, site):
    """It is said how it was understood, the answer before stays; a new conversation forgets."""
    ask(page, site, FIGURE)
    page.fill("#question", "2030年呢？")
    page.keyboard.press("Enter")
    page.wait_for_selector("h2.asked >> text=理解为")
    assert quote("云岭省") in page.url  # the address has the question as understood
    assert "45%" in page.inner_text("#answer .body")
    for _ in range(2):  # a reload does not lose it, nor shows the present one twice
        assert "38%" in page.inner_text("#thread .answer")
        page.reload()
        page.wait_for_selector("#answer .answer")
        assert page.locator("#thread .answer").count() == 1
    page.click("#thread .body .cite")
    page.wait_for_selector("#panel mark")
    assert "38%" in page.inner_text("#panel mark")
    assert page.locator("#answer .current").count() == 0
    page.goto(site)
    assert page.locator("#thread .answer").count() == 2
    page.click(".anew")
    assert page.locator(".turns").is_hidden()
    assert page.locator("#thread").is_hidden()
    page.fill("#question", "2030年呢？")
    with page.expect_response(lambda response: response.url.endswith("/ask")):
        page.keyboard.press("Enter")
    page.wait_for_selector("button.go:visible")
    assert "理解为" not in page.inner_text("#answer")


def test_citations_are_gone_through_by_keyboard(page, site):
    ask(page, site, ASKED)
    n = page.locator(".sources li").count()
    assert n > 1
    page.locator("h2.asked").click()
    quotes: list[str] = []
    for _ in range(n):
        with page.expect_response(re.compile("panel=1")):
            page.keyboard.press("j")
        page.wait_for_function(
            "q => (document.querySelector('#panel mark')?.textContent ?? q) !== q",
            arg=quotes[-1] if quotes else "",
        )
        quotes.append(page.text_content("#panel mark"))
        shown = page.locator(".answer .body .cite.current").first.inner_text()
        assert shown == f"[{len(quotes)}]"
    assert len(set(quotes)) == n
    assert page.locator("#panel .next").is_disabled()


def test_a_citation_leads_to_its_whole_document_at_the_quote(page, site):
    ask(page, site, FIGURE)
    page.click(".answer .body .cite")
    page.click("#panel >> text=查看全文")
    page.wait_for_function(IN_VIEW)
    page.click("nav.outline a >> nth=1")
    assert "#at-" in page.url


def test_a_comparison_is_sorted_and_saved(page, site):
    page.goto(f"{site}tables/compare")
    page.fill("input[name=indicator]", "绿色工厂")
    page.select_option("select[name=by]", "document")
    page.click("form button >> text=显示")
    rows = page.locator("table.sortable tbody tr")
    assert rows.count() > 1
    picture(page, "serve-compare.png")
    before = rows.locator(":is(th, td):first-child").all_inner_texts()
    page.click("table.sortable th button >> nth=0")  # by sound: 青川 before 云岭
    after = rows.locator(":is(th, td):first-child").all_inner_texts()
    assert after != before
    assert sorted(after) == sorted(before)
    with page.expect_download() as saving:
        page.click("text=Excel")
    book = openpyxl.load_workbook(BytesIO(saving.value.path().read_bytes()))
    sheet = book.worksheets[0]
    told = [row[0] for row in sheet.iter_rows(min_row=2, values_only=True)]
    assert sorted(map(str, told)) == sorted(before)


def test_a_figure_and_an_event_open_their_clause_beside_them(page, site):
    """And closes it by keyboard."""
    page.goto(f"{site}tables/compare?indicator={quote('绿色工厂')}")
    page.locator("td.clauses a.cite").first.click()
    page.wait_for_selector("#panel mark")
    assert "绿色工厂" in page.inner_text("#panel mark")
    page.goto(f"{site}tables/timeline?since=2000")
    page.locator("td.clauses a.cite").first.click()
    page.wait_for_selector("#panel mark")
    page.keyboard.press("Escape")


def test_a_comparison_is_printed_on_one_page(page, site):
    """On a broad one, without menu and form, and with its heading; heads stand on every page."""
    page.goto(f"{site}tables/compare?indicator={quote('绿色工厂')}")
    printed = pypdfium2.PdfDocument(page.pdf(prefer_css_page_size=True))
    assert len(printed) == 1
    width, height = printed[0].get_size()
    assert width > height
    said = printed[0].get_textpage().get_text_bounded()
    assert "对比 绿色工厂" in said
    assert "菜单" not in said
    page.goto(f"{site}tables/timeline?since=2000")
    printed = pypdfium2.PdfDocument(page.pdf(prefer_css_page_size=True))
    texts = ["".join(one.get_textpage().get_text_bounded().split()) for one in printed]
    assert len(texts) > 1
    assert all("日期事件内容" in text for text in texts)


def test_documents_are_found_by_facets(page, site):
    page.goto(f"{site}documents")
    everything = page.locator("tbody tr").count()
    link = page.locator("nav.facets details:has(summary:text('地区')) a").first
    name = link.inner_text()
    n = int(page.locator("nav.facets details:has(summary:text('地区')) li span").first.inner_text())
    link.click()
    assert page.locator("tbody tr").count() == n <= everything
    assert page.locator("nav.facets a[aria-current]").inner_text() == name
    page.locator("nav.facets a[aria-current]").click()
    assert page.locator("tbody tr").count() == everything


def test_the_slider_asks_as_of_a_year(page, site):
    """Its end is today."""
    page.goto(f"{site}documents?as_of=2021-12-31")
    slider = page.locator(".slider input")
    assert page.inner_text(".slider output") == "2021"
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert page.input_value("[name=as_of]") == "2020-12-31"
    page.keyboard.press("End")
    assert page.input_value("[name=as_of]") == ""


def test_the_graph_lights_what_hangs_together_and_leads_to_the_sentence(page, site):
    page.goto(f"{site}graph?entity={quote('云岭省碳达峰实施方案')}")
    dot = page.locator(".node .dot").first
    dot.hover()
    assert page.locator(".node.lit").count() == 2
    assert page.locator(".edge.lit").count() >= 1
    dot.click()
    assert "#fact-" in page.url
    assert page.locator(".relations li:target p").first.inner_text()
    page.locator("h1").hover()
    assert page.locator("svg.dim").count() == 0


def test_captions_of_two_hundred_nodes_can_be_read_and_do_not_overlap(browser, tmp_path):
    """Every entity is named, at the size of text, and no caption covers another or a dot."""
    words = [a + b for a in "节水土林草矿渔牧农工商税水电路" for b in "能污地木原山业场田厂"]
    named = "".join(f"《云岭省{word}资源保护管理办法》、" for word in words)
    text = f"云岭省资源保护实施方案\n依据{named}制定本方案。\n"
    with knowledge_base(tmp_path, {"plan": text}), serving(tmp_path / "kb") as (address, _):
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(f"{address}graph?entity={quote('云岭省资源保护实施方案')}&limit=300")
        assert page.locator(".node").count() > 140
        boxes = page.locator(".node text, .node .dot > *, .hub").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect().toJSON())"
        )
        page.close()
    assert len(boxes) > 2 * 140
    assert all(box["height"] >= 10 for box in boxes)
    for n, one in enumerate(boxes):
        for other in boxes[:n]:
            apart = (
                one["right"] <= other["left"] + EDGE
                or other["right"] <= one["left"] + EDGE
                or one["bottom"] <= other["top"] + EDGE
                or other["bottom"] <= one["top"] + EDGE
            )
            assert apart, (one, other)


@pytest.mark.parametrize(
    "page",
    [{"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}],
    indirect=True,
    ids=["phone"],
)
def test_it_can_be_used_on_a_phone_in_the_dark(page, site):
    """Nothing stands beside the screen, and the source comes up from below."""
    for path in PATHS:
        page.goto(site + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
        assert page.locator(".top").bounding_box()["height"] < 60, path
    page.click(".menu summary")
    page.click(".menu >> text=文件")
    assert page.url.endswith("/documents")
    ask(page, site, FIGURE)
    page.click(".answer .body .cite")
    page.wait_for_selector("#panel mark")
    box = page.locator("#panel").bounding_box()
    assert box["width"] == 390
    assert box["y"] > 200
    picture(page, "serve-phone.png")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", dark))) < 60


@pytest.mark.parametrize(
    ("page", "lang", "paths"),
    [
        ({"color_scheme": "light"}, "zh", PATHS),
        ({"color_scheme": "dark"}, "en", extent.among(PATHS, 5)),
    ],
    indirect=["page"],
)
def test_axe_finds_nothing_serious(page, site, lang, paths):
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        missing("axe-playwright-python (pip install 'kgrag[integration]')")
    found = []
    for path in paths:
        page.goto(f"{site}{path}{'&' if '?' in path else '?'}lang={lang}")
        if "?question" in path and not path.startswith("search"):
            page.click(".answer .body .cite")
            page.wait_for_selector("#panel mark")
        for violation in Axe().run(page).response["violations"]:
            where = [node["html"][:120] for node in violation["nodes"]]
            found.append((path, violation["impact"], violation["id"], where))
    assert not [one for one in found if one[1] in ("serious", "critical")]


def test_without_a_script_it_answers_too(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site)
    page.fill("#question", FIGURE)
    page.click("button.go")
    assert "38%" in page.inner_text(".answer .body")
    page.click(".answer .body .cite")
    assert "38%" in page.inner_text("mark.quote")
    assert page.locator(".menu a >> nth=1").is_visible()
    page.goto(f"{site}tables/timeline?since=2000")
    page.locator("td.clauses a.cite").first.click()
    assert page.locator("mark.quote").first.is_visible()
    context.close()
