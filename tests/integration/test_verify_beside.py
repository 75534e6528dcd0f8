"""A knowledge base is checked while another process writes: no false alarm, no lock."""

import subprocess
import sys

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig

CONFIG = Config(embedding=EmbeddingConfig(model="hash-32"))
WRITER = """
import sys
from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig

folder, sizes = sys.argv[1], (32, 48)
for turn in range(1000):
    config = Config(embedding=EmbeddingConfig(model=f"hash-{sizes[turn % 2]}"))
    with KnowledgeBase.open(folder + "/kb", config=config) as base:
        base.reembed()
        base.ingest([folder + "/a"])
        base.delete("1.txt")
        print(turn, flush=True)
"""


def test_verify_beside_a_process_that_ingests_deletes_and_reembeds(tmp_path):
    """Each time it sees one whole state."""
    (tmp_path / "a").mkdir()
    for i in range(4):
        text = f"第一条 依据《第{i}号管理办法》，推动节能降碳。\n" * 20
        (tmp_path / "a" / f"{i}.txt").write_text(text, "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", config=CONFIG) as base:
        base.ingest([tmp_path / "a"])
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline().strip() == "0"
        with KnowledgeBase.open(tmp_path / "kb", create=False, config=CONFIG) as base:
            for _ in range(6):
                assert base.verify() == []
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.wait()
        assert writer.stdout
        writer.stdout.close()
    with KnowledgeBase.open(tmp_path / "kb", create=False, config=CONFIG) as base:
        assert base.verify() == []
