import pytest

from kgrag.llm.refusals import is_refusal


@pytest.mark.parametrize(
    "text",
    [
        "抱歉，我无法回答这个问题。",
        "对不起，我不能提供相关内容。",
        "你好，这个问题我暂时无法回答，让我们换个话题再聊聊吧。",
        "作为一个人工智能语言模型，我没有个人观点。",
        "系统检测到输入或生成内容可能包含不安全或敏感内容。",
        "I'm sorry, but I can't assist with that.",
        "I’m sorry, I cannot help with this request.",
        "As an AI language model, I cannot read this document.",
    ],
)
def test_declining_the_task_is_a_refusal(text):
    """In Chinese and English, with either apostrophe."""
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "PUE 应降到 1.3 以下。[1]",
        "抱歉，所给文档中没有提到这一指标。",
        "根据提供的资料，我无法回答这个问题。",
        "I cannot answer this from the documents given.",
        "企业不能提供合规证明的，不予支持。[2]",
        "对群众反映的问题无法处理的，应当说明理由。[1]",
        "北京市作为人工智能产业高地，将建设算力中心。[1]",
        "涉及敏感信息的数据应当加密。[1]",
        "我无法回答。" + "国家发展改革委负责统筹协调各项工作。" * 12,
    ],
)
def test_an_answer_is_no_refusal(text):
    """That documents say nothing is an answer; so is what policies forbid, and a long text."""
    assert not is_refusal(text)
