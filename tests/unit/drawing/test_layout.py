"""Where nodes are drawn."""

from itertools import combinations

from kgrag.drawing.page import lay_out
from kgrag.ids import entity_id, fact_id
from kgrag.types import Entity, Fact


def entity(name):
    return Entity(entity_id(name), name)


def fact(subject, predicate, object_):
    s, o = entity(subject), entity(object_)
    return Fact(fact_id(s.entity_id, predicate, o.entity_id), s, predicate, o, ())


def rings(center, facts):
    """Return {name: ring}."""
    return {n.entity.name: n.ring for n in lay_out(entity(center), facts).values()}


def test_lay_out_when_there_are_no_facts_places_the_centre_alone():
    """The centre is always drawn, in the middle."""
    nodes = lay_out(entity("甲"), [])
    assert [(n.entity.name, n.ring, n.at) for n in nodes.values()] == [("甲", 0, 0j)]


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


def test_lay_out_keeps_nodes_apart():
    """Circles keep the room of their captions, also where they are many and far."""
    facts = [fact("甲", "管", f"乙{i}") for i in range(60)]
    facts += [fact(f"乙{i}", "管", f"丙{i}-{j}") for i in range(0, 60, 7) for j in range(9)]
    spots = [node.at for node in lay_out(entity("甲"), facts).values()]
    assert min(abs(a - b) for a, b in combinations(spots, 2)) > 60


def test_lay_out_gives_parallel_facts_more_room():
    """A neighbour with many facts gets a wider sector than one with a single fact."""
    single = [fact("甲", "管", f"乙{i}") for i in range(12)]
    many = [fact("甲", f"管{i}", "乙0") for i in range(8)]
    center, *others = lay_out(entity("甲"), single + many).values()
    after, *_, before = sorted(abs(o.at - others[0].at) for o in others[1:])
    near = min(abs(a.at - b.at) for a, b in combinations(others[1:], 2))
    assert before > after > 1.5 * near
    assert center.at == 0


def test_lay_out_puts_entities_that_a_fact_ties_side_by_side():
    """Edges between neighbours of the centre stay short."""
    facts = [fact("甲", "管", f"乙{i}") for i in range(12)] + [fact("乙0", "协同", "乙6")]
    nodes = {n.entity.name: n.at for n in lay_out(entity("甲"), facts).values()}
    gap = abs(nodes["乙0"] - nodes["乙6"])
    closer = [n for n, at in nodes.items() if n != "乙0" and abs(at - nodes["乙0"]) < gap]
    assert len(closer) <= 1  # the one on the other side
