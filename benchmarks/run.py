"""Run the benchmarks that `make bench` promises: scale, at two sizes."""

import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Run each in a process of its own, so that memory is measured apart."""
    scale = Path(__file__).with_name("scale.py")
    for chunks in ("15000", "100000"):
        subprocess.run([sys.executable, str(scale), "--chunks", chunks], check=True)


if __name__ == "__main__":
    main()
