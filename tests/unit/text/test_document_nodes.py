"""A document is one node, whatever number stands beside its title."""

from dataclasses import replace

import pytest

from kgrag.metadata import Metadata
from kgrag.text.document_nodes import node_id, node_name

TITLE = "关于加快建立健全绿色低碳循环发展经济体系的实施意见"
YUN = Metadata(issuers=("云岭省人民政府",), regions=("云岭省",))
NAN = Metadata(issuers=("南渡省人民政府",), regions=("南渡省",))


@pytest.mark.parametrize(
    "written",
    [
        f"{TITLE}（云政发〔2021〕3号）",
        f"云政发〔2021〕3号 云岭省人民政府{TITLE}",
        f"云岭省人民政府{TITLE}",
    ],
)
def test_a_number_or_the_issuer_in_the_title_makes_no_second_node(written):
    """The name is the one that others cite."""
    assert node_name(written) == TITLE
    assert node_id(written, YUN) == node_id(TITLE, YUN)


def test_one_title_of_several_issuers_is_several_nodes():
    """Where no issuer is told, the region tells them apart."""
    assert node_id(TITLE, YUN) != node_id(TITLE, NAN)
    regions = (replace(m, issuers=()) for m in (YUN, NAN))
    assert len({node_id(TITLE, m) for m in regions}) == 2
