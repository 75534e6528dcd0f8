"""Documents and facts that faults are tried on, and what a knowledge base holds of them."""

import json
from pathlib import Path
from typing import Any

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import KgragError, NoKnowledgeBaseError
from kgrag.text.visible import json_line
from tests.fixtures.kit import few_samples


def write_corpus(folder: Path, *, n: int = 40, first: int = 0) -> list[Path]:
    """Write records without a clause twice; return them and three sample documents.

    Args:
        folder: Made for the records.
        n: How many records.
        first: Number of the first.
    """
    folder.mkdir(parents=True)
    file = folder / "records.jsonl"
    rows = [
        {
            "id": f"r{i}",
            "title": f"云岭省第{i}号方案",
            "text": f"一、目标\n到20{25 + i % 10}年，绿色工厂达到{i}家。\n"
            + "".join(f"推动第{i}批第{j}项节能降碳。" for j in range(60)),
        }
        for i in range(first, first + n)
    ]
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return [*few_samples(), file]


def exported(kb: Path | str) -> list[str]:
    """Return the lines of a knowledge base's export; none where there is no knowledge base."""
    try:
        with KnowledgeBase.open(kb, create=False, embedder=HashEmbedder()) as base:
            return [json_line(record, sort_keys=True) for record in base.export()]
    except NoKnowledgeBaseError:
        return []


def problems(kb: Path | str) -> list[str]:
    """Return what is wrong with a knowledge base, in words; nothing where there is none."""
    try:
        with KnowledgeBase.open(kb, create=False, embedder=HashEmbedder()) as base:
            return [f"{p.invariant}: {p.subject}: {p.detail}" for p in base.verify()]
    except NoKnowledgeBaseError:
        return []
    except KgragError as exc:
        return [str(exc)]


def of_documents(lines: list[str]) -> set[str]:
    """Return the records that stand as they do in the end as soon as their document is stored.

    A shared name is spelt by the most. Whom a reference means is known when the documents of the
    run are there: only the last step of an ingestion connects them, and a run that was cut before
    it leaves them to the next one.
    """
    return {line for line in lines if _is_settled(json.loads(line))}


def _is_settled(record: dict[str, Any]) -> bool:
    if record["record"] == "evidence":
        return bool(record["qualifiers"].get("kind") != "reference")
    if record["record"] == "entity-name":
        return bool(record["type"] != "document")
    return record["record"] not in ("entity", "fact")


def write_facts(file: Path, *, n: int = 40) -> Path:
    """Write facts, one for each of the records."""
    rows = [
        {"doc": f"r{i}", "start": 0, "end": 20, "triples": [[f"第{i}号方案", "推动", "节能"]]}
        for i in range(n)
    ]
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return file


def write_summaries(file: Path, *, n: int = 40) -> Path:
    """Write summaries, one for each of the records."""
    rows = [{"doc": f"r{i}", "start": 0, "end": 20, "summary": f"第{i}号概要"} for i in range(n)]
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return file
