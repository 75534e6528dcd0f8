from kgrag.generation.support import find_support

TEXT = (
    "总体要求很明确。\n"
    "到2025年，全省创建绿色工厂500家。\n"
    "到2030年，全省创建绿色工厂800家。\n"
    "省财政厅每年安排专项资金3000万元。"
)


def quotes(sentence, text=TEXT, **options):
    return [text[start:end] for start, end in find_support(sentence, text, **options).spans]


def test_find_support_goes_by_numbers_where_the_words_are_the_same():
    """Two targets in the same words differ by their numbers."""
    assert quotes("绿色工厂到2030年达到800家") == ["到2030年，全省创建绿色工厂800家。"]


def test_find_support_joins_neighbours_that_each_bring_something():
    """A sentence that sums up two is quoted with both."""
    assert quotes("绿色工厂2025年500家，2030年800家") == [
        "到2025年，全省创建绿色工厂500家。\n到2030年，全省创建绿色工厂800家。"
    ]


def test_find_support_adds_a_sentence_that_stands_apart():
    """What lies between is not quoted."""
    apart = TEXT.replace("到2030年，全省创建绿色工厂800家。", "此外还有别的安排，与此无关。")
    assert quotes("创建绿色工厂500家，安排专项资金3000万元", apart) == [
        "到2025年，全省创建绿色工厂500家。",
        "省财政厅每年安排专项资金3000万元。",
    ]


def test_find_support_of_few_words_asks_the_question():
    """省里 stands everywhere; the question tells which."""
    text = "省厅负责检查。\n其他事项另行规定。\n省厅负责资金安排。"
    assert quotes("省厅。", text, question="资金由谁安排？") == ["省厅负责资金安排。"]


def test_find_support_without_anything_in_common_is_the_first_sentence():
    """A share of 0 tells that it is no support."""
    found = find_support("QXZ", TEXT, offset=10)
    assert found.share == 0
    assert found.spans == ((10, 18),)


def test_find_support_in_a_compressed_passage_quotes_only_what_was_shown():
    """What the model did not read supports nothing."""
    shown = "…到2025年，全省创建绿色工厂500家。…"
    assert quotes("绿色工厂到2030年达到800家", seen=shown) == ["到2025年，全省创建绿色工厂500家。"]


def test_find_support_works_on_english():
    """Words count instead of pairs of characters."""
    text = "It was founded in 1901. The tower is 300 metres high."
    assert quotes("The height of the tower is 300 metres", text) == [
        "The tower is 300 metres high."
    ]


def test_find_support_of_blank_text_is_all_of_it():
    """There is always a span."""
    assert find_support("甲", " \n").spans == ((0, 2),)
