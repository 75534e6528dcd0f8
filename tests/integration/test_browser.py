"""The pack for Neo4j Browser, loaded and used in the real Browser as an analyst does it.

KGRAG_UPDATE_GUIDE=1 writes the results on the sample documents and the pictures to `docs/`.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kgrag.api import KnowledgeBase
from kgrag.cli.browser import page_address, saved_queries, style_sheet, write_pack
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.samples import sample_folder
from tests.fixtures import extent
from tests.fixtures.chromium import chromium
from tests.neo4j_server.plugin import clear, driver_of

pytestmark = [pytest.mark.neo4j, pytest.mark.browser, pytest.mark.slow]

DOCS = Path(__file__).parents[2] / "docs"
UPDATE = os.environ.get("KGRAG_UPDATE_GUIDE", "") not in ("", "0")
LABELS = {
    *("Document", "Chunk", "ParentChunk", "ChildChunk", "Summary", "Entity"),
    *("KgragDocument", "KgragChunk", "KgragSummary", "KgragEntity"),
    *("Target", "Duty", "Organ", "Region"),
    *("KgragTarget", "KgragDuty", "KgragOrgan", "KgragRegion"),
}
GRAPHS = {"02", "03", "04", "05", "08", "09", "11", "17", "19", "23", "24", "25", "26", "27"}
PICTURES = {
    "citation-network.png": ("03", ""),
    "evidence.png": ("11", "绿色工厂评定暂行办法"),
    "targets.png": ("27", "绿色工厂培育管理办法"),
}
QUERIES = {query.file[:2]: query for query in saved_queries()}

RUN = '[data-testid="editor-Run"]'
FRAME = '[data-testid="frame"]'
NODE = f"{FRAME} svg.neod3viz g.node"
COUNTED = "'svg.neod3viz g.node'"
ROW = f"{FRAME} table tbody tr"
ERROR = '[data-testid="cypherFrameErrorMessage"]'
DROP = """([name, bytes]) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(bytes)], name));
  for (const kind of ['dragenter', 'dragover', 'drop'])
    document.querySelector('.filedrop').dispatchEvent(
      new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: data}));
}"""
NODES = r"""nodes => nodes.map(node => {
  const circle = node.querySelector('circle.b-outline');
  const texts = [...node.querySelectorAll('text.caption')].map(t => t.textContent.trim());
  return [circle.getAttribute('fill'), circle.getAttribute('r'), texts.join('').replace(/\s/g, '')];
})"""
STILL = """() => {
  const moved = document.querySelectorAll('svg.neod3viz [transform]');
  const places = [...moved].map(element => element.getAttribute('transform')).join();
  window.still = places === window.places ? window.still + 1 : 0;
  window.places = places;
  return window.still > 8;
}"""


@dataclass(frozen=True)
class Browser:
    """Neo4j Browser in a page of Chromium, connected."""

    page: Any

    def drop(self, name, content):
        """Drag a file onto the page."""
        self.page.evaluate(DROP, [name, list(content)])

    def clear(self):
        """Close all results."""
        close = self.page.locator(f'{FRAME} button[title="Close"]')
        while close.count():
            close.first.click()

    def paste(self, text):
        """Drop a query and choose to put it into the editor; run it; wait for its result."""
        self.clear()
        self.drop("query.cypher", text.encode())
        self.page.click(".filedrop-paste-in-editor")
        self.page.click(RUN)
        self.page.wait_for_selector(f"{NODE}, {ROW}, {ERROR}")
        assert not self.page.locator(ERROR).count(), self.page.locator(FRAME).first.inner_text()

    def settle(self):
        """Wait until nothing moves; to close a picture that moves stops all later ones."""
        self.page.evaluate("window.still = 0")
        self.page.wait_for_function(STILL, polling=250)

    def nodes(self):
        """Return (fill colour, radius, caption) of every node drawn."""
        return [tuple(node) for node in self.page.locator(NODE).evaluate_all(NODES)]

    def captions(self):
        """Return the captions of the relationships drawn; they are empty while nodes overlap."""
        self.settle()
        texts = f"{FRAME} svg.neod3viz g.relationship text"
        return set(self.page.locator(texts).all_text_contents())

    def rows(self):
        """Return how many rows the table shows."""
        return self.page.locator(ROW).count()


@pytest.fixture(scope="module")
def samples(neo4j_server):
    """A server that holds the sample documents."""
    if neo4j_server is None:
        pytest.skip("KGRAG_TEST_NEO4J_URI does not say where Neo4j Browser is")
    clear(neo4j_server.uri)
    with KnowledgeBase.open(neo4j_server.uri, create=True, embedder=HashEmbedder()) as kb:
        kb.ingest([sample_folder()])
    return neo4j_server


@pytest.fixture(scope="module")
def session(samples):
    """A session with the server that holds the samples."""
    with driver_of(samples.uri) as driver, driver.session() as session:
        yield session


@pytest.fixture(scope="module")
def browser(samples, tmp_path_factory):
    """Neo4j Browser with the pack as `kgrag browser` writes it, dragged onto the page."""
    pack = tmp_path_factory.mktemp("pack")
    write_pack(pack)
    with chromium() as made:
        page = made.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(f"{samples.http}/browser/?{page_address(samples.uri).partition('?')[2]}")
        page.wait_for_selector("text=You have a working connection", timeout=60_000)
        browser = Browser(page)
        for file in sorted(pack.iterdir()):
            browser.drop(file.name, file.read_bytes())
        page.wait_for_selector(f"{FRAME} >> text=relationship.RELATED")
        yield browser


def test_archive_becomes_a_folder_of_saved_queries_in_order(browser):
    """One drag and drop, and every query stands under the star, sorted by its number."""
    page = browser.page
    page.click('[data-testid="navigationFavorites"]')
    page.click('[data-testid="expandFolder-kgrag"]')
    page.wait_for_selector('[data-testid="savedScriptListItem"]')
    shown = page.locator('[data-testid="savedScriptListItem"]').all_inner_texts()
    page.click('[data-testid="navigationFavorites"]')
    assert [text.strip() for text in shown][: len(QUERIES)] == [q.title for q in QUERIES.values()]


@pytest.mark.parametrize("number", extent.among(sorted(GRAPHS), 2))
def test_query_draws_a_graph(browser, number):
    """Without an error; each node has a caption and a colour of the sheet."""
    browser.paste(QUERIES[number].text)
    nodes = browser.nodes()
    assert {fill for fill, _, _ in nodes} <= set(re.findall(r"\n  color: (#\w+);", style_sheet()))
    assert all(caption for _, _, caption in nodes)


@pytest.mark.parametrize("number", extent.among(sorted(QUERIES.keys() - GRAPHS), 2))
def test_query_fills_a_table(browser, number):
    """Without an error, at least one row."""
    browser.paste(QUERIES[number].text)
    assert not browser.nodes()
    assert browser.rows() >= 1


def rule(selector):
    """Return the (fill colour, radius) that the style sheet gives to a kind of node."""
    (text,) = re.findall(rf"^{selector} \{{([^}}]+)", style_sheet(), re.M)
    values = dict(re.findall(r"([\w-]+): (.+);", text))
    return values["color"], str(int(values["diameter"].removesuffix("px")) / 2).removesuffix(".0")


def test_document_is_drawn_as_the_style_sheet_says(browser):
    """Colour, size and the name by which others cite it."""
    browser.paste("MATCH p = (d {name: '青川市碳达峰行动计划'})-[:CITES]->() RETURN p")
    assert {(fill, radius) for fill, radius, _ in browser.nodes()} == {rule("node.Document")}
    assert "青川市碳达峰行动计划" in {caption for _, _, caption in browser.nodes()}
    assert browser.captions() <= {"依据", "落实", "引用", "提及"}


def test_child_wins_over_chunk(browser):
    """A chunk has two labels; the rule of the narrower one comes later and wins."""
    browser.paste("MATCH p = (:ParentChunk)-[:HAS_CHILD]->({size: 1024}) RETURN p LIMIT 3")
    looks = {(fill, radius) for fill, radius, _ in browser.nodes()}
    assert looks == {rule("node.ParentChunk"), rule("node.ChildChunk")}
    assert "细分" in browser.captions()


def test_fact_is_captioned_by_its_predicate(browser):
    """RELATED says nothing; what the document says does."""
    browser.paste("MATCH p = (:Entity)-[:RELATED {predicate: '依据'}]->(:Entity) RETURN p LIMIT 1")
    assert "依据" in browser.captions()
    assert "RELATED" not in browser.captions()


def test_double_click_shows_neighbours_and_again_hides_them(browser):
    """So an analyst goes from node to node; nothing of the bookkeeping is among them."""
    browser.paste("MATCH (d:Document {name: '青川市碳达峰行动计划'}) RETURN d")
    # The node itself: its organ, its place and its targets have the same words on them.
    node = browser.page.locator(NODE, has_text="青川市").first.element_handle()
    double_click(browser, node, f"() => document.querySelectorAll({COUNTED}).length > 5")
    labels = browser.page.locator('[data-testid^="property-details-overview-node-label-"]')
    assert {text.split(" ")[0] for text in labels.all_inner_texts()} <= LABELS | {"*"}
    double_click(browser, node, f"() => document.querySelectorAll({COUNTED}).length === 1")
    browser.settle()


def double_click(browser, node, condition):
    """Double-click a node until it does something, whatever lies over it or is still moving."""
    from playwright.sync_api import TimeoutError as LateError

    for _ in range(5):
        node.dispatch_event("dblclick")
        try:
            browser.page.wait_for_function(condition, timeout=8_000)
        except LateError:
            continue
        return
    browser.page.wait_for_function(condition)


def test_queries_find_something_and_nothing_of_the_bookkeeping(session):
    """Rows, or 2 to 150 nodes of documents and knowledge; no vectors.

    A name that the knowledge base does not hold is no dead end, save for plain searches.
    """
    for number, query in QUERIES.items():
        records = list(session.run(query.text))
        nodes, _ = drawn(records)
        assert 2 <= len(nodes) <= 150 if number in GRAPHS else records and not nodes, number
        assert {label for node in nodes for label in node.labels} <= LABELS, number
        assert not [v for node in nodes for v in node.values() if is_vector(v)], number
        text = re.sub(r"^(WITH .*?)'[^']+'(, '[^']+')?", r"\1'无此名称'\2", query.text, flags=re.M)
        assert session.run(text).data() or number in {"07", "12", "22"}, number


def is_vector(value):
    return isinstance(value, list) and len(value) > 50 and isinstance(value[0], float)


def drawn(records):
    """Return the nodes and relationships of records."""
    from neo4j.graph import Node, Path, Relationship

    nodes, links = set(), set()
    for value in (value for record in records for value in record.values()):
        if isinstance(value, Node):
            nodes.add(value)
        elif isinstance(value, Relationship):
            links.add(value)
        elif isinstance(value, Path):
            nodes.update(value.nodes)
            links.update(value.relationships)
    return nodes, links


def result(session, query):
    """Describe what a query returns on the samples, for the guide."""
    answer = session.run(query.text)
    columns, records = answer.keys(), list(answer)
    nodes, links = drawn(records)
    if nodes:
        return f"{len(nodes)} nodes, {len(links)} relationships"
    return f"{len(records)} row{'s' * (len(records) != 1)}: {', '.join(columns)}"


def test_guide_says_what_every_query_returns(session):
    """The table of `docs/browser.md` is true of the sample documents."""
    guide = DOCS / "browser.md"
    rows = [
        f"| {q.title.replace(' ', ' | ', 1)} | {q.english} | {result(session, q)} |\n"
        for q in QUERIES.values()
    ]
    text = guide.read_text("utf-8")
    head, _, tail = re.split(r"((?:^\| \d\d \|.*\n)+)", text, maxsplit=1, flags=re.M)
    if UPDATE:
        guide.write_text(head + "".join(rows) + tail, "utf-8")
    assert guide.read_text("utf-8") == head + "".join(rows) + tail


@pytest.mark.parametrize("file", sorted(PICTURES))
def test_picture_of_the_guide_is_small_and_drawn_again_on_demand(browser, file):
    """Below 100 kB each."""
    if UPDATE:
        number, name = PICTURES[file]
        first, rest = QUERIES[number].text.split("MATCH", 1)
        browser.page.set_viewport_size({"width": 1000, "height": 900})
        browser.paste(re.sub(r"'.+'", f"'{name}'", first, count=1) + "MATCH" + rest)
        browser.settle()
        browser.page.click('[aria-label="zoom-to-fit"]')
        browser.settle()
        from PIL import Image  # comes with the libraries of the extra `integration`

        path = DOCS / "pictures" / file
        browser.page.locator(FRAME).first.screenshot(path=path)
        Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)
    assert 10_000 < (DOCS / "pictures" / file).stat().st_size < 100_000


def test_a_sheet_of_a_named_knowledge_base_draws_the_one_without_a_name_too(browser, session):
    """The Browser has one sheet at a time; also where ours have no label but their own."""
    session.run(
        "CREATE (:Entity:KgragEntity_energy {caption: '甲'}), "
        "(:KgragEntity_energy {caption: '乙'}), (:KgragEntity {caption: '丙'})"
    ).consume()
    browser.clear()
    browser.drop("kgrag.grass", style_sheet("energy").encode())
    browser.page.wait_for_selector(f"{FRAME} >> text=KgragEntity_energy")
    browser.paste("MATCH (n) WHERE n.caption IN ['甲', '乙', '丙'] RETURN n")
    assert {(fill, radius) for fill, radius, _ in browser.nodes()} == {rule("node.Entity")}
    assert {caption for _, _, caption in browser.nodes()} == {"甲", "乙", "丙"}
