"""The drawing of an entity's neighbourhood, read back with an HTML parser."""

from html.parser import HTMLParser

import pytest

from kgrag.drawing.page import drawing, in_order, lay_out, legend
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


class Drawing(HTMLParser):
    """Tags with attributes, and the text of every tag by name, of a drawing and its legend."""

    def __init__(self, center, facts):
        super().__init__()
        self.tags, self.texts, self._open = [], {}, []
        ordered = in_order(center, facts)
        svg = drawing(ordered, lay_out(center, ordered), link=lambda one: one.name, word=str)
        self.source = svg + legend(ordered)
        self.feed(self.source)

    def handle_starttag(self, tag, attrs):
        """Note a tag."""
        self.tags.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_endtag(self, tag):
        """Insist that tags close in order."""
        assert self._open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        """Note text, by the tag that it stands in."""
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(data)

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


def test_drawing_has_every_fact_and_every_entity():
    """Each fact is a line; each entity has a dot in the shape of its kind, which links to a row."""
    page = Drawing(entity("甲方案"), FACTS)
    assert len(page.marked("edge")) == len(FACTS)
    assert len(page.marked("node")) == 4
    assert len(page.marked("center")) == 1
    rows = {a["href"] for a in page.marked("dot")}
    assert len(rows) == 3
    assert rows < {f"#fact-{n}" for n in range(1, len(FACTS) + 1)}
    assert len([a for tag, a in page.tags if tag == "rect"]) == 1
    assert {"← 责任单位 1", "依据 1 →"} <= set(page.texts["text"])
    assert len(page.marked("key")) == 5
    assert {"甲方案 — 修订 → 甲方案", "省发展改革委 — 会同 → 省财政厅"} <= set(page.texts["title"])
    assert {"省财政厅", "乙规划"} <= set(page.texts["tspan"])


def test_drawing_when_facts_join_the_same_two_draws_them_apart():
    """Parallel arrows, in either direction, take different ways."""
    facts = [fact("甲", p, "乙") for p in ("引用", "依据", "落实")] + [fact("乙", "修订", "甲")]
    paths = [a["d"] for a in Drawing(entity("甲"), facts).marked("edge")]
    assert len(set(paths)) == 4


def test_drawing_is_the_same_whatever_the_order_of_facts():
    """Two runs over the same neighbourhood give the same bytes."""
    first = Drawing(entity("甲方案"), FACTS).source
    assert Drawing(entity("甲方案"), [*reversed(FACTS), FACTS[0]]).source == first


def test_drawing_escapes_names_wherever_they_stand():
    """Whatever a document says stays text: no tag and no attribute comes of it."""
    plain = Drawing(entity("甲"), [fact("甲", "管", "乙")])
    hostile = fact(entity(HOSTILE, HOSTILE), HOSTILE, HOSTILE + "2")
    page = Drawing(entity(HOSTILE), [hostile])
    assert [t for t, _ in page.tags if t != "tspan"] == [t for t, _ in plain.tags if t != "tspan"]
    assert {name for _, a in page.tags for name in a} == {n for _, a in plain.tags for n in a}
    assert f"{HOSTILE} — {HOSTILE} → {HOSTILE}2" in page.texts["title"]
    for bad in "\x00\x1b\x85\ud800\u202e\u2066\u200b":
        source = Drawing(entity("甲"), [fact("甲", bad, f"乙{bad}")]).texts
        assert bad not in str(source)
        assert any(f"乙{visible_line(bad)}" in title for title in source["title"])


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
    page = Drawing(entity(name), [fact(name, "管", f"{name}局")])
    *lines, other = page.texts["tspan"]
    assert lines == expected
    assert other == f"{' '.join(name.split())}局"[:12] or other.endswith("…")
    assert any(title.startswith(f"{visible_line(name)}局") for title in page.texts["title"])
