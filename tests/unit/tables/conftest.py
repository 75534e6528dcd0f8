"""A small folder of policies in the form of real ones, made up for these tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.tables.tables import Tables

POLICIES = {
    "nation": """国务院关于印发绿色发展行动方案的通知
国发〔2021〕9号

各省、自治区、直辖市人民政府：
现将《绿色发展行动方案》印发给你们，请认真贯彻执行。
国务院
2021年9月1日
绿色发展行动方案
为推动绿色发展，依据《中华人民共和国节约能源法》，制定本方案。
一、主要目标
到2025年，森林覆盖率达到24%，非化石能源消费比重达到20%左右。
""",
    "sichuan": """四川省人民政府关于印发四川省绿色发展实施方案的通知
川府发〔2022〕3号

各市（州）人民政府：
现将《四川省绿色发展实施方案》印发给你们，请认真组织实施。
四川省人民政府
2022年3月5日
四川省绿色发展实施方案
为贯彻落实《国务院关于印发绿色发展行动方案的通知》（国发〔2021〕9号），制定本方案。
一、发展基础
2020年，全省森林覆盖率达到40%。
二、主要目标
到2025年，全省森林覆盖率达到41%，创建绿色工厂500家。
三、重点任务
（一）建设绿色工厂。推动企业节能改造。（牵头单位：省经济和信息化厅；配合单位：省生态环境厅）
（二）保护森林。（责任单位：省林业局）
""",
    "chengdu": """成都市人民政府关于印发成都市绿色发展工作方案的通知
成府发〔2022〕8号

各区（市）县人民政府：
现将《成都市绿色发展工作方案》印发给你们，请认真组织实施。
成都市人民政府
2022年6月1日
成都市绿色发展工作方案
为落实《四川省绿色发展实施方案》，依据《中华人民共和国节约能源法》，制定本方案。
一、主要目标
到2025年，全市森林覆盖率不低于40.5%。
二、重点任务
（一）建设绿色工厂。（牵头单位：市经信局；责任单位：市生态环境局）
""",
    "yunnan": """云南省人民政府关于促进绿色消费的意见
云政发〔2022〕5号

各州、市人民政府：
为促进绿色消费，提出如下意见。
一、加强宣传。推广绿色产品。
云南省人民政府
2022年4月2日
""",
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """A knowledge base of these policies."""
    folder: Path = tmp_path_factory.mktemp("policies")
    for name, text in POLICIES.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")
    config = Config(embedding=EmbeddingConfig(model="hash-32"))
    with KnowledgeBase.open(folder / "kb", config=config) as made:
        made.ingest(sorted(folder.glob("*.txt")))
        yield made


@pytest.fixture
def tables(base: KnowledgeBase) -> Tables:
    """Its tables."""
    return base.tables()
