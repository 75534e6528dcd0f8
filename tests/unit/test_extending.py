"""Names for plugins: all are there, explained, and listed on the page."""

import inspect
import re

import pytest

from kgrag import extending
from tests.fixtures.packages import PAGE, example_files

LISTED = PAGE.read_text("utf-8").partition("## Every name")[2]


def test_every_name_stands_on_the_page_and_no_other():
    named = set(re.findall(r"`(\w+)`", LISTED))
    assert named == set(extending.__all__)
    assert list(extending.__all__) == sorted(set(extending.__all__))


@pytest.mark.parametrize("name", sorted({*extending.__all__} - {"Task", "Vectors"}))
def test_every_name_is_explained(name):
    assert inspect.getdoc(getattr(extending, name))


def test_examples_import_nothing_else_of_kgrag():
    """What the page shows rests on what is promised to stay."""
    used = re.findall(r"from (kgrag[\w.]*) import", "".join(example_files().values()))
    assert set(used) == {"kgrag", "kgrag.extending", "kgrag_example.route"}
