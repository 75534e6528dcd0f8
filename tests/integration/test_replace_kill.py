"""A document whose knowledge is replaced survives kill -9: as it was before, or as it is after."""

import json
import subprocess
import sys
from contextlib import closing

import pytest

from kgrag.store.sqlite.store import SQLiteStore

TEXT = "工信部印发节能办法。绿色工厂达到500家，由省工信厅负责。"
REPLACE = """
import sys, time
from pathlib import Path
from kgrag.store.sqlite import write
from kgrag.store.sqlite.store import SQLiteStore

def stop(connection, doc_ids, parts):
    print("reached", flush=True)
    time.sleep(60)  # to be killed, however slow who kills is

if sys.argv[2] == "0":
    write.record_change = stop  # all is written, nothing is committed
store = SQLiteStore.open(Path(sys.argv[1]))
store.replace_knowledge("d-a", facts=[], mentions=[])
print("reached", flush=True)
time.sleep(60)
"""


def exported(folder):
    with closing(SQLiteStore.open(folder)) as store:
        assert store.verify() == []
        return [json.dumps(record, ensure_ascii=False) for record in store.export()]


@pytest.mark.parametrize("committed", [False, True])
def test_a_kill_leaves_either_state(tmp_path, make, committed):
    """Before the commit nothing has changed; after it, all has."""
    folder = tmp_path / "kb"
    facts = [("工信部", "印发", "节能办法"), ("绿色工厂", "达到", "500家")]
    with closing(SQLiteStore.open(folder)) as store:
        bundle = make.bundle("a", TEXT, facts=facts, mentions=["省工信厅"])
        store.upsert_document(bundle, source="/a.txt")
        store.upsert_document(make.bundle("b", TEXT, facts=facts), source="/b.txt")
    before = exported(folder)
    command = [sys.executable, "-c", REPLACE, str(folder), str(int(committed))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reached\n"
        process.kill()

    after = exported(folder)
    assert (after == before) is not committed
    assert any('"name": "省工信厅"' in line for line in after) is not committed
