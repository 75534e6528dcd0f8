"""How often the offline checks are wrong, on real provisions and answers that people wrote."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from kgrag.results import Answer
from kgrag.verification.checks import check

POLICY = Path(__file__).resolve().parents[4] / "shared" / "data" / "policy"
AROUND = 300  # characters of a passage on either side of the clause

pytestmark = pytest.mark.skipif(not POLICY.is_dir(), reason="shared/data/policy is not here")


def answered():
    """Yield (answer, texts behind its [n]) for the questions that have one."""
    for line in (POLICY / "questions.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if not row["gold_docs"]:
            continue
        text = ""
        for doc in row["gold_docs"]:
            whole = (POLICY / "text" / f"{doc}.txt").read_text("utf-8")
            text += f"{whole[:100]}\n"
            for start, end in row["gold_spans"][doc]:
                text += f"{whole[max(0, start - AROUND) : end + AROUND]}\n"
        said = "\n".join(f"{a}[1]" for a in row["answers"])
        yield Answer(row["question"], said, (), True, "gold"), {1: text}


def test_check_raises_no_false_alarm_on_true_answers():
    """Fewer than one sentence in fifty; none when this was written."""
    checks = [c for answer, texts in answered() for c in check(answer, texts)]
    alarms = [c.missing for c in checks if not c.supported]
    assert len(checks) > 150
    assert len(alarms) < len(checks) / 50, alarms


@pytest.mark.parametrize("unit", ["%", "家", "万元", "年"])
def test_check_finds_numbers_that_were_changed(unit):
    """Nine in ten: a wrong number may stand elsewhere in the passage."""
    changed = caught = 0
    for answer, texts in answered():
        for match in re.finditer(rf"(\d+){unit}", answer.text):
            number = str(int(match[1]) + 7)
            text = f"{answer.text[: match.start()]}{number}{answer.text[match.end(1) :]}"
            changed += 1
            found = check(replace(answer, text=text), texts)
            caught += any(number in missing for c in found for missing in c.missing)
    assert changed
    assert caught >= 0.9 * changed
