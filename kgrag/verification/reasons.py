"""Why a verdict is as it is, in the language of the question."""

from collections.abc import Mapping
from typing import Literal

from kgrag.types import Language

Reason = Literal[
    "judged",
    "nothing",
    "self-check",
    "tried",
    "failed",
    "silent",
    "no question",
    "no problem",
    "not false",
    "references bear",
    "not all bad",
    "not rewritten",
    "offline",
    "unsupported",
]

_TEXTS: Mapping[Reason, Mapping[Language, str]] = {
    "judged": {"zh": "判为{}", "en": "judged {}"},
    "nothing": {
        "zh": "就所查到的范围，文件中没有答案",
        "en": "nothing in the documents answers it, as far as was looked",
    },
    "self-check": {"zh": "自查 {:.2f}，高于 {} 才通过", "en": "self-check {:.2f}, passes above {}"},
    "tried": {"zh": "改写的问题已经试过", "en": "the revised question was tried before"},
    "failed": {"zh": "再次作答未成功：{}", "en": "answering again failed: {}"},
    "silent": {"zh": "换一种问法也没有找到", "en": "another wording found nothing either"},
    "no question": {"zh": "没有给出改写的问题", "en": "no revised question was given"},
    "no problem": {"zh": "没有指出问题所在", "en": "the check names no problem"},
    "not false": {
        "zh": "没有判为错误，因此没有另找文段",
        "en": "not found false, so no other passages were looked for",
    },
    "references bear": {
        "zh": "文段与问题相关，因此没有另找文段",
        "en": "the passages bear on the question, so no others were looked for",
    },
    "not all bad": {
        "zh": "只有部分评分不好，因此没有另找文段",
        "en": "only some of its scores are bad, so no other passages were looked for",
    },
    "not rewritten": {
        "zh": "没有得到改写的问题：{}",
        "en": "no revised question: {}",
    },
    "offline": {
        "zh": "只做了不用模型的核对：{1} 句中有 {0} 句得不到支持",
        "en": "offline checks only: {} of {} sentences are not supported",
    },
    "unsupported": {
        "zh": "{1} 句中有 {0} 句得不到所引文字的支持",
        "en": "{} of {} sentences are not supported by what they cite",
    },
}
_JUDGED: Mapping[str, Mapping[Language, str]] = {
    "true": {"zh": "正确", "en": "true"},
    "false": {"zh": "错误", "en": "false"},
    "unclear": {"zh": "不清楚", "en": "unclear"},
}


def reason(name: Reason, language: Language, *values: object) -> str:
    """Return a reason in a language.

    Args:
        name: Which one.
        language: Of the question.
        values: What it tells.

    >>> reason("judged", "en", "false"), reason("tried", "zh")
    ('judged false', '改写的问题已经试过')
    """
    return _TEXTS[name][language].format(*values)


def judged(judgement: str, language: Language) -> str:
    """Return a judgement as a reason.

    >>> judged("false", "zh")
    '判为错误'
    """
    return reason("judged", language, _JUDGED[judgement][language])
