"""Made documents as web pages, written by hand as sites and printers of PDF take them."""

from html import escape
from random import Random

from benchmarks.made_tables.parts import (
    Block,
    Box,
    Cell,
    Contents,
    Letterhead,
    Lines,
    MadeDocument,
    Signatures,
    Table,
    TwoColumns,
)

_STYLE = """
@page { size: A4 %s; margin: 2.4cm 2.2cm; }
body { font-family: "Noto Serif CJK SC", "SimSun", serif; font-size: 12pt; line-height: 1.6; }
p { text-indent: 2em; margin: 0.4em 0; } .plain { text-indent: 0; }
h1 { font-size: 18pt; text-align: center; } .caption { text-align: center; font-weight: bold; }
.unit, .number { text-align: right; } .right { text-align: right; }
table { border-collapse: collapse; width: 100%%; line-height: 1.3; table-layout: fixed; }
th, td { padding: 2px 4px; overflow-wrap: break-word; vertical-align: top; font-weight: normal; }
.middle th, .middle td { vertical-align: middle; }
.ruled th, .ruled td { border: 1px solid #000; }
.shaded th { background: #cfdcea; } .shaded th, .shaded td { border-bottom: 1px solid #888; }
.banded th, .headed th { background: #d9e2f3; } .banded .even td { background: #eef2f8; }
.centred { text-align: center; }
.three-line { border-top: 2px solid #000; border-bottom: 2px solid #000; }
.three-line .under { border-bottom: 1px solid #000; }
.rows-not-repeated thead { display: table-row-group; }
.box { border: 1px solid #000; padding: 6px 10px; }
.head { border-bottom: 3px solid #c00; font-size: 26pt; text-align: center; color: #c00; }
.signatures { display: flex; justify-content: space-between; margin-top: 2em; }
.contents div { display: flex; } .dots { flex: 1; overflow: hidden; white-space: nowrap; }
.columns { columns: 2; column-gap: 2em; }
"""


def html_page(document: MadeDocument, random: Random) -> str:
    """Return the page; what it has beside its text (navigation, tags) is drawn."""
    style = _STYLE % ("landscape" if document.landscape else "portrait")
    blocks = "\n".join(_block(block, random) for block in document.blocks)
    main = f"<h1>{escape(document.title)}</h1>\n{blocks}"
    if not document.printed and random.random() < 0.5:
        links = "".join(f'<li><a href="/{i}/">{t}</a></li>' for i, t in enumerate(_LINKS))
        main = (
            f'<div class="nav"><ul>{links}</ul></div>\n<div class="content">{main}</div>\n'
            '<div class="footer">主办：云岭市人民政府办公室　网站标识码：0000000000</div>'
        )
    return (
        f'<!DOCTYPE html>\n<html lang="zh-CN"><head><meta charset="utf-8">'
        f"<title>{escape(document.title)}</title><style>{style}</style></head>\n"
        f"<body>{main}</body></html>\n"
    )


_LINKS = ("首页", "政务公开", "政策文件", "办事服务", "互动交流")


def _block(block: Block, random: Random) -> str:
    match block:
        case str():
            return f"<p>{escape(block)}</p>"
        case Table():
            return _table(block, random)
        case Box():
            return '<div class="box">' + _paragraphs(block.lines) + "</div>"
        case Letterhead():
            number = f'<p class="number">{escape(block.number)}</p>'
            return f'<div class="head">{escape(block.organ)}</div>{number}'
        case Signatures():
            sides = (_paragraphs(side, "plain") for side in (block.left, block.right))
            return (
                f'<div class="signatures">{"".join(f"<div>{side}</div>" for side in sides)}</div>'
            )
        case Contents():
            lines = (
                f'<div><span>{escape(title)}</span><span class="dots">{"." * 150}</span>'
                f"<span>{page}</span></div>"
                for title, page in block.entries
            )
            return f'<div class="contents">{"".join(lines)}</div>'
        case Lines():
            return _paragraphs(block.lines)
        case TwoColumns():
            return f'<div class="columns">{_paragraphs(block.paragraphs)}</div>'


def _paragraphs(lines: tuple[str, ...], kind: str = "") -> str:
    opening = f'<p class="{kind}">' if kind else "<p>"
    return "".join(f"{opening}{escape(line)}</p>" for line in lines)


def _table(table: Table, random: Random) -> str:
    """Return caption, unit, table, notes; cells hold text, or a paragraph each as of Word."""
    in_paragraphs, has_head = random.random() < 0.3, random.random() < 0.7 or table.repeats_header
    rows: list[str] = ["" for _ in table.rows]
    for i, j, cell in table.placed():
        rows[i] += _cell(table, i, j, cell, in_paragraphs=in_paragraphs)
    even = ("", ' class="even"')
    lines = [f"<tr{even[i % 2 == 0]}>{row}</tr>" for i, row in enumerate(rows)]
    head, body = "".join(lines[: table.n_header]), "\n".join(lines[table.n_header :])
    inner = (
        f"<thead>{head}</thead><tbody>{body}</tbody>"
        if has_head
        else f"<tbody>{head}{body}</tbody>"
    )
    columns = "".join(f'<col style="width:{100 * width:.1f}%">' for width in table.widths)
    kinds = [table.layout, *["middle"] * table.middle]
    kinds += ["rows-not-repeated"] * (not table.repeats_header)
    above = f'<p class="caption">{escape(table.caption)}</p>' if table.caption else ""
    above += f'<p class="unit">{escape(table.unit)}</p>' if table.unit else ""
    return (
        f'{above}<table class="{" ".join(kinds)}" style="font-size:{table.font_pt}pt">'
        f"<colgroup>{columns}</colgroup>{inner}</table>{_paragraphs(table.notes, 'plain')}"
    )


def _cell(table: Table, row: int, column: int, cell: Cell, *, in_paragraphs: bool) -> str:
    tag = "th" if row < table.n_header else "td"
    spans = f' rowspan="{cell.row_span}"' if cell.row_span > 1 else ""
    spans += f' colspan="{cell.col_span}"' if cell.col_span > 1 else ""
    is_last = row + cell.row_span == table.n_header
    kinds = ["under"] * (is_last or (tag == "th" and cell.col_span > 1))
    kinds += ["right"] * (tag == "td" and column in table.right)
    kinds += ["centred"] * (column in table.centred or (tag == "th" and bool(table.centred)))
    named = f' class="{" ".join(kinds)}"' if kinds else ""
    text = escape(cell.text) or "&nbsp;"
    if in_paragraphs:
        text = f'<p style="text-indent:0;margin:0">{text}</p>'
    if cell.inner:
        text += _table(cell.inner, Random(cell.text))
    return f"<{tag}{spans}{named}>{text}</{tag}>"
