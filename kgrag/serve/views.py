"""Pages that show how things hang together: graphs, entities, documents beside each other."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from kgrag.answer.address import Address
from kgrag.api import KnowledgeBase
from kgrag.errors import NotFoundError
from kgrag.limits import MOST_QUESTION_CHARS
from kgrag.maintenance.corrections import spellings
from kgrag.retrieval.filter import document_meant
from kgrag.serve.api import language_of
from kgrag.serve.desk import Desk
from kgrag.serve.rendering import entity_url, page, rendered, said
from kgrag.statements.beside import alike, beside
from kgrag.statements.digest import SHORTEST
from kgrag.statements.references import by_node
from kgrag.text.messages import message
from kgrag.text.words import normalize_name
from kgrag.tools.arguments import Arguments, argument, names
from kgrag.types import Document, Entity, Fact

_MOST_FACTS = 300  # of an entity's page
_MOST_NAMED = 60  # entities on the first page
_NO_NAMES = ("value", "deadline")  # types of entities that nobody looks for
_MOST_OF_PLACES = 120  # of the graph of an answer
Stated = tuple[Fact, list[tuple[str, str, str]]]


@dataclass(frozen=True, kw_only=True)
class Panel(Arguments):
    """A page, or with `panel` the part of it that is put in another one."""

    panel: str = ""


@dataclass(frozen=True, kw_only=True)
class Named(Arguments):
    """An entity."""

    entity: str = argument("", "", max_length=MOST_QUESTION_CHARS)


@dataclass(frozen=True, kw_only=True)
class Graphed(Panel):
    """The neighbourhood of an entity, or what is stated at places in documents."""

    entity: str = argument("", "", default="", max_length=MOST_QUESTION_CHARS)
    hops: int = argument("", "", default=1, ge=1, le=3)
    limit: int = argument("", "", default=60, ge=1, le=1000)
    at: tuple[str, ...] = names("Places: DOCUMENT:START-END.", "各处：文件:起-止。")
    of: str = argument("What they answer.", "所答的问题。", default="")


@dataclass(frozen=True, kw_only=True)
class Besides(Arguments):
    """Two documents."""

    old: str = argument("", "", max_length=MOST_QUESTION_CHARS)
    new: str = argument("", "", default="", max_length=MOST_QUESTION_CHARS)


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
    return named | {
        "document": titles[0],
        "cited-by": titles[1],
        "digest": [*islice(_pairs(list(cards.values())), 3)],
    }


def _pairs(cards: Sequence[Document]) -> Iterator[Mapping[str, str]]:
    """Yield documents with one that is called alike."""
    for card in cards:
        if others := alike(card, cards):
            yield {"old": card.title, "new": others[0].title}


def graph(desk: Desk, request: Request, given: Graphed) -> Response:
    """Return the page of the facts around an entity, or of those that are stated at places."""
    if given.at:
        return _graph_of_places(desk, request, given)
    if not given.entity:
        named = [one for one in desk.base.entities(limit=300) if one.type not in _NO_NAMES]
        return page(desk, request, "graph.html", center=None, named=named[:_MOST_NAMED])
    center, around = desk.base.graph(given.entity, hops=given.hops, limit=given.limit)
    values = _drawn(desk, request, center, around)
    return page(desk, request, "graph.html", title=center.name, center=center, **values)


def _graph_of_places(desk: Desk, request: Request, given: Graphed) -> Response:
    """Return the facts that are stated within places; as a part of a page with `panel`."""
    facts = _facts_at(desk, [Address.parse(at) for at in given.at])
    degrees: defaultdict[str, int] = defaultdict(int)
    ends = {e.entity_id: e for fact in facts for e in (fact.subject, fact.object)}
    for fact in facts:
        degrees[fact.subject.entity_id] += 1
        degrees[fact.object.entity_id] += 1
    if not ends:
        raise NotFoundError(message("nothing was read as a fact at these places"))
    center = ends[max(degrees, key=lambda key: (degrees[key], key))]
    values = _drawn(desk, request, center, facts[:_MOST_OF_PLACES])
    if given.panel:
        return Response(
            rendered(desk, request, "facts.html", center=None, **values), media_type="text/html"
        )
    return page(desk, request, "graph.html", title=given.of, center=None, named=(), **values)


def _facts_at(desk: Desk, places: Sequence[Address]) -> list[Fact]:
    """Return the facts that are stated within places, with no other evidence."""
    spans: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for place in places:
        spans[place.document].append((place.start, place.end))
    found: dict[str, Fact] = {}
    for doc_id, within in spans.items():
        for fact in desk.base.store.knowledge_of(doc_id)[0]:
            stated = tuple(
                e for e in fact.evidence if any(a <= e.start and e.end <= b for a, b in within)
            )
            if stated:
                known = found.get(fact.fact_id)
                evidence = (known.evidence if known else ()) + stated
                found[fact.fact_id] = replace(fact, evidence=evidence)
    return list(found.values())


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


def entity(desk: Desk, request: Request, given: Named) -> Response:
    """Return the page of an entity: names, statements by relation, documents that name it."""
    from kgrag.drawing.page import in_order, places

    store = desk.base.store
    center, facts = desk.base.graph(given.entity, limit=_MOST_FACTS)
    groups: dict[tuple[str, bool], list[Stated]] = {}
    for fact, stated in _stated(desk, in_order(center, facts)):
        outward = fact.subject.entity_id == center.entity_id
        groups.setdefault((fact.predicate, outward), []).append((fact, stated))
    cards = desk.known().cards
    naming = store.entity_uses([center.entity_id]).get(center.entity_id, [])
    written = spellings([center.entity_id], store).get(center.entity_id, {})
    return page(
        desk,
        request,
        "entity.html",
        center=center,
        aliases=[name for name in written if name != center.name],
        groups=groups,
        places_of=places,
        n=store.entity_degrees([center.entity_id]).get(center.entity_id, 0),
        shown=len(facts),
        documents=[cards[doc_id] for doc_id in naming if doc_id in cards],
        address=urlencode({"entity": center.name}),
    )


def beside_page(desk: Desk, request: Request, given: Besides) -> Response:
    """Return two documents beside each other; with one, others to compare it with."""
    known = desk.known()
    cards = list(known.cards.values())
    old, new = document_meant(given.old, cards), None
    part = normalize_name(given.new)
    others = [c for c in cards if part in normalize_name(c.title)] if part else ()
    try:
        new = document_meant(given.new, cards) if part else None
    except NotFoundError:
        if not others:
            raise
    values: dict[str, object] = {"sections": (), "whole": True}
    values["others"] = others if part else _versions(old, known.cards, desk)
    if new and new.doc_id != old.doc_id:
        first, second = (desk.base.document(card.doc_id) for card in (old, new))
        headings = desk.base.store.headings([old.doc_id, new.doc_id])
        sections, whole, short = beside(first, second, headings)
        values |= {"sections": sections, "whole": whole, "short": short, "shortest": SHORTEST}
    return page(desk, request, "beside.html", old=old, new=new, **values)


def _versions(card: Document, cards: Mapping[str, Document], desk: Desk) -> list[Document]:
    """Return what replaces a document or is replaced by it, then those with its title."""
    statuses = desk.known().statuses
    near = [statuses[card.doc_id].doc_id] if card.doc_id in statuses else []
    near += [doc_id for doc_id, status in statuses.items() if status.doc_id == card.doc_id]
    near += [other.doc_id for other in alike(card, list(cards.values()))]
    return [cards[doc_id] for doc_id in dict.fromkeys(near) if doc_id in cards]
