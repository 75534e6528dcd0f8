"""Tell an answer by which a model declines to do the task."""

import re

_LONGEST = 200  # characters; who says more has not declined
_ALWAYS = re.compile(
    r"作为(?:一个|一名|一款)?(?:(?:AI|人工智能)(?:语言)?(?:模型|助手|助理)|大?语言模型)"
    r"|换个话题|检测到.{0,20}(?:不安全|敏感)"
    r"|\bas an AI\b|\bas a (?:large )?language model\b",
    re.IGNORECASE,
)
_DECLINED = re.compile(
    r"我(?:暂时|目前|现在)?(?:无法|不能|没有办法|没办法|不便|拒绝)(?:为您|为你|直接|继续|对此)?"
    r"(?:回答|提供|协助|帮助|帮您|帮你|满足|完成|处理|继续|讨论|生成|参与|执行|响应)"
    r"|(?:这个|该|此|您的|你的)(?:问题|请求|内容|话题)我?(?:暂时)?(?:无法|不能|不便)"
    r"(?:回答|处理|讨论|提供)"
    r"|\bI(?:'m| am)? ?(?:cannot|can't|can not|won't|will not|unable to|not able to|not allowed to)"
    r" (?:\w+ )?(?:help|assist|answer|provide|comply|continue|fulfil|process|complete|do|generate"
    r"|create|discuss|engage)",
    re.IGNORECASE,
)
# Who names the documents says that they hold no answer, and that is one.
_ABOUT_DOCUMENTS = re.compile(
    r"文档|文件|资料|材料|上下文|文中|原文|段落|未提及|没有提到"
    r"|\b(?:documents?|passages?|context|sources?|texts?|materials?)\b",
    re.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    """Return whether a short answer declines the task rather than answering it.

    That the documents say nothing about a question is an answer, not a refusal.

    >>> is_refusal("抱歉，我无法回答这个问题。"), is_refusal("抱歉，文档中没有相关内容。")
    (True, False)
    """
    text = text.strip().replace("’", "'")
    if not 0 < len(text) <= _LONGEST:
        return False
    if _ALWAYS.search(text):
        return True
    return bool(_DECLINED.search(text)) and not _ABOUT_DOCUMENTS.search(text)
