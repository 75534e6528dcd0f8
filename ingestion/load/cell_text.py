"""The text of a table's cell on one line."""

import re
from itertools import pairwise

from kgrag.text.numbering import item_end
from kgrag.text.vocabulary import ISSUER_ENDS

_CJK = "\u2e80-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef“”‘’—…"
_BREAK = re.compile(r"[\r\n\x0b\x0c\x85\u2028\u2029]+")
_ENDS_CJK, _BEGINS_CJK = re.compile(f"[{_CJK}]$"), re.compile(f"^[{_CJK}]")
_ORGAN = re.compile(rf".{{2,}}(?:{ISSUER_ENDS})[、，,；;]?")


def one_line(text: str) -> str:
    r"""Return a cell's text on one line, blanks as one.

    A break within Chinese goes, since cells are narrow and words wrap in them; elsewhere, before
    an item and between two organs it becomes a blank.

    >>> one_line("森林覆\n盖率"), one_line("GDP\n增速"), one_line("省财政厅\n省税务局")
    ('森林覆盖率', 'GDP 增速', '省财政厅 省税务局')
    """
    lines = [" ".join(line.split()) for line in _BREAK.split(text)]
    lines = [line for line in lines if line]
    parts = lines[:1]
    for before, line in pairwise(lines):
        is_within = _ENDS_CJK.search(before) and _BEGINS_CJK.search(line)
        is_next = item_end(line) or (_ORGAN.fullmatch(before) and _ORGAN.fullmatch(line))
        parts += ("" if is_within and not is_next else " ", line)
    return "".join(parts)
