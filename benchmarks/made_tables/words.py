"""Words that made documents are made of; places, figures and projects are invented."""

from random import Random

PLACES = ("云岭市", "青泽县", "临川湾新区", "白麓市", "松溪县", "澄江州", "北屏县", "望川市")
GROUPS = ("经济发展", "创新驱动", "民生福祉", "绿色生态", "安全保障")
INDICATORS = (
    ("地区生产总值年均增长", "%"), ("全员劳动生产率", "万元/人"), ("常住人口城镇化率", "%"),
    ("研发经费投入强度", "%"), ("每万人口高价值发明专利拥有量", "件"), ("城镇调查失业率", "%"),
    ("每千人口拥有执业（助理）医师数", "人"), ("劳动年龄人口平均受教育年限", "年"),
    ("单位地区生产总值能源消耗降低", "%"), ("单位地区生产总值二氧化碳排放降低", "%"),
    ("地级及以上城市空气质量优良天数比率", "%"), ("地表水达到或好于Ⅲ类水体比例", "%"),
    ("森林覆盖率", "%"), ("粮食综合生产能力", "万吨"), ("能源综合生产能力", "万吨标准煤"),
    ("非化石能源占一次能源消费比重", "%"), ("PM2.5平均浓度", "微克/立方米"),
    ("新型储能装机规模", "万千瓦"), ("公共充电桩数量", "个"), ("绿色建筑占新建建筑比重", "%"),
    ("城市再生水利用率", "%"), ("农作物秸秆综合利用率", "%"), ("湿地保护率", "%"),
    ("一般工业固体废物综合利用率", "%"), ("规模以上工业增加值年均增速", "%"),
    ("3岁以下婴幼儿每千人口托位数", "个"), ("基本养老保险参保率", "%"), ("水土保持率", "%"),
)  # fmt: skip
ORGANS = (
    "市发展改革委", "市工业和信息化局", "市财政局", "市自然资源局",
    "市生态环境局", "市住房城乡建设局",
    "市交通运输局", "市水务局", "市农业农村局", "市商务局", "市市场监管局", "市统计局", "市能源局",
    "市科技局", "市教育局", "市人力资源社会保障局", "各县（区）人民政府", "市林业和草原局",
)  # fmt: skip
_OBJECTS = (
    "工业领域节能降碳改造", "新型电力系统建设", "城乡建设绿色发展",
    "交通运输结构优化", "再生资源回收利用",
    "生态系统固碳能力提升", "碳排放统计核算", "绿色金融产品创新", "园区循环化改造", "散煤清洁替代",
    "高标准农田建设", "数字化监测平台建设", "重点流域综合治理", "老旧管网更新", "充换电设施布局",
)  # fmt: skip
_CLAUSES = (
    "建立清单管理和动态调整机制", "对未按期完成的予以通报", "每季度末向领导小组办公室报送进展",
    "完善配套标准和统计口径",
    "支持有条件的地区先行先试", "鼓励社会资本以多种方式参与", "严格落实产能置换要求",
    "加强资金绩效评价",
    "推动重点企业开展能效对标", "引导金融机构加大中长期贷款投放", "强化用地、用能等要素保障",
)  # fmt: skip
_WORKS = (
    "污水处理厂提标改造", "分布式光伏发电", "抽水蓄能电站", "集中供热管网",
    "生活垃圾焚烧发电", "河道生态修复",
    "风电场", "绿色建材生产线", "冷链物流中心", "农村公路", "智慧能源管控平台", "危险废物处置中心",
    "钢铁企业超低排放改造", "公交场站电动化", "中型灌区节水改造",
)  # fmt: skip
_PROSE = (
    "各县（区）、各部门要把思想和行动统一到市委、市政府决策部署上来，结合实际抓好落实。",
    "坚持系统观念，处理好发展和减排、整体和局部、长远目标和短期目标、政府和市场的关系。",
    "本方案所称重点企业，是指年综合能源消费量五千吨标准煤以上的用能单位。",
    "要健全目标责任制，定期开展评估，评估结果作为干部综合考核的重要参考。",
    "资金来源包括上级补助、本级预算安排和企业自筹，按照项目进度分批拨付。",
    "鼓励高等学校、科研院所和企业联合开展关键技术攻关，形成一批可复制的经验。",
    "对弄虚作假、骗取补贴资金的，依法追回已拨付的资金，三年内不得再次申报。",
)
NAMES = ("周明远", "李青", "欧阳静", "王海川", "陈一诺", "赵立", "孙晓岚", "何维")
FIELDS = (
    "项目名称", "申报单位", "法定代表人", "统一社会信用代码", "注册地址", "联系电话", "电子邮箱",
    "所属行业", "建设性质", "建设地点", "总投资（万元）", "申请金额", "起止年限", "开户银行",
    "银行账号", "主管部门", "单位类型", "职工人数", "负责人", "填报日期", "传真", "邮政编码",
    "资产总额", "年综合能耗",
)  # fmt: skip
REGIONS = (
    "Northern Uplands", "Ardell Valley", "Port Serrin", "Lake District East", "Corran Bay",
    "Westmark", "Halden Plain", "Upper Tamsin", "South Harrow Coast", "Brennick", "Ostery",
    "Greater Vellin", "Mirren Isles", "Dunmore Forest", "Kestrel Point", "Ravensford",
    "Old Quarry Basin", "Linden Heights", "Sandmere", "Tarn Hollow",
)  # fmt: skip
ENGLISH = (
    "Each operator shall submit a verified report on its emissions by 31 March of every year.",
    "The competent authority reviews the plan and may ask for further evidence within 30 days.",
    "Grants cover at most 40 per cent of the eligible cost of retrofitting public buildings.",
    "Monitoring equipment is to be calibrated by an accredited laboratory.",
    "Regional offices publish the results of inspections on their websites.",
    "Where a target is missed, a corrective action plan is due within three months.",
    "Funds that are not spent by the end of the period return to the treasury.",
)


def clauses(random: Random, n: int) -> list[str]:
    """Return so many clauses, at most eleven."""
    return random.sample(_CLAUSES, n)


def value(random: Random) -> str:
    """Return what is filled into a form."""
    return random.choice((
        random.choice(PLACES), random.choice(NAMES), organs(random, 1), project(random)[0],
        f"{random.randint(10, 98000):,}", f"0{random.randint(100, 999)}-{random.randint(2, 8)}00",
        f"{random.randint(2023, 2027)}年{random.randint(1, 12)}月", "新建", "事业单位",
    ))  # fmt: skip


def english(random: Random, n_sentences: int) -> str:
    """Return a paragraph in English of so many sentences, at most seven."""
    return " ".join(random.sample(ENGLISH, n_sentences))


def prose(random: Random, n_sentences: int) -> str:
    """Return a paragraph of so many sentences, at most seven."""
    return "".join(random.sample(_PROSE, n_sentences))


def task(random: Random, n_clauses: int) -> str:
    """Return a duty's text of so many clauses after its lead, at most eleven."""
    lead = f"{random.choice(('推进', '加快', '深化', '组织实施'))}{random.choice(_OBJECTS)}"
    target = f"到{random.randint(2025, 2030)}年完成{random.randint(3, 480)}项"
    return "，".join((lead, *random.sample(_CLAUSES, n_clauses), target)) + "。"


def organs(random: Random, n: int) -> str:
    """Return so many organs as a document lists them."""
    return "、".join(random.sample(ORGANS, n))


def project(random: Random) -> tuple[str, str]:
    """Return a project's name and what is built."""
    place, work = random.choice(PLACES), random.choice(_WORKS)
    content = f"新建{work}设施{random.randint(1, 9)}处，占地{random.randint(12, 980)}亩"
    more = f"，配套{random.choice(_WORKS)}及附属工程，年处理能力{random.randint(1, 90)}万吨"
    return f"{place}{work}项目", content + more * random.choice((0, 1, 1))


def figure(random: Random, unit: str) -> str:
    """Return a figure as a table of indicators has it: a share, a fall, or a number."""
    if unit == "%":
        value = f"{random.uniform(-25, 99):.{random.choice((0, 1, 1, 2))}f}"
        return random.choice((value, value, f"{value}%", f"[{value}]"))
    if random.random() < 0.4:
        return f"{random.randint(1000, 98765):,}"
    return f"{random.uniform(0.5, 990):.{random.choice((0, 1, 2))}f}"
