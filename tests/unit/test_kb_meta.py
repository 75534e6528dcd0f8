import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.kb_meta import KbMeta

SIZES = st.lists(st.integers(1, 9999), min_size=1, unique=True).map(
    lambda sizes: tuple(sorted(sizes, reverse=True))
)
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "chunk_sizes": SIZES,
        "embedded_sizes": SIZES,
        "embedded_facts": st.booleans(),
        "embedder": st.text(),
        "languages": st.lists(st.text("abcZH-", min_size=1)).map(tuple),
        "stand_in": st.booleans(),
        "embedder_settings": st.dictionaries(st.text(), st.text()),
    },
)
RECORDED = {
    "embedded_sizes": "512,256",
    "embedded_facts": "no",
    "embedder": "hash-8",
    "languages": "zh,en",
    "stand_in": "yes",
    "embedder_settings": '{"dimension": "8", "model": "混合"}',
    "chunk_sizes": "2048,1024,512,256",
}


def typed(meta):
    """Return what a knowledge base records, by name, as values."""
    return {key: getattr(meta, key) for key in meta.stored}


@given(VALUES)
def test_what_is_recorded_is_read_as_it_was_and_rendered_byte_for_byte(values):
    """Both ways, whatever of it is recorded."""
    meta = KbMeta.of(**values)
    assert typed(meta) == values
    assert KbMeta.of(**typed(meta)) == meta


def test_the_strings_are_those_that_every_store_keeps():
    """A knowledge base of last year is read by this; one of today by last year's kgrag."""
    meta = KbMeta(RECORDED)
    assert typed(meta) == {
        "embedded_sizes": (512, 256),
        "embedded_facts": False,
        "embedder": "hash-8",
        "languages": ("zh", "en"),
        "stand_in": True,
        "embedder_settings": {"dimension": "8", "model": "混合"},
        "chunk_sizes": (2048, 1024, 512, 256),
    }
    assert KbMeta.of(**typed(meta)).stored == RECORDED


def test_what_is_not_recorded_is_none():
    """As in a new knowledge base."""
    new = KbMeta()
    assert {getattr(new, key) for key in RECORDED} == {None}
    assert KbMeta.of() == new


def test_one_that_is_damaged_spoils_no_other():
    """It is an error only where it is asked for."""
    meta = KbMeta({**RECORDED, "chunk_sizes": "2048,x", "embedder_settings": "{"})
    assert meta.embedded_sizes == (512, 256)
    for key in ("chunk_sizes", "embedder_settings"):
        with pytest.raises(ValueError, match=r"x|Expecting"):
            getattr(meta, key)


def test_only_what_is_asked_for_is_read():
    """Another may be damaged on the disk."""
    asked = []

    def get(key):
        asked.append(key)
        return RECORDED.get(key)

    assert KbMeta.read(get, "chunk_sizes", "colour").stored == {"chunk_sizes": "2048,1024,512,256"}
    assert asked == ["chunk_sizes", "colour"]


def test_changes_are_what_is_not_recorded_so_yet():
    """Equal strings are not written again."""
    known = KbMeta({"embedder": "hash-8", "stand_in": "yes", "colour": "red"})
    wanted = known | KbMeta.of(embedder="m-1", languages=())
    assert wanted.stored["colour"] == "red"
    assert wanted.changes(known) == {"embedder": "m-1", "languages": ""}
