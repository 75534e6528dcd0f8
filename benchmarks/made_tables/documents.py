"""Which documents are made for a seed: with tables and prose, and some without any table."""

from collections.abc import Mapping
from random import Random

from benchmarks.made_tables import words
from benchmarks.made_tables.kinds import NESTED, PLANS, Plan, draw
from benchmarks.made_tables.parts import (
    Block,
    Box,
    Contents,
    Letterhead,
    Lines,
    MadeDocument,
    Signatures,
    TwoColumns,
)

_FORMATS = ("pdf", "docx", "html")


def make_documents(
    seed: int, n_tables: int, forms: Mapping[str, int] | None = None
) -> list[MadeDocument]:
    """Return documents with so many tables, a third of them of each format, and distractors.

    With `forms`, as many tables of each as it tells, `xlsx` among them.

    Of PDF files every second plan is printed from Word, the others from a web page, and the next
    round of plans the other way about. Halves alternate.

    >>> documents = make_documents(7, 30)
    >>> sum(len(document.tables) for document in documents)
    30
    """
    documents = []
    thirds = {form: n_tables // 3 + (i < n_tables % 3) for i, form in enumerate(_FORMATS)}
    for form, share in (forms or thirds).items():
        random = Random(f"{seed} {form}")
        documents += [*_with_tables(form, share, random), *_distractors(form, random)]
    return documents


def _media(form: str, number: int) -> str:
    return form if form != "pdf" else ("docx", "html")[number % 2]


def _with_tables(form: str, n_tables: int, random: Random) -> list[MadeDocument]:
    documents: list[MadeDocument] = []
    done = 0
    every = PLANS if form in ("pdf", "xlsx") else (*PLANS, *NESTED)
    while done < n_tables:
        plans = [every[done % len(every)]]
        after = every[(done + 1) % len(every)]
        if done + 1 < n_tables and _go_together(plans[0], after) and random.random() < 0.6:
            plans.append(after)
        number = len(documents) + 1
        prose = words.english if plans[0].is_english else words.prose
        lead = "The details are given below" if plans[0].is_english else "现将有关事项列表如下"
        blocks: list[Block] = [prose(random, random.randint(1, 5))]
        for place, plan in enumerate(plans, 1):
            blocks += [f"{lead}（{place}）。", draw(plan, place, random)]
            blocks += [prose(random, random.randint(1, 3))] * (random.random() < 0.9)
        documents.append(
            MadeDocument(
                f"{form}{number:03}",
                _media(form, done + done // len(every)),
                form == "pdf",
                ("tune", "test")[number % 2],
                f"{random.choice(words.PLACES)}绿色低碳发展实施方案",
                tuple(blocks),
                plans[0].landscape,
            )
        )
        done += len(plans)
    return documents


def _go_together(first: Plan, second: Plan) -> bool:
    kinds = {first.kind, second.kind}
    alike = first.landscape == second.landscape and first.is_english == second.is_english
    return alike and not kinds & {"projects", "nested"}


def _distractors(form: str, random: Random) -> list[MadeDocument]:
    """Return a document of each kind that has no table; two where there are two producers."""
    documents: list[MadeDocument] = []
    for medium in ("docx", "html") if form == "pdf" else (form,):
        for name, block in _no_tables(random).items():
            paragraphs = [words.prose(random, random.randint(2, 6)) for _ in range(4)]
            number = len(documents)
            documents.append(
                MadeDocument(
                    f"{form}-{name}-{medium}",
                    medium,
                    form == "pdf",
                    ("tune", "test")[number % 2],
                    f"关于印发{random.choice(words.PLACES)}节能降碳工作方案的通知",
                    (*paragraphs[:2], block, *paragraphs[2:]),
                )
            )
    return documents


def _no_tables(random: Random) -> dict[str, Block]:
    dated = f"2024年{random.randint(1, 12)}月{random.randint(1, 28)}日"
    titles = [
        f"{'一二三四五六七八'[i]}、{task}" for i, task in enumerate(random.sample(_TITLES, 8))
    ]
    firsts = random.sample(words.ORGANS, 2)
    lines = tuple(words.task(random, 2) for _ in range(4))
    return {
        "box": Box((f"专栏{random.randint(1, 9)}  重点工程", *lines)),
        "letterhead": Letterhead(
            f"{random.choice(words.PLACES)}人民政府文件", f"云政发〔2024〕{random.randint(1, 99)}号"
        ),
        "signatures": Signatures((firsts[0], dated), (firsts[1], dated)),
        "contents": Contents(tuple((title, 2 * i + 1) for i, title in enumerate(titles))),
        "columns": TwoColumns(tuple(words.prose(random, 6) for _ in range(6))),
        "short-columns": TwoColumns(tuple(words.task(random, 1) for _ in range(24))),
        "english-columns": TwoColumns(tuple(words.english(random, 5) for _ in range(8))),
        "attachments": Lines((
            "附件：", *(f"{i}. {words.project(random)[0]}申报指南" for i in range(1, 9)),
        )),
        "people": Lines(tuple(
            f"{role}：{random.choice(words.NAMES)}  {organ}"
            for role, organ in zip(_ROLES, random.sample(words.ORGANS, 6), strict=True)
        )),
        "names": Lines(tuple("　　".join(random.sample(words.NAMES, 4)) for _ in range(6))),
    }  # fmt: skip


_ROLES = ("组长", "副组长", "成员", "成员", "成员", "联络员")
_TITLES = (
    "总体要求", "主要目标", "重点任务", "重大工程", "政策支持",
    "保障措施", "组织实施", "监督评估", "附则",
)  # fmt: skip
