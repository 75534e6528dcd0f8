"""A knowledge base of short policies of two invented provinces and a city, and of the samples."""

import pytest

from kgrag.api import KnowledgeBase
from tests.fixtures.kit import shared_base

NORTH = """北川省节能方案
北川省人民政府办公厅
2021年3月5日
一、主要目标
到2025年，全省森林覆盖率达到24%，到2030年森林覆盖率达到26%。
二、重点任务
（一）推动重点行业节能改造。抓好钢铁行业。（责任单位：省发展改革委牵头，省财政厅配合）
（二）大力发展非化石能源。发展风电。（责任单位：省能源局）
（三）持续提升建筑能效水平。推广绿色建筑。（责任单位：省住房城乡建设厅）
三、附则
根据《全国节能总体方案》制定本方案。
"""
SOUTH = """南岭省林业规划
南岭省人民政府办公厅
2021年6月1日
一、主要目标
到2025年，全省森林覆盖率达到40%。
到2025年，全省湿地保护率达到55%。
二、依据
根据《全国节能总体方案》编制。
"""
LATER = """南岭省湿地保护方案
南岭省人民政府办公厅
2022年6月1日
一、主要目标
到2025年，全省湿地保护率达到60%。
"""
TEXTS = {"north": NORTH, "south": SOUTH, "later": LATER}


base = shared_base(TEXTS, "hash-64")


@pytest.fixture(scope="module")
def samples(sample_kb):
    """A knowledge base of the sample documents."""
    with KnowledgeBase.open(sample_kb) as found:
        yield found
