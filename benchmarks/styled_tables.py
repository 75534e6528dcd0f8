"""Make tables in Word's own styles, printed as PDF by LibreOffice, with labels for `tables.py`.

    python benchmarks/styled_tables.py --out FOLDER [--seed 1] [--tables 40]

Of python-docx's styles each fourth table has none: nothing is drawn. Labels over rows are merged,
cells wrap, are empty, centred, at the right or in the middle of their height; content is invented.
Written are `docx/`, `pdf/`, `tables.jsonl` and `tables_files.jsonl`, as by `make_tables.py`.
"""

import argparse
import json
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import docx
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.table import WD_CELL_VERTICAL_ALIGNMENT
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.shared import Pt

from benchmarks.made_tables import words
from benchmarks.made_tables.printing import print_word
from benchmarks.make_tables import digest

_PLAIN = "Normal Table"
_DATES = ("2024年3月", "2025年底", "长期", "2026年6月", "")


class _Made(NamedTuple):
    """A table: rows, how many of them are header, and merged areas (top, left, bottom, right)."""

    kind: str
    rows: list[list[str]]
    n_header: int = 1
    merged: tuple[tuple[int, int, int, int], ...] = ()


def main() -> None:
    """Write documents and labels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder, made if absent")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", type=int, default=40)
    args = parser.parse_args()
    random = Random(args.seed)
    (args.out / "docx").mkdir(parents=True, exist_ok=True)
    styles = [s.name for s in docx.Document().styles if s.type == WD_STYLE_TYPE.TABLE]
    labels, files, paths = [], [], []
    for number in range(args.tables):
        made = _MAKERS[number % len(_MAKERS)](random)
        style = random.choice(styles) if number % 4 else _PLAIN
        paths.append(args.out / "docx" / f"s{number:02}.docx")
        _write(made, style, random).save(str(paths[-1]))
        file = f"pdf/s{number:02}.pdf"
        files.append({"file": file, "pages": 1, "tables": 1, "optional": 0})
        labels.append(
            {"file": file, "page": 1, "nth": 1, "kind": "other", "half": "test", "partial": False,
             "drawn": made.kind, "media": "docx",
             "layout": "plain" if style == _PLAIN else "styled",
             "rows": [[digest(text) for text in row] for row in _as_read(made)]}
        )  # fmt: skip
    print_word(paths, args.out / "pdf")
    for name, entries in (("tables", labels), ("tables_files", files)):
        lines = (json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
        (args.out / f"{name}.jsonl").write_text("".join(lines), "utf-8")
    print(f"{args.tables} tables in {args.out}")


def _as_read(made: _Made) -> list[list[str]]:
    """Return its rows as a label has them: header rows as one, merged cells repeated."""
    slots = [list(row) for row in made.rows]
    for top, left, bottom, right in made.merged:
        for i in range(top, bottom + 1):
            slots[i][left : right + 1] = [made.rows[top][left]] * (right - left + 1)
    columns = zip(*slots[: made.n_header], strict=True)
    return [["".join(dict.fromkeys(column)) for column in columns], *slots[made.n_header :]]


def _write(made: _Made, style: str, random: Random) -> Any:
    file = docx.Document()
    file.styles["Normal"].font.size = Pt(random.choice((10, 10.5, 12)))
    file.add_paragraph("关于印发年度工作安排的通知").alignment = WD_ALIGN_PARAGRAPH.CENTER
    for _ in range(random.randint(1, 4)):
        file.add_paragraph(words.prose(random, random.randint(1, 3)))
    written = file.add_table(len(made.rows), len(made.rows[0]))
    written.style = file.styles[style]
    slots = [list(row.cells) for row in written.rows]
    for top, left, bottom, right in made.merged:
        slots[top][left].merge(slots[bottom][right])
    alignment = random.choice((None, WD_ALIGN_PARAGRAPH.CENTER, WD_ALIGN_PARAGRAPH.RIGHT))
    is_middle = random.random() < 0.4
    for i, row in enumerate(made.rows):
        for j, text in enumerate(row):
            paragraph = slots[i][j].paragraphs[0]
            if text:
                paragraph.add_run(text)
                paragraph.paragraph_format.space_after = Pt(0)
                is_right = alignment == WD_ALIGN_PARAGRAPH.RIGHT
                paragraph.alignment = alignment if not is_right or text[0].isdigit() else None
            if is_middle:
                slots[i][j].vertical_alignment = WD_CELL_VERTICAL_ALIGNMENT.CENTER
    if random.random() < 0.8:
        file.add_paragraph(words.prose(random, 2))
    return file


def _figure(random: Random) -> str:
    if random.random() < 0.2:
        return random.choice(("", "", "—"))
    number = random.choice((random.randint(1, 9999), round(random.random() * 5000, 2)))
    return random.choice((f"{number:,}", f"{number}"))


def _task(random: Random, most: int = 1) -> str:
    return "，".join(words.project(random)[0] for _ in range(random.randint(1, most)))


def _indicators(random: Random) -> _Made:
    head = [["指标", "单位", "目标值", "", "属性"], ["", "", "2025年", "2030年", ""]]
    body = [
        [f"{_task(random)[:8]}率", random.choice(("%", "万吨", "个")), _figure(random),
         _figure(random), random.choice(("约束性", "预期性"))]
        for _ in range(random.randint(5, 14))
    ]  # fmt: skip
    return _Made(
        "indicators", head + body, 2, ((0, 0, 1, 0), (0, 1, 1, 1), (0, 2, 0, 3), (0, 4, 1, 4))
    )


def _duties(random: Random) -> _Made:
    rows = [["类别", "序号", "重点任务", "责任单位", "完成时限"]]
    merged = []
    for group in range(random.randint(2, 5)):
        first, n = len(rows), random.randint(2, 5)
        for i in range(n):
            organs = "、".join(random.sample(words.ORGANS, random.randint(1, 2)))
            label = "" if i else f"第{group + 1}类工作"
            rows.append([label, str(len(rows)), _task(random, 3), organs, random.choice(_DATES)])
        merged.append((first, 0, first + n - 1, 0))
    return _Made("duties", rows, merged=tuple(merged))


def _projects(random: Random) -> _Made:
    rows = [["序号", "项目名称", "建设地点", "总投资（万元）", "开工时间"]]
    for number in range(1, random.randint(15, 50)):
        place = random.choice((*words.PLACES, ""))
        rows.append([str(number), _task(random), place, _figure(random), random.choice(_DATES)])
    return _Made("projects", rows)


def _contacts(random: Random) -> _Made:
    rows = [["单位", "联系人", "职务", "电话"]]
    for _ in range(random.randint(6, 20)):
        phone = f"0571-8{random.randint(1_000_000, 9_999_999)}"
        role = random.choice(("科长", "主任", ""))
        rows.append([random.choice(words.ORGANS), random.choice(words.NAMES), role, phone])
    return _Made("contacts", rows)


def _cases(random: Random) -> _Made:
    rows = [["事项", "申请条件", "所需材料", "办理时限"]]
    for number in range(1, random.randint(4, 8)):
        materials = "、".join(f"{o}证明" for o in random.sample(words.ORGANS, random.randint(1, 3)))
        limit = random.choice(("即办", "5个工作日", "20个工作日"))
        rows.append([f"事项{number}：{_task(random)}", _task(random, 3), materials, limit])
    return _Made("cases", rows)


_MAKERS = (_indicators, _duties, _projects, _contacts, _cases)

if __name__ == "__main__":
    main()
