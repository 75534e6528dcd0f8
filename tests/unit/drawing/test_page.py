"""The page of an entity's neighbourhood, read back with an HTML parser."""

from html.parser import HTMLParser

import pytest

from kgrag.drawing.page import graph_page
from kgrag.ids import entity_id, fact_id
from kgrag.text.visible import visible_line
from kgrag.types import Entity, Evidence, Fact

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \"a\" 'b' & $name &lt;"


def entity(name, type_="entity"):
    return Entity(entity_id(name), name, type_)


def fact(subject, predicate, object_, spots=(("d-1", 3, 9),), extractor="rules"):
    s = subject if isinstance(subject, Entity) else entity(subject)
    o = object_ if isinstance(object_, Entity) else entity(object_)
    evidence = tuple(Evidence(d, a, b, f"{d}:256:0", extractor) for d, a, b in spots)
    return Fact(fact_id(s.entity_id, predicate, o.entity_id), s, predicate, o, evidence)


class Page(HTMLParser):
    """Tags with attributes, the table's cells, and the text of every other tag by name."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.rows, self.texts, self._open = [], [], {}, []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        """Note a tag; a row and a cell are begun."""
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta",):
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        """Insist that tags close in order."""
        assert self._open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        """Note text, by the tag that it stands in and in its cell."""
        if not self._open:
            return
        self.texts.setdefault(self._open[-1], []).append(data)
        if "td" in self._open or "th" in self._open:
            self.rows[-1][-1] += data

    def marked(self, name):
        """Return the attributes of the tags of a class."""
        return [a for _, a in self.tags if name in (a.get("class") or "").split()]


FACTS = [
    fact("甲方案", "责任单位", "省发展改革委"),
    fact("甲方案", "依据", entity("乙规划", "document"), (("d-1", 3, 9), ("d-2", 40, 52))),
    fact(entity("乙规划", "document"), "落实", "甲方案"),
    fact("省发展改革委", "会同", "省财政厅"),
    fact("甲方案", "修订", "甲方案"),
]
TITLES = {"d-1": "甲方案全文", "d-2": "乙规划全文"}


def test_graph_page_shows_every_fact_in_the_table_with_its_places():
    """A row holds subject, predicate, object, and title and offsets of each place."""
    rows = [tuple(row[1:]) for row in Page(graph_page(entity("甲方案"), FACTS, TITLES)).rows[1:]]
    assert sorted(rows) == sorted(
        [
            ("甲方案", "责任单位", "省发展改革委", "甲方案全文 3–9, rules"),
            ("甲方案", "依据", "乙规划", "甲方案全文 3–9, rules乙规划全文 40–52, rules"),
            ("乙规划", "落实", "甲方案", "甲方案全文 3–9, rules"),
            ("省发展改革委", "会同", "省财政厅", "甲方案全文 3–9, rules"),
            ("甲方案", "修订", "甲方案", "甲方案全文 3–9, rules"),
        ]
    )


def test_graph_page_draws_every_fact_and_every_entity():
    """Each fact is a line; each entity has a dot in the shape of its kind, which links to a row."""
    page = Page(graph_page(entity("甲方案"), FACTS, TITLES))
    assert len(page.marked("edge")) == len(FACTS)
    assert len(page.marked("node")) == 4
    assert len(page.marked("center")) == 1
    links = {a["href"] for tag, a in page.tags if tag == "a"}
    assert len(links) == 3
    assert links < {"#" + a["id"] for tag, a in page.tags if tag == "tr" and "id" in a}
    assert len([a for tag, a in page.tags if tag == "rect"]) == 1
    assert {"← 责任单位 1", "依据 1 →"} <= set(page.texts["text"])
    assert len(page.marked("key")) == 5
    assert {"甲方案 — 修订 → 甲方案", "省发展改革委 — 会同 → 省财政厅"} <= set(page.texts["title"])
    assert {"省财政厅", "乙规划"} <= set(page.texts["tspan"])


def test_graph_page_when_facts_join_the_same_two_draws_them_apart():
    """Parallel arrows, in either direction, take different ways."""
    facts = [fact("甲", p, "乙") for p in ("引用", "依据", "落实")] + [fact("乙", "修订", "甲")]
    paths = [a["d"] for a in Page(graph_page(entity("甲"), facts, {})).marked("edge")]
    assert len(set(paths)) == 4


def test_graph_page_is_the_same_whatever_the_order_of_facts():
    """Two runs over the same neighbourhood give the same bytes."""
    first = graph_page(entity("甲方案"), FACTS, TITLES)
    assert graph_page(entity("甲方案"), [*reversed(FACTS), FACTS[0]], TITLES) == first


def test_graph_page_when_a_clause_lies_over_several_chunks_names_the_place_once():
    """Evidence that differs in the chunk only is one place."""
    page = Page(graph_page(entity("甲"), [fact("甲", "管", "乙", (("d-1", 1, 2),) * 2)], {}))
    assert page.rows[1][4] == "d-1 1–2, rules"


def test_graph_page_escapes_names_wherever_they_stand():
    """Whatever a document says stays text: no tag and no attribute comes of it."""
    plain = Page(graph_page(entity("甲"), [fact("甲", "管", "乙")], {"d-1": "丙"}))
    hostile = fact(entity(HOSTILE, HOSTILE), HOSTILE, HOSTILE + "2", extractor=HOSTILE)
    page = Page(graph_page(entity(HOSTILE), [hostile], {"d-1": HOSTILE}))
    allowed = ("tspan",)  # captions of more lines
    assert [t for t, _ in page.tags if t not in allowed] == [
        t for t, _ in plain.tags if t not in allowed
    ]
    assert {name for _, a in page.tags for name in a} == {n for _, a in plain.tags for n in a}
    assert page.rows[1][1:] == [HOSTILE, HOSTILE, HOSTILE + "2", f"{HOSTILE} 3–9, {HOSTILE}"]
    assert page.texts["h1"] == [HOSTILE]


@pytest.mark.parametrize("bad", ["\x00", "\x1b", "\x85", "\ud800", "\u202e", "\u2066", "\u200b"])
def test_graph_page_when_a_name_holds_what_html_cannot_gives_a_file_that_can_be_written(bad):
    """Control characters, lone surrogates and marks of direction are shown as escapes."""
    page = graph_page(entity(f"甲{bad}"), [fact(f"甲{bad}", bad, f"乙{bad}")], {})
    assert bad not in page
    assert f"甲{visible_line(bad)}" in page.encode("utf-8").decode("utf-8")


def test_graph_page_needs_no_network():
    """Nothing is loaded from anywhere, and the browser is told to refuse it."""
    source = graph_page(entity("甲方案"), FACTS, TITLES)
    page = Page(source)
    (policy,) = (a["content"] for _, a in page.tags if "http-equiv" in a)
    assert policy == ("default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'")
    assert "://" not in source
    assert not [a for _, a in page.tags if "src" in a or not a.get("href", "#").startswith("#")]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("绿色工厂", ["绿色工厂"]),
        ("a \n b", ["a b"]),
        ("云岭省碳达峰实施方案", ["云岭省碳达峰", "实施方案"]),
        ("Plan of Yunling Province", ["Plan of", "Yunling", "Province"]),
        ("一二三四五六" * 5, ["一二三四五六"] * 3 + ["一二三四五…"]),
    ],
)
def test_the_centre_has_its_name_in_lines_and_others_have_one(name, expected):
    """What is cut ends in …; the whole name is in the title."""
    page = Page(graph_page(entity(name), [fact(name, "管", f"{name}局")], {}))
    *lines, other = page.texts["tspan"]
    assert lines == expected
    assert other == f"{' '.join(name.split())}局"[:12] or other.endswith("…")
    assert any(title.startswith(f"{visible_line(name)}局") for title in page.texts["title"])
