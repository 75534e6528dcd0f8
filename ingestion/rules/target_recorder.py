"""Keep what a sentence states of an indicator, with when it holds and what it is compared with."""

import re
from collections.abc import Sequence

from kgrag.ingestion.rules import target_extents as extents
from kgrag.ingestion.rules import target_names as names
from kgrag.ingestion.rules import target_patterns as p
from kgrag.ingestion.rules import target_words as words
from kgrag.ingestion.rules.target_statement import State, Statement
from kgrag.ingestion.rules.target_times import Time, last_before
from kgrag.ingestion.rules.target_values import Value
from kgrag.language.places import names_place
from kgrag.language.quantities import COUNTS

LONGEST = 60  # characters of an indicator
_CONNECTED = re.compile(rf"^(?:{p.AND})+|(?:{p.AND})+$")
_OF_KINDS = re.compile(r"^[^,]{2,20}包括[^,]+等(?:方面|类)?的?(?=[一-鿿]{2})")
_BY_NAME = re.compile(
    r"^[^等]{0,30}(?:[河湖江库镇县市区村厂]|湿地)等(?=[一-鿿]{3})"
)  # 东河、西河等河道
_REACHING = ("惠及", "带动", "吸纳")  # 惠及居民 is what is counted
_AREAS = frozenset("省市州盟旗")
_LEVEL_END = re.compile(r"(?:国家|[省市县区镇乡村])级$")
_MARKED = re.compile(r"^以[^,;]{2,40}?为[^,;]{2,8}的(?=[一-鿿“\"]{2})")  # 以甲为特征的乙
_LEVEL = re.compile(r"^(?:国家级?|(?:省|市|县|区|镇|乡)级)(?:以上)?")


class Recorder:
    """Adds the statements of one sentence to what was found.

    Args:
        text: The passage.
        start: Where the sentence begins.
        said: The times that the sentence says.
        state: What its clauses say so far.
    """

    def __init__(self, text: str, start: int, said: Sequence[Time], state: State) -> None:
        self.text = text
        self.start = start
        self.said = said
        self.state = state

    def time(self, start: int, at: int) -> Time | None:
        """Return the time that holds at a place of a clause that begins at `start`."""
        return last_before(self.said, at, start) or self.state.time

    def _in_full(self, name: str, verb: str) -> str:
        """Return an indicator with what its sentence says of it before: 该比例, 县级, 惠及居民."""
        name = _MARKED.sub("", _BY_NAME.sub("", _OF_KINDS.sub("", name)))
        if p.REFERS.fullmatch(name):
            name = self.state.referred
        if names.LEVEL_ONLY.fullmatch(name) and self.state.indicator:
            name += _LEVEL_END.sub("", _LEVEL.sub("", self.state.indicator))
        return verb[-2:] + name if verb.endswith(_REACHING) else name

    def behind(self, end: int, value: Value) -> Time | None:
        """Return the first time between a value and `end`; None where there is none."""
        after = (t for t in self.said if value.end <= t.start < end and not t.is_base)
        return next(after, None)

    def gone_on(self, at: int) -> str:
        """Return the indicator before, if only a time stands ahead of `at`: ;到2035年,达到85%."""
        since = max(self.text.rfind(";", 0, at) + 1, self.start)
        ahead = words.lead_stripped(names.without_times(self.text[since:at])).strip(",")
        return self.state.referred if not ahead else ""

    def says_when(self, start: int, at: int) -> bool:
        """Return whether a clause that begins at `start` says a time before a place."""
        return last_before(self.said, at, start) is not None

    def __call__(
        self,
        clause: tuple[int, int],
        name: str,
        value: Value,
        chain: str,
        verb: str,
        *,
        time: Time | None = None,
        after: str = "",
        is_bare: bool = False,
    ) -> None:
        """Keep a statement if its name can be one of an indicator.

        Args:
            clause: (start, end) in the passage.
            name: The indicator's words, with what connects them.
            value: The number.
            chain: The words between both.
            verb: A verb of building; empty.
            time: When it holds; what the clause and those before say if None.
            after: What stands behind the last number of a list: 以上.
            is_bare: Whether nothing says that the name has the number.
        """
        name = _CONNECTED.sub("", name).strip(":,;.、").removeprefix("的")
        name = self._in_full(name, verb)
        if not _can_be_said(name, value, verb, chain):
            return
        name = extents.whole(name, self.text, clause, self.state.found)
        at = self.text.rfind(",", clause[0], value.start) + 1 or clause[0]
        base = next(
            (t for t in self.said if t.is_base and clause[0] <= t.start < value.start), None
        )
        number = self.text[value.start : value.end]
        if after and not value.after:
            number += after
        between = words.spoken(chain) if chain != verb else ""
        phrase = words.spoken(verb) + between + number
        self.state.found.append(
            Statement(
                name,
                value,
                phrase,
                chain,
                verb,
                clause,
                time or self.time(clause[0], value.start),
                base.year if base else self.state.from_year or self.state.base,
                self.state.from_value,
                self.text[at : value.start],
                self.state.carried,
                self.text[self.start : at],
                is_bare,
            )
        )
        self.state.indicator = self.state.referred = name
        self.state.from_value, self.state.from_year = None, ""


def _can_be_said(name: str, value: Value, verb: str, chain: str) -> bool:
    """Return whether words can name an indicator of a value."""
    if not words.names_something(name) or p.COMPARED.search(name) or len(name) > LONGEST:
        return False
    if name[-1] in _AREAS and names_place(name):
        return False
    if (p.SIZE.search(name) and not verb) or p.OF_STANDARD.search(name):
        return False
    is_part = value.unit in COUNTS and p.PARTS.search(name)
    return not is_part or p.IS_REACHED.search(chain) is not None
