"""How often the offline checks are wrong, on real provisions and answers that people wrote."""

import json
import re
from pathlib import Path

import pytest

from kgrag.answer.citation import Citation
from kgrag.verification.checks import checked
from kgrag.verification.claims import Clause
from tests.fixtures.answers import answer_of

POLICY = Path(__file__).resolve().parents[4] / "shared" / "data" / "policy"
AROUND = 300  # characters of a passage on either side of the clause

pytestmark = pytest.mark.skipif(not POLICY.is_dir(), reason="shared/data/policy is not here")


def answered():
    """Yield (question, answer, text behind its [1]) for the questions that have one."""
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
        yield row["question"], said, text


def checks_of(question, said, text):
    """Return the checks of an answer that cites one text."""
    cited = Citation(1, "d", "", "d.txt", (), None, 0, len(text), text, "c")
    answer = answer_of(question, said, [cited], "gold")
    return checked(answer, {1: Clause(text)}).checks


def test_check_raises_no_false_alarm_on_true_answers():
    """Fewer than one sentence in fifty; none when this was written."""
    checks = [c for told in answered() for c in checks_of(*told)]
    alarms = [(c.missing, c.contrary) for c in checks if not c.supported]
    assert len(checks) > 150
    assert len(alarms) < len(checks) / 50, alarms


@pytest.mark.parametrize("unit", ["%", "家", "万元", "年"])
def test_check_finds_numbers_that_were_changed(unit):
    """Nine in ten: a wrong number may stand elsewhere in the passage."""
    changed = caught = 0
    for question, said, text in answered():
        for match in re.finditer(rf"(\d+){unit}", said):
            number = str(int(match[1]) + 7)
            altered = f"{said[: match.start()]}{number}{said[match.end(1) :]}"
            changed += 1
            found = checks_of(question, altered, text)
            caught += any(number in words for c in found for words in (*c.missing, *c.contrary))
    assert changed
    assert caught >= 0.9 * changed
