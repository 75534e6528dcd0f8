"""Faults made on purpose: kills, full disks, damaged files, settings and lines.

Each module holds `run(n, seed, folder) -> Tally`, the numbers `SMALL` (which CI makes) and `FULL`
(which `make faults` makes), and is a command by itself: `python -m tests.faults.NAME --n --seed`.
"""

NAMES = ("import_lines", "full_disk", "kills", "bit_flips", "settings")
