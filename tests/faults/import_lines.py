"""Damaged lines in files that are imported: the line is named, the others are stored."""

import json
import random
import string
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.commands import Place
from tests.faults.tally import Tally, main

SMALL, FULL = 360, 5000
_A_FILE = 120  # damaged lines in a file
_WHOLE = 0.25  # whole lines for each damaged one
_TEXT = "一、目标。到2030年，绿色工厂达到{0}家。推动节能降碳，完善标准体系。" * 4

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file.

    Attributes:
        data: Without its end.
        mark: Stands in what is stored of it, and in nothing else.
        is_bad: Whether it must be refused; None where it may be taken or refused.
        damage: What was done to it; empty for a whole one.
    """

    data: bytes
    mark: str
    is_bad: bool | None = False
    damage: str = ""


Damage = Callable[[Record, random.Random], tuple[bytes | None, bool | None]]


def _json(record: object) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _cut(record: Record, rng: random.Random) -> tuple[bytes | None, bool | None]:
    data = _json(record)
    return data[: rng.randrange(1, len(data))], True


def _needed(record: Record) -> list[str]:
    return [key for key in record if key not in ("entities", "level", "title")]


def _key_missing(record: Record, rng: random.Random) -> tuple[bytes | None, bool | None]:
    key = rng.choice(_needed(record))
    del record[key]
    return _json(record), None if key == "triples" else True  # it may hold entities alone


def _of_another_type(record: Record, rng: random.Random) -> tuple[bytes | None, bool | None]:
    record[rng.choice(_needed(record))] = rng.choice(
        [None, True, False, [], {}, [[]], {"a": 1}, [1], -0.5, "", "   ", [None], [["a", "b"]]]
    )
    return _json(record), None if record.get("triples") == [] else True


def _no_record(_: Record, rng: random.Random) -> tuple[bytes | None, bool | None]:
    return _json(rng.choice([None, 7, "text", [], {}, [{}], True])), True


def _huge_number(record: Record, rng: random.Random) -> tuple[bytes | None, bool | None]:
    digits = rng.choice(["9" * 30, "9" * 5000, "1e400", "-1e999", str(2**63), str(-(2**64))])
    key = rng.choice(["start", "end"]) if "start" in record else "places"
    record[key] = "@"
    return _json(record).replace(b'"@"', digits.encode()), True if key != "places" else None


def _nested(record: Record, rng: random.Random) -> tuple[bytes | None, bool | None]:
    depth = rng.choice([300, 1500, 20_000, 200_000])
    opened, closed = rng.choice([("[", "]"), ('{"a":', "}")])
    inner = opened * depth + ("1" + closed * depth if rng.random() < 0.7 else "")
    record["deep"] = "@"
    whole = inner.endswith(closed) and depth == 300
    return _json(record).replace(b'"@"', inner.encode()), None if whole else True


def _odd_characters(record: Record, rng: random.Random) -> tuple[bytes | None, bool | None]:
    odd = rng.choice(
        ["\u0000", "\u202e", "\ufeff", "\uffff", "\U0010ffff", "\u2028", "\x85", "\x1b[2J"]
    )
    return _placed(record, odd), None


def _half_characters(record: Record, rng: random.Random) -> tuple[bytes | None, bool | None]:
    _placed(record, rng.choice(["\ud800", "\udfff", "\udc80\ud83d"]))
    return json.dumps(record).encode(), None


def _placed(record: Record, odd: str) -> bytes:
    """Put characters behind what is stored of a record."""
    if "triples" in record:
        record["triples"][0][2] += odd
    else:
        key = "summary" if "summary" in record else "text"
        record[key] += odd
    return _json(record)


def _raw_bytes(record: Record, rng: random.Random) -> tuple[bytes | None, bool | None]:
    data = bytearray(_json(record))
    at = rng.randrange(1, len(data) - 1)
    data[at:at] = rng.choice([b"\x00", b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xf8\x88\x80"])
    return bytes(data), True


def _bad_span(record: Record, rng: random.Random) -> tuple[bytes | None, bool | None]:
    if "start" not in record:
        return None, None
    record["start"], record["end"] = rng.choice(
        [(-1, 5), (5, 5), (9, 3), (0, 10**6), (10**6, 10**6 + 1), (1.0, 5), (0, 5.5), (0, "5"),
         (None, 5), (0, None), (True, 5), (0, 2**63), (0, float("nan")), (0, float("inf"))]
    )  # fmt: skip
    return _json(record), True


def _key_twice(record: Record, rng: random.Random) -> tuple[bytes | None, bool | None]:
    key = rng.choice(_needed(record))
    more = f", {json.dumps(key)}: {json.dumps(record[key])}}}"
    return _json(record)[:-1] + more.encode(), True


def _garbage(_: Record, rng: random.Random) -> tuple[bytes | None, bool | None]:
    letters = string.ascii_letters + '{}[]",:\\ 中文'
    return ("@" + "".join(rng.choices(letters, k=rng.randrange(1, 200)))).encode(), True


_DAMAGES: tuple[Damage, ...] = (
    *(_cut, _key_missing, _of_another_type, _no_record, _huge_number, _nested, _odd_characters),
    *(_half_characters, _raw_bytes, _bad_span, _key_twice, _garbage),
)


def _fact(mark: str, rng: random.Random) -> Record:
    record: Record = {"doc": rng.choice(["a", "b"]), "start": 0, "end": 12}
    return record | {"triples": [[mark, "推动", "节能"]], "entities": ["节能"]}


def _summary(mark: str, rng: random.Random) -> Record:
    return {"doc": rng.choice(["a", "b"]), "start": 0, "end": 12, "summary": mark, "level": "x"}


def _document(mark: str, rng: random.Random) -> Record:
    return {"id": mark, "title": "方案", "text": f"{mark}：{_TEXT.format(rng.randrange(900))}"}


# The command, what whole records look like, and how a refusal names its line.
_KINDS: tuple[tuple[str, Callable[[str, random.Random], Record], str], ...] = (
    ("import-facts", _fact, "not imported: line {number}:"),
    ("import-summaries", _summary, "not imported: line {number}:"),
    ("ingest", _document, "{file}:{number}:"),
)


def _lines(make: Callable[[str, random.Random], Record], n: int, rng: random.Random) -> list[Line]:
    """Return so many damaged lines, and whole ones among them."""
    lines: list[Line] = []
    while sum(bool(line.damage) for line in lines) < n:
        mark = f"m{rng.getrandbits(48):012x}"
        if rng.random() < _WHOLE / (1 + _WHOLE):
            lines.append(Line(_json(make(mark, rng)), mark))
            continue
        damage = rng.choice(_DAMAGES)
        data, is_bad = damage(make(mark, rng), rng)
        if data is not None:
            lines.append(Line(data, mark, is_bad, damage.__name__.strip("_")))
    return lines


def _base(place: Place) -> Path:
    """Return a knowledge base of two documents."""
    kb, file = place.folder / "kb", place.folder / "docs.jsonl"
    records = [{"id": i, "title": i, "text": _TEXT.format(i)} for i in "ab"]
    file.write_bytes(b"\n".join(map(_json, records)))
    done = place.run("ingest", file, "--kb", kb)
    if done.code:
        raise RuntimeError(done.err)
    return kb


def run(n: int, seed: int, folder: Path) -> Tally:
    """Import so many damaged lines, of three kinds of file in turn."""
    tally, rng = Tally("import_lines"), random.Random(seed)
    place = Place(folder)
    kb = _base(place)
    for number in range(-(-n // _A_FILE)):
        command, make, naming = _KINDS[number % len(_KINDS)]
        lines = _lines(make, min(_A_FILE, n - number * _A_FILE), rng)
        file = folder / f"{number}.jsonl"
        file.write_bytes(b"\n".join(line.data for line in lines) + b"\n")
        what = f"seed {seed}, {command} {file.name}"
        done = place.run(command, file, "--kb", kb)
        tally.look_at(done, what)
        tally.expect("unnoticed", f"{what}: exit code {done.code}", holds=done.code == 1)
        exported = place.run("export", "--kb", kb).out
        for at, line in enumerate(lines, 1):
            named = naming.format(number=at, file=file) in done.err
            _judge(tally, line, f"{what}, line {at}", named=named, stored=line.mark in exported)
        verified = place.run("verify", "--kb", kb)
        tally.look_at(verified, f"{what}, verify")
        tally.expect("lost", f"{what}: {verified.out}", holds=verified.code == 0)
    return tally


def _judge(tally: Tally, line: Line, where: str, *, named: bool, stored: bool) -> None:
    tally.runs += bool(line.damage)
    what = f"{where} ({line.damage or 'whole'}): {line.data[:160]!r}"
    takes = line.is_bad is None and not named and line.mark.encode() in line.data
    if not line.damage or takes:
        tally.expect("lost", what, holds=stored and not named)
    elif line.is_bad:
        tally.expect("unnoticed", what, holds=named and not stored)


if __name__ == "__main__":
    main(run, full=FULL)
