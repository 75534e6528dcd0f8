"""How often issuers, dates, kinds and regions are read right: against labels that people made.

    python benchmarks/metadata.py --data ../shared/data/policy --misses

Labels are those of `labels/triples.jsonl`; what reading showed to be wrong, or not stated in the
text, is mended by `metadata_labels.jsonl` beside this file. The rules were made on the odd
documents of the sorted list.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kgrag.ingestion.load.load import load
from kgrag.ingestion.load.source import Source
from kgrag.ingestion.metadata.read import read_metadata
from kgrag.metadata import Metadata
from kgrag.text.leading_region import leading_region
from kgrag.text.organs import canonical_organ

_FIELDS = {
    "发布机构": "issuer",
    "发布日期": "date",
    "文件类型": "kind",
    "所属省份": "province",
    "所属城市": "city",
}
_NOT_STATED = "not stated"
_KINDS = {
    "意见决定": ("意见", "决定", "决议"),
    "行动工作方案": ("方案", "计划", "要点", "措施", "安排", "举措", "政策", "工程"),
    "规划": ("规划", "纲要"),
    "通知公告": ("通知", "公告", "函", "通告", "指南", "目录", "名单", "清单"),
    "办法条例": (
        *("办法", "条例", "细则", "规程", "规定", "准则", "规则", "标准", "规范", "导则", "制度"),
        *("法", "指引", "技术要求", "大纲"),
    ),
}  # fmt: skip
_OFFICES = ("办公厅", "办公室")

Labels = Mapping[str, tuple[str, ...]]


def main() -> None:
    """Print right, wrong and silent by field, for both halves, and misses if asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder policy")
    parser.add_argument("--misses", action="store_true", help="print each miss")
    parser.add_argument("--half", choices=("odd", "even"), help="one half only")
    args = parser.parse_args()
    labelled = args.data / "labels" / "triples.jsonl"
    labels = read_labels(labelled, mended=Path(__file__).with_name("metadata_labels.jsonl"))
    published = {doc_id: told["date"][0] for doc_id, told in read_labels(labelled).items()}
    for half, start in (("odd", 1), ("even", 0)):
        if args.half in (None, half):
            docs = {d: read(args.data / "text" / f"{d}.txt") for d in sorted(labels)[start::2]}
            results = {
                (field, doc_id): judged(field, labels[doc_id].get(field, ()), found)
                for doc_id, found in docs.items()
                for field in _FIELDS.values()
            }
            for (field, doc_id), result in results.items():
                if args.misses and result in ("wrong", "silent"):
                    told = labels[doc_id].get(field)
                    print(f"{half} {doc_id} {field} {result}: {told} {_shown(docs[doc_id])}")
            print_table(half, results)
            print_silence(docs, published)


def read_labels(path: Path, *, mended: Path | None = None) -> dict[str, Labels]:
    """Return the labels of each document by field, as they are or mended."""
    labels: dict[str, dict[str, tuple[str, ...]]] = {}
    for line in path.read_text("utf-8").splitlines():
        record = json.loads(line)
        found: dict[str, list[str]] = defaultdict(list)
        for _, predicate, value in record["triples"]:
            if predicate in _FIELDS:
                found[_FIELDS[predicate]].append(value.replace("．", "."))
        labels[record["passage_id"]] = {k: tuple(v) for k, v in found.items()}
    for line in mended.read_text("utf-8").splitlines() if mended else ():
        record = json.loads(line)
        labels[record["id"]][record["field"]] = tuple(record["value"])
    return dict(labels)


def read(path: Path) -> Metadata:
    """Return what is read of a file, with the title that loading gives it."""
    document = load(Source(path))
    return read_metadata(document.text, title=document.title, properties=document.properties)


def judged(field: str, told: Sequence[str], found: Metadata) -> str:
    """Return right, wrong, silent (the text says it, nothing was read) or not stated."""
    if tuple(told) == (_NOT_STATED,):
        return "not stated"
    judge = {
        "issuer": _issuer,
        "date": _date,
        "kind": _kind,
        "province": _province,
        "city": _city,
    }[field]
    return judge(told, found)


def _issuer(told: Sequence[str], found: Metadata) -> str:
    if not found.issuers:
        return "silent"
    return "right" if set(_organs(told)) == set(_organs(found.issuers)) else "wrong"


def _organs(names: Sequence[str]) -> Iterator[str]:
    """Yield names in full; the office of an organ counts as the organ, as in the labels."""
    for name in names:
        for office in _OFFICES:
            if name.endswith(office) and len(name) > 5 and "组办" not in name:
                name = name.removesuffix(office)
        full = canonical_organ(name, regions=())
        yield full.removeprefix("中共").removesuffix("员会")


def _date(told: Sequence[str], found: Metadata) -> str:
    dates = [date for date in (found.issued, found.written) if date]
    if not dates:
        return "silent"
    wanted = told[0].replace(".", "-")
    return "right" if any(wanted.startswith(date) for date in dates) else "wrong"


def _kind(told: Sequence[str], found: Metadata) -> str:
    if not found.kind:
        return "silent"
    kinds = [k for name in told for k in _KINDS.get(name, ())]
    return "right" if found.kind.endswith(tuple(kinds)) else "wrong"


def _province(told: Sequence[str], found: Metadata) -> str:
    if not found.level:
        return "silent"
    return "right" if tuple(told[:1]) == found.regions[:1] else "wrong"


def _city(told: Sequence[str], found: Metadata) -> str:
    if not found.level:
        return "silent"
    names = {name for t in told for name in leading_region(t)[0] or (t,)}
    inner = set(found.regions[1:])
    return "right" if bool(names & inner) == bool(told) and bool(inner) == bool(told) else "wrong"


def _shown(found: Metadata) -> str:
    place = "/".join(found.regions) or found.level
    told = (*found.issuers, found.number, found.issued, found.written, found.kind, place)
    return f"{' '.join(told)} inferred: {' '.join(found.inferred)}"


def print_table(half: str, results: Mapping[tuple[str, str], str]) -> None:
    """Print a line a field: how many texts state it, of these the share read right."""
    print(f"{half:9} {'stated':>7} {'right %':>8} {'wrong':>6} {'silent':>7} {'not stated':>11}")
    for field in _FIELDS.values():
        counts = Counter(result for (of, _), result in results.items() if of == field)
        stated = counts["right"] + counts["wrong"] + counts["silent"]
        share = 100 * counts["right"] / stated if stated else 0.0
        row = f"{share:8.1f} {counts['wrong']:6} {counts['silent']:7} {counts['not stated']:11}"
        print(f"{field:9} {stated:7} {row}")


def print_silence(docs: Mapping[str, Metadata], published: Mapping[str, str]) -> None:
    """Print of how many documents nothing is read, and how good suggested years are."""
    years = sum(found.year is None for found in docs.values())
    regions = sum(not found.level for found in docs.values())
    print(f"of {len(docs)} documents {years} without a year, {regions} without region or level")
    off = [
        abs(int(published[doc_id][:4]) - (found.year or 0))
        for doc_id, found in docs.items()
        if "written" in found.inferred
    ]
    print(
        f"{len(off)} years are only suggested: {off.count(0)} as published, "
        f"{off.count(1)} a year off, {sum(n > 1 for n in off)} further"
    )


if __name__ == "__main__":
    main()
