import pytest

from kgrag.answering.options import AskOptions
from kgrag.config import Config
from tests.fixtures.kit import shared_base

TEXTS = {
    "A省": (
        "A省绿色工厂实施方案\n一、目标\n到2025年，A省创建绿色工厂500家。\n"
        "二、责任\n由省工业和信息化厅牵头。\n"
    ),
    "B省": (
        "B省绿色工厂实施方案\n一、目标\n到2025年，B省创建绿色工厂300家。\n"
        "二、责任\n由省发展改革委牵头。\n"
    ),
}


kb = shared_base(TEXTS)


@pytest.fixture
def knowledge(kb):
    return kb._knowledge


@pytest.fixture
def options():
    """Return a function that makes options as settings do, with some things said."""

    def make(**said):
        return AskOptions.from_config(
            said.pop("config", Config()), has_model=False, writer="quotes", top_k=10, **said
        )

    return make
