import subprocess
import sys
from contextlib import closing

import pytest

from kgrag.store.sqlite.store import SQLiteStore


def test_refresh_builds_what_it_is_told_and_follows_what_is_there(folder, put):
    """An index that nobody searches is not built."""
    with closing(SQLiteStore.open(folder)) as store:
        put(store, 1)
        store.refresh()
        assert not list((folder / "cache").glob("lexical-*.json"))
        store.refresh(sizes=[24])
        assert [p.name for p in (folder / "cache").glob("lexical-*.json")] == ["lexical-24.json"]
        note = (folder / "cache" / "lexical-24.json").read_text("utf-8")
        put(store, 2)
        store.refresh()
        assert (folder / "cache" / "lexical-24.json").read_text("utf-8") != note


def test_export_ends_well_when_it_is_not_read_to_the_end(store):
    """A reader that stops early leaves the store usable."""
    records = store.export()
    next(records)
    records.close()

    assert store.delete_document("d-00")


READ = """
import sys
from pathlib import Path
from kgrag.store.sqlite.store import SQLiteStore

store = SQLiteStore.open(Path(sys.argv[1]))
print(store.get_meta("a"))
store.close()
"""


def seen_by_another(folder):
    """Return what another process reads, which ends as the last one that it knows of."""
    words = [sys.executable, "-c", READ, str(folder)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("look", [lambda f: SQLiteStore.open(f).close(), None])
def test_another_process_takes_no_log_away_after_a_second_look_at_the_file(folder, look):
    """Who closes a file that SQLite has open lets go of its locks; what is stored then is lost."""
    with closing(SQLiteStore.open(folder)) as store:
        store.set_meta({"a": "1"})
        if look:
            look(folder)
        else:
            store.verify()  # looks at the header of the file, too
        assert seen_by_another(folder) == "1"
        store.set_meta({"a": "2"})
        assert seen_by_another(folder) == "2"
