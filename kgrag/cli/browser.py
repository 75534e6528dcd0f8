"""The command that writes the pack for Neo4j Browser: a style sheet and saved queries."""

import re
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

import click

from kgrag.cli.options import command, option
from kgrag.cli.printing import echo

STYLE, QUERIES = "kgrag.grass", "kgrag-queries.zip"
_OWN_RULE = re.compile(r"^node\.Kgrag\w+ \{\n(?:  .+\n)+\}\n", re.MULTILINE)


class SavedQuery(NamedTuple):
    """A query of the pack: its file, number and Chinese name, English name, text with comments."""

    file: str
    title: str
    english: str
    text: str


def saved_queries(base: str = "") -> list[SavedQuery]:
    """Return the queries of the pack by number; `base` names the knowledge base in its database."""
    from kgrag.store.neo4j.statements import of_base

    files = resources.files("kgrag.cypher").joinpath("browser").iterdir()
    queries = []
    for file in sorted(files, key=lambda file: file.name):
        if not file.name.endswith(".cypher"):
            continue
        text = of_base(file.read_text(encoding="utf-8"), base)
        title, english = (line.removeprefix("// ") for line in text.splitlines()[:2])
        queries.append(SavedQuery(file.name, title, english, text))
    return queries


def style_sheet(base: str = "") -> str:
    """Return the style sheet in GraSS, the style language of Neo4j Browser.

    The Browser has one at a time, so the sheet of a named knowledge base includes the rules of the
    unnamed one, also for nodes with only our own label, since another program may have a constraint
    on the readable one.
    """
    from kgrag.store.neo4j.statements import of_base

    text = resources.files("kgrag.cypher").joinpath("browser", STYLE).read_text(encoding="utf-8")
    if not base:
        return text
    return _OWN_RULE.sub(lambda rule: rule[0] + of_base(rule[0], base), text)


def write_pack(folder: Path, base: str = "") -> list[SavedQuery]:
    """Write the style sheet and the saved queries to a folder; return the queries.

    The queries are in one archive, because the Browser takes one file at a time. It lists them by
    their first lines, in a folder with the archive's name for it.
    """
    from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

    queries = saved_queries(base)
    inside = f"kgrag-{base}" if base else "kgrag"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STYLE).write_text(style_sheet(base), encoding="utf-8")
    with ZipFile(folder / QUERIES, "w", ZIP_DEFLATED) as archive:
        for query in queries:  # ZipInfo without a date: the same queries give the same bytes
            archive.writestr(ZipInfo(f"{inside}/{query.file}"), query.text, ZIP_DEFLATED)
    return queries


def page_address(kb: str) -> str:
    """Return the address of the server's Browser, on its usual port, that connects to a base.

    Raises:
        StoreUnavailableError: If `kb` is not the address of a Neo4j server.
    """
    from kgrag.store.neo4j.address import credentials, parse

    address = parse(kb)
    parts = urlsplit(address.uri)
    server = "https://{}:7473" if "+" in parts.scheme else "http://{}:7474"
    query = {"dbms": address.uri}
    if str(replace(address, base="")) != address.uri:
        query["db"] = address.database
    if credentials() is None:
        query["preselectAuthMethod"] = "NO_AUTH"  # connects without asking
    return f"{server.format(parts.hostname)}/browser/?{urlencode(query, safe=':/')}"


@command()
def browser(
    kb: str = option("Its address on a server.", default="bolt://localhost:7687"),
    out: Path = option(
        "Folder to write to.",
        type=click.Path(file_okay=False, path_type=Path),
        default="kgrag-browser",
    ),
) -> None:
    """Look at a knowledge base in Neo4j Browser: style sheet and saved queries."""
    from kgrag.store.neo4j.address import parse

    base = parse(kb).base
    address = page_address(kb)
    queries = write_pack(out, base)
    echo(f"1. open the page   {address}")
    echo(f"2. drag onto it    {out / STYLE}   (colours and captions)")
    echo(f"3. drag onto it    {out / QUERIES}   (saved queries: the star on the left)")
    echo()
    for query in queries:
        echo(f"{query.title}  {query.english}")


COMMANDS = (browser,)
