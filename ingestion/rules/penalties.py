"""Read by rule what is punished with which fine."""

import re
from collections.abc import Iterator

from kgrag.ingestion.rules.condition_parts import LONGEST, Stated, marked, number, unmarked
from kgrag.language.quantities import quantities
from kgrag.qualifiers import Comparator, Qualifiers

PUNISHED = "处罚"
CONFIDENCE = 0.97  # precision that was measured
_LONGEST_SENTENCE = 1200
_MOST_ITEMS = 60
_ITEM_RANKS = range(4, 8)  # （一） and inner ones
_FINE = re.compile(
    r"(?<!被)(?:并|可以并|可以|可|并可以)?(?:处以?|科处?)(?P<sum>[^，。；：\n处]{2,60}?)(?:的)?罚款(?!的(?!，))"
)
_BROKEN = re.compile(r"^违反[^，]{0,60}(?:规定|要求)(?:的)?[，,]")
_OWN = re.compile(r"违反本[^，]{1,30}规定[，,]")
_ENDS = re.compile(
    r"的?[，,](?:由|责令|依法|处|并处|给予|可以|没收|市|县|区|省|[^，]{0,24}(?:部门|机关|委员会|局|厅)"
    r"(?:应当|可以|责令|依法|给予|处|按照))"
)
_LISTED = re.compile(r"下列(?:行为|情形|情况)之一")
_CONDITION = re.compile(
    r"(?:^|[，,；;])(?P<when>[^，,；;。]{2,40}?)的[，,](?:并|可以|可|由[^，]{2,30})?$"
)
_SENTENCE = re.compile(r"[^。\n]+")
_RANGE = re.compile(r"以上.{0,60}以下|以上至|至|到|-|—")


def penalties(text: str) -> Iterator[Stated]:
    """Yield (conduct, 处罚, fine as worded), one for each fine and conduct, in text order.

    `value` and `value_to` are in yuan (or 倍), `comparator` `range`, `<=` or `=`; `condition` is
    逾期未改正, 情节严重. Of 有下列行为之一的 each item below is a conduct.

    Args:
        text: Paragraphs, each on a line, without blanks.
    """
    for sentence in _SENTENCE.finditer(text):
        words = sentence.group()
        if len(words) > _LONGEST_SENTENCE or "罚款" not in words:
            continue
        for fine in _FINE.finditer(words):
            if not any(q.unit in ("元", "倍") for q in quantities(fine["sum"])):
                continue
            conduct = _conduct(words[: fine.start()])
            if _LISTED.search(words[: fine.start()]):
                for item in _items(text, sentence.end()):
                    yield _stated(sentence, fine, item)
            elif conduct:
                yield _stated(sentence, fine, conduct)


def _conduct(before: str) -> str:
    words = _BROKEN.sub("", unmarked(before))
    ends = _ENDS.search(words)
    words = words[: ends.start()] if ends else re.split("的[，,]", words)[0]
    words = _OWN.sub("", unmarked(words)).removesuffix("的")
    return words[:LONGEST] if len(words) >= 4 else ""


def _items(text: str, start: int) -> Iterator[str]:
    """Yield the items on the lines below; they end with the first line of another rank."""
    first = None
    for _ in range(_MOST_ITEMS):
        if text[start : start + 1] != "\n":
            return
        end = text.find("\n", start + 1)
        end = len(text) if end < 0 else end
        rank, rest = marked(text[start + 1 : end])
        first = rank if first is None else first
        if rank != first or rank not in _ITEM_RANKS:
            return
        yield rest.strip("。；;，,").removesuffix("的")[:LONGEST]
        start = end


def _stated(sentence: re.Match[str], fine: re.Match[str], conduct: str) -> Stated:
    words = sentence.group()
    values = [q for q in quantities(fine["sum"]) if q.unit in ("元", "倍")]
    unit = values[0].unit if values else ""
    values = [q for q in values if q.unit == unit]
    told = [number(q) for q in values[:2]]
    is_range = len(told) == 2 and _RANGE.search(fine["sum"]) is not None
    condition = _CONDITION.search(words[: fine.start()])
    when = unmarked(condition["when"]) if condition else ""
    return Stated(
        sentence.start(),
        sentence.end(),
        conduct,
        PUNISHED,
        fine.group()[:LONGEST],
        Qualifiers(
            "condition",
            value=told[0] if told else "",
            value_to=told[1] if is_range else "",
            unit=unit,
            comparator=_comparator(fine["sum"], bool(told), is_range),
            condition="" if conduct.startswith(when) or when in conduct else when,
        ),
        CONFIDENCE,
    )


def _comparator(words: str, is_told: bool, is_range: bool) -> Comparator:
    if not is_told:
        return ""
    if is_range:
        return "range"
    return "<=" if re.search("以下|不超过|以内", words) else ">=" if "以上" in words else "="
