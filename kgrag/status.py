"""Status of a document at a date: in force or not, and what replaces it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kgrag.json_ready import JsonReady

StatusKind = Literal[
    "in_force",
    "not_yet",
    "expired",
    "repealed",
    "superseded",
    "over",
    "amended",
    "draft",
    "unknown",
]

# The kinds in a word, for lists and counts.
_KINDS: Mapping[StatusKind, tuple[str, str]] = {
    "in_force": ("现行有效", "in force"),
    "amended": ("已修订", "amended"),
    "not_yet": ("尚未施行", "not yet in force"),
    "superseded": ("已有新版", "superseded"),
    "over": ("规划期已过", "period over"),
    "expired": ("已失效", "expired"),
    "repealed": ("已废止", "repealed"),
    "draft": ("草案", "draft"),
    "unknown": ("日期不明", "date unknown"),
}
# For each kind what is said, with a date and without; {0} is the date, {1} what it is by.
_TOLD: Mapping[str, Mapping[StatusKind, tuple[str, str]]] = {
    "zh": {
        "not_yet": ("{day}尚未施行，自{0}起施行", "{day}尚未施行"),
        "expired": ("已失效，有效期至{0}", "已失效"),
        "repealed": ("已废止，自{0}起{1}", "已废止{1}"),
        "superseded": ("已有新版，自{0}起{1}", "已有新版{1}"),
        "over": ("规划期已过，至{0}年", "规划期已过"),
        "amended": ("已修订，{0}{1}", "已修订{1}"),
        "draft": ("{word}，正式文件自{0}起{1}", "{word}，不是正式文件"),
    },
    "en": {
        "not_yet": ("not yet in force on {day}, from {0}", "not yet in force on {day}"),
        "expired": ("expired, in force until {0}", "expired"),
        "repealed": ("repealed from {0}{1}", "repealed{1}"),
        "superseded": ("a later edition is in force from {0}{1}", "there is a later edition{1}"),
        "over": ("period over {0}", "period over"),
        "amended": ("amended on {0}{1}", "amended{1}"),
        "draft": ("draft ({word}), issued in its final form from {0}{1}", "draft ({word})"),
    },
}
# Of a document that was not there yet: by its own date of issue, by what its text suggests.
ISSUED, SUGGESTED = "印发", "推测"
_LATER: Mapping[tuple[str, str], str] = {
    ("zh", ISSUED): "{day}尚未印发，印发于{0}",
    ("en", ISSUED): "issued after {day}, on {0}",
    ("zh", SUGGESTED): "{day}可能尚未印发，从内容推测为{0}",
    ("en", SUGGESTED): "probably not issued before {day}: its text suggests {0}",
}
_BY: Mapping[str, tuple[str, str]] = {
    # How what replaces it is named: where it does so itself, where it is what counts now.
    "zh": ("，由《{}》{}", "：《{}》"),
    "en": (" by 《{}》", ": 《{}》"),
}
_ACT: Mapping[StatusKind, str] = {"repealed": "废止", "amended": "修订"}


@dataclass(frozen=True, slots=True)
class Status(JsonReady):
    """Whether a document is in force at a date, as far as the knowledge base shows.

    Attributes:
        kind: `in_force`: nothing shows otherwise. `not_yet`: issued or in force only later.
            `expired`: its own period of validity is over. `repealed` and `amended`: by another
            document, or as its page says. `superseded`: there is a later edition, of the same
            title and issuer. `over`: the years of a plan, by its title, are over. `draft`:
            征求意见稿, 草案, 送审稿. `unknown`: its date of issue is unknown.
        day: The day asked about, ISO 8601.
        since: Since when, if known; for `expired` the last day in force, for `over` the last
            year.
        word: What a draft calls itself; for `not_yet` by the date of issue 印发, or 推测 if that is
            inferred.
        doc_id: The document that repeals, amends or replaces it; empty if there is none.
        title: Of that document.
    """

    kind: StatusKind
    day: str
    since: str = ""
    word: str = ""
    doc_id: str = ""
    title: str = ""

    @property
    def counts(self) -> bool:
        """Return whether the document may be relied on at the day."""
        return self.kind in ("in_force", "amended", "unknown")

    def told(self, language: str = "zh") -> str:
        """Return the status in words; empty if there is nothing to report.

        Args:
            language: `zh` or `en`.

        >>> Status("expired", "2026-01-01", since="2025-02-28").told()
        '已失效，有效期至2025-02-28'
        >>> Status("repealed", "2026-01-01", since="2022-07-01", title="节能办法").told()
        '已废止，自2022-07-01起，由《节能办法》废止'
        """
        if self.kind not in _TOLD[language]:
            return ""
        dated, undated = _TOLD[language][self.kind]
        form = dated if self.since else undated
        if self.kind == "not_yet" and self.word:
            form = _LATER[language, self.word]
        return form.format(self.since, self._by(language), word=self.word, day=self.day)

    def _by(self, language: str) -> str:
        if not self.title:
            return ""
        acting, counting = _BY[language]
        act = _ACT.get(self.kind)
        return acting.format(self.title, act) if act else counting.format(self.title)


def kind_in_words(kind: StatusKind, language: str = "zh") -> str:
    """Return a kind of status in a word or two.

    >>> kind_in_words("over"), kind_in_words("over", "en")
    ('规划期已过', 'period over')
    """
    return _KINDS[kind][language != "zh"]


def mark(status: Status | None, language: str = "zh") -> str:
    """Return the status as a mark behind a title; empty if there is nothing to report.

    >>> mark(Status("draft", "2026-01-01", word="征求意见稿"))
    '【征求意见稿，不是正式文件】'
    >>> mark(None)
    ''
    """
    told = status.told(language) if status else ""
    if not told:
        return ""
    return f"【{told}】" if language == "zh" else f" [{told}]"
