"""Organs that stand beside each other, with or without marks."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.metadata.issuing_organs import is_organ_name, split_organs


@pytest.mark.parametrize(
    ("text", "organs"),
    [
        ("云岭省财政厅、云岭省能源局", ["云岭省财政厅", "云岭省能源局"]),
        ("云岭省财政厅云岭省能源局", ["云岭省财政厅", "云岭省能源局"]),
        ("省科技厅省民政厅省财政厅", ["省科技厅", "省民政厅", "省财政厅"]),
        ("中共四川省委 四川省人民政府", ["中共四川省委", "四川省人民政府"]),
        ("河北省委省政府", ["河北省委", "省政府"]),
        ("青海省人民政府国家能源局", ["青海省人民政府", "国家能源局"]),
        ("财政部税务总局海关总署", ["财政部", "税务总局", "海关总署"]),
        ("中国人民银行成都分行成都市财政局", ["中国人民银行成都分行", "成都市财政局"]),
        ("云岭省人民政府办公厅", ["云岭省人民政府办公厅"]),
        ("云岭省能源局（代章）", ["云岭省能源局"]),
        ("省市场监管局省发展改革委", ["省市场监管局", "省发展改革委"]),
        ("三明市财政局", ["三明市财政局"]),
        ("云岭省应急管理厅", ["云岭省应急管理厅"]),
        ("加强组织领导", []),
        ("各市人民政府", []),
        ("有关单位", []),
        ("关于财政局", []),
        ("省财政厅负责、省能源局", []),
        ("工业和信息化厅大数据发展局", []),
        ("", []),
    ],
)
def test_split_organs(text, organs):
    """Cut where one ends and the next begins; nothing where a piece is no organ."""
    assert split_organs(text) == organs


@given(st.text("省市云岭四川财政厅局委、和人民政府（）", max_size=30) | st.text(max_size=30))
def test_pieces_come_from_the_text(text):
    """Nothing is added, and each piece is an organ; what stands in brackets is left out."""
    plain = re.sub(r"[（(][^（）()]*[）)]", "", text)
    found = split_organs(text)
    assert all(organ in plain and is_organ_name(organ) for organ in found)
