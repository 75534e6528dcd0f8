"""How well names of organs come together, and how many facts hang on a name without a place.

    python benchmarks/organs.py --data ../shared/data [--misses]

Names are those of `labels/organs.jsonl` (README there), with the places that their documents
govern. A name that `canonical_organ` cannot fill and that organs of many places have
(`is_bare_organ`) belongs to its document's place: it is a node with that place behind it, as
`kgrag.ingestion.resolve` makes it.

A name is right if it comes to the node of its labelled full name, or stays with its place where it
means no organ in particular; unfilled if it stays as written; else wrong. Pairs of names in one
node whose organs differ are wrong merges; pairs of one organ in two nodes are missed merges, those
labelled `either` aside. Names that mean none in particular are one in each place.

Facts are those that a model made of 36 policies (`policy/llm_facts.jsonl`), and the duties that
rules read in all 255; the places are what `read_metadata` reads of each text. A fact hangs on a
name that is its subject or object, a duty on its subject.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from benchmarks.metadata import read
from kgrag.ingestion.resolve import name_resolver
from kgrag.ingestion.statements.duties import duties
from kgrag.metadata import Metadata
from kgrag.text.organs import canonical_organ, is_bare_organ, place_name
from kgrag.types import Document

_LABELS = Path(__file__).with_name("labels") / "organs.jsonl"


@dataclass(frozen=True, slots=True)
class Name:
    """A labelled name: in which document, of which organ, in which places."""

    doc: str
    name: str
    organ: str
    regions: tuple[str, ...]
    either: bool

    @property
    def node(self) -> str:
        """Return the node that it comes to."""
        return node(self.name, self.regions)

    @property
    def one(self) -> str:
        """Return what it must share a node with: its organ, or its likes in one place."""
        return self.organ or f"{self.name} {place_name(self.regions)}"


def main() -> None:
    """Print the results for labelled names, their pairs, and facts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with policy")
    parser.add_argument("--misses", action="store_true", help="print what is not right")
    args = parser.parse_args()
    names = list(read_names(_LABELS))
    print_names(names, misses=args.misses)
    print_pairs(names, misses=args.misses)
    print_facts(args.data / "policy")
    print_duties(args.data / "policy")


def read_names(path: Path) -> Iterator[Name]:
    """Yield the labelled names."""
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        either = bool(row.get("either"))
        yield Name(row["doc"], row["name"], row["is"], tuple(row["regions"]), either)


def node(name: str, regions: Sequence[str]) -> str:
    """Return the name of the node that an organ's name comes to in a document.

    >>> node("市发改委", ("四川省", "成都市")), node("领导小组办公室", ("四川省", "成都市"))
    ('成都市发展和改革委员会', '领导小组办公室（成都市）')
    """
    metadata = Metadata(regions=tuple(regions))
    document = Document("", "-", "", "", "txt", "", metadata=metadata)
    return name_resolver(document).entity(name, "agency")[0].name


def judged(name: Name) -> str:
    """Return right, unfilled or wrong."""
    full = canonical_organ(name.name, regions=name.regions)
    if full == canonical_organ(name.organ or name.name, regions=name.regions):
        return "right"
    if not name.organ and full.endswith(name.name[-2:]) and is_bare_organ(full):
        return "right"
    return "unfilled" if full == name.name else "wrong"


def merges(names: Iterable[Name]) -> tuple[list[tuple[Name, Name]], ...]:
    """Return the pairs of names together rightly, together wrongly, and apart wrongly."""
    together, wrong, missed = [], [], []
    for one, other in combinations(names, 2):
        same, alike = one.node == other.node, one.one == other.one
        if same and alike:
            together.append((one, other))
        elif same:
            wrong.append((one, other))
        elif alike and not (one.either or other.either):
            missed.append((one, other))
    return together, wrong, missed


def print_names(names: Sequence[Name], *, misses: bool) -> None:
    """Print how many names are right, unfilled and wrong, and how many of the unfilled are bare."""
    told = [(judged(name), name) for name in names if not name.either]
    counts = Counter(result for result, _ in told)
    own = sum(r == "unfilled" and is_bare_organ(n.name) for r, n in told)
    print(f"{len(told)} names: {counts['right']} right, {counts['unfilled']} unfilled ", end="")
    print(f"({own} of them with their place), {counts['wrong']} wrong")
    for result, name in told:
        if misses and result != "right":
            print(f"  {result} {name.doc} {name.name}: {name.organ or '-'} <> {name.node}")


def print_pairs(names: Sequence[Name], *, misses: bool) -> None:
    """Print how many pairs are together rightly and wrongly, and how many are missed."""
    together, wrong, missed = merges(names)
    print(f"pairs: {len(together)} together, {len(wrong)} wrong merges, {len(missed)} missed")
    for title, pairs in (("wrong merge", wrong), ("missed", missed)):
        for one, other in pairs if misses else ():
            print(f"  {title}: {one.doc} {one.name} and {other.doc} {other.name} ({one.node})")


def print_facts(data: Path) -> None:
    """Print what becomes of names without a place in the facts of a model."""
    places: dict[str, tuple[str, ...]] = {}
    facts = []
    for line in (data / "llm_facts.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        doc = row["doc"]
        if doc not in places:
            places[doc] = read(data / "text" / f"{doc}.txt").regions
        facts += [((subject, told), places[doc]) for subject, _, told in row["triples"]]
    print_resolved("facts", facts)


def print_duties(data: Path) -> None:
    """Print what becomes of names without a place in the duties that rules read."""
    found = []
    for path in sorted((data / "text").glob("*.txt")):
        regions = read(path).regions
        found += [((f.subject,), regions) for f in duties(path.read_text("utf-8"))]
    print_resolved("duties", found)


def print_resolved(title: str, facts: Sequence[tuple[Sequence[str], tuple[str, ...]]]) -> None:
    """Print how many facts hang on a bare organ, by what it comes to in its document."""
    counts: Counter[str] = Counter()
    for names, regions in facts:
        bare = [name for name in names if is_bare_organ(name)]
        nodes = [node(name, regions) for name in bare]
        placed = [
            made != was and made.endswith("）") for made, was in zip(nodes, bare, strict=True)
        ]
        left = [is_bare_organ(name) for name in nodes]
        if nodes:
            counts["left" if any(left) else "placed" if any(placed) else "filled"] += 1
    before = counts.total()
    share = 100 * before / len(facts) if facts else 0.0
    print(f"{len(facts)} {title}: {before} ({share:.1f} %) on a name without a place; ", end="")
    print(
        f"{counts['filled']} filled, {counts['placed']} with the document's place or name behind ",
        end="",
    )
    print(f"it, {counts['left']} as they are")


if __name__ == "__main__":
    main()
