"""No text, long or hostile, keeps a pattern or a function longer than its length calls for.

Each pattern and function gets a share of the families of texts that differs from one to the next;
`KGRAG_TEST_FULL=1` tries them all. What once took for ever is always tried.
What counts is CPU time, and how it grows: four times as much text may take `WORSE` times as long.
"""

import re
import zlib
from collections.abc import Callable

import pytest

from kgrag.errors import KgragError
from kgrag.ingestion.chunk import ChunkSizes, chunk
from kgrag.ingestion.load.html import read_box
from kgrag.ingestion.load.legible import illegible
from kgrag.ingestion.metadata.read import read_metadata
from kgrag.ingestion.statements.findings import findings
from kgrag.ingestion.structure import structure
from kgrag.question.question import analyse, question_of
from kgrag.text.messages import in_language, message, without_start
from kgrag.text.page_labels import with_labels
from kgrag.types import Document
from kgrag.verification import claims
from tests.fixtures import adversarial, extent
from tests.fixtures.adversarial import (
    CHARACTERS,
    WORSE,
    Family,
    call_of,
    families_for,
    functions_of,
    growth,
    patterns_of,
    use,
)

PACKAGES = (
    "kgrag.text",
    "kgrag.question",
    "kgrag.ingestion.load",
    "kgrag.ingestion.metadata",
    "kgrag.ingestion.statements",
    "kgrag.ingestion.structure",
    "kgrag.answer",
    "kgrag.answering",
    "kgrag.verification",
    "kgrag.retrieval",
)
HEADER = "序号 指标名称 单位 2020年 2025年 属性\n"
TABLE = "| 指标 | 2020年 | 2025年 |\n| --- | --- | --- |\n"
BEFORE = ("", HEADER, "到2025年，", "第一条 ", "根据《", TABLE)
PIECES = """
20 1. 1, 1/ -- () （） （一） 《》 〈〉 、1 ，的 要的 十百千万亿 关于印发〈 《关于印发〈 印发《
〔2021〕 （国发〔2021〕4号） 2025年 到2025年达到 政府局 省能源局 由局负责 （责任单位： 约束性
1约束性 --约束性 占装机 1万吨 同比增长 [1] ** <b> <!-- 以下简称“ 是指 罚款 不得 应当 符合
"""
AGAIN = (
    *CHARACTERS,
    *PIECES.split(),
    *("\n\n", " \n", "\r\n", "一、\n", "1.\n", "（一）\n", "第一条\n", "1.1.1 ", "甲乙丙\n"),
    *("||\n", "| 1 | 2 |\n", "a b ", "```\n"),
)

# Patterns that a loop uses, and how.
IN_LOOPS = {
    "kgrag.ingestion.load.title._RUN_ON": "match",
    "kgrag.text.numbering._PATTERNS": "match",
    "kgrag.text.page_labels._VALUES": "fullmatch",
    "kgrag.text.regions._COUNTY": "fullmatch",
}
# How to call what takes more than texts.
CALLS: dict[str, Callable[[str], object]] = {
    "kgrag.ingestion.load.html.read_box": lambda text: read_box(text.splitlines()),
    "kgrag.ingestion.statements.findings.findings": lambda text: findings(
        text, structure(text), own_names=()
    ),
    "kgrag.text.messages.message": lambda text: in_language(
        message("pages {pages}: {what}", pages="1", what=text), "zh"
    ),
    "kgrag.text.messages.without_start": lambda text: without_start(ValueError(text), text),
    "kgrag.ingestion.load.legible.illegible": lambda text: illegible(text, ()),
    "kgrag.text.page_labels.with_labels": lambda text: with_labels(text.splitlines()),
    "kgrag.verification.claims.findings": lambda text: claims.findings(
        "到2025年达到38%", claims.Clause(text)
    ),
    "kgrag.verification.claims.completing": lambda text: claims.completing(
        "到2025年达到38%", claims.Clause("能耗下降"), [text], [0], asked=""
    ),
    "kgrag.question.question.analyse": lambda text: question_of(analyse(text)),
}
# What works on what these make of a text, or on an answer, a model's reading, a store.
REACHED = {
    "kgrag.ingestion.statements.findings.findings": """
        all_rates bound_of can_be_indicator carried_on clauses each_alone comparator_of
        complete_levels complete_work counts_list done_together goes_on is_size is_threshold
        is_within_name lent made_of roles_of said_before item_before told_before whole
        with_amount without_sums""",
    "kgrag.ingestion.metadata.read.read_metadata": "read_issuers read_region suggested_year",
    "kgrag.text.quantities.quantities": "says_nothing",
    "answers, models, stores": """
        answer_by_sides as_of_asked ask carry_over cited_material complete cited_passages
        document_called document_facets document_meant documents_of_archive explained find
        find_support
        html improve in_official_terms material material_of missing_claims named_figures
        node_id note numbers_missing read_office rate retrieve
        score self_check side states_kind""",
    "a character, an encoding": "carried is_hidden",
    "elements of Word": "is_on property_value",
    "programs and archives": """
        as_office catalogue members open_package open_pictures read_docx read_pdf
        read_picture_file read_word_list""",
}
VALUES = {
    "check_regions",
    "either",
    "parse_as_of",
    "parse_years",
    "stated_value",
}  # refuse what is none by a ValueError
ELSEWHERE = {name for names in REACHED.values() for name in names.split()}


class Box(Family):
    """A box (专栏) in which （一） to （九十九） stand below each of 一、 to 九十九、."""

    def text(self, n: int) -> str:
        """Return the first characters of it."""
        ones = ("", *"一二三四五六七八九")
        counts = [tens + one for tens in ("", *(f"{c}十" for c in ones)) for one in ones][1:]
        inner = "".join(f"（{count}）建设工程\n" for count in counts)
        return (self.before + "".join(f"{count}、改造工程\n{inner}" for count in counts))[:n]


def share(families: list[Family], name: str, n: int) -> list[Family]:
    """Return all families in a full run, else about n of them, others for each name."""
    step = 1 if extent.FULL else max(1, len(families) // n)
    return families[zlib.crc32(name.encode()) % step :: step]


def worst(call: Callable[[str], object], families: list[Family]) -> str:
    """Return the first of the families that takes too long, and how; empty for none."""
    for family in families:
        grown = growth(call, family)
        if grown > WORSE:
            return f"{family.before[:30]!r} + {family.again[:30]!r} * n: x{grown:.1f}"
    return ""


def slow_patterns(package: str) -> list[str]:
    found = []
    for held in patterns_of(package):
        families = families_for(held.pattern) + [Family("", c) for c in CHARACTERS]
        used = held.used or {IN_LOOPS.get(held.place, "finditer")}
        if told := worst(use(held.pattern, used), share(families, held.place, 6)):
            found.append(f"{held.place}: {told}: {held.pattern.pattern[:120]}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_patterns_take_time_in_proportion_to_the_text(package):
    """Every pattern of the package, on what its own repeats eat."""
    assert not slow_patterns(package)


def test_a_pattern_that_splits_digits_in_every_way_is_found(monkeypatch):
    """The test itself: a pattern of values as it was, and one quadratic in blanks."""
    monkeypatch.setattr(adversarial, "LONGEST_S", 0.03)  # none of them ends by itself
    cell = r"(?:\d+(?:\.\d+)?%?|[-—–/√]{1,2})"
    values = rf"(?:{cell}(?:[ \t]*{cell})*)[ \t]*(?:约束性)"
    for old in (values, r"\s*x"):
        pattern = re.compile(old)
        assert worst(pattern.fullmatch, families_for(pattern)) or worst(
            pattern.search, families_for(pattern)
        )
    assert not worst(re.compile(r"x\s*+y").search, families_for(re.compile(r"x\s*+y")))


KNOWN = (  # what kept a document, or lost it
    ("kgrag.ingestion.statements.findings.findings", HEADER, "1"),
    ("kgrag.ingestion.statements.findings.findings", HEADER, "-"),
    ("kgrag.ingestion.statements.findings.findings", HEADER, "/"),
    ("kgrag.ingestion.statements.findings.findings", "根据《节能法》", "\n"),
    ("kgrag.ingestion.statements.cited_titles.cited_titles", "", "《关于印发〈"),
    ("kgrag.ingestion.statements.cited_titles.clean_title", "", "\n"),
    ("kgrag.ingestion.metadata.read.document_kind", "", " "),
    ("kgrag.ingestion.statements.findings.findings", HEADER, "到2025年达到38%，"),
    ("kgrag.text.answer_text.is_denial", "[1]文件未规定，", "a"),
    ("kgrag.text.official_terms.official_terms", "", "旧件翻新"),
    ("kgrag.text.words.words", "", "是指"),
    ("kgrag.text.title_keys.without_edition", "（2021", " "),
    ("kgrag.text.quantities.quantities", "", " "),
    ("kgrag.text.quantities.quantities", "", "十百千万亿"),
    ("kgrag.text.numerals.han_numeral", "", "十百千万亿"),
    ("kgrag.text.title_keys.title_keys", "", " "),
    ("kgrag.text.titles.titles_within", "", "关于印发〈"),
    ("kgrag.ingestion.statements.target_tables.table_cells", "", "2025年"),
    ("kgrag.answer.sentences.joined_spans", "", "||\n"),
    ("kgrag.verification.names.agencies", "", "政府局"),
    ("kgrag.verification.parts.parts_of", "", "38%"),
    ("kgrag.verification.parts.parts_of", "", "甲局"),
)


@pytest.mark.parametrize(("name", "before", "again"), KNOWN)
def test_what_once_took_for_ever_ends(name, before, again):
    """Also where no share of a run falls on it; a number without end is no number."""
    call = calls_of(".".join(name.split(".")[: 3 if "ingestion" in name else 2]))[name]
    assert not worst(call, [Family(before, again)])


LINES = ("甲乙丙\n", "一、总体要求\n", "\n", "1 2 3\n", "甲", "到2025年达到38%，", "（一）")
STAGES: dict[str, Callable[[str], object]] = {
    "structure": structure,
    "findings": CALLS["kgrag.ingestion.statements.findings.findings"],
    "metadata": lambda text: read_metadata(text, title="节能办法", properties={}),
    "chunk": lambda text: cut(text, structure(text)),
}


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_a_long_document_takes_time_in_proportion(stage):
    """A line of a megabyte, a hundred thousand short lines; a fiftieth of it where not in full."""
    n = extent.of(250_000, 5_000)
    found = {again: growth(STAGES[stage], Family(HEADER, again), n) for again in LINES}
    assert not {again: grown for again, grown in found.items() if grown > WORSE}


def test_a_long_box_takes_time_in_proportion():
    """Its numberings nest by what stands before each line."""
    assert growth(structure, Box("专栏1 重点工程\n", "一")) < WORSE


def cut(text, headings):
    """Return the chunks of a text."""
    document = Document("d", "节能办法", text, "节能办法.txt", "txt", "0")
    return chunk(document, headings, ChunkSizes())


def calls_of(package: str) -> dict[str, Callable[[str], object]]:
    """Return how to call each function of a package that takes a text."""
    made = {name: call_of(function) for name, function in functions_of(package).items()}
    found = {name: CALLS.get(name) or call for name, call in made.items()}
    found |= {name: call for name, call in CALLS.items() if name.startswith(package + ".")}
    kept = {n: call for n, call in found.items() if n.rpartition(".")[2] not in ELSEWHERE}
    missing = [name for name, call in kept.items() if call is None]
    assert not missing, f"say in CALLS how to call them, or in REACHED what does: {missing}"
    return {name: call for name, call in kept.items() if call}


def refusing(name: str, call: Callable[[str], object]) -> Callable[[str], object]:
    """Return the call; a text that it refuses, as it says, is one that it has read."""
    refused = (KgragError, ValueError) if name.rpartition(".")[2] in VALUES else (KgragError,)

    def called(text: str) -> object:
        try:
            return call(text)
        except refused:
            return None

    return called


def slow_functions(package: str) -> list[str]:
    found = []
    families = [Family(before, again) for before in BEFORE for again in AGAIN]
    for name, call in calls_of(package).items():
        if told := worst(refusing(name, call), share(families, name, 4)):
            found.append(f"{name}: {told}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_functions_take_time_in_proportion_to_the_text(package):
    """Every public function of the package that takes a text; a new one is called as well."""
    assert not slow_functions(package)
