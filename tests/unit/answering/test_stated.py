"""Questions that a table answers: what they select, their rows, and that ask and table agree."""

import contextlib
import functools
from collections import Counter
from pathlib import Path

import pytest

from kgrag.answer.blocks import Row
from kgrag.answering.stated import answer_of, given_of, selection_of, table_of
from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.errors import NotFoundError
from kgrag.retrieval.filter import Filter
from kgrag.statements.engine import rows
from kgrag.statements.selection import Selection
from kgrag.statements.table import shown
from kgrag.text.indicators import is_indicator
from kgrag.text.regions import listed_regions
from tests.fixtures.kit import shared_base

TEXTS = {
    "四川": (
        "四川省国土绿化规划\n根据《国土绿化条例》制定本规划。\n"
        "第一条 到2025年，全省森林覆盖率达到41%以上，PM2.5浓度降到30微克/立方米。"
        "到2030年，全省森林覆盖率达到42%。\n"
        "第二条 建设绿化网络。（牵头单位：四川省林业和草原局）\n"
    ),
    "成都": "成都市国土绿化规划\n第一条 到2025年，全市森林覆盖率达到40.3%。\n",
    "云南": (
        "云南省国土绿化规划\n依据《国土绿化条例》《四川省国土绿化规划》，制定本规划。\n"
        "第一条 到2025年，全省森林覆盖率达到66%。2020年全省森林覆盖率已达到65%。\n"
    ),
}
base = shared_base(TEXTS)


def asked(base, question, within=None):
    """Return the search for a question, and where it looks."""
    knowledge = base._knowledge.within(within)
    return knowledge.search(knowledge.query(question)), knowledge


def leads(base, question, within=None):
    """Return the leads of the rows that answer a question; empty where no table does."""
    search, knowledge = asked(base, question, within)
    table = table_of(search, knowledge)
    blocks = answer_of(table, search.query, knowledge.store, size=256).blocks if table else ()
    return [block.lead for block in blocks if isinstance(block, Row)]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("四川省2025年森林覆盖率目标是多少？", ["四川省，2025年：≥41%"]),
        ("四川的森林覆盖率", ["四川省，2025年：≥41%", "四川省，2030年：42%"]),
        ("各省2025年森林覆盖率目标分别是多少", ["四川省，2025年：≥41%", "云南省，2025年：66%"]),
        ("哪个省2025年的森林覆盖率目标最高", ["云南省，2025年：66%", "四川省，2025年：≥41%"]),
        ("各省十四五森林覆盖率目标从低到高", ["四川省，2025年：≥41%", "云南省，2025年：66%"]),
        ("四川各市的森林覆盖率目标", ["成都市，2025年：40.3%"]),
        ("云南现状森林覆盖率是多少", ["云南省，2020年：65%"]),
        ("四川2025年PM2.5浓度目标", ["四川省，2025年：30微克/立方米"]),
        ("What is the forest coverage target of Yunnan for 2025?", ["云南省，2025年：66%"]),
        ("哪些文件引用了《国土绿化条例》？", ["依据，2021（推断）"] * 2),
        ("which documents cite 《四川省国土绿化规划》?", ["依据，2021（推断）"]),
        (
            "《云南省国土绿化规划》的依据是什么",
            ["依据，《国土绿化条例》", "依据，《四川省国土绿化规划》"],
        ),
        ("四川省林业和草原局牵头哪些任务？", ["牵头，建设绿化网络"]),
        # A word that no field has, nothing stated, no place, more than one thing: no table.
        ("四川省2025年森林覆盖率不达标怎么处罚", []),
        ("四川省2025年森林覆盖率和湿地保护率", []),
        ("四川2035年森林覆盖率目标", []),
        ("四川森林覆盖率比2020年提高多少", []),
        ("森林覆盖率目标是多少", []),
        ("日本的森林覆盖率目标", []),
        ("哪些文件没有引用《国土绿化条例》", []),
        ("《国土绿化条例》和《四川省国土绿化规划》引用了哪些文件", []),
        ("《云南省国土绿化规划》所依据的上位政策是由哪个机构、在什么时间发布的？", []),
        ("四川省能源局负责哪些任务", []),
        ("四川省林业和草原局怎么负责森林防火", []),
    ],
)
def test_a_table_answers_where_every_word_is_bound(base, question, told):
    """Figures of places or a level, citations of a title, duties of an agency."""
    assert leads(base, question) == told


def test_a_selection_has_the_fields_of_the_question(base):
    """Places, years, standing, and the documents that are searched."""
    search, knowledge = asked(base, "四川和云南2025年、2030年森林覆盖率目标各是多少")
    assert selection_of(search, knowledge) == Selection(
        kind="targets",
        indicator="森林覆盖率",
        places=("四川", "云南"),
        years=(2025, 2030),
        standing="planned",
    )
    within = Filter(regions=("云南",))
    assert leads(base, "各省2025年森林覆盖率目标", within) == ["云南省，2025年：66%"]
    assert len(leads(base, "哪些文件引用了《国土绿化条例》？", within)) == 1


def test_rows_are_cited_and_counted(base):
    """Each row quotes its sentence; notes tell how many documents state such figures."""
    answer = base.ask("各省2025年森林覆盖率目标", writer="quotes")
    assert answer.text.splitlines()[0].startswith("四川省，2025年：≥41%，《四川省国土绿化规划》：")
    assert [c.number for c in answer.citations] == [1, 2]
    assert any("共3份文件" in told for told in answer.notes)
    silent = base.ask("四川、云南、福建2025年森林覆盖率目标各是多少", writer="quotes")
    assert [type(block).__name__ for block in silent.blocks][:2] == ["Row", "Row"]


def test_a_model_is_given_the_rows_with_their_clauses(base):
    """In words, each with the span that states it."""
    search, knowledge = asked(base, "四川的森林覆盖率")
    table = table_of(search, knowledge)
    assert table is not None
    row = given_of(table).items[0]
    ((doc_id, start, end),) = row.sources
    assert row.is_row
    assert "≥41%" in row.text
    assert "森林覆盖率达到41%" in base.document(doc_id).text[start:end]
    assert table_of(search, knowledge, planned=False) is None


TEXTS_OF_POLICIES = Path(__file__).parents[4] / "shared" / "data" / "policy" / "text"
_LONGEST, _DOCUMENTS = 20_000, 16  # bytes; the longest ones that are no longer


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Policies, with a stand-in encoder."""
    files = sorted(TEXTS_OF_POLICIES.glob("*.txt"), key=lambda file: (-file.stat().st_size, file))
    if not files:
        pytest.skip(f"no policies at {TEXTS_OF_POLICIES}")
    short = [file for file in files if file.stat().st_size <= _LONGEST][:_DOCUMENTS]
    config = Config(embedding=EmbeddingConfig(model="hash"))
    with KnowledgeBase.open(tmp_path_factory.mktemp("policies") / "kb", config=config) as made:
        made.ingest(short)
        yield made


def cited(base, question):
    """Return the citations of the rows of an answer, and the answer's leads."""
    search, knowledge = asked(base, question)
    found = table_of(search, knowledge)
    blocks = answer_of(found, search.query, knowledge.store, size=256).blocks if found else ()
    rows_shown = [block for block in blocks if isinstance(block, Row)]
    return [c for row in rows_shown for c in row.citations], "".join(r.lead for r in rows_shown)


def agree(citations, sources):
    """Return whether each source lies in a citation, and each citation around a source."""
    around = [
        {c.address for c in citations if c.doc_id == s.doc_id and c.start <= s.start < c.end}
        for s in sources
    ]
    return all(around) and set().union(*around) == {c.address for c in citations}


@functools.cache
def table(base, **fields):
    """Return the table of a selection; None for what is not held."""
    with contextlib.suppress(NotFoundError):
        return rows(base._knowledge.store, Selection(**fields))


def stated(base, region="", **fields):
    """Return the sources of the rows of a selection, and their values."""
    found = table(base, **fields)
    if found is None:
        return set(), set()
    keys = [column.key for column in found.columns]
    own = [r for r in found.rows if not region or r.cells[keys.index("region")] == region]
    values = {str(shown(r.cells[keys.index("value")])) for r in own} if region else set()
    return {source for row in own for source in row.sources}, values


def test_ask_and_table_agree_on_figures(archive):
    """30 indicators of all provinces: the same places are cited, all values are shown."""
    named = Counter(s.fact.subject.name for s in archive._knowledge.store.statements("target"))
    indicators = [name for name, _ in named.most_common() if is_indicator(name)][:30]
    provinces = [region.name for region in listed_regions() if region.level == "省"]
    n_found = 0
    for indicator in indicators:
        fields = {"kind": "targets", "indicator": indicator, "standing": "planned"}
        of_each = {province: stated(archive, province, **fields) for province in provinces}
        of_all = set().union(*(places for places, _ in of_each.values()))
        assert agree(cited(archive, f"各省的{indicator}目标分别是多少")[0], of_all)
        silent = [province for province in provinces if not of_each[province][0]]
        for province in [p for p in provinces if p not in silent] + silent[:1]:
            told, text = cited(archive, f"{province}的{indicator}目标是多少")
            places, values = of_each[province]
            assert agree(told, places)
            assert [value for value in values if value not in text] == []
            n_found += bool(places)
    assert n_found > 20


def test_ask_and_table_agree_on_citations_and_duties(archive):
    """20 titles and 20 agencies."""
    store = archive._knowledge.store
    titles = [card.title for card in archive.documents() if "《" not in card.title][:20]
    for title in titles:
        for kind, question in (
            ("cites", "《{}》引用了哪些文件"),
            ("cited_by", "哪些文件引用了《{}》"),
        ):
            told, _ = cited(archive, question.format(title))
            assert agree(told, stated(archive, kind=kind, document=title)[0])
    agencies = Counter(s.fact.subject.name for s in store.statements("duty"))
    for agency, _ in agencies.most_common(20):
        told, _ = cited(archive, f"{agency}负责哪些任务")
        assert agree(told, stated(archive, kind="duties", agency=agency)[0])
