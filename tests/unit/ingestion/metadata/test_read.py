"""What a document says of itself; its examples are in tests/cases/metadata.toml."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.ingestion.load.statement import statement
from kgrag.ingestion.metadata.issuing_organs import is_organ_name, split_organs
from kgrag.ingestion.metadata.read import read_metadata
from kgrag.metadata import Metadata


@given(st.text("省市云岭四川财政厅局委、和人民政府（）", max_size=30) | st.text(max_size=30))
def test_pieces_come_from_the_text(text):
    """Nothing is added, and each piece is an organ; what stands in brackets is left out."""
    plain = re.sub(r"[（(][^（）()]*[）)]", "", text)
    found = split_organs(text)
    assert all(organ in plain and is_organ_name(organ) for organ in found)


NOTICE = """云岭省人民政府办公厅关于印发云岭省节能管理办法（试行）的通知
云政办发〔２０２２〕３号
各市（州）人民政府，省直各部门：
《云岭省节能管理办法（试行）》已经省政府同意，现印发给你们。
云岭省人民政府办公厅
２０２２年３月５日
（此件公开发布）
云岭省节能管理办法（试行）
第一条 为了节能，根据《节能办法》（国发〔2018〕33号），制定本办法。
第十条 本办法自2022年5月1日起施行，有效期五年。
"""


def test_every_field_that_a_table_beside_the_file_states_wins():
    """As the row says it, whatever the text does; months and levels, too."""
    row = {
        "issuer": "云岭省能源局；云岭省财政厅", "number": "云能[2020]1号", "date": "2020-01-02",
        "written": "2019-12", "effective": "2020-02", "expires": "2030", "region": "四川省成都市",
        "level": "部门", "kind": "规划", "status": "暂行", "recipients": "各县；各区",
        "notice": "关于甲的通知",
    }  # fmt: skip
    properties, problems = statement(row.items())
    found = read_metadata(NOTICE, title="云岭省节能管理办法（试行）", properties=properties)

    assert not problems
    assert found == Metadata(
        issuers=("云岭省能源局", "云岭省财政厅"), number="云能〔2020〕1号", issued="2020-01-02",
        written="2019-12", effective="2020-02", expires="2030", regions=("四川省", "成都市"),
        level="部门", kind="规划", status=("暂行",), recipients=("各县", "各区"),
        notice="关于甲的通知",
    )  # fmt: skip


_WORDS = """
云岭省 人民政府 关于印发《 》的通知 〔2022〕 3号 各市： 2022年3月5日 自 起施行 （ ） 有效期 五年
《 财政厅 本办法 99年99月99日 。
"""
PIECES = [*_WORDS.split(), "\n", "\x00"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text(max_size=120)


@settings(deadline=None)
@given(
    TEXTS,
    st.text(max_size=20),
    st.dictionaries(
        st.sampled_from(["date", "stated.date", "stated.region", "stated.issuer", "source"]),
        st.text(max_size=12),
    ),
)
def test_no_text_is_refused(text, title, properties):
    """Whatever it is fed, it gives metadata that can be stored and read back."""
    found = read_metadata(text, title=title, properties=properties)
    assert Metadata.from_record(found.to_record()) == found


@pytest.mark.parametrize(
    "text",
    ["云岭省" * 200_000, "（" * 500_000, "2022年3月5日" * 80_000, "省财政厅省能源局" * 60_000,
     "关于印发《" * 100_000, "\n".join(["各市、县"] * 50_000), "云政发〔2022〕" * 60_000],
    ids=range(7),
)  # fmt: skip
def test_long_texts_come_to_an_end(text):
    """Half a million characters of one pattern: a rule that goes back and forth would not."""
    found = read_metadata(text, title=text[:200], properties={})
    assert Metadata.from_record(found.to_record()) == found
