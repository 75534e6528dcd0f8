"""Plans in the form of real ones, made up for these tests, that differ and fall short."""

from contextlib import contextmanager

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig

PLANS = {
    "nation": """国务院关于印发清洁生产行动方案的通知
国发〔2021〕7号

各省、自治区、直辖市人民政府：
现将《清洁生产行动方案》印发给你们，请认真贯彻执行。
国务院
2021年8月1日
清洁生产行动方案
一、主要目标
到2025年，农村生活污水治理率达到40%，单位国内生产总值能源消耗比2020年下降13.5%，创建绿色工厂9000家，城市公共供水管网漏损率控制在9%以内，科技支出占比达到3%。
""",
    "sichuan-old": """四川省清洁生产工作方案（2021年）
四川省人民政府
2021年10月8日
为推进清洁生产，依据《中华人民共和国清洁生产促进法》《清洁生产行动方案》，制定本方案。
一、总体目标
到2025年，全省农村生活污水治理率达到35%，单位地区生产总值能耗比2020年下降14%，创建绿色工厂500家，科技支出占比达到2%。
二、重点任务
（一）建设绿色工厂。推动企业节能改造，建立企业名录。（牵头单位：省经济和信息化厅；配合单位：省生态环境厅）
（二）治理农村污水。完善农村污水管网，推广适用技术。（责任单位：省生态环境厅）
（三）推广清洁能源。支持分布式光伏。（责任单位：省能源局）
三、实施要求
2022年6月底前报送进展情况。本方案自2021年11月1日起施行，有效期5年。
""",
    "sichuan-new": """四川省清洁生产工作方案（2023年）
四川省人民政府
2023年3月2日
为推进清洁生产，依据《中华人民共和国清洁生产促进法》，落实《减污降碳协同增效实施方案》，制定本方案。
一、总体目标
到2025年，全省农村生活污水治理率达到45%，单位地区生产总值能耗比2020年下降14%，创建绿色工厂600家。2022年，全省农村生活污水治理率达到30%。
二、重点任务
（一）建设绿色工厂。推动企业节能改造，建立企业名录，给予资金奖励。（牵头单位：省经济和信息化厅；配合单位：省财政厅）
（二）治理农村污水。完善农村污水管网，推广适用技术。（责任单位：省生态环境厅）
（三）发展循环经济。建设资源回收体系。（责任单位：省商务厅）
""",
    "chengdu": """成都市清洁生产实施方案
成都市人民政府
2023年6月1日
一、主要目标
到2025年，全市农村生活污水治理率达到90%，城市公共供水管网漏损率控制在10%以内，创建绿色工厂120家。
到2030年，单位地区生产总值能耗比2020年下降13%。
二、保障措施
持续推进宣传。（责任单位：市生态环境局）
""",
}


@contextmanager
def plans_in(folder):
    """Yield a knowledge base of these plans in a folder."""
    for name, text in PLANS.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")
    config = Config(embedding=EmbeddingConfig(model="hash-32"))
    with KnowledgeBase.open(folder / "kb", config=config) as made:
        made.ingest(sorted(folder.glob("*.txt")))
        yield made


def cells(table, *keys):
    """Return the cells of some columns, row by row."""
    at = [[c.key for c in table.columns].index(key) for key in keys]
    return [tuple(row.cells[i] for i in at) for row in table.rows]
