"""Lines of a conversation, and what a question takes over from the turns before it."""

import pytest

from kgrag.answer.answer import Answer
from kgrag.answering import carry_over_en, carry_over_zh
from kgrag.answering.conversation import Conversation, parse_line
from kgrag.answering.follow_up import Turn, carry_over, rewrite_follow_up, turn_of
from kgrag.errors import ModelUnavailableError, OutOfRangeError
from kgrag.store.store import Store
from kgrag.testing.scripted import ScriptedChat
from tests.fixtures.kit import shared_base


def talking():
    """Return a conversation whose answers are written down, and what was asked of it."""
    asked = []

    def ask(line, turns):
        asked.append((line, [turn.question for turn in turns]))
        return Answer.of_text(line, "500家。", (), "m")

    return Conversation(ask, no_store), asked


def no_store() -> Store:
    """Fail: nothing is to be looked up."""
    pytest.fail("the knowledge base was asked")


def test_only_questions_are_asked():
    """Courtesy, help and originals call nobody, and are no turns."""
    talk, asked = talking()
    lines = ("你好", "甲市建多少家？", "谢谢", "/help", "给我原文", "乙市建多少家？")
    replies = [talk.reply(line) for line in lines]
    assert [line for line, _ in asked] == ["甲市建多少家？", "乙市建多少家？"]
    assert asked[1][1] == ["甲市建多少家？"]
    assert [reply.answer is None for reply in replies] == [True, False, True, True, True, False]
    assert all(reply.text or reply.answer for reply in replies)


def test_a_new_conversation_has_no_turns():
    talk, asked = talking()
    talk.reply("甲市建多少家？")
    talk.reply("/new")
    talk.reply("乙市建多少家？")
    assert asked[1][1] == []
    assert talk.reply("exit").ends


def test_help_is_in_the_language_of_the_conversation():
    talk, _ = talking()
    first = talk.reply("/help").text
    assert "每行一个问题" in first
    assert "A question a line" in first
    talk.reply("甲市建多少家？")
    assert "A question a line" not in talk.reply("/help").text


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("谢谢", "thanks"),
        ("好的，谢谢你！", "thanks"),
        ("非常感谢您的帮助。", "thanks"),
        ("Thanks a lot!", "thanks"),
        ("好的", "thanks"),
        ("你好", "greeting"),
        ("您好！", "greeting"),
        ("hello there", "greeting"),
        ("/help", "help"),
        ("help", "help"),
        ("帮助", "help"),
        ("exit", "end"),
        ("Quit", "end"),
        ("退出", "end"),
        ("/exit", "end"),
        ("/new", "new"),
        ("给我原文", "original"),
        ("请显示完整的引文。", "original"),
        ("原文呢？", "original"),
        ("show me the full text", "original"),
    ],
)
def test_words_to_the_one_who_answers_are_told(line, kind):
    """With or without marks, in both languages."""
    assert parse_line(line).kind == kind


@pytest.mark.parametrize(
    "line",
    [
        "你好，江苏的目标是多少？",
        "谢谢这个词出现在哪里？",
        "江苏和福建哪个高？",
        "哪个部门负责？",
        "哪个城市的森林覆盖率最高？",
        "退出机制有哪些？",
        "帮助企业节能的措施有哪些？",
        "show me the targets of Henan",
        "which department is responsible?",
        "原文件由谁印发？",
        "补贴最高多少？",
        "",
    ],
)
def test_questions_stay_questions(line):
    """They are searched for."""
    assert parse_line(line).kind == "question"


def test_a_citation_may_be_named():
    """By its number, in figures or words."""
    asked = ("给我[2]的原文", "第三条原文", "show me source 4", "给我原文")
    assert [parse_line(line).number for line in asked] == [2, 3, 4, 0]


ZH = [Turn("吉林省绿色工厂的目标是多少？", "500家[1]。")]
EN = [Turn("How many green factories does Jilin Province plan?", "500 [1].")]


def rewritten(script, question="由谁牵头？", history=ZH):
    chat = ScriptedChat(script)
    return rewrite_follow_up(question, history, model=chat), chat


def test_a_follow_up_is_rewritten_in_one_call():
    """Question and conversation are material in fences."""
    question, chat = rewritten(["吉林省绿色工厂由谁牵头？"])
    assert question == "吉林省绿色工厂由谁牵头？"
    (request,) = chat.requests
    assert (request.stage, request.schema) == ("analyse", None)
    user = request.messages[1].content
    assert "<question " in user
    assert "Q: 吉林省绿色工厂的目标是多少？\nA: 500家[1]。" in user.split("<history ")[1]


@pytest.mark.parametrize(("question", "history"), [("那浙江呢？", []), (" ", ZH)])
def test_no_call_is_made_without_history_or_question(question, history):
    assert rewritten([], question, history)[0] == question


def test_history_is_bounded_in_turns_and_characters():
    """A long conversation costs no more than three turns."""
    turns = [Turn(f"问{n}" + "长" * 900, "答" * 900) for n in range(9)]
    _, chat = rewritten(["目标是什么？"], "由谁牵头？", turns)
    user = chat.requests[0].messages[1].content
    assert "问5" not in user
    assert "问6" in user
    assert len(user) < 3 * (300 + 400) + 300


@pytest.mark.parametrize("bad", ["", "一？\n二？", "长" * 301, "“”"])
def test_rules_decide_where_the_model_gives_no_question(bad):
    """It is asked twice; the conversation goes on in any case."""
    question, chat = rewritten([bad, bad])
    assert question == "吉林省绿色工厂由谁牵头？"
    assert len(chat.requests) == 2


def test_rules_decide_where_the_model_cannot_be_reached():
    """No exception reaches the asker."""
    assert rewritten([ModelUnavailableError("down")])[0] == "吉林省绿色工厂由谁牵头？"


def test_rules_decide_where_the_model_changes_the_language():
    """A question that stands by itself comes back as it is."""
    asked = "新型储能装机规模要达到多少？"
    assert rewritten(["How much storage?"], asked)[0] == asked


def test_english_questions_get_the_english_prompt():
    """The prompt is in the language of the question."""
    question, chat = rewritten(["Who leads it in Jilin?"], "Who leads it?", EN)
    assert question == "Who leads it in Jilin?"
    assert "one line" in chat.requests[0].messages[0].content


def test_carry_over_follows_a_chain_of_follow_ups():
    """Turns may hold questions as asked: each is completed from the one before it."""
    history = [*ZH, Turn("那浙江呢？", "600家[1]。"), Turn("江苏省呢", "700家[1]。")]
    assert carry_over("什么时候完成？", history) == "江苏省绿色工厂什么时候完成？"


def test_carry_over_takes_the_only_title_of_the_answer():
    """What the answer names is what it is about, where the question names nothing."""
    history = [Turn("节能由什么文件规定？", "由《节能法》规定[1]。")]
    assert carry_over("它什么时候实施？", history) == "《节能法》什么时候实施？"


def test_carry_over_changes_nothing_without_history():
    """The first question of a conversation stands by itself."""
    assert carry_over("那浙江呢？", []) == "那浙江呢？"
    assert carry_over("", ZH) == ""


def test_carry_over_does_not_grow_without_bound():
    """A question of more than 300 characters is not made."""
    assert carry_over("由谁负责？", [Turn("绿" * 400, "")]) == "由谁负责？"


@pytest.mark.parametrize(
    ("question", "before", "expected"),
    [
        ("换成河南", "到2025年江苏的目标是多少？", "到2025年河南的目标是多少？"),
        ("改成2030年呢", "到2025年江苏的目标是多少？", "到2030年江苏的目标是多少？"),
        ("河南？", "到2025年江苏的目标是多少？", "到2025年河南的目标是多少？"),
        ("2030年", "到2025年江苏的目标是多少？", "到2030年江苏的目标是多少？"),
        ("2030年呢", "到2025年江苏的目标是多少？", "到2030年江苏的目标是多少？"),
        ("What about Henan?", "What is the target of Jiangsu?", "What is the target of Henan?"),
        ("and Henan?", "What is the PUE limit in Jiangsu?", "What is the PUE limit in Henan?"),
        ("switch to Henan", "What is Jiangsu's target?", "What is Henan's target?"),
        ("2030 instead", "What is the target for 2025?", "What is the target for 2030?"),
        ("And in 2030?", "What is the target for 2025?", "What is the target for 2030?"),
    ],
)
def test_another_place_or_year_needs_no_model(question, before, expected):
    """The rules are sure: the question before names one."""
    assert rewritten([], question, [Turn(before, "18%[1]。")])[0] == expected
    assert carry_over(question, [Turn(before, "")]) == expected


@pytest.mark.parametrize(
    ("question", "before"),
    [
        ("那浙江呢？", "吉林和江苏哪个高？"),  # which of them is meant
        ("2030年呢？", "2020年和2025年各是多少？"),
        ("那补贴呢？", "江苏的目标是多少？"),
        ("那浙江呢？", "《吉林省规划》的目标是多少？"),  # another document
        ("What about subsidies?", "What is the target of Jiangsu?"),
    ],
)
def test_what_is_not_sure_goes_to_the_model(question, before):
    """One call."""
    language = "Rewritten?" if question.isascii() else "重写的问题？"
    assert rewritten([language], question, [Turn(before, "18%[1]。")])[0] == language


PLAN = "到2025年，吉林省计划创建多少家绿色工厂？"
GOAL = "吉林省绿色工厂的目标是多少？"
ISSUED = "《吉林省碳达峰实施方案》什么时候发布？"
PLAN_EN = "How many green factories does Jilin Province plan to build by 2025?"
ISSUED_EN = 'When was the "Jilin Carbon Peak Plan" issued?'
TITLED = "节能由什么文件规定？"
NAMELESS = "What is the capacity of storage?"


def complete(question, before, answer=""):
    """Complete a question by the rules of its language."""
    rules = carry_over_en if question.isascii() else carry_over_zh
    return rules.complete(question, before, answer)


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        (GOAL, "那浙江呢？", "浙江绿色工厂的目标是多少？"),
        (PLAN, "浙江省呢", "到2025年，浙江省计划创建多少家绿色工厂？"),
        ("绿色工厂的目标是多少？", "那浙江呢？", "浙江绿色工厂的目标是多少？"),
        ("浙江和江苏的目标分别是什么？", "那山东呢？", "山东的目标分别是什么？"),
        ("浙江的目标比全国高，江苏呢？", "山东呢", "山东的目标比全国高，江苏呢？"),
        (PLAN, "那2030年呢？", "到2030年，吉林省计划创建多少家绿色工厂？"),
        (PLAN, "十五五期间呢", "到十五五期间，吉林省计划创建多少家绿色工厂？"),
        ("《节能法》第一条规定了什么？", "第二条呢", "《节能法》第二条规定了什么？"),
        ("《节能法》的目的是什么？", "第二条呢？", "《节能法》第二条的内容是什么？"),
        (ISSUED, "保障措施呢？", "《吉林省碳达峰实施方案》的保障措施是什么？"),
        (GOAL, "那零碳园区呢？", "吉林省零碳园区的目标是多少？"),
        (PLAN, "那氢能呢？", "氢能：到2025年，吉林省计划创建多少家绿色工厂？"),
        (PLAN_EN, "What about Zhejiang?", PLAN_EN.replace("Jilin Province", "Zhejiang")),
        (PLAN_EN, "And Zhejiang?", PLAN_EN.replace("Jilin Province", "Zhejiang")),
        (PLAN_EN, "And by 2030?", PLAN_EN.replace("2025", "2030")),
        (
            "What does article 1 of the Energy Law say?",
            "And article 2?",
            "What does article 2 of the Energy Law say?",
        ),
        (
            ISSUED_EN,
            "And article 2?",
            'What about article 2 (regarding: "Jilin Carbon Peak Plan")?',
        ),
        (
            ISSUED_EN,
            "What about the deadline?",
            'What about the deadline (regarding: "Jilin Carbon Peak Plan")?',
        ),
    ],
)
def test_something_else_of_the_same_kind_takes_its_place(before, question, expected):
    """Place, year, article or subject of the question before, the rest of it kept."""
    assert complete(question, before) == expected


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        # A pronoun is replaced by the title that was quoted, or the place.
        (ISSUED, "它的目标是什么", "《吉林省碳达峰实施方案》的目标是什么"),
        (ISSUED, "其目标是什么？", "《吉林省碳达峰实施方案》的目标是什么？"),
        (ISSUED, "那该方案由谁牵头？", "《吉林省碳达峰实施方案》由谁牵头？"),
        (ISSUED, "这个文件有哪些任务？", "《吉林省碳达峰实施方案》有哪些任务？"),
        (PLAN, "该省的牵头部门是谁？", "吉林省的牵头部门是谁？"),
        # A question of general words gets the subject; its own year replaces that of the subject.
        (ISSUED, "牵头部门是谁？", "《吉林省碳达峰实施方案》的牵头部门是谁？"),
        (ISSUED, "主要任务有哪些？", "《吉林省碳达峰实施方案》主要任务有哪些？"),
        (ISSUED, "第二条是什么？", "《吉林省碳达峰实施方案》的第二条是什么？"),
        (PLAN, "由哪个部门负责？", "到2025年，吉林省计划创建绿色工厂由哪个部门负责？"),
        (PLAN, "2030年的目标是多少？", "吉林省计划创建绿色工厂2030年的目标是多少？"),
        # The title, the only name, or all of the question before.
        (ISSUED_EN, "What is its target?", 'What is "Jilin Carbon Peak Plan"\'s target?'),
        (ISSUED_EN, "Who leads this plan?", 'Who leads "Jilin Carbon Peak Plan"?'),
        (
            ISSUED_EN,
            "Which agency leads?",
            'Which agency leads (regarding: "Jilin Carbon Peak Plan")?',
        ),
        (NAMELESS, "Who sets it?", "Who sets it (regarding: What is the capacity of storage)?"),
    ],
)
def test_what_is_meant_is_filled_in(before, question, expected):
    assert complete(question, before) == expected


@pytest.mark.parametrize(
    ("before", "question"),
    [
        *(
            (PLAN, question)
            for question in (
                "新型储能装机规模要达到多少？",
                "《节能法》第二条是什么？",
                "浙江省数据中心PUE要降到多少？",
                "浙江的目标是什么？",
                "绿色工厂及其目标有哪些要求？",
                "企业如何让它的产品达标？",
                "其中有哪些行业？",
                "应该如何申报绿色工厂？",
            )
        ),
        *(
            (PLAN_EN, question)
            for question in (
                "How long does it take to get a permit?",
                "Which agencies does the Ministry of Finance lead?",
                "And what is the target for steel?",
                "Which fund pays farmers for their straw?",
                'What is the target of the "Energy Law"?',
            )
        ),
    ],
)
def test_a_question_that_stands_by_itself_is_unchanged(before, question):
    """It names a title, a place or a subject, or its pronoun means something in it."""
    assert complete(question, before) == question


@pytest.mark.parametrize(
    ("before", "question", "answer", "expected"),
    [
        (TITLED, "它的目标是什么？", "由《节能法》规定[1]。", "《节能法》的目标是什么？"),
        (TITLED, "它的目标是什么？", "《甲法》[1]和《乙法》[2]。", "节能由文件规定的目标是什么？"),
        (NAMELESS, "Who issued it?", 'See "Storage Plan" [1].', 'Who issued "Storage Plan"?'),
    ],
)
def test_the_only_title_of_the_answer_is_the_subject(before, question, answer, expected):
    """Where there are several, the words of the question before are taken."""
    assert complete(question, before, answer) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("这个办法现在还有效吗？", "《甲办法》现在还有效吗？"),
        ("那该文件是谁发的", "《甲办法》是谁发的"),
        ("它是哪一年印发的", "《甲办法》是哪一年印发的"),
        ("上面那个方案什么时候施行", "《甲办法》什么时候施行"),
        ("还有效吗？", "《甲办法》还有效吗？"),
        ("哪个部门发的", "《甲办法》哪个部门发的"),
        ("前述文件谁发的？", "《甲办法》谁发的？"),
        ("这些文件还有效吗？", "《甲办法》、《乙规划》还有效吗？"),
        ("这是第几条规定的", "《甲办法》第几条规定甲市一吨补多少？"),
        ("Is it still in force?", "Is 《甲办法》 still in force?"),
        ("Who issued this document?", "Who issued 《甲办法》?"),
        ("它的目标是什么？", "甲市一吨补的目标是什么？"),  # of what was asked about
        ("该单位还有效吗？", "甲市一吨补还有效吗？"),
        ("绿色工厂的标准还有效吗？", "绿色工厂的标准还有效吗？"),
        ("《丙法》还有效吗？", "《丙法》还有效吗？"),
    ],
)
def test_what_is_said_of_a_document_is_said_of_the_one_cited_last(question, expected):
    """Also behind an answer that cites none; no model is asked where the rules are sure."""
    history = [Turn("甲市一吨补多少", "200元[1]。", ("甲办法", "乙规划"))]
    assert carry_over(question, history) == expected
    if expected.startswith("《甲"):
        assert rewritten([], question, history)[0] == expected


def test_the_document_of_an_earlier_answer_is_meant_where_the_last_cites_none():
    history = [Turn("甲市一吨补多少", "200元[1]。", ("甲办法",)), Turn("乙市呢", "没有。")]
    assert carry_over("这个办法还有效吗", history) == "《甲办法》还有效吗"
    titled = [*history, Turn("《丙法》有哪些要求", "五项[1]。", ("丁法",))]
    assert carry_over("它是谁印发的", titled) == "《丙法》是谁印发的"


@pytest.mark.parametrize(
    ("question", "before", "expected"),
    [
        ("江西呢，到2030年", "河南2025年下降多少", "江西2030年下降多少"),
        ("那浙江到2030年呢？", "上海2025年比重是多少", "浙江2030年比重是多少"),
        ("换成江苏，2030年", "安徽2025年比重是多少", "江苏2030年比重是多少"),
        ("2030年广东呢", "吉林的目标是多少", "2030年广东的目标是多少"),
        ("江西呢？2030年的", "河南2025年下降多少", "江西2030年下降多少"),
        ("江西和河南，到2030年", "安徽2025年下降多少", "江西和河南2030年下降多少"),
    ],
)
def test_place_and_year_change_together(question, before, expected):
    assert carry_over(question, [Turn(before, "")]) == expected


AREA = "《甲省委 吉林省人民政府关于做好碳达峰碳中和工作的实施意见》2030年目标"
RULES = "《吉林省碳交易管理办法》不履约罚多少"


@pytest.mark.parametrize(
    ("question", "before", "expected"),
    [
        ("那能耗强度呢", "浙江和贵州2030年森林覆盖率", "浙江和贵州2030年能耗强度"),
        ("换成非化石能源占比", "江苏2025年森林覆盖率", "江苏2025年非化石能源占比"),
        ("河南的森林覆盖率呢", "安徽2025年能耗强度是多少", "河南2025年森林覆盖率是多少"),
        ("那绿色园区呢", "吉林省绿色工厂的评价标准是什么", "吉林省绿色园区的评价标准是什么"),
        ("那合同能源管理呢", "徐汇区节能改造项目补多少", "徐汇区合同能源管理补多少"),
        ("那碳价呢", "公共机构2025年能耗多少", "碳价：公共机构2025年能耗多少"),
        ("浙江省呢", AREA, "浙江省碳达峰碳中和实施意见2030年目标"),
        ("那深圳的碳交易办法呢", RULES, "深圳的碳交易办法不履约罚多少"),
        ("那深圳的碳交易办法呢", "天津碳市场条例不履约罚多少", "深圳的碳交易办法不履约罚多少"),
        ("不履约罚多少", "深圳什么时候履约", "深圳不履约罚多少"),
        ("不清缴罚多少", RULES, "《吉林省碳交易管理办法》不清缴罚多少"),
        ("什么是碳普惠", "深圳什么时候履约", "什么是碳普惠"),
        ("重点排放单位不履约罚多少", "深圳什么时候履约", "重点排放单位不履约罚多少"),
        ("日本碳价多少", "深圳什么时候履约", "日本碳价多少"),
    ],
)
def test_what_was_asked_about_is_replaced_in_its_place(question, before, expected):
    """No title of a document is made up, and what is asked of it stays."""
    assert carry_over(question, [Turn(before, "")]) == expected


LAW = """甲市碳交易办法
甲市人民政府
2022年3月5日
第一章 总则
第一条 本办法适用于甲市碳交易。
第二章 法律责任
第二条 交易主体应当按时履约。
第三条 重点排放单位不履约的，处三万元罚款。
"""
PLAN_OF_B = """乙市能源规划
乙市人民政府
2022年3月5日
一、现状
德国的可再生能源占比为40%。
乙市的可再生能源占比为30%。
"""
law = shared_base({"law": LAW, "abroad": PLAN_OF_B})


@pytest.mark.parametrize("asked", ["第几条规定的", "哪条规定的？", "是哪份文件的第几条", "哪一条"])
def test_which_article_says_so_is_told_with_the_quotes_of_the_last_answer(law, asked):
    """Also behind an answer without citations; without their places, they are searched."""
    talk = Conversation(lambda line, turns: law.ask(line, history=turns), lambda: law.store)
    first = talk.reply("甲市碳交易办法中不履约罚多少").answer
    told = talk.reply(asked).answer
    assert first is not None
    assert told is not None
    assert [c.address for c in told.citations] == [c.address for c in first.citations]
    assert "第三条" in told.text
    assert told.question.startswith("《甲市碳交易办法》第几条规定")
    empty = Turn("乙市呢", "没有。")
    again = law.ask(asked, history=[turn_of(first), empty])
    assert [c.address for c in again.citations] == [c.address for c in first.citations]


def test_addresses_that_are_none_of_the_documents_are_searched_instead(law):
    """They come from a page or a program."""
    history = [Turn("甲市罚多少", "三万。", ("甲市碳交易办法",), ("none:0-9", "law:5-99999"))]
    assert law.ask("第几条规定的", history=history).question.startswith("《甲市碳交易办法》")
    with pytest.raises(OutOfRangeError):
        law.ask("第几条规定的", history=[Turn("甲", "乙", ("丙",), ("nowhere",))])


@pytest.mark.parametrize("question", ["德国的可再生能源占比", "法国可再生能源占比"])
def test_that_no_document_is_about_a_country_abroad_is_said(law, question):
    answer = law.ask(question)
    assert answer.notes[0] == f"没有以{question[:2]}为范围的文件"
