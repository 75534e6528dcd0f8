"""`kgrag chat` without a model: what leans on the answers before, from the command line."""

import pytest

from tests.unit.cli.conftest import ingested, run

TEXTS = {
    "江苏": "江苏省能源规划\n一、目标\n到2025年，全省非化石能源消费比重达到18%。\n"
    "到2030年，全省非化石能源消费比重达到25%。\n",
    "福建": "福建省能源规划\n一、目标\n到2025年，全省非化石能源消费比重达到27.4%。\n",
    "河南": "河南省能源规划\n一、目标\n到2025年，全省非化石能源消费比重达到16%。\n",
}
BOTH = "到2025年江苏和福建的非化石能源消费比重目标各是多少？"
ONE = "到2025年江苏的非化石能源消费比重目标是多少？"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A knowledge base of three provinces."""
    return ingested(tmp_path_factory.mktemp("chat"), TEXTS)


def replies(base, *lines):
    """Return what is printed after each line, and what went to stderr."""
    before, said = "", []
    for n in range(len(lines)):
        done = run(base, "chat", typed="\n".join(lines[: n + 1]) + "\n")
        assert done.exit_code == 0, done.output
        said.append(done.stdout[len(before) :])
        before = done.stdout
    return said, done.stderr


def test_two_figures_just_answered_are_compared(base):
    """Of one question that names both places."""
    (_, higher, lower), _ = replies(base, BOTH, "上面两个省哪个高？", "哪个更低？")
    assert higher.startswith("福建更高：福建 27.4%[1]、江苏 18%[2]，相差9.4个百分点。\n")
    assert "到2025年，全省非化石能源消费比重达到27.4%。[1]" in higher
    assert "福建省能源规划" in higher
    assert lower.startswith("江苏更低：江苏 18%[1]")


def test_figures_of_two_questions_are_compared(base):
    """The follow-up asked for the other place; a comparison is no turn."""
    said, told = replies(base, ONE, "那福建呢", "哪个更高？", "换成河南", "谁高？")
    assert "27.4%" in said[1]
    assert said[2].startswith("福建更高")
    assert "16%" in said[3]
    assert said[4].startswith("福建更高：福建 27.4%[1]、河南 16%[2]")
    assert "理解为：到2025年河南的非化石能源消费比重目标是多少？" in told


def test_what_holds_no_two_figures_is_not_compared(base):
    """It says so, and nothing is searched."""
    (_, reply), _ = replies(base, ONE, "哪个更高？")
    assert reply.startswith("上面的回答里没有两个可以比较的数字")


@pytest.mark.parametrize(
    "between",
    [
        "红烧肉怎么做？",  # the last answer has no figure
        "到2025年福建的森林覆盖率达到多少？",  # of another indicator
        "到2030年福建的非化石能源消费比重目标是多少？",  # of another year
    ],
)
def test_figures_of_other_things_are_not_compared(base, between):
    """However near they stand in the conversation."""
    (*_, reply), _ = replies(base, ONE, between, "哪个更高？")
    assert reply.startswith("上面的回答里没有两个可以比较的数字")


def test_place_and_year_are_replaced_in_follow_ups_on_follow_ups(base):
    """An answer that was refused in between is leaned on by its question."""
    said, told = replies(base, ONE, "那广东呢", "换成江苏", "2030年呢")
    assert "18%" in said[2]
    assert "25%" in said[3]
    assert "理解为：到2025年广东的非化石能源消费比重目标是多少？" in told
    assert "理解为：到2030年江苏的非化石能源消费比重目标是多少？" in told


def test_originals_are_printed_whole(base):
    """The passages that the last answer cites, with their places."""
    said, _ = replies(base, ONE, "给我原文", "给我[1]的原文", "给我[9]的原文")
    assert "[1] 江苏省能源规划" in said[1]
    assert "个字符\n" in said[1]
    assert "到2030年，全省非化石能源消费比重达到25%。" in said[1]  # not in the quote
    assert "25%" in said[2]
    assert said[3] == "上一个回答没有引文[9]。\n\n"


def test_there_is_no_original_of_nothing(base):
    """Before a question, and behind an answer that was refused."""
    said, _ = replies(base, "给我原文", "红烧肉怎么做？", "给我原文")
    assert said[0].startswith("上一个回答没有引用文件")
    assert said[2].startswith("上一个回答没有引用文件")


def test_courtesy_and_help_are_answered_without_a_search(base):
    """In a line; what follows leans on the question before."""
    said, _ = replies(base, "你好", ONE, "谢谢", "帮助", "那福建呢")
    assert said[0].startswith("您好")
    assert said[2] == "不客气，请继续提问。\n\n"
    assert "换成河南" in said[3]
    assert "27.4%" in said[4]


@pytest.mark.parametrize("word", ["exit", "quit", "退出", "/exit", "/quit"])
def test_a_conversation_ends(base, word):
    """What stands behind is not asked."""
    done = run(base, "chat", typed=f"{word}\n不会问到\n")
    assert (done.exit_code, done.stdout) == (0, "")


def test_a_new_conversation_forgets(base):
    """Nothing is left to lean on."""
    said, told = replies(base, ONE, "/new", "那福建呢")
    assert "理解为" not in told
    assert "27.4%" not in said[2].split("\n")[0] or "福建" in said[2]


def test_the_same_in_english(base):
    """Over Chinese documents."""
    said, told = replies(
        base,
        "What is the 2025 target for the share of non-fossil energy in Jiangsu?",
        "What about Fujian?",
        "Which is higher?",
        "Show me the text",
        "And in 2030?",
        "thanks!",
        "/help",
    )
    assert "27.4%" in said[1]
    assert "in Fujian?" in told
    assert said[2].startswith("福建 has the higher figure: 福建 27.4%[1], 江苏 18%[2]")
    assert "[1] 福建省能源规划" in said[3]
    assert ", characters " in said[3]
    assert "What is the 2030 target for the share of non-fossil energy in Fujian?" in told
    assert said[5] == "You are welcome; go on asking.\n\n"
    assert said[6].startswith("A question a line")
