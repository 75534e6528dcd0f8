"""Questions of sections: who is responsible for a task, which items a section has."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import zip_longest
from random import Random

from kgrag.dataset.library import Library, spoken
from kgrag.dataset.questions import Question
from kgrag.dataset.wording import everyday, quoted, worded
from kgrag.evaluation.queries import GoldQuery
from kgrag.store.graph import Statement
from kgrag.text.numbering import item_end, without_numbering
from kgrag.text.words import normalize_name
from kgrag.types import Heading

_TASK = re.compile("(?!关于|其他|以下|上述)[^，。；：、（）()\\s]{7,24}")
# Without their document nobody knows of what they are: short ones, and those of running anything.
_UNCLEAR = re.compile("(?:加强|强化|完善|健全|加大|严格|落实|开展|做好|建立|组织|压实|明确)?.{0,8}")
_BRACKETED = re.compile("[(（〔\\[【]")  # a list of who is responsible, for what its heading says
_MOST_ORGANS = 6
_OFFICES = "处科室"  # within an organ: its own document's matter
_EVERYWHERE = 3  # documents that have a task: it is said to be that of one of them
_FEWEST_ITEMS, _MOST_ITEMS = 3, 9
_MEAN_ITEM = 6  # characters: 单位简介、联系方式 are forms to fill in
_ITEM = re.compile(r"[^。；：:…\n]{4,32}")
_TITLE = re.compile(r"[^。；：:…\n]{4,24}")


class Sections:
    """Makes questions of what sections say, and how they are divided."""

    def __init__(self, library: Library, draw: Random, dropped: Counter[str]) -> None:
        """Keep the documents; see `kgrag.dataset.figures.Figures`."""
        self._library = library
        self._draw = draw
        self._dropped = dropped

    def responsible(self) -> Iterator[Question]:
        """Yield questions of who is responsible for a task that has a heading of its own."""
        by_place: defaultdict[tuple[str, int, int, str], list[Statement]] = defaultdict(list)
        having = defaultdict(set)
        for s in self._library.store.statements("duty"):
            task = s.qualifiers.object or s.fact.object.name
            text = self._library.text(s.doc_id)
            if s.doc_id in self._library.cards and _BRACKETED.match(text, s.start):
                having[normalize_name(task)].add(s.doc_id)
                if s.doc_id not in self._library.left_out:
                    by_place[s.doc_id, s.start, s.end, task].append(s)
        groups = list(by_place.items())
        self._draw.shuffle(groups)
        for (doc_id, start, end, task), several in groups:
            roles = {s.qualifiers.role or s.fact.predicate for s in several}
            asked = "牵头" if "牵头" in roles else "负责"
            organs = _organs(several, asked, self._library.text(doc_id)[start:end])
            if not 0 < len(organs) <= _MOST_ORGANS or not _TASK.fullmatch(task):
                continue
            template = "lead" if asked == "牵头" else "duty"
            is_inner = any(organ[-1] in _OFFICES for organ in organs)
            n_having = _EVERYWHERE if is_inner else len(having[normalize_name(task)])
            question = self._asked(template, doc_id, task, n_having)
            if not question:
                continue
            gold = GoldQuery(
                query_id="",
                question=question,
                gold_docs=(doc_id,),
                gold_spans={doc_id: ((start, end),)},
                kind="responsible",
                answers=("、".join(organs),),
            )
            yield Question(gold, self._library.parent(doc_id, start))

    def items(self) -> Iterator[Question]:
        """Yield questions of the numbered headings right below one that stands once in a text."""
        library = self._library
        doc_ids = [doc_id for doc_id in sorted(library.cards) if doc_id not in library.left_out]
        self._draw.shuffle(doc_ids)
        for of_a_rank in zip_longest(*map(self._items_of, doc_ids)):
            yield from filter(None, of_a_rank)

    def _items_of(self, doc_id: str) -> Iterator[Question]:
        library = self._library
        name = library.name(doc_id)
        if not name:
            self._dropped["no short name tells the document apart"] += 1
            return
        headings = library.store.headings([doc_id]).get(doc_id, [])
        titles = Counter(_bare(heading) for heading in headings)
        divided = list(_divided(headings))
        self._draw.shuffle(divided)
        for heading, below in divided:
            if titles[_bare(heading)] == 1:
                yield self._listed(doc_id, quoted(name, self._draw), heading, below)

    def _listed(self, doc_id: str, name: str, heading: Heading, below: list[Heading]) -> Question:
        gold = GoldQuery(
            query_id="",
            question=worded("items", self._draw, doc=name, what=_bare(heading)),
            gold_docs=(doc_id,),
            gold_spans={doc_id: tuple((item.start, item.end) for item in below)},
            kind="list",
            answers=("；".join(_bare(item) for item in below),),
        )
        return Question(gold, self._library.parent(doc_id, heading.start))

    def _asked(self, template: str, doc_id: str, task: str, n_having: int) -> str:
        """Return who is asked for, of a place that has the task once, or of a document by name."""
        library, draw = self._library, self._draw
        what = everyday(task, draw)
        tells = n_having < _EVERYWHERE and not _UNCLEAR.fullmatch(task)
        if tells and not library.saying(task, library.beside([doc_id])):
            regions = library.cards[doc_id].metadata.regions
            where = spoken(regions) if regions else "国家层面"
            return worded(template, draw, where=where, what=what)
        if name := library.name(doc_id):
            return worded(f"{template}_in", draw, doc=quoted(name, draw), what=what)
        self._dropped["no short name tells the document apart"] += 1
        return ""


def _organs(several: list[Statement], role: str, clause: str) -> list[str]:
    """Return those with a role as written, in the clause's order."""
    of_role = (s for s in several if (s.qualifiers.role or s.fact.predicate) == role)
    names = (s.qualifiers.subject or s.fact.subject.name for s in of_role)
    return sorted(dict.fromkeys(name.removesuffix("分别") for name in names), key=clause.find)


def _bare(heading: Heading) -> str:
    """Return a heading without its number."""
    return without_numbering(heading.text)


def _divided(headings: list[Heading]) -> Iterator[tuple[Heading, list[Heading]]]:
    """Yield the headings that have numbered ones right below, with these."""
    for at, heading in enumerate(headings):
        inner = []
        for other in headings[at + 1 :]:
            if other.level <= heading.level:
                break
            inner.append(other)
        below = [other for other in inner if other.level == min(o.level for o in inner)]
        fits = all(item_end(o.text) and _ITEM.fullmatch(_bare(o)) for o in below)
        distinct = len({_bare(o) for o in below}) == len(below)
        fits = fits and sum(len(_bare(o)) for o in below) >= _MEAN_ITEM * len(below)
        is_named = item_end(heading.text) and _TITLE.fullmatch(_bare(heading))
        if _FEWEST_ITEMS <= len(below) <= _MOST_ITEMS and fits and distinct and is_named:
            yield heading, below
