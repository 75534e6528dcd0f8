from kgrag.retrieval.summaries import IndexNode, TextNode, retrieve_recursively


def given(nodes):
    calls = []

    def retrieve(source):
        calls.append(source)
        return nodes

    return retrieve, calls


def test_retrieve_recursively_goes_depth_first():
    """An index node's targets are followed before the next node of its retriever."""
    inner, _ = given([TextNode("c2", 0.4)])
    outer, _ = given([IndexNode("s1", 0.9, ("inner",)), TextNode("c1", 0.8)])
    found = retrieve_recursively("outer", {"outer": outer, "inner": inner})
    assert [n.node_id for n in found] == ["c2", "c1"]


def test_retrieve_recursively_handles_each_node_and_retriever_once():
    """A shared target is asked once, a node that two retrievers give is a result once."""
    inner, calls = given([TextNode("c1", 0.4), TextNode("c1", 0.3)])
    outer, _ = given(
        [IndexNode("s1", 0.9, ("inner",)), IndexNode("s2", 0.8, ("inner",)), TextNode("c1", 0.1)]
    )
    found = retrieve_recursively("outer", {"outer": outer, "inner": inner})
    assert found == [TextNode("c1", 0.4)]
    assert [source.node_id for source in calls] == ["s1"]


def test_retrieve_recursively_when_targets_form_a_cycle_ends():
    """A retriever that leads back to the root is not asked again."""
    root, _ = given([IndexNode("s1", 0.9, ("root", "nowhere"))])
    assert retrieve_recursively("root", {"root": root}) == []
