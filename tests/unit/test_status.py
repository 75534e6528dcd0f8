"""What a reader is told of a document's status."""

from typing import get_args

import pytest

from kgrag.status import Status, StatusKind, mark

DAY = "2023-06-30"
BY = {"doc_id": "d-new", "title": "节能办法"}


@pytest.mark.parametrize(
    ("status", "zh", "en"),
    [
        (Status("in_force", DAY), "", ""),
        (Status("unknown", DAY), "", ""),
        (Status("expired", DAY), "已失效", "expired"),
        (
            Status("not_yet", DAY, "2024-01-01"),
            "2023-06-30尚未施行，自2024-01-01起施行",
            "not yet in force on 2023-06-30, from 2024-01-01",
        ),
        (
            Status("not_yet", DAY, "2024-01-01", "印发"),
            "2023-06-30尚未印发，印发于2024-01-01",
            "issued after 2023-06-30, on 2024-01-01",
        ),
        (
            Status("not_yet", DAY, "2024", "推测"),
            "2023-06-30可能尚未印发，从内容推测为2024",
            "probably not issued before 2023-06-30: its text suggests 2024",
        ),
        (Status("over", DAY, "2020"), "规划期已过，至2020年", "period over 2020"),
        (Status("repealed", DAY, **BY), "已废止，由《节能办法》废止", "repealed by 《节能办法》"),
        (
            Status("superseded", DAY, "2022-03", **BY),
            "已有新版，自2022-03起：《节能办法》",
            "a later edition is in force from 2022-03: 《节能办法》",
        ),
        (
            Status("amended", DAY, "2022", **BY),
            "已修订，2022，由《节能办法》修订",
            "amended on 2022 by 《节能办法》",
        ),
        (
            Status("draft", DAY, "2022-03-05", "征求意见稿", **BY),
            "征求意见稿，正式文件自2022-03-05起：《节能办法》",
            "draft (征求意见稿), issued in its final form from 2022-03-05: 《节能办法》",
        ),
    ],
)
def test_a_status_is_told_in_the_language_of_the_question(status, zh, en):
    """With from when and by what, as far as it is known; nothing where nothing speaks against."""
    assert (status.told("zh"), status.told("en")) == (zh, en)
    assert mark(status, "zh") == (f"【{zh}】" if zh else "")
    assert mark(status, "en") == (f" [{en}]" if en else "")


def test_only_what_nothing_speaks_against_counts():
    """An amended document is in force; an unknown one is not held against."""
    counting = [kind for kind in get_args(StatusKind) if Status(kind, DAY).counts]
    assert counting == ["in_force", "amended", "unknown"]
