"""Punctuation as Chinese print has it: recognition gives much of it in the forms of ASCII."""

import re

from kgrag.text.numerals import HAN_SMALL

_HAN = "\u3400-\u9fff\uf900-\ufaff"
_WIDE = str.maketrans("(),:;?!", "（），：；？！")
# Beside a Chinese character, or around one, a mark is Chinese; in (2025) or 1:3 it is not told.
_MARK = re.compile(
    rf"(?<=[{_HAN}）》”])[(),:;?!]|\((?=[{_HAN}《“])"
    rf"|(?<=[{_HAN}）》”％%])\)(?=[{_HAN}，。；：、（《]|$)"
)
_NUMBERED = re.compile(rf"\(([{HAN_SMALL}〇]{{1,3}})\)")
_AROUND = re.compile(
    rf"\((?=[^()（）]*[{_HAN}])([^()（）]*+)[)）]|（([^()（）]*)\)|\(([^()（）]*)）"
)
_QUOTE = re.compile(r"[“”\"]")
_AFTER_CLOSING = "，。；：、）！？》"
_BEFORE_OPENING = "，。；：、（《"


def as_printed(text: str) -> str:
    """Return a line with brackets and stops full-width where they stand in Chinese.

    >>> as_printed("(一)绿色工厂(2025年)达到120家;占3.5%, GB/T 2589(2020)")
    '（一）绿色工厂（2025年）达到120家；占3.5%, GB/T 2589(2020)'
    """
    text = _NUMBERED.sub(r"（\1）", text)
    text = _AROUND.sub(lambda found: f"（{found[1] or found[2] or found[3] or ''}）", text)
    return _MARK.sub(lambda found: found[0].translate(_WIDE), text)


class Quotes:
    """Tells opening quotation marks from closing ones over the lines of a page.

    Recognition takes one for the other: they differ by a few pixels. Of two that follow each
    other the first opens, unless what stands beside one says otherwise.
    """

    def __init__(self) -> None:
        self._is_open = False

    def paired(self, text: str) -> str:
        """Return the next line, its marks in pairs.

        >>> Quotes().paired("”十四五”规划和”双碳”目标")
        '“十四五”规划和“双碳”目标'
        """
        if text.isascii():
            return text
        return _QUOTE.sub(self._mark, text)

    def _mark(self, found: re.Match[str]) -> str:
        before = found.string[found.start() - 1] if found.start() else ""
        after = found.string[found.end() : found.end() + 1]
        opens = not self._is_open
        if after and after in _AFTER_CLOSING:
            opens = False
        elif before and before in _BEFORE_OPENING:
            opens = True
        self._is_open = opens
        return "“" if opens else "”"
