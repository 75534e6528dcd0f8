"""Metadata as stores keep them."""

from kgrag.metadata import SILENT, Metadata
from kgrag.store.texts import metadata_of, metadata_text

SAID = Metadata(issuers=("云岭省人民政府",), regions=("云岭省",), issued="2022-03-05")


def test_metadata_come_back_from_their_text():
    assert metadata_of(metadata_text(SAID)) == SAID
    assert metadata_of(metadata_text(SILENT)) is SILENT
