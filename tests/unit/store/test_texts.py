"""Metadata as stores keep them, of this kgrag and of an older one."""

import pytest

from kgrag.metadata import SILENT, Metadata
from kgrag.store.texts import metadata_of, metadata_text, told_metadata

SAID = Metadata(issuers=("云岭省人民政府",), regions=("云岭省",), issued="2022-03-05")


def test_metadata_come_back_from_their_text():
    assert metadata_of(metadata_text(SAID)) == SAID
    assert metadata_of(metadata_text(SILENT)) is SILENT


@pytest.mark.parametrize(
    ("properties", "regions", "issued"),
    [
        ({"places": "成都、云岭", "year": "2022"}, ("四川省", "成都市", "云岭"), "2022"),
        ({"places": "湖北、武汉"}, ("湖北省", "武汉市"), ""),
        ({"year": "二零二二"}, (), ""),
        ({"encoding": "utf-8"}, (), ""),
    ],
)
def test_what_an_older_kgrag_kept_serves_until_the_next_ingest(properties, regions, issued):
    """So that filters by region and year go on finding its documents."""
    told = told_metadata(SILENT, properties)
    assert (told.regions, told.issued) == (regions, issued)
    assert told_metadata(SAID, properties) is SAID
