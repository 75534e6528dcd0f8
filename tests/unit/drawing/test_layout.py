"""Where nodes are drawn."""

from itertools import combinations

from kgrag.drawing.page import colours, lay_out
from kgrag.ids import entity_id, fact_id
from kgrag.types import Entity, Fact


def entity(name):
    return Entity(entity_id(name), name)


def fact(subject, predicate, object_):
    s, o = entity(subject), entity(object_)
    return Fact(fact_id(s.entity_id, predicate, o.entity_id), s, predicate, o, ())


def rings(center, facts):
    """Return {name: ring}."""
    return {n.entity.name: n.ring for n in lay_out(entity(center), facts).nodes.values()}


def test_lay_out_puts_entities_on_the_ring_of_their_distance():
    """A ring is the number of facts from the centre, whatever their direction."""
    facts = [fact("甲", "管", "乙"), fact("丙", "管", "乙"), fact("丙", "管", "丁")]
    assert rings("甲", facts) == {"甲": 0, "乙": 1, "丙": 2, "丁": 3}


def test_lay_out_when_entities_hang_on_nothing_still_draws_them():
    """Facts without a way to the centre stand in the first ring and what follows it."""
    facts = [fact("甲", "管", "乙"), fact("丙", "管", "丁")]
    assert rings("甲", facts) == {"甲": 0, "乙": 1, "丙": 1, "丁": 1}


def test_lay_out_when_facts_form_circles_draws_each_entity_once():
    """Circles and facts of an entity about itself do not hang the layout."""
    facts = [fact(a, "连", b) for a in "甲乙丙丁" for b in "甲乙丙丁"]
    assert rings("甲", facts) == {"甲": 0, "乙": 1, "丙": 1, "丁": 1}


def test_lay_out_gives_every_entity_a_line_of_its_own():
    """Of two in a column none is nearer than a caption is high, far from the centre, too."""
    facts = [fact("甲", "管", f"乙{i}") for i in range(60)]
    facts += [fact(f"乙{i}", "管", f"丙{i}-{j}") for i in range(0, 60, 7) for j in range(9)]
    spots = [node.at for node in lay_out(entity("甲"), facts).nodes.values()]
    assert len(spots) == 142
    assert all(
        abs(a.real - b.real) > 200 or abs(a.imag - b.imag) >= 20 for a, b in combinations(spots, 2)
    )


def test_lay_out_groups_by_relation_and_balances_both_sides():
    """What hangs on one relation stands together; a large one is on both sides."""
    facts = [fact("甲", "负责", f"乙{i}") for i in range(30)]
    facts += [fact("甲", "牵头", f"丙{i}") for i in range(6)] + [fact("丁", "依据", "甲")]
    made = lay_out(entity("甲"), facts)
    told = {of: members for of, (_, members) in made.hubs.items()}
    assert told == {
        ("负责", True, True): 19,
        ("负责", True, False): 11,
        ("牵头", True, False): 6,
        ("依据", False, False): 1,
    }
    left = sorted(
        (n.at.imag, n.fact.predicate) for n in made.nodes.values() if n.fact and n.at.real < 0
    )
    assert [predicate for _, predicate in left] == ["负责"] * 11 + ["牵头"] * 6 + ["依据"]
    heights = [n.at.imag for n in made.nodes.values()]
    assert abs(max(heights) + min(heights)) < 20


def test_frequent_relations_have_a_colour_of_their_own():
    """The others share one, so that colours can be told apart."""
    facts = [fact("甲", f"管{i}", f"乙{i}{j}") for i in range(12) for j in range(12 - i)]
    assert list(colours(facts).values()) == [*range(8), 8, 8, 8, 8]
