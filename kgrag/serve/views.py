"""Pages that show how things hang together: the facts around an entity."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from kgrag.answer.address import Address
from kgrag.api import KnowledgeBase
from kgrag.limits import MOST_QUESTION_CHARS
from kgrag.maintenance.corrections import spellings
from kgrag.serve.api import language_of
from kgrag.serve.desk import Desk
from kgrag.serve.rendering import entity_url, page, said
from kgrag.statements.references import by_node
from kgrag.tools.arguments import Arguments, argument
from kgrag.types import Entity, Fact

_MOST_NAMED = 60  # entities on the first page
_NO_NAMES = ("value", "deadline")  # types of entities that nobody looks for
Stated = tuple[Fact, list[tuple[str, str, str]]]


@dataclass(frozen=True, kw_only=True)
class Panel(Arguments):
    """A page, or with `panel` the part of it that is put in another one."""

    panel: str = ""


@dataclass(frozen=True, kw_only=True)
class Graphed(Arguments):
    """The neighbourhood of an entity."""

    entity: str = argument("", "", default="", max_length=MOST_QUESTION_CHARS)
    hops: int = argument("", "", default=1, ge=1, le=3)
    limit: int = argument("", "", default=60, ge=1, le=1000)


@lru_cache(maxsize=8)
def examples(base: KnowledgeBase, _state: int) -> Mapping[str, Sequence[Mapping[str, str]]]:
    """Return what a table may be asked for, by its name or first field; kept until a change."""
    cards = {card.doc_id: card for card in base.documents()}
    nodes, stated = by_node(cards.values()), base.store.statements("reference", sorted(cards))
    cited = ((s, c) for s in stated for c in nodes.get(s.fact.object.entity_id, ()))
    counts = (
        Counter(s.doc_id for s in stated),
        Counter(c.doc_id for s, c in cited if c.doc_id != s.doc_id),
    )
    titles = [[{"document": cards[d].title} for d, _ in n.most_common(6)] for n in counts]
    most = base.entities(limit=200)
    named = {
        field: [{field: one.name} for one in most if one.type == type_][:6]
        for field, type_ in (("indicator", "target"), ("agency", "agency"))
    }
    return named | {"document": titles[0], "cited-by": titles[1]}


def graph(desk: Desk, request: Request, given: Graphed) -> Response:
    """Return the page of the facts around an entity; without one, of those with most facts."""
    if not given.entity:
        named = [one for one in desk.base.entities(limit=300) if one.type not in _NO_NAMES]
        return page(desk, request, "graph.html", center=None, named=named[:_MOST_NAMED])
    center, around = desk.base.graph(given.entity, hops=given.hops, limit=given.limit)
    store, cards, key = desk.base.store, desk.known().cards, center.entity_id
    naming = store.entity_uses([key]).get(key, [])
    written = spellings([key], store).get(key, {})
    return page(
        desk,
        request,
        "graph.html",
        title=center.name,
        center=center,
        aliases=[name for name in written if name != center.name],
        n_facts=store.entity_degrees([key]).get(key, 0),
        documents=[cards[doc_id] for doc_id in naming if doc_id in cards],
        **_drawn(desk, request, center, around),
    )


def _drawn(
    desk: Desk, request: Request, center: Entity, facts: Sequence[Fact]
) -> dict[str, object]:
    """Return a drawing of facts, and them by relation with the sentences that state them."""
    from kgrag.drawing.page import colours, drawing, in_order, lay_out, legend, places

    ordered = in_order(center, facts)
    svg = drawing(
        ordered,
        lay_out(center, ordered),
        link=partial(_link, request.scope.get("root_path", "")),
        word=lambda type_: said(type_, language_of(desk, request)),
    )
    numbered = [(n, *stated) for n, stated in enumerate(_stated(desk, ordered), 1)]
    relations = [
        (colour, predicate, [told for told in numbered if told[1].predicate == predicate])
        for predicate, colour in colours(ordered).items()
    ]
    drawn = {"drawing": Markup(svg), "legend": Markup(legend(ordered)), "n": len(ordered)}
    return drawn | {"relations": relations, "places_of": places}


def _link(root: str, one: Entity) -> str:
    return entity_url(root, one.name)


def _stated(desk: Desk, facts: Sequence[Fact]) -> Iterator[Stated]:
    """Yield facts with title, address and sentence of where they are stated."""
    ids = sorted({e.doc_id for fact in facts for e in fact.evidence})
    held = {document.doc_id: document for document in desk.base.store.documents(ids)}
    for fact in facts:
        places = {(e.doc_id, e.start, e.end): None for e in fact.evidence if e.doc_id in held}
        yield (
            fact,
            [
                (
                    held[d].title,
                    str(Address(d, start, end)),
                    " ".join(held[d].text[start:end].split()),
                )
                for d, start, end in places
            ],
        )
